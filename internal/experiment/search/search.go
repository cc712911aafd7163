// Package search holds the terms of a search over runs: dimensions, objectives, conditions, and what the runs at a point
// amount to.
//
// Vocabulary: a point has one value for each dimension; a trial is one successful run at a point; a [Result] joins the
// trials of one visit to a point; a [Filter] is a condition of the service levels, whose margin is at most 0 where it is
// met. A [Planner] is asked for a point and told its result.
//
// Invariants: everything here and every planner is a pure function of its configuration, its seed and the results that
// it was told, in their order, so that a search is resumed by telling its history again. The package never knows how a
// run is made.
//
// It also has the numerical methods that planners share: factors of covariances ([Cholesky]), a descent along gradients
// ([Minimize]), and a monotone curve through points ([Monotone]). Of gonum only its vectors are used: its matrices link
// the whole of LAPACK, 3 MB.
package search

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/artifact"
)

// Dimension is one value of the configuration that is searched.
type Dimension struct {
	// Path is the full path in a configuration file, such as phases.profiling.concurrency.
	Path string
	// Lo and Hi belong to the range.
	Lo, Hi float64
	// Int has whole numbers only, LogUniform an even spread of the logarithm.
	Int, LogUniform bool
}

// Point has one value for each dimension, in their order.
type Point []float64

// Objective is a figure to be made large or small.
type Objective struct {
	Metric, Stat string
	Maximize     bool
	// Threshold is the reference of the hypervolume with several objectives; nil: none was given.
	Threshold *float64
}

// The operators of filters.
const (
	LT = "lt"
	LE = "le"
	GT = "gt"
	GE = "ge"
)

// Filter is a condition on one figure of a run.
type Filter struct {
	Metric, Stat, Op string
	Threshold        float64
}

// Margin returns how far a value is beyond the filter, in the unit of the metric: negative where there is room.
func (f Filter) Margin(v float64) float64 {
	if f.Op == LT || f.Op == LE {
		return v - f.Threshold
	}
	return f.Threshold - v
}

// Passes reports whether a value meets the filter.
func (f Filter) Passes(v float64) bool {
	m := f.Margin(v)
	return m < 0 || m == 0 && (f.Op == LE || f.Op == GE)
}

// String returns the filter as it is written in flags: metric:stat:op:threshold.
func (f Filter) String() string {
	return fmt.Sprintf("%s:%s:%s:%s", f.Metric, f.Stat, f.Op, artifact.AppendFloat(nil, f.Threshold))
}

// Constraint is an outcome that steers a search without deciding what is feasible. Op is <=, >= or ==.
type Constraint struct {
	Metric, Op string
	Bound      float64
}

// Unmeasured is the value of a constraint whose figure no trial has.
const Unmeasured = 1e6

// Value returns how far an observed value violates the constraint: at most 0 where it is met; for == the distance.
func (c Constraint) Value(v float64) float64 {
	switch c.Op {
	case "<=":
		return v - c.Bound
	case ">=":
		return c.Bound - v
	}
	return math.Abs(v - c.Bound)
}

// Trial are the figures of one successful run: the value of a statistic of a metric, and whether the run has it.
type Trial func(metric, stat string) (value float64, ok bool)

// Result is what one visit to a point yielded.
type Result struct {
	Point Point
	// Objectives has a value for each objective; nil where the point could not be scored.
	Objectives []float64
	// Constraints has a value for each outcome constraint and then for each filter: at most 0 where it is met.
	Constraints []float64
	// Margins has for each trial the margin of each filter, NaN where the run does not have the figure.
	Margins [][]float64
	// Feasible reports that at least one trial meets all filters.
	Feasible bool
	Trials   []Trial
}

// Problem is what a search is about.
type Problem struct {
	Space       []Dimension
	Objectives  []Objective
	Constraints []Constraint
	Filters     []Filter
}

// Judge joins the trials of a visit to a point. objectives replaces the mean over trials of an objective, as pooled
// percentiles do; nil, or NaN for an objective, keeps the mean.
func (p *Problem) Judge(at Point, trials []Trial, objectives []float64) Result {
	r := Result{Point: slices.Clone(at), Trials: trials}
	for _, t := range trials {
		margins, all := make([]float64, len(p.Filters)), true
		for i, f := range p.Filters {
			v, ok := t(f.Metric, f.Stat)
			margins[i] = math.NaN()
			if ok {
				margins[i] = f.Margin(v)
			}
			all = all && ok && f.Passes(v)
		}
		r.Margins = append(r.Margins, margins)
		r.Feasible = r.Feasible || all
	}
	for i, o := range p.Objectives {
		v, ok := Mean(trials, o.Metric, o.Stat)
		if i < len(objectives) && !math.IsNaN(objectives[i]) {
			v, ok = objectives[i], true
		}
		if !ok {
			r.Objectives = nil
			break
		}
		r.Objectives = append(r.Objectives, v)
	}
	for _, c := range p.Constraints {
		v, ok := Mean(trials, c.Metric, "avg")
		r.Constraints = append(r.Constraints, orUnmeasured(c.Value(v), ok))
	}
	for _, f := range p.Filters {
		v, ok := Mean(trials, f.Metric, f.Stat)
		r.Constraints = append(r.Constraints, orUnmeasured(f.Margin(v), ok))
	}
	return r
}

func orUnmeasured(v float64, ok bool) float64 {
	if !ok {
		return Unmeasured
	}
	return v
}

// Mean returns the mean of a figure over the trials that have it; ok is false if none has.
func Mean(trials []Trial, metric, stat string) (mean float64, ok bool) {
	n := 0
	for _, t := range trials {
		if v, has := t(metric, stat); has {
			mean, n = mean+v, n+1
		}
	}
	return mean / float64(max(n, 1)), n > 0
}

// Planner chooses the points of a search. Ask and Tell are called in turns.
type Planner interface {
	// Ask returns the next point; false when the search is over.
	Ask() (Point, bool)
	// Tell reports what the runs at the last point yielded.
	Tell(Result)
	// Reason says why the planner ended the search, in the words of search_history.json; empty while it goes on.
	Reason() string
}

// Boundary is what a planner of one dimension knows of the limit between feasible and infeasible values.
type Boundary struct {
	// Type is smooth or cliff, empty where the planner does not tell them apart.
	Type string
	// Binding is the filter that binds first, -1 if it is not known.
	Binding int
	// MarginLow and MarginHigh are the interval of the mean margin at the boundary; NaN if there is none.
	MarginLow, MarginHigh float64
	// NonMonotonic reports that the last result contradicts an earlier one.
	NonMonotonic bool
}

// Bounded is a planner that looks for a boundary.
type Bounded interface {
	Planner
	Boundary() Boundary
}
