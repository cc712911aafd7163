package foreign

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var llmdLatencies = []named{{"request_latency", "request_latency"}, {"time_to_first_token", "time_to_first_token"},
	{"time_per_output_token", "inter_token_latency"}}

var llmdLengths = []named{{"input_length", "input_sequence_length"}, {"output_length", "output_sequence_length"}}

// llmdFactors are those of units to ours.
var llmdFactors = map[string]float64{"s": 1000, "ms": 1, "s/token": 1000, "ms/token": 1, "count": 1, "tokens/s": 1,
	"queries/s": 1}

// readLLMD reads a benchmark report of llm-d, version 0.1 or 0.2, in YAML or JSON.
func readLLMD(f *file) ([]Run, error) {
	whole := f.lines()
	if len(whole) != 1 {
		return nil, errors.New("it is not one document")
	}
	d := whole[0]
	version := d.at("version").text()
	if version == "" {
		if v, ok := d.at("version").number(); ok {
			version = fmt.Sprint(v)
		}
	}
	var r Run
	var err error
	switch {
	case version == "0.1":
		r, err = llmdFirst(d)
	case version == "0.2" || len(version) > 4 && version[:4] == "0.2.":
		r, err = llmdSecond(d)
	case version == "":
		err = errors.New("it has no version")
	default:
		err = fmt.Errorf("its version is %.20q; 0.1 and 0.2 are known", version)
	}
	return []Run{r}, err
}

// llmdFirst reads version 0.1.
func llmdFirst(d node) (r Run, err error) {
	m := d.at("metrics")
	if m == nil {
		return r, errors.New("it has no metrics")
	}
	load := d.at("scenario", "load")
	r = Run{Tool: llmdTool(load.at("name").text()), Streaming: m.at("latency").has("time_to_first_token")}
	if model := d.at("scenario", "model", "name").text(); model != "" {
		r.Models = []string{model}
	}
	args := load.at("args")
	r.Concurrency = args.at("max_concurrency").positive()
	r.Rate = args.at("request_rate").positive()
	r.Start, r.End = instant(m.at("time", "start")), instant(m.at("time", "stop"))
	duration, ok := m.at("time", "duration").number()
	r.single("benchmark_duration", duration, ok && duration > 0)
	r.llmdRequests(m.at("requests"), m.at("latency"))
	for _, of := range perfRates {
		v, ok := m.at("throughput", of.name).number()
		r.single(of.tag, v, ok)
	}
	return r, nil
}

// llmdSecond reads version 0.2.
func llmdSecond(d node) (r Run, err error) {
	m := d.at("results", "request_performance", "aggregate")
	if m == nil {
		return r, errors.New("it has no results.request_performance.aggregate")
	}
	load := d.at("scenario", "load", "standardized")
	r = Run{Tool: llmdTool(load.at("tool").text()), Version: load.at("tool_version").text(),
		Label: d.at("run", "description").text(), Streaming: m.at("latency").has("time_to_first_token"),
		Concurrency: load.at("concurrency").positive(), Rate: load.at("rate_qps").positive(),
		ISL: llmdAsked(load.at("input_seq_len")), OSL: llmdAsked(load.at("output_seq_len"))}
	for _, c := range d.at("scenario", "stack").items() {
		if model := c.at("standardized", "model", "name").text(); model != "" {
			r.Models = []string{model}
			break
		}
	}
	t := d.at("run", "time")
	r.Start, r.End = date(t.at("start")), date(t.at("end"))
	if duration, err := isoDuration(t.at("duration").text()); err == nil {
		r.single("benchmark_duration", duration.Seconds(), duration > 0)
	}
	r.llmdRequests(m.at("requests"), m.at("latency"))
	for _, of := range []named{{"request_rate", "request_throughput"}, {"input_token_rate", "input_token_throughput"},
		{"output_token_rate", "output_token_throughput"}, {"total_token_rate", "total_token_throughput"}} {
		rate := m.at("throughput", of.name)
		v, ok := rate.at("mean").number()
		r.single(of.tag, v, ok && llmdFactors[rate.at("units").text()] == 1)
	}
	return r, nil
}

// llmdAsked returns a length that was asked for; 0 where the report only describes what was measured.
func llmdAsked(d node) float64 {
	switch d.at("distribution").text() {
	case "fixed", "gaussian":
		return d.at("value").positive()
	}
	return 0
}

// llmdTool returns the name of the tool behind a report.
func llmdTool(name string) string {
	switch name {
	case "":
		return "llm-d benchmark"
	case "vllm-benchmark":
		return "vllm bench serve"
	case "guidellm":
		return "GuideLLM"
	}
	return name
}

// llmdRequests takes counts, lengths and latencies.
func (r *Run) llmdRequests(requests, latency node) {
	total, okTotal := requests.at("total").number()
	failed, okFailed := requests.at("failures").number()
	cut, _ := requests.at("incomplete").number()
	r.count("request_count", total-failed-cut, okTotal && okFailed)
	r.count("error_request_count", failed, okFailed)
	r.Cancelled = int64(cut)
	for _, of := range llmdLengths {
		r.llmdDistribution(of.tag, requests.at(of.name))
	}
	for _, of := range llmdLatencies {
		r.llmdDistribution(of.tag, latency.at(of.name))
	}
	r.llmdGaps(latency)
	r.errorRate()
}

// llmdGaps takes the inter-token latency, of which the schema says that it may be that of a request or that between
// tokens. It is between tokens where there is a time per output token, too: the tools that write both mean that.
func (r *Run) llmdGaps(latency node) {
	tag := "inter_token_latency"
	if latency.has("time_per_output_token") {
		tag = "inter_chunk_latency"
	}
	r.llmdDistribution(tag, latency.at("inter_token_latency"))
}

// llmdDistribution takes statistics with their unit; those of an unknown unit are left out.
func (r *Run) llmdDistribution(tag string, d node) {
	factor, known := llmdFactors[d.at("units").text()]
	for m := range d.members() {
		stat, ok := map[string]string{"mean": "avg", "stddev": "std", "min": "min", "max": "max"}[m.key]
		if !ok {
			stat, ok = llmdRanks[m.key]
		}
		v, isNumber := m.value.number()
		r.set(tag, stat, v*factor, known && ok && isNumber)
	}
	r.noneMeasured(tag)
}

var llmdRanks = map[string]string{"p0p1": "p0.1", "p1": "p1", "p5": "p5", "p10": "p10", "p25": "p25", "p50": "p50",
	"p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99", "p99p9": "p99.9"}

// date returns an ISO time; the zero time for what is none.
func date(n node) time.Time {
	t, err := time.Parse(time.RFC3339Nano, n.text())
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// isoDuration reads a duration such as PT5.026S or PT1M2S.
func isoDuration(text string) (time.Duration, error) {
	rest, ok := strings.CutPrefix(text, "PT")
	if !ok {
		return 0, errors.New("not a duration of hours, minutes and seconds")
	}
	return time.ParseDuration(strings.ToLower(rest))
}
