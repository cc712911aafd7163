package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"aiperf/internal/measure/stats"
	"aiperf/internal/result/summary"
)

// Method is how the interval of a difference was found.
type Method string

// The methods, best first.
const (
	// MethodRepeats compares the means of repeated runs: a difference is larger than the differences between runs of
	// the same kind.
	MethodRepeats Method = "repeats"
	// MethodPaired resamples pairs of equal requests, MethodBootstrap the requests of each run; MethodBounds takes the
	// bounds in the summaries. They do not include the noise between runs.
	MethodPaired    Method = "paired bootstrap"
	MethodBootstrap Method = "bootstrap"
	MethodBounds    Method = "bounds"
	// MethodBlocks resamples blocks of consecutive completions of each run; it is that of rates. It does not include
	// the noise between runs either.
	MethodBlocks Method = "block bootstrap"
	// MethodShares compares two shares of requests, each with its score interval.
	MethodShares Method = "score interval"
	// MethodSeparate is that of runs of which one has all its values beyond all of the other, more of them than chance
	// puts there: the interval is that between the extremes.
	MethodSeparate Method = "no overlap"
	MethodNone     Method = ""
	// MethodTooFew finds no interval: there are too few requests for the statistic.
	MethodTooFew Method = "too few requests"
)

// within reports whether the method covers only the noise between the requests of a run, not that between runs.
func (m Method) within() bool {
	return m == MethodPaired || m == MethodBootstrap || m == MethodBounds || m == MethodBlocks || m == MethodShares ||
		m == MethodSeparate
}

// interval is the confidence interval of new − base.
type interval struct {
	low, high float64
	method    Method
}

// fromRepeats is Welch's interval of the difference of two means; where one side is a single run, that
// of one more run of the other's kind. It needs two runs on one side at least.
func fromRepeats(a, b sampleMoments, confidence float64) (interval, bool) {
	if a.n < 1 || b.n < 1 || a.n < 2 && b.n < 2 {
		return interval{}, false
	}
	d := b.mean - a.mean
	var spread, df float64
	switch {
	case a.n == 1 || b.n == 1:
		many := a
		if a.n == 1 {
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
	// fewestRequests is the size from which resampling means anything; percentiles need more, see fewest.
	fewestRequests = 20
	// pairedShare of the requests of both runs must be pairs.
	pairedShare = 0.9
	// resamplingBudget bounds the values drawn for a figure; resamples are within their own bounds.
	resamplingBudget            = 8_000_000
	minResamples, maxResamples  = 200, 2000
	seedOfBootstrap, streamSeed = 0x61697065726600, 0x636f6d70617265
)

// fewest returns how many requests of each run a statistic needs. A percentile needs values beyond it on both sides, as
// many as its confidence bounds do: the largest values of fewer requests carry almost no information about it.
func fewest(stat string, confidence float64) int64 {
	rank, ok := percentileOf(stat)
	if !ok {
		return fewestRequests
	}
	return max(fewestRequests, stats.SamplesForBounds(max(rank, 100-rank), confidence))
}

// fromRequests resamples the requests of two runs.
func fromRequests(base, next *requestValues, tag, stat string, confidence float64) (interval, bool) {
	statistic, ok := statisticOf(stat)
	if !ok {
		return interval{}, false
	}
	few := fewest(stat, confidence)
	if a, b := pairs(base, next, tag); int64(len(a)) >= few {
		return resample(sample{a, b}, true, stat, confidence, statistic), true
	}
	a, b := valuesOf(base, tag), valuesOf(next, tag)
	switch {
	case len(a) == 0 || len(b) == 0:
		return interval{}, false
	case int64(min(len(a), len(b))) < few:
		if found, ok := fromSeparate(a, b, confidence); ok {
			return found, true
		}
		return interval{method: MethodTooFew}, false
	}
	return resample(sample{a, b}, false, stat, confidence, statistic), true
}

// fromSeparate decides about runs whose values do not overlap, which needs no estimate of a percentile: whatever the
// statistic, it lies on the other side. Of n and m values of the same kind, all of one side are the smallest with the
// probability n! m! / (n + m)!, on either side twice that.
func fromSeparate(a, b []float64, confidence float64) (interval, bool) {
	between := interval{slices.Min(b) - slices.Max(a), slices.Max(b) - slices.Min(a), MethodSeparate}
	chance := 2.0
	for i := range len(b) {
		chance *= float64(i+1) / float64(len(a)+i+1)
	}
	return between, !between.containsZero() && chance <= 1-confidence
}

// sample are the values of the base and of the new run.
type sample struct{ a, b []float64 }

// resampledAtMost bounds what is drawn from a large run; percentiles take what leaves this many values beyond them.
const resampledAtMost, resampledBeyond = 5000, 50

// partOf is the part of n values that a resample needs.
func partOf(n int, stat string) float64 {
	size := float64(resampledAtMost)
	if rank, ok := percentileOf(stat); ok {
		size = max(size, resampledBeyond/(1-max(rank, 100-rank)/100))
	}
	return min(1, size/float64(n))
}

// resample is the percentile interval of the bootstrap, expanded for its size as Student's t is. Of a large run it
// draws a part (the m out of n bootstrap: deviations shrink with √(m/n)). Its random numbers are always the same, so
// that a comparison can be repeated.
func resample(s sample, paired bool, stat string, confidence float64, statistic func([]float64) float64) interval {
	r := rand.New(rand.NewPCG(seedOfBootstrap, streamSeed))
	part := max(partOf(len(s.a), stat), partOf(len(s.b), stat))
	n, m := int(math.Ceil(part*float64(len(s.a)))), int(math.Ceil(part*float64(len(s.b))))
	rounds := min(max(resamplingBudget/(n+m), minResamples), maxResamples)
	x, y := make([]float64, n), make([]float64, m)
	differences := make([]float64, rounds)
	for i := range differences {
		if paired {
			for k := range x {
				at := r.IntN(len(s.a))
				x[k], y[k] = s.a[at], s.b[at]
			}
		} else {
			draw(r, x, s.a)
			draw(r, y, s.b)
		}
		differences[i] = statistic(y) - statistic(x)
	}
	tail := 100 * expandedTail(confidence, min(len(s.a), len(s.b)))
	ends := stats.Percentiles(differences, []float64{tail, 100 - tail})
	found := interval{ends[0], ends[1], MethodBootstrap}
	if paired {
		found.method = MethodPaired
	}
	if part < 1 {
		centre, shrink := statistic(slices.Clone(s.b))-statistic(slices.Clone(s.a)), math.Sqrt(part)
		found.low, found.high = centre+(found.low-centre)*shrink, centre+(found.high-centre)*shrink
	}
	return found
}

func draw(r *rand.Rand, into, from []float64) {
	for k := range into {
		into[k] = from[r.IntN(len(from))]
	}
}

// expandedTail is the share of resamples beyond each end. Resampling understates the spread by √((n−1)/n) and knows no
// heavier tails than the normal ones; both matter for few values (Hesterberg, 2015).
func expandedTail(confidence float64, n int) float64 {
	size := float64(n)
	reach := math.Sqrt(size/(size-1)) * stats.StudentT(confidence, size-1)
	return math.Erfc(reach/math.Sqrt2) / 2
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

func valuesOf(v *requestValues, tag string) []float64 {
	c := v.byTag[tag]
	if c == nil {
		return nil
	}
	var out []float64
	for i, present := range c.present {
		if present {
			out = append(out, c.values[i])
		}
	}
	return out
}

// pairs are the values of requests that asked the same in both runs; none if too few did.
func pairs(base, next *requestValues, tag string) (a, b []float64) {
	x, y := base.byTag[tag], next.byTag[tag]
	if x == nil || y == nil {
		return nil, nil
	}
	at := make(map[requestKey]int, len(base.keys))
	for i, key := range base.keys {
		if i < len(x.present) && x.present[i] {
			at[key] = i
		}
	}
	for i, key := range next.keys {
		if k, ok := at[key]; ok && i < len(y.present) && y.present[i] {
			a, b = append(a, x.values[k]), append(b, y.values[i])
		}
	}
	if float64(len(a)) < pairedShare*float64(max(len(base.keys), len(next.keys))) {
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
func figureBounds(b summary.Block, stat string, confidence float64) (stats.Range, bool) {
	if stat == "avg" {
		n, std, avg := b.Stats["count"], b.Stats["std"], b.Stats["avg"]
		if _, known := b.Stats["std"]; !known || n < fewestRequests {
			return stats.Range{}, false
		}
		half := stats.StudentT(confidence, n-1) * std / math.Sqrt(n-1)
		return stats.Range{Low: avg - half, High: avg + half}, true
	}
	of, ok := b.Bounds[stat]
	return of, ok && !math.IsNaN(of.Low) && !math.IsNaN(of.High)
}

// containsZero reports whether 0 is in the interval.
func (i interval) containsZero() bool { return i.low <= 0 && i.high >= 0 }

// fromShares is the interval of the difference of two shares of requests in percent, such as error rates, by Newcombe's
// hybrid of Wilson's score intervals ("Interval estimation for the difference between independent proportions", 1998).
func fromShares(base, next *summary.Figures, tag string, confidence float64) (interval, bool) {
	x, n, okA := shareOf(base, tag)
	y, m, okB := shareOf(next, tag)
	if !okA || !okB {
		return interval{}, false
	}
	a, b := stats.Wilson(x, n, confidence), stats.Wilson(y, m, confidence)
	d := y - x
	return interval{
		100 * (d - math.Hypot(y-b.Low, a.High-x)),
		100 * (d + math.Hypot(b.High-y, x-a.Low)),
		MethodShares,
	}, true
}

// shareOf returns a share between 0 and 1 and the number of requests that it is a share of.
func shareOf(f *summary.Figures, tag string) (share, n float64, ok bool) {
	b, has := f.Find(tag)
	of, counted := f.Find("completed_request_count")
	share, n = b.Stats["avg"]/100, of.Stats["avg"]
	return share, n, has && counted && n >= 1 && share >= 0 && share <= 1
}
