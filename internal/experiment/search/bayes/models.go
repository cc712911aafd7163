package bayes

import (
	"math"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
)

// models are the processes that describe what was observed up to a result: of the objectives, such that more is better,
// then of the constraints that were measured, at most 0 where they are met.
type models struct {
	all        []*Process
	objectives int
	// x are the points of the results, observed the distinct ones; feasible are the indices of the results that are
	// scored and meet all constraints.
	x, observed [][]float64
	feasible    []int
	// reference is that of the hypervolume, standardised; without several objectives nothing is too bad.
	reference []float64
}

// history are the results of a search, and the hyperparameters chosen on the way: these are a function of the results
// and their order alone, whatever was asked in between.
type history struct {
	problem *search.Problem
	// initial is the number of results from which there are models.
	initial int
	results []search.Result
	chosen  map[int]Theta
	// fitted is the number of results that the last models have seen.
	fitted int
	last   *models
	end    terminator
}

func newHistory(p *search.Problem, o Options) history {
	return history{problem: p, initial: max(o.Initial, 1), chosen: map[int]Theta{},
		end: terminator{kind: o.Terminator, space: p.Space}}
}

// refitDue reports whether hyperparameters are chosen anew with n results: each time while a result still moves them,
// then after every fifth, as a fit takes n³ for each evaluation.
func refitDue(n int) bool { return n <= 40 || n%5 == 0 }

// models returns those that have seen all results, nil while these are too few.
func (h *history) models() *models {
	for h.fitted < len(h.results) {
		h.fitted++
		if h.fitted >= h.initial && h.scored(h.fitted) &&
			(refitDue(h.fitted) || h.end.kind != "" || h.fitted == len(h.results)) {
			h.last = h.fitModels(h.fitted)
			h.end.observe(h.last)
		}
	}
	return h.last
}

// scored reports whether any of the first n results has values of the objectives.
func (h *history) scored(n int) bool {
	return slices.ContainsFunc(h.results[:n], func(r search.Result) bool { return scored(r) })
}

func scored(r search.Result) bool {
	return len(r.Objectives) > 0 &&
		!slices.ContainsFunc(r.Objectives, func(v float64) bool { return !artifact.Finite(v) })
}

// fitModels fits models to the first n results: of the objectives in their order, then of the constraints and filters
// that any result has. Results that could not be scored stay in, with a bad value, so that the search avoids their
// region.
func (h *history) fitModels(n int) *models {
	p := h.problem
	m := &models{objectives: len(p.Objectives), reference: make([]float64, len(p.Objectives))}
	x := make([][]float64, n)
	m.x = x
	for i, r := range h.results[:n] {
		x[i] = unit(p.Space, r.Point)
		if !slices.ContainsFunc(m.observed, func(o []float64) bool { return slices.Equal(o, x[i]) }) {
			m.observed = append(m.observed, x[i])
		}
		if scored(r) && !slices.ContainsFunc(r.Constraints, func(v float64) bool { return v > 0 }) {
			m.feasible = append(m.feasible, i)
		}
	}
	var values [][]float64
	for _, r := range h.results[:n] {
		if scored(r) {
			values = append(values, r.Objectives)
		}
	}
	reference := search.Reference(values, p.Objectives)
	for o, objective := range p.Objectives {
		g := h.model(o, n, x, utilities(h.results[:n], o, objective))
		m.all = append(m.all, g)
		m.reference[o] = g.Standardise(ascending(objective, reference[o]))
	}
	if m.objectives == 1 {
		m.reference[0] = math.Inf(-1)
	}
	for c := range len(p.Constraints) + len(p.Filters) {
		if y := violations(p, h.results[:n], c); y != nil {
			m.all = append(m.all, h.model(m.objectives+c, n, x, y))
		}
	}
	return m
}

// model returns the process of one output. number is its key among the hyperparameters. A fit starts from those of
// before; now and then also from the defaults, with more evaluations, so that it leaves a local optimum that few
// results suggested.
func (h *history) model(number, n int, x [][]float64, y []float64) *Process {
	g := Observe(x, y)
	before, known := h.chosen[number]
	switch {
	case !known:
		g.fit(60, defaults(len(x[0])))
	case !refitDue(n):
		g.Use(before)
		return g
	case n <= 20, n%10 == 0 && n <= 100:
		g.fit(60, before, defaults(len(x[0])))
	default:
		g.fit(15, before)
	}
	h.chosen[number] = g.theta
	return g
}

// unit returns the place of a point in the unit cube.
func unit(space []search.Dimension, at search.Point) []float64 {
	x := make([]float64, len(space))
	for i, d := range space {
		if u := d.Unit(at[i]); u > 0 {
			x[i] = min(u, 1)
		}
	}
	return x
}

func ascending(o search.Objective, v float64) float64 {
	if o.Maximize {
		return v
	}
	return -v
}

// utilities returns the values of an objective such that more is better. A point that could not be scored has one that
// is worse than the worst by 10 % of its magnitude, at least by 1.
func utilities(results []search.Result, o int, objective search.Objective) []float64 {
	y, worst := make([]float64, len(results)), math.Inf(1)
	for i, r := range results {
		if scored(r) {
			y[i] = ascending(objective, r.Objectives[o])
			worst = min(worst, y[i])
		}
	}
	for i, r := range results {
		if !scored(r) {
			y[i] = worst - max(0.1*math.Abs(worst), 1)
		}
	}
	return y
}

// violations returns how far results are beyond a constraint, nil if none of them has its figure. Values are compressed
// as logarithms are, with the limit as their unit: an overloaded server's latency would otherwise hide what happens
// where the limit is. A point without the figure has the worst value of the others, at least one limit too much.
func violations(p *search.Problem, results []search.Result, c int) []float64 {
	limit := 0.0
	if c < len(p.Constraints) {
		limit = math.Abs(p.Constraints[c].Bound)
	} else {
		limit = math.Abs(p.Filters[c-len(p.Constraints)].Threshold)
	}
	measured := func(r search.Result) bool { return c < len(r.Constraints) && r.Constraints[c] != search.Unmeasured }
	if limit == 0 {
		var sizes []float64
		for _, r := range results {
			if measured(r) {
				sizes = append(sizes, math.Abs(r.Constraints[c]))
			}
		}
		if slices.Sort(sizes); len(sizes) > 0 {
			limit = sizes[len(sizes)/2]
		}
		if limit == 0 {
			limit = 1
		}
	}
	y, worst, known := make([]float64, len(results)), math.Log(2), false
	for i, r := range results {
		if measured(r) {
			y[i] = math.Copysign(math.Log1p(math.Abs(r.Constraints[c])/limit), r.Constraints[c])
			worst, known = max(worst, y[i]), true
		}
	}
	if !known {
		return nil
	}
	for i, r := range results {
		if !measured(r) {
			y[i] = worst
		}
	}
	return y
}
