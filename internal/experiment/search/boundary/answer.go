package boundary

import "math"

// minFittedProbes is the number of probes below which a search that ran out of budget answers with its whole bracket:
// the course of the margin inside it is then that of the prior rather than of what was measured.
const minFittedProbes = 6

// Answer is what a [Capacity] knows of the boundary.
type Answer struct {
	// Estimate is the largest load at which all filters hold, NaN where no load of the range does.
	Estimate float64
	// Low and High are the interval of the estimate. Low is below the range where not even its smallest load is sure to
	// hold, High is +Inf where nothing limits it in the range.
	Low, High float64
	// Level is the confidence of the interval.
	Level float64
	// Binding is the filter that limits the load first: an index, -1 if it is not known.
	Binding int
	// Saturated reports that the server could not keep up before a filter was exceeded.
	Saturated bool
	// Sureness is the probability that Binding, or saturation, is what limits the load.
	Sureness float64
	// Met is the largest load up to Estimate of which most probes met all filters, Missed the smallest above Met of which
	// half or more missed one; NaN if there is none. Nothing is assumed of them: they were measured.
	Met, Missed float64
	// Pass is the largest load that is sure to hold, Fail the smallest one that is sure not to; NaN if there is none.
	Pass, Fail float64
	// Probes and Seconds are the cost so far; Limited are the probes that the client limited.
	Probes, Limited int
	Seconds         float64
	// Disputed are the loads near the boundary whose probes contradict each other: some hold and some do not, both by
	// much.
	Disputed []float64
	// Reason says why the search ended; empty while it goes on.
	Reason string
}

const (
	// minDisputedMargin is how far probes of a load must be on both sides of a limit, as a logarithm (22 % of the
	// limit), to contradict each other: nearer ones are noise around a load that just holds.
	minDisputedMargin = 0.2
	// maxOutlierShare is the share of the probes of a load up to which the smaller side is taken for outliers: one of
	// four, so that two of three, or one of two, are a dispute.
	maxOutlierShare = 0.25
)

// countSides counts the probes of a load that hold and that do not, by much.
func countSides(at []probe) (within, beyond int) {
	for i := range at {
		switch worst := at[i].worst(); {
		case worst < -minDisputedMargin && !at[i].failed && at[i].verdict != Saturated:
			within++
		case worst > minDisputedMargin || at[i].failed || at[i].verdict == Saturated:
			beyond++
		}
	}
	return within, beyond
}

// widen takes into account that probes of a load contradict each other: what holds for a while at one load may hold for
// a while at those around, too, up to the next ones of which all probes say the same.
func (c *Capacity) widen(a *Answer) {
	us, at := c.reached()
	post := &c.posterior
	for i, u := range us {
		within, beyond := countSides(at[i])
		fewer := min(within, beyond)
		if fewer == 0 || float64(fewer) <= maxOutlierShare*float64(within+beyond) || post.pass > u || post.fail < u {
			continue
		}
		a.Disputed = append(a.Disputed, at[i][0].load)
		a.Sureness *= float64(max(within, beyond)) / float64(within+beyond)
		low, high := 0.0, c.dim.Hi
		for k := range us {
			switch within, beyond := countSides(at[k]); {
			case k < i && beyond == 0 && within > 0:
				low = at[k][0].load
			case k > i && within == 0 && beyond > 0 && high == c.dim.Hi:
				if high = at[k][0].load; c.dim.Int {
					high--
				}
			}
		}
		if low == 0 && c.dim.Lo < at[i][0].load {
			low = c.dim.Lo
		}
		a.Low, a.High = min(a.Low, low), max(a.High, high)
	}
}

// credibleInterval returns the equal-tailed credible interval of the boundary and its median by a distribution function
// on the grid, as logarithms; infinite outside of the range.
func (c *Capacity) credibleInterval(cdf []float64) (low, middle, high float64) {
	tail := (1 - c.options.Level) / 2
	at := func(p float64) float64 {
		u := quantile(c.posterior.grid, cdf, p)
		// Where the grid ends inside of the range, what lies beyond it is of no account.
		if math.IsInf(u, -1) && c.posterior.grid[0] > math.Log(c.dim.Lo) {
			return c.posterior.grid[0]
		}
		if last := c.posterior.grid[len(c.posterior.grid)-1]; math.IsInf(u, 1) && last < math.Log(c.dim.Hi) {
			return last
		}
		return u
	}
	return at(tail), at(0.5), at(1 - tail)
}

// reported returns a load of the boundary as it is reported: the largest whole number below it for integers.
func (c *Capacity) reported(u float64) float64 {
	x := math.Exp(u)
	if math.IsInf(u, 0) || !c.dim.Int {
		return x
	}
	// A boundary at a whole number itself comes out of the logarithm a little below it.
	return max(math.Floor(x*(1+1e-9)), c.dim.Lo)
}

// Answer returns what is known so far.
func (c *Capacity) Answer() Answer {
	post := &c.posterior
	low, middle, high := c.credibleInterval(post.mixtureCDF)
	a := Answer{Estimate: c.reported(middle), Low: c.reported(low), High: c.reported(high), Level: c.options.Level,
		Binding: -1, Pass: math.Exp(post.pass), Fail: math.Exp(post.fail), Probes: len(c.probes), Seconds: c.seconds,
		Reason: c.reason}
	if math.IsInf(low, -1) {
		a.Low = 0
	}
	switch {
	case math.IsInf(middle, -1):
		a.Estimate = math.NaN()
	case math.IsInf(middle, 1):
		a.Estimate = c.dim.Hi
	}
	if c.dim.Int {
		a.Pass, a.Fail = math.Round(a.Pass), math.Round(a.Fail)
	}
	if c.reason == CapacityNoFailure {
		a.Estimate, a.Low, a.High = c.dim.Hi, min(a.Low, c.dim.Hi), math.Inf(1)
	}
	if math.IsNaN(post.fail) && !math.IsNaN(post.limited) {
		// Nothing is known of loads that the client did not reach.
		a.Estimate, a.High = a.Pass, math.Inf(1)
		if a.Low = min(a.Low, a.Pass); math.IsNaN(a.Pass) {
			a.Low = 0
		}
	}
	if (c.reason == CapacityBudget || c.reason == CapacityMaxProbes) && len(c.probes) < minFittedProbes {
		// Between what holds and what does not, a search that ended too soon knows the shape of the curve by
		// assumption.
		if a.Low > a.Pass {
			a.Low = a.Pass
		}
		beyond := a.Fail
		if c.dim.Int {
			beyond--
		}
		if a.High < beyond {
			a.High = beyond
		}
	}
	for i, p := range post.binding {
		if p > a.Sureness {
			a.Sureness, a.Binding, a.Saturated = p, i, false
			if i == len(c.filters) {
				a.Binding, a.Saturated = -1, true
			}
		}
	}
	for _, p := range c.probes {
		if p.verdict == ClientLimited {
			a.Limited++
		}
	}
	c.widen(&a)
	c.doubt(&a)
	c.measured(&a)
	return a
}

// roundingError is by how much a load that is probed may lie above the estimate, as loads have four digits.
const roundingError = 5e-4

// unmeasured returns the load that is to be probed before the search ends, so that its answer is one that was measured:
// the estimate, or where that did not hold, the lower end of its interval. ok is false where one within the interval
// holds, or both were tried.
func (c *Capacity) unmeasured(a *Answer) (load float64, ok bool) {
	if a.Met >= a.Low || math.IsNaN(a.Estimate) {
		return 0, false
	}
	for _, at := range []float64{a.Estimate, a.Low} {
		if load = c.round(at); at >= c.dim.Lo && c.count(load) == 0 {
			return load, true
		}
	}
	return 0, false
}

// measured finds what was measured on both sides of the estimate.
func (c *Capacity) measured(a *Answer) {
	a.Met, a.Missed = math.NaN(), math.NaN()
	us, at := c.reached()
	for i := range us {
		met := 0
		for k := range at[i] {
			if p := &at[i][k]; p.worst() <= 0 {
				met++
			}
		}
		switch load := at[i][0].load; {
		case 2*met > len(at[i]):
			if load <= a.Estimate*(1+roundingError) {
				a.Met, a.Missed = load, math.NaN()
			}
		case math.IsNaN(a.Missed):
			a.Missed = load
		}
	}
}

// doubt bounds the sureness where probes of a load within the interval, or next to it, contradict each other, also where
// the smaller side is taken for outliers: half of its share is left for it to be right.
func (c *Capacity) doubt(a *Answer) {
	_, at := c.reached()
	for i := range at {
		within, beyond := countSides(at[i])
		if load := at[i][0].load; min(within, beyond) > 0 && load >= a.Low && (load <= a.High || load == a.Fail) {
			a.Sureness = min(a.Sureness, 1-float64(min(within, beyond))/float64(2*(within+beyond)))
		}
	}
}
