// Package mock has the command of the mock server.
package mock

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// Commands returns the command of the mock server.
func Commands() []command.Command {
	return []command.Command{
		{Name: "mock-server", Summary: "serve exact, known answers like an OpenAI-compatible server",
			Tables: command.Table(func() *flags.Table { return new(Options).Table() }), Run: runMockServer},
	}
}
