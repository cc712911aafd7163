package answer

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
)

// Complete adds to the answer what the cells of its search say: the figures on both sides of it, the curve, the
// throughput and the price.
func (c *Capacity) Complete(whole *Sweep) {
	c.Within, c.Beyond = math.NaN(), math.NaN()
	c.Rate = Figure{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if whole == nil || len(whole.Parameters) == 0 {
		return
	}
	c.sides(whole)
	c.curve(whole)
	if f, found := whole.shape(); found && c.Why == nil && artifact.Finite(c.Beyond) {
		c.Why = &f
	}
	if at := c.Curve.Recommended; at >= 0 && at < len(c.Curve.Points) {
		c.Price = whole.PriceAt(0, c.Curve.Points[at].Load)
	}
}

// sides finds the largest load that holds and the smallest that does not, on the two sides of the answer, and their
// figures: probes that contradict the answer say nothing of either.
func (c *Capacity) sides(whole *Sweep) {
	passing, failing := math.Inf(-1), math.Inf(1)
	for i := range whole.Cells {
		cell := &whole.Cells[i]
		switch load, isNumber := cell.Number(0); {
		case !isNumber:
		case cell.Verdict == Feasible && load >= passing && !(load > c.Value):
			passing, c.Within = load, load
			c.figures(cell, func(l *Limit, v float64) { l.Passing = &v })
		case cell.Verdict == Infeasible && load <= failing && !(load <= c.Value):
			failing, c.Beyond = load, load
			c.figures(cell, func(l *Limit, v float64) { l.Failing = &v })
		}
	}
}

// figures calls f for each limit of which a cell has the figure.
func (c *Capacity) figures(cell *Cell, f func(*Limit, float64)) {
	for i := range c.Limits {
		l := &c.Limits[i]
		if v, known := cell.Figure(NewMetric(l.Metric, l.Stat, "").Key()); known {
			f(l, v.Mean)
		}
	}
}

// latencies are the metrics that a curve shows over the load.
var latencies = []string{"time_to_first_token", "inter_token_latency", "request_latency", "job_latency"}

// curve adds the curve of the cells, and the throughput at the answer.
func (c *Capacity) curve(whole *Sweep) {
	if len(c.Limits) == 0 {
		return
	}
	first := c.Limits[max(c.Binding, 0)]
	if !slices.Contains(latencies, first.Metric) {
		first = c.Limits[0]
	}
	throughput := NewMetric("request_throughput", "avg", "")
	perUser := NewMetric("output_token_throughput_per_user", "p50", "")
	if c.InJobs = c.limitsJobs(); c.InJobs {
		throughput, perUser = NewMetric("jobs_per_hour", "avg", ""),
			NewMetric("job_output_token_throughput_per_user", "p50", "")
	}
	c.Curve = NewCurve(whole, 0, NewMetric(first.Metric, first.Stat, ""), throughput, perUser)
	c.Curve.Load = c.Load
	if len(c.Curve.Points) == 0 {
		return
	}
	c.Curve.SetBoundary(c.Value, c.Low, c.High, first.Threshold)
	if c.Load.Name == "rate" && !c.InJobs || !artifact.Finite(c.Value) {
		return
	}
	// The throughput at the answer lies between those of the nearest loads.
	c.Rate = Single(c.Curve.Between(throughput, c.Value))
}

// limitsJobs reports whether any limit is one of jobs.
func (c *Capacity) limitsJobs() bool {
	return slices.ContainsFunc(c.Limits, func(l Limit) bool {
		d, known := metrics.Lookup(l.Metric)
		return known && d.Kind == metrics.KindJob
	})
}

// Between returns a figure at a load, on the line between the nearest points; NaN if none has it.
func (c *Curve) Between(m Metric, load float64) float64 {
	var below, above *Point
	for i := range c.Points {
		p := &c.Points[i]
		if math.IsNaN(p.At(m)) {
			continue
		}
		if p.Load <= load {
			below = p
		}
		if p.Load >= load && above == nil {
			above = p
		}
	}
	switch {
	case below == nil && above == nil:
		return math.NaN()
	case below == nil || above == nil || below == above || above.Load == below.Load:
		if below == nil {
			below = above
		}
		return below.At(m)
	}
	share := (load - below.Load) / (above.Load - below.Load)
	return below.At(m) + share*(above.At(m)-below.At(m))
}

// Contradiction says which probes are on the other side of the limits than the answer has it, and why it is the answer
// all the same; "" if there are none.
func (c *Capacity) Contradiction(whole *Sweep) string {
	if whole == nil || c.Outcome != Found {
		return ""
	}
	var missed, met []float64
	for i := range whole.Cells {
		cell := &whole.Cells[i]
		switch load, isNumber := cell.Number(0); {
		case !isNumber:
		case cell.Verdict == Infeasible && load <= c.Value:
			missed = append(missed, load)
		case cell.Verdict == Feasible && load > c.Value:
			met = append(met, load)
		}
	}
	var parts []string
	if len(missed) > 0 {
		parts = append(parts, "a limit was missed at "+c.Loads(missed))
	}
	if len(met) > 0 {
		parts = append(parts, "all were met at "+c.Loads(met))
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, ", and ")
	return text + "; the curve through all probes, each weighed by its error, meets the limit at " +
		c.Load.Value(c.estimated()) + ", so that one probe does not decide"
}

// estimated is where the curve meets the limit: the answer itself in files that do not say it.
func (c *Capacity) estimated() float64 {
	if artifact.Finite(c.Estimate) {
		return c.Estimate
	}
	return c.Value
}

// Loads names loads, each once, in ascending order.
func (c *Capacity) Loads(list []float64) string {
	slices.Sort(list)
	var texts []string
	for _, v := range slices.Compact(list) {
		texts = append(texts, artifact.Short(v))
	}
	return strings.TrimSpace(c.Load.before() + strings.Join(texts, ", ") + " " + c.Load.Unit)
}

// Document returns the cost as files have it.
func (s Spent) Document() SpentDocument {
	return SpentDocument{s.Runs, s.Requests, s.Tokens, s.Time.Seconds(), s.Saved.Seconds()}
}

// capacity returns the answer of a history to how much load a server takes, with what the cells of whole say; nil if
// that was not asked, or not written.
func (f *HistoryDocument) capacity(whole *Sweep) *Capacity {
	if f.Boundary == nil || f.Boundary.CapacityDocument == nil || len(f.Config.Space) != 1 {
		return nil
	}
	d, of := f.Boundary.CapacityDocument, f.Config.Space[0]
	c := &Capacity{Outcome: cmp.Or(d.Outcome, f.outcome()), Load: NewParameter(of.Path), Lo: of.Lo, Hi: of.Hi,
		Value: orNaN(d.Answer), Estimate: orNaN(d.Estimate),
		Low: orNaN(d.Interval.Lo), High: orNaN(d.Interval.Hi), Level: orNaN(d.Interval.Level), Binding: -1,
		BoundBy: d.BoundBy, Command: d.Command, Notes: d.Notes, Why: d.Why}
	for i := range f.Config.Filters {
		c.Limits = append(c.Limits, f.Config.Filters[i].limit())
	}
	if d.Binding != nil && *d.Binding >= 0 && *d.Binding < len(c.Limits) {
		c.Binding = *d.Binding
	}
	if p := d.Spent; p != nil {
		seconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
		c.Spent = Spent{p.Runs, p.Requests, p.Tokens, seconds(p.Seconds), seconds(p.Saved)}
	}
	c.Complete(whole)
	return c
}

// outcome is what a search came to whose file does not say it, by its two sides.
func (f *HistoryDocument) outcome() Outcome {
	reason := ""
	if f.Reason != nil {
		reason = *f.Reason
	}
	switch b := f.Boundary; {
	case strings.HasSuffix(reason, "_no_failure_in_range"):
		return WholeRange
	case strings.HasSuffix(reason, "_no_pass_in_range"):
		return NotEvenSmallest
	case b.FeasibleMax != nil && b.InfeasibleMin != nil:
		return Found
	}
	return Undecided
}

// orNaN returns a number of a file that may be missing.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
