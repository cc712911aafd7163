package boundary

import (
	"math"
	"slices"
)

const (
	// decisiveProbability is the posterior probability from which a load counts as feasible, and from the complement of
	// which down as infeasible: one tail of a 95 % interval.
	decisiveProbability = 0.975
	// corroborationDistance is how far above the smallest infeasible load, as a difference of logarithms (13 %), an
	// infeasible probe still says that it was no outlier: where the margin rises steeply, a load further up fails
	// anyway.
	corroborationDistance = 0.12
	// fitWindow is how far below and above the bracket, as a difference of logarithms (a ratio of 7.4), probes are part
	// of the fit: more than three lengths of correlationLength, beyond which they tell the straight line alone.
	fitWindow = 2.0
)

// posterior is what the probes so far say of the boundary: the bracket, the fitted margins, and the distribution of the
// boundary on a grid of loads. Loads are natural logarithms throughout.
type posterior struct {
	// pass and fail are the bracket as logarithms, NaN where there is none. Contradictory probes are outvoted.
	pass, fail float64
	// from and to are the bracket, with the ends of the range where it is open.
	from, to float64
	// limited is the smallest load above all that the client reached and that it did not reach, NaN if there is none.
	limited float64
	// cdf is the distribution function of the boundary on the grid by the fits alone, mixtureCDF its mixture with a
	// uniform distribution over the bracket. The search chooses loads by the first and answers by the second.
	grid, cdf, mixtureCDF []float64
	fits                  []fit
	// binding is the probability of each filter, and then of saturation, that it limits the load first.
	binding []float64
	// fails counts the probes that are sure not to hold.
	fails int
	// corroborations are the sure failures at fail and little above it.
	corroborations int
	// slope is the mean slope of the largest margin over the bracket, d ln(value/limit) over d ln(load).
	slope float64
	noise float64
}

// deviation returns the standard deviation of a margin of a probe.
func deviation(se, noise float64) float64 {
	if math.IsNaN(se) {
		se = defaultStandardError
	}
	return math.Hypot(se, noise)
}

// feasibility returns the probability that a load holds by the probes at it alone: for each filter the normal
// probability that the mean of the margins, weighted by their inverse variances, is at most 0; the filters are taken as
// independent.
func (c *Capacity) feasibility(at []probe, noise float64) float64 {
	p := 1.0
	for f := range c.filters {
		sum, weight := 0.0, 0.0
		for _, r := range at {
			if !math.IsNaN(r.z[f]) {
				d := math.Hypot(math.Hypot(deviation(r.se[f], noise), r.excess[f]), c.arrivalDeviation(&r))
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
	return min(p, maxFeasibility(at))
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

// maxFeasibility bounds the probability that a load holds by the share of the probes at it that the server did not
// carry: their figures say nothing of a steady state, so that the majority decides.
func maxFeasibility(at []probe) float64 {
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

// bracket finds the split of the loads that the fewest decisive probes contradict; of equal ones, the upper. It is the
// least-error threshold classifier, found in one pass: moving the split above a load makes its failures wrong and its
// passes right. feasible are the probabilities that the loads us hold, at are the probes at each.
func (post *posterior) bracket(us, feasible []float64, at [][]probe) {
	post.pass, post.fail, post.fails, post.corroborations = math.NaN(), math.NaN(), 0, 0
	wrong := 0
	for i, p := range feasible {
		if p >= decisiveProbability {
			wrong += len(at[i])
		} else if p <= 1-decisiveProbability {
			post.fails += len(at[i])
		}
	}
	// The lowest split has all loads infeasible: each decisive pass is wrong.
	least, split := wrong, 0
	for i, p := range feasible {
		if p >= decisiveProbability {
			wrong -= len(at[i])
		} else if p <= 1-decisiveProbability {
			wrong += len(at[i])
		}
		if wrong <= least {
			least, split = wrong, i+1
		}
	}
	for i, p := range feasible {
		if i < split && p >= decisiveProbability {
			post.pass = us[i]
		} else if i >= split && p <= 1-decisiveProbability {
			post.fail = min(orElse(post.fail, us[i]), us[i])
			if us[i] < post.fail+corroborationDistance {
				post.corroborations += len(at[i])
			}
		}
	}
}

// infer returns the posterior after all probes so far, in four steps: the bracket by the probes of each load alone,
// fits of the margins around it, the bracket again by all probes together, and the distribution of the boundary. Their
// order matters: the window of the fits needs a bracket, and the first bracket has only the noise of the posterior
// before.
func (c *Capacity) infer() posterior {
	post := posterior{noise: c.posterior.noise, limited: math.NaN(), binding: make([]float64, len(c.filters)+1)}
	us, at := c.reached()
	feasible := make([]float64, len(us))
	for i := range us {
		feasible[i] = c.feasibility(at[i], post.noise)
	}
	post.bracket(us, feasible, at)
	lo, hi := math.Log(c.dim.Lo), math.Log(c.dim.Hi)
	if len(c.probes) == 0 {
		post.grid, post.cdf, post.mixtureCDF = []float64{lo, hi}, []float64{0, 1}, []float64{0, 1}
		return post
	}
	from, to := orElse(post.pass, lo), orElse(post.fail, hi)
	noise := 0.0
	for f := range c.filters {
		data, known := c.data(f, from-fitWindow, to+fitWindow)
		fit := newFit(data, (from+to)/2, known)
		noise = max(noise, fit.noise())
		post.fits = append(post.fits, fit)
	}
	post.noise = noise
	if len(us) > 2 {
		post.pool(feasible, us, at, from-fitWindow, to+fitWindow)
		post.bracket(us, feasible, at)
	}
	for _, p := range c.probes {
		if p.verdict == ClientLimited && (len(us) == 0 || p.u > us[len(us)-1]) {
			post.limited = min(orElse(post.limited, p.u), p.u)
		}
	}
	post.from, post.to = orElse(post.pass, lo), orElse(post.fail, hi)
	c.distribute(&post)
	return post
}

// pool replaces the probabilities of the loads in a window by those of the fits: seen together, probes say more of each
// load than those at it alone, and one outlier says less. A decided load, whose figures say little of the distance,
// keeps its side; where the fits are on the other one, it is left open.
func (post *posterior) pool(feasible, us []float64, at [][]probe, first, last float64) {
	together := make([]float64, len(us))
	for i := range us {
		together[i] = maxFeasibility(at[i])
	}
	for f := range post.fits {
		for i, p := range post.fits[f].exceeds(us) {
			together[i] *= 1 - p
		}
	}
	for i, p := range together {
		switch {
		case us[i] < first || us[i] > last:
		case !decided(at[i]):
			feasible[i] = p
		case (p > 0.5) != (feasible[i] > 0.5):
			feasible[i] = 0.5
		}
	}
}

// orElse returns v, or instead where it is NaN.
func orElse(v, instead float64) float64 {
	if math.IsNaN(v) {
		return instead
	}
	return v
}

// arrivalDeviation returns the standard deviation of a margin that comes from the arrivals of an open loop: their
// number varies by its square root (Poisson), a relative 1/√n, and the margin follows as its slope says. Near
// saturation this is far more than what the requests of one probe show of their own spread.
func (c *Capacity) arrivalDeviation(p *probe) float64 {
	if c.dim.Int || !(p.load*p.seconds > 0) {
		return 0
	}
	return min(max(c.posterior.slope, 0), cliffSlope) / math.Sqrt(p.load*p.seconds)
}

// data returns the margins of a filter between two loads; known reports that their errors are.
func (c *Capacity) data(filter int, from, to float64) (data []datum, known bool) {
	known = true
	for _, p := range c.probes {
		if !p.hasMargin(filter) || p.u < from || p.u > to {
			continue
		}
		se := p.se[filter]
		if math.IsNaN(se) {
			known, se = false, 0
		}
		arrivals := c.arrivalDeviation(&p)
		data = append(data, datum{u: p.u, z: p.z[filter],
			variance: se*se + p.excess[filter]*p.excess[filter] + arrivals*arrivals})
	}
	return data, known
}
