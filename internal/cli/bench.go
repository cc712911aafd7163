package cli

import (
	"aiperf/internal/cluster/fleet"
	"aiperf/internal/experiment/server"
)

// bench makes the runs of one benchmark and reports them.
type bench struct {
	*app
	// brief leaves out the reports of single runs: what they say together follows.
	brief bool
	// server is that of --serve-cmd; nil until the first run needs it.
	server *server.Supervisor
	// fleet makes the load of the runs; nil where this process does.
	fleet *fleet.Fleet
}

func newBench(a *app) *bench { return &bench{app: a} }

// fail prints an error at once, for what goes on after it, and returns the exit code for it.
func (b *bench) fail(err error) int {
	return b.app.fail(err)
}
