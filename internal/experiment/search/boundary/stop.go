package boundary

import "math"

// maxEndProbes is the number of probes at an end of the range that may leave open whether it holds: a boundary at the
// very end would otherwise be probed until the budget is used, as no load beyond it can settle the question.
const maxEndProbes = 4

// settledAt reports that the interval is narrow at an end of the range whose probes leave open whether it holds.
func (c *Capacity) settledAt(end float64) bool {
	a := c.Answer()
	return c.count(end) > 1 && (end == c.dim.Hi && a.Low >= end/(1+c.options.Precision) ||
		end == c.dim.Lo && (a.High <= end*(1+c.options.Precision) || a.High <= end))
}

// count returns the number of probes at a load.
func (c *Capacity) count(load float64) (n int) {
	for _, p := range c.probes {
		if p.load == load && p.verdict != ClientLimited {
			n++
		}
	}
	return n
}

// ended sets the reason if the answer is known. The cases without an upper or a lower end of the bracket come first:
// the width of an interval says nothing while nothing limits it on one side.
func (c *Capacity) ended() bool {
	c.confirms = false
	post := &c.posterior
	lo, hi := math.Log(c.dim.Lo), math.Log(c.dim.Hi)
	switch {
	case post.pass >= hi:
		c.reason = CapacityNoFailure
	case post.fail <= lo && post.fails > 1:
		c.reason = CapacityNoPass
	case math.IsNaN(post.fail) && !math.IsNaN(post.limited) && !math.IsNaN(post.pass) &&
		c.withinPrecision(post.pass, post.limited):
		c.reason = CapacityClientLimited
	case math.IsNaN(post.pass) && post.limited <= lo:
		c.reason = CapacityClientLimited
	case math.IsNaN(post.fail) && (c.count(c.dim.Hi) >= maxEndProbes || c.settledAt(c.dim.Hi)):
		c.reason = CapacityNoFailure
	case math.IsNaN(post.pass) && (c.count(c.dim.Lo) >= maxEndProbes || c.settledAt(c.dim.Lo)):
		if c.reason = CapacityPrecision; math.IsNaN(c.Answer().Estimate) {
			c.reason = CapacityNoPass
		}
	default:
		a := c.Answer()
		if c.narrow(&a) && !math.IsNaN(post.pass) && !math.IsNaN(post.fail) &&
			!c.failUncorroborated() && c.passCorroborated() {
			if c.confirming, c.confirms = c.unmeasured(&a); !c.confirms {
				c.reason = CapacityPrecision
			}
		}
	}
	return c.reason != ""
}

// failUncorroborated reports that one probe alone says where the load is infeasible, which may be an outlier: where the
// margin rises steeply, failures far above do not support it, see corroborationDistance.
func (c *Capacity) failUncorroborated() bool {
	post := &c.posterior
	return post.fails < 2 || post.slope > smoothSlope && post.corroborations < 2
}

// passCorroborated reports that more than one probe says where the load is feasible.
func (c *Capacity) passCorroborated() bool {
	n, post := 0, &c.posterior
	for _, p := range c.probes {
		if p.verdict != ClientLimited && !(p.u >= post.fail) && p.worst() < 0 {
			n++
		}
	}
	return n > 1 || post.pass <= math.Log(c.dim.Lo)
}

// narrow reports that the interval is as narrow as asked for.
func (c *Capacity) narrow(a *Answer) bool {
	return a.High-a.Low <= c.options.Precision*a.Estimate || c.dim.Int && a.High == a.Low
}

// withinPrecision reports that no probe between two loads, given as logarithms, is worth its time: they are no further
// apart than twice the precision, or neighbouring whole numbers.
func (c *Capacity) withinPrecision(u, v float64) bool {
	return v-u <= 2*c.options.Precision || c.dim.Int && math.Exp(v)-math.Exp(u) < 1.5
}
