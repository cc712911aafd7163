package loop_test

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/experiment/search"
)

// history is search_history.json as it was read, of this program or of the original, newer or older.
type history struct {
	Planner       string
	Space         []search.Dimension
	Objectives    []search.Objective
	Filters       []search.Filter
	MaxIterations int
	Iterations    []iteration
	// Best are the indices of the best iterations.
	Best   []int
	Recipe string
	// Boundary is nil unless the search had one dimension.
	Boundary *boundarySummary
	// Reason is empty for a search that did not end.
	Reason string
	// Whole is the document.
	Whole artifact.Object
}

// iteration is a visit to a point.
type iteration struct {
	Values artifact.Object
	// Objectives is nil where the point could not be scored.
	Objectives []float64
	Feasible   bool
	// Contradicts reports that the verdict contradicts that of an earlier iteration.
	Contradicts bool
	// Limited and Saturated are as in [loop.Trial].
	Limited, Saturated string
	// Whole are all members of the iteration.
	Whole artifact.Object
}

// boundarySummary is where the limit of the only dimension is.
type boundarySummary struct {
	Path string
	// Pass is the highest feasible value, Fail the lowest infeasible one; NaN if there is none.
	Pass, Fail float64
	// Objective is that of Pass, NaN if it is not known.
	Objective float64
	// Breach is the condition that Fail does not meet, nil if it is not known; Observed is its figure, or NaN.
	Breach   *search.Filter
	Observed float64
	// Type is smooth or cliff, Binding the condition that binds first; empty if they are not known.
	Type, Binding string
	Whole         artifact.Object
}

// readHistory reads search_history.json.
func readHistory(path string) (*history, error) {
	text, err := bounded.ReadFile(path)
	if err != nil {
		return nil, err
	}
	o, err := artifact.ParseObject(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h, err := parseHistory(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// parseHistory returns the history that the object of search_history.json says; its error says why it is none.
func parseHistory(o artifact.Object) (*history, error) {
	config := objectAt(o, "config")
	if config == nil {
		return nil, errors.New("it is not the history of a search: it has no config")
	}
	h := &history{Whole: o, Planner: textAt(config, "planner"), Recipe: textAt(o, "recipe"),
		Reason: textAt(o, "convergence_reason"), Filters: filtersAt(config, "sla_filters")}
	if v, ok := numberAt(config, "max_iterations"); ok {
		h.MaxIterations = int(v)
	}
	for _, d := range objectsAt(config, "search_space") {
		lo, _ := numberAt(d, "lo")
		hi, _ := numberAt(d, "hi")
		h.Space = append(h.Space, search.Dimension{Path: textAt(d, "path"), Lo: lo, Hi: hi, Int: textAt(d, "kind") == "int"})
	}
	objectives := objectsAt(config, "objectives")
	if objectives == nil && textAt(config, "objective_metric") != "" { // of older files
		objectives = []artifact.Object{{{Key: "metric", Value: textAt(config, "objective_metric")},
			{Key: "stat", Value: textAt(config, "objective_stat")},
			{Key: "direction", Value: textAt(config, "objective_direction")}}}
	}
	for _, e := range objectives {
		h.Objectives = append(h.Objectives, search.Objective{Metric: textAt(e, "metric"), Stat: textAt(e, "stat"),
			Maximize: strings.EqualFold(textAt(e, "direction"), "maximize")})
	}
	for i, e := range objectsAt(o, "iterations") {
		it := iteration{Values: objectAt(e, "variation_values"),
			Limited: textAt(e, "client_limited"), Saturated: textAt(e, "saturated"), Whole: e}
		if v, ok := numberAt(e, "iteration_idx"); ok && int(v) != i {
			return nil, fmt.Errorf("iteration %d says that it is number %v", i, v)
		}
		feasible, _ := e.Get("feasible")
		it.Feasible, _ = feasible.(bool)
		contradicts, _ := e.Get("non_monotonic_warning") // a text or null in older files
		it.Contradicts = contradicts != nil && contradicts != false
		it.Objectives = objectivesAt(e)
		h.Iterations = append(h.Iterations, it)
	}
	best := objectsAt(o, "best_trials")
	if b := objectAt(o, "best"); best == nil && b != nil { // of older files
		best = []artifact.Object{b}
	}
	for _, e := range best {
		if v, ok := numberAt(e, "iteration_idx"); ok && v >= 0 && int(v) < len(h.Iterations) {
			h.Best = append(h.Best, int(v))
		}
	}
	if b := objectAt(o, "boundary_summary"); b != nil {
		h.Boundary = boundarySummaryOf(b)
	}
	return h, nil
}

// objectivesAt returns the objectives of an iteration; older files have one under objective_value.
func objectivesAt(e artifact.Object) (values []float64) {
	list, _ := e.Get("objective_values")
	entries, ok := list.([]any)
	if !ok {
		if v, one := numberAt(e, "objective_value"); one {
			return []float64{v}
		}
		return nil
	}
	for _, item := range entries {
		v, ok := artifact.Number(item)
		if !ok {
			v = math.NaN()
		}
		values = append(values, v)
	}
	return values
}

func boundarySummaryOf(b artifact.Object) *boundarySummary {
	s := &boundarySummary{Path: textAt(b, "swept_dim_path"), Type: textAt(b, "boundary_type"),
		Binding: textAt(b, "binding_constraint"), Whole: b, Pass: math.NaN(), Fail: math.NaN(), Objective: math.NaN(),
		Observed: math.NaN()}
	if p := objectAt(b, "feasible_max"); p != nil {
		s.Pass, s.Objective = orNaN(p, "value"), orNaN(p, "objective_value")
	}
	f := objectAt(b, "infeasible_min")
	if f == nil {
		return s
	}
	s.Fail = orNaN(f, "value")
	if breach := objectAt(f, "first_breach"); breach != nil {
		filter := filterOf(breach)
		s.Breach, s.Observed = &filter, orNaN(breach, "observed")
	}
	return s
}

func filtersAt(o artifact.Object, key string) (filters []search.Filter) {
	for _, e := range objectsAt(o, key) {
		filters = append(filters, filterOf(e))
	}
	return filters
}

func filterOf(o artifact.Object) search.Filter {
	return search.Filter{Metric: textAt(o, "metric_tag"), Stat: textAt(o, "stat"), Op: textAt(o, "op"),
		Threshold: orNaN(o, "threshold")}
}

func textAt(o artifact.Object, key string) string {
	v, _ := o.Get(key)
	t, _ := v.(string)
	return t
}

func numberAt(o artifact.Object, key string) (float64, bool) {
	v, _ := o.Get(key)
	return artifact.Number(v)
}

func orNaN(o artifact.Object, key string) float64 {
	if v, ok := numberAt(o, key); ok {
		return v
	}
	return math.NaN()
}

func objectAt(o artifact.Object, key string) artifact.Object {
	v, _ := o.Get(key)
	object, _ := v.(artifact.Object)
	return object
}

func objectsAt(o artifact.Object, key string) (list []artifact.Object) {
	v, _ := o.Get(key)
	entries, _ := v.([]any)
	for _, e := range entries {
		if object, ok := e.(artifact.Object); ok {
			list = append(list, object)
		}
	}
	return list
}
