package stats_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/measure/stats"
)

var ranks = []float64{1, 5, 10, 25, 50, 75, 90, 95, 99}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   stats.Summary
	}{
		{"four values", []float64{40, 10, 30, 20}, stats.Summary{
			Count: 4, Avg: 25, Min: 10, Max: 40, Sum: 100, Std: 11.180339887498949,
			Percentiles: []float64{10.3, 11.5, 13, 17.5, 25, 32.5, 37, 38.5, 39.7}}},
		{"one value", []float64{7}, stats.Summary{
			Count: 1, Avg: 7, Min: 7, Max: 7, Sum: 7,
			Percentiles: []float64{7, 7, 7, 7, 7, 7, 7, 7, 7}}},
		{"negative values", []float64{-1, -3}, stats.Summary{
			Count: 2, Avg: -2, Min: -3, Max: -1, Sum: -4, Std: 1,
			Percentiles: []float64{-2.98, -2.9, -2.8, -2.5, -2, -1.5, -1.2, -1.1, -1.02}}},
		{"none", nil, stats.Summary{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := stats.Describe(c.values, ranks)
			if got.Count != c.want.Count || got.Sum != c.want.Sum || got.Avg != c.want.Avg ||
				got.Min != c.want.Min || got.Max != c.want.Max || got.Std != c.want.Std ||
				!slices.EqualFunc(got.Percentiles, c.want.Percentiles, near) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestTrapStandardDeviationIsThePopulations(t *testing.T) {
	if got := stats.Describe([]float64{10, 20, 30, 40}, nil).Std; got != 11.180339887498949 {
		t.Errorf("std = %v, want 11.180339887498949", got)
	}
}

func TestTrapPercentileInterpolatesLinearly(t *testing.T) {
	if got := stats.Percentiles([]float64{120, 80, 100}, []float64{99})[0]; !near(got, 119.6) {
		t.Errorf("p99 = %v, want 119.6", got)
	}
}

// The sum of float64 values is their exact sum, rounded once.
func TestSumIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Float64Range(-math.MaxFloat64/1e6, math.MaxFloat64/1e6)).Draw(t, "values")
		var s stats.Sum
		want := new(big.Float).SetPrec(3000)
		for _, v := range values {
			s.Add(v)
			want.Add(want, new(big.Float).SetFloat64(v))
		}
		if w, _ := want.Float64(); s.Float64() != w {
			t.Fatalf("sum = %v, want %v", s.Float64(), w)
		}
	})
}

func TestSumKeepsWhatFloatsLose(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{1e300, 1, -1e300}, 1},
		{[]float64{math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64}, 2 * math.SmallestNonzeroFloat64},
		{[]float64{math.MaxFloat64, -math.MaxFloat64, -0.5}, -0.5},
		{[]float64{0.1, 0.2, 0.3}, 0.6},
		{nil, 0},
	} {
		var s stats.Sum
		for _, v := range c.values {
			s.Add(v)
		}
		if got := s.Float64(); got != c.want {
			t.Errorf("sum of %v = %v, want %v", c.values, got, c.want)
		}
	}
}

// Selection finds what sorting finds, whatever the shape of the values.
func TestPercentilesEqualThoseOfSortedValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func(i int) float64{
		"random":     func(int) float64 { return rng.NormFloat64() },
		"few values": func(int) float64 { return float64(rng.IntN(3)) },
		"equal":      func(int) float64 { return 5 },
		"ascending":  func(i int) float64 { return float64(i) },
		"descending": func(i int) float64 { return float64(-i) },
		"organ pipe": func(i int) float64 { return math.Abs(float64(i) - 5000) },
		"saw":        func(i int) float64 { return float64(i % 97) },
	}
	for name, shape := range shapes {
		for _, n := range []int{1, 2, 511, 512, 513, 10_000} {
			values := make([]float64, n)
			for i := range values {
				values[i] = shape(i)
			}
			sorted := slices.Sorted(slices.Values(values))
			want := make([]float64, len(ranks))
			for i, q := range ranks {
				h := q / 100 * float64(n-1)
				lo := int(h)
				hi := min(lo+1, n-1)
				want[i] = sorted[lo] + (h-float64(lo))*(sorted[hi]-sorted[lo])
			}
			if got := stats.Percentiles(values, ranks); !slices.Equal(got, want) {
				t.Errorf("%s, n=%d: got %v, want %v", name, n, got, want)
			}
		}
	}
}

// Neither order nor the way of merging changes a bit.
func TestMomentsOfWholeNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 1000} {
		whole := make([]uint32, n)
		var want, got stats.Moments
		for i := range whole {
			whole[i] = random.Uint32() >> random.IntN(32)
			want.Add(float64(whole[i]))
		}
		whole = append(whole, math.MaxUint32, 0)
		want.Add(math.MaxUint32)
		want.Add(0)
		got.AddWhole(whole[:n/2])
		got.AddWhole(whole[n/2:])
		if a, b := got.Summary(), want.Summary(); !reflect.DeepEqual(a, b) {
			t.Errorf("%d numbers: %+v, want %+v", n, a, b)
		}
	}
}

func TestMomentsDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e12, 1e12), 1, 50).Draw(t, "values")
		shuffled := rapid.Permutation(values).Draw(t, "shuffled")
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		var whole, left, right stats.Moments
		for _, v := range values {
			whole.Add(v)
		}
		for i, v := range shuffled {
			if i < cut {
				left.Add(v)
			} else {
				right.Add(v)
			}
		}
		left.Merge(&right)
		a, b := whole.Summary(), left.Summary()
		if a.Avg != b.Avg || a.Sum != b.Sum || a.Std != b.Std || a.Min != b.Min || a.Max != b.Max ||
			a.Count != b.Count {
			t.Fatalf("one: %+v\nmerged: %+v", a, b)
		}
	})
}

// A spread that is tiny beside the mean survives.
func TestStandardDeviationOfCloseValues(t *testing.T) {
	got := stats.Describe([]float64{1e15, 1e15 + 1, 1e15 + 2}, nil).Std
	if want := math.Sqrt(2.0 / 3); !near(got, want) {
		t.Errorf("std = %v, want %v", got, want)
	}
}

// The histogram's percentiles lie within the stated error of the exact ones, the rest is exact.
func TestHistogramErrorBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		magnitude := rapid.Custom(func(t *rapid.T) float64 {
			return math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "m"), rapid.IntRange(-60, 62).Draw(t, "e"))
		})
		sign := rapid.SampledFrom([]float64{1, -1}).Draw(t, "sign")
		values := rapid.SliceOfN(rapid.OneOf(magnitude, rapid.Just(0.0)), 1, 300).Draw(t, "values")
		var h stats.Histogram
		for i := range values {
			values[i] *= sign
			h.Add(values[i])
		}
		got, want := h.Summary(ranks), stats.Describe(values, ranks)
		for i := range ranks {
			limit := stats.RelativeError * (1 + 1e-9) * math.Abs(want.Percentiles[i])
			if diff := math.Abs(got.Percentiles[i] - want.Percentiles[i]); diff > limit {
				t.Fatalf("p%v = %v, exact %v: off by %.4f %%", ranks[i], got.Percentiles[i], want.Percentiles[i],
					100*diff/math.Abs(want.Percentiles[i]))
			}
		}
		got.Percentiles, want.Percentiles = nil, nil
		if got.Sum != want.Sum || got.Avg != want.Avg || got.Std != want.Std || got.Min != want.Min ||
			got.Max != want.Max || got.Count != want.Count {
			t.Fatalf("histogram %+v\nexact %+v", got, want)
		}
	})
}

func TestHistogramMergeEqualsOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var whole, left, right stats.Histogram
	for i := range 5000 {
		v := math.Exp(rng.NormFloat64()*3) * float64(1-2*rng.IntN(2))
		if i%10 == 0 {
			v = 0
		}
		whole.Add(v)
		if i%3 == 0 {
			left.Add(v)
		} else {
			right.Add(v)
		}
	}
	right.Merge(&left)
	a, b := whole.Summary(ranks), right.Summary(ranks)
	if !slices.Equal(a.Percentiles, b.Percentiles) || a.Sum != b.Sum || a.Std != b.Std || a.Count != b.Count {
		t.Errorf("one: %+v\nmerged: %+v", a, b)
	}
	if whole.Count() != 5000 {
		t.Errorf("count = %d", whole.Count())
	}
}

func BenchmarkMomentsAdd(b *testing.B) {
	var m stats.Moments
	for i := range b.N {
		m.Add(float64(i) * 1.37)
	}
}

func BenchmarkHistogramAdd(b *testing.B) {
	var h stats.Histogram
	for i := range b.N {
		h.Add(float64(i&0xfffff) * 1.37)
	}
}

func BenchmarkDescribeMillion(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	values := make([]float64, 1_000_000)
	for i := range values {
		values[i] = math.Exp(rng.NormFloat64())
	}
	scratch := make([]float64, len(values))
	for b.Loop() {
		copy(scratch, values)
		stats.Describe(scratch, ranks)
	}
}
