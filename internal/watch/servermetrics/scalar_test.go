package servermetrics

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Values at the ends of the range of floats, and sums beyond it, leave no infinities and no NaN behind.
func TestExtremeValuesHaveFiniteStatistics(t *testing.T) {
	const huge = math.MaxFloat64
	for _, values := range [][]float64{
		{huge, huge, huge / 2}, {-huge, huge}, {1e-300, 2e-300}, {1e200, -1e200, 5}, {0, math.SmallestNonzeroFloat64},
	} {
		g := describeGauge(values)
		for _, v := range append([]float64{g.Avg, g.Min, g.Max, g.Std}, g.Percentiles[:]...) {
			// The deviation of the two ends of the range is beyond it by definition.
			if v-v != 0 && !(values[0] == -huge && v == g.Std) {
				t.Errorf("%v: %+v", values, g)
			}
		}
	}
	if g := describeGauge([]float64{1e-300, 2e-300}); math.Abs(g.Std/7.0710678118654755e-301-1) > 1e-12 {
		t.Errorf("std of tiny values is %v", g.Std)
	}
}

// precision is enough for the exact sum of any floats.
const precision = 2200

// Mean and deviation agree with exact arithmetic, as far as the mean is a float.
func TestMeanAndDeviationAreAccurate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.SampledFrom([]float64{0, 1e9, -1e6}).Draw(t, "offset")
		values := rapid.SliceOfN(rapid.Map(rapid.Float64Range(-1, 1), func(v float64) float64 { return offset + v }), 2,
			40).Draw(t, "values")
		sum := new(big.Float).SetPrec(precision)
		for _, v := range values {
			sum.Add(sum, big.NewFloat(v))
		}
		n := new(big.Float).SetPrec(precision).SetInt64(int64(len(values)))
		mean := new(big.Float).SetPrec(precision).Quo(sum, n)
		squares := new(big.Float).SetPrec(precision)
		for _, v := range values {
			d := new(big.Float).SetPrec(precision).Sub(big.NewFloat(v), mean)
			squares.Add(squares, d.Mul(d, d))
		}
		exactMean, _ := mean.Float64()
		variance := squares.Quo(squares, n.Sub(n, big.NewFloat(1)))
		exactStd, _ := variance.Sqrt(variance).Float64()
		g := describeGauge(values)
		rounding := math.Nextafter(math.Abs(exactMean), inf) - math.Abs(exactMean)
		if math.Abs(g.Avg-exactMean) > 2*rounding || math.Abs(g.Std-exactStd) > 1e-9*exactStd+3*rounding {
			t.Fatalf("avg %v, std %v; exactly %v, %v", g.Avg, g.Std, exactMean, exactStd)
		}
	})
}

// A counter starts again when it falls and stays below; one sample below its neighbours is an answer out of order.
func TestOnlyResetsThatPersistCount(t *testing.T) {
	for _, c := range []struct {
		values []float64
		resets int
		growth float64
	}{
		{[]float64{1, 2, 3}, 0, 2},
		{[]float64{1, 5, 4, 6}, 0, 5},
		{[]float64{1, 5, 4, 5}, 0, 4},
		{[]float64{1, 5, 0, 2}, 1, 6},
		{[]float64{1, 5, 2}, 1, 6},
		{[]float64{1, 5, 0, 2, 0, 1}, 2, 7},
		{[]float64{5}, 0, 0},
		{nil, 0, 0},
	} {
		s := Samples{rows: c.values}
		for i := range c.values {
			s.times, s.at = append(s.times, int64(i)), append(s.at, int32(i))
		}
		if resets, growth := resetsOf(&s); resets != c.resets || growth != c.growth {
			t.Errorf("%v: %d resets, growth %v", c.values, resets, growth)
		}
	}
}
