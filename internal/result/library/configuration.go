package library

import (
	"net"
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/config"
	"aiperf/internal/result/answer"
)

const stateKind = config.RunState

// configuration takes what input_config says: in its own shape, that of the original and that of its older versions.
func (f *Facts) configuration(raw []byte) {
	endpoint := jsonscan.Find(raw, "endpoint")
	models := jsonscan.Find(raw, "models")
	if items := jsonscan.Find(models, "items"); items != nil {
		models = items
	}
	if models == nil {
		models = jsonscan.Find(endpoint, "model_names")
	}
	var names []string
	for item := range jsonscan.Elements(models) {
		if name := jsonscan.FindText(item, "name"); name != "" {
			names = append(names, name)
		} else if name := jsonscan.Text(item); name != "" {
			names = append(names, name)
		}
	}
	f.Model = strings.Join(names, ", ")
	f.Endpoint = strings.ReplaceAll(jsonscan.FindText(endpoint, "type"), "-", "_")
	f.Streaming = string(jsonscan.Find(endpoint, "streaming")) == "true"
	for _, key := range []string{"urls", "url"} {
		value := jsonscan.Find(endpoint, key)
		for url := range jsonscan.Elements(value) {
			f.URLs = append(f.URLs, jsonscan.Text(url))
		}
		if url := jsonscan.Text(value); url != "" {
			f.URLs = append(f.URLs, url)
		}
	}
	f.load(raw)
}

// load describes how requests were sent in the profiling phases.
func (f *Facts) load(raw []byte) {
	var parts []string
	phases := jsonscan.Find(raw, "phases")
	for phase := range jsonscan.Elements(phases) {
		if kind := jsonscan.FindText(phase, "kind"); kind == string(config.WarmupPhase) ||
			string(jsonscan.Find(phase, "exclude_from_results")) == "true" {
			continue
		}
		concurrency, rate := f.amounts(phase, "rate")
		if text := loadText(jsonscan.FindText(phase, "type"), concurrency, rate, phase); text != "" {
			parts = append(parts, text)
		}
	}
	if old := jsonscan.Find(raw, "loadgen"); phases == nil && old != nil {
		concurrency, rate := f.amounts(old, "request_rate")
		kind := "concurrency"
		if rate > 0 {
			kind = jsonscan.FindText(old, "arrival_pattern")
		}
		parts = append(parts, loadText(kind, concurrency, rate, old))
	}
	const most = 3
	if len(parts) > most {
		parts = append(parts[:most], "…")
	}
	f.Load = strings.Join(parts, ", then ")
}

// amounts takes the concurrency and the rate of a phase.
func (f *Facts) amounts(phase []byte, rateKey string) (concurrency, rate float64) {
	concurrency, _ = number(jsonscan.Find(phase, "concurrency"))
	rate, _ = number(jsonscan.Find(phase, rateKey))
	f.Concurrency, f.Rate = max(f.Concurrency, concurrency), max(f.Rate, rate)
	return concurrency, rate
}

// loadText describes a phase.
func loadText(kind string, concurrency, rate float64, phase []byte) string {
	short := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	switch {
	case string(jsonscan.Find(phase, "adaptive_scale")) == "true":
		return "adaptive"
	case kind == "fixed_schedule":
		return "fixed schedule"
	case kind == "agentic_replay":
		return "agentic replay"
	case kind == "user_centric":
		users, _ := number(jsonscan.Find(phase, "users"))
		return strings.TrimSpace(short(users) + " users at " + short(rate) + " req/s")
	case rate > 0 && concurrency > 0:
		return short(rate) + " req/s, at most " + short(concurrency)
	case rate > 0:
		return short(rate) + " req/s"
	case concurrency > 0:
		return "concurrency " + short(concurrency)
	}
	return strings.ReplaceAll(kind, "_", " ")
}

// liveAddress returns the address of the live page of a run by its command, "" if it names no port.
func liveAddress(command string) string {
	host, port := "127.0.0.1", ""
	words := strings.Fields(strings.ReplaceAll(command, "=", " "))
	for i, word := range words[:max(0, len(words)-1)] {
		value := strings.Trim(words[i+1], "'")
		switch word {
		case "--api-port":
			port = value
		case "--api-host":
			host = value
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return ""
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

// ParameterName returns the name of a parameter of a sweep by its path in a configuration, as aggregates have it: its
// last part, or what is distributed, of a path such as datasets.main.prompts.isl.mean.
func ParameterName(path string) string {
	parts := strings.Split(path, ".")
	last := len(parts) - 1
	if last == 0 {
		return path
	}
	switch parts[last] {
	case "mean", "value":
		return parts[last-1]
	case "stddev":
		return parts[last-1] + "_stddev"
	}
	return parts[last]
}

// asNumber returns a value as a number.
func asNumber(v any) (float64, bool) {
	n, err := strconv.ParseFloat(answer.Label(v), 64)
	return n, err == nil
}
