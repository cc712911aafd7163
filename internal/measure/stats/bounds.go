package stats

import (
	"math"
	"slices"
)

// Range is an interval of values; NaN where it has no end.
type Range struct{ Low, High float64 }

// RankBounds returns the places in n sorted independent values between which the true percentile of a
// rank (0–100) lies with at least the confidence asked for, whatever the distribution: the order
// statistics at the tails of the binomial distribution of how many values fall below it. −1 is a side
// on which n values are too few to tell.
func RankBounds(rank float64, n int64, confidence float64) (low, high int64) {
	low, high = -1, -1
	p, tail := rank/100, (1-confidence)/2
	if n <= 0 || p <= 0 || p >= 1 {
		return low, high
	}
	mean, spread := p*float64(n), 10*math.Sqrt(p*(1-p)*float64(n))+10
	chance, below := binomial(n, p), 0.0
	for k := max(0, int64(mean-spread)); k <= n; k++ {
		if below += chance(k); below > tail {
			low = k - 1
			break
		}
	}
	above := 0.0
	for k := min(n, int64(mean+spread)); k >= 0; k-- {
		if above += chance(k); above > tail {
			if k < n {
				high = k
			}
			break
		}
	}
	return low, high
}

// binomial returns the probability of k successes among n of probability p in (0, 1), as a function of k.
func binomial(n int64, p float64) func(k int64) float64 {
	logGamma := func(x int64) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	all, success, failure := logGamma(n), math.Log(p), math.Log1p(-p)
	return func(k int64) float64 {
		return math.Exp(all - logGamma(k) - logGamma(n-k) + float64(k)*success + float64(n-k)*failure)
	}
}

// Sides are, for each of some ranks, the places that [RankBounds] returns.
type Sides []side

type side struct{ low, high int64 }

// SidesOf returns those of n values. It takes up to milliseconds for millions of values.
func SidesOf(ranks []float64, n int64, confidence float64) Sides {
	sides := make(Sides, len(ranks))
	for i, q := range ranks {
		sides[i].low, sides[i].high = RankBounds(q, n, confidence)
	}
	return sides
}

// Places returns the places ascending and once each.
func (s Sides) Places() []int64 {
	places := make([]int64, 0, 2*len(s))
	for _, of := range s {
		places = append(places, of.low, of.high)
	}
	places = slices.DeleteFunc(places, func(place int64) bool { return place < 0 })
	slices.Sort(places)
	return slices.Compact(places)
}

// Bounds returns the bounds of the percentiles, of which at returns the values at Places.
func (s Sides) Bounds(at func(place int64) float64) []Range {
	out := make([]Range, len(s))
	value := func(place int64) float64 {
		if place < 0 {
			return math.NaN()
		}
		return at(place)
	}
	for i, of := range s {
		out[i] = Range{value(of.low), value(of.high)}
	}
	return out
}

// SamplesForBounds returns the smallest number of values that bound the percentile of a rank on both sides.
func SamplesForBounds(rank, confidence float64) int64 {
	p, tail := rank/100, (1-confidence)/2
	extreme := max(p, 1-p)
	if extreme <= 0 || extreme >= 1 {
		return math.MaxInt64
	}
	return int64(math.Ceil(math.Log(tail) / math.Log(extreme)))
}

// Select returns the values at the given ascending places of the sorted population. It reorders values.
func Select(values []float64, places []int64) []float64 {
	selectAll(values, 0, places)
	out := make([]float64, len(places))
	for i, place := range places {
		out[i] = values[place]
	}
	return out
}
