package console

import (
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

func TestSeveralProfilingPhasesHaveALineEach(t *testing.T) {
	r := example()
	one := text(t, r, Options{})
	steady, peak := *example(), *example()
	peak.Metrics = []metrics.Metric{scalar("benchmark_duration", "Benchmark Duration", "sec", 0, 12345.678)}
	peak.Counts.Successes, peak.Counts.Errors = 0, 1234
	r.Parts = []summary.Part{{Phase: summary.Phase{Name: "steady", Profiling: 0}, Result: steady},
		{Phase: summary.Phase{Name: "peak", Profiling: 1}, Result: peak}}
	got := text(t, r, Options{})
	if strings.Contains(one, "Phases") || strings.Contains(got, "ITL") != strings.Contains(got, "(TTFT, ITL") {
		t.Errorf("a table of phases in a run of one, or a column without a value:\n%s%s", one, got)
	}
	narrow := text(t, r, Options{Width: 100})
	for line := range strings.Lines(narrow[strings.Index(narrow, "Profiling Phases"):]) {
		if strings.HasPrefix(line, "│") && columns(strings.TrimSuffix(line, "\n")) > 100 {
			t.Errorf("wider than the page: %s", line)
		}
	}
	if strings.Contains(narrow, "Latency avg") || !strings.Contains(narrow, "Latency p99") {
		t.Errorf("the averages make room for the percentiles:\n%s", narrow)
	}
	testkit.Golden(t, "testdata/phases.txt", []byte(got))
}
