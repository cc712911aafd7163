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

// Object is a cell's accuracy in files.
func (a *Accuracy) Object(parameters artifact.Object) artifact.Object {
	ci := a.Interval()
	o := artifact.Object{{Key: "parameters", Value: parameters}, {Key: "correct", Value: a.Correct},
		{Key: "total", Value: a.Total}, {Key: "unparsed", Value: a.Unparsed}, {Key: "problems", Value: a.Problems},
		{Key: "accuracy", Value: a.Rate()}, {Key: "ci95_low", Value: ci.Low}, {Key: "ci95_high", Value: ci.High}}
	if a.Against != nil {
		o = append(o, artifact.Member{Key: "against_first", Value: a.Against.Object()})
	}
	return o
}

// accuracyFile is accuracy in the aggregate of a sweep.
type accuracyFile struct {
	Confidence float64 `json:"confidence"`
	Cells      []struct {
		Parameters artifact.Object `json:"parameters"`
		Correct    int64           `json:"correct"`
		Total      int64           `json:"total"`
		Unparsed   int64           `json:"unparsed"`
		Problems   int64           `json:"problems"`
		Against    *struct {
			Problems int `json:"problems"`
			Lost     int `json:"lost"`
			Won      int `json:"won"`
		} `json:"against_first"`
	} `json:"cells"`
}

// accuracy sets the accuracies of the cells.
func (s *Sweep) accuracy(f *aggregateFile) {
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
