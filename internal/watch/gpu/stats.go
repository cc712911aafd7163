package gpu

import (
	"math"
	"slices"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
)

// describe sums values up, of which there is at least one, a single one with a Std of 0. It reorders them.
func describe(values []float64) metrics.Stats {
	s := metrics.Stats{Count: int64(len(values)), Avg: mean(values), Min: slices.Min(values), Max: slices.Max(values)}
	if len(values) > 1 {
		squares := 0.0
		for _, v := range values {
			squares += (v - s.Avg) * (v - s.Avg)
		}
		s.Std = math.Sqrt(squares / float64(len(values)-1))
	}
	copy(s.Percentiles[:], stats.Percentiles(values, metrics.PercentileRanks[:]))
	return s
}

// mean does not leave the range of the values.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return min(max(sum/float64(len(values)), slices.Min(values)), slices.Max(values))
}
