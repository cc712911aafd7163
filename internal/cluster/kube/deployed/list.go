package deployed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// List returns the benchmarks of a namespace, "" is all, in the order of their age, newest first.
func List(ctx context.Context, c *client.Client, namespace string) ([]*Benchmark, error) {
	var all []*Benchmark
	for _, k := range []struct {
		kind client.Kind
		name string
	}{{JobKind, crd.JobKind}, {SweepKind, crd.SweepKind}} {
		list, err := c.List(ctx, k.kind, namespace, "")
		if client.IsNotFound(err) {
			continue // the cluster has no such kind
		}
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			all = append(all, &Benchmark{Name: text(o, "metadata", "name"), Namespace: text(o, "metadata", "namespace"),
				Kind: k.name, Object: o})
		}
	}
	for _, k := range []client.Kind{client.JobSets, client.Jobs} {
		list, err := c.List(ctx, k, namespace, crd.LabelApp+"="+crd.AppName)
		if client.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			job := text(o, "metadata", "labels", crd.LabelJob)
			if len(items(o, "metadata", "ownerReferences")) > 0 || job == "" ||
				k == client.Jobs && text(o, "metadata", "name") != crd.ControllerJob(job) {
				continue // the operator's, a JobSet's, or workers
			}
			b := &Benchmark{Name: job, Namespace: text(o, "metadata", "namespace"), Object: withKind(o, k)}
			if err := b.look(ctx, c); err != nil {
				return nil, err
			}
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b *Benchmark) int {
		return cmp.Or(Created(b.Object).Compare(Created(a.Object)), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// withKind names the kind of an object, which items of lists may lack.
func withKind(o client.Object, k client.Kind) client.Object {
	if o["kind"] == nil {
		o["kind"] = map[client.Kind]string{client.JobSets: "JobSet", client.Jobs: "Job"}[k]
	}
	return o
}

// Columns are the columns of a list, further ones with wide.
func Columns(wide bool) []string {
	columns := []string{"NAME", "NAMESPACE", "OWNER", "PHASE", "WORKERS", "PROGRESS", "THROUGHPUT", "LATENCY", "AGE"}
	if wide {
		columns = append(columns, "MODEL", "ENDPOINT", "ERROR")
	}
	return columns
}

// none is what a list shows where nothing is known.
const none = "-"

// Row is the row of a benchmark at a time.
func (b *Benchmark) Row(now time.Time, wide bool) []string {
	row := []string{b.Name, b.Namespace, b.owner(), b.Phase(), b.workers(), b.progress(),
		b.figure("%.2f req/s", "request_throughput", "avg"), b.figure("%.2f ms", "request_latency", "p99"),
		Age(now.Sub(Created(b.Object)))}
	if wide {
		row = append(row, b.model(), b.endpoint(), cmp.Or(b.Reason(), none))
	}
	return row
}

// owner is the sweep of a job; a sweep says that it is one.
func (b *Benchmark) owner() string {
	switch {
	case b.Direct():
		return "direct"
	case b.Kind == crd.SweepKind:
		return "sweep"
	}
	return cmp.Or(text(b.Object, "metadata", "labels", crd.LabelSweep), none)
}

func (b *Benchmark) workers() string {
	ready, ok := integer(b.Object, "status", "workers", "ready")
	total, _ := integer(b.Object, "status", "workers", "total")
	if !ok {
		return none
	}
	return fmt.Sprintf("%d/%d", ready, total)
}

// progress is the share of the current phase, of a sweep that of its runs.
func (b *Benchmark) progress() string {
	if b.Kind == crd.SweepKind {
		done, _ := integer(b.Object, "status", "completedRuns")
		failed, _ := integer(b.Object, "status", "failedRuns")
		total, ok := integer(b.Object, "status", "maxTotalRuns")
		if !ok || total == 0 {
			return none
		}
		return fmt.Sprintf("%d/%d", done+failed, total)
	}
	phase := text(b.Object, "status", "currentPhase")
	if percent, ok := number(b.Object, "status", "phases", phase, "requestsProgressPercent"); ok {
		return fmt.Sprintf("%.0f%%", percent)
	}
	if b.Phase() == crd.Completed {
		return "100%"
	}
	return none
}

// figure is a statistic of a metric, live or of the end.
func (b *Benchmark) figure(format, tag, stat string) string {
	for _, path := range [][]string{{"status", "summary", tag, stat}, {"status", "liveMetrics", "metrics", tag, stat}} {
		if v, ok := number(b.Object, path...); ok {
			return fmt.Sprintf(format, v)
		}
	}
	return none
}

func (b *Benchmark) model() string {
	if m := text(b.Object, "metadata", "annotations", crd.AnnotationModel); m != "" {
		return m
	}
	switch m := at(b.Object, "spec", "benchmark", "model").(type) {
	case string:
		return m
	}
	var names []string
	for _, item := range items(b.Object, "spec", "benchmark", "models", "items") {
		name, _ := item["name"].(string)
		names = append(names, name)
	}
	return cmp.Or(strings.Join(names, ","), none)
}

func (b *Benchmark) endpoint() string {
	if e := text(b.Object, "metadata", "annotations", crd.AnnotationEndpoint); e != "" {
		return e
	}
	for _, key := range []string{"urls", "url"} {
		switch u := at(b.Object, "spec", "benchmark", "endpoint", key).(type) {
		case string:
			return u
		case []any:
			if len(u) > 0 {
				if item, ok := u[0].(map[string]any); ok { // with headers of its own
					return fmt.Sprint(item["url"])
				}
				return fmt.Sprint(u[0])
			}
		}
	}
	return none
}

// Age is a duration in its largest whole unit, as kubectl shows it.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Selected reports whether a benchmark is among the running, completed or failed ones; "" is all.
func (b *Benchmark) Selected(which string) bool {
	phase := b.Phase()
	switch which {
	case "running":
		return !crd.Terminal(phase)
	case "completed":
		return phase == crd.Completed || phase == crd.Succeeded
	case "failed":
		return phase == crd.Failed || phase == crd.PartiallyFailed
	}
	return true
}
