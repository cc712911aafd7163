// Package fault holds what the rooms of config report: faults, which end a command, and warnings.
package fault

import (
	"fmt"
	"strings"
)

// Unavailable is the rule of a fault about a capability that this release does not have.
const Unavailable = "unavailable"

// Fault is one thing the user has to change.
type Fault struct {
	// Rule is the number of the validation rule ("V12"), Unavailable, or empty for a fault of one flag alone.
	Rule string
	// Message is one line that names the flags as they were typed.
	Message string
	// Line and Column, from 1, are the place in a file, Path that of the key there, Text the message without them; 0 and ""
	// where there is none.
	Line, Column int
	Path, Text   string
	// Excerpt are lines of a file that show the place, without a line end; empty if there is nothing to show.
	Excerpt string
}

// List are all faults that were found, in the order of the rules. It is the error type of Parse,
// ReadEnv and Resolve.
type List []Fault

func (f List) Error() string {
	lines := make([]string, 0, len(f))
	for _, fault := range f {
		lines = append(lines, fault.Message)
		if fault.Excerpt != "" {
			lines = append(lines, fault.Excerpt)
		}
	}
	return strings.Join(lines, "\n")
}

// Has reports whether a rule was broken.
func (f List) Has(rule string) bool {
	for _, fault := range f {
		if fault.Rule == rule {
			return true
		}
	}
	return false
}

// Add appends a fault.
func (f *List) Add(rule, format string, args ...any) {
	*f = append(*f, Fault{Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// Err is nil when nothing was found.
func (f List) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Level is the log level of a Warning.
type Level string

// The levels of a Warning.
const (
	LevelInfo    Level = "INFO"
	LevelWarning Level = "WARNING"
)

// Warning is a line for the log about something that was decided for the user.
type Warning struct {
	Level Level
	Text  string
}

// Shorten keeps long or empty values readable in a message.
func Shorten(text string) string {
	const limit = 80
	if text == "" {
		return `""`
	}
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
