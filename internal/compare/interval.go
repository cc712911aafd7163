package compare

import (
	"math"
	"math/rand/v2"

	"aiperf/internal/report"
	"aiperf/internal/stats"
	"aiperf/internal/summary"
)

// Method is how the interval of a difference was found.
type Method string

// The methods, best first.
const (
	// MethodRepeats compares the means of repeated runs: what it calls a difference is larger than that
	// between runs of the same kind.
	MethodRepeats Method = "repeats"
	// MethodPaired resamples pairs of requests that asked the same, MethodBootstrap the requests of each
	// run; MethodBounds takes the bounds that summaries have. They know nothing of the noise between runs.
	MethodPaired    Method = "paired bootstrap"
	MethodBootstrap Method = "bootstrap"
	MethodBounds    Method = "bounds"
	MethodNone      Method = ""
)

// interval is that of new − base.
type interval struct {
	low, high float64
	method    Method
}

// fromRepeats is Welch's interval of the difference of two means; where one side is a single run, that
// of one more run of the other's kind. It needs two runs on one side at least.
func fromRepeats(base, next []float64, confidence float64) (interval, bool) {
	if len(base) == 0 || len(next) == 0 || len(base) < 2 && len(next) < 2 {
		return interval{}, false
	}
	a, b := momentsOf(base), momentsOf(next)
	d := b.mean - a.mean
	var spread, df float64
	switch {
	case len(base) == 1 || len(next) == 1:
		many := a
		if len(base) == 1 {
			many = b
		}
		spread, df = math.Sqrt(many.variance*(1+1/many.n)), many.n-1
	default:
		u, v := a.variance/a.n, b.variance/b.n
		spread = math.Sqrt(u + v)
		df = (u + v) * (u + v) / (u*u/(a.n-1) + v*v/(b.n-1))
	}
	if spread == 0 {
		return interval{d, d, MethodRepeats}, true
	}
	half := stats.StudentT(confidence, df) * spread
	return interval{d - half, d + half, MethodRepeats}, true
}

type sampleMoments struct{ n, mean, variance float64 }

func momentsOf(values []float64) sampleMoments {
	m := sampleMoments{n: float64(len(values))}
	for _, v := range values {
		m.mean += v / m.n
	}
	for _, v := range values {
		m.variance += (v - m.mean) * (v - m.mean) / max(m.n-1, 1)
	}
	return m
}

const (
	// fewestRequests is the size from which resampling means anything.
	fewestRequests = 10
	// pairedShare of the requests of both runs must be pairs.
	pairedShare = 0.9
	// resamplingBudget bounds the values drawn for a figure; resamples are within their own bounds.
	resamplingBudget            = 20_000_000
	minResamples, maxResamples  = 200, 2000
	seedOfBootstrap, streamSeed = 0x61697065726600, 0x636f6d70617265
)

// fromRequests resamples the requests of two runs.
func fromRequests(base, next *report.Values, tag, stat string, confidence float64) (interval, bool) {
	statistic, ok := statisticOf(stat)
	if !ok {
		return interval{}, false
	}
	if a, b := pairs(base, next, tag); len(a) >= fewestRequests {
		return resample(len(a), len(a), confidence, func(r *rand.Rand, x, y []float64) {
			for i := range x {
				k := r.IntN(len(a))
				x[i], y[i] = a[k], b[k]
			}
		}, statistic, MethodPaired), true
	}
	a, b := valuesOf(base, tag), valuesOf(next, tag)
	if len(a) < fewestRequests || len(b) < fewestRequests {
		return interval{}, false
	}
	return resample(len(a), len(b), confidence, func(r *rand.Rand, x, y []float64) {
		for i := range x {
			x[i] = a[r.IntN(len(a))]
		}
		for i := range y {
			y[i] = b[r.IntN(len(b))]
		}
	}, statistic, MethodBootstrap), true
}

// resample is the percentile interval of the bootstrap. Its random numbers are always the same, so
// that a comparison can be repeated.
func resample(n, m int, confidence float64, draw func(*rand.Rand, []float64, []float64), statistic func([]float64) float64, method Method) interval {
	r := rand.New(rand.NewPCG(seedOfBootstrap, streamSeed))
	rounds := min(max(resamplingBudget/(n+m), minResamples), maxResamples)
	x, y := make([]float64, n), make([]float64, m)
	differences := make([]float64, rounds)
	for i := range differences {
		draw(r, x, y)
		differences[i] = statistic(y) - statistic(x)
	}
	tail := 100 * (1 - confidence) / 2
	ends := stats.Percentiles(differences, []float64{tail, 100 - tail})
	return interval{ends[0], ends[1], method}
}

// statisticOf computes a statistic of values, which it may reorder.
func statisticOf(stat string) (func([]float64) float64, bool) {
	if stat == "avg" {
		return func(values []float64) float64 {
			var sum float64
			for _, v := range values {
				sum += v
			}
			return sum / float64(len(values))
		}, true
	}
	rank, ok := percentileOf(stat)
	if !ok {
		return nil, false
	}
	return func(values []float64) float64 { return stats.Percentiles(values, []float64{rank})[0] }, true
}

func valuesOf(v *report.Values, tag string) []float64 {
	c := v.ByTag[tag]
	if c == nil {
		return nil
	}
	var out []float64
	for i, present := range c.Present {
		if present {
			out = append(out, c.Values[i])
		}
	}
	return out
}

// pairs are the values of requests that asked the same in both runs; none if too few did.
func pairs(base, next *report.Values, tag string) (a, b []float64) {
	x, y := base.ByTag[tag], next.ByTag[tag]
	if x == nil || y == nil {
		return nil, nil
	}
	at := make(map[report.RequestKey]int, len(base.Keys))
	for i, key := range base.Keys {
		if i < len(x.Present) && x.Present[i] {
			at[key] = i
		}
	}
	for i, key := range next.Keys {
		if k, ok := at[key]; ok && i < len(y.Present) && y.Present[i] {
			a, b = append(a, x.Values[k]), append(b, y.Values[i])
		}
	}
	if float64(len(a)) < pairedShare*float64(max(len(base.Keys), len(next.Keys))) {
		return nil, nil
	}
	return a, b
}

// fromBounds combines the intervals of both figures, which need not be symmetric, as if they were
// independent (the method of variance estimates recovery).
func fromBounds(base, next summary.Block, stat string, confidence float64) (interval, bool) {
	a, okA := figureBounds(base, stat, confidence)
	b, okB := figureBounds(next, stat, confidence)
	if !okA || !okB {
		return interval{}, false
	}
	x, y := base.Stats[stat], next.Stats[stat]
	d := y - x
	return interval{
		d - math.Hypot(y-b.Low, a.High-x),
		d + math.Hypot(b.High-y, x-a.Low),
		MethodBounds,
	}, true
}

// figureBounds are those of a percentile, or Student's of an average.
func figureBounds(b summary.Block, stat string, confidence float64) (summary.Interval, bool) {
	if stat == "avg" {
		n, std, avg := b.Stats["count"], b.Stats["std"], b.Stats["avg"]
		if n < 2 {
			return summary.Interval{}, false
		}
		half := stats.StudentT(confidence, n-1) * std / math.Sqrt(n-1)
		return summary.Interval{Low: avg - half, High: avg + half}, true
	}
	of, ok := b.Bounds[stat]
	return of, ok && !math.IsNaN(of.Low) && !math.IsNaN(of.High)
}

// holdsZero tells whether 0 lies in the interval.
func (i interval) holdsZero() bool { return i.low <= 0 && i.high >= 0 }
