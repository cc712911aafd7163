// Package show prints results for the commands that measure and for those that look at finished runs: the report of a
// run, the conditions of --fail-if, and plots.
package show

import (
	"cmp"
	"path/filepath"

	"aiperf/internal/cli/command"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/summary"
)

// Rendering says how a report is printed.
type Rendering struct {
	// Dir is the folder of the run.
	Dir string
	// Earlier says what became of the results of earlier runs; "" where there were none.
	Earlier string
	// Part marks a run of a series, whose answer comes at its end.
	Part bool
	// Full asks for all tables before the answer.
	Full bool
	// ExportWidth is the width where there is no terminal; 0 is the default.
	ExportWidth int
}

// Report prints the report of a run, the answer last.
func Report(e *command.Env, r *summary.Result, o console.Options, how Rendering) {
	t := e.Terminal
	o.Width = console.Width(t.OutTTY, t.Width(), how.ExportWidth)
	o.Styles, o.Screen = t.OutTTY && t.Colour, t.OutTTY
	o.Dir, o.Earlier, o.Part, o.More = cmp.Or(o.Dir, how.Dir), how.Earlier, how.Part, nextSteps(how.Dir, o.Files.HTML != "")
	// A closed pipe must not cost the files: they are written, so the errors change nothing.
	if how.Full {
		_ = console.Render(t.StyledOut, r, o)
	}
	if !how.Full || !how.Part {
		_ = console.RenderShort(t.StyledOut, r, o)
	}
}

// nextSteps are the last lines of the short report of a run in a folder: how to get its page if it has none, and what
// else the program can show of it.
func nextSteps(dir string, page bool) (list []console.Fact) {
	if !page {
		list = append(list, console.Fact{Name: "page",
			Text: "aiperf report " + quotedPath(console.Shown(dir)) + " --html writes one"})
	}
	return append(list, Views(dir)...)
}

// Views are the commands that show the results in a folder.
func Views(dir string) []console.Fact {
	dir = console.Shown(dir)
	return []console.Fact{{Name: "charts", Text: "aiperf plot " + quotedPath(dir)},
		{Name: "browser", Text: "aiperf serve " + quotedPath(filepath.Dir(dir)) + " shows all runs"}}
}

func quotedPath(path string) string { return command.Quoted([]string{path})[0] }
