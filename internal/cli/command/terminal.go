package command

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	safe "aiperf/internal/base/terminal"
	"aiperf/internal/config/flags"
)

// Terminal is where the program talks to the user.
type Terminal struct {
	// Out and err show control characters of foreign texts as escapes.
	Out, Err io.Writer
	// StyledOut and StyledErr take text that is safe already and may hold styles, and data.
	StyledOut, StyledErr io.Writer
	// OutTTY and ErrTTY report whether they are terminals; Colour whether styles are wanted there.
	OutTTY, ErrTTY bool
	Colour         bool
	// Dumb reports that the terminal cannot move its cursor; CI that it is the log of a build.
	Dumb, CI bool
	// OutFile and errFile are what the writers lead to.
	OutFile, errFile *os.File
	// Interrupt does what Ctrl-C does while no signal comes of it; nil before a run.
	Interrupt func()
}

// NewTerminal returns the terminal that the standard output and the error output lead to.
func NewTerminal(out, err *os.File, env func(string) (string, bool)) *Terminal {
	noColour, _ := env("NO_COLOR")
	kind, _ := env("TERM")
	dumb := kind == "dumb" || kind == "" && runtime.GOOS != "windows" || // where it is not needed
		!understandsEscapes(out) || !understandsEscapes(err)
	return &Terminal{
		Out: safe.NewWriter(out), Err: safe.NewWriter(err), StyledOut: out, StyledErr: err,
		OutTTY: term.IsTerminal(int(out.Fd())), ErrTTY: term.IsTerminal(int(err.Fd())),
		Colour: noColour == "" && !dumb,
		Dumb:   dumb, CI: isCI(env), OutFile: out, errFile: err,
	}
}

// isCI reports whether the program runs in a build.
func isCI(env func(string) (string, bool)) bool {
	v, _ := env("CI")
	return v != "" && v != "0" && v != "false"
}

// Width is the width of the terminal that the output goes to, in columns; 0 when it goes elsewhere.
func (t *Terminal) Width() int { return columns(t.OutFile, t.OutTTY) }

// TextWidth is the width of texts to read, in columns: that of the terminal within limits, else a fixed one.
func (t *Terminal) TextWidth() int {
	if n := t.Width(); n > 0 {
		return min(max(n, flags.HelpWidth/2), flags.MostHelpWidth)
	}
	return flags.HelpWidth
}

// ErrWidth is width for the error output.
func (t *Terminal) ErrWidth() int { return columns(t.errFile, t.ErrTTY) }

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

// Say prints a line on the error output, on a terminal in rows that fit it.
func (t *Terminal) Say(line string) { WriteLines(t.Err, fitting(line, t.ErrWidth())) }

// Print is Say on the output.
func (t *Terminal) Print(line string) { WriteLines(t.Out, fitting(line, t.Width())) }

func fitting(line string, columns int) []string {
	if columns > leastPanel {
		return safe.Wrap(line, columns)
	}
	return []string{line}
}

// panelWidth is the width of the widest panel, leastPanel that of the narrowest.
const panelWidth, leastPanel = 100, 20

// Panel prints lines in a titled box on stderr.
func (t *Terminal) Panel(title string, lines ...string) { t.PanelOn(t.StyledErr, title, lines...) }

// PanelOn prints a panel on a writer that leads to stderr, in one piece. Foreign texts in it are made safe here.
func (t *Terminal) PanelOn(out io.Writer, title string, lines ...string) {
	room := panelWidth - 4
	if n := t.ErrWidth(); n > 0 {
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
	if t.ErrTTY && t.Colour {
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
