// Package docs has the command that shows the documentation, which is compiled in: pages by name, places by word.
package docs

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// Commands returns the command of the documentation.
func Commands() []command.Command {
	return []command.Command{
		{Name: "docs", Summary: "read the documentation: a page, or the places with a word",
			Tables: command.Table(func() *flags.Table { return new(options).table() }), Run: run},
	}
}
