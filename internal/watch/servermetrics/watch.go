package servermetrics

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
)

// Highlight is a figure worth a look at the end of a run: one statistic of a well-known metric of one
// endpoint, over all its series. A server may say that one is infinite: files have null then, and it is read back as
// NaN.
type Highlight struct {
	Backend  string  `json:"backend"`
	Endpoint string  `json:"endpoint"` // as people read it
	Metric   string  `json:"metric"`
	Stat     string  `json:"stat"`
	Unit     string  `json:"unit,omitempty"`
	Value    float64 `json:"value"`
}

type plainHighlight Highlight

type highlight struct {
	plainHighlight
	Value *float64 `json:"value"`
}

// MarshalJSON implements json.Marshaler.
func (h Highlight) MarshalJSON() ([]byte, error) {
	out := highlight{plainHighlight: plainHighlight(h)}
	if artifact.Finite(h.Value) {
		out.Value = &h.Value
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (h *Highlight) UnmarshalJSON(text []byte) error {
	var in highlight
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*h = Highlight(in.plainHighlight)
	if h.Value = math.NaN(); in.Value != nil {
		h.Value = *in.Value
	}
	return nil
}

// combine says how the series of one endpoint make one figure.
type combine uint8

const (
	largest combine = iota
	summed          // of counts and of averages: the average of a sum is the sum of the averages
)

// watched is a row of the table of what to watch.
type watched struct {
	metric, stat string
	combine      combine
}

// backends are the servers whose metrics are known, each by the names that only it has.
var backends = []struct {
	name     string
	prefixes []string
	rows     []watched
}{
	{"vLLM", []string{"vllm:"}, []watched{
		{"num_requests_running", "avg", summed},
		{"num_requests_waiting", "max", summed},
		{"kv_cache_usage_perc", "max", largest},
		{"num_preemptions", "total", summed},
		{"time_to_first_token_seconds", "p99_estimate", largest},
		{"inter_token_latency_seconds", "p99_estimate", largest},
		{"e2e_request_latency_seconds", "p99_estimate", largest},
		{"generation_tokens", "rate", summed},
		{"prefix_cache_hits", "total", summed},
		{"prefix_cache_queries", "total", summed},
	}},
	{"SGLang", []string{"sglang:"}, []watched{
		{"num_running_reqs", "avg", summed},
		{"num_queue_reqs", "max", summed},
		{"token_usage", "max", largest},
		{"cache_hit_rate", "avg", largest},
		{"gen_throughput", "avg", summed},
		{"time_to_first_token_seconds", "p99_estimate", largest},
		{"inter_token_latency_seconds", "p99_estimate", largest},
		{"e2e_request_latency_seconds", "p99_estimate", largest},
		{"queue_time_seconds", "p99_estimate", largest},
		{"prompt_tokens", "rate", summed},
		{"generation_tokens", "rate", summed},
	}},
	{"TensorRT-LLM", []string{"trtllm_", "trtllm:"}, []watched{
		{"num_requests_running", "avg", summed},
		{"num_requests_waiting", "max", summed},
		{"kv_cache_utilization", "max", largest},
		{"kv_cache_hit_rate", "avg", largest},
		{"time_to_first_token_seconds", "p99_estimate", largest},
		{"time_per_output_token_seconds", "p99_estimate", largest},
		{"e2e_request_latency_seconds", "p99_estimate", largest},
		{"request_queue_time_seconds", "p99_estimate", largest},
		{"request_success", "rate", summed},
		{"generation_tokens", "rate", summed},
	}},
	{"Dynamo", []string{"dynamo_"}, []watched{
		{"frontend_active_requests", "avg", summed},
		{"frontend_inflight_requests", "avg", summed},
		{"frontend_queued_requests", "avg", summed},
		{"frontend_time_to_first_token_seconds", "p99_estimate", largest},
		{"frontend_inter_token_latency_seconds", "p99_estimate", largest},
		{"frontend_request_duration_seconds", "p99_estimate", largest},
		{"frontend_requests", "rate", summed},
		{"frontend_output_tokens", "rate", summed},
		{"component_gpu_cache_usage_percent", "max", largest},
		{"component_kvstats_gpu_cache_usage_percent", "max", largest},
	}},
	{"Triton", []string{"nv_"}, []watched{
		{"inference_request_success", "rate", summed},
		{"inference_request_failure", "total", summed},
		{"inference_pending_request_count", "max", summed},
		{"inference_first_response_histogram_ms", "p99_estimate", largest},
		{"gpu_utilization", "avg", largest},
		{"gpu_memory_used_bytes", "max", largest},
	}},
}

// Highlights returns the figures to watch of every backend whose metrics are in the results, in the order of
// the table, then by endpoint.
func Highlights(r *Results) []Highlight {
	families := make(map[string]*FamilyStats, len(r.Families))
	for i := range r.Families {
		families[r.Families[i].Name] = &r.Families[i]
	}
	var list []Highlight
	for _, b := range backends {
		for _, prefix := range b.prefixes {
			for _, w := range b.rows {
				if f := families[prefix+w.metric]; f != nil {
					list = append(list, w.of(b.name, f)...)
				}
			}
		}
	}
	return list
}

// of returns one figure for each endpoint that has the statistic.
func (w watched) of(backend string, f *FamilyStats) []Highlight {
	unit := prom.InferUnit(f.Name, f.Help)
	if w.stat == "rate" && unit != "" {
		unit += "/s"
	}
	var list []Highlight
	for i := range f.Series {
		s := &f.Series[i]
		field, ok := s.Get(w.stat)
		if !ok || s.mixed && w.combine == summed { // of one server of several
			continue
		}
		at := slices.IndexFunc(list, func(h Highlight) bool { return h.Endpoint == s.EndpointURL })
		switch {
		case at < 0:
			list = append(list, Highlight{backend, s.EndpointURL, f.Name, w.stat, unit, field.Value})
		case w.combine == summed:
			list[at].Value += field.Value
		default:
			list[at].Value = max(list[at].Value, field.Value)
		}
	}
	slices.SortStableFunc(list, func(a, b Highlight) int { return strings.Compare(a.Endpoint, b.Endpoint) })
	for i := range list {
		list[i].Endpoint = prom.Display(list[i].Endpoint)
	}
	return list
}
