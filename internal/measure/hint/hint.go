// Package hint says what to try when requests fail: a table of kinds of failure, each with its likely cause and the
// flags that change it.
//
// A failure is recognised by its status, its error type and its text alone, whatever part of the program met it. The
// first row that fits wins, so special rows come before general ones. The package must never know the run: its advice
// is a function of the error.
package hint

import (
	"slices"
	"strings"

	"aiperf/internal/measure/record"
)

// Hint is advice on one kind of failure.
type Hint struct {
	// Name identifies the kind.
	Name string
	// Cause says in one sentence what most likely happened, Try what changes it, with the flags.
	Cause, Try string
}

// String returns the advice on one line.
func (h *Hint) String() string { return h.Cause + ": " + h.Try }

// Row describes a kind of failure. Each of its columns that is not empty has to match.
type Row struct {
	Hint
	// Codes are statuses, Types types of errors.
	Codes []int
	Types []string
	// Says are texts in lower case, one of which the message, its cause or its details must hold; "*" stands for any
	// text.
	Says []string
}

// Table returns the kinds of failure, special ones before general ones.
func Table() []Row { return slices.Clone(rows) }

func (r *Row) fits(e *record.Error, text string) bool {
	if len(r.Codes) > 0 && !(e.HasCode && slices.Contains(r.Codes, e.Code)) {
		return false
	}
	ofType := func(name string) bool { return slices.Contains(r.Types, name) }
	if len(r.Types) > 0 && !ofType(e.Type) && !slices.ContainsFunc(e.CauseChain, ofType) {
		return false
	}
	return len(r.Says) == 0 || slices.ContainsFunc(r.Says, func(pattern string) bool { return holds(text, pattern) })
}

// holds reports whether text holds the parts of a pattern in their order.
func holds(text, pattern string) bool {
	for part := range strings.SplitSeq(pattern, "*") {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}

// maxText is how much of a message is examined, in bytes: it may be a whole page.
const maxText = 16 << 10

// For returns the advice on an error; false if there is none.
func For(e *record.Error) (Hint, bool) {
	i := indexOf(e)
	if i < 0 {
		return Hint{}, false
	}
	return rows[i].Hint, true
}

// ForAll returns the advice on several errors, each piece once, in the order of the table.
func ForAll(errors []*record.Error) []Hint {
	var at []int
	for _, e := range errors {
		if i := indexOf(e); i >= 0 && !slices.Contains(at, i) {
			at = append(at, i)
		}
	}
	slices.Sort(at)
	var list []Hint
	for _, i := range at {
		list = append(list, rows[i].Hint)
	}
	return list
}

func indexOf(e *record.Error) int {
	text := e.Message
	text = strings.ToLower(text[:min(len(text), maxText)] + " " + e.Cause + " " + e.Details)
	return slices.IndexFunc(rows, func(r Row) bool { return r.fits(e, text) })
}
