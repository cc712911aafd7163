package stats

import "math"

// StudentQuantile is the quantile p, in (0, 1), of Student's t distribution with df > 0 degrees of
// freedom, to a relative error of about 1e-12: the inverse of its distribution function, which is a
// regularised incomplete beta function.
func StudentQuantile(p, df float64) float64 {
	switch {
	case !(p > 0 && p < 1) || !(df > 0):
		return math.NaN()
	case p < 0.5:
		return -StudentQuantile(1-p, df)
	case p == 0.5:
		return 0
	}
	upper := 1 - p
	low, high := 0.0, 1.0
	for studentTail(high, df) > upper {
		low, high = high, 2*high
		if math.IsInf(high, 1) {
			return high
		}
	}
	for range 200 {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if studentTail(middle, df) > upper {
			low = middle
		} else {
			high = middle
		}
	}
	return low + (high-low)/2
}

// studentTail is P(T > t) for t ≥ 0.
func studentTail(t, df float64) float64 {
	return regularizedBeta(df/(df+t*t), df/2, 0.5) / 2
}

// regularizedBeta is the incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22)
// on the side where it converges fast.
func regularizedBeta(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - regularizedBeta(1-x, b, a)
	}
	lga, _ := math.Lgamma(a)
	lgb, _ := math.Lgamma(b)
	lgab, _ := math.Lgamma(a + b)
	front := math.Exp(lgab-lga-lgb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const (
		tiny  = 1e-300
		steps = 10_000
	)
	// Lentz's method, from the first term on.
	f, c, d := 1.0, 1.0, 0.0
	for i := range steps {
		m := float64(i / 2)
		var term float64
		switch {
		case i == 0:
			term = 1
		case i%2 == 0:
			term = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + term*d; math.Abs(d) < tiny {
			d = tiny
		}
		if c = 1 + term/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		f *= c * d
		if i > 0 && math.Abs(c*d-1) < 1e-16 {
			break
		}
	}
	return front * (f - 1)
}
