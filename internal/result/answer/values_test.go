package answer

import (
	"testing"

	"aiperf/internal/measure/stats"
)

// How many trials a figure is over is not in the file; a metric of two of three runs has its own interval.
func TestValuesBehindAnInterval(t *testing.T) {
	for _, values := range [][]float64{{1, 3}, {1, 2, 4}, {1, 5, 2, 4}, {1, 2, 3, 4, 9}} {
		e := stats.Confidence(values, 0.9)
		if got := valuesBehind((e.High-e.Low)/2, e.Std, 0.9, 5); got != len(values) {
			t.Errorf("%v: %v values", values, got)
		}
	}
}
