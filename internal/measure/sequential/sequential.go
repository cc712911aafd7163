// Package sequential bounds shares, quantiles and means of a stream of values at every look: whoever looks after each
// value and stops when it likes is wrong no more often than the level says.
//
// Vocabulary: evidence is the logarithm of an e-value, a bet against a hypothesis whose capital grows beyond 1/α with a
// probability of at most α if the hypothesis is true, whenever one looks (Ville's inequality). A condition on a
// quantile, p99 ≤ T, is one on a share: at least 0.99 of the values are at most T.
//
// What the bounds rely on: those of shares and quantiles hold for every number of values as long as each value has the
// same chance given those before it. The values of requests that are in flight together have not: [Blocks] measures by
// how much the mean scatters more than that of independent values, and the counts are divided by it, which is an
// approximation for many blocks. Bounds of means are asymptotic besides: they need a finite variance and some tens of
// values.
package sequential

import (
	"math"

	"aiperf/internal/measure/stats"
)

// prior is that of the mixtures over shares: Jeffreys' Beta(½, ½).
const prior = 0.5

// Evidence returns the evidence that the share of successes is above a reference in (0, 1), against all shares up to
// it, and that it is below. The counts need not be whole. Each is mixed over the shares on its own side.
func Evidence(successes, failures, reference float64) (above, below float64) {
	rest := 1 - reference
	a, b := successes+prior, failures+prior
	common := logBeta(a, b) - logBeta(prior, prior) - successes*math.Log(reference) - failures*math.Log1p(-reference)
	above = common + logRatio(stats.IncompleteBeta(b, a, rest, reference),
		stats.IncompleteBeta(prior, prior, rest, reference))
	below = common + logRatio(stats.IncompleteBeta(a, b, reference, rest),
		stats.IncompleteBeta(prior, prior, reference, rest))
	return above, below
}

func logRatio(posterior, prior float64) float64 {
	if posterior <= 0 {
		return math.Inf(-1)
	}
	return math.Log(posterior) - math.Log(prior)
}

func logBeta(a, b float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return la + lb - lab
}

// against returns the evidence that the share is another one than p, on either side.
func against(successes, failures, p float64) float64 {
	e := logBeta(successes+prior, failures+prior) - logBeta(prior, prior)
	if successes > 0 {
		e -= successes * math.Log(p)
	}
	if failures > 0 {
		e -= failures * math.Log1p(-p)
	}
	return e
}

// Share returns the interval of a share, valid at every look with the confidence asked for, in (0, 1).
func Share(successes, failures, confidence float64) stats.Range {
	if successes+failures <= 0 {
		return stats.Range{Low: 0, High: 1}
	}
	limit, mean := -math.Log(1-confidence), successes/(successes+failures)
	r := stats.Range{Low: 0, High: 1}
	if successes > 0 {
		r.Low = bisect(0, mean, func(p float64) bool { return against(successes, failures, p) >= limit })
	}
	if failures > 0 {
		r.High = bisect(1, mean, func(p float64) bool { return against(successes, failures, p) >= limit })
	}
	return r
}

// bisect returns where rejected changes between from, where it is true, and to.
func bisect(from, to float64, rejected func(float64) bool) float64 {
	for range 100 {
		middle := from + (to-from)/2
		if middle == from || middle == to {
			break
		}
		if rejected(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return from
}

// Places returns the places in n sorted values between which the quantile of a rank in (0, 1) lies, valid at every look
// with the confidence asked for; −1 is a side on which the values are too few to tell. inflation is that of [Blocks], 1
// for independent values.
func Places(rank float64, n int64, inflation, confidence float64) (low, high int64) {
	limit := -math.Log(1 - confidence)
	rejected := func(below int64) bool {
		return against(float64(below)/inflation, float64(n-below)/inflation, rank) >= limit
	}
	middle := int64(rank * float64(n))
	low, high = -1, -1
	if n > 0 && rejected(0) {
		from, to := int64(0), middle // from is rejected, to is not
		for to-from > 1 {
			if m := from + (to-from)/2; rejected(m) {
				from = m
			} else {
				to = m
			}
		}
		low = from
	}
	if n > 0 && rejected(n) {
		from, to := n, middle
		for from-to > 1 {
			if m := to + (from-to)/2; rejected(m) {
				from = m
			} else {
				to = m
			}
		}
		high = from - 1
	}
	return low, high
}

// usual is the number of independent values for which bounds of means are narrowest.
const usual = 100

// Mean returns half the width of the interval of a mean of n values with a standard deviation, valid at every look with
// the confidence asked for: the asymptotic confidence sequence of Waudby-Smith et al. (2021). It is +Inf for less than
// two values.
func Mean(deviation, n, confidence float64) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	alpha := 1 - confidence
	tuned := (-2*math.Log(alpha) + math.Log(1-2*math.Log(alpha))) / usual
	v := n*tuned + 1
	return deviation * math.Sqrt(2*v/(n*n*tuned)*math.Log(math.Sqrt(v)/alpha))
}
