package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"aiperf/internal/mockserver"
	"aiperf/internal/mockserver/child"
)

const mockServerHelp = `Usage: aiperf mock-server [options]

Serves exact, known answers like an OpenAI-compatible inference server, until it is interrupted.

`

// mockServer serves until it is interrupted.
func (a *app) mockServer(args []string) int {
	if wantsHelp(args) {
		fmt.Fprint(a.terminal.out, mockServerHelp, mockserver.Help())
		return ExitOK
	}
	options, err := mockserver.ParseOptions(args, a.env)
	if err != nil {
		return a.fail(err)
	}
	options.Log = a.terminal.err
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if _, ok := a.env(child.StopWithStdin); ok {
		// A parent's signals may reach its whole process group; the parent decides when the server ends.
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(context.Background())
		go func() {
			io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	if err := mockserver.Run(ctx, options, a.terminal.out); err != nil {
		return a.fail(err)
	}
	return ExitOK
}
