package metrics

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aiperf/internal/stats"
)

var wholeNumbers = rapid.OneOf(
	rapid.Just(int64(0)),
	rapid.Int64Range(-5, 5),
	rapid.Int64Range(1*ms, 900*ms),
	rapid.Int64Range(-1<<50, 1<<50),
)

// Of whole numbers all figures but percentiles are those of the exact description, and neither order
// nor merging changes a bit of anything.
func TestSketchOfWholeNumbers(t *testing.T) {
	ranks := PercentileRanks[:]
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(wholeNumbers, 1, 400).Draw(t, "values")
		values := make([]float64, len(drawn))
		var one sketch
		for i, v := range drawn {
			values[i] = float64(v)
			one.add(values[i])
		}
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		var left, right sketch
		for _, v := range slices.Backward(values[cut:]) {
			right.add(v)
		}
		for _, v := range values[:cut] {
			left.add(v)
		}
		right.merge(&left)
		right.merge(nil)
		got := one.summary(ranks)
		if diff := cmp.Diff(got, right.summary(ranks)); diff != "" {
			t.Fatalf("one sketch, and two merged: %s", diff)
		}
		want := stats.Describe(values, ranks)
		want.Percentiles = got.Percentiles
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("exact, and the sketch: %s", diff)
		}
		if n := max(len(one.positive.counts), len(one.negative.counts)); n > sketchBins {
			t.Fatalf("%d bins", n)
		}
	})
}

// The error of percentiles is bounded by the spread of the values.
func TestSketchErrorIsAsStated(t *testing.T) {
	for _, c := range []struct{ factor, bound float64 }{{1, 0.004}, {4, 0.004}, {16, 0.008}, {256, 0.016}, {65536, 0.032}} {
		rapid.Check(t, func(t *rapid.T) {
			// An aligned range makes the most of the bins; another may need one octave more.
			low := math.Ldexp(1, rapid.IntRange(-40, 40).Draw(t, "exponent"))
			values := rapid.SliceOfN(rapid.Float64Range(low, math.Nextafter(low*c.factor, 0)), 1, 300).Draw(t, "values")
			if c.factor == 1 {
				values = []float64{low}
			}
			var s sketch
			for _, sign := range []float64{1, -1} {
				signed := make([]float64, len(values))
				s = sketch{}
				for i, v := range values {
					signed[i] = sign * v
					s.add(signed[i])
				}
				want := stats.Describe(signed, PercentileRanks[:])
				got := s.summary(PercentileRanks[:])
				for i, p := range got.Percentiles {
					if w := want.Percentiles[i]; math.Abs(p-w) > c.bound*math.Abs(w) {
						t.Fatalf("factor %v: p%v = %v, exact %v", c.factor, PercentileRanks[i], p, w)
					}
				}
			}
		})
	}
}

func TestEmptySketch(t *testing.T) {
	var s, o sketch
	s.merge(&o)
	if got := s.summary(PercentileRanks[:]); got.Count != 0 || got.Percentiles != nil {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkSketchAdd(b *testing.B) {
	var s sketch
	for i := int64(0); b.Loop(); i++ {
		s.add(float64(20*ms + i*7919%(30*ms)))
	}
}
