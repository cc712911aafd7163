package console

import (
	"strings"
	"testing"

	"aiperf/internal/base/golden"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

func TestSeveralProfilingPhasesHaveALineEach(t *testing.T) {
	r := example()
	one := text(t, r, Options{})
	steady, peak := *example(), *example()
	peak.Metrics = []metrics.Result{scalar("benchmark_duration", "Benchmark Duration", "sec", 0, 12345.678)}
	peak.Counts.Successes, peak.Counts.Errors = 0, 1234
	r.Parts = []summary.Part{{Phase: summary.Phase{Name: "steady", Profiling: 0}, Result: steady},
		{Phase: summary.Phase{Name: "peak", Profiling: 1}, Result: peak}}
	got := text(t, r, Options{})
	if strings.Contains(one, "Phases") || strings.Contains(got, "ITL") != strings.Contains(got, "(TTFT, ITL") {
		t.Errorf("a table of phases in a run of one, or a column without a value:\n%s%s", one, got)
	}
	golden.Compare(t, "testdata/phases.txt", []byte(got))
}
