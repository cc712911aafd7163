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
	"aiperf/internal/result/judge"
)

// spent is what the probes cost so far, warm-ups included.
type spent struct{ answer.Spent }

// add adds a probe, and returns its measured time.
func (s *spent) add(f *series.Finished, saved time.Duration) (measured time.Duration) {
	if f.Outcome == nil {
		s.Runs++
		s.Saved += saved
		return 0
	}
	r := &f.Outcome.Result
	s.Requests += total(r.Warmup, "request_count", "error_request_count")
	s.Tokens += total(r.Warmup, "total_isl", "total_output_tokens")
	requests := s.Requests
	measured = s.addRun(r.Metrics, saved)
	s.Requests = requests + r.Counts.Completed()
	return measured
}

// addRun adds the figures of a probe, and returns its measured time.
func (s *spent) addRun(list []metrics.Metric, saved time.Duration) (measured time.Duration) {
	s.Runs++
	s.Saved += saved
	s.Requests += total(list, "request_count", "error_request_count")
	s.Tokens += total(list, "total_isl", "total_output_tokens")
	if m := metrics.Find(list, "benchmark_duration"); m != nil && artifact.Finite(m.Stats.Avg) {
		measured = time.Duration(m.Stats.Avg * float64(time.Second))
	}
	return measured
}

// total sums counts of a run.
func total(list []metrics.Metric, tags ...string) (sum int64) {
	for _, tag := range tags {
		if m := metrics.Find(list, tag); m != nil && artifact.Finite(m.Stats.Avg) {
			sum += int64(m.Stats.Avg)
		}
	}
	return sum
}

// Members are the answer as further members of boundary_summary in search_history.json. full is the same with what the
// cells say of it, nil while that is not known.
func (s *Study) Members(full *answer.Capacity) artifact.Object {
	a := s.planner.Answer()
	came, value := outcome(&a)
	d := answer.CapacityDocument{Outcome: came, BoundBy: s.boundBy(&a),
		Answer: artifact.Known(value), Estimate: artifact.Known(a.Estimate),
		Interval: answer.LevelledIntervalDocument{Lo: artifact.Known(lowEnd(&a, value)), Hi: artifact.Known(a.High),
			Level: artifact.Known(a.Level)},
		Sureness: a.Sureness, Probes: a.Probes, Limited: a.Limited, MeasuredSeconds: a.Seconds,
		SavedSeconds: s.spent.Saved.Seconds(), Command: s.Command}
	switch {
	case a.Saturated && s.shortestRefused() <= a.Fail, s.boundByErrors(&a) && len(s.refused) > 0:
		d.BoundFirst = new("context_length")
	case a.Saturated:
		d.BoundFirst = new("saturation")
	case a.Binding >= 0 && (!math.IsNaN(a.Fail) || a.Reason == boundary.CapacityNoPass):
		d.BoundFirst = new(s.Limits[a.Binding].String())
	}
	if full != nil {
		d.Notes, d.Spent, d.Why = full.Notes, new(full.Spent.Document()), full.Why
		if full.Binding >= 0 {
			d.Binding = &full.Binding
		}
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
		return o, a.Pass // what lies beyond is an estimate without a measurement
	}
	// The curve through the probes may meet the limit beyond the last load that was measured to hold: where the curve
	// has a cliff, that load does not.
	if a.Met < value {
		value = a.Met
	}
	return o, value
}

// lowEnd is the lower end of the interval, which reaches to the answer.
func lowEnd(a *boundary.Answer, value float64) float64 {
	if value < a.Low {
		return value
	}
	return a.Low
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
	c.Estimate, c.Low = a.Estimate, lowEnd(&a, c.Value)
	if math.IsInf(a.High, 1) {
		c.High = math.NaN()
	}
	c.BoundBy = s.boundBy(&a)
	if list := s.limitedLoads(); len(list) > 0 {
		of := judge.LimitedLoads(c.Loads(list))
		c.Notes = append(c.Notes, judge.Words(of.Text)+" These probes do not count: "+of.Advice)
	}
	if n := len(s.unreached); n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("probes whose replies ended before the length asked for, and that do not "+
			"count: %d of %d; --extra-inputs ignore_eos:true makes many servers write on", n, a.Probes))
	}
	if a.Reason == boundary.CapacityBudget || a.Reason == boundary.CapacityMaxProbes {
		c.Notes = append(c.Notes, "the search ended before the interval was as narrow as asked: give it a larger --budget")
	}
	if len(a.Disputed) > 0 && whole != nil {
		c.Notes = append(c.Notes, s.disputed(a.Disputed, whole))
	}
	if math.IsNaN(a.Fail) && c.Outcome != answer.NotEvenSmallest {
		c.Binding = -1 // no limit was missed
	}
	c.Complete(whole)
	if why := s.why(c.Beyond); why != nil {
		c.Why = why
	}
	if text := c.Contradiction(whole); text != "" && len(a.Disputed) == 0 {
		c.Notes = append(c.Notes, text)
	}
	return c
}

// shortestRefused returns the smallest length that the server refused, infinite if it refused none.
func (s *Study) shortestRefused() float64 {
	least := math.Inf(1)
	for _, at := range s.refused {
		least = min(least, at)
	}
	return least
}

// boundByErrors reports that failed requests limit the load first.
func (s *Study) boundByErrors(a *boundary.Answer) bool {
	return a.Binding >= 0 && s.Limits[a.Binding].Metric == "request_error_rate"
}

// boundBy says what else than a limit bound the load, "" if nothing did.
func (s *Study) boundBy(a *boundary.Answer) string {
	refused := s.shortestRefused()
	switch {
	case a.Saturated && refused <= a.Fail, s.boundByErrors(a) && artifact.Finite(refused):
		what, with := "prompts", ""
		if s.Over == OSL {
			what, with = "replies", ", with their prompts"
		}
		return "the server refuses longer " + what + ": " + s.load().Value(refused) + " were too long for it" + with
	case a.Saturated:
		return judge.Words(judge.Overloaded) + ": the work in the system grew before a limit was missed"
	case a.Reason == boundary.CapacityClientLimited && len(s.unreached) > 0:
		return "the server: it ended longer replies by itself"
	case a.Reason == boundary.CapacityClientLimited:
		of := judge.ClientLimited()
		return of.Brief
	}
	return ""
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
		parts = append(parts, fmt.Sprintf("%s (%d of %d within the limits)", s.load().Value(load), within, all))
	}
	return "probes of one load contradict each other: " + strings.Join(parts, ", ") + "; the interval reaches to the next " +
		"loads whose probes agree, and longer probes (--probe) or a quieter machine narrow it"
}

// limitOf returns a condition as an answer has it.
func limitOf(f search.Filter) answer.Limit {
	m, _ := metrics.Lookup(f.Metric)
	return answer.Limit{Metric: f.Metric, Stat: f.Stat, Op: f.Op, Threshold: f.Threshold, Unit: string(m.Display)}
}
