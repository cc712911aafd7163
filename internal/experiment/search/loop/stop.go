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
	eligible := s.eligible()
	n := len(eligible) - 1
	if n < 0 || eligible[n] != last {
		return false
	}
	if n == 0 {
		return true
	}
	values, objectives := s.values(eligible), s.spec.Objectives
	if len(objectives) == 1 {
		return s.best()[0] == last
	}
	reference := search.Reference(values, objectives)
	return grown(search.Hypervolume(values[:n], reference, objectives),
		search.Hypervolume(values, reference, objectives))
}

// values returns the objectives of iterations.
func (s *Search) values(which []int) (list [][]float64) {
	for _, i := range which {
		list = append(list, s.results[i].result.Objectives)
	}
	return list
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
func (s *Search) eligible() []int {
	var feasible, scored []int
	for i, it := range s.results {
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

// best returns the best iterations: one with one objective, the first of equal ones; else those of the Pareto front.
func (s *Search) best() (best []int) {
	eligible := s.eligible()
	values, objectives := s.values(eligible), s.spec.Objectives
	if len(objectives) > 1 {
		for _, i := range search.Front(values, objectives) {
			best = append(best, eligible[i])
		}
		return best
	}
	for i := range eligible {
		if best == nil || objectives[0].Improves(values[i][0], s.results[best[0]].result.Objectives[0]) {
			best = []int{eligible[i]}
		}
	}
	return best
}
