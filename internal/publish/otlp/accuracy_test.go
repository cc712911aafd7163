package otlp

import (
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

func TestGradedAnswersAreGauges(t *testing.T) {
	t.Parallel()
	s, c := newTestStream(t, nil)
	defer s.close()
	task := metrics.AccuracyResult(metrics.AccuracyTask+"computer science", 1, 2)
	s.newest.Store(&progress.Snapshot{Accuracy: &progress.Accuracy{Correct: 3, Total: 4, Metrics: []metrics.Metric{
		metrics.AccuracyResult(metrics.AccuracyOverall, 3, 4), task}}})
	if p := s.pushOnce(); p != nil {
		t.Fatal(p)
	}
	got := c.metrics(-1)
	for name, want := range map[string]float64{"aiperf.accuracy.overall": 0.75, "aiperf.accuracy.task.computer_science": 0.5} {
		m := got[name]
		if m == nil || m.GetGauge() == nil || len(m.GetGauge().DataPoints) != 1 {
			t.Fatalf("%s is %v", name, m)
		}
		if v := m.GetGauge().DataPoints[0].GetAsDouble(); v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
}
