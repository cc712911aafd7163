package stats

import (
	"math"
	"slices"
)

// Estimate is what a few independent values say about the mean that they scatter around. What takes two
// values is NaN when there is one.
type Estimate struct {
	N                   int
	Mean, Std, Min, Max float64 // Std is the sample's (ddof 1)
	// CV is Std / |Mean|, +Inf where the mean is 0.
	CV float64
	// SE is the standard error of the mean, T the critical value of Student's t with N−1 degrees of freedom.
	SE, T float64
	// Low and High bound the confidence interval of the mean. They are not clamped: an interval may reach
	// below 0 where no value can.
	Low, High float64
}

// Confidence estimates the mean of what values, at least one, were drawn from. The level, between 0 and 1,
// is two-sided.
func Confidence(values []float64, level float64) Estimate {
	return ConfidenceAt(values, StudentT(level, float64(len(values)-1)))
}

// ConfidenceAt is [Confidence] for callers that have the critical value of as many values at hand.
func ConfidenceAt(values []float64, t float64) Estimate {
	e := Estimate{N: len(values), Min: slices.Min(values), Max: slices.Max(values), T: t}
	e.Mean, e.Std = meanAndStd(values, e.Min, e.Max)
	e.derive()
	return e
}

// meanAndStd returns the mean of a few values and the standard deviation of the population of which they are a sample,
// NaN for a single one. It computes with twice the digits of a float64, which is as good as the exact sums of [Moments]
// and takes a thousandth of their time; values whose squares are beyond its range are left to those.
func meanAndStd(values []float64, low, high float64) (mean, std float64) {
	const largest, smallest = 1e140, 1e-140
	n := float64(len(values))
	if widest := max(-low, high); widest > largest || high != low && high-low < smallest {
		var m Moments
		for _, v := range values {
			m.Add(v)
		}
		return m.Summary().Avg, m.SampleStd()
	}
	var sum twofold
	for _, v := range values {
		sum.add(v, 0)
	}
	total := sum.high + sum.low
	mean = total / n
	rest := (math.FMA(-mean, n, total) + sum.low - (total - sum.high)) / n // of the mean beyond a float64
	switch {
	case len(values) == 1:
		return mean, math.NaN()
	case low == high:
		return mean, 0
	}
	var squares twofold
	for _, v := range values {
		d := v - mean
		part := d - v
		beyond := (v - (d - part)) - (mean + part) - rest
		squares.add(d*d, math.FMA(d, d, -d*d)+(2*d+beyond)*beyond)
	}
	total = squares.high + squares.low
	variance := total / (n - 1)
	variance += (math.FMA(-variance, n-1, total) + squares.low - (total - squares.high)) / (n - 1)
	return mean, math.Sqrt(variance)
}

// twofold is a sum with twice the digits of a float64.
type twofold struct{ high, low float64 }

// add adds a number, and what is beyond its last digit.
func (s *twofold) add(v, beyond float64) {
	sum := s.high + v
	part := sum - s.high
	s.low += (s.high - (sum - part)) + (v - part) + beyond
	s.high = sum
}

// derive computes CV, SE, Low and High of the other members.
func (e *Estimate) derive() {
	e.SE = e.Std / math.Sqrt(float64(e.N))
	e.CV = e.Std / math.Abs(e.Mean)
	if e.Mean == 0 && e.N > 1 {
		e.CV = math.Inf(1)
	}
	e.Low, e.High = e.Mean-e.T*e.SE, e.Mean+e.T*e.SE
}

// Width returns the full width of the confidence interval relative to the mean, +Inf where the mean is 0.
func (e *Estimate) Width() float64 {
	if e.Mean == 0 {
		return math.Inf(1)
	}
	return 2 * e.T * e.SE / math.Abs(e.Mean)
}

// StudentT returns the critical value of Student's t for a two-sided level: the quantile at (1+level)/2, to a
// relative error of 1e-12. It is NaN without freedom and for a level that is not between 0 and 1.
func StudentT(level, freedom float64) float64 {
	if !(freedom > 0) || !(level > 0 && level < 1) {
		return math.NaN()
	}
	nu, alpha := freedom, 1-level
	tails := func(t float64) float64 { return IncompleteBeta(nu/2, 0.5, nu/(nu+t*t), t*t/(nu+t*t)) }
	low, high := 0.0, 1.0
	for tails(high) > alpha && high < math.MaxFloat64/4 {
		low, high = high, 2*high
	}
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return middle
		}
		if tails(middle) > alpha {
			low = middle
		} else {
			high = middle
		}
	}
}

// IncompleteBeta returns the regularised incomplete beta function of a and b at x, where rest is 1−x, by its
// continued fraction (DLMF 8.17.22) on the side where it converges fast.
func IncompleteBeta(a, b, x, rest float64) float64 {
	if x > (a+1)/(a+b+2) {
		return 1 - IncompleteBeta(b, a, rest, x)
	}
	if x == 0 {
		return 0
	}
	lab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log(rest)) / a

	// Lentz's method: c and d are the ratios of neighbouring numerators and denominators.
	const tiny, enough, terms = 1e-300, 1e-16, 1 << 16
	c, d := 1.0, 1/nonZero(1-(a+b)*x/(a+1), tiny)
	fraction := d
	for k := 1.0; k <= terms; k++ {
		even := k * (b - k) * x / ((a + 2*k - 1) * (a + 2*k))
		odd := -(a + k) * (a + b + k) * x / ((a + 2*k) * (a + 2*k + 1))
		step := 1.0
		for _, coefficient := range [2]float64{even, odd} {
			d = 1 / nonZero(1+coefficient*d, tiny)
			c = nonZero(1+coefficient/c, tiny)
			step = c * d
			fraction *= step
		}
		if math.Abs(step-1) < enough {
			break
		}
	}
	return front * fraction
}

func nonZero(v, instead float64) float64 {
	if v == 0 {
		return instead
	}
	return v
}
