package aggregate

import (
	"fmt"
	"slices"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
)

// accuracyConfidence is that of the differences of accuracies.
const accuracyConfidence = 0.95

// grade takes the graded answers of a run into its cell.
func (s *Sweep) grade(c *Cell, r *series.Run) {
	if metrics.Find(r.Metrics, metrics.AccuracyOverall) == nil {
		return
	}
	if c.verdicts == nil {
		c.verdicts = s.problems.Verdicts()
	}
	if err := c.verdicts.Read(r.Artifacts.Path(config.AccuracyJSONL)); err != nil {
		s.unread = append(s.unread, fmt.Errorf("graded answers of %s: %w", r.Info.RunLabel, err))
	}
}

// accuracies returns what the answers of the cells amount to: nil for a cell without any. The first cell of the plan that
// has answers is what the others are compared with.
func (s *Sweep) accuracies() map[*Cell]*answer.Accuracy {
	var base *Cell
	list := map[*Cell]*answer.Accuracy{}
	for _, c := range s.cells {
		if c.verdicts == nil || c.verdicts.Score().Total == 0 {
			continue
		}
		a := &answer.Accuracy{TaskAccuracy: c.verdicts.Score()}
		if base == nil {
			base = c
		} else {
			a.Against = summary.PairVerdicts(base.verdicts, c.verdicts, accuracyConfidence)
		}
		list[c] = a
	}
	return list
}

// accuracyDocument returns accuracy of the document, nil where nothing was graded.
func (s *Sweep) accuracyDocument() *answer.SweepAccuracyDocument {
	of := s.accuracies()
	if len(of) == 0 {
		return nil
	}
	d := &answer.SweepAccuracyDocument{Confidence: accuracyConfidence}
	for _, c := range s.listed() {
		if a := of[c]; a != nil {
			d.Cells = append(d.Cells, a.Document(c.Parameters))
		}
	}
	for _, c := range s.cells {
		if of[c] != nil {
			d.First = c.Parameters
			break
		}
	}
	return d
}

// accuracyCSV appends the accuracies of the cells.
func (s *Sweep) accuracyCSV(out []byte) []byte {
	of := s.accuracies()
	if len(of) == 0 {
		return out
	}
	out = artifact.AppendCSVRow(artifact.AppendCSVRow(out), "Accuracy")
	out = artifact.AppendCSVRow(out, slices.Concat(s.names, []string{"correct", "total", "unparsed", "problems", "accuracy",
		"ci95_low", "ci95_high", "paired_problems", "lost", "won", "difference", "difference_low", "difference_high",
		"mcnemar_p"})...)
	share := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
	for _, c := range s.listed() {
		a := of[c]
		if a == nil {
			continue
		}
		ci := a.Interval()
		row := append(s.texts(c), strconv.FormatInt(a.Correct, 10), strconv.FormatInt(a.Total, 10),
			strconv.FormatInt(a.Unparsed, 10), strconv.FormatInt(a.Problems, 10), share(a.Rate()), share(ci.Low), share(ci.High))
		if d := a.Against; d != nil {
			row = append(row, strconv.Itoa(d.Problems), strconv.Itoa(d.Lost), strconv.Itoa(d.Won), share(d.Difference),
				share(d.Low), share(d.High), strconv.FormatFloat(d.P, 'g', 4, 64))
		} else {
			row = append(row, make([]string, 7)...)
		}
		out = artifact.AppendCSVRow(out, row...)
	}
	return out
}
