package stats

import "math"

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
	var m Moments
	for _, v := range values {
		m.Add(v)
	}
	s := m.Summary()
	e := Estimate{N: len(values), Mean: s.Avg, Min: s.Min, Max: s.Max, Std: m.SampleStd(),
		T: StudentT(level, float64(len(values)-1))}
	e.SE = e.Std / math.Sqrt(float64(e.N))
	e.CV = e.Std / math.Abs(e.Mean)
	if e.Mean == 0 && e.N > 1 {
		e.CV = math.Inf(1)
	}
	e.Low, e.High = e.Mean-e.T*e.SE, e.Mean+e.T*e.SE
	return e
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
