package aggregate

import (
	"math"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/stats"
)

// column is a statistic of a figure over the trials of a cell. Decimals are those of the CSV; -1 leaves it out there.
type column struct {
	name     string
	decimals int
	of       func(*stats.Estimate) float64
}

var columns = []column{
	{"mean", 2, func(e *stats.Estimate) float64 { return e.Mean }},
	{"std", 2, func(e *stats.Estimate) float64 { return e.Std }},
	{"min", 2, func(e *stats.Estimate) float64 { return e.Min }},
	{"max", 2, func(e *stats.Estimate) float64 { return e.Max }},
	{"cv", 4, func(e *stats.Estimate) float64 { return e.CV }},
	{"ci_low", -1, func(e *stats.Estimate) float64 { return e.Low }},
	{"ci_high", -1, func(e *stats.Estimate) float64 { return e.High }},
}

// Document returns profile_export_aiperf_sweep.json. The figures of a cell are made when they are written.
func (s *Sweep) Document() artifact.Object {
	failed := []any{}
	for _, r := range s.Failed() {
		failed = append(failed, artifact.Object{{Key: "label", Value: r.Info.RunLabel}, {Key: "error", Value: r.Err}})
	}
	combinations := []any{}
	for _, c := range s.listed() {
		combinations = append(combinations, artifact.Object{{Key: "parameters", Value: c.Parameters},
			{Key: "metrics", Value: artifact.Lazy(func() any { return s.blocks(c) })}})
	}
	best := artifact.Object{}
	for _, b := range s.Best() {
		best = append(best, artifact.Member{Key: b.Key, Value: artifact.Object{
			{Key: "parameters", Value: b.Cell.Parameters}, {Key: "metric", Value: b.Value},
			{Key: "unit", Value: b.Unit}}})
	}
	doc := artifact.Object{
		{Key: "aggregation_type", Value: "sweep"},
		{Key: "num_profile_runs", Value: len(s.runs)},
		{Key: "num_successful_runs", Value: len(s.runs) - len(failed)},
		{Key: "failed_runs", Value: failed},
		{Key: "metadata", Value: s.metadata()},
		{Key: "per_combination_metrics", Value: combinations},
		{Key: "best_configurations", Value: best},
		{Key: "pareto_optimal", Value: parametersOf(s.Front())},
	}
	if accuracy := s.accuracyObject(); accuracy != nil {
		doc = append(doc, artifact.Member{Key: "accuracy", Value: accuracy})
	}
	return doc
}

func parametersOf(cells []*Cell) []any {
	list := []any{}
	for _, c := range cells {
		list = append(list, c.Parameters)
	}
	return list
}

// blocks returns the figures of a cell; with one trial of each also its metrics as wholes, by their tags, as the
// original writes those.
func (s *Sweep) blocks(c *Cell) artifact.Object {
	out := make(artifact.Object, 0, len(c.shape.keys))
	s.figures(c, func(k *key, e *stats.Estimate) {
		block := make(artifact.Object, 0, len(columns)+1)
		for _, col := range columns {
			var v any // null for what JSON cannot represent
			if x := col.of(e); artifact.Finite(x) {
				v = x
			}
			block = append(block, artifact.Member{Key: col.name, Value: v})
		}
		block = append(block, artifact.Member{Key: "unit", Value: k.unit})
		out = append(out, artifact.Member{Key: k.name, Value: block})
	})
	if s.trials() > 1 {
		return out
	}
	for w := range c.wholes() {
		block := make(artifact.Object, 0, len(columns)+len(w.values)+1)
		for _, col := range columns {
			block = append(block, artifact.Member{Key: col.name, Value: col.of(&w.Estimate)})
		}
		block = append(block, artifact.Member{Key: "unit", Value: w.unit})
		for i, v := range w.values {
			if stat := w.keys[i].stat; !slices.ContainsFunc(columns, func(col column) bool { return col.name == stat }) {
				block = append(block, artifact.Member{Key: stat, Value: v})
			}
		}
		if w.count > 0 {
			block = append(block, artifact.Member{Key: "count", Value: w.count})
		}
		out = append(out, artifact.Member{Key: w.tag, Value: block})
	}
	return out
}

func (s *Sweep) metadata() artifact.Object {
	parameters := []any{}
	for _, name := range s.names {
		parameters = append(parameters, artifact.Object{{Key: "name", Value: name},
			{Key: "values", Value: s.values(name)}})
	}
	meta := artifact.Object{
		{Key: "sweep_parameters", Value: parameters},
		{Key: "num_combinations", Value: max(1, len(s.cells))},
	}
	if len(s.Filters) > 0 {
		meta = append(meta, artifact.Member{Key: "sla_constraints", Value: s.constraints()})
	}
	meta = append(meta,
		artifact.Member{Key: "sweep_mode", Value: s.Mode},
		artifact.Member{Key: "confidence_level", Value: s.Level},
		artifact.Member{Key: "num_trials_per_value", Value: s.trials()})
	if s.Axes != nil {
		meta = append(meta, artifact.Member{Key: "pareto_axes", Value: s.Axes.object()})
	}
	if skipped := s.Skipped(); len(skipped) > 0 {
		meta = append(meta, artifact.Member{Key: "skipped_values", Value: parametersOf(skipped)})
	}
	return append(meta, artifact.Member{Key: "aggregation_type", Value: "sweep"})
}

// values returns the different values of a parameter in all cells, those without a successful run too, ascending.
func (s *Sweep) values(name string) []any {
	list := []any{}
	for _, c := range s.cells {
		if v, ok := c.Parameters.Get(name); ok {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, compareValues)
	return slices.CompactFunc(list, func(a, b any) bool { return compareValues(a, b) == 0 })
}

// constraints is sla_constraints of the metadata: the filters, and how many cells meet them.
func (s *Sweep) constraints() artifact.Object {
	filters := []any{}
	for _, f := range s.Filters {
		filters = append(filters, artifact.Object{{Key: "metric_tag", Value: f.Metric}, {Key: "stat", Value: f.Stat},
			{Key: "op", Value: f.Op}, {Key: "threshold", Value: finiteOrNil(f.Threshold)}})
	}
	list := s.listed()
	good := len(s.feasible(list))
	return artifact.Object{{Key: "active_filters", Value: filters}, {Key: "feasible_count", Value: good},
		{Key: "infeasible_count", Value: len(list) - good}}
}

func finiteOrNil(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}
