package console

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

func TestTrapSpecDecodeHistogramLine(t *testing.T) {
	for _, test := range []struct {
		list []metrics.AcceptedSteps
		want string
	}{
		{[]metrics.AcceptedSteps{{Accepted: 0, Steps: 2}, {Accepted: 1, Steps: 2}, {Accepted: 2, Steps: 4},
			{Accepted: 3, Steps: 6}, {Accepted: 4, Steps: 2}},
			"0: 12%   1: 12%   2: 25%   3: 38%   4: 12%"},
		{[]metrics.AcceptedSteps{{Accepted: 2, Steps: 1}}, "0: 0%   1: 0%   2: 100%"},
		{[]metrics.AcceptedSteps{{Accepted: 0, Steps: 1}, {Accepted: 8, Steps: 1}, {Accepted: 100, Steps: 2}},
			"0: 25%   1: 0%   2: 0%   3: 0%   4: 0%   5: 0%   6: 0%   7: 0%   >=8: 75%"},
	} {
		if got := acceptanceLine(test.list); got != "Accepted drafts per step (% of steps):  "+test.want {
			t.Errorf("%v: got %q", test.list, got)
		}
	}
	if got := acceptanceLine([]metrics.AcceptedSteps{{Accepted: 1, Steps: 0}}); got != "" {
		t.Errorf("without steps: %q", got)
	}
}

func TestSpecDecodeTable(t *testing.T) {
	r := &summary.Result{
		Run: summary.Run{EndpointTitle: "LLM Metrics"},
		Metrics: []metrics.Metric{
			{Tag: "request_count", Header: "Request Count", Unit: "requests", Group: metrics.GroupDefault, Order: 1100,
				Stats: metrics.Stats{Avg: 2}},
			{Tag: "spec_decode_steps", Header: "Spec Decode Steps", Unit: "count", Group: metrics.GroupSpecDecode,
				Order: 5040, Distribution: true, Stats: metrics.Stats{Avg: 6, Count: 2}},
			{Tag: "spec_decode_acceptance_length", Header: "Acceptance Length", Unit: "ratio",
				Group: metrics.GroupSpecDecode, Order: 5000, Distribution: true,
				Stats: metrics.Stats{Avg: 2.25, Count: 2}},
		},
		Acceptance: []metrics.AcceptedSteps{{Accepted: 0, Steps: 1}, {Accepted: 1, Steps: 1}},
	}
	got := text(t, r, Options{Groups: []metrics.Group{metrics.GroupDefault}})
	main, own := strings.Index(got, "AIPerf | LLM Metrics"), strings.Index(got, "AIPerf: Spec Decode")
	length, steps := strings.Index(got, "Acceptance Length (ratio)"), strings.Index(got, "Spec Decode Steps (count)")
	line := strings.Index(got, "Accepted drafts per step (% of steps):  0: 50%   1: 50%")
	if main < 0 || own < main || length < own || steps < length || line < steps {
		t.Errorf("got %s", got)
	}
	r.Metrics, r.Acceptance = r.Metrics[:1], nil
	if got := text(t, r, Options{}); strings.Contains(got, "Spec Decode") || strings.Contains(got, "Accepted drafts") {
		t.Errorf("got %s", got)
	}
}
