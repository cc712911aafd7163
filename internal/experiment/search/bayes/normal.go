package bayes

import "math"

var logRootTau = 0.5 * math.Log(2*math.Pi)

// logDensity is the logarithm of the standard normal density.
func logDensity(z float64) float64 { return -0.5*z*z - logRootTau }

// tailFraction returns the continued fraction c(z) with which the normal distribution's upper tail is φ(z)/(z+c), for z
// of at least 5: Laplace's, 1/(z + 2/(z + 3/…)), evaluated backwards from a term that no longer shows in a float64.
func tailFraction(z float64) float64 {
	c, k := 0.0, 20
	if z > 9 {
		k = 10
	}
	for ; k > 0; k-- {
		c = float64(k) / (z + c)
	}
	return c
}

// LogProbability is the logarithm of the probability that a standard normal variable is below z.
func LogProbability(z float64) float64 {
	if z > -5 {
		return math.Log(0.5 * math.Erfc(-z/math.Sqrt2))
	}
	return logDensity(z) - math.Log(-z+tailFraction(-z))
}

// LogImprovement is the logarithm of φ(z)+zΦ(z), which is the expected improvement of a normal variable of standard
// deviation 1 whose mean is z above the best. Below −5, where its terms cancel out, it is φ(z)·c/(−z+c).
func LogImprovement(z float64) float64 {
	if z > -5 {
		return math.Log(improvement(z))
	}
	c := tailFraction(-z)
	return logDensity(z) + math.Log(c/(-z+c))
}

// improvement is φ(z)+zΦ(z).
func improvement(z float64) float64 {
	switch {
	case z < -38:
		return 0
	case z < -5:
		c := tailFraction(-z)
		return math.Exp(-0.5*z*z-logRootTau) * c / (-z + c)
	}
	return math.Exp(-0.5*z*z-logRootTau) + z*0.5*math.Erfc(-z/math.Sqrt2)
}

// logDifference is the logarithm of exp(a)−exp(b), for a of at least b.
func logDifference(a, b float64) float64 {
	if !(a > b) {
		return math.Inf(-1)
	}
	return a + math.Log1p(-math.Exp(b-a))
}

// logSum is a running logarithm of a sum of exponentials, without what is too small to change it. Its zero value is not
// empty: use [emptySum].
type logSum struct{ most, sum float64 }

func emptySum() logSum { return logSum{most: math.Inf(-1)} }

func (s *logSum) add(v float64) {
	switch {
	case v < s.most-40, math.IsInf(v, -1):
	case v > s.most:
		s.sum = s.sum*math.Exp(s.most-v) + 1
		s.most = v
	default:
		s.sum += math.Exp(v - s.most)
	}
}

func (s *logSum) value() float64 { return s.most + math.Log(s.sum) }

// Quantile is that of the standard normal distribution, for probabilities that are at least 1e-9 from 0 and from 1.
func Quantile(p float64) float64 {
	return math.Sqrt2 * math.Erfinv(2*max(1e-9, min(1-1e-9, p))-1)
}
