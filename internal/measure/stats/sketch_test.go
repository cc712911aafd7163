package stats_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aiperf/internal/measure/stats"
)

const ms = 1_000_000

var quartiles = []float64{1, 5, 10, 25, 50, 75, 90, 95, 99}

var wholeNumbers = rapid.OneOf(
	rapid.Just(int64(0)),
	rapid.Int64Range(-5, 5),
	rapid.Int64Range(1*ms, 900*ms),
	rapid.Int64Range(-1<<46, 1<<46),
)

// Of whole numbers all figures but percentiles are those of the exact description, and neither order
// nor merging changes a bit of anything.
func TestSketchOfWholeNumbers(t *testing.T) {
	ranks := quartiles
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(wholeNumbers, 1, 400).Draw(t, "values")
		values := make([]float64, len(drawn))
		var one stats.Sketch
		for i, v := range drawn {
			values[i] = float64(v)
			one.Add(values[i])
		}
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		var left, right stats.Sketch
		for _, v := range slices.Backward(values[cut:]) {
			right.Add(v)
		}
		for _, v := range values[:cut] {
			left.Add(v)
		}
		right.Merge(&left)
		right.Merge(nil)
		got := one.Summary(ranks)
		if diff := cmp.Diff(got, right.Summary(ranks)); diff != "" {
			t.Fatalf("one sketch, and two merged: %s", diff)
		}
		want := stats.Describe(values, ranks)
		want.Percentiles = got.Percentiles
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("exact, and the sketch: %s", diff)
		}
	})
}

// Percentiles keep the stated error, for both signs.
func TestSketchErrorIsAsStated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Ldexp(1, rapid.IntRange(-40, 40).Draw(t, "exponent"))
		values := rapid.SliceOfN(rapid.Float64Range(low, low*0x1p20), 1, 300).Draw(t, "values")
		for _, sign := range []float64{1, -1} {
			signed := make([]float64, len(values))
			var s stats.Sketch
			for i, v := range values {
				signed[i] = sign * v
				s.Add(signed[i])
			}
			want := stats.Describe(signed, quartiles)
			got := s.Summary(quartiles)
			for i, p := range got.Percentiles {
				if w := want.Percentiles[i]; math.Abs(p-w) > stats.SketchRelativeError*(1+1e-9)*math.Abs(w) {
					t.Fatalf("p%v = %v, exact %v", quartiles[i], p, w)
				}
			}
		}
	})
}

// No value makes a sketch large.
func TestSketchIsBounded(t *testing.T) {
	var s stats.Sketch
	for _, v := range []float64{math.SmallestNonzeroFloat64, 1e-100, 1, 1e100, 1e150} {
		s.Add(v)
		s.Add(-v)
	}
	for _, sign := range []float64{1, -1} {
		var one, merged stats.Sketch
		for _, v := range []float64{math.SmallestNonzeroFloat64, 1e-100, 1, 1e100, 1e150} {
			one.Add(sign * v)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		merged.Merge(&one) // makes room at once for all bins that one has
		runtime.ReadMemStats(&after)
		const room = 128*128 + 4 // 128 bytes for each of 128 doublings, and a last bin
		if used := after.TotalAlloc - before.TotalAlloc; used > room {
			t.Errorf("%d bytes of bins for the values of the sign %v", used, sign)
		}
	}
	got := s.Summary([]float64{0, 50, 100})
	if got.Count != 10 || got.Min != -1e150 || got.Max != 1e150 || got.Percentiles[1] != 0 {
		t.Errorf("got %+v", got)
	}
}

// A bin counts on where its four bytes end.
func TestSketchOfManyValues(t *testing.T) {
	var ones, s, o stats.Sketch
	for range 32 { // 1, 3, 7, … up to math.MaxUint32 of them
		var more stats.Sketch
		more.Merge(&ones)
		more.Merge(&ones)
		more.Add(1)
		ones = more
	}
	s.Add(3)
	s.Merge(&ones)
	s.Add(1)
	s.Add(1)
	o.Add(0.5)
	o.Merge(&s)
	o.Merge(&s)
	const n = 2 * (math.MaxUint32 + 2)
	got := o.At([]int64{0, 1, n, n + 1, n + 2})
	near := func(a, b float64) bool { return math.Abs(a-b) <= stats.SketchRelativeError*b }
	if !slices.EqualFunc(got, []float64{0.5, 1, 1, 3, 3}, near) {
		t.Errorf("the bin of 1 has not %d values: %v", int64(n), got)
	}
	if all := o.Summary(nil).Count; all != 1+n+2 {
		t.Errorf("%d values", all)
	}
}

func TestEmptySketch(t *testing.T) {
	var s, o stats.Sketch
	s.Merge(&o)
	if got := s.Summary(quartiles); got.Count != 0 || got.Percentiles != nil {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkSketchAdd(b *testing.B) {
	var s stats.Sketch
	for i := int64(0); b.Loop(); i++ {
		s.Add(float64(20*ms + i*7919%(30*ms)))
	}
}

// A part that is left out because it is 0 changes no bit, whatever was added before.
func TestPairLeavesNothingOutThatCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 2000 {
		var all, short stats.Pair
		for range 40 {
			v, k := math.Ldexp(rng.Float64(), rng.IntN(120)-60), math.Trunc(math.Ldexp(rng.Float64()-0.5, rng.IntN(44)))
			switch rng.IntN(4) {
			case 0:
				v = 0
			case 1:
				v = math.Trunc(v)
			}
			if rng.IntN(3) == 0 { // takes away what is there, all but its last bits
				v, k = all.High, -1
			}
			product := v * k
			all.Add(product)
			all.Add(math.FMA(v, k, -product))
			short.AddProduct(v, k)
			if all != short {
				t.Fatalf("%v × %v: %+v, with the parts that are 0 %+v", v, k, short, all)
			}
		}
	}
}
