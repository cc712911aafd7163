package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// A column gives back what was packed, whatever the numbers.
func TestColumnRoundTrip(t *testing.T) {
	number := rapid.OneOf(
		rapid.Just(record.Absent),
		rapid.Int64Range(-3, 3),
		rapid.Int64Range(0, 1<<40),
		rapid.Int64(),
		rapid.Just(int64(math.MaxInt64)),
		rapid.Just(int64(math.MinInt64+1)),
	)
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(number, 1, 200).Draw(t, "values")
		c := pack(values)
		got := make([]int64, len(values))
		c.unpack(got)
		if !slices.Equal(got, values) {
			t.Fatalf("got %v, want %v (width %d)", got, values, c.width)
		}
	})
}

func TestColumnIsAsNarrowAsItsRange(t *testing.T) {
	for _, c := range []struct {
		values []int64
		width  uint8
	}{
		{[]int64{5, 5, 5}, 0},
		{[]int64{record.Absent, record.Absent}, 0},
		{[]int64{5, record.Absent}, 1},
		{[]int64{t0, t0 + 255}, 8},
		{[]int64{t0, t0 + 255, record.Absent}, 9},
		{[]int64{0, 1 << 60}, 64},
	} {
		if got := pack(c.values).width; got != c.width {
			t.Errorf("%v takes %d bits a row, want %d", c.values, got, c.width)
		}
	}
}

// The gap store describes its gaps as if they were sorted, long ones included.
func TestGapsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 9, 1000, 200_000} {
		var g gapStore
		values := make([]float64, n)
		for i := range values {
			var ns int64
			switch rng.IntN(10) {
			case 0:
				ns = 0
			case 1:
				ns = gapEscape - 1 + rng.Int64N(3) // around the escape
			case 2:
				ns = rng.Int64N(1 << 50)
			default:
				ns = rng.Int64N(50 * ms)
			}
			g.add(ns)
			values[i] = float64(ns)
		}
		got, want := g.describe(PercentileRanks[:]), stats.Describe(values, PercentileRanks[:])
		if !slices.Equal(got.Percentiles, want.Percentiles) || got.Sum != want.Sum || got.Std != want.Std ||
			got.Count != want.Count || got.Min != want.Min || got.Max != want.Max {
			t.Errorf("n=%d: got %+v, want %+v", n, got, want)
		}
	}
	var empty gapStore
	if got := empty.describe(PercentileRanks[:]); got.Count != 0 {
		t.Errorf("no gaps: %+v", got)
	}
}
