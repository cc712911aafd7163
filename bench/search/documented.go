package main

import (
	"math"
	"strings"

	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/bayes"
	"aiperf/internal/experiment/search/boundary"
)

// documented searches with a planner of the documented recipes: 1000 requests a probe, a warm-up of 60 s at a new load
// and of 30 s at a known one. Its answer is the largest load that passed below the smallest one that failed.
func documented(iterations int, plan func(*Session) search.Planner) func(*Session) outcome {
	return func(s *Session) outcome {
		o := outcome{low: math.NaN(), high: math.NaN()}
		planner := plan(s)
		votes := map[float64]int{}
		for o.probes < iterations {
			at, more := planner.Ask()
			if !more {
				break
			}
			p := Probe{Load: at[0], Warmup: 60, Seconds: math.Inf(1), Requests: 1000, Fresh: true}
			if _, known := votes[at[0]]; known {
				p.Warmup = 30
			}
			f := s.Measure(p, nil)
			o.probes++
			o.seconds += f.Seconds
			r := s.Judge(f, at[0])
			votes[at[0]]--
			if r.Feasible {
				votes[at[0]] += 2
			}
			planner.Tell(r)
		}
		o.reason = planner.Reason()
		switch {
		case strings.HasSuffix(o.reason, "no_pass_in_range"):
			return o
		case strings.HasSuffix(o.reason, "no_failure_in_range"):
			o.load = math.Inf(1)
			return o
		}
		fail := math.Inf(1)
		for x, v := range votes {
			if v <= 0 {
				fail = min(fail, x)
			}
		}
		for x, v := range votes {
			if v > 0 && x < fail {
				o.load = max(o.load, x)
			}
		}
		return o
	}
}

func monotonic(s *Session) search.Planner { return boundary.NewMonotonic(whole(s), 0) }

func isotonic(s *Session) search.Planner {
	return boundary.NewIsotonic(whole(s), s.Filters, boundary.IsotonicOptions{Seed: 1})
}

// gaussian searches the load with the largest throughput under the limits, as the documented Bayesian planner does.
func gaussian(s *Session) search.Planner {
	p := s.Problem()
	p.Space[0].Int = true
	planner, err := bayes.New(&p, bayes.Options{Initial: 5, Seed: uint64(s.Seed)})
	if err != nil {
		panic(err) // the servers are ours
	}
	return planner
}

// parzen is the same with the tree of Parzen estimators.
func parzen(s *Session) search.Planner {
	p := s.Problem()
	p.Space[0].Int = true
	planner, err := bayes.NewParzen(&p, bayes.Options{Initial: 5, Seed: uint64(s.Seed)})
	if err != nil {
		panic(err) // the servers are ours
	}
	return planner
}

// whole returns the load of a session in whole numbers, the only ones that these planners search.
func whole(s *Session) search.Dimension {
	d := s.Dimension()
	d.Int = true
	return d
}
