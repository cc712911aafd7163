package foreign

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/metrics"
)

// isGenAIPerf reports whether a file is of GenAI-Perf: summaries of the original AIPerf begin alike.
func isGenAIPerf(path string) bool {
	const most = 8 << 20
	data, err := bounded.ReadFileUpTo(path, most)
	if err != nil || !jsonscan.Valid(data) {
		return err == nil && bytes.Contains(data, []byte(`"perf_analyzer"`)) // truncated, perhaps
	}
	return node(data).at("input_config", "perf_analyzer") != nil
}

// readGenAIPerf reads profile_export_genai_perf.json, whose metrics have our names, and units of ours or like them.
func readGenAIPerf(f *file) ([]Run, error) {
	whole := f.lines()
	if len(whole) != 1 {
		return nil, errors.New("it is not one JSON document")
	}
	d := whole[0]
	config := d.at("input_config")
	r := Run{Tool: "GenAI-Perf", Endpoint: strings.ReplaceAll(config.at("endpoint", "type").text(), "-", "_"),
		URL: config.at("endpoint", "url").text(), Streaming: config.at("endpoint", "streaming").bool(),
		Concurrency: config.at("perf_analyzer", "stimulus", "concurrency").positive(),
		Rate:        config.at("perf_analyzer", "stimulus", "request_rate").positive(),
		ISL:         config.at("input", "synthetic_tokens", "mean").positive(),
		OSL:         config.at("input", "output_tokens", "mean").positive()}
	if r.URL != "" && !strings.Contains(r.URL, "://") {
		r.URL = "http://" + r.URL
	}
	for _, name := range config.at("model_names").items() {
		r.Models = append(r.Models, name.text())
	}
	for m := range d.members() {
		of, known := metrics.Lookup(m.key)
		if !known || !m.value.has("unit") {
			continue
		}
		unit := m.value.at("unit").text()
		if unit != string(of.Display) && unit != "count" && !strings.Contains(unit, "/sec") {
			continue // another quantity under the same name
		}
		for s := range m.value.members() {
			v, ok := s.value.number()
			r.set(m.key, s.key, v, ok && s.key != "unit")
		}
	}
	return []Run{r}, nil
}

// readPerfAnalyzer reads profile_export.json of Perf Analyzer: an experiment for each load, with the times of the
// requests and what they got, without numbers of tokens.
func readPerfAnalyzer(f *file) (runs []Run, err error) {
	whole := f.lines()
	if len(whole) != 1 || !whole[0].has("experiments") {
		return nil, errors.New("it has no list of experiments")
	}
	d := whole[0]
	for i, e := range d.at("experiments").items() {
		r := Run{Tool: "Perf Analyzer", Version: d.at("version").text(), Endpoint: endpointType(d.at("endpoint").text())}
		switch level := e.at("experiment", "value").positive(); e.at("experiment", "mode").text() {
		case "concurrency":
			r.Concurrency = level
		case "request_rate":
			r.Rate = level
		}
		if err := r.perfAnalyzed(e.at("requests").items()); err != nil {
			return nil, at(i, err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// perfAnalyzed takes the times of the requests: those of their responses begin with the first one that has content.
func (r *Run) perfAnalyzed(list []node) error {
	var latencies, ttfts []float64
	var first, last int64
	for _, d := range list {
		sent, err := strconv.ParseInt(string(d.at("timestamp")), 10, 64) // a float has not enough digits
		if err != nil {
			return errors.New("a request has no timestamp")
		}
		outputs := d.at("response_outputs").items()
		var times []int64
		for i, t := range d.at("response_timestamps").items() {
			at, err := strconv.ParseInt(string(t), 10, 64)
			if err != nil {
				return errors.New("a timestamp of a response is not a whole number of nanoseconds")
			}
			if i >= len(outputs) || hasContent(outputs[i]) {
				times = append(times, at)
			}
		}
		if len(times) == 0 {
			continue
		}
		end := times[len(times)-1]
		if first == 0 || sent < first {
			first = sent
		}
		last = max(last, end)
		latencies = append(latencies, float64(end-sent)/1e6)
		if len(times) > 1 {
			ttfts = append(ttfts, float64(times[0]-sent)/1e6)
		}
	}
	if len(latencies) == 0 {
		return errors.New("no request has a response")
	}
	r.Streaming = len(ttfts) > 0
	r.Start, r.End = time.Unix(0, first).UTC(), time.Unix(0, last).UTC()
	seconds := float64(last-first) / 1e9
	r.single("benchmark_duration", seconds, seconds > 0)
	r.count("request_count", float64(len(latencies)), true)
	r.single("request_throughput", float64(len(latencies))/seconds, seconds > 0)
	r.distribution("request_latency", latencies, 1)
	r.distribution("time_to_first_token", ttfts, 1)
	return nil
}

// hasContent reports whether a response is one that has content: the end of a stream and chunks without text have none.
func hasContent(output node) bool {
	text := strings.TrimSpace(output.at("response").text())
	data, isEvent := strings.CutPrefix(text, "data:")
	switch data = strings.TrimSpace(data); {
	case data == "" || data == "[DONE]":
		return false
	case !isEvent && !strings.HasPrefix(data, "{"):
		return true
	case !jsonscan.Valid([]byte(data)):
		return true
	}
	choices := node(data).at("choices")
	if choices == nil {
		return true
	}
	for _, c := range choices.items() {
		for _, at := range []node{c.at("delta", "content"), c.at("delta", "reasoning_content"), c.at("text"),
			c.at("message", "content")} {
			if at.text() != "" {
				return true
			}
		}
		if c.has("delta") && c.at("delta").has("tool_calls") {
			return true
		}
	}
	return false
}
