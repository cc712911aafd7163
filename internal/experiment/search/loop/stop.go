package loop

import (
	"math"

	"aiperf/internal/experiment/search"
	"aiperf/internal/measure/stats"
)

// leastGrowth is the relative growth of the hypervolume that is an improvement; leastMean is the mean below which a
// relative spread says nothing.
const (
	leastGrowth = 1e-6
	leastMean   = 1e-9
)

// stop returns the first rule that ends the search now, empty if none does.
func (s *Search) stop() string {
	switch {
	case len(s.results) >= s.spec.MaxIterations:
		return MaxIterations
	case s.spec.OneDimensional() || s.options.Planner != nil:
		return "" // its planner ends at its own precision
	case len(s.results)-s.improved >= s.spec.Patience:
		return ImprovementPatience
	case s.plateau():
		return PlateauCV
	}
	return ""
}

// improves reports whether the last iteration is better than all before: strictly, or by its hypervolume with several
// objectives. The first feasible one is.
func (s *Search) improves() bool {
	last := len(s.results) - 1
	if len(s.spec.Objectives) == 1 {
		best := s.bestOf(s.results)
		return len(best) == 1 && best[0] == last
	}
	eligible := s.eligible(s.results)
	n := len(eligible) - 1
	if n < 0 || eligible[n] != last {
		return false
	}
	reference := s.reference(s.results)
	return n == 0 || grown(s.volume(s.results, eligible[:n], reference), s.volume(s.results, eligible, reference))
}

// grown reports whether a hypervolume improved.
func grown(before, now float64) bool { return now > before && now-before > leastGrowth*before }

// plateau reports whether the last scored iterations hardly differ.
func (s *Search) plateau() bool {
	w := s.spec.PlateauWindow
	if len(s.results) < w {
		return false
	}
	for k := range s.spec.Objectives {
		var m stats.Moments
		for _, it := range s.results[len(s.results)-w:] {
			if it.result.Objectives == nil {
				return false
			}
			m.Add(it.result.Objectives[k])
		}
		mean := math.Abs(m.Summary().Avg)
		if mean < leastMean || m.SampleStd()/mean >= s.spec.PlateauThreshold {
			return false
		}
	}
	return true
}

// feasible reports whether an iteration met all conditions and measured the server.
func (s *Search) feasible(it iteration) bool { return it.result.Feasible && !it.limited }

// eligible returns the scored iterations that may be best: the feasible ones, or all if none is feasible.
func (s *Search) eligible(list []iteration) []int {
	var feasible, scored []int
	for i, it := range list {
		if it.result.Objectives == nil || it.limited {
			continue
		}
		scored = append(scored, i)
		if s.feasible(it) {
			feasible = append(feasible, i)
		}
	}
	if len(feasible) > 0 {
		return feasible
	}
	return scored
}

// bestOf returns the best iterations: one with one objective, the first of equal ones; else those of the Pareto front.
func (s *Search) bestOf(list []iteration) []int {
	eligible := s.eligible(list)
	var best []int
	if len(s.spec.Objectives) == 1 {
		for _, i := range eligible {
			if len(best) == 0 || s.gain(list[i], 0) > s.gain(list[best[0]], 0) {
				best = []int{i}
			}
		}
		return best
	}
	for _, i := range eligible {
		dominated := false
		for _, j := range eligible {
			dominated = dominated || s.dominates(list[j], list[i])
		}
		if !dominated {
			best = append(best, i)
		}
	}
	return best
}

// gain returns an objective of an iteration as a number to be made large.
func (s *Search) gain(it iteration, k int) float64 {
	return gain(s.spec.Objectives[k], it.result.Objectives[k])
}

func gain(o search.Objective, v float64) float64 {
	if o.Maximize {
		return v
	}
	return -v
}

// dominates reports whether a is at least as good as b in every objective and better in one.
func (s *Search) dominates(a, b iteration) bool {
	better := false
	for k := range s.spec.Objectives {
		x, y := s.gain(a, k), s.gain(b, k)
		if x < y {
			return false
		}
		better = better || x > y
	}
	return better
}

// reference returns the reference point of the hypervolume, as gains: the thresholds of the objectives, or 5 % worse
// than the worst scored value.
func (s *Search) reference(list []iteration) []float64 {
	point := make([]float64, len(s.spec.Objectives))
	for k, o := range s.spec.Objectives {
		if o.Threshold != nil {
			point[k] = gain(o, *o.Threshold)
			continue
		}
		worst := math.Inf(1)
		for _, it := range list {
			if it.result.Objectives != nil {
				worst = min(worst, s.gain(it, k))
			}
		}
		point[k] = worst - 0.05*math.Abs(worst)
	}
	return point
}

// volume returns the hypervolume of iterations above a reference point.
func (s *Search) volume(list []iteration, which []int, reference []float64) float64 {
	var points [][]float64
	for _, i := range which {
		p := make([]float64, len(reference))
		for k := range reference {
			p[k] = s.gain(list[i], k)
		}
		points = append(points, p)
	}
	return hypervolume(points, reference)
}
