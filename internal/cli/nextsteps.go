package cli

import (
	"path/filepath"
	"slices"

	"aiperf/internal/result/report/console"
)

// nextSteps are the last lines of the short report: what else the program can show of the run in a folder, as far as it
// has the commands for it.
func nextSteps(dir string, files *console.Files) (list []console.Fact) {
	dir = console.Shown(dir)
	if files.HTML == "" {
		list = append(list, console.Fact{Name: "page", Text: "aiperf report " + quotedPath(dir) + " --html writes one"})
	}
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
