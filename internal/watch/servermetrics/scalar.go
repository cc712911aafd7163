package servermetrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/measure/metrics"
)

// gauge describes a series of type gauge or unknown by its samples in the window.
func (w *worker) gauge(j *job) {
	w.values = inWindow(w.values[:0], &w.samples)
	if len(w.values) == 0 {
		return
	}
	j.present = true
	g := describeGauge(w.values)
	j.stats.Gauge = &g
	w.countSlices(j)
}

// inWindow appends the values of the samples in the window.
func inWindow(dst []float64, s *Samples) []float64 {
	for i := s.First(); i < s.Len(); i++ {
		dst = append(dst, s.Value(i))
	}
	return dst
}

// describeGauge describes values, of which there must be one; it reorders them.
func describeGauge(values []float64) metrics.Stats {
	g := spread(values)
	if g.Min != g.Max {
		slices.Sort(values)
	}
	g.Percentiles = percentilesOfSorted(values)
	return g
}

// counter describes a counter by its growth since the reference.
func (w *worker) counter(j *job) {
	s := &w.samples
	last := s.Len() - 1
	if last < 0 || last == 0 && s.Reference {
		return
	}
	j.present = true
	c := CounterStats{Total: max(s.Value(last)-s.Value(0), 0)}
	c.Rate = perSecond(c.Total, s.TimestampNS(0), s.TimestampNS(last))
	if resets, sum := resetsOf(s); resets > 0 {
		j.warnings = append(j.warnings, fmt.Sprintf(
			"Server metrics: counter %s at %s was reset %d time(s) within the measurement window: total is %s (last "+
				"minus first), the growth across the resets is %s",
			j.stats.Series.describe(), j.stats.EndpointURL, resets, number(c.Total), number(sum)))
	}
	w.countSlices(j)
	c.Slices = describeRates(w.values)
	j.stats.Counter = &c
}

// resetsOf counts how often a counter fell and stayed below, and sums its growth with every such fall taken as a start
// from zero. A single sample below both of its neighbours is an answer out of order, not a server that started again.
func resetsOf(s *Samples) (resets int, sum float64) { return growth(s, s.Value) }

// growth does what resetsOf does, for any value of samples that only grows.
func growth(s *Samples, value func(i int) float64) (resets int, sum float64) {
	if s.Len() == 0 {
		return 0, 0
	}
	before := value(0)
	for i := 1; i < s.Len(); i++ {
		v := value(i)
		if v < before {
			if i+1 < s.Len() && value(i+1) >= before {
				continue
			}
			resets++
			before = 0
		}
		sum += v - before
		before = v
	}
	return resets, sum
}

func describeRates(rates []float64) *metrics.Stats {
	if len(rates) == 0 {
		return nil
	}
	r := spread(rates)
	return &r
}

// spread describes values, of which there must be one, but for their percentiles. Std divides by n−1.
func spread(values []float64) metrics.Stats {
	s := metrics.Stats{Min: slices.Min(values), Max: slices.Max(values), Count: int64(len(values))}
	s.Avg, s.Std = meanAndStd(values, s.Min, s.Max)
	return s
}

// perSecond returns growth over the time between two instants, 0 if there is none.
func perSecond(growth float64, fromNS, toNS int64) float64 {
	if toNS == fromNS {
		return 0
	}
	return growth / seconds(toNS-fromNS)
}

// meanAndStd returns the mean and the sample standard deviation of values between lowest and highest.
func meanAndStd(values []float64, lowest, highest float64) (mean, std float64) {
	if lowest == highest {
		return lowest, 0
	}
	n := float64(len(values))
	mean = sumOf(values) / n
	if math.IsInf(mean, 0) || math.IsNaN(mean) { // the sum is beyond float64, the mean is not
		mean = 0
		for _, v := range values {
			mean += v / n
		}
	}
	mean = min(max(mean, lowest), highest)
	// Deviations are taken in units of a power of two near the largest: their squares neither overflow nor vanish.
	_, exponent := math.Frexp(max(highest/2-mean/2, mean/2-lowest/2))
	squares := 0.0
	for _, v := range values {
		d := math.Ldexp(v/2-mean/2, -exponent)
		squares += d * d
	}
	return mean, math.Ldexp(math.Sqrt(squares/(n-1)), exponent+1)
}

// sumOf adds with compensation for what each addition loses.
func sumOf(values []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, v := range values {
		next := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += (sum - next) + v
		} else {
			lost += (v - next) + sum
		}
		sum = next
	}
	return sum + lost
}

// percentilesOfSorted interpolates linearly between neighbours: the position of rank p among n values is
// (n−1)p/100.
func percentilesOfSorted(sorted []float64) metrics.Percentiles {
	var out metrics.Percentiles
	for i, rank := range metrics.PercentileRanks {
		lo, hi, fraction := position(rank, int64(len(sorted)))
		out[i] = interpolate(sorted[lo], sorted[hi], fraction)
	}
	return out
}

// position returns where a percentile lies among n sorted values: between two neighbours.
func position(rank float64, n int64) (lo, hi int64, fraction float64) {
	at := rank / 100 * float64(n-1)
	lo = min(int64(at), n-1)
	return lo, min(lo+1, n-1), at - float64(lo)
}

// interpolate starts from the nearer end, which is how the percentiles of the published examples come out to
// the last digit.
func interpolate(lo, hi, fraction float64) float64 {
	if lo == hi {
		return lo
	}
	step := hi - lo
	if math.IsInf(step, 0) {
		return lo*(1-fraction) + hi*fraction
	}
	if fraction >= 0.5 {
		return hi - step*(1-fraction)
	}
	return lo + step*fraction
}

// number returns a value in a message.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
