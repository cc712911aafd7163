package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// terminal is where the program talks to the user.
type terminal struct {
	out, err io.Writer
	// outTTY and errTTY tell whether a person reads them; colour whether styles are wanted there.
	outTTY, errTTY bool
	colour         bool
	// dumb tells that the terminal cannot move its cursor.
	dumb bool
}

func newTerminal(out, err *os.File, env func(string) (string, bool)) *terminal {
	noColour, _ := env("NO_COLOR")
	kind, _ := env("TERM")
	dumb := kind == "dumb"
	return &terminal{
		out: out, err: err,
		outTTY: term.IsTerminal(int(out.Fd())), errTTY: term.IsTerminal(int(err.Fd())),
		colour: noColour == "" && !dumb,
		dumb:   dumb,
	}
}

// width is the terminal's width in columns, 0 when the output is no terminal.
func (t *terminal) width() int {
	f, ok := t.out.(*os.File)
	if !ok || !t.outTTY {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

const panelWidth = 100

// panel prints lines in a titled box on stderr.
func (t *terminal) panel(title string, lines ...string) { t.panelOn(t.err, title, lines...) }

// panelOn prints a panel on a writer that leads to stderr, in one piece.
func (t *terminal) panelOn(out io.Writer, title string, lines ...string) {
	var wrapped []string
	for _, line := range lines {
		for part := range strings.SplitSeq(line, "\n") {
			wrapped = append(wrapped, wrap(part, panelWidth-4)...)
		}
	}
	inner := utf8.RuneCountInString(title) + 4
	for _, line := range wrapped {
		inner = max(inner, utf8.RuneCountInString(line)+2)
	}
	style, reset := "", ""
	if t.errTTY && t.colour {
		style, reset = "\x1b[33m", "\x1b[0m"
	}
	var box strings.Builder
	dashes := inner - utf8.RuneCountInString(title) - 2
	fmt.Fprintf(&box, "%s╭%s %s %s╮%s\n", style, strings.Repeat("─", dashes/2), title, strings.Repeat("─", dashes-dashes/2), reset)
	for _, line := range wrapped {
		fmt.Fprintf(&box, "%s│%s %s%s %s│%s\n", style, reset, line, strings.Repeat(" ", inner-2-utf8.RuneCountInString(line)), style, reset)
	}
	fmt.Fprintf(&box, "%s╰%s╯%s\n", style, strings.Repeat("─", inner), reset)
	io.WriteString(out, box.String())
}

// wrap breaks a line at spaces so that no part is longer than width; a longer word stands alone.
func wrap(line string, width int) []string {
	if utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	var parts []string
	current := ""
	for word := range strings.FieldsSeq(line) {
		switch {
		case current == "":
			current = word
		case utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) <= width:
			current += " " + word
		default:
			parts = append(parts, current)
			current = word
		}
	}
	return append(parts, current)
}
