package prom_test

import (
	"testing"

	"aiperf/internal/watch/prom"
)

func TestInferUnit(t *testing.T) {
	for _, c := range []struct{ name, description, want string }{
		// The examples of the specification; the one in microseconds as the improvement asks.
		{"vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", "ratio"},
		{"vllm:kv_cache_usage_perc", "", "percent"},
		{"x_percent", "Hit rate (0.0-1.0)", "ratio"},
		{"x_percent", "Usage (0-100)", "percent"},
		{"f_seconds", "value in milliseconds", "milliseconds"},
		{"z", "(in foo) duration in seconds", "seconds"},
		{"p", "Power draw (in W)", "watt"},
		{"sglang:gen_throughput", "The generation throughput (token/s).", "tokens/s"},
		{"vllm:num_requests_running", "n", "requests"},
		{"nv_inference_request_duration_us", "time in us", "microseconds"},
		{"x", "from 10-1 thing", ""},
		{"x", "0-1", "ratio"},
		// Scales.
		{"x", "range 0 - 1", "ratio"}, {"x", "0.0 to 1.0", "ratio"}, {"x", "(0–1)", "ratio"}, {"x", "0 — 1.", "ratio"},
		{"x", "0--1", "ratio"},
		{"x", "1 = 100%", "ratio"}, {"x", "1==100 %", "ratio"}, {"x", "1.0 equals 100 Percent", "ratio"},
		{"x", "1 is 100%", "ratio"}, {"x", "1 EQUAL 100%", "ratio"},
		{"x", "range 0-100", "percent"}, {"x", "0 to 100 %", "percent"}, {"x", "(0.0 – 100.0)", "percent"},
		{"x", "0-100", ""},
		{"x", "0-1.5", ""}, {"x", "5.0-1", ""}, {"x", "0-10", ""}, {"x", "11 means 100%", ""},
		{"x", "share (0-1) in seconds", "ratio"},
		// Symbols.
		{"x", "(in B)", "bytes"}, {"x", "(in KB)", "kilobytes"}, {"x", "(in MB)", "megabytes"},
		{"x", "(in GB)", "gigabytes"}, {"x", "(in TB)", "terabytes"},
		{"x", "(in KiB)", "kilobytes"}, {"x", "(in MiB)", "megabytes"}, {"x", "(in GiB)", "gigabytes"},
		{"x", "(in C)", "celsius"}, {"x", "(in °C)", "celsius"}, {"x", "(in F)", "fahrenheit"},
		{"x", "(in °F)", "fahrenheit"}, {"x", "(in K)", "kelvin"},
		{"x", "(in Hz)", "hertz"}, {"x", "(in MHz)", "megahertz"}, {"x", "(in GHz)", "gigahertz"},
		{"x", "(in mW)", "milliwatt"}, {"x", "(in J)", "joule"}, {"x", "(in mJ)", "millijoule"},
		{"x", "(in MJ)", "megajoule"},
		{"x", "(in s)", "seconds"}, {"x", "(in sec)", "seconds"}, {"x", "(in ms)", "milliseconds"},
		{"x", "(in us)", "microseconds"},
		{"x", "(in µs)", "microseconds"}, {"x", "(in μs)", "microseconds"}, {"x", "(in ns)", "nanoseconds"},
		{"x", "(in GB/s)", "gb/s"}, {"x", "(in MB/s)", "mb/s"}, {"x", "(in %)", "percent"},
		{"x", "(in percent)", "percent"},
		{"x", "(in w)", ""}, {"x_bytes", "(in foo)", "bytes"},
		// Phrases.
		{"x", "time in second", "seconds"}, {"x", "time (Seconds)", "seconds"}, {"x", "time within seconds", ""},
		{"x", "seconds", ""},
		{"x", "time in ms", "milliseconds"}, {"x", "time (millisecond)", "milliseconds"},
		{"x", "in microseconds", "microseconds"},
		{"x", "time in nanoseconds", "nanoseconds"}, {"x", "(ns)", "nanoseconds"}, {"x", "in bytes", "bytes"},
		{"x", "(byte)", "bytes"},
		{"x", "speed in gb/s", "gb/s"}, {"x", "(MB/s)", "mb/s"}, {"x", "in tokens/sec", "tokens/s"},
		{"x", "(tokens/second)", "tokens/s"},
		{"x", "(requests/s)", "requests/s"}, {"x", "in request/sec", "requests/s"}, {"x", "length in tokens", "tokens"},
		{"x", "(tokens)", ""},
		{"x_bytes", "in seconds", "seconds"}, {"x", "in seconds or in milliseconds", "seconds"},
		// Ends of names.
		{"A_Seconds", "", "seconds"}, {"x_seconds_total", "", "seconds"},
		{"x_milliseconds", "", "milliseconds"}, {"x_ms", "", "milliseconds"}, {"x_ms_total", "", "milliseconds"},
		{"x_microseconds", "", "microseconds"}, {"x_us", "", "microseconds"}, {"x_us_total", "", "microseconds"},
		{"x_nanoseconds", "", "nanoseconds"}, {"x_ns", "", "nanoseconds"}, {"x_ns_total", "", "nanoseconds"},
		{"x_bytes", "", "bytes"}, {"x_bytes_total", "", "bytes"}, {"x_kilobytes", "", "kilobytes"},
		{"x_megabytes", "", "megabytes"}, {"x_gigabytes", "", "gigabytes"},
		{"x_tokens", "", "tokens"}, {"x_tokens_total", "", "tokens"},
		{"x_requests", "", "requests"}, {"x_requests_total", "", "requests"},
		{"sglang:num_running_reqs", "", "requests"}, {"vllm:request_success", "", "requests"},
		{"x_errors", "", "errors"}, {"x_errors_total", "", "errors"}, {"x_error_count", "", "errors"},
		{"x_error_count_total", "", "errors"},
		{"x_blocks", "", "blocks"}, {"x_blocks_total", "", "blocks"}, {"x_block_count", "", "blocks"},
		{"foo_total", "", "count"}, {"x_count", "", "count"}, {"kv_transfer_speed_gb_s", "", "gb/s"},
		{"x_ratio", "", "ratio"}, {"x_percent", "", "percent"}, {"x_perc", "", "percent"},
		{"x_celsius", "", "celsius"}, {"x_joules", "", "joule"}, {"x_watts", "", "watt"},
		// Names and descriptions of vLLM 0.32 and Dynamo 1.6.1.
		{"vllm:prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", "tokens"},
		{"vllm:gpu_prefix_cache_hits", "GPU prefix cache hits, in terms of number of cached blocks.", "blocks"},
		{"vllm:mm_cache_hits", "Multi-modal cache hits, in terms of number of cached items.", ""},
		{"vllm:prefix_cache_queries", "", "tokens"}, {"vllm:external_prefix_cache_hits", "", "tokens"},
		{"vllm:gpu_prefix_cache_queries", "", ""},
		{"vllm:prompt_tokens_cached", "Number of cached prompt tokens (local + external).", "tokens"},
		{"vllm:prompt_tokens_by_source", "Number of prompt tokens by source.", "tokens"},
		{"vllm:prompt_tokens_cached_by_source", "Prefix-cache hit tokens by the cache tier.", "tokens"},
		{"vllm:spec_decode_num_accepted_tokens_per_pos", "Accepted tokens per draft position.", "tokens"},
		{"vllm:estimated_read_bytes_per_gpu", "Estimated number of bytes read from memory per GPU.", "bytes"},
		{"vllm:request_num_preemptions", "Histogram of the number of times a request was preempted.", ""},
		{"dynamo_transport_tcp_bytes_sent", "", "bytes"}, {"dynamo_transport_tcp_bytes_received", "", "bytes"},
		{"dynamo_frontend_requests_started", "", "requests"},
		{"dynamo_component_router_requests_started", "", "requests"},
		{"dynamo_component_router_overlap_blocks_lost", "", "blocks"},
		{"sglang:gen_throughput", "", "tokens/s"}, {"sglang:token_usage", "", "ratio"},
		{"sglang:swa_token_usage", "", "ratio"}, {"sglang:cache_hit_rate", "", "ratio"},
		{"sglang:spec_accept_length", "", "tokens"}, {"trtllm_kv_cache_hit_rate", "", "ratio"},
		{"trtllm_kv_cache_utilization", "", "ratio"}, {"kvbm_host_cache_hit_rate", "", "ratio"},
		{"dynamo_component_router_kv_hit_rate", "", "ratio"},
		{"dynamo_component_gpu_cache_usage_percent", "", "ratio"},
		{"process_open_fds", "fds", ""}, {"seconds", "", ""}, {"x", "", ""},
	} {
		if got := prom.InferUnit(c.name, c.description); got != c.want {
			t.Errorf("InferUnit(%q, %q) = %q, want %q", c.name, c.description, got, c.want)
		}
	}
}
