package kube

import (
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/config/flags"
)

type kubePreflightOptions struct {
	clusterFlags
	deployed.PreflightOptions
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
		flags.Value("image -i", "IMAGE", "the image that will be pulled", command.NonEmpty(&o.Image)),
		flags.Value("image-pull-secret image-pull-secrets", "NAME,…", "secrets of the registry", flags.List(&o.PullSecrets)),
		flags.Value("secret secrets", "NAME,…", "secrets that the benchmark needs", flags.List(&o.Secrets)),
		flags.Value("endpoint-url -e", "URL", "the server under test", command.NonEmpty(&o.Endpoint)),
		flags.Value("workers -w", "N", "pods of workers [default: 1]", within(&o.Workers, 1, 100_000)),
		flags.Value("node-selector", "K=V", "labels of the nodes; repeated, or as JSON", pairs(&o.selector)),
		flags.Value("tolerations", "JSON", "a toleration, or a list of them", objects(&o.Tolerations)),
		flags.Choice("output -o", "FORMAT", "text or json", &o.format, "text", "json"))
}

// kubePreflight checks a cluster.
func kubePreflight(e *command.Env, args []string) error {
	var o kubePreflightOptions
	if err := e.ParseOnly(o.table(), args); err != nil {
		return err
	}
	c, namespace, err := o.connect()
	if err != nil {
		return err
	}
	o.Namespace, o.NodeSelector = namespace, o.selector
	ctx, stop := untilInterrupted()
	defer stop()
	r := deployed.Preflight(ctx, c, o.PreflightOptions)
	if o.format == "json" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(e.Terminal.Out, string(data))
	} else {
		printChecks(e, r)
	}
	if !r.Passed {
		return command.Exit(command.ExitFailure)
	}
	return nil
}

func printChecks(e *command.Env, r *deployed.PreflightResults) {
	for _, x := range r.Checks {
		fmt.Fprintf(e.Terminal.Out, "%-4s  %-22s %s\n", strings.ToUpper(string(x.Status)), x.Name, x.Message)
		for _, d := range x.Details {
			fmt.Fprintf(e.Terminal.Out, "        %s\n", d)
		}
		for _, h := range x.Hints {
			fmt.Fprintf(e.Terminal.Out, "        → %s\n", h)
		}
	}
}

type kubeDebugOptions struct {
	target
	verbose, all bool
}

func (o *kubeDebugOptions) table() *flags.Table {
	o.target = newTarget()
	job := flags.Value("job-id -j", "JOB", "the benchmark or the sweep; the flag itself may be omitted [default: all of the namespace]", command.NonEmpty(&o.job))
	own := append([]flags.Flag{job,
		either("verbose -v", "the last lines of the logs, too", &o.verbose),
		either("all-namespaces -A", "all namespaces", &o.all)}, o.cellFlags("variation")...)
	return kubeTable("debug", `Usage: aiperf kube debug [JOB] [options]

Shows what is wrong with the pods of benchmarks: their states, events, the nodes, and errors of their logs.

Options:
`, "", &o.clusterFlags, own...)
}

// kubeDebug shows what is wrong.
func kubeDebug(e *command.Env, args []string) error {
	var o kubeDebugOptions
	if err := jobWords(e, o.table(), args); err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	var c *client.Client
	var err error
	namespace, selector := "", crd.LabelApp+"="+crd.AppName
	if o.job != "" {
		var b *deployed.Benchmark
		if c, b, err = o.find(ctx, e); err != nil {
			return kubeError(err)
		}
		namespace = b.Namespace
		if selector = crd.JobSelector(b.Name); b.Kind == crd.SweepKind {
			selector = crd.LabelSweep + "=" + b.Name
		}
		state := b.Name + " is " + b.Phase()
		if reason := b.Reason(); reason != "" {
			state += ": " + reason
		}
		fmt.Fprintf(e.Terminal.Out, "%s\n\n", state)
	} else if o.all {
		c, err = client.Connect(o.options())
	} else {
		c, namespace, err = o.connect()
	}
	if err != nil {
		return kubeError(err)
	}
	d, err := deployed.Diagnose(ctx, c, namespace, selector, o.verbose)
	if err != nil {
		return kubeError(err)
	}
	w := e.Terminal.Out
	for _, table := range d.Tables() {
		fmt.Fprintln(w, table.Title)
		if len(table.Rows) < 2 {
			fmt.Fprintln(w, "  "+table.Empty)
		} else {
			command.WriteColumns(w, table.Rows, 0)
		}
		fmt.Fprintln(w)
	}
	return nil
}
