package boundary

import (
	"math"
	"slices"
)

// most is the largest step, as a logarithm, to a load that no probe has bracketed.
var most = math.Log(8)

// wide is the width of a bracket, as a logarithm, from which it is halved rather than refined.
const wide = 0.45

// decide ends the search or chooses the next load.
func (c *Capacity) decide() {
	switch {
	case c.ended():
	case c.options.Budget > 0 && c.seconds >= c.options.Budget:
		c.reason = CapacityBudget
	case len(c.probes) >= c.options.MaxProbes:
		c.reason = CapacityMaxProbes
	default:
		c.next = c.unsettled(c.round(math.Exp(c.choose())))
	}
}

// unsettled returns the load itself, or its neighbour inside the bracket if the load is an end of the bracket that more
// than one probe settles.
func (c *Capacity) unsettled(x float64) float64 {
	b := &c.belief
	pass, fail := c.round(math.Exp(b.pass)), c.round(math.Exp(b.fail))
	switch {
	case !c.dim.Int || !(fail-pass > 1):
	case x == pass && c.founded():
		return pass + 1
	case x == fail && !c.lone():
		return fail - 1
	}
	return x
}

// disputed returns the last load if two probes of it disagree.
func (c *Capacity) disputed() (u float64, ok bool) {
	last := c.probes[len(c.probes)-1]
	loads, at := c.reached()
	for i := range loads {
		if loads[i] != last.u || len(at[i]) != 2 {
			continue
		}
		for _, d := range append(slices.Clone(at[i][0].doubt), at[i][1].doubt...) {
			ok = ok || d > 0
		}
		return last.u, ok && (at[i][0].worst() > 0) != (at[i][1].worst() > 0)
	}
	return last.u, false
}

// choose returns the logarithm of the next load.
func (c *Capacity) choose() float64 {
	b := &c.belief
	if u, ok := c.disputed(); ok {
		return u
	}
	switch {
	case math.IsNaN(b.fail) && c.count(c.dim.Hi) < 2:
		return c.up()
	case math.IsNaN(b.pass) && c.count(c.dim.Lo) < 2:
		return c.down()
	}
	gap := b.to - b.from
	low, middle, high := c.bounds(b.cdf)
	low, middle, high = max(low, b.from-gap), min(max(middle, b.from-gap), b.to+gap), min(high, b.to+gap)
	up := b.to-middle > middle-b.from
	if gap > wide && c.open() {
		return c.confirm(low, middle, high, up)
	} else if gap > wide {
		guard := 0.15
		if c.sameSide() {
			guard = 0.4
		}
		// Latencies rise slowly, then fast: the boundary is above where a straight line has it.
		return min(max(middle, b.from+0.5*gap), b.to-guard*gap)
	}
	if high-low <= 0.9*c.options.Precision {
		switch a := c.Answer(); {
		case !c.narrow(&a):
			return c.confirm(low, middle, high, up)
		// The interval is narrow, but one outlier must not decide.
		case c.lone():
			return b.to
		case !c.founded():
			return b.from
		}
		return c.confirm(low, middle, high, up)
	}
	if b.slope > (gentle+steep)/2 && !c.open() {
		return b.from + gap/2
	}
	return c.tellmost(low, middle, high)
}

// open reports that a probe inside the bracket did not settle whether its load holds.
func (c *Capacity) open() bool {
	for _, p := range c.probes {
		if p.verdict != ClientLimited && p.u > c.belief.from && p.u < c.belief.to {
			return true
		}
	}
	return false
}

// sameSide reports that the last two probes had the same outcome.
func (c *Capacity) sameSide() bool {
	n := len(c.probes)
	if n < 3 {
		return false
	}
	above := func(p probe) bool { return p.u >= c.belief.fail }
	return above(c.probes[n-1]) == above(c.probes[n-2])
}

// up returns a load above all that are known to hold.
func (c *Capacity) up() float64 {
	top, limited := math.Log(c.dim.Hi), false
	if b := &c.belief; !math.IsNaN(b.limited) {
		top, limited = b.limited, true
	}
	u, z := math.Inf(-1), 0.0
	for _, p := range c.probes {
		if p.verdict != ClientLimited && p.u >= u {
			u, z = p.u, p.worst()
		}
	}
	if math.IsInf(u, -1) {
		return c.under(top)
	}
	if limited {
		return (u + top) / 2
	}
	step := min(max(1.5*-z, 0.2), most)
	if s := c.steepness(u); s > 0 && z < 0 {
		step = min(step, max(1.2*-z/s, 0.1))
	}
	if u+step > top-0.1 {
		return top
	}
	return u + step
}

// down returns a load below all that are known not to hold.
func (c *Capacity) down() float64 {
	bottom := math.Log(c.dim.Lo)
	u, z := math.Inf(1), 0.0
	for _, p := range c.probes {
		if p.verdict != ClientLimited && p.u <= u {
			u, z = p.u, p.worst()
		}
	}
	step := min(max(1.2*z, 0.15), most)
	if u-step < bottom+0.1 {
		return bottom
	}
	return u - step
}

// under returns a load well below one that the client did not reach.
func (c *Capacity) under(top float64) float64 {
	return max(math.Log(c.dim.Lo), top-most/2)
}

// worst returns the largest margin of a probe; a server that could not keep up is at the ceiling.
func (p *probe) worst() float64 {
	if p.failed || p.verdict == Saturated {
		return ceiling
	}
	w := math.Inf(-1)
	for _, z := range p.z {
		if !math.IsNaN(z) {
			w = max(w, z)
		}
	}
	return w
}

// steepness returns the slope of the largest margin between the load at u and the next smaller one, 0 if there is none.
func (c *Capacity) steepness(u float64) float64 {
	below, at, z := math.Inf(-1), 0.0, 0.0
	for _, p := range c.probes {
		switch {
		case p.verdict == ClientLimited:
		case p.u == u:
			at = p.worst()
		case p.u < u && p.u > below:
			below, z = p.u, p.worst()
		}
	}
	if math.IsInf(below, -1) {
		return 0
	}
	return (at - z) / (u - below)
}

// confirm returns the load nearest to the boundary that is expected to be sure not to hold, or, below it, to hold; high
// or low if there is none in the bracket.
func (c *Capacity) confirm(low, middle, high float64, up bool) float64 {
	b := &c.belief
	end := b.from
	if up {
		end = b.to
	}
	f := c.likely()
	if f == len(c.filters) {
		return (middle + end) / 2
	}
	us := make([]float64, 12)
	for i := range us {
		us[i] = middle + (end-middle)*float64(i+1)/float64(len(us)+1)
	}
	for i, z := range b.fits[f].mean(us) {
		if math.Abs(z) > 2.4*deviation(c.usual(f), b.noise) {
			return us[i]
		}
	}
	if up {
		return high
	}
	return low
}

// likely returns the place of what limits the load first in belief.binding.
func (c *Capacity) likely() int {
	best := 0
	for f, p := range c.belief.binding {
		if p > c.belief.binding[best] {
			best = f
		}
	}
	return best
}

// usual returns the standard error of a margin in the probe nearest to the boundary, NaN if it is not known.
func (c *Capacity) usual(filter int) float64 {
	_, middle, _ := c.bounds(c.belief.cdf)
	se, distance := math.NaN(), math.Inf(1)
	for _, p := range c.probes {
		if d := math.Abs(p.u - middle); p.verdict == Measured && !math.IsNaN(p.z[filter]) && d < distance {
			se, distance = p.se[filter], d
		}
	}
	return se
}

// tellmost returns the load at which a probe is expected to say most of where the boundary is.
func (c *Capacity) tellmost(low, middle, high float64) float64 {
	const candidates = 15
	b := &c.belief
	binding := c.likely()
	if binding == len(c.filters) || !(high > low) {
		return middle
	}
	us, weights := make([]float64, candidates), make([]float64, candidates)
	before := 0.0
	for i := range us {
		us[i] = low + (high-low)*(float64(i)+0.5)/candidates
		after := interpolate(b.us, b.cdf, low+(high-low)*(float64(i)+1)/candidates)
		weights[i], before = max(after-before, 0), after
	}
	gains := b.fits[binding].gain(us, weights, orElse(c.usual(binding), usualError))
	place, most := middle, -1.0
	for i, g := range gains {
		if g > most {
			place, most = us[i], g
		}
	}
	return place
}

// interpolate returns the value of a piecewise linear function at u.
func interpolate(us, values []float64, u float64) float64 {
	n := len(us) - 1
	if u <= us[0] || n == 0 {
		return values[0]
	}
	if u >= us[n] {
		return values[n]
	}
	i, _ := slices.BinarySearch(us, u)
	return values[i-1] + (values[i]-values[i-1])*(u-us[i-1])/(us[i]-us[i-1])
}

// contradicts reports that a probe is sure to be on the other side of the bracket.
func (c *Capacity) contradicts(p probe) bool {
	if p.verdict == ClientLimited {
		return false
	}
	chance := c.chance([]probe{p}, c.belief.noise)
	return p.u <= c.belief.pass && chance <= 1-sure || p.u >= c.belief.fail && chance >= sure
}
