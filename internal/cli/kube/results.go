package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/config/flags"
	"aiperf/internal/run"
)

type kubeResultsOptions struct {
	target
	deployed.FetchOptions
}

func (o *kubeResultsOptions) table() *flags.Table {
	o.target = newTarget()
	all := flags.Switch("all -a", "all files; the default", nil)
	all.On = func() { o.SummaryOnly = false }
	own := append([]flags.Flag{o.jobFlag(),
		flags.Value("output", "DIR", "the folder [default: ./artifacts/NAME]", command.NonEmpty(&o.Dir)),
		all,
		flags.Switch("summary-only", "the summaries only", &o.SummaryOnly),
		either("from-pods", "from the controller pod, not from the operator", &o.FromPods),
		either("shutdown", "with --from-pods: end the controller pod once all files are here", &o.Shutdown),
		flags.Value("port", "PORT", "port of this machine for the connection [default: a free one]",
			within(&o.Port, 0, 65535)),
		flags.Value("operator-namespace", "NAME", "where the operator runs [default: all are searched]",
			command.NonEmpty(&o.OperatorNamespace)),
		flags.Value("run", "EPOCH", "an earlier run, as aiperf kube results list-runs shows it [default: the latest]",
			command.NonEmpty(&o.Run)),
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
func kubeResults(e *command.Env, args []string) error {
	if len(args) > 0 && args[0] == "list-runs" {
		return kubeRuns(e, args[1:])
	}
	var o kubeResultsOptions
	if err := jobWords(e, o.table(), args); err != nil {
		return err
	}
	if o.Shutdown && !o.FromPods {
		return errors.New("--shutdown needs --from-pods: it ends the pod that the files were fetched from")
	}
	ctx, stop := untilInterrupted()
	defer stop()
	c, b, err := o.find(ctx, e)
	if err != nil { // the resource may be gone while the operator still has the results
		if c, b, err = o.stored(ctx, e, err); err != nil {
			return kubeError(err)
		}
	}
	o.Folder = func(same func(dir string) bool) (dir string, err error) {
		dir, earlier, err := run.FolderAgain("artifacts/"+b.Name, same)
		if err != nil {
			return "", fmt.Errorf("%w, or choose a folder with --output", err)
		}
		if earlier.Text != "" {
			fmt.Fprintln(e.Terminal.Out, "Earlier "+earlier.Text)
		}
		o.Dir = dir
		return dir, nil
	}
	o.Progress = func(f deployed.File, err error) {
		if err == nil {
			fmt.Fprintf(e.Terminal.Out, "  %s\n", f.Name)
		}
	}
	files, err := b.Fetch(ctx, c, o.FetchOptions)
	if err != nil {
		return kubeError(err)
	}
	fmt.Fprintf(e.Terminal.Out, "%d files of %s are in %s\n", len(files), b.Name, o.Dir)
	return nil
}

// stored is a benchmark whose resource is gone; the operator may still have its results.
func (o *kubeResultsOptions) stored(ctx context.Context, e *command.Env, cause error) (*client.Client,
	*deployed.Benchmark, error) {
	var gone *deployed.NotFoundError
	if !errors.As(cause, &gone) || o.FromPods {
		return nil, nil, cause
	}
	c, _, namespace, _, err := o.resolved(e)
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
		either("preview", "show which runs the limits of the operator would delete", &o.preview),
		flags.Value("operator-namespace", "NAME", "where the operator runs [default: all are searched]",
			command.NonEmpty(&o.operator)),
	}, o.cellFlags("variation -v")...)
	t := kubeTable("results list-runs", `Usage: aiperf kube results list-runs [JOB] [options]

Lists the runs of a benchmark that the operator has stored.

Options:
`, "", &o.clusterFlags, own...)
	return t
}

// kubeRuns lists stored runs.
func kubeRuns(e *command.Env, args []string) error {
	var o kubeRunsOptions
	return onBenchmark(e, o.table(), &o.target, args, func(ctx context.Context, c *client.Client, b *deployed.Benchmark) error {
		f, err := deployed.OpenOperator(ctx, c, o.operator, 0)
		if err != nil {
			return kubeError(err)
		}
		defer f.Close()
		runs, document, err := b.Runs(ctx, f)
		if err != nil {
			return err
		}
		if o.format == "json" {
			fmt.Fprintln(e.Terminal.Out, strings.TrimSpace(string(document)))
			return nil
		}
		rows := [][]string{{"EPOCH", "TIMESTAMP", "FILES", "SIZE", "LATEST"}}
		var limits *deployed.Retention
		if o.preview {
			if limits, err = deployed.ReadRetention(ctx, f); err != nil {
				return err
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
		command.WriteColumns(e.Terminal.Out, rows, 0)
		return nil
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
			command.NonEmpty(&o.operator)),
		either("no-browser", "only print the address", &o.noBrowser))
}

// kubeDashboard opens the operator's pages.
func kubeDashboard(e *command.Env, args []string) error {
	var o kubeDashboardOptions
	if err := e.ParseOnly(o.table(), args); err != nil {
		return err
	}
	c, err := client.Connect(o.options())
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	f, err := deployed.OpenOperator(ctx, c, o.operator, o.port)
	if err != nil {
		return kubeError(err)
	}
	defer f.Close()
	page := f.URL("/")
	if f.Token != "" {
		page += "?token=" + url.QueryEscape(f.Token)
	}
	fmt.Fprintln(e.Terminal.Out, page)
	if !o.noBrowser {
		if err := command.OpenBrowser(page); err != nil {
			fmt.Fprintf(e.Terminal.Err, "No browser was opened: %v\n", err)
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case <-f.Done():
		return errors.New("the connection with the results server ended")
	}
}
