package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
		var one Sketch
		for i, v := range drawn {
			values[i] = float64(v)
			one.Add(values[i])
		}
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		var left, right Sketch
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
		want := Describe(values, ranks)
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
			var s Sketch
			for i, v := range values {
				signed[i] = sign * v
				s.Add(signed[i])
			}
			want := Describe(signed, quartiles)
			got := s.Summary(quartiles)
			for i, p := range got.Percentiles {
				if w := want.Percentiles[i]; math.Abs(p-w) > SketchRelativeError*(1+1e-9)*math.Abs(w) {
					t.Fatalf("p%v = %v, exact %v", quartiles[i], p, w)
				}
			}
		}
	})
}

// No value makes a sketch large.
func TestSketchIsBounded(t *testing.T) {
	var s Sketch
	for _, v := range []float64{math.SmallestNonzeroFloat64, 1e-100, 1, 1e100, 1e150} {
		s.Add(v)
		s.Add(-v)
	}
	got := s.Summary([]float64{0, 50, 100})
	if n := len(s.values.positive.counts); n > 128<<sketchBits+1 {
		t.Errorf("%d bins", n)
	}
	if got.Count != 10 || got.Min != -1e150 || got.Max != 1e150 || got.Percentiles[1] != 0 {
		t.Errorf("got %+v", got)
	}
}

// A bin counts on where its four bytes end.
func TestSketchOfManyValues(t *testing.T) {
	var s, o Sketch
	s.Add(1)
	s.Add(3)
	one := int(math.Float64bits(1) >> (52 - sketchBits))
	s.values.positive.Add(one, math.MaxUint32-1)
	s.Add(1)
	s.Add(1)
	o.Add(0.5)
	o.Merge(&s)
	o.Merge(&s)
	if got, want := o.values.positive.of(one-o.values.positive.first), int64(2*(math.MaxUint32+2)); got != want {
		t.Errorf("the bin of 1 has %d values, want %d", got, want)
	}
}

func TestEmptySketch(t *testing.T) {
	var s, o Sketch
	s.Merge(&o)
	if got := s.Summary(quartiles); got.Count != 0 || got.Percentiles != nil {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkSketchAdd(b *testing.B) {
	var s Sketch
	for i := int64(0); b.Loop(); i++ {
		s.Add(float64(20*ms + i*7919%(30*ms)))
	}
}

// A part that is left out because it is 0 changes no bit, whatever was added before.
func TestPairLeavesNothingOutThatCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 2000 {
		var all, short Pair
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
