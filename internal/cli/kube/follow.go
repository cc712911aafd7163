package kube

import (
	"context"
	"fmt"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/config/flags"
)

type kubeAttachOptions struct {
	target
	port int
}

func (o *kubeAttachOptions) table() *flags.Table {
	o.target = newTarget()
	own := append([]flags.Flag{o.jobFlag(),
		flags.Value("port -p", "PORT", "port of this machine for the connection [default: a free one]",
			within(&o.port, 0, 65535))}, o.cellFlags("variation -v")...)
	return kubeTable("attach", `Usage: aiperf kube attach [JOB] [options]

Follows a benchmark until it ends, by a connection to its controller pod. Ctrl-C ends the following, not the benchmark.

Options:
`, `
Exit codes: 0 the benchmark completed, or the following was ended; 1 it failed or was cancelled, or an error.
`, &o.clusterFlags, append(own, o.ignoreFlag())...)
}

// kubeAttach follows a benchmark.
func kubeAttach(e *command.Env, args []string) error {
	var o kubeAttachOptions
	return onBenchmark(e, o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) error {
		return follow(ctx, e, c, b, o.port)
	})
}

// follow follows a benchmark: by its controller, and where that cannot be reached by its resource.
func follow(ctx context.Context, e *command.Env, c *client.Client, b *deployed.Benchmark, port int) error {
	return told(ctx, e, b, func(tell func(deployed.Event)) error { return followOnce(ctx, e, c, b, port, tell) })
}

// await follows a benchmark by its resource.
func await(ctx context.Context, e *command.Env, c *client.Client, b *deployed.Benchmark) error {
	return told(ctx, e, b, func(tell func(deployed.Event)) error { return b.Await(ctx, c, tell) })
}

// told prints what a way of following a benchmark tells, and how the benchmark ended.
func told(ctx context.Context, env *command.Env, b *deployed.Benchmark,
	by func(tell func(deployed.Event)) error) error {
	failed := false
	err := by(func(e deployed.Event) {
		fmt.Fprintf(env.Terminal.Out, "%s  %s\n", b.Name, e.Text)
		failed = failed || e.Failed
	})
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(env.Terminal.Err, "\nThe benchmark goes on. aiperf kube attach %s -n %s follows it again, "+
			"aiperf kube cancel %s -n %s ends it.\n", b.Name, b.Namespace, b.Name, b.Namespace)
		return nil
	case err != nil:
		return kubeError(err)
	case failed:
		return command.Exit(command.ExitFailure)
	}
	fmt.Fprintf(env.Terminal.Err, "Fetch the results: aiperf kube results %s -n %s\n", b.Name, b.Namespace)
	return nil
}

func followOnce(ctx context.Context, e *command.Env, c *client.Client, b *deployed.Benchmark, port int,
	tell func(deployed.Event)) error {
	if b.Kind == crd.SweepKind || crd.Terminal(b.Phase()) {
		return b.Await(ctx, c, tell)
	}
	pod, err := b.WaitForController(ctx, c)
	if err != nil {
		return err
	}
	if pod != "" {
		if err = b.Stream(ctx, c, pod, port, streamed(b, tell)); err == nil {
			if b.Direct() {
				return nil
			}
			return b.Await(ctx, c, tell) // the end is that the operator has stored the results
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(e.Terminal.Err, "%v; its status is followed instead\n", err)
	}
	return b.Await(ctx, c, tell)
}

// streamed tells what a controller says: where the operator runs a benchmark, the controller's end is not yet that of
// the benchmark.
func streamed(b *deployed.Benchmark, tell func(deployed.Event)) func(deployed.Event) {
	if b.Direct() {
		return tell
	}
	return func(e deployed.Event) {
		if e.Done {
			e = deployed.Event{Text: "the controller is done; the operator stores the results"}
		}
		tell(e)
	}
}
