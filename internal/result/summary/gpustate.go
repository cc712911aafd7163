package summary

import (
	"slices"

	"aiperf/internal/watch/gpu"
)

// GPUState has the metrics of the GPUs in the whole run.
type GPUState struct {
	Telemetry *gpu.Telemetry `json:"telemetry"`
	// Efficiency are the figures of energy and power, in result order.
	Efficiency []gpu.Efficiency `json:"efficiency,omitempty"`
	// Shown reports that the final report shows them.
	Shown bool `json:"shown,omitempty"`
}

// AddGPUs adds the metrics of the GPUs to a result of the whole run; nil adds nothing.
func (r *Result) AddGPUs(s *GPUState) {
	if s == nil || s.Telemetry == nil || len(s.Telemetry.Endpoints) == 0 {
		return
	}
	r.Telemetry = s.Telemetry
	r.Metrics = slices.Clip(r.Metrics)
	for _, f := range s.Efficiency {
		r.Metrics = append(r.Metrics, f.Result())
	}
}

// GPULoad returns the figures of the requests that efficiency is computed from, without the concurrency.
func (r *Result) GPULoad() gpu.Load {
	value := func(tag string, scale float64) *float64 {
		v, found := r.Value(tag)
		if !found {
			return nil
		}
		v *= scale
		return &v
	}
	return gpu.Load{
		OutputLength: value("total_osl", 1), InputLength: value("total_isl", 1),
		OutputTokens: value("total_output_tokens", 1),
		Requests:     value("request_count", 1), MeanLatencySeconds: value("request_latency", 1e-3),
		RequestRate: value("request_throughput", 1), TokenRate: value("output_token_throughput", 1),
		Goodput: value("goodput", 1),
	}
}
