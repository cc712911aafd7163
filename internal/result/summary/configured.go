package summary

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
)

// Configured is what the configuration of a finished run says, whatever shape its file has it in.
type Configured struct {
	// Models are the names of the models, in their order.
	Models []string
	// Dataset is the name of the published dataset; empty for others.
	Dataset string
	// Concurrency is that of the profiling phase, 0 if it has none, or if several phases have different ones;
	// RampSeconds is how long it took to get there.
	Concurrency float64
	RampSeconds float64
	// PrefillConcurrency is the limit of requests that wait for their first token, 0 if there is none.
	PrefillConcurrency float64
	// EndpointType is the name of the API; Streaming reports whether replies are streamed.
	EndpointType string
	Streaming    bool
	// Load says how requests are sent, such as "concurrency 8" or "20 req/s poisson"; empty if that is not known.
	Load string
}

// ReadConfigured reads the configuration of a run from its summary file.
func ReadConfigured(file string) (Configured, error) {
	data, err := ReadDocument(file)
	if err != nil {
		return Configured{}, err
	}
	var doc struct {
		Input json.RawMessage `json:"input_config"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return Configured{}, fmt.Errorf("%s: %w", file, err)
	}
	return ParseConfigured(doc.Input), nil
}

// anyMap is a JSON object of unknown shape.
type anyMap = map[string]any

// ParseConfigured reads an input_config of any shape: that of the YAML file, the one with sections named
// endpoint, input and loadgen, or the flat one. What is not there, or of another type, stays empty.
func ParseConfigured(text []byte) Configured {
	var c Configured
	var o anyMap
	if json.Unmarshal(text, &o) != nil {
		return c
	}
	if inner, ok := o["benchmark"].(anyMap); ok {
		o = inner
	}
	for _, at := range [...]any{o["models"], o["model"], o["model_names"], follow(o, "endpoint", "model_names"),
		follow(o, "endpoint", "models")} {
		if c.Models = modelNames(at); len(c.Models) > 0 {
			break
		}
	}
	c.Dataset = publishedDataset(o)
	c.EndpointType = firstText(follow(o, "endpoint", "type"), o["endpoint_type"])
	c.Streaming, _ = follow(o, "endpoint", "streaming").(bool)
	c.Load = loadOf(o)
	phase, same := profilingPhase(o)
	if !same {
		return c
	}
	c.Concurrency = firstNumber(phase["concurrency"], follow(o, "loadgen", "concurrency"), o["concurrency"])
	c.PrefillConcurrency = firstNumber(phase["prefill_concurrency"], follow(o, "loadgen", "prefill_concurrency"),
		o["prefill_concurrency"])
	c.RampSeconds = firstNumber(phase["concurrency_ramp"], follow(phase, "concurrency_ramp", "duration"),
		phase["concurrency_ramp_duration"],
		phase["rate_ramp"], follow(phase, "rate_ramp", "duration"),
		follow(o, "loadgen", "concurrency_ramp_duration"), o["concurrency_ramp_duration"])
	return c
}

// loadOf says how requests are sent in the profiling phases.
func loadOf(o anyMap) string {
	list, _ := o["phases"].([]any)
	var texts []string
	for _, p := range list {
		if m := asMap(p); m != nil && !isWarmup(m) {
			texts = append(texts, phaseLoad(m))
		}
	}
	switch {
	case len(texts) == 0:
		one := asMap(o["phases"])
		if one == nil {
			one = anyMap{"concurrency": firstNumber(follow(o, "loadgen", "concurrency"), o["concurrency"]),
				"rate": firstNumber(follow(o, "loadgen", "request_rate"), o["request_rate"])}
		}
		return phaseLoad(one)
	case len(texts) > 2:
		return fmt.Sprintf("%d phases", len(texts))
	}
	return strings.Join(slices.Compact(texts), ", then ")
}

// phaseLoad says how requests are sent in a phase.
func phaseLoad(m anyMap) string {
	kind, _ := m["type"].(string)
	var parts []string
	switch rate, users := firstNumber(m["rate"]), firstNumber(m["users"]); {
	case m["adaptive_scale"] != nil && m["adaptive_scale"] != false:
		return "a load that is searched"
	case kind == "fixed_schedule":
		parts = append(parts, "the times of the recording")
	case m["rate_series"] != nil:
		parts = append(parts, "a series of rates")
	case users > 0:
		parts = append(parts, artifact.Short(users)+" users", artifact.Short(rate)+" req/s")
	case rate > 0:
		parts = append(parts, strings.TrimSpace(artifact.Short(rate)+" req/s "+kind))
	}
	if n := firstNumber(m["concurrency"]); n > 0 {
		parts = append(parts, "concurrency "+artifact.Short(n))
	}
	return strings.Join(parts, ", ")
}

// follow goes down through objects; nil where one is missing.
func follow(o anyMap, keys ...string) any {
	var v any = o
	for _, key := range keys {
		inner, ok := v.(anyMap)
		if !ok {
			return nil
		}
		v = inner[key]
	}
	return v
}

// modelNames are the names in one text, a list of texts or of objects, or an object with such items.
func modelNames(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case anyMap:
		if name, ok := v["name"].(string); ok {
			return []string{name}
		}
		return modelNames(v["items"])
	case []any:
		var out []string
		for _, item := range v {
			out = append(out, modelNames(item)...)
		}
		return out
	}
	return nil
}

// publishedDataset is the first name of a dataset among the places where shapes have it.
func publishedDataset(o anyMap) string {
	var places []any
	lists := []any{o["datasets"], o["dataset"]}
	for _, list := range lists {
		items, ok := list.([]any)
		if !ok {
			items = []any{list}
		}
		for _, item := range items {
			places = append(places, follow(asMap(item), "dataset"), follow(asMap(item), "public_dataset"),
				follow(asMap(item), "format"))
			if _, isMap := item.(anyMap); !isMap {
				places = append(places, item)
			}
		}
	}
	places = append(places, follow(o, "input", "public_dataset"), o["public_dataset"],
		follow(o, "input", "custom_dataset_type"), o["custom_dataset_type"])
	for _, p := range places {
		if name, ok := p.(string); ok && name != "" {
			return name
		}
	}
	return ""
}

func asMap(v any) anyMap {
	m, _ := v.(anyMap)
	return m
}

// profilingPhase returns the first phase that is not a warm-up, and whether all others have its concurrency.
func profilingPhase(o anyMap) (first anyMap, same bool) {
	list, _ := o["phases"].([]any)
	for _, p := range list {
		m := asMap(p)
		switch {
		case isWarmup(m):
		case first == nil:
			first = m
		case firstNumber(m["concurrency"]) != firstNumber(first["concurrency"]):
			return first, false
		}
	}
	if first == nil {
		first = asMap(o["phases"])
	}
	return first, true
}

// isWarmup reports whether a phase is a warm-up.
func isWarmup(phase anyMap) bool {
	kind, _ := phase["kind"].(string)
	name, _ := phase["name"].(string)
	return kind == "warmup" || kind == "" && strings.HasPrefix(name, "warmup")
}

func firstText(values ...any) string {
	for _, v := range values {
		if text, ok := v.(string); ok && text != "" {
			return text
		}
	}
	return ""
}

func firstNumber(values ...any) float64 {
	for _, v := range values {
		if n, ok := v.(float64); ok {
			return n
		}
	}
	return 0
}
