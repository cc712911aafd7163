package boundary

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/experiment/search"
)

const (
	// offset is added to values and thresholds, as a share of the threshold, before their logarithms are taken: error
	// rates are often 0.
	offset = 0.05
	// ceiling bounds margins softly: how far a limit is exceeded says little of where it was met.
	ceiling = 1.5
	// usualError is the standard error of a margin, relative to the threshold, that is assumed where it is not known.
	usualError = 0.03
	// leastError bounds what a standard error can claim.
	leastError = 0.003
)

// read returns a probe in the terms of the model.
func (c *Capacity) read(r search.Result, e Evidence) probe {
	p := probe{load: c.next, u: math.Log(c.next), verdict: e.Verdict, seconds: e.Seconds, failed: len(r.Margins) == 0,
		doubt: make([]float64, len(c.filters))}
	for i, f := range c.filters {
		mean, variance, n := moments(r.Margins, i)
		if n == 0 {
			// A condition on a figure that no trial has is not met.
			p.failed = true
			p.z, p.se = append(p.z, math.NaN()), append(p.se, math.NaN())
			continue
		}
		z, slope := scaled(f, mean)
		se := math.NaN()
		if i < len(e.Errors) && e.Errors[i] > 0 {
			se = e.Errors[i] * slope
		} else if n > 1 {
			// A variance of few trials is drawn to the usual one.
			usual := usualError / slope
			se = slope * math.Sqrt((float64(n-1)*variance+usual*usual)/float64(n)/float64(n))
		}
		if p.verdict == Saturated {
			// The server was not in a steady state: only that a limit was exceeded counts.
			if z <= 0 {
				z, se = math.NaN(), math.NaN()
			} else {
				se = max(se, 0.3)
				if math.IsNaN(se) {
					se = 0.3
				}
			}
		}
		if p.verdict == Certain {
			// What ended early says on which side of the limit it is rather than how far.
			se = max(orElse(se, 0), math.Abs(z)/3)
		}
		if se < leastError {
			se = leastError
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

// scaled returns a margin on the scale of the model, where it is positive if the filter is not met, and the slope of
// the scale at that margin.
func scaled(f search.Filter, margin float64) (z, slope float64) {
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
		add := offset * limit
		z, slope = sign*math.Log((value+add)/(limit+add)), 1/(value+add)
	} else {
		unit := math.Abs(limit)
		if unit == 0 {
			unit = 1
		}
		z, slope = math.Asinh(margin/unit), 1/math.Hypot(margin, unit)
	}
	bent := ceiling * math.Tanh(z/ceiling)
	rest := bent / ceiling
	return bent, slope * max(1-rest*rest, 0.05)
}

// dispute weighs down the margins of a probe that differ from the median of the probes at its load by more than errors
// explain, and both where there are two.
func (c *Capacity) dispute(u float64) {
	for f := range c.filters {
		var zs []float64
		for _, p := range c.probes {
			if p.counts(f) && p.u == u {
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
			if p.counts(f) && p.u == u {
				d, e := p.z[f]-median, outlying*deviation(p.se[f], c.belief.noise)
				p.doubt[f] = math.Sqrt(max(d*d-e*e, 0))
			}
		}
	}
}

// outlying is the number of standard deviations from which a margin is an outlier among those of its load.
const outlying = 3

// counts reports that a margin of the probe is known.
func (p *probe) counts(filter int) bool {
	return p.verdict != ClientLimited && !math.IsNaN(p.z[filter])
}
