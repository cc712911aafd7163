// Package configure has the commands about what may be asked of the program: configuration files, and what it can do.
package configure

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// Files returns the command for configuration files.
func Files() []command.Command {
	return []command.Command{
		{Name: "config", Summary: "write, check, show and compare configuration files",
			Tables: configTables, Run: runConfig},
	}
}

// Plugins returns the command that lists what the program can do.
func Plugins() []command.Command {
	return []command.Command{
		{Name: "plugins", Summary: "list what this program can do, and check plug-ins",
			Tables: command.Table(func() *flags.Table { return new(pluginsOptions).table() }), Run: runPlugins},
	}
}

// About returns the commands about the program itself.
func About() []command.Command {
	return []command.Command{
		{Name: "licenses", Summary: "print the licences of this program and of what is in it",
			Tables: command.Table(licensesTable), Run: runLicenses},
	}
}
