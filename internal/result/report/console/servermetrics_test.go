package console

import (
	"strings"
	"testing"

	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

func TestServerMetricsTable(t *testing.T) {
	var out strings.Builder
	err := Render(&out, &summary.Result{}, Options{ServerMetrics: []servermetrics.Highlight{
		{Backend: "vLLM", Endpoint: "localhost:8000", Metric: "vllm:num_requests_running", Stat: "avg",
			Unit: "requests", Value: 1234.5},
		{Backend: "vLLM", Endpoint: "localhost:8000", Metric: "vllm:time_to_first_token_seconds", Stat: "p99_estimate",
			Unit: "seconds", Value: 0.0421},
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
