package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"aiperf/internal/base/manual"
	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
)

// kubeActions are the sub-commands in the order of the help text.
func kubeActions() []command.Command {
	return []command.Command{
		{Name: "init", Summary: "write a configuration for a cluster from a template; list the templates",
			Tables: command.Table(func() *flags.Table { return new(kubeInitOptions).table() }), Run: kubeInit},
		{Name: "validate", Summary: "check files with an AIPerfJob, an AIPerfSweep or a configuration",
			Tables: command.Table(func() *flags.Table { return new(kubeValidateOptions).table() }), Run: kubeValidate},
		{Name: "generate", Summary: "print the manifests of a benchmark",
			Tables: command.Table(func() *flags.Table { return new(Deploy).generateTable() }), Run: kubeGenerate},
		{Name: "show", Summary: "print a manifest with its expressions and variables resolved, or results that were fetched",
			Tables: command.Table(func() *flags.Table { return new(kubeShowOptions).table() }), Run: kubeShow},
		{Name: "preflight", Summary: "check a cluster before a benchmark",
			Tables: command.Table(func() *flags.Table { return new(kubePreflightOptions).table() }), Run: kubePreflight},
		{Name: "profile", Summary: "run a benchmark in a cluster",
			Tables: command.Table(func() *flags.Table { return new(Deploy).ProfileTable() }), Run: kubeProfile},
		{Name: "sweep", Summary: "run a sweep, or several runs of a benchmark, in a cluster",
			Tables: command.Table(func() *flags.Table { return new(Deploy).sweepTable() }), Run: kubeSweep},
		{Name: "list", Summary: "list benchmarks and how far they are",
			Tables: command.Table(func() *flags.Table { return new(kubeListOptions).table() }), Run: kubeList},
		{Name: "attach", Summary: "follow a running benchmark",
			Tables: command.Table(func() *flags.Table { return new(kubeAttachOptions).table() }), Run: kubeAttach},
		{Name: "logs", Summary: "print or save the logs of the pods of a benchmark",
			Tables: command.Table(func() *flags.Table { return new(kubeLogsOptions).table() }), Run: kubeLogs},
		{Name: "results", Summary: "fetch the results of a benchmark; list its runs",
			Tables: resultsTables, Run: kubeResults},
		{Name: "cancel", Summary: "cancel a running benchmark",
			Tables: command.Table(func() *flags.Table { return new(kubeCancelOptions).table() }), Run: kubeCancel},
		{Name: "shutdown", Summary: "end the controller pod of a finished benchmark",
			Tables: command.Table(func() *flags.Table { return new(kubeShutdownOptions).table() }), Run: kubeShutdown},
		{Name: "delete", Summary: "delete a benchmark with all its objects",
			Tables: command.Table(func() *flags.Table { return new(kubeDeleteOptions).table() }), Run: kubeDelete},
		{Name: "cleanup", Summary: "delete the finished benchmarks of a namespace",
			Tables: command.Table(func() *flags.Table { return new(kubeCleanupOptions).table() }), Run: kubeCleanup},
		{Name: "debug", Summary: "say what is wrong with the pods of a benchmark",
			Tables: command.Table(func() *flags.Table { return new(kubeDebugOptions).table() }), Run: kubeDebug},
		{Name: "dashboard", Summary: "open the pages of the operator's results server",
			Tables: command.Table(func() *flags.Table { return new(kubeDashboardOptions).table() }), Run: kubeDashboard},
	}
}

// kubeTables are the flags of each sub-command.
func kubeTables() []*flags.Table { return command.TablesOf(kubeActions()) }

// resultsTables are the flags of aiperf kube results, and those of its list of runs.
func resultsTables() []*flags.Table {
	return []*flags.Table{new(kubeResultsOptions).table(), new(kubeRunsOptions).table()}
}

// runKube runs benchmarks in a Kubernetes cluster.
func runKube(e *command.Env, args []string) error {
	actions := kubeActions()
	if action, found := command.Find(actions, args); found {
		return action.Run(e, args[1:])
	}
	switch {
	case flags.WantsHelp(args):
		kubeHelp(e)
		return nil
	case len(args) == 0:
		kubeHelp(e)
		return command.Exit(command.ExitFailure)
	}
	return command.UnknownAction("kube", args[0], actions)
}

func kubeHelp(e *command.Env) {
	e.HelpText("Usage: aiperf kube ACTION [options]\n\n" + command.Listed("Actions", kubeActions()) + `
From nothing to a result on a cluster:
  aiperf kube preflight -n bench
  aiperf kube profile -n bench --image IMAGE -m MODEL --url http://SERVER:8000 --concurrency 100 --request-count 1000
  aiperf kube results -n bench

"aiperf kube ACTION --help" shows the options. ` + manual.Page("kubernetes") + ` explains all of it.
`)
}

// clusterFlags say which cluster and namespace are meant.
type clusterFlags struct{ kubeconfig, context, namespace string }

func (o *clusterFlags) flags() []flags.Flag {
	return []flags.Flag{
		flags.Value("namespace -n", "NAME", "the namespace [default: that of the context]", command.NonEmpty(&o.namespace)),
		flags.Value("kubeconfig", "FILE", "the kubeconfig [default: $KUBECONFIG, ~/.kube/config, or a pod's account]",
			command.NonEmpty(&o.kubeconfig)),
		flags.Value("kube-context", "NAME", "the context of the kubeconfig [default: its current one]",
			command.NonEmpty(&o.context)),
	}
}

func (o *clusterFlags) options() client.Options {
	return client.Options{Kubeconfig: o.kubeconfig, Context: o.context, Namespace: o.namespace}
}

// connect returns a client and the namespace that is meant.
func (o *clusterFlags) connect() (*client.Client, string, error) {
	c, err := client.Connect(o.options())
	if err != nil {
		return nil, "", err
	}
	namespace, err := o.options().FindNamespace()
	return c, namespace, err
}

// kubeTable is the table of a sub-command with the flags of all of them.
func kubeTable(name, about, footer string, cluster *clusterFlags, own ...flags.Flag) *flags.Table {
	var also *flags.Table
	if strings.Contains(footer, kubeDeployFooter) {
		also = option.Flags()
	}
	return &flags.Table{Command: "kube " + name, Page: "kubernetes", Examples: examples(name), Also: also, About: about, Flags: append(own, cluster.flags()...),
		Footer: footer}
}

// target is a benchmark as commands name it.
type target struct {
	clusterFlags
	job              string
	variation, trial int
	kind             string
	ignore           bool
}

func newTarget() target { return target{variation: -1, trial: -1} }

func (o *target) jobFlag() flags.Flag {
	return flags.Value("job-id", "JOB", "the benchmark; the flag itself may be omitted [default: the last one that was "+
		"started here]", command.NonEmpty(&o.job))
}

// cellFlags name a job of a sweep by variation and trial.
func (o *target) cellFlags(variation string) []flags.Flag {
	return []flags.Flag{
		flags.Value(variation, "N", "the job of this variation of the sweep, from 0", within(&o.variation, 0,
			crd.MaxVariations-1)),
		flags.Value("trial -t", "N", "the job of this trial, from 0; with --variation", within(&o.trial, 0,
			crd.MaxTrials-1)),
	}
}

func (o *target) kindFlag() flags.Flag {
	return flags.Choice("kind", "KIND", "job or sweep, where both have the name", &o.kind, "job", "sweep")
}

func (o *target) ignoreFlag() flags.Flag {
	return either("ignore-not-found", "succeed where there is no such benchmark", &o.ignore)
}

// within reads a whole number between two limits.
func within(to *int, lo, hi int) func(string) error {
	return func(text string) error {
		var v float64
		if err := command.Real(&v, float64(lo), float64(hi))(text); err != nil || v != float64(int(v)) {
			return fmt.Errorf("must be a whole number from %d to %d", lo, hi)
		}
		*to = int(v)
		return nil
	}
}

// jobPlace has the word of a command be its benchmark.
var jobPlace = []string{"job-id"}

// find connects and finds the benchmark that is meant.
func (o *target) find(ctx context.Context, e *command.Env) (*client.Client, *deployed.Benchmark, error) {
	c, name, namespace, kind, err := o.resolved(e)
	if err != nil {
		return nil, nil, err
	}
	b, err := deployed.Find(ctx, c, namespace, name, kind, o.variation, o.trial)
	return c, b, err
}

// resolved returns a client and the names of what is meant: the benchmark of the arguments, or the last one.
func (o *target) resolved(e *command.Env) (c *client.Client, name, namespace, kind string, err error) {
	if o.trial >= 0 && o.variation < 0 {
		return nil, "", "", "", errors.New("--trial needs --variation")
	}
	options := o.options()
	name, kind = o.job, map[string]string{"": "", "job": crd.JobKind, "sweep": crd.SweepKind}[o.kind]
	if name == "" {
		last, err := deployed.ReadLast(e.LookupEnv)
		if err != nil {
			return nil, "", "", "", err
		}
		name, kind = last.JobID, last.Kind
		if options.Namespace == "" {
			options.Namespace = last.Namespace
		}
	}
	if c, err = client.Connect(options); err != nil {
		return nil, "", "", "", err
	}
	namespace, err = options.FindNamespace()
	return c, name, namespace, kind, err
}

// missing reports a benchmark that was not found; it is no failure where the user said so.
func (o *target) missing(e *command.Env, err error) error {
	var none *deployed.NotFoundError
	if o.ignore && errors.As(err, &none) {
		fmt.Fprintln(e.Terminal.Err, none.Error())
		return nil
	}
	return kubeError(err)
}

// kubeError adds what to do to errors of the API.
func kubeError(err error) error {
	switch {
	case err == nil:
		return nil
	case client.IsForbidden(err):
		return fmt.Errorf("%w\nThis account may not do that; aiperf kube preflight lists what is missing", err)
	case client.IsUnreachable(err):
		return fmt.Errorf("the cluster does not answer: %w\nCheck --kubeconfig and --kube-context", err)
	}
	return err
}

// untilInterrupted is a context that ends with the first Ctrl-C.
func untilInterrupted() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// onBenchmark parses the flags of a sub-command, finds the benchmark that it names, and does something with it until the
// first Ctrl-C.
func onBenchmark(e *command.Env, t *flags.Table, of *target, args []string,
	do func(context.Context, *client.Client, *deployed.Benchmark) error) error {
	if err := jobWords(e, t, args); err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	c, b, err := of.find(ctx, e)
	if err != nil {
		return of.missing(e, err)
	}
	return do(ctx, c, b)
}

// jobWords parses the flags of a sub-command whose only word is its benchmark.
func jobWords(e *command.Env, t *flags.Table, args []string) error {
	t.Places = jobPlace
	return e.ParseOnly(t, args)
}

// SplitFlags parts arguments into those of a table, in their long or short form, and the rest.
func SplitFlags(t *flags.Table, args []string) (own, rest []string) {
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		flag, _ := t.Find(name)
		if base, key, dotted := strings.Cut(name, "."); flag < 0 && dotted { // --labels.KEY VALUE
			if at, _ := t.Find(base); at >= 0 && slices.Contains(keyed, t.Flags[at].Name) {
				if !joined && i+1 < len(args) {
					i++
					value = args[i]
				}
				own = append(own, base+"="+key+"="+value)
				continue
			}
		}
		if flag < 0 || !strings.HasPrefix(name, "-") {
			rest = append(rest, args[i])
			continue
		}
		own = append(own, args[i])
		if !joined && t.Flags[flag].Value != "" && i+1 < len(args) {
			i++
			own = append(own, args[i])
		}
	}
	return own, rest
}

// keyed are flags that may have a key in their name.
var keyed = []string{"labels", "annotations", "env-vars", "env-from-secrets", "node-selector"}

// either is a switch that has a form that says no.
func either(names, help string, on *bool) flags.Flag {
	f := flags.Switch(names, help, nil)
	f.Negation, f.On, f.Set = "no-"+f.Name, nil, flags.Bool(on)
	return f
}

// whether is a switch whose default depends: nil where it was not given.
func whether(names, help string, on **bool) flags.Flag {
	given := new(bool)
	f := either(names, help, given)
	set := f.Set
	f.Set = func(text string) error {
		*on = given
		return set(text)
	}
	return f
}
