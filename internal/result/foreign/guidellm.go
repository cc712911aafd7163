package foreign

import (
	"errors"
	"math"
	"time"
)

// guideRequests are distributions over requests, or over tokens, with the factor to our unit.
var guideRequests = []struct {
	name, tag string
	factor    float64
}{
	{"request_latency", "request_latency", 1000},
	{"time_to_first_token_ms", "time_to_first_token", 1},
	{"inter_token_latency_ms", "inter_token_latency", 1},
	{"prompt_token_count", "input_sequence_length", 1},
	{"output_token_count", "output_sequence_length", 1},
}

// guideRates are rates: only their means are those of the run, the rest is about instants.
var guideRates = []named{{"requests_per_second", "request_throughput"},
	{"output_tokens_per_second", "output_token_throughput"}, {"prompt_tokens_per_second", "input_token_throughput"},
	{"tokens_per_second", "total_token_throughput"}}

// readGuideLLM reads a report of GuideLLM, in JSON or in YAML: each of its benchmarks is a run.
func readGuideLLM(f *file) (runs []Run, err error) {
	whole := f.lines()
	if len(whole) != 1 || !whole[0].has("benchmarks") {
		return nil, errors.New("it has no list of benchmarks")
	}
	d := whole[0]
	version := d.at("metadata", "guidellm_version").text()
	for i, b := range d.at("benchmarks").items() {
		r, err := guideRun(b)
		if err != nil {
			return nil, at(i, err)
		}
		r.Version = version
		for _, data := range d.at("config", "spec", "data").items() {
			r.ISL, r.OSL = data.at("prompt_tokens").positive(), data.at("output_tokens").positive()
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func guideRun(b node) (Run, error) {
	r := Run{Tool: "GuideLLM"}
	m := b.at("metrics")
	if m == nil {
		return r, errors.New("a benchmark has no metrics")
	}
	backend := b.at("config", "backend")
	if backend == nil { // older versions
		backend = b.at("benchmarker", "backend")
	}
	if model := firstText(backend, "model"); model != "" {
		r.Models = []string{model}
	}
	r.URL = backend.at("target").text()
	r.Endpoint = endpointType(backend.at("request_format").text())
	r.Streaming = backend.at("stream").bool()
	r.guideLoad(b)
	r.Start, r.End = instant(b.at("start_time")), instant(b.at("end_time"))
	duration, ok := b.at("duration").number()
	r.single("benchmark_duration", duration, ok)
	totals := m.at("request_totals")
	good, ok := totals.at("successful").number()
	r.count("request_count", good, ok)
	bad, ok := totals.at("errored").number()
	r.count("error_request_count", bad, ok)
	if cut, ok := totals.at("incomplete").number(); ok {
		r.Cancelled = int64(cut)
	}
	for _, of := range guideRequests {
		r.guideDistribution(of.tag, m.at(of.name, "successful"), of.factor)
	}
	for _, of := range guideRates {
		mean, ok := m.at(of.name, "successful", "mean").number()
		r.single(of.tag, mean, ok && good > 0)
	}
	for _, of := range []named{{"prompt_token_count", "total_isl"}, {"output_token_count", "total_osl"}} {
		sum, ok := m.at(of.name, "successful", "total_sum").number()
		r.count(of.tag, sum, ok && good > 0)
	}
	r.errorRate()
	return r, nil
}

// guideLoad takes the strategy of a benchmark.
func (r *Run) guideLoad(b node) {
	s := b.at("config", "strategy")
	if s == nil { // older versions
		s = b.at("args", "strategy")
	}
	if s == nil {
		s = b.at("scheduler", "strategy")
	}
	switch kind := s.at("type_").text(); kind {
	case "synchronous":
		r.Concurrency = 1
	case "concurrent":
		r.Concurrency = s.at("streams").positive()
	case "constant", "async":
		r.Arrivals, r.Rate = "constant", s.at("rate").positive()
	case "poisson":
		r.Arrivals, r.Rate = "poisson", s.at("rate").positive()
	}
	if r.Concurrency == 0 {
		r.Concurrency = s.at("max_concurrency").positive()
	}
}

// guideDistribution takes the statistics of a distribution that has values.
func (r *Run) guideDistribution(tag string, d node, factor float64) {
	count, ok := d.at("count").number()
	if !ok || count == 0 {
		return
	}
	for _, of := range []named{{"mean", "avg"}, {"median", "p50"}, {"std_dev", "std"}, {"min", "min"}, {"max", "max"}} {
		v, ok := d.at(of.name).number()
		r.set(tag, of.tag, v*factor, ok)
	}
	for m := range d.at("percentiles").members() {
		stat, known := guideRanks[m.key]
		v, ok := m.value.number()
		r.set(tag, stat, v*factor, known && ok)
	}
	r.noneMeasured(tag)
}

// guideRanks are the names of percentiles: the digits are those behind the point of a share.
var guideRanks = map[string]string{"p001": "p0.1", "p01": "p1", "p05": "p5", "p10": "p10", "p25": "p25", "p50": "p50",
	"p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p99.9"}

// instant returns a time in seconds since 1970; the zero time for what is none.
func instant(n node) time.Time {
	v, ok := n.number()
	if !ok || v <= 0 || v > 1e11 {
		return time.Time{}
	}
	whole, part := math.Modf(v)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}
