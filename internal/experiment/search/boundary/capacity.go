package boundary

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/experiment/search"
)

// Verdict is what a probe says about its load beyond its figures.
type Verdict int

const (
	// Measured leaves the decision to the figures.
	Measured Verdict = iota
	// Certain is the verdict of a probe that ended because its figures had decided already: on which side of the limits
	// it is counts more than how far.
	Certain
	// Saturated is the verdict of a probe in which the server could not keep up: the load is infeasible, whatever the
	// figures say.
	Saturated
	// ClientLimited is the verdict of a probe in which this program did not reach the load: it is neither feasible nor
	// infeasible.
	ClientLimited
)

// Evidence is what is known of a probe beside its [search.Result]. The zero value is a probe whose figures decide, with
// an error that is not known.
type Evidence struct {
	Verdict Verdict
	// Errors are the standard errors of the margins of the filters, in the unit of the metric, for the mean over the
	// trials. Nil, NaN or 0: not known.
	Errors []float64
	// Seconds is the measured time of the probe.
	Seconds float64
	// Elapsed is the time of the whole search up to its end, in seconds; 0: the measured time of all probes.
	Elapsed float64
}

// CapacityOptions configures a [Capacity].
type CapacityOptions struct {
	// Precision is the width of the interval, relative to the estimate, at which the search ends. Default 0.05.
	Precision float64
	// Level is the confidence of the interval. Default 0.95.
	Level float64
	// Budget is the time of the search in seconds: no probe starts that would end after it, if it takes as long as those
	// before did on average; the first one always does. Where only measured time is known, none starts after it. 0: no
	// limit.
	Budget float64
	// MaxProbes is the number of probes after which the search ends. Default 30.
	MaxProbes int
	// Start is the first load. 0: the geometric middle of the range.
	Start float64
	// Evidence returns what is known of a probe that [Capacity.Tell] is told. Nil: nothing is.
	Evidence func(search.Result) Evidence
}

// Reasons why a [Capacity] ended.
const (
	CapacityPrecision     = "capacity_precision_reached"
	CapacityNoPass        = "capacity_no_pass_in_range"
	CapacityNoFailure     = "capacity_no_failure_in_range"
	CapacityClientLimited = "capacity_client_limited"
	CapacityBudget        = "capacity_budget_used"
	CapacityMaxProbes     = "capacity_max_probes"
)

// Capacity searches the largest load at which all filters hold with few probes. It fits the margins of all probes on a
// logarithmic scale of the load and probes where that tells most, so that noise, drift and contradictions widen its
// interval instead of leading it astray.
type Capacity struct {
	dim     search.Dimension
	filters []search.Filter
	options CapacityOptions
	probes  []probe
	// seconds is the measured time, elapsed the whole one, 0 if it is not known.
	seconds, elapsed float64
	reason           string
	// next is the load of the next probe, asked reports that it was given out.
	next  float64
	asked bool
	// confirming is the load that only has to be measured for the search to end, if confirms.
	confirming float64
	confirms   bool
	// posterior is the fit after the last probe.
	posterior posterior
	// contradicted reports that the last probe contradicts earlier ones.
	contradicted bool
}

// probe is a probe in the terms of the model: u is the logarithm of the load, and per filter z is the margin as the
// logarithm of the value relative to the threshold, with its standard error; NaN where it is not known.
type probe struct {
	load, u float64
	z, se   []float64
	// excess is added to se where probes of the load disagree.
	excess  []float64
	verdict Verdict
	failed  bool
	seconds float64
}

// NewCapacity returns a planner of the range of a dimension. The error says which option does not fit.
func NewCapacity(d search.Dimension, filters []search.Filter, o CapacityOptions) (*Capacity, error) {
	switch {
	case len(filters) == 0:
		return nil, fmt.Errorf("%s: a search for a boundary needs at least one condition", d.Path)
	case !(d.Lo > 0) || !(d.Hi >= d.Lo) || math.IsInf(d.Hi, 1):
		return nil, fmt.Errorf("%s: the range from %v to %v must be above 0 and not inverted", d.Path, d.Lo, d.Hi)
	}
	if d.Int {
		d.Lo, d.Hi = math.Ceil(d.Lo), math.Floor(d.Hi)
		if d.Lo > d.Hi {
			return nil, fmt.Errorf("%s: the range holds no whole number", d.Path)
		}
	}
	if o.Precision <= 0 {
		o.Precision = 0.05
	}
	if o.Level <= 0 || o.Level >= 1 {
		o.Level = 0.95
	}
	if o.MaxProbes <= 0 {
		o.MaxProbes = 30
	}
	c := &Capacity{dim: d, filters: slices.Clone(filters), options: o}
	c.next = c.round(math.Sqrt(d.Lo * d.Hi))
	if o.Start > 0 {
		c.next = c.round(o.Start)
	}
	c.posterior = c.infer()
	return c, nil
}

// round returns the load of the range that is nearest on the logarithmic scale.
func (c *Capacity) round(x float64) float64 {
	if c.dim.Int {
		x = math.RoundToEven(x)
	} else {
		x = significant(x)
	}
	return min(max(x, c.dim.Lo), c.dim.Hi)
}

// significant rounds to four digits, so that loads can be read and repeated.
func significant(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	if unit < 1 {
		return math.Round(x*math.Round(1/unit)) / math.Round(1/unit)
	}
	return math.Round(x/unit) * unit
}

// Ask returns the load of the next probe.
func (c *Capacity) Ask() (search.Point, bool) {
	if c.reason != "" {
		return nil, false
	}
	c.asked = true
	return search.Point{c.next}, true
}

// Tell reports the result of the last probe, with what CapacityOptions.Evidence knows of it.
func (c *Capacity) Tell(r search.Result) {
	var e Evidence
	if c.options.Evidence != nil {
		e = c.options.Evidence(r)
	}
	c.Observe(r, e)
}

// Observe reports the result of the last probe and what else is known of it.
func (c *Capacity) Observe(r search.Result, e Evidence) {
	if !c.asked || c.reason != "" {
		return
	}
	c.asked = false
	p := c.probeOf(r, e)
	c.contradicted = c.contradicts(p)
	c.probes = append(c.probes, p)
	c.inflateOutliers(p.u)
	c.seconds += e.Seconds
	c.elapsed = max(c.elapsed, e.Elapsed)
	c.posterior = c.infer()
	c.decide()
}

// Reason says why the search ended.
func (c *Capacity) Reason() string { return c.reason }

// Boundary returns what is known of the boundary.
func (c *Capacity) Boundary() search.Boundary {
	post := &c.posterior
	t := ""
	if c.reason == CapacityPrecision {
		t = "smooth"
		if post.slope > cliffSlope {
			t = "cliff"
		}
	}
	return search.Boundary{Type: t, Binding: c.Answer().Binding, MarginLow: math.NaN(), MarginHigh: math.NaN(),
		NonMonotonic: c.contradicted}
}
