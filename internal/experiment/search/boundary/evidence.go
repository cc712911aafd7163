package boundary

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/experiment/search"
)

const (
	// logOffset is added to values and thresholds, as a share of the threshold, before their logarithms are taken:
	// error rates are often 0. The margin of a figure of 0 is then ln(0.05/1.05) = -3.
	logOffset = 0.05
	// marginBound bounds margins softly, as marginBound·tanh(z/marginBound): how far a limit is exceeded says little of
	// where it was met. Up to twice the limit the logarithm is kept to within 7 %.
	marginBound = 1.5
	// defaultStandardError is the standard error of a margin, relative to the threshold, that is assumed where it is
	// not known.
	defaultStandardError = 0.03
	// saturatedError is the least standard error of a margin whose server was not in a steady state.
	saturatedError = 0.3
	// minStandardError bounds what a standard error can claim: a metric of equal values would otherwise outweigh all
	// other probes and leave the covariance of the fit singular.
	minStandardError = 0.003
)

// probeOf returns a probe in the terms of the model. Errors go to the scale of the margin by its slope (the delta
// method).
func (c *Capacity) probeOf(r search.Result, e Evidence) probe {
	p := probe{load: c.next, u: math.Log(c.next), verdict: e.Verdict, seconds: e.Seconds, failed: len(r.Margins) == 0,
		excess: make([]float64, len(c.filters))}
	for i, f := range c.filters {
		mean, variance, n := moments(r.Margins, i)
		if n == 0 {
			// A condition on a figure that no trial has is not met.
			p.failed = true
			p.z, p.se = append(p.z, math.NaN()), append(p.se, math.NaN())
			continue
		}
		z, slope := logMargin(f, mean)
		se := math.NaN()
		if i < len(e.Errors) && e.Errors[i] > 0 {
			se = e.Errors[i] * slope
		} else if n > 1 {
			// A variance of few trials is drawn to the default one, which counts as one more trial.
			usual := defaultStandardError / slope
			se = slope * math.Sqrt((float64(n-1)*variance+usual*usual)/float64(n)/float64(n))
		}
		if p.verdict == Saturated {
			// The server was not in a steady state: only that a limit was exceeded counts.
			if z <= 0 {
				z, se = math.NaN(), math.NaN()
			} else {
				se = max(orElse(se, 0), saturatedError)
			}
		}
		if p.verdict == Certain {
			// What ended early says on which side of the limit it is, by three standard errors, rather than how far.
			se = max(orElse(se, 0), math.Abs(z)/3)
		}
		if se < minStandardError {
			se = minStandardError
		}
		p.z, p.se = append(p.z, z), append(p.se, se)
	}
	return p
}

// moments returns the mean and the sample variance of the margins of a filter over the trials that have one.
func moments(margins [][]float64, filter int) (mean, variance float64, n int) {
	for _, m := range margins {
		if filter < len(m) && !math.IsNaN(m[filter]) && !math.IsInf(m[filter], 0) {
			n++
			d := m[filter] - mean
			mean += d / float64(n)
			variance += d * (m[filter] - mean)
		}
	}
	if n > 1 {
		variance /= float64(n - 1)
	}
	return mean, variance, n
}

// logMargin returns a margin on the scale of the model, where it is positive if the filter is not met, and the slope of
// the scale at that margin. The scale is the logarithm of the value relative to its limit, so that a latency that grows
// as a power of the load is a straight line; where logarithms do not exist, it is the inverse hyperbolic sine.
func logMargin(f search.Filter, margin float64) (z, slope float64) {
	sign := 1.0
	if f.Op == search.GT || f.Op == search.GE {
		sign = -1
	}
	limit, value := f.Threshold, f.Threshold+sign*margin
	if strings.HasSuffix(f.Metric, "_fraction") && limit < 1 && value <= 1 {
		// Close to 1 it is what is missing that grows with the load.
		sign, limit, value = -sign, 1-limit, 1-value
	}
	if limit > 0 && value >= 0 {
		add := logOffset * limit
		z, slope = sign*math.Log((value+add)/(limit+add)), 1/(value+add)
	} else {
		unit := math.Abs(limit)
		if unit == 0 {
			unit = 1
		}
		z, slope = math.Asinh(margin/unit), 1/math.Hypot(margin, unit)
	}
	bounded := marginBound * math.Tanh(z/marginBound)
	share := bounded / marginBound
	// The derivative, 1 - tanh², must not vanish: the error of a margin at the bound would be 0.
	return bounded, slope * max(1-share*share, 0.05)
}

// inflateOutliers adds to the error of the margins that differ from the median of the probes at their load by more than
// errors explain, and to both where there are two: the part of the difference beyond outlierDeviations standard
// deviations, in quadrature, so that an outlier weighs little but is not thrown away.
func (c *Capacity) inflateOutliers(u float64) {
	for f := range c.filters {
		var zs []float64
		for _, p := range c.probes {
			if p.hasMargin(f) && p.u == u {
				zs = append(zs, p.z[f])
			}
		}
		if len(zs) < 2 {
			continue
		}
		slices.Sort(zs)
		n := len(zs)
		median := (zs[(n-1)/2] + zs[n/2]) / 2
		for i := range c.probes {
			p := &c.probes[i]
			if p.hasMargin(f) && p.u == u {
				d, e := p.z[f]-median, outlierDeviations*deviation(p.se[f], c.posterior.noise)
				p.excess[f] = math.Sqrt(max(d*d-e*e, 0))
			}
		}
	}
}

// outlierDeviations is the number of standard deviations from which a margin is an outlier among those of its load: the
// usual three-sigma rule, 0.3 % of normal errors.
const outlierDeviations = 3

// hasMargin reports that a margin of the probe is known.
func (p *probe) hasMargin(filter int) bool {
	return p.verdict != ClientLimited && !math.IsNaN(p.z[filter])
}
