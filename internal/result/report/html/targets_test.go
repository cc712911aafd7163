package html

import (
	"math"
	"testing"

	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/summary"
)

func TestTargetRateIsThatOfThePhase(t *testing.T) {
	const second = int64(1e9)
	g := timeline.Grid{OriginNS: 100 * second, WidthNS: second, Count: 6}
	part := func(startNS, endNS int64, rate float64) summary.Part {
		return summary.Part{Phase: summary.Phase{StartNS: startNS, EndNS: endNS,
			Counts: summary.Counts{TargetRate: rate}}}
	}
	nan := math.NaN()
	r := &summary.Result{}
	r.Counts.TargetRate = 7
	for _, c := range []struct {
		parts []summary.Part
		want  numbers
	}{
		{nil, numbers{7, 7, 7, 7, 7, 7}},
		{[]summary.Part{part(100*second, 102*second, 5), part(103*second, 104*second, 0),
			part(104*second, 105*second, 9)}, numbers{5, 5, nan, nan, 9, nan}},
	} {
		r.Parts = c.parts
		got := targets(r, g)
		for i, want := range c.want {
			if got[i] != want && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
				t.Errorf("%d phases: point %d is %v, want %v", len(c.parts), i, got[i], want)
			}
		}
	}
}
