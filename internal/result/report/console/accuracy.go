package console

import (
	"fmt"
	"io"
	"strings"

	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
)

// accuracyTable appends a line for each task of the graded answers, and one for all of them.
func (p *page) accuracyTable(a *summary.Accuracy) {
	if a == nil {
		return
	}
	overall := a.Overall()
	t := &table{title: product + " | Accuracy Benchmark Results", titleStyle: title, ruled: true,
		columns: []column{{header: "Task", style: cyan, left: true, wraps: true}, {header: "Correct", style: green},
			{header: "Total", style: green}, {header: "Unparsed", style: green}, {header: "Accuracy", style: green}}}
	for _, row := range append(append([]summary.TaskAccuracy{}, a.Tasks...), overall) {
		t.rows = append(t.rows, []cell{{text: safe(row.Task)}, {text: integer(row.Correct)}, {text: integer(row.Total)},
			{text: integer(row.Unparsed)}, {text: percentOf(row.Rate())}})
	}
	t.print(p)
	if nothingParsed(a) {
		p.remark(summary.NoneParsed, yellow)
	}
}

func nothingParsed(a *summary.Accuracy) bool {
	overall := a.Overall()
	return overall.Total > 0 && overall.Unparsed == overall.Total
}

func percentOf(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// accuracyLines appends how many answers were right, and how sure that is.
func (p *page) accuracyLines(a *summary.Accuracy) {
	if a == nil {
		return
	}
	overall := a.Overall()
	if overall.Total == 0 {
		p.row("accuracy", []span{{"no answer was graded", yellow}})
		return
	}
	ci := overall.Interval()
	parts := []span{
		{safe(a.Benchmark) + " " + percentOf(overall.Rate()), bold},
		{fmt.Sprintf("%d of %d right, 95 %%: %.1f–%.1f %%", overall.Correct, overall.Total, 100*ci.Low, 100*ci.High), plain},
	}
	if overall.Unparsed > 0 {
		parts = append(parts, span{fmt.Sprintf("%d not in the form asked for", overall.Unparsed), plain})
	}
	if a.Ungraded > 0 {
		parts = append(parts, span{fmt.Sprintf("%d failed and not graded", a.Ungraded), yellow})
	}
	if a.Asked < a.Problems {
		parts = append(parts, span{fmt.Sprintf("%d of %d problems asked", a.Asked, a.Problems), yellow})
	}
	if r := a.Repeats; r != nil {
		parts = append(parts, span{fmt.Sprintf("%d of %d problems got different answers, %d right and wrong", r.Varied,
			r.Problems, r.Flipped), plain})
	}
	p.row("accuracy", parts)
	if nothingParsed(a) {
		p.row("", []span{{summary.NoneParsed, yellow}})
	}
}

// RenderAccuracy writes a table of the accuracies of cells and what they say; nothing where no answers were graded.
func RenderAccuracy(w io.Writer, s *answer.Sweep, o Options) error {
	rows := s.AccuracyTable()
	if rows == nil {
		return nil
	}
	p := newPage(&o)
	t := &table{title: product + " | " + safe(s.AccuracyTitle()), titleStyle: title}
	for i, name := range rows[0] {
		c := column{header: name, style: green}
		if i == 0 {
			c = column{header: name, style: cyan, left: true, wraps: true}
		}
		t.columns = append(t.columns, c)
	}
	for _, row := range rows[1:] {
		var cells []cell
		for _, text := range row {
			cells = append(cells, cell{text: safe(text)})
		}
		t.rows = append(t.rows, cells)
	}
	t.print(p)
	for _, finding := range s.AccuracyFindings() {
		p.remark(safe(strings.ToUpper(finding[:1])+finding[1:])+".", plain)
	}
	_, err := w.Write(p.bytes(o.Styles))
	return err
}
