package compare

import (
	"strings"

	"aiperf/internal/result/judge"
)

// State is the first thing to know of the runs of a system before its figures are compared, as the judgement has it.
type State struct {
	Level judge.Level
	Text  string
}

// States says what is to be known of both systems, the new one first: the state of each that is not good. A system of
// several runs has the worst one of them, with how many are in that state.
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
func (s *System) state() (State, bool) {
	var states []judge.State
	for i := range s.Runs {
		states = append(states, s.Runs[i].Figures.Judgement.State)
	}
	worst := judge.Worst(states...)
	return State{worst.Level, judge.Words(worst.Title)}, worst.Wrong()
}

// stateText joins states to a sentence; "" without any.
func stateText(list []State) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, s.Text)
	}
	return strings.Join(parts, "; ")
}
