package servermetrics

import (
	"slices"

	"aiperf/internal/base/artifact"
)

// Load is how busy the servers were over a phase: the sums over their engines, of the KV cache the fullest; nil is not
// known.
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
}

// The gauges and counters that Load reads, by the names of the servers that have them.
var (
	runningGauges = []string{"vllm:num_requests_running", "sglang:num_running_reqs", "trtllm_num_requests_running",
		"trtllm:num_requests_running", "llamacpp:requests_processing", "tgi_batch_current_size"}
	waitingGauges = []string{"vllm:num_requests_waiting", "sglang:num_queue_reqs", "trtllm_num_requests_waiting",
		"trtllm:num_requests_waiting", "dynamo_frontend_queued_requests", "nv_inference_pending_request_count",
		"llamacpp:requests_deferred", "tgi_queue_size"}
	kvGauges = []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
		"trtllm_kv_cache_utilization", "trtllm:kv_cache_utilization", "dynamo_component_gpu_cache_usage_percent",
		"dynamo_component_kvstats_gpu_cache_usage_percent", "llamacpp:kv_cache_usage_ratio"}
	preemptionCounters = []string{"vllm:num_preemptions"}
)

// LoadOf returns how busy the servers were by their statistics; nil where none of them says so.
func LoadOf(r *Results) *Load {
	l := Load{
		Running: r.total(runningGauges, "avg", summed), RunningMax: r.total(runningGauges, "max", summed),
		Waiting: r.total(waitingGauges, "avg", summed), WaitingMax: r.total(waitingGauges, "max", summed),
		KVUsage:     r.total(kvGauges, "avg", largest),
		KVUsageMax:  r.total(kvGauges, "max", largest),
		Preemptions: r.total(preemptionCounters, "total", summed),
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

// total combines a statistic over all series of the metrics with one of the names; nil without any.
func (r *Results) total(names []string, stat string, by combine) *float64 {
	var out *float64
	for i := range r.Families {
		f := &r.Families[i]
		if !slices.Contains(names, f.Name) {
			continue
		}
		for k := range f.Series {
			field, ok := f.Series[k].Get(stat)
			switch {
			case !ok || !artifact.Finite(field.Value):
			case out == nil:
				v := field.Value
				out = &v
			case by == summed:
				*out += field.Value
			default:
				*out = max(*out, field.Value)
			}
		}
	}
	return out
}
