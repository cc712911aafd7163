package aggregate

import (
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/stats"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/answer"
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
	d := answer.AggregateDocument{RunsDocument: series.RunsDocument("sweep", s.runs), Metadata: s.metadata(),
		Pareto: parametersOf(s.Front()), Accuracy: s.accuracyDocument(),
		Answers: s.Answer("").LoadsDocuments()}
	for _, b := range s.Best() {
		d.Best.Add(b.Key, &answer.BestDocument{Parameters: b.Cell.Parameters, Metric: artifact.Known(b.Value), Unit: b.Unit})
	}
	listed := s.listed()
	for _, c := range listed {
		d.Cells = append(d.Cells, answer.CellDocument{Parameters: c.Parameters, ClientLimited: c.limited(),
			Times: c.times()})
	}
	o := artifact.ObjectOf(d)
	cells, _ := o.Get("per_combination_metrics")
	for i, of := range cells.([]any) {
		of.(artifact.Object).Set("metrics", artifact.Lazy(func() any { return s.blocks(listed[i]) }))
	}
	return o
}

// limited counts the runs of a cell in which the client was the bottleneck.
func (c *Cell) limited() (n int) {
	for i := range c.Runs {
		if c.Runs[i].Succeeded() && c.Runs[i].ClientLimited() {
			n++
		}
	}
	return n
}

// times is where the time of the requests of a cell went, on average over its runs.
func (c *Cell) times() *timesplit.Times {
	var list []*timesplit.Times
	for i := range c.Runs {
		if c.Runs[i].Succeeded() {
			list = append(list, c.Runs[i].Times)
		}
	}
	return timesplit.Mean(list)
}

func parametersOf(cells []*Cell) (list []artifact.Object) {
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

func (s *Sweep) metadata() answer.SweepMetadata {
	trials := s.trials()
	d := answer.SweepMetadata{Combinations: max(1, len(s.cells)), Mode: s.Mode, Level: artifact.Known(s.Level),
		Trials: &trials, Type: "sweep"}
	for _, name := range s.names {
		d.Parameters = append(d.Parameters, answer.ParameterDocument{Name: name, Values: s.values(name)})
	}
	if len(s.Filters) > 0 {
		d.Constraint = s.constraints()
	}
	if s.Axes != nil {
		d.Axes = s.Axes.document()
	}
	for _, c := range s.Skipped() {
		d.Skipped = append(d.Skipped, c.Parameters)
	}
	return d
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
func (s *Sweep) constraints() *answer.ConstraintsDocument {
	list := s.listed()
	d := &answer.ConstraintsDocument{Feasible: len(s.feasible(list))}
	d.Infeasible = len(list) - d.Feasible
	for _, f := range s.Filters {
		d.Filters = append(d.Filters, answer.LimitDocument{Metric: f.Metric, Stat: f.Stat, Op: f.Op,
			Threshold: artifact.Known(f.Threshold)})
	}
	return d
}
