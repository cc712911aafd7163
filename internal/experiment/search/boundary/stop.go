package boundary

import "math"

// patience is the number of probes at an end of the range that may leave open whether it holds.
const patience = 4

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

// ended sets the reason if the answer is known.
func (c *Capacity) ended() bool {
	b := &c.belief
	lo, hi := math.Log(c.dim.Lo), math.Log(c.dim.Hi)
	switch {
	case b.pass >= hi:
		c.reason = CapacityNoFailure
	case b.fail <= lo && b.fails > 1:
		c.reason = CapacityNoPass
	case math.IsNaN(b.fail) && !math.IsNaN(b.limited) && !math.IsNaN(b.pass) && c.near(b.pass, b.limited):
		c.reason = CapacityClientLimited
	case math.IsNaN(b.pass) && b.limited <= lo:
		c.reason = CapacityClientLimited
	case math.IsNaN(b.fail) && (c.count(c.dim.Hi) >= patience || c.settledAt(c.dim.Hi)):
		c.reason = CapacityNoFailure
	case math.IsNaN(b.pass) && (c.count(c.dim.Lo) >= patience || c.settledAt(c.dim.Lo)):
		if c.reason = CapacityPrecision; math.IsNaN(c.Answer().Estimate) {
			c.reason = CapacityNoPass
		}
	default:
		a := c.Answer()
		if c.narrow(&a) && !math.IsNaN(b.pass) && !math.IsNaN(b.fail) && !c.lone() && c.founded() {
			c.reason = CapacityPrecision
		}
	}
	return c.reason != ""
}

// lone reports that one probe alone says where the load is infeasible, which may be an outlier: where the margin rises
// steeply, those far above do not support it.
func (c *Capacity) lone() bool {
	b := &c.belief
	return b.fails < 2 || b.slope > gentle && b.witnesses < 2
}

// founded reports that more than one probe says where the load is feasible.
func (c *Capacity) founded() bool {
	n, b := 0, &c.belief
	for _, p := range c.probes {
		if p.verdict != ClientLimited && !(p.u >= b.fail) && p.worst() < 0 {
			n++
		}
	}
	return n > 1 || b.pass <= math.Log(c.dim.Lo)
}

// narrow reports that the interval is as narrow as asked for.
func (c *Capacity) narrow(a *Answer) bool {
	return a.High-a.Low <= c.options.Precision*a.Estimate || c.dim.Int && a.High == a.Low
}

// near reports that no probe between two loads is worth its time.
func (c *Capacity) near(u, v float64) bool {
	return v-u <= 2*c.options.Precision || c.dim.Int && math.Exp(v)-math.Exp(u) < 1.5
}
