package cli

import (
	"path/filepath"
	"slices"

	"aiperf/internal/result/report/console"
)

// nextSteps are the last lines of the short report of a run in a folder: how to get its page if it has none, and what
// else the program can show of it.
func nextSteps(dir string, page bool) (list []console.Fact) {
	if !page {
		list = append(list, console.Fact{Name: "page",
			Text: "aiperf report " + quotedPath(console.Shown(dir)) + " --html writes one"})
	}
	return append(list, views(dir)...)
}

// views are the commands that show the results in a folder, as far as this program has them.
func views(dir string) (list []console.Fact) {
	dir = console.Shown(dir)
	if has("plot") {
		list = append(list, console.Fact{Name: "charts", Text: "aiperf plot " + quotedPath(dir)})
	}
	if has("serve") {
		list = append(list, console.Fact{Name: "browser",
			Text: "aiperf serve " + quotedPath(filepath.Dir(dir)) + " shows all runs"})
	}
	return list
}

// has reports whether this program has a command.
func has(name string) bool {
	return slices.ContainsFunc(commands(), func(c command) bool { return c.name == name })
}

func quotedPath(path string) string { return quoted([]string{path})[0] }
