package boundary

import "math"

// most is the largest step, as a logarithm, to a load that no probe has bracketed.
var most = math.Log(8)

// decide ends the search or chooses the next load.
func (c *Capacity) decide() {
	switch {
	case c.ended():
	case c.options.Budget > 0 && c.seconds >= c.options.Budget:
		c.reason = CapacityBudget
	case len(c.probes) >= c.options.MaxProbes:
		c.reason = CapacityMaxProbes
	default:
		c.next = c.round(math.Exp(c.choose()))
	}
}

// ended sets the reason if the answer is known.
func (c *Capacity) ended() bool {
	b := &c.belief
	lo, hi := math.Log(c.dim.Lo), math.Log(c.dim.Hi)
	switch {
	case b.pass >= hi:
		c.reason = CapacityNoFailure
	case b.fail <= lo:
		c.reason = CapacityNoPass
	case math.IsNaN(b.fail) && !math.IsNaN(b.limited) && !math.IsNaN(b.pass) && c.near(b.pass, b.limited):
		c.reason = CapacityClientLimited
	case math.IsNaN(b.pass) && b.limited <= lo:
		c.reason = CapacityClientLimited
	default:
		a := c.Answer()
		narrow := a.High-a.Low <= c.options.Precision*a.Estimate || c.dim.Int && a.High == a.Low
		if narrow && !math.IsNaN(b.pass) && !math.IsNaN(b.fail) && b.fails > 1 && (b.passes > 1 || b.pass <= lo) {
			c.reason = CapacityPrecision
		}
	}
	return c.reason != ""
}

// near reports that no probe between two loads is worth its time.
func (c *Capacity) near(u, v float64) bool {
	return v-u <= 2*c.options.Precision || c.dim.Int && math.Exp(v)-math.Exp(u) < 1.5
}

// choose returns the logarithm of the next load.
func (c *Capacity) choose() float64 {
	b := &c.belief
	switch {
	case math.IsNaN(b.fail):
		return c.up()
	case math.IsNaN(b.pass):
		return c.down()
	}
	gap := b.fail - b.pass
	low, middle, high := c.bounds(b.cdf)
	low, middle, high = max(low, b.pass-gap), min(max(middle, b.pass-gap), b.fail+gap), min(high, b.fail+gap)
	if gap > 0.45 {
		guard := 0.15
		if c.sameSide() {
			guard = 0.4
		}
		return min(max(middle, b.pass+guard*gap), b.fail-guard*gap)
	}
	if high-low <= 0.9*c.options.Precision {
		// One outlier must not decide.
		if b.fails == 1 {
			return b.fail
		} else if b.passes == 1 && b.pass > math.Log(c.dim.Lo) {
			return b.pass
		}
		return c.confirm(low, middle, high)
	}
	return c.tellmost(low, middle, high)
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

// confirm returns a load that shows that the boundary is on the inner side of it, where the bracket is wider.
func (c *Capacity) confirm(low, middle, high float64) float64 {
	b := &c.belief
	out := 0.45 * c.options.Precision
	if middle-b.pass > b.fail-middle {
		return c.fresh(max(min(low, middle-out), b.pass), middle)
	}
	return c.fresh(min(max(high, middle+out), b.fail), middle)
}

// fresh returns u, or middle where u is an end of the bracket, so that nothing is learnt there.
func (c *Capacity) fresh(u, middle float64) float64 {
	if x := c.round(math.Exp(u)); x == c.round(math.Exp(c.belief.pass)) || x == c.round(math.Exp(c.belief.fail)) {
		return middle
	}
	return u
}

// tellmost returns the load at which a probe is expected to say most of where the boundary is.
func (c *Capacity) tellmost(low, middle, high float64) float64 {
	const candidates = 15
	b := &c.belief
	best, binding := -1.0, -1
	for f := range c.filters {
		if b.binding[f] > best {
			best, binding = b.binding[f], f
		}
	}
	if b.binding[len(c.filters)] > best || !(high > low) {
		return middle
	}
	us, weights := make([]float64, candidates), make([]float64, candidates)
	before := 0.0
	for i := range us {
		us[i] = low + (high-low)*(float64(i)+0.5)/candidates
		after := interpolate(b.us, b.cdf, low+(high-low)*(float64(i)+1)/candidates)
		weights[i], before = max(after-before, 0), after
	}
	gains := b.fits[binding].gain(us, weights, usualError)
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
	at := (u - us[0]) / (us[n] - us[0]) * float64(n)
	i := min(int(at), n-1)
	return values[i] + (at-float64(i))*(values[i+1]-values[i])
}

// contradicts reports that a probe is sure to be on the other side of the bracket.
func (c *Capacity) contradicts(p probe) bool {
	if p.verdict == ClientLimited {
		return false
	}
	chance := c.chance([]probe{p}, c.belief.noise)
	return p.u <= c.belief.pass && chance <= 1-sure || p.u >= c.belief.fail && chance >= sure
}
