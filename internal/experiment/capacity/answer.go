package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/boundary"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
)

// spent is what the probes cost so far, warm-ups included.
type spent struct{ answer.Spent }

// add adds a probe, and returns its measured time.
func (s *spent) add(f *series.Finished, saved time.Duration) (measured time.Duration) {
	s.Runs++
	s.Saved += saved
	if f.Outcome == nil {
		return 0
	}
	r := &f.Outcome.Result
	total := func(list []metrics.Metric, tags ...string) (sum int64) {
		for _, tag := range tags {
			if m := metrics.Find(list, tag); m != nil && artifact.Finite(m.Stats.Avg) {
				sum += int64(m.Stats.Avg)
			}
		}
		return sum
	}
	s.Requests += r.Counts.Completed() + total(r.Warmup, "request_count", "error_request_count")
	s.Tokens += total(r.Metrics, "total_isl", "total_output_tokens") +
		total(r.Warmup, "total_isl", "total_output_tokens")
	if m := metrics.Find(r.Metrics, "benchmark_duration"); m != nil && artifact.Finite(m.Stats.Avg) {
		measured = time.Duration(m.Stats.Avg * float64(time.Second))
	}
	return measured
}

// Members are the answer as further members of boundary_summary in search_history.json.
func (s *Study) Members() artifact.Object {
	a := s.planner.Answer()
	_, value := outcome(&a)
	d := answer.CapacityDocument{Answer: artifact.Known(value), Estimate: artifact.Known(a.Estimate),
		Interval: answer.LevelledIntervalDocument{Lo: artifact.Known(a.Low), Hi: artifact.Known(a.High),
			Level: artifact.Known(a.Level)},
		Sureness: a.Sureness, Probes: a.Probes, Limited: a.Limited, MeasuredSeconds: a.Seconds,
		SavedSeconds: s.spent.Saved.Seconds(), Command: s.Command}
	switch {
	case a.Saturated:
		d.BoundFirst = new("saturation")
	case a.Binding >= 0 && (!math.IsNaN(a.Fail) || a.Reason == boundary.CapacityNoPass):
		d.BoundFirst = new(s.Limits[a.Binding].String())
	}
	return artifact.ObjectOf(d)
}

// outcome returns what a search came to, and its answer.
func outcome(a *boundary.Answer) (o answer.Outcome, value float64) {
	o, value = answer.Undecided, a.Estimate
	switch {
	case a.Reason == boundary.CapacityNoPass:
		o = answer.NotEvenSmallest
	case a.Reason == boundary.CapacityNoFailure:
		o = answer.WholeRange
	case a.Reason == boundary.CapacityPrecision, !math.IsNaN(a.Pass) && !math.IsNaN(a.Fail):
		o = answer.Found
	}
	if math.IsNaN(a.Fail) && o == answer.Undecided {
		value = a.Pass // what lies beyond is an estimate without a measurement
	}
	return o, value
}

// Answer returns what was found; whole are the cells of the search with their figures, took is its whole time.
func (s *Study) Answer(whole *answer.Sweep, took time.Duration, command string) *answer.Capacity {
	a := s.planner.Answer()
	c := &answer.Capacity{Load: s.load(), Lo: s.Min, Hi: s.Max, Value: a.Estimate,
		Low: a.Low, High: a.High, Level: a.Level,
		Rate:    answer.Figure{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()},
		Binding: a.Binding, Spent: s.spent.Spent, Command: command, Notes: slices.Clone(s.remarks)}
	c.Spent.Time = took
	for _, f := range s.Limits {
		c.Limits = append(c.Limits, limitOf(f))
	}
	c.Outcome, c.Value = outcome(&a)
	if math.IsInf(a.High, 1) {
		c.High = math.NaN()
	}
	if a.Saturated {
		c.BoundBy = "the server fell behind: the work in the system grew before a limit was missed"
	}
	if a.Reason == boundary.CapacityClientLimited {
		c.BoundBy = "the client: this machine could not load the server further"
	}
	if a.Limited > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf(
			"probes that the machine of the client limited, and that do not count: %d of "+
				"%d; stop what else runs on it", a.Limited, a.Probes))
	}
	if a.Reason == boundary.CapacityBudget || a.Reason == boundary.CapacityMaxProbes {
		c.Notes = append(c.Notes, "the search ended before the interval was as narrow as asked: give it a larger --budget")
	}
	if len(a.Disputed) > 0 && whole != nil {
		c.Notes = append(c.Notes, s.disputed(a.Disputed, whole))
	}
	s.sides(c, whole)
	s.curve(c, whole)
	if math.IsNaN(a.Fail) && c.Outcome != answer.NotEvenSmallest {
		c.Binding = -1 // no limit was missed
	}
	if at := c.Curve.Recommended; at >= 0 && at < len(c.Curve.Points) {
		c.Price = whole.PriceAt(0, c.Curve.Points[at].Load)
	}
	return c
}

// disputed says that the probes of loads contradict each other.
func (s *Study) disputed(loads []float64, whole *answer.Sweep) string {
	var parts []string
	for _, load := range loads {
		within, all := 0, 0
		for i := range whole.Cells {
			cell := &whole.Cells[i]
			if at, isNumber := cell.Number(0); !isNumber || at != load {
				continue
			}
			switch cell.Verdict {
			case answer.Feasible:
				within, all = within+1, all+1
			case answer.Infeasible:
				all++
			}
		}
		parts = append(parts, fmt.Sprintf("%s %s (%d of %d within the limits)", s.Over, artifact.Short(load), within, all))
	}
	return "probes of one load contradict each other: " + strings.Join(parts, ", ") + "; the interval reaches to the next " +
		"loads whose probes agree, and longer probes (--probe) or a quieter machine narrow it"
}

// load is what is searched.
func (s *Study) load() answer.Parameter {
	p := answer.Parameter{Name: s.Over, Path: s.Path()}
	if s.Over == Rate {
		p.Unit = "requests/s"
	}
	return p
}

// limitOf returns a condition as an answer has it.
func limitOf(f search.Filter) answer.Limit {
	m, _ := metrics.Lookup(f.Metric)
	return answer.Limit{Metric: f.Metric, Stat: f.Stat, Op: f.Op, Threshold: f.Threshold, Unit: string(m.Display)}
}

// sides adds to each limit its figures at the largest load that holds and at the smallest that does not, on the two
// sides of the answer: probes that contradict it say nothing of either.
func (s *Study) sides(c *answer.Capacity, whole *answer.Sweep) {
	if whole == nil || len(whole.Parameters) == 0 {
		return
	}
	for i := range c.Limits {
		l := &c.Limits[i]
		key := answer.NewMetric(l.Metric, l.Stat, "").Key()
		passing, failing := math.Inf(-1), math.Inf(1)
		for j := range whole.Cells {
			cell := &whole.Cells[j]
			load, isNumber := cell.Number(0)
			f, known := cell.Figure(key)
			switch v := f.Mean; {
			case !isNumber || !known:
			case cell.Verdict == answer.Feasible && load >= passing && !(load > c.Value):
				passing, l.Passing = load, &v
			case cell.Verdict == answer.Infeasible && load <= failing && !(load <= c.Value):
				failing, l.Failing = load, &v
			}
		}
	}
}

// curve adds the curve of the cells, and the throughput at the answer.
func (s *Study) curve(c *answer.Capacity, whole *answer.Sweep) {
	if whole == nil || len(whole.Parameters) == 0 {
		return
	}
	first := s.Limits[max(c.Binding, 0)]
	if !slices.Contains([]string{"time_to_first_token", "inter_token_latency", "request_latency"}, first.Metric) {
		first = s.Limits[0]
	}
	latency := answer.NewMetric(first.Metric, first.Stat, "")
	throughput := answer.NewMetric("request_throughput", "avg", "")
	perUser := answer.NewMetric("output_token_throughput_per_user", "p50", "")
	c.Curve = answer.NewCurve(whole, 0, latency, throughput, perUser)
	if len(c.Curve.Points) == 0 {
		return
	}
	c.Curve.SetBoundary(c.Value, c.Low, c.High, first.Threshold)
	if s.Over == Rate || !artifact.Finite(c.Value) {
		return
	}
	// The throughput at the answer lies between those of the nearest loads.
	c.Rate = answer.Single(between(&c.Curve, throughput, c.Value))
}

// between returns a figure at a load, on the line between the nearest points.
func between(c *answer.Curve, m answer.Metric, load float64) float64 {
	var below, above *answer.Point
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
