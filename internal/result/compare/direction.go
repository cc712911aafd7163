package compare

import (
	"strings"

	"aiperf/internal/measure/metrics"
)

// directions has the metrics whose direction follows neither from the unit nor from the flags: 1 more is better, −1
// less is better, 0 neither.
var directions = map[string]int{
	"goodput": 1, "good_request_count": 1, "image_throughput": 1,
	"good_job_count": 1, "failed_job_count": -1, "job_tool_time": 0, "job_window_duration": 0,
	"request_error_rate": -1, "error_request_count": -1, "context_overflow_count": -1,
	"osl_mismatch_count": -1, "usage_discrepancy_count": -1, "video_peak_memory": -1,
	"real_time_factor":             -1,
	"usage_prompt_tokens_diff_pct": -1, "usage_completion_tokens_diff_pct": -1, "usage_reasoning_tokens_diff_pct": -1,
	// What was asked, and for how long; how a server fails.
	"benchmark_duration": 0, "audio_duration": 0, "usage_prompt_audio_seconds": 0,
	"output_audio_duration": 0, "total_output_audio_duration": 0, "total_output_audio_bytes": 0,
	"total_usage_prompt_audio_seconds": 0,
	"error_latency":                    0,
	"cost_per_million_output_tokens":   -1, "cost_per_thousand_requests": -1,
}

// direction returns which way a metric improves: 1 up, −1 down, 0 neither, such as lengths and counts.
func direction(tag, display string) int {
	if sign, ok := directions[tag]; ok {
		return sign
	}
	switch metrics.Unit(display) {
	case metrics.Milliseconds, metrics.Seconds, metrics.Microseconds, metrics.MillisecondsPerImage, metrics.MillisecondsPerVideo:
		return -1
	case metrics.Tokens, metrics.Requests, metrics.Jobs, metrics.Count, metrics.Bytes, metrics.Images, metrics.Image, metrics.Videos, metrics.Video,
		metrics.None:
		return 0
	}
	switch d, known := metrics.Lookup(tag); {
	case strings.HasPrefix(tag, metrics.AccuracyUnparsed), tag == metrics.AccuracyVaried, tag == metrics.AccuracyFlipped:
		return -1
	case known && d.LargerIsBetter():
		return 1
	case strings.HasSuffix(display, "/J") || strings.HasSuffix(display, "/W"): // of the GPUs: not in the table
		return 1
	case strings.HasPrefix(display, "joules/") || strings.HasPrefix(display, "mJ/"):
		return -1
	}
	return 0
}

// Direction returns which way a metric improves: 1 where more of it is better, −1 where less is, 0 where neither is or
// where that is not known. display is its unit.
func Direction(tag, display string) int { return direction(tag, display) }
