package console

import (
	"fmt"

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
