package console

import (
	"strings"
	"testing"

	"aiperf/internal/result/summary"
)

func TestSearchTable(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	var out strings.Builder
	err := Render(&out, &summary.Result{}, Options{Searches: []summary.Search{
		{Phase: "find", Variable: "concurrency", Status: "completed", Reason: "sustain_duration_completed",
			LastPassing: value(31), FirstFailing: value(41), Throughput: 123.456, Windows: 8, SustainWindows: 3,
			SustainPassed: 3, Limits: []summary.SearchLimit{
				{Metric: "request_latency", Stat: "p95", Op: "le", Threshold: 500, Unit: "ms", Passing: value(412.345),
					Failing: value(1234.5)},
				{Metric: "success_rate", Stat: "avg", Op: "ge", Threshold: 0.99, Passing: value(1)},
			}},
		{Phase: "none", Variable: "request_rate", Status: "failed", Reason: "no_sustainable_concurrency_found",
			FirstFailing: value(0.5), Windows: 1,
			Limits: []summary.SearchLimit{{Metric: "ttft", Stat: "p95", Op: "lt", Threshold: 1, Unit: "ms"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"AIPerf | Adaptive Scale: find\n",
		"┃ Limit                        ┃ Concurrency 31, passing ┃ Concurrency 41, failing ┃\n",
		"│ request_latency p95 ≤ 500 ms │                  412.35 │                1,234.50 │\n",
		"│ success_rate avg ≥ 0.99      │                    1.00 │                     N/A │\n",
		"Search completed: concurrency 31 met all limits at 123.46 requests/s; held; 3 of 3 windows passed while it " +
			"was held (windows: 8)\n",
		"AIPerf | Adaptive Scale: none\n",
		"┃ Limit           ┃ None passing ┃ Request rate 0.5, failing ┃\n",
		"Search failed: the smallest load missed a limit: lower control.min or relax the limits (windows: 1)\n",
	} {
		i := strings.Index(out.String()[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place, in\n%s", want, out.String())
		}
		at += i
	}
}
