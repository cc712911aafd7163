package loop

import (
	"fmt"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
)

// Document returns search_history.json as it stands.
func (s *Search) Document() artifact.Object {
	iterations := []any{}
	for i := range s.results {
		iterations = append(iterations, s.iterationObject(&s.results[i]))
	}
	o := artifact.Object{
		{Key: "config", Value: s.spec.document(s.options.PlannerName)},
		{Key: "iterations", Value: iterations},
		{Key: "best_trials", Value: s.bestTrials()},
		{Key: "boundary_summary", Value: s.boundarySummary()},
	}
	if t, ok := s.planner.(Tiered); ok {
		o = append(o, s.tierMembers(t.TierDocument())...)
	}
	return append(o, artifact.Member{Key: "recipe", Value: orNull(s.spec.Recipe)},
		artifact.Member{Key: "convergence_reason", Value: orNull(s.reason)})
}

// Tiered is a planner that searches the limits of several tiers.
type Tiered interface {
	search.Planner
	// TierDocument returns the members tier_results and tier_metadata of the history.
	TierDocument() artifact.Object
}

// document returns the specification as the history has it. name replaces that of the planner where it is not empty.
func (s *Spec) document(name string) artifact.Object {
	objectives, constraints, space := []any{}, []any{}, []any{}
	for _, o := range s.Objectives {
		direction := "MINIMIZE"
		if o.Maximize {
			direction = "MAXIMIZE"
		}
		var threshold any
		if o.Threshold != nil {
			threshold = *o.Threshold
		}
		objectives = append(objectives, artifact.Object{{Key: "metric", Value: o.Metric}, {Key: "stat", Value: o.Stat},
			{Key: "direction", Value: direction}, {Key: "threshold", Value: threshold}})
	}
	for _, c := range s.Constraints {
		constraints = append(constraints, artifact.Object{{Key: "metric", Value: c.Metric}, {Key: "op", Value: c.Op},
			{Key: "bound", Value: c.Bound}})
	}
	for _, d := range s.Space {
		kind := "real"
		if d.Int {
			kind = "int"
		}
		space = append(space, artifact.Object{{Key: "path", Value: d.Path}, {Key: "lo", Value: d.Lo},
			{Key: "hi", Value: d.Hi}, {Key: "kind", Value: kind}})
	}
	var seed any
	if s.Seed != nil {
		seed = *s.Seed
	}
	if name == "" {
		name = s.Planner
	}
	o := artifact.Object{
		{Key: "planner", Value: name}, {Key: "objectives", Value: objectives},
		{Key: "outcome_constraints", Value: constraints}, {Key: "max_iterations", Value: s.MaxIterations},
		{Key: "n_initial_points", Value: s.InitialPoints}, {Key: "random_seed", Value: seed},
		{Key: "improvement_patience", Value: s.Patience}, {Key: "plateau_window", Value: s.PlateauWindow},
		{Key: "plateau_threshold", Value: s.PlateauThreshold}, {Key: "search_space", Value: space},
		{Key: "sla_filters", Value: filtersObject(s.Filters)},
	}
	if len(s.Tiers) > 0 {
		tiers := []any{}
		for _, t := range s.Tiers {
			entry := artifact.Object{{Key: "label", Value: t.Label}, {Key: "filters", Value: filtersObject(t.Filters)}}
			if t.Rank != nil {
				entry = append(entry, artifact.Member{Key: "ordering_rank", Value: *t.Rank})
			}
			tiers = append(tiers, entry)
		}
		o = append(o, artifact.Member{Key: "tiers", Value: tiers})
	}
	return o
}

func filtersObject(filters []search.Filter) []any {
	list := []any{}
	for _, f := range filters {
		list = append(list, filterObject(f))
	}
	return list
}

func filterObject(f search.Filter) artifact.Object {
	return artifact.Object{{Key: "metric_tag", Value: f.Metric}, {Key: "stat", Value: f.Stat}, {Key: "op", Value: f.Op},
		{Key: "threshold", Value: f.Threshold}}
}

func (s *Search) iterationObject(it *iteration) artifact.Object {
	o := artifact.Object{
		{Key: "iteration_idx", Value: it.proposal.Iteration},
		{Key: "variation_values", Value: it.proposal.Values},
		{Key: "objective_values", Value: valuesOrNull(it.result.Objectives)},
		{Key: "feasible", Value: s.feasible(*it)},
		{Key: "non_monotonic_warning", Value: it.contradicts},
	}
	for _, m := range []artifact.Member{{Key: "client_limited", Value: it.first(func(t *Trial) string {
		return t.Limited
	})}, {Key: "saturated", Value: it.first(func(t *Trial) string { return t.Saturated })}} {
		if m.Value != "" {
			o = append(o, m)
		}
	}
	return append(o, it.extra...)
}

// first returns the first text of the trials that is not empty.
func (it *iteration) first(of func(*Trial) string) string {
	for i := range it.trials {
		if text := of(&it.trials[i]); text != "" {
			return text
		}
	}
	return ""
}

func pointText(values artifact.Object) string {
	var parts []string
	for _, m := range values {
		parts = append(parts, fmt.Sprintf("%s=%v", m.Key, m.Value))
	}
	return strings.Join(parts, ", ")
}

func valuesOrNull(values []float64) any {
	if values == nil {
		return nil
	}
	list := []any{}
	for _, v := range values {
		list = append(list, v)
	}
	return list
}

// bestTrials returns the best points, nil when nothing was scored.
func (s *Search) bestTrials() any {
	best := s.best()
	if len(best) == 0 {
		return nil
	}
	feasible := 0
	for _, it := range s.results {
		if s.feasible(it) {
			feasible++
		}
	}
	list := []any{}
	for _, i := range best {
		it := s.results[i]
		list = append(list, artifact.Object{
			{Key: "iteration_idx", Value: i}, {Key: "objective_values", Value: valuesOrNull(it.result.Objectives)},
			{Key: "variation_values", Value: it.proposal.Values}, {Key: "feasible", Value: s.feasible(it)},
			{Key: "feasible_count", Value: feasible}, {Key: "pareto_rank", Value: 0},
		})
	}
	return list
}

// boundarySummary returns between which values of the only dimension the limit is, nil with several dimensions.
func (s *Search) boundarySummary() any {
	if len(s.spec.Space) != 1 {
		return nil
	}
	highest, lowest := s.bounds()
	o := artifact.Object{{Key: "swept_dim_path", Value: s.spec.Space[0].Path},
		{Key: "feasible_max", Value: nil}, {Key: "infeasible_min", Value: nil}}
	if highest != nil {
		var objective any
		if v := highest.result.Objectives; len(v) > 0 {
			objective = v[0]
		}
		o[1].Value = artifact.Object{{Key: "value", Value: highest.proposal.Values[0].Value},
			{Key: "iteration_idx", Value: highest.proposal.Iteration}, {Key: "objective_value", Value: objective}}
	}
	if lowest != nil {
		o[2].Value = artifact.Object{{Key: "value", Value: lowest.proposal.Values[0].Value},
			{Key: "iteration_idx", Value: lowest.proposal.Iteration}, {Key: "first_breach", Value: s.firstBreach(lowest)}}
	}
	if b, ok := s.planner.(search.Bounded); ok {
		o = append(o, s.boundaryObject(b.Boundary())...)
	}
	if _, tiered := s.planner.(Tiered); tiered {
		contradicted := false
		for i := range s.results {
			contradicted = contradicted || s.results[i].contradicts
		}
		o = append(o, artifact.Member{Key: "non_monotonic_warning", Value: contradicted},
			artifact.Member{Key: "convergence_reason", Value: orNull(s.reason)})
	}
	return append(o, s.Extra...)
}

// tierMembers returns what a planner of tiers says, with all figures at the limit of each tier.
func (s *Search) tierMembers(members artifact.Object) artifact.Object {
	results, _ := members.Get("tier_results")
	list, _ := results.([]any)
	for _, e := range list {
		one, _ := e.(artifact.Object)
		at, found := numberAt(one, "boundary_concurrency")
		if !found {
			continue
		}
		var trials []Trial
		for i := range s.results {
			if it := &s.results[i]; !it.limited && it.proposal.Point[0] == at {
				trials = append(trials, it.trials...)
			}
		}
		if metrics := meansOf(trials); len(metrics) > 0 {
			one.Set("boundary_metrics", metrics)
		}
	}
	return members
}

// meansOf returns the means of all figures over the successful trials, by metric and statistic.
func meansOf(trials []Trial) artifact.Object {
	all := artifact.Object{}
	for i := range trials {
		for _, m := range trials[i].Metrics {
			if _, done := all.Get(m.Tag); done {
				continue
			}
			stats := artifact.Object{}
			for _, stat := range m.Stats {
				sum, n := 0.0, 0
				for k := range trials {
					if v, ok := trials[k].Figure(m.Tag, stat.Key); ok {
						sum, n = sum+v, n+1
					}
				}
				if n > 0 {
					stats = append(stats, artifact.Member{Key: stat.Key, Value: sum / float64(n)})
				}
			}
			all = append(all, artifact.Member{Key: m.Tag, Value: stats})
		}
	}
	return all
}

// bounds returns the iterations of the largest value of the only dimension that met all conditions and of the smallest
// that did not; nil where there is none.
func (s *Search) bounds() (highest, lowest *iteration) {
	for i := range s.results {
		it := &s.results[i]
		at := it.proposal.Point[0]
		switch {
		case it.limited:
		case it.result.Feasible && (highest == nil || at >= highest.proposal.Point[0]):
			highest = it
		case !it.result.Feasible && (lowest == nil || at <= lowest.proposal.Point[0]):
			lowest = it
		}
	}
	return highest, lowest
}

// boundaryObject returns what a planner knows of the limit, nil where it does not tell its kinds apart.
func (s *Search) boundaryObject(b search.Boundary) artifact.Object {
	if b.Type == "" {
		return nil
	}
	var binding, interval any
	if b.Binding >= 0 && b.Binding < len(s.spec.Filters) {
		binding = FilterKey(b.Binding, s.spec.Filters[b.Binding])
	}
	if artifact.Finite(b.MarginLow) && artifact.Finite(b.MarginHigh) {
		interval = artifact.Object{{Key: "lo", Value: b.MarginLow}, {Key: "hi", Value: b.MarginHigh}}
	}
	return artifact.Object{{Key: "boundary_type", Value: b.Type}, {Key: "binding_constraint", Value: binding},
		{Key: "boundary_ci", Value: interval}}
}

// FilterKey returns the name of a condition in the files of a search: index:tag.stat.op.threshold.
func FilterKey(index int, f search.Filter) string {
	return fmt.Sprintf("%d:%s.%s.%s.%s", index, f.Metric, f.Stat, f.Op, artifact.AppendFloat(nil, f.Threshold))
}

// firstBreach returns the first condition that no trial meets; failing that, the first that not all meet. It is nil
// where the verdict does not come from a condition.
func (s *Search) firstBreach(it *iteration) any {
	var breached *search.Filter
	least := 0
	for _, f := range s.conditions() {
		passed, good := 0, 0
		for i := range it.trials {
			if t := &it.trials[i]; t.Err == "" {
				good++
				if v, ok := t.Figure(f.Metric, f.Stat); ok && f.Passes(v) {
					passed++
				}
			}
		}
		if (passed < good || good == 0) && (breached == nil || passed < least) {
			breached, least = &f, passed
		}
	}
	if breached == nil {
		return nil
	}
	var trials []search.Trial
	for i := range it.trials {
		if it.trials[i].Err == "" {
			trials = append(trials, it.trials[i].Figure)
		}
	}
	var observed any
	if v, ok := search.Mean(trials, breached.Metric, breached.Stat); ok {
		observed = v
	}
	return append(filterObject(*breached), artifact.Member{Key: "observed", Value: observed})
}
