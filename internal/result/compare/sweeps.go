package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/terminal"
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

// CompareSweeps compares a sweep with the base, cell by cell. Sweeps without a common cell have their curves.
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
	case len(c.Cells) == 0 && len(c.Curves()) > 0:
		c.Confidence = cmp.Or(o.Confidence, 0.95)
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
		if len(only.cells) > 0 && len(c.Cells) > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s has no figures of %s, which %s has", only.lacks.Name,
				strings.Join(only.cells, "; "), only.has.Name))
		}
	}
	return c, nil
}

// Failed reports whether the new sweep is worse somewhere, lacks something that the base has, or is not complete.
func (c *SweepComparison) Failed() bool {
	return len(c.OnlyBase) > 0 || slices.ContainsFunc(c.Cells, func(one CellComparison) bool {
		return one.Incomplete || one.Worse()+len(one.Missing) > 0 || one.AnswersLeaning() == Worse
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

func cellsOf(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}

// Headline says in one line in how many cells the new sweep is better or worse, and where most.
func (c *SweepComparison) Headline() string {
	return c.NewName() + ": " + c.Finding()
}

// NewName is the short name of the new sweep, unless the base has the same one.
func (c *SweepComparison) NewName() string { return shortName(c.New.Name, c.Base.Name) }

// Leaning is Worse if any cell is, else Better if any is, else Same.
func (c *SweepComparison) Leaning() Verdict {
	switch worse, better := c.tally(); {
	case worse > 0:
		return Worse
	case better > 0:
		return Better
	}
	return Same
}

// Best returns sentences that compare the best configurations that both sweeps have.
func (c *SweepComparison) Best() []string { return c.bestLines() }

// Finding is the headline without the name.
func (c *SweepComparison) Finding() string {
	if len(c.Cells) == 0 {
		return c.apart()
	}
	worse, better := c.tally()
	of := cellsOf(len(c.Cells))
	var parts []string
	if worse > 0 {
		parts = append(parts, fmt.Sprintf("worse in %d of %s", worse, of))
	}
	if better > 0 {
		parts = append(parts, fmt.Sprintf("better in %d of %s", better, of))
	}
	if parts == nil {
		return "no cell of " + of + " is shown to be better or worse"
	}
	return strings.Join(parts, ", ")
}

// tally counts the cells with a worse figure, and those with a better and no worse one.
func (c *SweepComparison) tally() (worse, better int) {
	for _, one := range c.Cells {
		switch one.tone() {
		case red:
			worse++
		case green:
			better++
		}
	}
	return worse, better
}

// Text returns the comparison as text for a terminal: the headline, then a line for each cell, or its table where
// figures were asked for.
func (c *SweepComparison) Text(o TextOptions) string {
	p := &printer{TextOptions: o}
	p.headline(c.NewName(), c.Finding(), tones[c.Leaning()])
	p.line("")
	p.wrapped(fmt.Sprintf("%s (%s) against %s (%s), %.4g %% confidence", c.New.Name, cellsOf(len(c.New.Cells)),
		c.Base.Name, cellsOf(len(c.Base.Cells)), 100*c.Confidence), "")
	p.line("")
	if len(c.Cells) == 0 {
		p.curves(c.Curves())
	}
	tables := o.All
	for _, one := range c.Cells {
		tables = tables || one.chosen
	}
	widest := 0
	for _, one := range c.Cells {
		widest = max(widest, terminal.Width(terminal.Text(one.Name)))
	}
	for _, one := range c.Cells {
		name := terminal.Text(one.Name)
		if !tables {
			space := strings.Repeat(" ", widest-terminal.Width(name)+2)
			indent := strings.Repeat(" ", min(widest+2, p.width()/2))
			for i, line := range terminal.Wrap(one.Finding(), p.width()-len(indent)) {
				if i == 0 {
					p.line(p.styled(name, bold) + space + p.styled(line, one.tone()))
					continue
				}
				p.line(indent + p.styled(line, one.tone()))
			}
			continue
		}
		p.line(p.styled(name, bold))
		figures, _ := p.figures(one.Comparison)
		for _, line := range p.table(p.rows(one.Comparison, figures)) {
			p.line(line)
		}
		p.line("")
	}
	if !tables && len(c.Cells) > 0 {
		p.line("")
		p.line("The figures of each cell: --all")
	}
	for _, line := range c.bestLines() {
		p.wrapped(line, "  ")
	}
	p.notes(c.Notes)
	return p.String()
}

// curves writes the points of both sweeps in one table, as many figures as fit.
func (p *printer) curves(list []Curves) {
	rows := curvesTable(list)
	for len(rows[0]) > 3 && tableWidth(widthsOf(rows)) > p.widest() {
		list = list[:len(list)-1]
		rows = curvesTable(list)
	}
	for _, line := range p.table(rows) {
		p.line(line)
	}
}

// Markdown returns the comparison as tables of a Markdown page.
func (c *SweepComparison) Markdown(all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s against %s\n\n**%s**\n\n%s against %s, %.4g %% confidence\n\n", terminal.Markdown(c.New.Name),
		terminal.Markdown(c.Base.Name), terminal.Markdown(c.Headline()), cellsOf(len(c.New.Cells)), cellsOf(len(c.Base.Cells)),
		100*c.Confidence)
	if len(c.Cells) == 0 {
		rows := curvesTable(c.Curves())
		for i, row := range rows {
			for _, cell := range row {
				b.WriteString("| " + terminal.Markdown(cell.text) + " ")
			}
			b.WriteString("|\n")
			if i == 0 {
				b.WriteString(strings.Repeat("|--:", len(row)) + "|\n")
			}
		}
		return b.String()
	}
	b.WriteString("| Cell | " + strings.Join(headings, " | ") + " |\n|---|---|---|--:|--:|--:|---|---|---|\n")
	for _, one := range c.Cells {
		figures, _ := TextOptions{All: all}.figures(one.Comparison)
		for _, i := range figures {
			b.WriteString("| " + terminal.Markdown(one.Name) + one.Figures[i].markdownCells() + "\n")
		}
	}
	b.WriteString("\n")
	for _, line := range append(c.bestLines(), c.Notes...) {
		b.WriteString("- " + terminal.Markdown(line) + "\n")
	}
	return b.String()
}

// ErrMixed is the error of a comparison of a sweep with a run.
var ErrMixed = errors.New("one is a sweep and the other is not; compare two sweeps, or name the folder of a cell")
