package summary

import (
	"cmp"
	"slices"

	"aiperf/internal/measure/metrics"
)

// Build makes the result of a run from its facts and the engines of its phases, which count the outcomes of the
// requests. Warmup is nil when there was no warm-up phase.
func Build(run Run, profiling, warmup *metrics.Engine) Result {
	seen := profiling.Snapshot()
	result := Result{
		Run:           run,
		Metrics:       profiling.Results(),
		Slices:        profiling.Slices(),
		Errors:        profiling.Errors(),
		UsageReported: seen.UsageReported,
		CacheReported: seen.CacheReported,
		Recoded:       seen.Recoded,
		Acceptance:    profiling.Acceptance(),
		Trend:         profiling.Trend(),
	}
	c := &result.Counts
	c.Successes, c.Errors, c.Skipped = seen.Successes, seen.Errors, seen.Skipped
	result.StartNS = cmp.Or(run.StartNS, seen.StartNS)
	result.EndNS = cmp.Or(seen.EndNS, result.StartNS)
	if warmup != nil {
		result.Warmup = warmup.Results()
	}
	result.Metrics = append(result.Metrics, run.Accuracy.Metrics()...)
	return result
}

// leadingBlocks are the metric blocks that open the summary file, in its order.
var leadingBlocks = []string{
	"request_throughput",
	"request_latency",
	"request_count",
	"time_to_first_token",
	"time_to_second_token",
	"inter_token_latency",
	"output_token_throughput",
	"output_token_throughput_per_user",
	"output_sequence_length",
	"input_sequence_length",
	"goodput",
	"good_request_count",
	"output_token_count",
	"reasoning_token_count",
	"min_request_timestamp",
	"max_response_timestamp",
	"inter_chunk_latency",
	"total_output_tokens",
	"total_reasoning_tokens",
	"benchmark_duration",
	"total_isl",
	"total_osl",
	"error_request_count",
	"error_isl",
	"total_error_isl",
}

// OrderedBlocks splits results as the summary file orders them: the leading ones, in their fixed order, open the file;
// the remaining ones, as [ByTag] sorts them, close it.
func OrderedBlocks(results []metrics.Metric) (leading, remaining []metrics.Metric) {
	for _, r := range results {
		if slices.Contains(leadingBlocks, r.Tag) {
			leading = append(leading, r)
		} else {
			remaining = append(remaining, r)
		}
	}
	slices.SortStableFunc(leading, func(a, b metrics.Metric) int {
		return cmp.Compare(slices.Index(leadingBlocks, a.Tag), slices.Index(leadingBlocks, b.Tag))
	})
	return leading, ByTag(remaining)
}

// ByTag returns results sorted by tag. The figures of GPUs come last, in their own order.
func ByTag(results []metrics.Metric) []metrics.Metric {
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b metrics.Metric) int {
		group := ofGPUs(&a)
		if c := cmp.Compare(group, ofGPUs(&b)); c != 0 {
			return c
		}
		if group >= 0 {
			return cmp.Compare(a.Order, b.Order)
		}
		return cmp.Compare(a.Tag, b.Tag)
	})
	return sorted
}

// ofGPUs returns the index of the figure's group among the groups of GPUs; -1 for other groups.
func ofGPUs(r *metrics.Metric) int {
	return slices.Index([]metrics.Group{metrics.GroupGPU, metrics.GroupGPUNVIDIA, metrics.GroupGPUAMD}, r.Group)
}

// Find returns the result with a tag.
func (r *Result) Find(tag string) (metrics.Metric, bool) {
	if m := metrics.Find(r.Metrics, tag); m != nil {
		return *m, true
	}
	return metrics.Metric{}, false
}

// Value returns the average of a metric, which for a scalar metric is its value; false without a value.
func (r *Result) Value(tag string) (float64, bool) {
	return metrics.Average(r.Metrics, tag)
}
