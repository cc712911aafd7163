package html

import (
	"fmt"
	"strings"

	"aiperf/internal/result/graded"
	"aiperf/internal/result/summary"
)

// accuracyView is the section on graded answers.
type accuracyView struct {
	Cards []card
	// Warning is empty unless no answer had the form asked for.
	Warning, Grader string
	// Tasks are the rows of the table, all tasks last where there are several.
	Tasks []taskRow
	// Wrong are the first wrong answers, Varied the first problems that got different answers; the notes say which part
	// of all of them these are.
	Wrong      []wrongRow
	WrongNote  string
	Varied     []variedRow
	VariedNote string
}

type taskRow struct{ Task, Correct, Total, Unparsed, Accuracy, Interval string }

type wrongRow struct {
	Problem, Task, Extracted, Expected, Reason, Request, Output, Thinking string
	Unparsed                                                              bool
}

type variedRow struct {
	Problem, Expected string
	Answers           []variantRow
}

type variantRow struct {
	Text, Count string
	Right       bool
}

func newAccuracyView(a *summary.Accuracy, answers *graded.Notable) *accuracyView {
	if a == nil {
		return nil
	}
	overall := a.Overall()
	v := &accuracyView{Grader: a.Grader}
	v.cards(a, &overall)
	if overall.Total > 0 && overall.Unparsed == overall.Total {
		v.Warning = summary.NoneParsed
	}
	rows := a.Tasks
	if len(rows) > 1 {
		rows = append(append([]summary.TaskAccuracy{}, rows...), overall)
	}
	for i := range rows {
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
	if overall.Total == 0 {
		v.Cards = append(v.Cards, card{Title: a.Benchmark, Value: "–", What: "no answer was graded"})
	} else {
		v.Cards = append(v.Cards, card{Title: "Right answers, " + a.Benchmark, Value: fmt.Sprintf("%.2f", 100*overall.Rate()),
			Unit: "%", Lines: []cardLine{{Text: integer(overall.Correct) + " of " + integer(overall.Total)},
				{Text: "95 %: " + interval(overall)}}})
		v.Cards = append(v.Cards, card{Title: "Not in the form asked for", Value: integer(overall.Unparsed),
			What:  short(100*float64(overall.Unparsed)/float64(overall.Total)) + " % of the answers",
			Lines: []cardLine{{Text: "graded by what was found instead"}}})
	}
	asked := card{Title: "Problems asked", Value: integer(a.Asked), What: "of " + integer(a.Problems)}
	if a.Ungraded > 0 {
		asked.Lines = append(asked.Lines, cardLine{Text: integer(a.Ungraded) + " " + plural(int(a.Ungraded), "request") +
			" failed and not graded"})
	}
	v.Cards = append(v.Cards, asked)
	if r := a.Repeats; r != nil {
		share := 100 * float64(r.Varied) / float64(r.Problems)
		v.Cards = append(v.Cards, card{Title: "Different answers to the same problem", Value: integer(r.Varied),
			Unit:  plural(int(r.Varied), "problem"),
			What:  short(share) + " % of " + integer(r.Problems) + " asked several times",
			Lines: []cardLine{{Text: integer(r.Flipped) + " right at one time and wrong at another"}}})
	}
}

// answers adds the answers that are worth a look.
func (v *accuracyView) answers(n *graded.Notable) {
	several := len(v.Tasks) > 1
	for i := range n.Wrong {
		a := &n.Wrong[i]
		row := wrongRow{Problem: a.Problem, Extracted: shorten(a.Actual, shownText), Expected: shorten(a.Expected, shownText),
			Reason: a.Explanation, Request: a.RequestID, Output: a.Output, Thinking: a.Thinking, Unparsed: a.Unparsed}
		if several {
			row.Task = a.Task
		}
		v.Wrong = append(v.Wrong, row)
	}
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
