package html

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
)

// accuracyView is the section on graded answers.
type accuracyView struct {
	Cards []card
	// Warning is empty unless no answer had the form asked for.
	Warning, Grader string
	// Tasks are the rows of the table where there are several: each, then all of them.
	Tasks []taskRow
	// Wrong are the first wrong answers, Varied the first problems that got different answers; the notes say which part
	// of all of them these are.
	Wrong                 []wrongRow
	WrongTotal, WrongNote string
	Varied                []variedRow
	VariedNote            string
}

type taskRow struct{ Task, Correct, Total, Unparsed, Accuracy, Interval string }

type wrongRow struct {
	Problem, Extracted, Expected, Reason, Request, Output, Thinking string
	Unparsed                                                        bool
}

type variedRow struct {
	Problem, Expected string
	Answers           []variantRow
}

type variantRow struct {
	Text, Count string
	Right       bool
}

func newAccuracyView(a *summary.Accuracy, answers *summary.Notable) *accuracyView {
	if a == nil {
		return nil
	}
	overall := a.Overall()
	v := &accuracyView{Grader: a.Grader}
	v.cards(a, &overall)
	if overall.Total > 0 && overall.Unparsed == overall.Total {
		v.Warning = summary.NoneParsed
	}
	rows := append(append([]summary.TaskAccuracy{}, a.Tasks...), overall)
	for i := range rows {
		if len(a.Tasks) < 2 {
			break // the cards say it
		}
		t := &rows[i]
		v.Tasks = append(v.Tasks, taskRow{t.Task, integer(t.Correct), integer(t.Total), integer(t.Unparsed),
			percentage(t.Rate()), interval(t)})
	}
	if answers == nil {
		return v
	}
	v.answers(answers)
	return v
}

// percentage writes a share with two decimals.
func percentage(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// interval writes the interval of an accuracy in percent.
func interval(t *summary.TaskAccuracy) string {
	ci := t.Interval()
	return fmt.Sprintf("%.1f–%.1f %%", 100*ci.Low, 100*ci.High)
}

func (v *accuracyView) cards(a *summary.Accuracy, overall *summary.TaskAccuracy) {
	right := card{Title: "Accuracy, " + a.Benchmark, Value: "–", What: "no answer was graded"}
	if overall.Total > 0 {
		right.Value, right.Unit, right.What = fmt.Sprintf("%.2f", 100*overall.Rate()), "%", ""
		right.Lines = []cardLine{{Text: integer(overall.Correct) + " of " + integer(overall.Total) + " answers right"},
			{Text: "95 %: " + interval(overall)}}
	}
	right.Lines = append(right.Lines, cardLine{Text: integer(a.Asked) + " of " + integer(a.Problems) + " problems asked"})
	if a.Ungraded > 0 {
		right.Lines = append(right.Lines, cardLine{Text: integer(a.Ungraded) + " failed " +
			plural(int(a.Ungraded), "request") + " not graded"})
	}
	if a.Late > 0 {
		right.Lines = append(right.Lines, cardLine{Text: integer(a.Late) + " not graded in time"})
	}
	v.Cards = append(v.Cards, right)
	if overall.Total > 0 {
		v.Cards = append(v.Cards, card{Title: "Unparsed answers", Value: integer(overall.Unparsed),
			What:  short(100*share(overall.Unparsed, overall.Total)) + " % of the answers",
			Lines: []cardLine{{Text: "not in the form asked for; graded by what was found instead"}}})
	}
	if r := a.Repeats; r != nil {
		v.Cards = append(v.Cards, card{Title: "Different answers to the same problem", Value: integer(r.Varied),
			Unit:  plural(int(r.Varied), "problem"),
			What:  short(100*share(r.Varied, r.Problems)) + " % of " + integer(r.Problems) + " asked several times",
			Lines: []cardLine{{Text: integer(r.Flipped) + " right at one time and wrong at another"}}})
	}
}

func share(n, of int64) float64 { return float64(n) / float64(of) }

// answers adds the answers that are worth a look.
func (v *accuracyView) answers(n *summary.Notable) {
	for i := range n.Wrong {
		a := &n.Wrong[i]
		row := wrongRow{Problem: a.Problem, Extracted: shorten(a.Actual, shownText), Expected: shorten(a.Expected, shownText),
			Reason: a.Explanation, Request: a.RequestID, Output: a.Output, Thinking: a.Thinking, Unparsed: a.Unparsed}
		v.Wrong = append(v.Wrong, row)
	}
	v.WrongTotal = counted(int(n.WrongTotal), "wrong answer")
	if more := n.WrongTotal - int64(len(v.Wrong)); more > 0 {
		v.WrongNote = fmt.Sprintf("The first %d of %s wrong answers in the order in which they were asked.", len(v.Wrong),
			integer(n.WrongTotal))
	}
	for _, of := range n.Varied {
		row := variedRow{Problem: of.Problem, Expected: shorten(of.Expected, shownText)}
		for _, one := range of.Answers {
			text := shorten(one.Text, shownText)
			if strings.TrimSpace(text) == "" {
				text = "(none)"
			}
			row.Answers = append(row.Answers, variantRow{text, integer(one.Count) + "×", one.Right})
		}
		v.Varied = append(v.Varied, row)
	}
	if more := n.VariedTotal - int64(len(v.Varied)); more > 0 {
		v.VariedNote = fmt.Sprintf("The first %d of %s problems.", len(v.Varied), integer(n.VariedTotal))
	}
}

// shownText is how much of an extracted or a gold answer a table shows, in characters.
const shownText = 200

// sweepAccuracy is the section of a sweep on graded answers.
type sweepAccuracy struct {
	Title    string
	Findings []status
	Columns  []string
	Rows     [][]string
	// Chart is nil where fewer than two cells have an accuracy.
	Chart *curveView
}

// accuracy makes the section, and takes its chart out of the others.
func (v *sweepView) accuracy(s *answer.Sweep) {
	rows := s.AccuracyTable()
	if rows == nil {
		return
	}
	a := &sweepAccuracy{Title: s.AccuracyTitle(), Columns: rows[0], Rows: rows[1:]}
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Accuracy == nil || c.Accuracy.Against == nil || !c.Accuracy.Against.Shown() {
			continue
		}
		d := c.Accuracy.Against
		of := status{Level: good, Title: "At " + c.Label + " the server " + d.Finding(), Text: d.Counts()}
		if d.Difference < 0 {
			of.Level = bad
		}
		a.Findings = append(a.Findings, of)
	}
	if len(a.Findings) == 0 {
		for _, finding := range s.AccuracyFindings() {
			a.Findings = append(a.Findings, status{Level: plain, Title: strings.ToUpper(finding[:1]) + finding[1:]})
		}
	}
	if i := slices.IndexFunc(v.Curves, func(c curveView) bool { return c.Tag == metrics.AccuracyOverall }); i >= 0 {
		chart := v.Curves[i]
		chart.Keys = map[string]string{"avg": metrics.AccuracyOverall + "_avg"}
		a.Chart, v.Curves = &chart, slices.Delete(v.Curves, i, i+1)
	}
	v.Accuracy = a
}

// charts returns all charts over a parameter.
func (v *sweepView) charts() []curveView {
	if v.Accuracy == nil || v.Accuracy.Chart == nil {
		return v.Curves
	}
	return append(slices.Clip(v.Curves), *v.Accuracy.Chart)
}
