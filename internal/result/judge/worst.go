package judge

import (
	"fmt"
	"slices"
	"strings"
)

// levels are the levels, the worst first, and stateOrder the codes of states in the same order.
var (
	levels     = []Level{Bad, Warn, Plain, Good}
	stateOrder = []string{StateIncomplete, StateStopped, StateAllFailed, StateFailed, StateMissed, StateClient,
		StateSomeFailed, StateDoubtful, StateLimited, StateWarm, StateRunning, StateComplete}
)

// worse orders states, the worst first.
func worse(a, b State) int {
	if of := slices.Index(levels, a.Level) - slices.Index(levels, b.Level); of != 0 {
		return of
	}
	return slices.Index(stateOrder, a.Code) - slices.Index(stateOrder, b.Code)
}

// mostTitles is how many different titles of the worst state are said.
const mostTitles = 2

// Worst returns the worst of the states of several runs; the zero value where there is none. Unless all runs share it, its
// title says how many do: "2 of 5: client limited". States without a code do not count.
func Worst(states ...State) State {
	states = slices.DeleteFunc(slices.Clone(states), func(s State) bool { return s.Code == "" })
	if len(states) == 0 {
		return State{}
	}
	out := slices.MinFunc(states, worse)
	n := 0
	var titles []string
	for _, s := range states {
		if s.Code != out.Code {
			continue
		}
		n++
		if !slices.Contains(titles, s.Title) {
			titles = append(titles, s.Title)
		}
	}
	if len(titles) > mostTitles {
		titles = append(titles[:mostTitles], "…")
	}
	out.Title = strings.Join(titles, ", ")
	if n < len(states) {
		out.Title = fmt.Sprintf("%d of %d: %s", n, len(states), Words(out.Title))
	}
	return out
}

// Words are the text as a part of a sentence.
func (f Finding) Words() string { return Words(strings.TrimSuffix(f.Text, ".")) }

// Words writes a title as the words of a sentence: the first letter small, unless the first word is an abbreviation.
func Words(title string) string {
	if len(title) > 1 && title[1] >= 'a' && title[1] <= 'z' {
		return lower(title)
	}
	return title
}
