package series

import (
	"slices"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/summary"
)

// statNames are the statistics that runs are compared by, in their order; counts are not among them.
var statNames = slices.Concat([]string{"avg", "min", "max", "sum"}, metrics.PercentileKeys[:], []string{"std"})

// measured returns the metrics of a run that have a statistic to compare, in the order of its summary file.
func measured(r *summary.Result) []metrics.Result {
	first, others := summary.OrderedBlocks(r.Metrics)
	return slices.DeleteFunc(append(first, others...), func(m metrics.Result) bool {
		return !slices.ContainsFunc(statNames, func(stat string) bool { _, ok := m.Stat(stat); return ok })
	})
}

// Row is one statistic of one metric over all runs.
type Row struct {
	metrics.Result // describes the metric; its values are those of one run
	Stat           string
	stats.Estimate
}

// Key returns the row's name in files.
func (r *Row) Key() string { return r.Tag + "_" + r.Stat }

// Shown reports whether the console shows the metric.
func (r *Row) Shown() bool {
	return r.Group == metrics.GroupDefault && r.Flags&(metrics.ErrorOnly|metrics.Internal|metrics.Experimental) == 0
}

// Summarize compares runs, figure by figure, each over those that have it: metrics in the order in which the
// runs first show them, then statistics in their own.
func Summarize(runs []Run, level float64) []Row {
	var rows []Row
	for _, tag := range tagsOf(runs) {
		for _, stat := range statNames {
			values := valuesOf(runs, tag, stat)
			if len(values) > 0 {
				rows = append(rows, Row{metric(runs, tag), stat, stats.Confidence(values, level)})
			}
		}
	}
	return rows
}

// metric returns the metric of the first run that has it with a unit.
func metric(runs []Run, tag string) (out metrics.Result) {
	for i := range runs {
		if m := metrics.Find(runs[i].Metrics, tag); m != nil && out.Unit == "" {
			out = *m
		}
	}
	return out
}

// valuesOf returns the values of a statistic in the runs that have it.
func valuesOf(runs []Run, tag, stat string) (values []float64) {
	for i := range runs {
		if m := metrics.Find(runs[i].Metrics, tag); m != nil {
			if v, ok := m.Stat(stat); ok {
				values = append(values, v)
			}
		}
	}
	return values
}

// tagsOf lists the metrics of runs in the order in which they first show.
func tagsOf(runs []Run) (tags []string) {
	seen := map[string]bool{}
	for _, r := range runs {
		for _, m := range r.Metrics {
			if !seen[m.Tag] {
				seen[m.Tag] = true
				tags = append(tags, m.Tag)
			}
		}
	}
	return tags
}
