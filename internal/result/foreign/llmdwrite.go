package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/jsonscan"
)

// LLMDVersion is the version of the schema of the reports that [LLMD] writes.
const LLMDVersion = "0.2.1"

// llmdStats are the names of statistics in a report, in its order.
var llmdStats = []named{{"mean", "avg"}, {"stddev", "std"}, {"min", "min"}, {"p0p1", "p0.1"}, {"p1", "p1"}, {"p5", "p5"},
	{"p10", "p10"}, {"p25", "p25"}, {"p50", "p50"}, {"p75", "p75"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"},
	{"p99p9", "p99.9"}, {"max", "max"}}

// LLMD returns the benchmark report of llm-d of a run, by its summary document. What the schema has no place for is left
// out; what the run lacks is absent.
func LLMD(document []byte) (artifact.Object, error) {
	if !jsonscan.Valid(document) {
		return nil, errors.New("not a summary of a run")
	}
	d := node(document)
	aggregate := llmdAggregate(d)
	if len(aggregate) == 0 {
		return nil, errors.New("the run has no figure that a benchmark report of llm-d has a place for")
	}
	return artifact.Object{
		{Key: "version", Value: LLMDVersion},
		{Key: "run", Value: llmdRun(d)},
		{Key: "results", Value: artifact.Object{{Key: "request_performance", Value: artifact.Object{
			{Key: "aggregate", Value: aggregate}}}}},
		{Key: "scenario", Value: llmdScenario(d)},
	}, nil
}

// add adds a member that is not empty.
func add(o artifact.Object, key string, value any) artifact.Object {
	switch v := value.(type) {
	case string:
		if v == "" {
			return o
		}
	case artifact.Object:
		if len(v) == 0 {
			return o
		}
	}
	return append(o, artifact.Member{Key: key, Value: value})
}

// llmdRun says which run it is, and when it was.
func llmdRun(d node) artifact.Object {
	info := d.at("run_info")
	uid := d.at("benchmark_id").text()
	if uid == "" { // of another tool: the same file has the same one
		uid = hash(d)
	}
	o := artifact.Object{{Key: "uid", Value: uid}}
	o = add(o, "eid", info.at("sweep_id").text())
	var t artifact.Object
	start, end := nanoseconds(info.at("start_time_ns")), nanoseconds(info.at("end_time_ns"))
	if start.IsZero() {
		start, end = date(d.at("start_time")), date(d.at("end_time"))
	}
	for _, of := range []struct {
		key string
		at  time.Time
	}{{"start", start}, {"end", end}} {
		if !of.at.IsZero() {
			t = append(t, artifact.Member{Key: of.key, Value: of.at.UTC().Format(time.RFC3339Nano)})
		}
	}
	if v, ok := d.at("benchmark_duration", "avg").number(); ok {
		t = append(t, artifact.Member{Key: "duration", Value: "PT" + strconv.FormatFloat(v, 'f', 9, 64) + "S"})
	}
	o = add(o, "time", t)
	return add(o, "description", info.at("run_label").text())
}

func nanoseconds(n node) time.Time {
	v, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil || v <= 0 {
		return time.Time{}
	}
	return time.Unix(0, v)
}

// hash identifies a configuration or a document.
func hash(n node) string {
	sum := sha256.Sum256(n)
	return hex.EncodeToString(sum[:16])
}

// llmdAggregate has the figures.
func llmdAggregate(d node) artifact.Object {
	var requests, latency, throughput artifact.Object
	good, okGood := d.at("request_count", "avg").number()
	bad, okBad := d.at("error_request_count", "avg").number()
	cut, okCut := d.at("run_info", "requests_cancelled").number()
	if okGood {
		requests = append(requests, artifact.Member{Key: "total", Value: int64(good + bad + cut)})
		if okBad || d.at("origin") == nil { // ours has no count of errors where there were none
			requests = append(requests, artifact.Member{Key: "failures", Value: int64(bad)})
		}
		if okCut {
			requests = append(requests, artifact.Member{Key: "incomplete", Value: int64(cut)})
		}
		for _, of := range llmdLengths {
			requests = add(requests, of.name, llmdStatistics(d.at(of.tag), "count"))
		}
	}
	for _, of := range []struct{ name, tag, unit string }{
		{"time_to_first_token", "time_to_first_token", "ms"},
		{"time_per_output_token", "inter_token_latency", "ms/token"},
		{"inter_token_latency", "inter_chunk_latency", "ms/token"},
		{"request_latency", "request_latency", "ms"},
	} {
		latency = add(latency, of.name, llmdStatistics(d.at(of.tag), of.unit))
	}
	for _, of := range []struct{ name, tag, unit string }{
		{"input_token_rate", "input_token_throughput", "tokens/s"},
		{"output_token_rate", "output_token_throughput", "tokens/s"},
		{"total_token_rate", "total_token_throughput", "tokens/s"},
		{"request_rate", "request_throughput", "queries/s"},
	} {
		throughput = add(throughput, of.name, llmdStatistics(d.at(of.tag), of.unit))
	}
	var o artifact.Object
	o = add(o, "requests", requests)
	o = add(o, "latency", latency)
	return add(o, "throughput", throughput)
}

// llmdStatistics returns the statistics of a metric; nothing without a mean, which the schema asks for.
func llmdStatistics(d node, unit string) (o artifact.Object) {
	if !d.has("avg") {
		return nil
	}
	o = artifact.Object{{Key: "units", Value: unit}}
	for _, of := range llmdStats {
		if v, ok := d.at(of.tag).number(); ok {
			o = append(o, artifact.Member{Key: of.name, Value: v})
		}
	}
	return o
}

// llmdScenario says what was measured, and with which load.
func llmdScenario(d node) artifact.Object {
	config := d.at("input_config")
	var names []string
	models := config.at("models", "items")
	if models == nil {
		models = config.at("models")
	}
	for _, m := range models.items() {
		if name := m.at("name").text(); name != "" {
			names = append(names, name)
		}
	}
	var o artifact.Object
	if len(names) > 0 { // what serves it is not known
		o = append(o, artifact.Member{Key: "stack", Value: []any{artifact.Object{
			{Key: "metadata", Value: artifact.Object{{Key: "label", Value: "endpoint"},
				{Key: "cfg_id", Value: hash(config.at("endpoint"))}}},
			{Key: "standardized", Value: artifact.Object{{Key: "kind", Value: "generic"}, {Key: "tool", Value: "unknown"},
				{Key: "tool_version", Value: "unknown"},
				{Key: "model", Value: artifact.Object{{Key: "name", Value: strings.Join(names, ", ")}}}}},
			{Key: "native", Value: artifact.Object{}}}}})
	}
	tool, version := d.at("origin", "tool").text(), d.at("origin", "version").text()
	if tool == "" {
		tool, version = "aiperf", d.at("aiperf_version").text()
	}
	if version == "" {
		version = "unknown"
	}
	standard := artifact.Object{{Key: "tool", Value: tool}, {Key: "tool_version", Value: version},
		{Key: "source", Value: llmdSource(config)}}
	data := node(nil)
	for _, of := range config.at("datasets").items() {
		data = of.at("prompts")
		break
	}
	input := llmdLength(data.at("isl"), d.at("input_sequence_length"))
	if input == nil {
		return o // a load without a length of prompts has no place in the schema
	}
	standard = append(standard, artifact.Member{Key: "input_seq_len", Value: input})
	if output := llmdLength(data.at("osl"), nil); output != nil {
		standard = append(standard, artifact.Member{Key: "output_seq_len", Value: output})
	}
	for _, phase := range config.at("phases").items() {
		if phase.at("kind").text() == "warmup" {
			continue
		}
		if v := phase.at("rate").positive(); v > 0 {
			standard = append(standard, artifact.Member{Key: "rate_qps", Value: v})
		}
		if v := phase.at("concurrency").positive(); v >= 1 {
			standard = append(standard, artifact.Member{Key: "concurrency", Value: int64(v)})
		}
		break
	}
	native := artifact.Object{}
	if command := d.at("run_info", "cli_command").text(); command != "" {
		native = append(native, artifact.Member{Key: "args", Value: artifact.Object{{Key: "command", Value: command}}})
	}
	if o, err := artifact.ParseObject(config); err == nil {
		native = add(native, "config", o)
	}
	return append(o, artifact.Member{Key: "load", Value: artifact.Object{
		{Key: "metadata", Value: artifact.Object{{Key: "cfg_id", Value: hash(config)}}},
		{Key: "standardized", Value: standard},
		{Key: "native", Value: native}}})
}

// llmdSource says where prompts come from.
func llmdSource(config node) string {
	sets := config.at("datasets").items()
	if len(sets) == 0 {
		return "unknown"
	}
	switch sets[0].at("type").text() {
	case "synthetic":
		return "random"
	case "":
		return "unknown"
	}
	return "sampled"
}

// llmdLength describes a length: as it was asked for, else as it was measured; nil where neither is known.
func llmdLength(asked, measured node) artifact.Object {
	mean := asked.at("mean").positive()
	if mean == 0 {
		mean = asked.positive()
	}
	deviation := asked.at("stddev").positive()
	switch {
	case mean > 0 && deviation > 0:
		return artifact.Object{{Key: "distribution", Value: "gaussian"}, {Key: "value", Value: mean},
			{Key: "std_dev", Value: deviation}}
	case mean > 0:
		return artifact.Object{{Key: "distribution", Value: "fixed"}, {Key: "value", Value: mean}}
	}
	if v, ok := measured.at("avg").number(); ok && v >= 0 {
		return artifact.Object{{Key: "distribution", Value: "other"}, {Key: "value", Value: v}}
	}
	return nil
}
