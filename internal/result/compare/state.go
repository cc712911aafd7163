package compare

import (
	"fmt"
	"strings"

	"aiperf/internal/result/judge"
)

// State is the first thing to know of the runs of a system before its figures are compared, as the judgement has it.
type State struct {
	Level judge.Level
	Text  string
}

// States says what is to be known of both systems, the new one first: the first finding of each that is not good. A
// system of several runs has the worst one of them, with how many are in that state.
func (c *Comparison) States() (list []State) {
	base, ofBase := c.Base.state()
	next, ofNew := c.New.state()
	switch {
	case ofBase && ofNew && base == next:
		next.Text = "both: " + next.Text
		return []State{next}
	case ofNew:
		list = append(list, next)
	}
	if ofBase {
		base.Text = "the base: " + base.Text
		list = append(list, base)
	}
	return list
}

// state returns the worst state among the runs of a system; false where nothing is to be said.
func (s *System) state() (worst State, ok bool) {
	n := 0
	for i := range s.Runs {
		of := s.Runs[i].Figures.Judgement.State
		f, found := State{of.Level, lowerFirst(of.Title)}, of.Level == judge.Bad || of.Level == judge.Warn
		switch {
		case !found:
		case !ok, f.Level == judge.Bad && worst.Level != judge.Bad:
			worst, ok, n = f, true, 1
		case f.Text == worst.Text:
			n++
		}
	}
	if ok && len(s.Runs) > 1 {
		worst.Text += fmt.Sprintf(" (%d of %d runs)", n, len(s.Runs))
	}
	return worst, ok
}

// stateText joins states to a sentence; "" without any.
func stateText(list []State) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, s.Text)
	}
	return strings.Join(parts, "; ")
}

// lowerFirst writes the first letter small, unless the first word is an abbreviation.
func lowerFirst(text string) string {
	if len(text) > 1 && text[1] >= 'a' && text[1] <= 'z' {
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}
