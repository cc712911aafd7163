package show

import (
	"fmt"

	"golang.org/x/term"

	"aiperf/internal/cli/command"
	"aiperf/internal/view/dashboard"
)

// Lacks says what a dashboard lacks here, "" if that is nothing.
func Lacks(t *command.Terminal) string {
	const instead = "; progress is shown as with --ui simple"
	switch {
	case !t.OutTTY:
		return "--ui dashboard needs a terminal on the standard output" + instead
	case t.Dumb:
		return "--ui dashboard needs a terminal that can move its cursor, and TERM is dumb" + instead
	case t.CI:
		return "--ui dashboard is not shown in the log of a build (CI is set)" + instead
	}
	w, h, err := term.GetSize(int(t.OutFile.Fd()))
	if err == nil && (w < dashboard.LeastWidth || h < dashboard.LeastHeight) {
		return fmt.Sprintf("--ui dashboard needs a terminal of %d columns and %d rows, this one has %d and %d%s",
			dashboard.LeastWidth, dashboard.LeastHeight, w, h, instead)
	}
	return ""
}

// Hold has everything that is written on the terminal wait while a dashboard is on the screen.
func Hold(t *command.Terminal, d *dashboard.Dashboard) {
	if t.OutTTY {
		t.Out, t.StyledOut = d.Hold(t.Out), d.Hold(t.StyledOut)
	}
	if t.ErrTTY {
		t.Err, t.StyledErr = d.Hold(t.Err), d.Hold(t.StyledErr)
	}
}
