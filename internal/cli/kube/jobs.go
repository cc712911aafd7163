package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/config/flags"
)

// confirm asks before something is destroyed. Without a terminal it refuses unless forced.
func confirm(e *command.Env, question string, forced bool) error {
	if forced {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return errors.New("nobody can be asked here: give --force to go on without a question")
	}
	fmt.Fprintf(e.Terminal.Err, "%s [y/N] ", question)
	var answer string
	fmt.Fscanln(os.Stdin, &answer)
	if !slices.Contains([]string{"y", "yes"}, strings.ToLower(answer)) {
		return errors.New("nothing was done")
	}
	return nil
}

type kubeListOptions struct {
	clusterFlags
	job                             string
	all, running, completed, failed bool
	wide, watch                     bool
	interval                        float64
}

func (o *kubeListOptions) table() *flags.Table {
	o.interval = 5
	return kubeTable("list", `Usage: aiperf kube list [JOB] [options]

Lists the benchmarks of all namespaces, or of the one of -n, newest first.

Options:
`, "", &o.clusterFlags,
		flags.Value("job-id", "JOB", "only this benchmark; the flag itself may be omitted", command.NonEmpty(&o.job)),
		flags.Switch("all-namespaces -A", "all namespaces; the default without -n", &o.all),
		command.Off("no-all-namespaces", &o.all),
		either("running", "only those that have not ended", &o.running),
		either("completed", "only those that completed", &o.completed),
		either("failed", "only those that failed", &o.failed),
		either("wide -w", "model, endpoint and error, too", &o.wide),
		either("watch", "again and again until Ctrl-C", &o.watch),
		flags.Value("interval", "SECONDS", "with --watch: time between two lists [default: 5]",
			command.Seconds(&o.interval, 0.1, 3600)))
}

// kubeList lists benchmarks.
func kubeList(e *command.Env, args []string) error {
	var o kubeListOptions
	t := o.table()
	if err := jobWords(e, t, args); err != nil {
		return err
	}
	var which []string
	for name, on := range map[string]bool{"running": o.running, "completed": o.completed, "failed": o.failed} {
		if on {
			which = append(which, "--"+name)
		}
	}
	slices.Sort(which)
	if len(which) > 1 {
		return fmt.Errorf("%s exclude each other: give one", strings.Join(which, ", "))
	}
	c, err := client.Connect(o.options())
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	namespace := o.namespace
	if o.all {
		namespace = ""
	}
	filter := strings.TrimPrefix(strings.Join(which, ""), "--")
	for {
		list, err := deployed.List(ctx, c, namespace)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return kubeError(err)
		}
		list = slices.DeleteFunc(list, func(b *deployed.Benchmark) bool {
			return o.job != "" && b.Name != o.job || !b.Selected(filter)
		})
		if o.job != "" && len(list) == 0 && !o.watch && filter == "" {
			return &deployed.NotFoundError{Name: o.job, Namespace: namespace}
		}
		if o.watch && e.Terminal.OutTTY {
			fmt.Fprint(e.Terminal.StyledOut, "\x1b[H\x1b[2J")
		}
		if len(list) == 0 {
			fmt.Fprintln(e.Terminal.Out, "There are no benchmarks.")
		} else {
			rows := [][]string{deployed.Columns(o.wide)}
			for _, b := range list {
				rows = append(rows, b.Row(time.Now(), o.wide))
			}
			command.WriteColumns(e.Terminal.Out, rows, 0)
		}
		if !o.watch {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(o.interval * float64(time.Second))):
		}
	}
}

type kubeCancelOptions struct{ target }

func (o *kubeCancelOptions) table() *flags.Table {
	o.target = newTarget()
	own := append([]flags.Flag{o.jobFlag()}, o.cellFlags("variation -v")...)
	return kubeTable("cancel", `Usage: aiperf kube cancel [JOB] [options]

Cancels a benchmark: the operator is asked to end it and keeps its metrics so far (live_metrics.json), no other results;
without the operator its objects are deleted. One that has ended stays as it is.

Options:
`, "", &o.clusterFlags, append(own, o.kindFlag())...)
}

// kubeCancel cancels a benchmark.
func kubeCancel(e *command.Env, args []string) error {
	var o kubeCancelOptions
	return onBenchmark(e, o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) error {
		asked, err := b.Cancel(ctx, c)
		switch {
		case err != nil:
			return kubeError(err)
		case !asked:
			fmt.Fprintf(e.Terminal.Out, "%s is %s already; nothing was changed.\n", b.Name, b.Phase())
		default:
			fmt.Fprintf(e.Terminal.Out, "%s is being cancelled.\n", b.Name)
		}
		return nil
	})
}

type kubeDeleteOptions struct {
	target
	force bool
}

func forceFlag(to *bool) flags.Flag {
	return either("force -f", "do not ask", to)
}

func (o *kubeDeleteOptions) table() *flags.Table {
	o.target = newTarget()
	return kubeTable("delete", `Usage: aiperf kube delete [JOB] [options]

Deletes a benchmark with its pods and all other objects. Results that the operator has stored stay.

Options:
`, "", &o.clusterFlags, o.jobFlag(), forceFlag(&o.force), o.kindFlag())
}

// kubeDelete deletes a benchmark.
func kubeDelete(e *command.Env, args []string) error {
	var o kubeDeleteOptions
	return onBenchmark(e, o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) error {
		if err := confirm(e, fmt.Sprintf("Delete %s in %s (%s)?", b.Name, b.Namespace, b.Phase()), o.force); err != nil {
			return err
		}
		if err := b.Delete(ctx, c); err != nil && !client.IsNotFound(err) {
			return kubeError(err)
		}
		fmt.Fprintf(e.Terminal.Out, "%s was deleted.\n", b.Name)
		return nil
	})
}

type kubeCleanupOptions struct {
	clusterFlags
	all, force, dryRun bool
}

func (o *kubeCleanupOptions) table() *flags.Table {
	return kubeTable("cleanup", `Usage: aiperf kube cleanup [options]

Deletes the benchmarks of a namespace that have ended.

Options:
`, "", &o.clusterFlags,
		either("all -a", "those that run, too; they are cancelled first", &o.all),
		forceFlag(&o.force),
		either("dry-run", "list what would be deleted", &o.dryRun))
}

// kubeCleanup deletes finished benchmarks.
func kubeCleanup(e *command.Env, args []string) error {
	var o kubeCleanupOptions
	if err := e.ParseOnly(o.table(), args); err != nil {
		return err
	}
	c, namespace, err := o.connect()
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	list, err := deployed.List(ctx, c, namespace)
	if err != nil {
		return kubeError(err)
	}
	list = slices.DeleteFunc(list, func(b *deployed.Benchmark) bool { return !o.all && !crd.Terminal(b.Phase()) })
	if len(list) == 0 {
		fmt.Fprintf(e.Terminal.Out, "There is nothing to delete in %s.\n", namespace)
		return nil
	}
	for _, b := range list {
		fmt.Fprintf(e.Terminal.Out, "%s (%s)\n", b.Name, b.Phase())
	}
	if o.dryRun {
		return nil
	}
	if err := confirm(e, fmt.Sprintf("Delete %d benchmarks in %s?", len(list), namespace), o.force); err != nil {
		return err
	}
	failed := 0
	for _, b := range list {
		_, err := b.Cancel(ctx, c)
		if err == nil || client.IsNotFound(err) {
			err = b.Delete(ctx, c)
		}
		if err != nil && !client.IsNotFound(err) {
			failed++
			fmt.Fprintf(e.Terminal.Err, "%s: %v\n", b.Name, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d benchmarks were not deleted", failed, len(list))
	}
	fmt.Fprintf(e.Terminal.Out, "%d benchmarks were deleted.\n", len(list))
	return nil
}

type kubeShutdownOptions struct {
	target
	port int
}

func (o *kubeShutdownOptions) table() *flags.Table {
	o.target = newTarget()
	return kubeTable("shutdown", `Usage: aiperf kube shutdown [JOB] [options]

Ends the controller pod of a finished benchmark, which otherwise stays for a while so that results can be fetched from
it.

Options:
`, "", &o.clusterFlags, o.jobFlag(),
		flags.Value("local-port", "PORT", "port of this machine for the connection [default: a free one]",
			within(&o.port, 0, 65535)))
}

// kubeShutdown ends a controller pod.
func kubeShutdown(e *command.Env, args []string) error {
	var o kubeShutdownOptions
	return onBenchmark(e, o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) error {
		switch done, err := b.Shutdown(ctx, c, o.port); {
		case err != nil:
			return kubeError(err)
		case !done:
			fmt.Fprintf(e.Terminal.Out, "The controller of %s has ended already.\n", b.Name)
		default:
			fmt.Fprintf(e.Terminal.Out, "The controller of %s ends.\n", b.Name)
		}
		return nil
	})
}

type kubeLogsOptions struct {
	target
	deployed.LogsOptions
}

func (o *kubeLogsOptions) table() *flags.Table {
	o.target, o.Tail = newTarget(), -1
	own := append([]flags.Flag{o.jobFlag(),
		flags.Value("container", "NAME", "only this container", command.NonEmpty(&o.Container)),
		either("follow -f", "go on with new lines until Ctrl-C", &o.Follow),
		flags.Value("tail", "N", "only the last lines of each container", within(&o.Tail, 0, 1<<30)),
		flags.Value("output -o", "DIR", "a file in this folder for each pod and container", command.NonEmpty(&o.Dir)),
	}, o.cellFlags("variation -v")...)
	return kubeTable("logs", `Usage: aiperf kube logs [JOB] [options]

Prints the logs of the pods of a benchmark, the controller's first.

Options:
`, "", &o.clusterFlags, append(own, o.ignoreFlag())...)
}

// kubeLogs prints or saves logs.
func kubeLogs(e *command.Env, args []string) error {
	var o kubeLogsOptions
	return onBenchmark(e, o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) error {
		o.Out = e.Terminal.Out
		files, err := b.Logs(ctx, c, o.LogsOptions)
		for _, name := range files {
			fmt.Fprintln(e.Terminal.Out, "Wrote", name)
		}
		if err != nil && ctx.Err() == nil {
			return kubeError(err)
		}
		return nil
	})
}
