package series

import (
	"math"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/summary"
)

// statNames are the statistics that runs are compared by, in their order; counts are not among them.
var statNames = slices.Concat([]string{"avg", "min", "max", "sum"}, metrics.PercentileKeys[:], []string{"std"})

// Stats returns the statistics that runs are compared by, in their order.
func Stats() []string { return slices.Clone(statNames) }

// measured returns the metrics of a run that have a statistic to compare, in the order of its summary file. Their bounds
// are left out: an experiment keeps thousands of runs.
func measured(r *summary.Result) []metrics.Metric {
	first, others := summary.OrderedBlocks(r.Metrics)
	list := slices.DeleteFunc(append(first, others...), func(m metrics.Metric) bool {
		return !slices.ContainsFunc(statNames, func(stat string) bool { _, ok := m.Stat(stat); return ok })
	})
	for i := range list {
		list[i].Bounds = nil
	}
	return slices.Clip(list)
}

// Row is one statistic of one metric over all runs.
type Row struct {
	*metrics.Metric // describes the metric; its values are those of one run
	Stat            string
	stats.Estimate
}

// Key returns the row's name in files.
func (r *Row) Key() string { return r.Tag + "_" + r.Stat }

// Shown reports whether the console shows the metric.
func (r *Row) Shown() bool {
	return r.Group == metrics.GroupDefault && r.Flags&(metrics.ErrorOnly|metrics.Internal|metrics.Experimental) == 0
}

// Figures calls yield with every statistic of a run that runs are compared by, in the order of its summary and then of
// [Stats].
func (r *Run) Figures(yield func(m *metrics.Metric, stat string, value float64)) {
	values := make([]float64, len(statNames))
	for i := range r.Metrics {
		m := &r.Metrics[i]
		for k := range values {
			values[k] = math.NaN()
		}
		for _, f := range m.Figures() {
			if at := slices.Index(statNames, f.Key); at >= 0 {
				values[at] = f.Value
			}
		}
		for k, v := range values {
			if artifact.Finite(v) {
				yield(m, statNames[k], v)
			}
		}
	}
}

// Summarize compares runs, figure by figure, each over those that have it: metrics in the order in which the
// runs first show them, then statistics in their own.
func Summarize(runs []Run, level float64) []Row {
	tags := tagsOf(runs)
	rows := make([]Row, 0, len(tags)*len(statNames)/2)
	critical := make([]float64, len(runs)+1) // of Student's t, by the number of values
	for n := range critical {
		critical[n] = math.NaN()
	}
	values := make([][]float64, len(statNames))
	for _, tag := range tags {
		for i := range values {
			values[i] = values[i][:0]
		}
		for i := range runs {
			if m := metrics.Find(runs[i].Metrics, tag); m != nil {
				for _, f := range m.Figures() {
					if at := slices.Index(statNames, f.Key); at >= 0 && artifact.Finite(f.Value) {
						values[at] = append(values[at], f.Value)
					}
				}
			}
		}
		described := metric(runs, tag)
		for i, list := range values {
			n := len(list)
			if n == 0 {
				continue
			}
			if math.IsNaN(critical[n]) {
				critical[n] = stats.StudentT(level, float64(n-1))
			}
			rows = append(rows, Row{described, statNames[i], stats.ConfidenceAt(list, critical[n])})
		}
	}
	return rows
}

// metric returns the metric of the first run that has it with a unit.
func metric(runs []Run, tag string) (out *metrics.Metric) {
	for i := range runs {
		if m := metrics.Find(runs[i].Metrics, tag); m != nil && (out == nil || out.Unit == "") {
			out = m
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
