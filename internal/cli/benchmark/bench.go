package benchmark

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/fleet"
	"aiperf/internal/experiment/server"
	"aiperf/internal/run"
)

// bench makes the runs of one benchmark and reports them.
type bench struct {
	*command.Env
	// view shows the progress; interrupts says whether the user wants an end. They are those of all runs.
	view       view
	interrupts *interrupts
	// brief leaves out the reports of single runs: what they say together follows.
	brief bool
	// earlier is what became of the results of earlier runs.
	earlier run.Earlier
	// server is that of --serve-cmd; nil until the first run needs it.
	server *server.Supervisor
	// fleet makes the load of the runs; nil where this process does.
	fleet *fleet.Fleet
	// shown is the error that the last run of several ended with, as it was printed; "" where it ended well.
	shown string
}

func newBench(e *command.Env) *bench { return &bench{Env: e} }

// fail prints an error at once and returns the exit code for it: what pages and logs still say comes after it, and
// further errors may.
func (b *bench) fail(err error) int {
	b.Show(err)
	return command.ExitFailure
}

// failRun is fail for a run of an experiment, or for the only one. An error that the run before had, too, is not
// printed again: the log names the run.
func (b *bench) failRun(err error) int {
	if text := err.Error(); text != b.shown {
		b.shown = text
		return b.fail(err)
	}
	return command.ExitFailure
}
