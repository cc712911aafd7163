package dashboard

import "strings"

// keyRow is a key, or several that belong together, and what it does.
type keyRow struct {
	keys, does string
	// watch reports that a watch has it too.
	watch bool
}

// keyRows are the keys of the dashboard as its documentation lists them.
var keyRows = []keyRow{
	{"1", "shows the overview", true},
	{"2", "phases: fills the screen with the pane, or restores the overview", false},
	{"3", "the same for the live metrics", false},
	{"4", "the same for the workers", false},
	{"5", "the same for the GPUs", true},
	{"6", "the same for the log", true},
	{"7", "the same for the servers", true},
	{"8", "the same for the errors", false},
	{"9", "the same for the runs of a series", false},
	{"Esc", "restores the overview, the log and all scrolling", true},
	{"l", "hides or shows the log", true},
	{"c", "copies the log to the clipboard of the terminal", true},
	{"↑ ↓ PgUp PgDn Home End", "scroll the pane that fills the screen, else the GPUs, else the log; so does the wheel over a " +
		"pane", true},
	{"Ctrl-S", "writes the screen as an SVG file into the folder of the run", true},
	{"Ctrl-Z", "suspends the program; `fg` comes back", true},
	{"Ctrl-C", "leaves the screen and ends the run with its results so far; a second one ends the program at once", true},
	{"q", "ends `aiperf top` and `aiperf record`", true},
}

// KeysTable returns the keys as a Markdown table.
func KeysTable() string {
	var b strings.Builder
	b.WriteString("| Key | Does | `aiperf top` |\n|---|---|---|\n")
	for _, k := range keyRows {
		watch := ""
		if k.watch {
			watch = "yes"
		}
		b.WriteString("| " + k.keys + " | " + k.does + " | " + watch + " |\n")
	}
	return b.String()
}
