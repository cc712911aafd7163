package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"aiperf/internal/config"
	"aiperf/internal/result/recompute"
)

// serverMetrics computes the server metrics of a run anew from its recordings.
func (a *app) serverMetrics(args []string) int {
	if wantsHelp(args) {
		fmt.Fprint(a.terminal.out, recompute.Help())
		return ExitOK
	}
	options, err := recompute.ParseArgs(args)
	if err != nil {
		return a.fail(err)
	}
	env, _, err := config.ReadEnv(a.env)
	if err != nil {
		return a.fail(err)
	}
	options.Version = Version
	options.CSVComments, options.LegacyJSON = env.ServerMetrics.CSVComments, env.ServerMetrics.LegacyJSON
	options.Bounds = options.Bounds || env.ServerMetrics.Bounds
	options.Written = func(name, path string) { fmt.Fprintf(a.terminal.out, "%s: %s\n", name, path) }
	options.Warn = func(message string) { fmt.Fprintln(a.terminal.err, "warning:", message) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := recompute.ServerMetrics(ctx, options); err != nil {
		return a.fail(err)
	}
	return ExitOK
}
