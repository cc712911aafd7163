package boundary

import (
	"math"
	"slices"
)

const (
	// doubt is the least weight of the belief that the model knows nothing inside the bracket; gentle is the slope of a
	// margin, relative to that of the load, from which it is more, and steep that of a cliff.
	doubt  = 0.05
	gentle = 4.0
	steep  = 12.0
	// beyond is by how much an even distribution is wider than its bracket.
	beyond = 0.03
	// nearby is the distance, as a logarithm, at which probes say the same of a steep rise.
	nearby = 0.12
	// sure is the probability from which a probe is taken as feasible or infeasible.
	sure = 0.975
	// places is the number of places at which the distribution of the boundary is computed.
	places = 97
	// view is how far below and above the bracket, as a logarithm, probes are part of the fit.
	view = 2.0
)

// belief is what the probes so far say of the boundary.
type belief struct {
	// pass and fail are the bracket as logarithms, NaN where there is none. Contradictory probes are outvoted.
	pass, fail float64
	// from and to are the bracket, with the ends of the range where it is open.
	from, to float64
	// limited is the smallest load above all that the client reached and that it did not reach, NaN if there is none.
	limited float64
	// us and cdf are the distribution function of the boundary without doubt, doubted is the one with it.
	us, cdf, doubted []float64
	fits             []fit
	// binding is the probability of each filter, and then of saturation, that it limits the load first.
	binding []float64
	// fails counts the probes that are sure not to hold.
	fails int
	// witnesses are the sure failures at fail and little above it.
	witnesses int
	// slope is the rise of the largest margin in the bracket, relative to that of the load.
	slope float64
	noise float64
}

// deviation returns the standard deviation of a margin of a probe.
func deviation(se, noise float64) float64 {
	if math.IsNaN(se) {
		se = usualError
	}
	return math.Hypot(se, noise)
}

// chance returns the probability that a load holds by the probes at it alone.
func (c *Capacity) chance(at []probe, noise float64) float64 {
	p := 1.0
	for f := range c.filters {
		sum, weight := 0.0, 0.0
		for _, r := range at {
			if !math.IsNaN(r.z[f]) {
				d := math.Hypot(math.Hypot(deviation(r.se[f], noise), r.doubt[f]), c.wander(&r))
				sum, weight = sum+r.z[f]/(d*d), weight+1/(d*d)
			}
		}
		if weight > 0 {
			p *= normal(-sum / math.Sqrt(weight))
		}
	}
	if decided(at) {
		p = math.Round(p)
	}
	return min(p, ceilingOf(at))
}

// decided reports that a probe is certain and none of the others disagrees.
func decided(at []probe) bool {
	certain := false
	for _, r := range at {
		certain = certain || r.verdict == Certain
		if (r.worst() > 0) != (at[0].worst() > 0) {
			return false
		}
	}
	return certain
}

// ceilingOf bounds the probability that a load holds by the probes at it that the server did not carry.
func ceilingOf(at []probe) float64 {
	bad := 0
	for _, r := range at {
		if r.failed || r.verdict == Saturated {
			bad++
		}
	}
	switch {
	case 2*bad > len(at):
		return 0
	case 2*bad == len(at):
		return 0.5
	}
	return 1
}

// reached returns the loads that were reached, as logarithms in ascending order, and the probes at each.
func (c *Capacity) reached() (us []float64, at [][]probe) {
	by := map[float64][]probe{}
	for _, p := range c.probes {
		if p.verdict != ClientLimited {
			by[p.u] = append(by[p.u], p)
		}
	}
	for u := range by {
		us = append(us, u)
	}
	slices.Sort(us)
	for _, u := range us {
		at = append(at, by[u])
	}
	return us, at
}

// bracket finds the pair of loads between which the boundary lies by most of the sure probes; of equal ones, the upper.
func (b *belief) bracket(us, chances []float64, at [][]probe) {
	b.pass, b.fail, b.fails, b.witnesses = math.NaN(), math.NaN(), 0, 0
	wrong := 0
	for i, p := range chances {
		if p >= sure {
			wrong += len(at[i])
		} else if p <= 1-sure {
			b.fails += len(at[i])
		}
	}
	// All loads infeasible: each sure pass is wrong.
	least, split := wrong, 0
	for i, p := range chances {
		if p >= sure {
			wrong -= len(at[i])
		} else if p <= 1-sure {
			wrong += len(at[i])
		}
		if wrong <= least {
			least, split = wrong, i+1
		}
	}
	for i, p := range chances {
		if i < split && p >= sure {
			b.pass = us[i]
		} else if i >= split && p <= 1-sure {
			b.fail = min(orElse(b.fail, us[i]), us[i])
			if us[i] < b.fail+nearby {
				b.witnesses += len(at[i])
			}
		}
	}
}

// believe returns what the probes say.
func (c *Capacity) believe() belief {
	b := belief{noise: c.belief.noise, limited: math.NaN()}
	us, at := c.reached()
	chances := make([]float64, len(us))
	for i := range us {
		chances[i] = c.chance(at[i], b.noise)
	}
	b.bracket(us, chances, at)
	lo, hi := math.Log(c.dim.Lo), math.Log(c.dim.Hi)
	from, to := orElse(b.pass, lo), orElse(b.fail, hi)
	if len(c.probes) == 0 {
		b.us, b.cdf, b.doubted = []float64{lo, hi}, []float64{0, 1}, []float64{0, 1}
		b.binding = make([]float64, len(c.filters)+1)
		return b
	}
	noise := 0.0
	for f := range c.filters {
		data, known := c.data(f, from-view, to+view)
		fit := fitted(data, (from+to)/2, known)
		noise = max(noise, fit.noise())
		b.fits = append(b.fits, fit)
	}
	b.noise = noise
	if len(us) > 2 {
		// Seen together, probes say more of each load than those at it alone, and one outlier says less.
		together := make([]float64, len(us))
		for i := range us {
			together[i] = ceilingOf(at[i])
		}
		for f := range b.fits {
			for i, p := range b.fits[f].exceeds(us) {
				together[i] *= 1 - p
			}
		}
		for i, p := range together {
			switch {
			case us[i] < from-view || us[i] > to+view:
			case !decided(at[i]):
				chances[i] = p
			case (p > 0.5) != (chances[i] > 0.5):
				chances[i] = 0.5
			}
		}
		b.bracket(us, chances, at)
		from, to = orElse(b.pass, lo), orElse(b.fail, hi)
	}
	for _, p := range c.probes {
		if p.verdict == ClientLimited && (len(us) == 0 || p.u > us[len(us)-1]) {
			b.limited = min(orElse(b.limited, p.u), p.u)
		}
	}
	b.from, b.to = from, to
	edge := max(0.5*(to-from), 0.05)
	first, last := max(lo, from-edge), min(hi, to+edge)
	b.us = make([]float64, places)
	for i := range b.us {
		b.us[i] = first + (last-first)*float64(i)/(places-1)
	}
	b.us[places-1] = last
	// At a probe the course is known best: its place must not be missed.
	for _, p := range c.probes {
		if p.u > first && p.u < last {
			b.us = append(b.us, p.u)
		}
	}
	slices.Sort(b.us)
	b.us = slices.Compact(b.us)
	survival := make([]float64, len(b.us))
	for i := range survival {
		survival[i] = 1
	}
	b.binding = make([]float64, len(c.filters)+1)
	exceeds := make([][]float64, 0, len(c.filters)+1)
	for f := range b.fits {
		exceeds = append(exceeds, b.rising(b.fits[f].exceeds(b.us)))
	}
	exceeds = append(exceeds, c.step(b.us))
	for _, e := range exceeds {
		for i := range survival {
			survival[i] *= 1 - e[i]
		}
	}
	b.cdf = make([]float64, len(b.us))
	for i := range b.cdf {
		b.cdf[i] = 1 - survival[i]
	}
	b.blame(exceeds)
	b.doubted = slices.Clone(b.cdf)
	if !math.IsNaN(b.pass) && !math.IsNaN(b.fail) {
		w := c.doubt(&b)
		for i, u := range b.us {
			b.doubted[i] = (1-w)*b.cdf[i] + w*c.even(u, b.pass, b.fail)
		}
	}
	return b
}

// doubt returns the weight of the belief that nothing is known inside the bracket: the steeper the margin rises there,
// the less its course between the ends follows from the probes around.
func (c *Capacity) doubt(b *belief) float64 {
	below, above := math.Inf(-1), math.Inf(-1)
	for _, p := range c.probes {
		if p.verdict == ClientLimited {
			continue
		}
		if p.u == b.pass {
			below = max(below, p.worst())
		} else if p.u == b.fail {
			above = max(above, p.worst())
		}
	}
	b.slope = (above - below) / (b.fail - b.pass)
	return min(max((b.slope-gentle)/(steep-gentle), doubt), 1)
}

// even is the distribution function of a boundary anywhere between two loads: for real ones a little beyond them, so
// that a bracket is its own interval, as it is by rounding for integers.
func (c *Capacity) even(u, from, to float64) float64 {
	margin := 0.0
	if !c.dim.Int {
		margin = beyond * (to - from)
	}
	return min(max((u-from+margin)/(to-from+2*margin), 0), 1)
}

// rising makes the probability that a margin is above 0 rise with the load: where a probe below is sure to fail, or one
// above to hold, that bounds it.
func (b *belief) rising(e []float64) []float64 {
	for i := len(e) - 2; i >= 0; i-- {
		if b.us[i+1] <= b.pass {
			e[i] = min(e[i], e[i+1])
		}
	}
	for i := 1; i < len(e); i++ {
		if b.us[i-1] >= b.fail {
			e[i] = max(e[i], e[i-1])
		}
	}
	return isotonic(e)
}

// orElse returns v, or instead where it is NaN.
func orElse(v, instead float64) float64 {
	if math.IsNaN(v) {
		return instead
	}
	return v
}

// wander returns the standard deviation of a margin that comes from the arrivals of an open loop: their number varies by
// its square root, and the margin follows as its slope says. Near saturation this is far more than what the requests of
// one probe show of their own spread.
func (c *Capacity) wander(p *probe) float64 {
	if c.dim.Int || !(p.load*p.seconds > 0) {
		return 0
	}
	return min(max(c.belief.slope, 0), steep) / math.Sqrt(p.load*p.seconds)
}

// data returns the margins of a filter between two loads; known reports that their errors are.
func (c *Capacity) data(filter int, from, to float64) (data []datum, known bool) {
	known = true
	for _, p := range c.probes {
		if !p.counts(filter) || p.u < from || p.u > to {
			continue
		}
		se := p.se[filter]
		if math.IsNaN(se) {
			known, se = false, 0
		}
		wander := c.wander(&p)
		data = append(data, datum{u: p.u, z: p.z[filter],
			variance: se*se + p.doubt[filter]*p.doubt[filter] + wander*wander})
	}
	return data, known
}

// step returns the probability at each of us that the server cannot keep up, or answers nothing: anywhere between the
// loads that it was seen to carry and not to carry.
func (c *Capacity) step(us []float64) []float64 {
	carried, dead := math.Inf(-1), math.Inf(1)
	loads, at := c.reached()
	for i, u := range loads {
		if ceiling := ceilingOf(at[i]); ceiling == 0 {
			dead = u
			break
		} else if ceiling == 1 {
			carried = u
		}
	}
	if math.IsInf(carried, -1) {
		carried = math.Log(c.dim.Lo)
	}
	e := make([]float64, len(us))
	for i, u := range us {
		if !math.IsInf(dead, 1) && dead > carried {
			e[i] = c.even(u, carried, dead)
		} else if u >= dead {
			e[i] = 1
		}
	}
	return e
}

// blame shares the probability of the boundary among what limits the load first.
func (b *belief) blame(exceeds [][]float64) {
	// What is exceeded at the first place already limits every load.
	total, within, sum := 0.0, 1.0, 0.0
	for _, e := range exceeds {
		within, sum = within*(1-e[0]), sum+e[0]
	}
	if sum > 0 {
		for f, e := range exceeds {
			b.binding[f] = (1 - within) * e[0] / sum
		}
		total = 1 - within
	}
	for i := 1; i < len(b.us); i++ {
		for f, e := range exceeds {
			d := max(e[i]-e[i-1], 0)
			for g, o := range exceeds {
				if g != f {
					d *= 1 - (o[i]+o[i-1])/2
				}
			}
			b.binding[f], total = b.binding[f]+d, total+d
		}
	}
	if total > 0 {
		for f := range b.binding {
			b.binding[f] /= total
		}
		return
	}
	for f, e := range exceeds {
		b.binding[f] = e[len(e)-1]
		total += e[len(e)-1]
	}
	for f := range b.binding {
		if total > 0 {
			b.binding[f] /= total
		}
	}
}
