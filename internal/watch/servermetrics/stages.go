package servermetrics

import (
	"cmp"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
)

// Stages are the mean times of a request in the stages of the servers, by their own clocks; nil is not known.
type Stages struct {
	// Engines are the servers that compute; FrontEnds are those that take requests for them.
	Engines   *Tier `json:"engines,omitempty"`
	FrontEnds *Tier `json:"front_ends,omitempty"`
}

// Tier is what servers of one kind say, all of them together.
type Tier struct {
	// Kind is the name of the server, such as vLLM.
	Kind string `json:"kind"`
	// TTFT and Latency are the wholes of which the other times are parts.
	TTFT    *StageTime `json:"ttft,omitempty"`
	Latency *StageTime `json:"latency,omitempty"`
	Queue   *StageTime `json:"queue,omitempty"`
	Prefill *StageTime `json:"prefill,omitempty"`
	Decode  *StageTime `json:"decode,omitempty"`
	Compute *StageTime `json:"compute,omitempty"`
	// Details are times around the engine, in the order of their names.
	Details []NamedTime `json:"details,omitempty"`
}

// StageTime is the mean time of a request in a stage.
type StageTime struct {
	// Seconds is the mean of Count requests. Where Count is 0 the server does not count them, and Seconds is the sum over
	// all of its requests.
	Seconds float64 `json:"seconds"`
	Count   float64 `json:"count"`
	Metric  string  `json:"metric"`
}

// NamedTime is a time that only one kind of server has.
type NamedTime struct {
	Name string `json:"name"`
	StageTime
}

// timed is where a kind of server keeps a time: in histograms, or in counters of time with one of requests.
type timed struct {
	// names are alternatives without the prefix: the first that a page has counts. What plus has is added to its sum.
	names []string
	plus  []string
	// label and value pick series; no label picks all. With a label and no value there is a time for each value.
	label, value string
	// also is a further value of the label that comes before it in some of the requests: its sum is added.
	also string
	// requests is the counter of requests that goes with a counter of time; "" where the server has none.
	requests string
	// scale turns the value into seconds; 0 = 1.
	scale float64
}

// stageTable is where a kind of server keeps its times.
type stageTable struct {
	kind     string
	prefixes []string
	// frontEnd: it takes requests for engines, which may have pages of their own.
	frontEnd bool

	ttft, latency, queue, prefill, decode, compute, details timed
	// own are times of a front end around the engine, by their names.
	own []ownTime
}

// ownTime is a time that a front end spends itself.
type ownTime struct {
	name string
	at   timed
}

func histograms(names ...string) timed { return timed{names: names} }

// stageTables are the times of each kind of server. Of each tier the first kind counts that has one of them.
var stageTables = []stageTable{
	{kind: "vLLM", prefixes: []string{"vllm:"},
		ttft: histograms("time_to_first_token_seconds"), latency: histograms("e2e_request_latency_seconds"),
		queue: histograms("request_queue_time_seconds"), prefill: histograms("request_prefill_time_seconds"),
		decode: histograms("request_decode_time_seconds")},
	{kind: "SGLang", prefixes: []string{"sglang:"},
		ttft: histograms("time_to_first_token_seconds"), latency: histograms("e2e_request_latency_seconds"),
		queue: histograms("queue_time_seconds"),
		prefill: timed{names: []string{"per_stage_req_latency_seconds"}, label: "stage", value: "prefill_forward",
			also: "chunked_prefill"}},
	{kind: "TensorRT-LLM", prefixes: []string{"trtllm_", "trtllm:"},
		ttft: histograms("time_to_first_token_seconds"), latency: histograms("e2e_request_latency_seconds"),
		queue: histograms("request_queue_time_seconds"), prefill: histograms("request_prefill_time_seconds"),
		decode: histograms("request_decode_time_seconds")},
	{kind: "llama.cpp", prefixes: []string{"llamacpp:"},
		prefill: timed{names: []string{"prompt_seconds"}}, decode: timed{names: []string{"tokens_predicted_seconds"}}},
	{kind: "TGI", prefixes: []string{"tgi_"},
		latency: histograms("request_duration"), queue: histograms("request_queue_duration"),
		compute: histograms("request_inference_duration")},
	{kind: "Triton", prefixes: []string{"nv_"},
		ttft:    timed{names: []string{"inference_first_response_histogram_ms"}, scale: 1e-3},
		latency: microseconds("inference_request_duration_us"),
		queue:   microseconds("inference_queue_duration_us"),
		compute: microseconds("inference_compute_infer_duration_us", "inference_compute_input_duration_us",
			"inference_compute_output_duration_us")},
	{kind: "Dynamo", prefixes: []string{"dynamo_frontend_"}, frontEnd: true,
		ttft: histograms("time_to_first_token_seconds"), latency: histograms("request_duration_seconds"),
		details: timed{names: []string{"stage_duration_seconds"}, label: "stage"}},
	// The gateway of SGLang, smg, and its predecessor.
	{kind: "SGLang router", prefixes: []string{"smg_router_", "sgl_router_"}, frontEnd: true,
		ttft: histograms("ttft_seconds"), latency: histograms("request_duration_seconds")},
	// The endpoint picker of llm-d and of the inference extension of the Gateway API, under its names so far.
	{kind: "llm-d", prefixes: []string{"llm_d_epp_", "inference_objective_", "inference_extension_"}, frontEnd: true,
		ttft: histograms("request_ttft_seconds"), latency: histograms("request_duration_seconds"),
		own: []ownTime{{"flow control", histograms("flow_control_request_queue_duration_seconds")},
			{"scheduler", histograms("scheduler_e2e_duration_seconds")}}},
	{kind: "LiteLLM", prefixes: []string{"litellm_"}, frontEnd: true,
		latency: histograms("request_total_latency_metric"),
		own:     []ownTime{{"overhead", histograms("overhead_latency_metric")}}},
}

// frontEndOf returns the kind of the front end that a metric is of; "" where it is of none.
func frontEndOf(name string) string {
	for i := range stageTables {
		t := &stageTables[i]
		if t.frontEnd && slices.ContainsFunc(t.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return t.kind
		}
	}
	return ""
}

// microseconds are Triton's counters of time.
func microseconds(name string, plus ...string) timed {
	return timed{names: []string{name}, plus: plus, requests: "inference_request_success", scale: 1e-6}
}

// StagesOf returns the times of the servers' stages by their statistics; nil where no server keeps such times. Of pages
// about several models the benchmarked ones count.
func StagesOf(r *Results, models []string) *Stages {
	var s Stages
	for i := range stageTables {
		t := &stageTables[i]
		to := &s.Engines
		if t.frontEnd {
			to = &s.FrontEnds
		}
		if *to == nil {
			*to = t.read(stageReader{r, models})
		}
	}
	if s == (Stages{}) {
		return nil
	}
	return &s
}

// read returns what the servers of a kind say; nil where they say nothing.
func (t *stageTable) read(from stageReader) *Tier {
	tier := Tier{Kind: t.kind}
	for _, prefix := range t.prefixes {
		for _, of := range []struct {
			to **StageTime
			at *timed
		}{{&tier.TTFT, &t.ttft}, {&tier.Latency, &t.latency}, {&tier.Queue, &t.queue}, {&tier.Prefill, &t.prefill},
			{&tier.Decode, &t.decode}, {&tier.Compute, &t.compute}} {
			if *of.to == nil {
				*of.to = from.time(prefix, of.at)
			}
		}
		tier.Details = append(tier.Details, from.details(prefix, &t.details)...)
		for i := range t.own {
			of := &t.own[i]
			known := slices.ContainsFunc(tier.Details, func(d NamedTime) bool { return d.Name == of.name })
			if s := from.time(prefix, &of.at); s != nil && s.Count > 0 && !known {
				tier.Details = append(tier.Details, NamedTime{of.name, *s})
			}
		}
	}
	if tier.empty() {
		return nil
	}
	return &tier
}

func (t *Tier) empty() bool {
	return t.TTFT == nil && t.Latency == nil && t.Queue == nil && t.Prefill == nil && t.Decode == nil && t.Compute == nil
}

// stageReader reads times from the statistics of a phase.
type stageReader struct {
	results *Results
	models  []string
}

// time returns the mean of a time; nil where the servers do not have it, or observed nothing.
func (r stageReader) time(prefix string, at *timed) *StageTime {
	for _, name := range at.names {
		var out StageTime
		sum := r.add(prefix+name, at, &out)
		if sum == 0 && out.Count == 0 && at.requests == "" {
			continue
		}
		out.Metric = prefix + name
		if at.also != "" {
			sum += r.add(prefix+name, &timed{label: at.label, value: at.also}, new(StageTime))
		}
		for _, more := range at.plus {
			sum += r.add(prefix+more, at, new(StageTime))
			out.Metric += " + " + prefix + more
		}
		if at.requests != "" {
			if out.Count = r.add(prefix+at.requests, &timed{}, new(StageTime)); out.Count <= 0 {
				continue
			}
		}
		return out.mean(sum, at.scale)
	}
	return nil
}

// mean sets the time of a sum; nil where that cannot be one.
func (s *StageTime) mean(sum, scale float64) *StageTime {
	if scale != 0 {
		sum *= scale
	}
	s.Seconds = sum / cmp.Or(s.Count, 1)
	if !artifact.Finite(s.Seconds) || s.Seconds < 0 || !Countable(s.Count) {
		return nil
	}
	return s
}

// add returns the sum of a metric's growth over its series and adds the observations of a histogram to those of a time.
func (r stageReader) add(name string, at *timed, to *StageTime) (sum float64) {
	for s := range r.series(name) {
		if at.label != "" && labelOf(s.Labels, at.label) != at.value {
			continue
		}
		switch {
		case s.Histogram != nil:
			sum += s.Histogram.Sum
			to.Count += float64(s.Histogram.Count)
		case s.Counter != nil:
			sum += s.Counter.Total
		}
	}
	return sum
}

// series yields the series of a name that are about the benchmarked models, where there are some of them.
func (r stageReader) series(name string) func(func(*SeriesStats) bool) {
	return func(yield func(*SeriesStats) bool) {
		for i := range r.results.Families {
			f := &r.results.Families[i]
			if strings.TrimSuffix(f.Name, "_total") != name {
				continue
			}
			ours := func(s *SeriesStats) bool { return isOf(s.Labels, r.models) }
			some := false
			for k := range f.Series {
				some = some || ours(&f.Series[k])
			}
			for k := range f.Series {
				if s := &f.Series[k]; s.adds() && (!some || ours(s)) && !yield(s) {
					return
				}
			}
		}
	}
}

// isOf reports whether a series is about one of some models.
func isOf(labels []prom.Label, models []string) bool {
	return slices.ContainsFunc(labels, func(l prom.Label) bool {
		named := func(model string) bool { return strings.EqualFold(model, l.Value) }
		return slices.Contains(modelLabels, l.Name) && slices.ContainsFunc(models, named)
	})
}

// details returns a time for each value of a label, in the order of the values.
func (r stageReader) details(prefix string, at *timed) (list []NamedTime) {
	for _, name := range at.names {
		var values []string
		for s := range r.series(prefix + name) {
			if v := labelOf(s.Labels, at.label); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		for _, value := range values {
			one := timed{names: []string{name}, label: at.label, value: value, scale: at.scale}
			if t := r.time(prefix, &one); t != nil && t.Count > 0 {
				t.Metric += "{" + at.label + "=\"" + value + "\"}"
				list = append(list, NamedTime{value, *t})
			}
		}
	}
	return list
}
