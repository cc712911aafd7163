package answer_test

import (
	"fmt"
	"testing"

	"aiperf/internal/measure/stats"
)

// How many trials a figure is over is not in the file; a metric of two of three runs has its own interval.
func TestValuesBehindAnInterval(t *testing.T) {
	for _, values := range [][]float64{{1, 3}, {1, 2, 4}, {1, 5, 2, 4}, {1, 2, 3, 4, 9}} {
		e := stats.Confidence(values, 0.9)
		s := read(t, fmt.Sprintf(`{"aggregation_type":"sweep",
			"metadata":{"num_trials_per_value":5,"confidence_level":0.9},
			"per_combination_metrics":[{"parameters":{},"metrics":{"request_throughput_avg":
			{"mean":%v,"std":%v,"ci_low":%v,"ci_high":%v}}}]}`, e.Mean, e.Std, e.Low, e.High))
		if f, ok := s.Cells[0].Figure("request_throughput_avg"); !ok || f.Runs != len(values) {
			t.Errorf("%v: %v values", values, f.Runs)
		}
	}
}
