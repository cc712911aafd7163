package console

import (
	"strings"
	"testing"

	"aiperf/internal/result/summary"
)

func TestServerMetricsTable(t *testing.T) {
	var out strings.Builder
	err := Render(&out, &summary.Result{}, Options{ServerMetrics: []ServerMetric{
		{"vLLM", "localhost:8000", "vllm:num_requests_running", "avg", "requests", 1234.5},
		{"vLLM", "localhost:8000", "vllm:time_to_first_token_seconds", "p99_estimate", "seconds", 0.0421},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"AIPerf | Server Metrics",
		"│ vLLM   │ localhost:8000 │ vllm:num_requests_running        │          avg │ 1,234.50 │ requests │",
		"│ vLLM   │ localhost:8000 │ vllm:time_to_first_token_seconds │ p99_estimate │   0.0421 │ seconds  │",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestNoServerMetricsTableByDefault(t *testing.T) {
	var out strings.Builder
	if err := Render(&out, &summary.Result{}, Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "Server Metrics") {
		t.Errorf("unasked for:\n%s", out.String())
	}
}
