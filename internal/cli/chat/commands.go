// Package chat has the command for a conversation with a model. It measures single replies and writes no files: a
// benchmark is the business of others.
package chat

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// Commands returns the command for a conversation with a model.
func Commands() []command.Command {
	return []command.Command{
		{Name: "chat", Summary: "chat with a model and see how fast it answers",
			Tables: command.Table(func() *flags.Table { return new(Options).Table() }), Run: run},
	}
}
