package foreign

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"aiperf/internal/base/bounded"
)

// perfLatencies are distributions in seconds. inter_token_latency has the gaps of all requests.
var perfLatencies = []named{{"request_latency", "request_latency"}, {"time_to_first_token", "time_to_first_token"},
	{"time_per_output_token", "inter_token_latency"}, {"inter_token_latency", "inter_chunk_latency"}}

var perfRates = []named{{"requests_per_sec", "request_throughput"}, {"input_tokens_per_sec", "input_token_throughput"},
	{"output_tokens_per_sec", "output_token_throughput"}, {"total_tokens_per_sec", "total_token_throughput"}}

// perfLengths are the names of lengths, of which older versions have others.
var perfLengths = []named{{"prompt_tokens", "input_sequence_length"}, {"prompt_len", "input_sequence_length"},
	{"output_len", "output_sequence_length"}}

// readInferencePerf reads a report of inference-perf: of a stage, of all stages, or of the requests. What was asked is
// in the config.yaml beside it.
func readInferencePerf(f *file) ([]Run, error) {
	whole := f.lines()
	if len(whole) != 1 {
		return nil, errors.New("it is not one JSON document")
	}
	d := whole[0]
	r := Run{Tool: "inference-perf"}
	asked := perfConfig(f.path)
	if d[0] == '[' {
		r.perfAsked(asked, -1)
		return []Run{r}, r.perfRequests(d.items())
	}
	good := d.at("successes")
	if good == nil {
		return nil, errors.New("it has no successes")
	}
	duration, ok := d.at("benchmark_time_seconds").number()
	r.single("benchmark_duration", duration, ok)
	n, ok := good.at("count").number()
	r.count("request_count", n, ok)
	failed, ok := d.at("failures", "count").number()
	r.count("error_request_count", failed, ok)
	for _, of := range perfLatencies {
		r.perfDistribution(of.tag, good.at("latency", of.name), 1000)
	}
	for _, of := range perfLengths {
		r.perfDistribution(of.tag, good.at(of.name), 1)
	}
	for _, of := range perfRates {
		v, ok := good.at("throughput", of.name).number()
		r.single(of.tag, v, ok && n > 0)
	}
	for _, of := range []named{{"prompt_tokens", "total_isl"}, {"output_tokens", "total_osl"}} {
		total, ok := good.at(of.name, "total").number()
		r.count(of.tag, total, ok)
	}
	r.perfAsked(asked, stageOf(f.path))
	if rate := d.at("load_summary", "requested_rate").positive(); rate > 0 && r.Concurrency == 0 {
		r.Rate = rate
	}
	if c := d.at("load_summary", "concurrency").positive(); c > 0 {
		r.Concurrency, r.Rate = c, 0
	}
	r.errorRate()
	return []Run{r}, nil
}

// perfDistribution takes statistics whose percentiles are named p0.1 to p99.9.
func (r *Run) perfDistribution(tag string, d node, factor float64) {
	for m := range d.members() {
		stat, ok := map[string]string{"mean": "avg", "median": "p50", "min": "min", "max": "max", "std_dev": "std"}[m.key]
		if !ok {
			stat, ok = rankKey(m.key)
		}
		v, isNumber := m.value.number()
		r.set(tag, stat, v*factor, ok && isNumber)
	}
	r.noneMeasured(tag)
}

// stageOf returns the number of the stage in the name of a report; -1 for that of all stages.
func stageOf(path string) int {
	_, rest, found := strings.Cut(filepath.Base(path), stageMark)
	digits, _, _ := strings.Cut(rest, "_")
	n, err := strconv.Atoi(digits)
	if !found || err != nil {
		return -1
	}
	return n
}

// perfConfig reads the configuration that inference-perf writes beside its reports; nil if there is none.
func perfConfig(path string) node {
	stem, _, _ := strings.Cut(filepath.Base(path), stageMark)
	for _, mark := range []string{summaryMark, "per_request_"} {
		stem, _, _ = strings.Cut(stem, mark)
	}
	const most = 1 << 20
	data, err := bounded.ReadFileUpTo(filepath.Join(filepath.Dir(path), stem+"config.yaml"), most)
	if err != nil {
		return nil
	}
	if data, err = yaml.YAMLToJSON(data); err != nil {
		return nil
	}
	return data
}

// perfAsked takes what was asked. The load is that of a stage, or of the only one.
func (r *Run) perfAsked(c node, stage int) {
	if model := c.at("server", "model_name").text(); model != "" {
		r.Models = []string{model}
	}
	r.URL = c.at("server", "base_url").text()
	r.Endpoint = endpointType(c.at("api", "type").text())
	r.Streaming = c.at("api", "streaming").bool()
	stages := c.at("load", "stages").items()
	if stage < 0 && len(stages) == 1 {
		stage = 0
	}
	if stage < 0 || stage >= len(stages) {
		return
	}
	r.Concurrency = stages[stage].at("concurrency_level").positive()
	if r.Concurrency == 0 {
		r.Rate = stages[stage].at("rate").positive()
	}
	if kind := c.at("load", "type").text(); r.Rate > 0 && (kind == "constant" || kind == "poisson") {
		r.Arrivals = kind
	}
}

// perfRequests takes the requests. Their times are those of a clock without a date.
func (r *Run) perfRequests(list []node) error {
	var latencies, ttfts, tpots, gaps, inputs, outputs []float64
	first, last, failed := math.Inf(1), math.Inf(-1), 0.0
	for i, d := range list {
		start, okStart := d.at("start_time").number()
		end, okEnd := d.at("end_time").number()
		if !okStart || !okEnd {
			return fmt.Errorf("request %d has no start_time or no end_time", i+1)
		}
		first, last = min(first, start), max(last, end)
		if d.has("error") {
			failed++
			continue
		}
		latencies = append(latencies, end-start)
		info := d.at("info")
		for _, at := range []node{info.at("request_metrics", "text", "input_tokens"), info.at("input_tokens")} {
			if v, ok := at.number(); ok {
				inputs = append(inputs, v)
				break
			}
		}
		of := info.at("response_metrics")
		if of == nil {
			of = info
		}
		tokens, okTokens := of.at("output_tokens").number()
		if okTokens {
			outputs = append(outputs, tokens)
		}
		times := of.at("output_token_times").numbers()
		if len(times) < 2 {
			continue
		}
		ttfts = append(ttfts, times[0]-start)
		for k := range times[1:] {
			gaps = append(gaps, times[k+1]-times[k])
		}
		if okTokens && tokens > 1 {
			tpots = append(tpots, (times[len(times)-1]-times[0])/(tokens-1))
		}
	}
	if len(list) == 0 {
		return errors.New("it has no requests")
	}
	r.single("benchmark_duration", last-first, last > first)
	r.count("request_count", float64(len(latencies)), true)
	r.count("error_request_count", failed, true)
	for _, of := range []struct {
		tag    string
		values []float64
		factor float64
	}{{"request_latency", latencies, 1000}, {"time_to_first_token", ttfts, 1000}, {"inter_token_latency", tpots, 1000},
		{"inter_chunk_latency", gaps, 1000}, {"input_sequence_length", inputs, 1}, {"output_sequence_length", outputs, 1}} {
		r.distribution(of.tag, of.values, of.factor)
	}
	r.single("request_throughput", float64(len(latencies))/(last-first), last > first)
	r.single("output_token_throughput", sum(outputs)/(last-first), last > first && len(outputs) == len(latencies))
	r.errorRate()
	return nil
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}
