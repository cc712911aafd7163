package benchmark

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/fleet"
	"aiperf/internal/experiment/server"
)

// bench makes the runs of one benchmark and reports them.
type bench struct {
	*command.Env
	// brief leaves out the reports of single runs: what they say together follows.
	brief bool
	// server is that of --serve-cmd; nil until the first run needs it.
	server *server.Supervisor
	// fleet makes the load of the runs; nil where this process does.
	fleet *fleet.Fleet
}

func newBench(e *command.Env) *bench { return &bench{Env: e} }

// fail prints an error at once, for what goes on after it, and returns the exit code for it.
func (b *bench) fail(err error) int {
	b.Show(err)
	return command.ExitFailure
}
