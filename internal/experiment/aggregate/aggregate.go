// Package aggregate joins the runs of an experiment that has several cells: what each cell amounts to, which are best,
// which no other dominates, and the files, tables and lines that say so.
//
// Vocabulary: a [Sweep] has [Cell] after Cell, each one configuration with the figures of its successful runs, its
// trials; a figure is one statistic of one metric over them, with the key tag_stat; a cell is feasible if its figures
// meet all filters; the Pareto front are the cells that no other beats on both axes.
//
// Invariants: everything is a pure function of the cells, of the runs that were added, in any order of the cells, and of
// their graded answers;
// a figure that is not known is null, nan or empty, never 0, except in the form of the original beside it (one trial of
// each cell: a spread of 0). The package never knows how a run is made.
package aggregate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/summary"
)

// The orders of the runs of a sweep: the whole sweep again and again, or each cell before the next.
const (
	Repeated    = "repeated"
	Independent = "independent"
)

// Options configure an aggregate.
type Options struct {
	// Version is that of the program.
	Version string
	// Mode is Repeated or Independent; empty is Repeated.
	Mode string
	// Trials is the number of runs that are planned for each cell.
	Trials int
	// Level is the two-sided confidence of the intervals.
	Level float64
	// RunCooldown is the pause between the trials of a cell.
	RunCooldown time.Duration
	// Filters are the conditions that make a cell feasible; none: all cells are.
	Filters []search.Filter
	// Axes are those of the Pareto front; nil: request throughput and latency, as in the original.
	Axes *Axes
}

// Sweep is the aggregate of an experiment. New makes one; its runs are added as they end.
type Sweep struct {
	Options
	cells []*Cell
	at    map[cellKey]*Cell
	// names are those of the parameters, in the order of their paths.
	names []string
	paths []string
	runs  []series.Run
	// critical are the values of Student's t by the number of values.
	critical map[int]float64
	// problems are those whose answers were graded; unread are the errors of files of answers.
	problems *summary.AnswerIndex
	unread   []error
	// shapes are the different lists of figures that runs have.
	shapes []*shape
}

type cellKey struct {
	index int
	label string
}

// Cell is one configuration with what its runs say.
type Cell struct {
	series.Cell
	// Parameters are the values of the cell under the names that tables give them.
	Parameters artifact.Object
	// Runs are all that were made of the cell, without their metrics.
	Runs []series.Run
	// trials are the figures of those that count, shape is what any of them has.
	trials []trial
	shape  *shape
	// verdicts are those on the answers of the trials; nil where none was graded.
	verdicts *summary.Verdicts
	// written reports that the files of the cell have all its runs.
	written bool
}

// New makes the aggregate of cells, which have no runs yet.
func New(cells []series.Cell, o Options) *Sweep {
	o.Mode = cmp.Or(o.Mode, Repeated)
	s := &Sweep{Options: o, at: map[cellKey]*Cell{}, critical: map[int]float64{}, problems: summary.NewAnswerIndex()}
	s.AddCells(cells...)
	return s
}

// AddCells appends cells, as a search does that chooses them while it goes on.
func (s *Sweep) AddCells(cells ...series.Cell) {
	for i := range cells {
		c := &Cell{Cell: cells[i]}
		s.cells = append(s.cells, c)
		s.at[cellKey{c.Index, c.Label}] = c
	}
	s.name()
}

// scenario is the parameter of cells whose values are no single ones.
const scenario = "scenario"

// name gives the parameters of all cells their names. A cell whose values are no single ones has its label instead.
func (s *Sweep) name() {
	seen := map[string]bool{}
	single := make([]bool, len(s.cells))
	for i, c := range s.cells {
		single[i] = len(c.Values) > 0 && !slices.ContainsFunc(c.Values, nested)
		if !single[i] {
			continue
		}
		for _, m := range c.Values {
			seen[m.Key] = true
		}
	}
	s.paths = nil
	for path := range seen {
		s.paths = append(s.paths, path)
	}
	slices.Sort(s.paths)
	s.names = sweep.DisplayNames(s.paths)
	shown := make(map[string]string, len(s.paths))
	for i, path := range s.paths {
		shown[path] = s.names[i]
	}
	labels := false
	for i, c := range s.cells {
		c.Parameters = nil
		if !single[i] {
			c.Parameters, labels = artifact.Object{{Key: scenario, Value: c.Label}}, true
			continue
		}
		for _, m := range c.Values {
			c.Parameters = append(c.Parameters, artifact.Member{Key: shown[m.Key], Value: m.Value})
		}
	}
	if labels {
		s.names, s.paths = append([]string{scenario}, s.names...), append([]string{scenario}, s.paths...)
	}
}

func nested(m artifact.Member) bool {
	switch m.Value.(type) {
	case artifact.Object, []any:
		return true
	}
	return false
}

// Add takes runs into the aggregate. It keeps their figures, so that the caller need not keep their metrics. Runs of no
// cell of the sweep are left out.
func (s *Sweep) Add(runs ...series.Run) {
	for _, r := range runs {
		c := s.at[cellKey{r.Info.VariationIndex, r.Info.VariationLabel}]
		if c == nil {
			continue
		}
		if r.Succeeded() {
			c.add(s.trialOf(&r))
			s.grade(c, &r)
		}
		r.Metrics = nil
		s.runs, c.Runs, c.written = append(s.runs, r), append(c.Runs, r), false
	}
}

// Mean returns the mean of a figure over the trials of the cell; false if none has it.
func (c *Cell) Mean(metric, stat string) (float64, bool) {
	i, ok := c.find(metric + "_" + stat)
	if !ok {
		return math.NaN(), false
	}
	return stats.ConfidenceAt(c.values(i, nil), math.NaN()).Mean, true
}

// Succeeded reports whether a run of the cell counts.
func (c *Cell) Succeeded() bool { return len(c.trials) > 0 }

// Runs returns the runs that were added, in their order.
func (s *Sweep) Runs() []series.Run { return s.runs }

// Parameters returns the names of what the cells vary.
func (s *Sweep) Parameters() []string { return s.names }

// Cells returns the cells in the order in which they were planned.
func (s *Sweep) Cells() []*Cell { return s.cells }

// listed returns the cells that have figures: in the order of their values if there are several trials, else as they
// were planned.
func (s *Sweep) listed() []*Cell {
	var list []*Cell
	for _, c := range s.cells {
		if c.Succeeded() {
			list = append(list, c)
		}
	}
	if s.trials() > 1 {
		s.sort(list)
	}
	return list
}

// Empty reports whether no cell has figures, so that there is nothing to write.
func (s *Sweep) Empty() bool { return len(s.listed()) == 0 }

// Skipped returns the cells without a successful run.
func (s *Sweep) Skipped() []*Cell {
	return slices.DeleteFunc(slices.Clone(s.cells), func(c *Cell) bool { return c.Succeeded() })
}

// Failed returns the runs that do not count.
func (s *Sweep) Failed() []series.Run {
	return slices.DeleteFunc(slices.Clone(s.runs), func(r series.Run) bool { return r.Succeeded() })
}

// trials is the largest number of runs of a cell.
func (s *Sweep) trials() int {
	most := 0
	for _, c := range s.cells {
		most = max(most, len(c.Runs))
	}
	return most
}

// sort orders cells by their values, parameter by parameter.
func (s *Sweep) sort(list []*Cell) {
	slices.SortStableFunc(list, func(a, b *Cell) int {
		for _, name := range s.names {
			x, hasX := a.Parameters.Get(name)
			y, hasY := b.Parameters.Get(name)
			if hasX != hasY {
				if hasX {
					return -1
				}
				return 1
			}
			if c := compareValues(x, y); c != 0 {
				return c
			}
		}
		return 0
	})
}

// compareValues orders values: numbers by their size, before everything else by its text.
func compareValues(a, b any) int {
	x, numberA := number(a)
	y, numberB := number(b)
	switch {
	case numberA && numberB:
		return cmp.Compare(x, y)
	case numberA:
		return -1
	case numberB:
		return 1
	}
	return cmp.Compare(sweep.ValueText(a), sweep.ValueText(b))
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
