package capacity

import (
	"math"

	"aiperf/internal/measure/stats"
)

// jeffreysPrior is the parameter of the prior of the mixtures over shares: Jeffreys' Beta(½, ½), whose mixture loses
// about ½ ln n against the true share, wherever that is (Krichevsky and Trofimov, 1981).
const jeffreysPrior = 0.5

// Evidence returns the evidence that the share of successes is above a reference in (0, 1), against all shares up to
// it, and that it is below. The counts need not be whole. Each is the logarithm of a mixture likelihood ratio: the
// likelihood, averaged over the prior cut off to the shares on its own side, relative to that at the reference (the
// method of mixtures: Robbins, "Statistical methods related to the law of the iterated logarithm", 1970). The reference
// is the least favourable share of the null hypothesis, so that the ratio is an e-value against all shares of it.
func Evidence(successes, failures, reference float64) (above, below float64) {
	rest := 1 - reference
	a, b := successes+jeffreysPrior, failures+jeffreysPrior
	common := logBeta(a, b) - logBeta(jeffreysPrior, jeffreysPrior) -
		successes*math.Log(reference) - failures*math.Log1p(-reference)
	above = common + logRatio(stats.IncompleteBeta(b, a, rest, reference),
		stats.IncompleteBeta(jeffreysPrior, jeffreysPrior, rest, reference))
	below = common + logRatio(stats.IncompleteBeta(a, b, reference, rest),
		stats.IncompleteBeta(jeffreysPrior, jeffreysPrior, reference, rest))
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

// tunedSampleSize is the number of independent values for which bounds of means are narrowest: twice as many as a mean
// needs to be judged at all (minIndependent), and the order of what a probe near its limit has.
const tunedSampleSize = 100

// MeanHalfWidth returns half the width of the interval of a mean of n values with a standard deviation, valid at every
// look with the confidence asked for: the asymptotic confidence sequence of Waudby-Smith et al. (2021). It is +Inf for
// less than two values.
func MeanHalfWidth(deviation, n, confidence float64) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	alpha := 1 - confidence
	// ρ² of the paper, by its approximation of the choice that is narrowest at tunedSampleSize.
	tuned := (-2*math.Log(alpha) + math.Log(1-2*math.Log(alpha))) / tunedSampleSize
	v := n*tuned + 1
	return deviation * math.Sqrt(2*v/(n*n*tuned)*math.Log(math.Sqrt(v)/alpha))
}
