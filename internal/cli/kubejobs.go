package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/cluster/kube/manifest"
	"aiperf/internal/cluster/kube/preflight"
	"aiperf/internal/config/flags"
)

// confirm asks before something is destroyed. Without a terminal it refuses unless forced.
func (a *app) confirm(question string, forced bool) error {
	if forced {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return errors.New("nobody can be asked here: give --force to go on without a question")
	}
	fmt.Fprintf(a.terminal.err, "%s [y/N] ", question)
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
		flags.Value("job-id", "JOB", "only this benchmark; the flag itself may be omitted", nonEmpty(&o.job)),
		flags.Switch("all-namespaces -A", "all namespaces; the default without -n", &o.all),
		off("no-all-namespaces", &o.all),
		either("running", "only those that have not ended", &o.running),
		either("completed", "only those that completed", &o.completed),
		either("failed", "only those that failed", &o.failed),
		either("wide -w", "model, endpoint and error, too", &o.wide),
		either("watch", "again and again until Ctrl-C", &o.watch),
		flags.Value("interval", "SECONDS", "with --watch: time between two lists [default: 5]",
			real(&o.interval, 0.1, 3600)))
}

// kubeList lists benchmarks.
func (a *app) kubeList(args []string) int {
	var o kubeListOptions
	t := o.table()
	if code, done := a.jobWords(t, args); done {
		return code
	}
	var which []string
	for name, on := range map[string]bool{"running": o.running, "completed": o.completed, "failed": o.failed} {
		if on {
			which = append(which, "--"+name)
		}
	}
	slices.Sort(which)
	if len(which) > 1 {
		return a.fail(fmt.Errorf("%s exclude each other: give one", strings.Join(which, ", ")))
	}
	c, err := client.Connect(o.options())
	if err != nil {
		return a.fail(err)
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
				return ExitOK
			}
			return a.fail(kubeError(err))
		}
		list = slices.DeleteFunc(list, func(b *deployed.Benchmark) bool {
			return o.job != "" && b.Name != o.job || !b.Selected(filter)
		})
		if o.job != "" && len(list) == 0 && !o.watch && filter == "" {
			return a.fail(&deployed.NotFoundError{Name: o.job, Namespace: namespace})
		}
		if o.watch && a.terminal.outTTY {
			fmt.Fprint(a.terminal.styledOut, "\x1b[H\x1b[2J")
		}
		if len(list) == 0 {
			fmt.Fprintln(a.terminal.out, "There are no benchmarks.")
		} else {
			rows := [][]string{deployed.Columns(o.wide)}
			for _, b := range list {
				rows = append(rows, b.Row(time.Now(), o.wide))
			}
			writeColumns(a.terminal.out, rows, 0)
		}
		if !o.watch {
			return ExitOK
		}
		select {
		case <-ctx.Done():
			return ExitOK
		case <-time.After(time.Duration(o.interval * float64(time.Second))):
		}
	}
}

type kubeCancelOptions struct{ target }

func (o *kubeCancelOptions) table() *flags.Table {
	o.target = newTarget()
	own := append([]flags.Flag{o.jobFlag()}, o.cellFlags("variation -v")...)
	return kubeTable("cancel", `Usage: aiperf kube cancel [JOB] [options]

Cancels a benchmark: the operator is asked to end it and keeps what there is of its results; without the operator its
objects are deleted. One that has ended stays as it is.

Options:
`, "", &o.clusterFlags, append(own, o.kindFlag())...)
}

// kubeCancel cancels a benchmark.
func (a *app) kubeCancel(args []string) int {
	var o kubeCancelOptions
	return a.onBenchmark(o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) int {
		asked, err := b.Cancel(ctx, c)
		switch {
		case err != nil:
			return a.fail(kubeError(err))
		case !asked:
			fmt.Fprintf(a.terminal.out, "%s is %s already; nothing was changed.\n", b.Name, b.Phase())
		default:
			fmt.Fprintf(a.terminal.out, "%s is being cancelled.\n", b.Name)
		}
		return ExitOK
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
func (a *app) kubeDelete(args []string) int {
	var o kubeDeleteOptions
	return a.onBenchmark(o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) int {
		if err := a.confirm(fmt.Sprintf("Delete %s in %s (%s)?", b.Name, b.Namespace, b.Phase()), o.force); err != nil {
			return a.fail(err)
		}
		if err := b.Delete(ctx, c); err != nil && !client.IsNotFound(err) {
			return a.fail(kubeError(err))
		}
		fmt.Fprintf(a.terminal.out, "%s was deleted.\n", b.Name)
		return ExitOK
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
func (a *app) kubeCleanup(args []string) int {
	var o kubeCleanupOptions
	if code, done := a.noWords(o.table(), args); done {
		return code
	}
	c, namespace, err := o.connect()
	if err != nil {
		return a.fail(err)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	list, err := deployed.List(ctx, c, namespace)
	if err != nil {
		return a.fail(kubeError(err))
	}
	list = slices.DeleteFunc(list, func(b *deployed.Benchmark) bool { return !o.all && !crd.Terminal(b.Phase()) })
	if len(list) == 0 {
		fmt.Fprintf(a.terminal.out, "There is nothing to delete in %s.\n", namespace)
		return ExitOK
	}
	for _, b := range list {
		fmt.Fprintf(a.terminal.out, "%s (%s)\n", b.Name, b.Phase())
	}
	if o.dryRun {
		return ExitOK
	}
	if err := a.confirm(fmt.Sprintf("Delete %d benchmarks in %s?", len(list), namespace), o.force); err != nil {
		return a.fail(err)
	}
	failed := 0
	for _, b := range list {
		_, err := b.Cancel(ctx, c)
		if err == nil || client.IsNotFound(err) {
			err = b.Delete(ctx, c)
		}
		if err != nil && !client.IsNotFound(err) {
			failed++
			fmt.Fprintf(a.terminal.err, "%s: %v\n", b.Name, err)
		}
	}
	if failed > 0 {
		return a.fail(fmt.Errorf("%d of %d benchmarks were not deleted", failed, len(list)))
	}
	fmt.Fprintf(a.terminal.out, "%d benchmarks were deleted.\n", len(list))
	return ExitOK
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
func (a *app) kubeShutdown(args []string) int {
	var o kubeShutdownOptions
	return a.onBenchmark(o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) int {
		if err := b.Shutdown(ctx, c, o.port); err != nil {
			return a.fail(kubeError(err))
		}
		fmt.Fprintf(a.terminal.out, "The controller of %s ends.\n", b.Name)
		return ExitOK
	})
}

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
func (a *app) kubeAttach(args []string) int {
	var o kubeAttachOptions
	return a.onBenchmark(o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) int {
		return a.follow(ctx, c, b, o.port)
	})
}

// follow follows a benchmark: by its controller, and where that cannot be reached by its resource.
func (a *app) follow(ctx context.Context, c *client.Client, b *deployed.Benchmark, port int) int {
	return a.told(ctx, b, func(tell func(deployed.Event)) error { return a.followOnce(ctx, c, b, port, tell) })
}

// await follows a benchmark by its resource.
func (a *app) await(ctx context.Context, c *client.Client, b *deployed.Benchmark) int {
	return a.told(ctx, b, func(tell func(deployed.Event)) error { return b.Await(ctx, c, tell) })
}

// told prints what a way of following a benchmark tells, and how the benchmark ended.
func (a *app) told(ctx context.Context, b *deployed.Benchmark, by func(tell func(deployed.Event)) error) int {
	failed := false
	err := by(func(e deployed.Event) {
		fmt.Fprintf(a.terminal.out, "%s  %s\n", b.Name, e.Text)
		failed = failed || e.Failed
	})
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(a.terminal.err, "\nThe benchmark goes on. aiperf kube attach %s -n %s follows it again, "+
			"aiperf kube cancel %s -n %s ends it.\n", b.Name, b.Namespace, b.Name, b.Namespace)
		return ExitOK
	case err != nil:
		return a.fail(kubeError(err))
	case failed:
		return ExitFailure
	}
	fmt.Fprintf(a.terminal.err, "Fetch the results: aiperf kube results %s -n %s\n", b.Name, b.Namespace)
	return ExitOK
}

func (a *app) followOnce(ctx context.Context, c *client.Client, b *deployed.Benchmark, port int,
	tell func(deployed.Event)) error {
	if b.Kind == crd.SweepKind || crd.Terminal(b.Phase()) {
		return b.Await(ctx, c, tell)
	}
	pod, err := b.WaitForController(ctx, c)
	if err != nil {
		return err
	}
	if pod != "" {
		if err = b.Stream(ctx, c, pod, port, tell); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(a.terminal.err, "%v; its status is followed instead\n", err)
	}
	return b.Await(ctx, c, tell)
}

type kubeLogsOptions struct {
	target
	deployed.LogsOptions
}

func (o *kubeLogsOptions) table() *flags.Table {
	o.target, o.Tail = newTarget(), -1
	own := append([]flags.Flag{o.jobFlag(),
		flags.Value("container", "NAME", "only this container", nonEmpty(&o.Container)),
		either("follow -f", "go on with new lines until Ctrl-C", &o.Follow),
		flags.Value("tail", "N", "only the last lines of each container", within(&o.Tail, 0, 1<<30)),
		flags.Value("output -o", "DIR", "a file in this folder for each pod and container", nonEmpty(&o.Dir)),
	}, o.cellFlags("variation -v")...)
	return kubeTable("logs", `Usage: aiperf kube logs [JOB] [options]

Prints the logs of the pods of a benchmark, the controller's first.

Options:
`, "", &o.clusterFlags, append(own, o.ignoreFlag())...)
}

// kubeLogs prints or saves logs.
func (a *app) kubeLogs(args []string) int {
	var o kubeLogsOptions
	return a.onBenchmark(o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) int {
		o.Out = a.terminal.out
		files, err := b.Logs(ctx, c, o.LogsOptions)
		for _, name := range files {
			fmt.Fprintln(a.terminal.out, "Wrote", name)
		}
		if err != nil && ctx.Err() == nil {
			return a.fail(kubeError(err))
		}
		return ExitOK
	})
}

type kubeResultsOptions struct {
	target
	deployed.FetchOptions
}

func (o *kubeResultsOptions) table() *flags.Table {
	o.target = newTarget()
	all := flags.Switch("all -a", "all files; the default", nil)
	all.On = func() { o.SummaryOnly = false }
	own := append([]flags.Flag{o.jobFlag(),
		flags.Value("output", "DIR", "the folder [default: ./artifacts/NAME]", nonEmpty(&o.Dir)),
		all,
		flags.Switch("summary-only", "the summaries only", &o.SummaryOnly),
		either("from-pods", "from the controller pod, not from the operator", &o.FromPods),
		either("shutdown", "with --from-pods: end the controller pod once all files are here", &o.Shutdown),
		flags.Value("port", "PORT", "port of this machine for the connection [default: a free one]",
			within(&o.Port, 0, 65535)),
		flags.Value("operator-namespace", "NAME", "where the operator runs [default: all are searched]",
			nonEmpty(&o.OperatorNamespace)),
		flags.Value("run", "EPOCH", "an earlier run, as aiperf kube results list-runs shows it [default: the latest]",
			nonEmpty(&o.Run)),
	}, o.cellFlags("variation -v")...)
	return kubeTable("results", `Usage: aiperf kube results [JOB] [options]
       aiperf kube results list-runs [JOB] [options]

Fetches the results of a benchmark: from the operator, which has stored them, or from its controller pod.

Options:
`, `
Exit codes: 0 all files are here; 1 one could not be fetched, or there are none.
`, &o.clusterFlags, own...)
}

// kubeResults fetches results.
func (a *app) kubeResults(args []string) int {
	if len(args) > 0 && args[0] == "list-runs" {
		return a.kubeRuns(args[1:])
	}
	var o kubeResultsOptions
	if code, done := a.jobWords(o.table(), args); done {
		return code
	}
	if o.Shutdown && !o.FromPods {
		return a.fail(errors.New("--shutdown needs --from-pods: it ends the pod that the files were fetched from"))
	}
	ctx, stop := untilInterrupted()
	defer stop()
	c, b, err := o.find(ctx, a)
	if err != nil { // the resource may be gone while the operator still has the results
		if c, b, err = o.stored(ctx, a, err); err != nil {
			return a.fail(kubeError(err))
		}
	}
	if o.Dir == "" {
		o.Dir = "artifacts/" + b.Name
	}
	o.Progress = func(f deployed.File, err error) {
		if err == nil {
			fmt.Fprintf(a.terminal.out, "  %s\n", f.Name)
		}
	}
	files, err := b.Fetch(ctx, c, o.FetchOptions)
	if err != nil {
		return a.fail(kubeError(err))
	}
	fmt.Fprintf(a.terminal.out, "%d files of %s are in %s\n", len(files), b.Name, o.Dir)
	return ExitOK
}

// stored is a benchmark whose resource is gone; the operator may still have its results.
func (o *kubeResultsOptions) stored(ctx context.Context, a *app, cause error) (*client.Client, *deployed.Benchmark, error) {
	var gone *deployed.NotFoundError
	if !errors.As(cause, &gone) || o.FromPods {
		return nil, nil, cause
	}
	c, _, namespace, _, err := o.resolved(a)
	if err != nil {
		return nil, nil, err
	}
	if _, _, err := deployed.FindOperator(ctx, c, o.OperatorNamespace); err != nil {
		return nil, nil, cause
	}
	return c, &deployed.Benchmark{Name: gone.Name, Namespace: namespace, Kind: crd.JobKind,
		Object: client.Object{}}, nil
}

type kubeRunsOptions struct {
	target
	format, operator string
	preview          bool
}

func (o *kubeRunsOptions) table() *flags.Table {
	o.target, o.format = newTarget(), "text"
	own := append([]flags.Flag{o.jobFlag(),
		flags.Choice("output -o", "FORMAT", "text or json", &o.format, "text", "json"),
		flags.Switch("preview", "show which runs the limits of the operator would delete", &o.preview),
		flags.Value("operator-namespace", "NAME", "where the operator runs [default: all are searched]",
			nonEmpty(&o.operator)),
	}, o.cellFlags("variation -v")...)
	t := kubeTable("results list-runs", `Usage: aiperf kube results list-runs [JOB] [options]

Lists the runs of a benchmark that the operator has stored.

Options:
`, "", &o.clusterFlags, own...)
	return t
}

// kubeRuns lists stored runs.
func (a *app) kubeRuns(args []string) int {
	var o kubeRunsOptions
	return a.onBenchmark(o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) int {
		f, err := deployed.OpenOperator(ctx, c, o.operator, 0)
		if err != nil {
			return a.fail(kubeError(err))
		}
		defer f.Close()
		runs, document, err := b.Runs(ctx, f)
		if err != nil {
			return a.fail(err)
		}
		if o.format == "json" {
			fmt.Fprintln(a.terminal.out, strings.TrimSpace(string(document)))
			return ExitOK
		}
		rows := [][]string{{"EPOCH", "TIMESTAMP", "FILES", "SIZE", "LATEST"}}
		var limits *deployed.Retention
		if o.preview {
			if limits, err = deployed.ReadRetention(ctx, f); err != nil {
				return a.fail(err)
			}
			rows[0] = append(rows[0], "WOULD DELETE")
		}
		for i, r := range runs {
			row := []string{r.Epoch, r.Timestamp, strconv.Itoa(r.Files), strconv.FormatInt(r.Size, 10), yes(r.Latest)}
			if o.preview {
				row = append(row, yes(limits.Removes(i, len(runs), r, time.Now())))
			}
			rows = append(rows, row)
		}
		writeColumns(a.terminal.out, rows, 0)
		return ExitOK
	})
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

type kubeDashboardOptions struct {
	clusterFlags
	port      int
	operator  string
	noBrowser bool
}

func (o *kubeDashboardOptions) table() *flags.Table {
	return kubeTable("dashboard", `Usage: aiperf kube dashboard [options]

Connects with the operator's results server and opens its pages in the browser, until Ctrl-C.

Options:
`, "", &o.clusterFlags,
		flags.Value("port", "PORT", "port of this machine [default: a free one]", within(&o.port, 0, 65535)),
		flags.Value("operator-namespace", "NAME", "where the operator runs [default: all are searched]",
			nonEmpty(&o.operator)),
		either("no-browser", "only print the address", &o.noBrowser))
}

// kubeDashboard opens the operator's pages.
func (a *app) kubeDashboard(args []string) int {
	var o kubeDashboardOptions
	if code, done := a.noWords(o.table(), args); done {
		return code
	}
	c, err := client.Connect(o.options())
	if err != nil {
		return a.fail(err)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	f, err := deployed.OpenOperator(ctx, c, o.operator, o.port)
	if err != nil {
		return a.fail(kubeError(err))
	}
	defer f.Close()
	fmt.Fprintln(a.terminal.out, f.URL("/"))
	if !o.noBrowser {
		if err := openBrowser(f.URL("/")); err != nil {
			fmt.Fprintf(a.terminal.err, "No browser was opened: %v\n", err)
		}
	}
	select {
	case <-ctx.Done():
		return ExitOK
	case <-f.Done():
		return a.fail(errors.New("the connection with the results server ended"))
	}
}

type kubePreflightOptions struct {
	clusterFlags
	preflight.Options
	selector map[string]string
	format   string
}

func (o *kubePreflightOptions) table() *flags.Table {
	o.Workers, o.format = 1, "text"
	return kubeTable("preflight", `Usage: aiperf kube preflight [options]

Checks whether a cluster can run a benchmark: connectivity, version, permissions, operator, JobSet, quotas, nodes,
secrets, image, network policies, DNS and the server under test.

Options:
`, `
Exit codes: 0 no check failed; 1 one did.
`, &o.clusterFlags,
		flags.Value("image -i", "IMAGE", "the image that will be pulled", nonEmpty(&o.Image)),
		flags.Value("image-pull-secret image-pull-secrets", "NAME,…", "secrets of the registry", flags.List(&o.PullSecrets)),
		flags.Value("secret secrets", "NAME,…", "secrets that the benchmark needs", flags.List(&o.Secrets)),
		flags.Value("endpoint-url -e", "URL", "the server under test", nonEmpty(&o.Endpoint)),
		flags.Value("workers -w", "N", "pods of workers [default: 1]", within(&o.Workers, 1, 100_000)),
		flags.Value("node-selector", "K=V", "labels of the nodes; repeated, or as JSON", pairs(&o.selector)),
		flags.Value("tolerations", "JSON", "a toleration, or a list of them", objects(&o.Tolerations)),
		flags.Choice("output -o", "FORMAT", "text or json", &o.format, "text", "json"))
}

// kubePreflight checks a cluster.
func (a *app) kubePreflight(args []string) int {
	var o kubePreflightOptions
	if code, done := a.noWords(o.table(), args); done {
		return code
	}
	c, namespace, err := o.connect()
	if err != nil {
		return a.fail(err)
	}
	o.Namespace, o.NodeSelector = namespace, o.selector
	ctx, stop := untilInterrupted()
	defer stop()
	r := preflight.Run(ctx, c, o.Options)
	if o.format == "json" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return a.fail(err)
		}
		fmt.Fprintln(a.terminal.out, string(data))
	} else {
		a.printChecks(r)
	}
	if !r.Passed {
		return ExitFailure
	}
	return ExitOK
}

func (a *app) printChecks(r *preflight.Results) {
	for _, x := range r.Checks {
		fmt.Fprintf(a.terminal.out, "%-4s  %-22s %s\n", strings.ToUpper(string(x.Status)), x.Name, x.Message)
		for _, d := range x.Details {
			fmt.Fprintf(a.terminal.out, "        %s\n", d)
		}
		for _, h := range x.Hints {
			fmt.Fprintf(a.terminal.out, "        → %s\n", h)
		}
	}
}

type kubeDebugOptions struct {
	target
	verbose, all bool
}

func (o *kubeDebugOptions) table() *flags.Table {
	o.target = newTarget()
	job := flags.Value("job-id -j", "JOB", "the benchmark or the sweep [default: all of the namespace]", nonEmpty(&o.job))
	own := append([]flags.Flag{job,
		either("verbose -v", "the last lines of the logs, too", &o.verbose),
		either("all-namespaces -A", "all namespaces", &o.all)}, o.cellFlags("variation")...)
	return kubeTable("debug", `Usage: aiperf kube debug [options]

Shows what is wrong with the pods of benchmarks: their states, events, the nodes, and errors of their logs.

Options:
`, "", &o.clusterFlags, own...)
}

// kubeDebug shows what is wrong.
func (a *app) kubeDebug(args []string) int {
	var o kubeDebugOptions
	if code, done := a.noWords(o.table(), args); done {
		return code
	}
	ctx, stop := untilInterrupted()
	defer stop()
	var c *client.Client
	var err error
	namespace, selector := "", crd.LabelApp+"="+crd.AppName
	if o.job != "" {
		var b *deployed.Benchmark
		if c, b, err = o.find(ctx, a); err != nil {
			return a.fail(kubeError(err))
		}
		namespace = b.Namespace
		if selector = manifest.Selector(b.Name); b.Kind == crd.SweepKind {
			selector = crd.LabelSweep + "=" + b.Name
		}
		fmt.Fprintf(a.terminal.out, "%s is %s. %s\n\n", b.Name, b.Phase(), b.Reason())
	} else if o.all {
		c, err = client.Connect(o.options())
	} else {
		c, namespace, err = o.connect()
	}
	if err != nil {
		return a.fail(kubeError(err))
	}
	d, err := deployed.Diagnose(ctx, c, namespace, selector, o.verbose)
	if err != nil {
		return a.fail(kubeError(err))
	}
	w := a.terminal.out
	for _, table := range d.Tables() {
		fmt.Fprintln(w, table.Title)
		if len(table.Rows) < 2 {
			fmt.Fprintln(w, "  "+table.Empty)
		} else {
			writeColumns(w, table.Rows, 0)
		}
		fmt.Fprintln(w)
	}
	return ExitOK
}
