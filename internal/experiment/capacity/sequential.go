package capacity

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

// probeUsual is the number of independent values for which bounds of means are narrowest.
const probeUsual = 100

// Mean returns half the width of the interval of a mean of n values with a standard deviation, valid at every look with
// the confidence asked for: the asymptotic confidence sequence of Waudby-Smith et al. (2021). It is +Inf for less than
// two values.
func Mean(deviation, n, confidence float64) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	alpha := 1 - confidence
	tuned := (-2*math.Log(alpha) + math.Log(1-2*math.Log(alpha))) / probeUsual
	v := n*tuned + 1
	return deviation * math.Sqrt(2*v/(n*n*tuned)*math.Log(math.Sqrt(v)/alpha))
}
