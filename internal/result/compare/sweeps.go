package compare

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
)

// SweepComparison compares the cells of two sweeps that have the same values.
type SweepComparison struct {
	Base, New  *Sweep
	Confidence float64
	Cells      []CellComparison
	// OnlyBase and OnlyNew are the cells that the other sweep does not have figures of.
	OnlyBase, OnlyNew []string
	Notes             []string
}

// CellComparison compares a cell.
type CellComparison struct {
	Parameters artifact.Object
	Name       string
	*Comparison
}

// CompareSweeps compares a sweep with the base, cell by cell.
func CompareSweeps(base, next *Sweep, o Options) (*SweepComparison, error) {
	c := &SweepComparison{Base: base, New: next}
	at := make(map[string]*SweepCell, len(next.Cells))
	for i := range next.Cells {
		at[next.Cells[i].key()] = &next.Cells[i]
	}
	var faults []error
	pooled := Comparison{}
	for i := range base.Cells {
		a := &base.Cells[i]
		b := at[a.key()]
		if b == nil {
			c.OnlyBase = append(c.OnlyBase, a.Name)
			continue
		}
		delete(at, a.key())
		one, err := compareFigures(&a.System, &b.System, o)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", a.Name, err))
			continue
		}
		if len(one.Missing) > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s has no %s, which %s has", a.Name, next.Name,
				strings.Join(one.Missing, ", "), base.Name))
		}
		c.Cells = append(c.Cells, CellComparison{a.Parameters, a.Name, one})
		c.Confidence = one.Confidence
		pooled.Figures = append(pooled.Figures, one.Figures...)
	}
	for i := range next.Cells {
		if at[next.Cells[i].key()] != nil {
			c.OnlyNew = append(c.OnlyNew, next.Cells[i].Name)
		}
	}
	switch {
	case len(c.Cells) == 0 && len(faults) > 0:
		return nil, faults[0] // that of the other cells is the same
	case len(c.Cells) == 0:
		return nil, fmt.Errorf("%s and %s have no cell in common: the values of %s differ", base.Name, next.Name,
			strings.Join(base.parameters, ", "))
	}
	for _, fault := range faults {
		c.Notes = append(c.Notes, fault.Error())
	}
	pooled.Confidence = c.Confidence
	pooled.remark()
	c.Notes = append(c.Notes, pooled.Notes...)
	if slices.ContainsFunc(pooled.Figures, func(f Figure) bool { return f.Method == MethodNone }) {
		c.Notes = append(c.Notes, "cells with one run on both sides have no interval: repeat them with "+
			"--num-profile-runs, or compare the folders of the cells")
	}
	for _, only := range []struct {
		cells []string
		has   *Sweep
		lacks *Sweep
	}{{c.OnlyBase, base, next}, {c.OnlyNew, next, base}} {
		if len(only.cells) > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s has no figures of %s, which %s has", only.lacks.Name,
				strings.Join(only.cells, "; "), only.has.Name))
		}
	}
	return c, nil
}

// Failed reports whether the new sweep is worse somewhere, lacks something that the base has, or is not complete.
func (c *SweepComparison) Failed() bool {
	return len(c.OnlyBase) > 0 || slices.ContainsFunc(c.Cells, func(one CellComparison) bool {
		return one.Incomplete || one.Worse()+len(one.Missing) > 0
	})
}

// bestOf is a best configuration that both sweeps have.
type bestOf struct {
	name      string
	base, new answer.Best
}

// best returns the best configurations that both sweeps have, in the order of their names.
func (c *SweepComparison) best() (list []bestOf) {
	base, next := c.Base.best(), c.New.best()
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if b, both := next[name]; both {
			list = append(list, bestOf{name, base[name], b})
		}
	}
	return list
}

// bestLines compare the best configurations of both sweeps.
func (c *SweepComparison) bestLines() (lines []string) {
	for _, b := range c.best() {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: %s (%s) → %s (%s) %s", b.name, Number(b.base.Value),
			b.base.Label, Number(b.new.Value), b.new.Label, b.new.Metric.Unit)))
	}
	return lines
}

func cellsOf(s *Sweep) string {
	if len(s.Cells) == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", len(s.Cells))
}

// Text returns the comparison as a table for the console.
func (c *SweepComparison) Text() string {
	rows := [][]string{append([]string{"Cell"}, headings...)}
	for _, one := range c.Cells {
		for i := range one.Figures {
			rows = append(rows, append([]string{one.Name}, one.Figures[i].cells()...))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) against %s (%s), %.4g %% confidence\n\n", c.New.Name, cellsOf(c.New), c.Base.Name,
		cellsOf(c.Base), 100*c.Confidence)
	layOut(&b, rows, 3)
	for _, line := range c.bestLines() {
		b.WriteString(line + "\n")
	}
	for _, note := range c.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}

// Markdown returns the comparison as tables of a Markdown page.
func (c *SweepComparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s against %s\n\n%s against %s, %.4g %% confidence\n\n", escaped(c.New.Name),
		escaped(c.Base.Name), cellsOf(c.New), cellsOf(c.Base), 100*c.Confidence)
	b.WriteString("| Cell | " + strings.Join(headings, " | ") + " |\n|---|---|---|--:|--:|--:|---|---|---|\n")
	for _, one := range c.Cells {
		for i := range one.Figures {
			b.WriteString("| " + escaped(one.Name) + one.Figures[i].markdownCells() + "\n")
		}
	}
	b.WriteString("\n")
	for _, line := range append(c.bestLines(), c.Notes...) {
		b.WriteString("- " + escaped(line) + "\n")
	}
	return b.String()
}

// Object returns the comparison as JSON.
func (c *SweepComparison) Object() artifact.Object {
	cells := []any{}
	for _, one := range c.Cells {
		o := one.Comparison.Object()
		figures, _ := o.Get("figures")
		missing, _ := o.Get("missing")
		cells = append(cells, artifact.Object{{Key: "parameters", Value: one.Parameters},
			{Key: "missing", Value: missing}, {Key: "figures", Value: figures}})
	}
	best := []any{}
	for _, b := range c.best() {
		side := func(of *answer.Best) artifact.Object {
			return artifact.Object{{Key: "cell", Value: of.Label}, {Key: "metric", Value: of.Value}}
		}
		best = append(best, artifact.Object{{Key: "name", Value: b.name}, {Key: "unit", Value: b.new.Metric.Unit},
			{Key: "base", Value: side(&b.base)}, {Key: "new", Value: side(&b.new)}})
	}
	return artifact.Object{
		{Key: "base", Value: c.Base.Name}, {Key: "new", Value: c.New.Name}, {Key: "confidence", Value: c.Confidence},
		{Key: "notes", Value: append([]string{}, c.Notes...)}, {Key: "best", Value: best},
		{Key: "only_base", Value: append([]string{}, c.OnlyBase...)},
		{Key: "only_new", Value: append([]string{}, c.OnlyNew...)}, {Key: "cells", Value: cells},
	}
}

// ErrMixed is the error of a comparison of a sweep with a run.
var ErrMixed = errors.New("one is a sweep and the other is not; compare two sweeps, or name the folder of a cell")
