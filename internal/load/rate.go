package load

import (
	"math"
	"sort"

	"aiperf/internal/base/random"
)

// rateIntegral is a rate that changes, as its integral over time: units returns how many arrivals of unit mean
// inter-arrival time the time up to an instant holds, instant is the inverse. Instants are nanoseconds from the start
// of the phase.
type rateIntegral interface {
	units(ns float64) float64
	instant(units float64) float64
}

// newRateIntegral returns the integral of the rate of arrivals, nil where the rate is constant.
func newRateIntegral(a Arrivals, seed random.Seed) rateIntegral {
	switch {
	case len(a.Series) > 0:
		return seriesRate(a.Series)
	case a.Ramp.Duration > 0 && a.Pattern != Burst:
		return rampRate(a.Rate, a.Ramp, rampDraws(seed, rateDraws))
	}
	return nil
}

const perNS = 1e-9

// rateSegment is a time in which the rate changes evenly, until the next segment or for ever.
type rateSegment struct {
	// fromNS is its start, fromUnits the integral up to it.
	fromNS, fromUnits float64
	// rate in arrivals per nanosecond at its start, slope its change per nanosecond.
	rate, slope float64
}

func (s rateSegment) units(ns float64) float64 {
	x := ns - s.fromNS
	return s.fromUnits + x*(s.rate+s.slope*x/2)
}

func (s rateSegment) instant(units float64) float64 {
	u := units - s.fromUnits
	if u == 0 {
		return s.fromNS
	}
	// The root of the quadratic in the form that does not cancel.
	return s.fromNS + 2*u/(s.rate+math.Sqrt(max(0, s.rate*s.rate+2*s.slope*u)))
}

// rateSegments follow each other; the first begins at 0.
type rateSegments []rateSegment

func (s rateSegments) units(ns float64) float64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].fromNS > ns })
	return s[max(0, i-1)].units(ns)
}

func (s rateSegments) instant(units float64) float64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].fromUnits > units })
	return s[max(0, i-1)].instant(units)
}

// then adds a segment that begins at an instant, with rates per second.
func (s rateSegments) then(ns, rate, slopePerNS float64) rateSegments {
	units := 0.0
	if len(s) > 0 {
		units = s[len(s)-1].units(ns)
	}
	return append(s, rateSegment{ns, units, rate * perNS, slopePerNS * perNS})
}

func seriesRate(points []RatePoint) rateIntegral {
	var s rateSegments
	if points[0].At > 0 {
		s = s.then(0, points[0].Rate, 0)
	}
	for i, p := range points[:len(points)-1] {
		next := points[i+1]
		s = s.then(float64(p.At), p.Rate, (next.Rate-p.Rate)/float64(next.At-p.At))
	}
	last := points[len(points)-1]
	return s.then(float64(last.At), last.Rate, 0)
}

// startRate returns where the ramp to a rate begins.
func (r RateRamp) startRate(target float64) float64 {
	return min(target, target*float64(r.Interval)/float64(r.Duration))
}

func rampRate(rate float64, r RateRamp, draw random.Rand) rateIntegral {
	start, took := r.startRate(rate), float64(r.Duration)
	switch r.Strategy {
	case Exponential:
		return powerRamp{start: start * perNS, growth: (rate - start) * perNS, took: took, exponent: r.exponent()}
	case RandomSteps:
		if start == rate {
			break
		}
		fractions := randomFractions(1/(rate-start), draw)
		s := rateSegments{}.then(0, start, 0)
		for i, fraction := range fractions {
			s = s.then(fraction*took, start+(rate-start)*float64(i+1)/float64(len(fractions)), 0)
		}
		return s
	}
	return rateSegments{}.then(0, start, (rate-start)/took).then(took, rate, 0)
}

// powerRamp grows from start by growth as a power of time and stays there; rates are per nanosecond.
type powerRamp struct{ start, growth, took, exponent float64 }

func (p powerRamp) units(ns float64) float64 {
	if ns > p.took {
		return p.units(p.took) + (ns-p.took)*(p.start+p.growth)
	}
	return p.start*ns + p.growth*p.took/(p.exponent+1)*math.Pow(ns/p.took, p.exponent+1)
}

func (p powerRamp) instant(units float64) float64 {
	if ramped := p.units(p.took); units >= ramped {
		return p.took + (units-ramped)/(p.start+p.growth)
	}
	low, high := 0.0, p.took
	for range 64 { // halves until neighbouring numbers
		if middle := (low + high) / 2; p.units(middle) < units {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
