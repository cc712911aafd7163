package boundary

import (
	"math"
	"slices"
)

// maxStep is the largest step, as a logarithm, to a load that no probe has bracketed: three doublings at once cover a
// range of a thousand in four probes, and overload the server by no more than eight times what it was seen to carry.
var maxStep = math.Log(8)

const (
	// wideBracket is the width of a bracket, as a logarithm (a ratio of 1.57), from which it is halved rather than
	// refined: the margin bends too much over it for the fit to choose a load.
	wideBracket = 0.45
	// refineShare is the share of the precision that the interval of the fits must reach before probes confirm its
	// ends: the answer's own interval, of the mixture, is a little wider.
	refineShare = 0.9
	// confirmDeviations is how many standard deviations of a probe the fitted margin must be from 0 for the probe to be
	// expected to be decisive: 1.96 for the probability, and a little for the error of the fit.
	confirmDeviations = 2.4
	// candidates is the number of loads within the interval that are compared by what a probe at them would tell.
	candidates = 15
)

// decide ends the search or chooses the next load.
func (c *Capacity) decide() {
	switch {
	case c.ended():
	case c.options.Budget > 0 && !c.affordsProbe():
		c.reason = CapacityBudget
	case len(c.probes) >= c.options.MaxProbes:
		c.reason = CapacityMaxProbes
	case c.confirms:
		c.next = c.confirming
	default:
		c.next = c.unsettled(c.round(math.Exp(c.choose())))
	}
}

// affordsProbe reports that the budget has room for one more probe.
func (c *Capacity) affordsProbe() bool {
	each := c.elapsed / float64(len(c.probes))
	return c.seconds < c.options.Budget && c.elapsed+each <= c.options.Budget
}

// unsettled returns the load itself, or its neighbour inside the bracket if the load is an end of the bracket that more
// than one probe settles.
func (c *Capacity) unsettled(x float64) float64 {
	post := &c.posterior
	pass, fail := c.round(math.Exp(post.pass)), c.round(math.Exp(post.fail))
	switch {
	case !c.dim.Int || !(fail-pass > 1):
	case x == pass && c.passCorroborated():
		return pass + 1
	case x == fail && !c.failUncorroborated():
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
		for _, d := range append(slices.Clone(at[i][0].excess), at[i][1].excess...) {
			ok = ok || d > 0
		}
		return last.u, ok && (at[i][0].worst() > 0) != (at[i][1].worst() > 0)
	}
	return last.u, false
}

// choose returns the logarithm of the next load, by the first of these that applies: a load whose two probes disagree
// is probed a third time; the open side of the bracket is closed; a wide bracket is halved; an interval that is narrow
// enough is confirmed; a cliff is halved, since its fit is of no use; else the most informative load is probed.
func (c *Capacity) choose() float64 {
	post := &c.posterior
	if u, ok := c.disputed(); ok {
		return u
	}
	switch {
	case math.IsNaN(post.fail) && c.count(c.dim.Hi) < 2:
		return c.up()
	case math.IsNaN(post.pass) && c.count(c.dim.Lo) < 2:
		return c.down()
	}
	gap := post.to - post.from
	low, middle, high := c.credibleInterval(post.cdf)
	low, middle, high = max(low, post.from-gap), min(max(middle, post.from-gap), post.to+gap), min(high, post.to+gap)
	up := post.to-middle > middle-post.from
	if gap > wideBracket && c.undecidedInside() {
		return c.confirm(low, middle, high, up)
	} else if gap > wideBracket {
		guard := 0.15
		if c.sameSide() {
			guard = 0.4
		}
		// Latencies rise slowly, then fast: the boundary is above where a straight line has it.
		return min(max(middle, post.from+0.5*gap), post.to-guard*gap)
	}
	if high-low <= refineShare*c.options.Precision {
		switch a := c.Answer(); {
		case !c.narrow(&a):
			return c.confirm(low, middle, high, up)
		// The interval is narrow, but one outlier must not decide.
		case c.failUncorroborated():
			return post.to
		case !c.passCorroborated():
			return post.from
		}
		return c.confirm(low, middle, high, up)
	}
	if post.slope > (smoothSlope+cliffSlope)/2 && !c.undecidedInside() {
		return post.from + gap/2
	}
	return c.mostInformative(low, middle, high)
}

// undecidedInside reports that a probe inside the bracket did not settle whether its load holds.
func (c *Capacity) undecidedInside() bool {
	for _, p := range c.probes {
		if p.verdict != ClientLimited && p.u > c.posterior.from && p.u < c.posterior.to {
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
	above := func(p probe) bool { return p.u >= c.posterior.fail }
	return above(c.probes[n-1]) == above(c.probes[n-2])
}

// up returns a load above all that are known to hold. The step grows with the distance of the margin from its limit, as
// if the margin rose by two thirds of the load's logarithm, and is cut by the slope where two probes tell one: an
// overshoot costs a whole probe of an overloaded server.
func (c *Capacity) up() float64 {
	top, limited := math.Log(c.dim.Hi), false
	if post := &c.posterior; !math.IsNaN(post.limited) {
		top, limited = post.limited, true
	}
	u, z := math.Inf(-1), 0.0
	for _, p := range c.probes {
		if p.verdict != ClientLimited && p.u >= u {
			u, z = p.u, p.worst()
		}
	}
	if math.IsInf(u, -1) {
		return c.belowLimited(top)
	}
	if limited {
		return (u + top) / 2
	}
	step := min(max(1.5*-z, 0.2), maxStep)
	if s := c.steepness(u); s > 0 && z < 0 {
		step = min(step, max(1.2*-z/s, 0.1))
	}
	if u+step > top-0.1 {
		return top
	}
	return u + step
}

// down returns a load below all that are known not to hold: further down the further the limit is exceeded.
func (c *Capacity) down() float64 {
	bottom := math.Log(c.dim.Lo)
	u, z := math.Inf(1), 0.0
	for _, p := range c.probes {
		if p.verdict != ClientLimited && p.u <= u {
			u, z = p.u, p.worst()
		}
	}
	step := min(max(1.2*z, 0.15), maxStep)
	if u-step < bottom+0.1 {
		return bottom
	}
	return u - step
}

// belowLimited returns a load well below one that the client did not reach.
func (c *Capacity) belowLimited(top float64) float64 {
	return max(math.Log(c.dim.Lo), top-maxStep/2)
}

// worst returns the largest margin of a probe; a server that could not keep up is at the ceiling.
func (p *probe) worst() float64 {
	if p.failed || p.verdict == Saturated {
		return marginBound
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

// confirm returns the load nearest to the boundary at which a probe is expected to be decisive: not to hold with up, to
// hold without; high or low if there is none in the bracket.
func (c *Capacity) confirm(low, middle, high float64, up bool) float64 {
	post := &c.posterior
	end := post.from
	if up {
		end = post.to
	}
	f := c.likeliestBinding()
	if f == len(c.filters) {
		return (middle + end) / 2
	}
	us := make([]float64, 12)
	for i := range us {
		us[i] = middle + (end-middle)*float64(i+1)/float64(len(us)+1)
	}
	for i, z := range post.fits[f].mean(us) {
		if math.Abs(z) > confirmDeviations*deviation(c.standardErrorNear(f), post.noise) {
			return us[i]
		}
	}
	if up {
		return high
	}
	return low
}

// likeliestBinding returns the place in posterior.binding of what limits the load first.
func (c *Capacity) likeliestBinding() int {
	best := 0
	for f, p := range c.posterior.binding {
		if p > c.posterior.binding[best] {
			best = f
		}
	}
	return best
}

// standardErrorNear returns the standard error of a margin in the probe nearest to the boundary, NaN if it is not
// known.
func (c *Capacity) standardErrorNear(filter int) float64 {
	_, middle, _ := c.credibleInterval(c.posterior.cdf)
	se, distance := math.NaN(), math.Inf(1)
	for _, p := range c.probes {
		if d := math.Abs(p.u - middle); p.verdict == Measured && !math.IsNaN(p.z[filter]) && d < distance {
			se, distance = p.se[filter], d
		}
	}
	return se
}

// mostInformative returns the load at which a probe is expected to reduce the variance of the margin most where the
// boundary may be: the acquisition function is fit.varianceReduction, weighted by the posterior of the boundary.
func (c *Capacity) mostInformative(low, middle, high float64) float64 {
	post := &c.posterior
	binding := c.likeliestBinding()
	if binding == len(c.filters) || !(high > low) {
		return middle
	}
	us, weights := make([]float64, candidates), make([]float64, candidates)
	before := 0.0
	for i := range us {
		us[i] = low + (high-low)*(float64(i)+0.5)/candidates
		after := interpolate(post.grid, post.cdf, low+(high-low)*(float64(i)+1)/candidates)
		weights[i], before = max(after-before, 0), after
	}
	se := orElse(c.standardErrorNear(binding), defaultStandardError)
	gains := post.fits[binding].varianceReduction(us, weights, se)
	load, most := middle, -1.0
	for i, g := range gains {
		if g > most {
			load, most = us[i], g
		}
	}
	return load
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
	feasible := c.feasibility([]probe{p}, c.posterior.noise)
	return p.u <= c.posterior.pass && feasible <= 1-decisiveProbability ||
		p.u >= c.posterior.fail && feasible >= decisiveProbability
}
