package console

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
)

func TestSpeculationTable(t *testing.T) {
	var out strings.Builder
	r := &summary.Result{Metrics: []metrics.Metric{{Tag: "x", Header: "Efficiency", Group: metrics.GroupGPU}}}
	err := Render(&out, r, Options{GPU: &GPU{Telemetry: &gpu.Telemetry{}}, Speculation: []servermetrics.Speculation{
		{Label: "Accept Rate (%)", Mean: 50, Min: 25.04, Max: 75, P50: 50, P90: 70, Decimals: 1},
		{Label: "Accept Length", Mean: 2.5, Min: 1, Max: 4, P50: 2, P90: 3.456, Decimals: 2},
		{Label: "By counters", Mean: 84.61, Single: true, Decimals: 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"AIPerf | GPU Power Efficiency",
		"AIPerf | Server Metrics: Speculative Decoding\n",
		"┃          Metric ┃ mean ┃  min ┃  max ┃  p50 ┃  p90 ┃\n",
		"│ Accept Rate (%) │ 50.0 │ 25.0 │ 75.0 │ 50.0 │ 70.0 │\n",
		"│   Accept Length │ 2.50 │ 1.00 │ 4.00 │ 2.00 │ 3.46 │\n",
		"│     By counters │ 84.6 │  N/A │  N/A │  N/A │  N/A │\n",
		"No GPU telemetry data",
	} {
		i := strings.Index(out.String()[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place, in\n%s", want, out.String())
		}
		at += i
	}
}
