package run

import (
	"context"
	"slices"
	"time"

	"aiperf/internal/base/manual"
	"aiperf/internal/config"
	"aiperf/internal/config/pluginfile"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/compare"
	"aiperf/internal/run/plan"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recipe"
)

// Catalog tells resolve what the metric table and the loader know.
type Catalog struct{}

// Metric implements the Catalog of config/resolve.
func (Catalog) Metric(name string) (config.MetricFacts, bool) {
	d, ok := metrics.Lookup(metrics.Canonical(name))
	facts := config.MetricFacts{Tag: d.Tag, Derived: !d.Kind.HasRows() && d.Kind != metrics.KindAggregate}
	if ratio, err := metrics.RatioOf(d.Display, metrics.Nanoseconds); err == nil {
		facts.Unit = time.Duration(ratio)
	}
	return facts, ok
}

// MetricTags implements the Catalog of config/resolve.
func (Catalog) MetricTags() []string {
	var tags []string
	for _, d := range metrics.Table() {
		if d.Kind.HasRows() && !d.IsList() {
			tags = append(tags, d.Tag)
		}
	}
	for _, a := range metrics.Aliases() {
		if slices.Contains(tags, a.Tag) {
			tags = append(tags, a.Name)
		}
	}
	return tags
}

// Threshold implements the Catalog of config/resolve.
func (Catalog) Threshold(text string, percentiles []float64) error {
	if compare.IsAnswer(text) {
		return nil // what it may be about is known when the cells are
	}
	_, err := compare.ParseThreshold(text, percentiles, nil)
	return err
}

// DatasetFormat implements the Catalog of config/resolve. What cannot be told is not a fault here: the loader says it.
func (Catalog) DatasetFormat(path string) string {
	format, _ := loader.Detect(path)
	return format
}

// DatasetRoots implements the Catalog of config/resolve.
func (Catalog) DatasetRoots(path string) int64 {
	r, err := loader.Load(context.Background(), path, "dag_jsonl")
	if err != nil {
		return 0
	}
	return int64(r.Dataset.RootCount())
}

// Table implements the Catalog of config/resolve. What is wrong with a table the loader says.
func (Catalog) Table(path string, columns []recipe.Column) (rows int64, timed, lengths bool) {
	facts, err := loader.LookAtTable(context.Background(), path, columns)
	if err != nil {
		return 0, false, false
	}
	return facts.Rows, facts.Timed, facts.Lengths
}

// TableRoles implements the Catalog of config/resolve.
func (Catalog) TableRoles() []string { return loader.TableRoles() }

// TableRole implements the Catalog of config/resolve.
func (Catalog) TableRole(name string) (role string, known bool) { return loader.TableRole(name) }

// Lacks returns why the runs of a configuration cannot have a metric; empty where they may have it.
func Lacks(cfg *config.Run, tag string) string {
	if slices.ContainsFunc(cfg.Plugins.Metrics, func(p pluginfile.Program) bool { return p.Name == tag }) {
		return ""
	}
	d, known := metrics.Lookup(tag)
	if !known {
		return "there is no metric of this name" + compare.Near(tag) + "; " + manual.Page("metrics") + " lists them"
	}
	if metrics.IsAccuracy(tag) {
		if cfg.Accuracy == nil {
			return "no answers are graded; add --accuracy-benchmark"
		}
		if repeated := tag == metrics.AccuracyVaried || tag == metrics.AccuracyFlipped; repeated && cfg.Accuracy.Repeats < 2 {
			return "each problem is asked once; add --accuracy-repeats"
		}
		return ""
	}
	descriptor, known := api.Lookup(cfg.Endpoint.Type)
	if !known {
		return "" // a plug-in knows what its replies have
	}
	c := plan.Metrics(cfg, &descriptor)
	set, err := metrics.NewSet(c)
	has := func(own metrics.Definition) bool { return own.Tag == tag }
	if err != nil || slices.ContainsFunc(set.Definitions(), has) {
		return ""
	}
	switch {
	case d.Flags.Has(metrics.StreamingOnly) && !c.Streaming:
		return "only streams have it; add --streaming"
	case d.Flags.Has(metrics.JobGoodputOnly):
		return "it counts jobs within service levels; add --goodput with an objective for jobs, such as job_latency"
	case d.Flags.Has(metrics.GoodputOnly):
		return "it counts requests within service levels; add --goodput"
	case d.Flags.Has(metrics.PricedOnly) && c.PricePerGPUHour <= 0:
		return "it needs a price; add --price-per-gpu-hour"
	}
	return "runs of endpoint type " + descriptor.Name + " with these options do not report it"
}
