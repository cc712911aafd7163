package cli

import (
	"cmp"
	"path/filepath"

	"aiperf/internal/result/report/console"
	"aiperf/internal/result/summary"
)

// rendering says how a report is printed.
type rendering struct {
	// dir is the folder of the run.
	dir string
	// part marks a run of a series, whose answer comes at its end.
	part bool
	// full asks for all tables before the answer.
	full bool
	// exportWidth is the width where there is no terminal; 0 is the default.
	exportWidth int
}

// render prints the report of a run, the answer last.
func (a *app) render(r *summary.Result, o console.Options, how rendering) {
	t := a.terminal
	o.Width = console.Width(t.outTTY, t.width(), how.exportWidth)
	o.Styles, o.Screen = t.outTTY && t.colour, t.outTTY
	o.Dir, o.Part, o.More = cmp.Or(o.Dir, how.dir), how.part, nextSteps(how.dir, o.Files.HTML != "")
	// A closed pipe must not cost the files: they are written, so the errors change nothing.
	if how.full {
		_ = console.Render(t.styledOut, r, o)
	}
	if !how.full || !how.part {
		_ = console.RenderShort(t.styledOut, r, o)
	}
}

// nextSteps are the last lines of the short report of a run in a folder: how to get its page if it has none, and what
// else the program can show of it.
func nextSteps(dir string, page bool) (list []console.Fact) {
	if !page {
		list = append(list, console.Fact{Name: "page",
			Text: "aiperf report " + quotedPath(console.Shown(dir)) + " --html writes one"})
	}
	return append(list, views(dir)...)
}

// views are the commands that show the results in a folder.
func views(dir string) []console.Fact {
	dir = console.Shown(dir)
	return []console.Fact{{Name: "charts", Text: "aiperf plot " + quotedPath(dir)},
		{Name: "browser", Text: "aiperf serve " + quotedPath(filepath.Dir(dir)) + " shows all runs"}}
}

func quotedPath(path string) string { return quoted([]string{path})[0] }
