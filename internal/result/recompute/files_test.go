package recompute_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/result/recompute"
)

// TestFilesForConsumers writes the files of two runs into the directory that the environment names, for the
// programs of interop/server-metrics, which read them with other libraries.
func TestFilesForConsumers(t *testing.T) {
	dir := os.Getenv("AIPERF_SERVER_METRICS_FILES")
	if dir == "" {
		t.Skip("AIPERF_SERVER_METRICS_FILES names no directory")
	}
	for run, speed := range map[string]int{"run1": 1, "run2": 3} {
		l := newLive(t, "server_metrics_export.jsonl")
		l.info.BenchmarkID = "00000000-0000-4000-8000-00000000000" + run[3:]
		l.info.SliceNS = 2 * second
		for n := range 500 {
			at := start + int64(n-10)*second/24
			l.scrape(urlB, vllmPage(n*speed, "0", run), at)
			l.scrape(urlA, vllmPage(n*speed/2, "1", run), at+1000)
		}
		l.exports()
		target := filepath.Join(dir, "runs", run)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(target, os.DirFS(l.dir)); err != nil {
			t.Fatal(err)
		}
		again := replayed(t,
			recompute.Options{Recordings: []string{filepath.Join(target, "server_metrics_export.jsonl")}})
		sameFiles(t, target, again, allFiles...)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(dir, "runs", "run1"))); err != nil {
		t.Fatal(err)
	}
}

// vllmPage is what a server says after n steps.
func vllmPage(n int, engine, run string) string {
	var b strings.Builder
	labels := fmt.Sprintf(`engine="%s",model_name="m"`, engine)
	fmt.Fprintf(&b, "# HELP vllm:num_requests_running Number of requests in model execution batches.\n# TYPE "+
		"vllm:num_requests_running gauge\nvllm:num_requests_running{%s} %d\n", labels, n%17)
	fmt.Fprintf(&b, "# HELP vllm:num_requests_waiting Number of requests waiting to be processed.\n# TYPE "+
		"vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{%s} %d\n", labels, n%5)
	fmt.Fprintf(&b, "# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.\n# TYPE "+
		"vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc{%s} %v\n", labels, float64(n%40)/41)
	fmt.Fprintf(&b, "# HELP vllm:generation_tokens_total Number of generation tokens processed.\n# TYPE "+
		"vllm:generation_tokens_total counter\nvllm:generation_tokens_total{%s} %d\n", labels, 130*n)
	b.WriteString("# HELP vllm:request_success_total Count of successfully processed requests.\n# TYPE " +
		"vllm:request_success_total counter\n")
	for k, reason := range []string{"stop", "length", "abort"} {
		fmt.Fprintf(&b, "vllm:request_success_total{%s,finished_reason=\"%s\"} %d\n", labels, reason, n/(k+1))
	}
	for _, h := range []struct{ name, help string }{
		{"vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds."},
		{"vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds."},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s histogram\n", h.name, h.help, h.name)
		for k, le := range []string{"0.001", "0.01", "0.1", "0.5", "1.0", "5.0", "+Inf"} {
			fmt.Fprintf(&b, "%s_bucket{%s,le=\"%s\"} %d\n", h.name, labels, le, n*min(k, 6)*(k+1)/42)
		}
		fmt.Fprintf(&b, "%s_sum{%s} %v\n%s_count{%s} %d\n", h.name, labels, float64(n)*1.25, h.name, labels, n)
	}
	fmt.Fprintf(&b, "# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig\n# TYPE "+
		"vllm:cache_config_info gauge\nvllm:cache_config_info{block_size=\"16\",%s} 1\n", labels)
	if run == "run2" {
		fmt.Fprintf(&b, "# TYPE only_here gauge\nonly_here{rank=\"0\"} %d\n", n)
	}
	return b.String()
}
