package foreign

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// readVLLM reads what vllm bench serve --save-result writes: an object, with --append-result one on each line, and in
// the summary of vllm bench sweep serve a list. --save-detailed adds the values of the requests.
func readVLLM(f *file) (runs []Run, err error) {
	for i, line := range f.lines() {
		documents := []node{line}
		if line[0] == '[' {
			documents = line.items()
		}
		for _, d := range documents {
			r, err := vllmRun(d)
			if err != nil {
				return nil, at(i, err)
			}
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// at adds the number of a line to an error, unless it is the first one.
func at(line int, err error) error {
	if line == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", line+1, err)
}

// named is how a tool of this family calls a distribution in milliseconds, and its metric.
type named struct{ name, tag string }

var vllmLatencies = []named{{"ttft", "time_to_first_token"}, {"tpot", "inter_token_latency"},
	{"itl", "inter_chunk_latency"}, {"e2el", "request_latency"}}

func vllmRun(d node) (r Run, err error) {
	duration, ok := d.at("duration").number()
	if !ok || !d.has("completed") {
		return r, errors.New("it has no duration or no number of completed requests")
	}
	r = Run{Tool: "vllm bench serve", Version: d.at("vllm_version").text(), Label: d.at("label").text(),
		Endpoint: endpointType(firstText(d, "endpoint_type", "backend")), Streaming: true,
		Concurrency: d.at("max_concurrency").positive()}
	r.loadOf(d)
	if model := d.at("model_id").text(); model != "" {
		r.Models = []string{model}
	}
	if t, err := time.ParseInLocation("20060102-150405", d.at("date").text(), time.UTC); err == nil {
		// When the file was written; a local time of an unknown zone counts as UTC, as in our own summaries.
		r.Start, r.End = t.Add(-time.Duration(duration*1e9)), t
	}
	failed, okFailed := d.at("failed").number()
	r.totals(d, duration, "total_token_throughput", failed, okFailed)
	goodput, ok := d.at("request_goodput").number()
	if !ok { // older versions
		goodput, ok = d.at("request_goodput:").number()
	}
	r.single("goodput", goodput, ok)
	for _, of := range vllmLatencies {
		r.millis(d, "_"+of.name+"_ms", of.tag)
	}
	r.details(d, okFailed && failed == 0)
	r.errorRate()
	return r, nil
}

func firstText(d node, keys ...string) string {
	for _, key := range keys {
		if text := d.at(key).text(); text != "" {
			return text
		}
	}
	return ""
}

// loadOf takes the rate, which is inf or null for all requests at once, and how it is spread.
func (r *Run) loadOf(d node) {
	if r.Rate = d.at("request_rate").positive(); r.Rate == 0 {
		return
	}
	r.Arrivals = "poisson"
	if burstiness, ok := d.at("burstiness").number(); ok && burstiness != 1 {
		r.Arrivals = "gamma"
	}
}

// totals takes the totals that vLLM and SGLang name alike.
func (r *Run) totals(d node, duration float64, all string, failed float64, okFailed bool) {
	r.single("benchmark_duration", duration, true)
	completed, ok := d.at("completed").number()
	r.count("request_count", completed, ok)
	r.count("error_request_count", failed, okFailed)
	for _, of := range []named{{"request_throughput", "request_throughput"},
		{"output_throughput", "output_token_throughput"}, {"input_throughput", "input_token_throughput"},
		{all, "total_token_throughput"}} {
		v, ok := d.at(of.name).number()
		r.single(of.tag, v, ok)
	}
	// Means over the requests follow from totals.
	for _, of := range []struct{ name, total, mean string }{
		{"total_input_tokens", "total_isl", "input_sequence_length"},
		{"total_output_tokens", "total_osl", "output_sequence_length"},
	} {
		total, ok := d.at(of.name).number()
		r.count(of.total, total, ok)
		r.single(of.mean, total/completed, ok && completed > 0)
	}
	total, okTotal := d.at("total_input_tokens").number()
	r.single("input_token_throughput", total/duration, okTotal && duration > 0)
}

// millis takes the statistics whose names end alike, such as mean_ttft_ms and p99_ttft_ms.
func (r *Run) millis(d node, suffix, tag string) {
	for _, of := range []named{{"mean", "avg"}, {"median", "p50"}, {"std", "std"}, {"max", "max"}, {"min", "min"}} {
		v, ok := d.at(of.name + suffix).number()
		r.set(tag, of.tag, v, ok)
	}
	for m := range d.members() {
		if rank, isRank := strings.CutSuffix(m.key, suffix); isRank {
			if stat, ok := rankKey(rank); ok {
				v, ok := m.value.number()
				r.set(tag, stat, v, ok)
			}
		}
	}
	r.noneMeasured(tag)
}

// details takes the values of the requests. complete reports that none failed: failed requests have values, too, which
// are those of no reply.
func (r *Run) details(d node, complete bool) {
	ttfts, gaps := d.at("ttfts").numbers(), d.at("itls").items()
	inputs, outputs := d.at("input_lens").numbers(), d.at("output_lens").numbers()
	good := succeeded(d, len(outputs))
	if latencies := d.at("latencies").numbers(); complete {
		r.distribution("request_latency", latencies, 1000)
	}
	if len(outputs) == 0 || good == nil && !complete {
		return
	}
	isGood := func(i int) bool { return good == nil || i < len(good) && good[i] }
	r.distribution("input_sequence_length", only(inputs, isGood), 1)
	r.distribution("output_sequence_length", only(outputs, isGood), 1)
	r.distribution("time_to_first_token", only(ttfts, isGood), 1000)
	var between, tpots, latencies []float64
	for i, list := range gaps {
		if i >= len(ttfts) || i >= len(outputs) || !isGood(i) {
			continue
		}
		sum := 0.0
		for _, gap := range list.numbers() {
			between, sum = append(between, gap), sum+gap
		}
		latencies = append(latencies, ttfts[i]+sum)
		if outputs[i] > 1 {
			tpots = append(tpots, sum/(outputs[i]-1))
		}
	}
	r.distribution("inter_chunk_latency", between, 1000)
	r.distribution("inter_token_latency", tpots, 1000)
	r.distribution("request_latency", latencies, 1000)
}

// succeeded reports for each request whether it has no error; nil where the file does not say so.
func succeeded(d node, n int) (good []bool) {
	errors := d.at("errors").items()
	if len(errors) != n {
		return nil
	}
	for _, e := range errors {
		good = append(good, e.text() == "")
	}
	return good
}

// only returns the values whose index is kept.
func only(values []float64, keep func(i int) bool) (list []float64) {
	for i, v := range values {
		if keep(i) {
			list = append(list, v)
		}
	}
	return list
}
