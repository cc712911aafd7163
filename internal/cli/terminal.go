package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	safe "aiperf/internal/base/terminal"
)

// terminal is where the program talks to the user.
type terminal struct {
	// out and err show control characters of foreign texts as escapes.
	out, err io.Writer
	// styledOut and styledErr take text that is safe already and may hold styles, and data.
	styledOut, styledErr io.Writer
	// outTTY and errTTY report whether they are terminals; colour whether styles are wanted there.
	outTTY, errTTY bool
	colour         bool
	// dumb reports that the terminal cannot move its cursor; ci that it is the log of a build.
	dumb, ci bool
	// outFile and errFile are what the writers lead to.
	outFile, errFile *os.File
	// interrupt does what Ctrl-C does while no signal comes of it; nil before a run.
	interrupt func()
}

func newTerminal(out, err *os.File, env func(string) (string, bool)) *terminal {
	noColour, _ := env("NO_COLOR")
	kind, _ := env("TERM")
	dumb := kind == "dumb" || kind == "" && runtime.GOOS != "windows" || // where it is not needed
		!understandsEscapes(out) || !understandsEscapes(err)
	return &terminal{
		out: safe.NewWriter(out), err: safe.NewWriter(err), styledOut: out, styledErr: err,
		outTTY: term.IsTerminal(int(out.Fd())), errTTY: term.IsTerminal(int(err.Fd())),
		colour: noColour == "" && !dumb,
		dumb:   dumb, ci: isCI(env), outFile: out, errFile: err,
	}
}

// isCI reports whether the program runs in a build.
func isCI(env func(string) (string, bool)) bool {
	v, _ := env("CI")
	return v != "" && v != "0" && v != "false"
}

// width is the width of the terminal that the output goes to, in columns; 0 when it goes elsewhere.
func (t *terminal) width() int { return columns(t.outFile, t.outTTY) }

// errWidth is width for the error output.
func (t *terminal) errWidth() int { return columns(t.errFile, t.errTTY) }

func columns(f *os.File, terminal bool) int {
	if f == nil || !terminal {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// say prints a line on the error output, on a terminal in rows that fit it.
func (t *terminal) say(line string) {
	rows := []string{line}
	if n := t.errWidth(); n > leastPanel {
		rows = safe.Wrap(line, n)
	}
	writeLines(t.err, rows)
}

// panelWidth is the width of the widest panel, leastPanel that of the narrowest.
const panelWidth, leastPanel = 100, 20

// panel prints lines in a titled box on stderr.
func (t *terminal) panel(title string, lines ...string) { t.panelOn(t.styledErr, title, lines...) }

// panelOn prints a panel on a writer that leads to stderr, in one piece. Foreign texts in it are made safe here.
func (t *terminal) panelOn(out io.Writer, title string, lines ...string) {
	room := panelWidth - 4
	if n := t.errWidth(); n > 0 {
		room = max(min(panelWidth, n), leastPanel) - 4
	}
	var wrapped []string
	for _, line := range lines {
		for part := range strings.SplitSeq(strings.ReplaceAll(safe.Text(line), "\t", " "), "\n") {
			for _, row := range safe.Wrap(part, room) {
				for n := utf8.RuneCountInString(row); n > room; n -= room { // a word, such as a path
					whole := []rune(row)
					wrapped, row = append(wrapped, string(whole[:room])), string(whole[room:])
				}
				wrapped = append(wrapped, row)
			}
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
	fmt.Fprintf(&box, "%s╭%s %s %s╮%s\n", style, strings.Repeat("─", dashes/2), title,
		strings.Repeat("─", dashes-dashes/2), reset)
	for _, line := range wrapped {
		fmt.Fprintf(&box, "%s│%s %s%s %s│%s\n", style, reset, line,
			strings.Repeat(" ", inner-2-utf8.RuneCountInString(line)), style, reset)
	}
	fmt.Fprintf(&box, "%s╰%s╯%s\n", style, strings.Repeat("─", inner), reset)
	io.WriteString(out, box.String())
}
