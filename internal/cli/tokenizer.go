package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer/lines"
)

// tokenizer packs a tokenizer, or counts and encodes lines of text with it.
func (a *app) tokenizer(args []string) int {
	if wantsHelp(args) {
		fmt.Fprint(a.terminal.out, lines.Help())
		return ExitOK
	}
	options, err := lines.ParseArgs(args)
	if err != nil {
		return a.fail(err)
	}
	options.Hub = hub.FromEnv(a.env, hub.Models)
	options.Hub.UserAgent = "aiperf/" + Version
	options.Stdin, options.Stdout = os.Stdin, a.terminal.styledOut
	options.Info = func(message string) { fmt.Fprintln(a.terminal.err, message) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := lines.Run(ctx, options); err != nil {
		return a.fail(err)
	}
	return ExitOK
}
