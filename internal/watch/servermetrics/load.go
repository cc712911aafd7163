package servermetrics

import (
	"slices"

	"aiperf/internal/base/artifact"
)

// Load is how busy the servers were over a phase: the sums over their engines, or where these say nothing over their
// front ends; of the KV cache the fullest; nil is not known.
type Load struct {
	// Running and Waiting are the requests that the servers had on average and at most.
	Running    *float64 `json:"running,omitempty"`
	RunningMax *float64 `json:"running_max,omitempty"`
	Waiting    *float64 `json:"waiting,omitempty"`
	WaitingMax *float64 `json:"waiting_max,omitempty"`
	// KVUsage and KVUsageMax are percentages of the KV cache.
	KVUsage    *float64 `json:"kv_usage,omitempty"`
	KVUsageMax *float64 `json:"kv_usage_max,omitempty"`
	// Preemptions are how often a running request was put off for lack of memory.
	Preemptions *float64 `json:"preemptions,omitempty"`
	// Signs are what else the pages show.
	Signs *Signs `json:"signs,omitempty"`
}

// names are what servers call one figure. Engines and the front ends before them have it of the same requests: a queue
// that both show is one queue. Of the names that an endpoint has, the first counts.
type names struct{ engines, frontends []string }

// The gauges and counters that Load reads, by the names of the servers that have them.
var (
	runningGauges = names{engines: []string{"vllm:num_requests_running", "sglang:num_running_reqs",
		"trtllm_num_requests_running", "trtllm:num_requests_running", "llamacpp:requests_processing",
		"tgi_batch_current_size"}}
	waitingGauges = names{engines: []string{"vllm:num_requests_waiting", "sglang:num_queue_reqs",
		"trtllm_num_requests_waiting", "trtllm:num_requests_waiting", "llamacpp:requests_deferred", "tgi_queue_size",
		"nv_inference_pending_request_count"}, // of Triton, which may have the page of its backend, too
		frontends: []string{"dynamo_frontend_queued_requests"}}
	// Those of a simulated TensorRT-LLM of Dynamo have the endings of vLLM's.
	preemptionCounters = names{engines: []string{"vllm:num_preemptions", "trtllm:num_preemptions"}}
	kvGauges           = []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
		"trtllm_kv_cache_utilization", "trtllm:kv_cache_utilization", "trtllm:kv_cache_usage_perc",
		"dynamo_component_gpu_cache_usage_percent", "dynamo_component_kvstats_gpu_cache_usage_percent",
		"llamacpp:kv_cache_usage_ratio"}
)

// all returns the names of engines and front ends.
func (n names) all() []string { return slices.Concat(n.engines, n.frontends) }

// sums are the figures of endpoints by their names, each summed over its series, in order of the first one.
type sums []endpointSums

type endpointSums struct {
	endpoint *EndpointStore
	values   map[string]float64
}

func (s *sums) add(e *EndpointStore, name string, v float64) {
	at := slices.IndexFunc(*s, func(of endpointSums) bool { return of.endpoint == e })
	if at < 0 {
		at = len(*s)
		*s = append(*s, endpointSums{e, map[string]float64{}})
	}
	(*s)[at].values[name] += v
}

// total adds up what the engines have, or where none has it the front ends; nil where none of these has, either.
func (s sums) total(of names) (total *float64) {
	for _, tier := range [][]string{of.engines, of.frontends} {
		for i := range s {
			switch v := anyOf(s[i].values, tier); {
			case v == nil:
			case total == nil:
				total = v
			default:
				*total += *v
			}
		}
		if total != nil {
			return total
		}
	}
	return nil
}

// LoadOf returns how busy the servers were by their statistics; nil where none of them says so.
func LoadOf(r *Results) *Load {
	l := Load{
		Running: r.total(runningGauges, "avg"), RunningMax: r.total(runningGauges, "max"),
		Waiting: r.total(waitingGauges, "avg"), WaitingMax: r.total(waitingGauges, "max"),
		KVUsage:     r.largest(kvGauges, "avg"),
		KVUsageMax:  r.largest(kvGauges, "max"),
		Preemptions: r.total(preemptionCounters, "total"),
		Signs:       SignsOf(r),
	}
	if l == (Load{}) {
		return nil
	}
	// A usage is a fraction, up to 1, or a percentage, above; both figures are of one gauge.
	if l.KVUsage != nil && l.KVUsageMax != nil && *l.KVUsageMax <= 1 {
		*l.KVUsage *= 100
		*l.KVUsageMax *= 100
	}
	return &l
}

// each visits a statistic of all series of the metrics with one of the names, where it is finite.
func (r *Results) each(names []string, stat string, visit func(s *SeriesStats, name string, v float64)) {
	for i := range r.Families {
		f := &r.Families[i]
		if !slices.Contains(names, f.Name) {
			continue
		}
		for k := range f.Series {
			if field, ok := f.Series[k].Get(stat); ok && artifact.Finite(field.Value) {
				visit(&f.Series[k], f.Name, field.Value)
			}
		}
	}
}

// total adds up a statistic over all servers; nil without any. What one of several at an address says is no part of it,
// and a server with two addresses counts once.
func (r *Results) total(of names, stat string) *float64 {
	var list sums
	r.each(of.all(), stat, func(s *SeriesStats, name string, v float64) {
		if s.adds() {
			list.add(s.Series.endpoint, name, v)
		}
	})
	return list.total(of)
}

// largest returns the largest of a statistic over all servers; nil without any.
func (r *Results) largest(names []string, stat string) (out *float64) {
	r.each(names, stat, func(_ *SeriesStats, _ string, v float64) {
		if out == nil || v > *out {
			out = &v
		}
	})
	return out
}
