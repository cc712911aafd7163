package answer

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// Accuracy is what the graded answers of a cell amount to.
type Accuracy struct {
	summary.TaskAccuracy
	// Against compares them with those of the first cell, problem by problem; nil in that cell, and where no problem is
	// common to both.
	Against *summary.Difference
}

// accuracyKey is the figure of [Accuracy].
const accuracyKey = metrics.AccuracyOverall + "_avg"

// SetAccuracy sets what the answers of a cell amount to, and the interval of the figure accordingly: that of a share of
// problems, whatever the number of runs.
func (c *Cell) SetAccuracy(a *Accuracy) {
	c.Accuracy = a
	f, ok := c.Figures[accuracyKey]
	if !ok || a == nil {
		return
	}
	ci := a.Interval()
	f.Low, f.High = min(f.Mean, ci.Low), max(f.Mean, ci.High)
	c.Figures[accuracyKey] = f
}

// Graded reports whether answers of any cell were graded.
func (s *Sweep) Graded() bool { return s.accuracyBase() != nil }

// accuracyBase returns the cell that others are compared with, nil if no answers were graded.
func (s *Sweep) accuracyBase() *Cell {
	for i := range s.Cells {
		if s.Cells[i].Accuracy != nil {
			return &s.Cells[i]
		}
	}
	return nil
}

// AccuracyFindings says at which cells the server answers better or worse than at the first one, or that none does.
func (s *Sweep) AccuracyFindings() []string {
	base := s.accuracyBase()
	if base == nil {
		return nil
	}
	var shown []string
	var largest *Cell
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Accuracy == nil || c.Accuracy.Against == nil {
			continue
		}
		d := c.Accuracy.Against
		if d.Shown() {
			shown = append(shown, "at "+c.Label+" the server "+d.String())
		}
		if largest == nil || math.Abs(d.Difference) > math.Abs(largest.Accuracy.Against.Difference) {
			largest = c
		}
	}
	switch {
	case len(shown) > 0:
		return shown
	case largest == nil:
		return nil
	}
	d := largest.Accuracy.Against
	return []string{fmt.Sprintf("no cell shows a certain difference of accuracy from %s: at most %s points at %s, 95 %%: %s",
		base.Label, d.Points(), largest.Label, d.Between())}
}

// AccuracyTable returns a table of accuracies with a line for each cell that has one, headings first; nil without any.
func (s *Sweep) AccuracyTable() [][]string {
	base := s.accuracyBase()
	if base == nil {
		return nil
	}
	rows := [][]string{{"Cell", "Accuracy", "95 %", "Right", "Unparsed", "Change (points)", "95 %", "Lost, won", "p"}}
	for i := range s.Cells {
		c := &s.Cells[i]
		a := c.Accuracy
		if a == nil {
			continue
		}
		ci := a.Interval()
		row := []string{c.Label, fmt.Sprintf("%.2f %%", 100*a.Rate()), fmt.Sprintf("%.1f–%.1f %%", 100*ci.Low, 100*ci.High),
			artifact.GroupThousands(fmt.Sprint(a.Correct)) + " of " + artifact.GroupThousands(fmt.Sprint(a.Total)),
			artifact.GroupThousands(fmt.Sprint(a.Unparsed)), "", "", "", ""}
		if d := a.Against; d != nil {
			row[5], row[6], row[7], row[8] = d.Points(), d.Between(), fmt.Sprintf("%d, %d", d.Lost, d.Won), d.Probability()
		}
		rows = append(rows, row)
	}
	return rows
}

// AccuracyTitle is the heading of accuracies: "Accuracy against concurrency".
func (s *Sweep) AccuracyTitle() string {
	var names []string
	for _, p := range s.Parameters {
		names = append(names, p.Name)
	}
	if len(names) == 0 || len(names) > 3 {
		return "Accuracy by cell"
	}
	return "Accuracy against " + strings.Join(names, ", ")
}

// Document is a cell's accuracy in files.
func (a *Accuracy) Document(parameters artifact.Object) CellAccuracyDocument {
	ci := a.Interval()
	return CellAccuracyDocument{Parameters: parameters, Correct: a.Correct, Total: a.Total, Unparsed: a.Unparsed,
		Problems: a.Problems, Accuracy: a.Rate(), Low: ci.Low, High: ci.High, Against: a.Against}
}

// accuracy sets the accuracies of the cells.
func (s *Sweep) accuracy(f *AggregateDocument) {
	if f.Accuracy == nil {
		return
	}
	for _, of := range f.Accuracy.Cells {
		a := &Accuracy{TaskAccuracy: summary.TaskAccuracy{Task: summary.OverallTask, Correct: of.Correct, Total: of.Total,
			Unparsed: of.Unparsed, Problems: of.Problems}}
		if d := of.Against; d != nil && d.Problems > 0 && d.Lost+d.Won <= d.Problems && d.Lost >= 0 && d.Won >= 0 {
			a.Against = summary.NewDifference(d.Problems, d.Lost, d.Won, f.Accuracy.Confidence)
		}
		for i := range s.Cells {
			if f.Cells[i].matches(of.Parameters) {
				s.Cells[i].SetAccuracy(a)
			}
		}
	}
}
