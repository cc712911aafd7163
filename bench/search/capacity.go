package main

import (
	"math"

	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/boundary"
)

// capacity searches with [boundary.Capacity]; a probe ends when early returns true.
func capacity(precision, warmup, seconds float64,
	early func(s *Server, f *Figures) bool,
) func(*Session) outcome {
	return func(s *Session) outcome {
		o := outcome{low: math.NaN(), high: math.NaN()}
		planner, err := boundary.NewCapacity(s.Dimension(), s.Filters, boundary.CapacityOptions{Precision: precision})
		if err != nil {
			panic(err) // the servers are ours
		}
		for {
			at, more := planner.Ask()
			if !more {
				break
			}
			var certain func(*Figures) bool
			if early != nil {
				certain = func(f *Figures) bool { return early(&s.Server, f) }
			}
			f := s.Measure(Probe{Load: at[0], Warmup: warmup, Seconds: seconds, Steady: true, Fresh: true}, certain)
			o.probes++
			o.seconds += f.Seconds
			e := evidence(s.Filters, f)
			if f.Seconds < warmup+seconds-1e-9 {
				// What ended early says on which side of the limits it is, not how far.
				for i, filter := range s.Filters {
					v, _ := f.Figure(filter.Metric, filter.Stat)
					e.Errors[i] = max(e.Errors[i], math.Abs(filter.Margin(v))/3)
				}
			}
			planner.Observe(s.Judge(f, at[0]), e)
		}
		a := planner.Answer()
		o.load, o.low, o.high, o.reason = a.Estimate, a.Low, a.High, a.Reason
		switch a.Reason {
		case boundary.CapacityNoPass:
			o.load = 0
		case boundary.CapacityNoFailure:
			o.load = math.Inf(1)
		case boundary.CapacityClientLimited:
			o.limited = true
		}
		return o
	}
}

func evidence(filters []search.Filter, f *Figures) boundary.Evidence {
	e := boundary.Evidence{Seconds: f.Seconds}
	for _, filter := range filters {
		e.Errors = append(e.Errors, f.Error(filter.Metric, filter.Stat))
	}
	if f.ClientLimited {
		e.Verdict = boundary.ClientLimited
	}
	return e
}

// decided returns a rule that ends a probe when one filter is violated, or all are met, by z standard errors and by a
// share of the threshold, after at least so many seconds if all are met. It looks whenever there are a tenth more records,
// from 100 on.
func decided(z, violated, met, least float64) func(*Server, *Figures) bool {
	return func(s *Server, f *Figures) bool {
		n := len(f.Records)
		if n < 100 || !look(n) {
			return false
		}
		all := true
		for _, filter := range s.Filters {
			v, ok := f.Figure(filter.Metric, filter.Stat)
			margin, e := filter.Margin(v), f.Error(filter.Metric, filter.Stat)
			if ok && margin > max(z*e, violated*filter.Threshold) {
				return true
			}
			all = all && ok && -margin > max(z*e, met*filter.Threshold)
		}
		return all && f.Records[n-1].End-f.Records[0].End >= least
	}
}

// look reports whether a number of records is one of a geometric series.
func look(n int) bool {
	const step = 1.1
	k := math.Floor(math.Log(float64(n)) / math.Log(step))
	return n == int(math.Ceil(math.Pow(step, k)))
}
