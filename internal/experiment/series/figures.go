package series

import (
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/summary"
)

// statNames are the statistics that runs are compared by, in their order; counts are not among them.
var statNames = slices.Concat([]string{"avg", "min", "max", "sum"}, metrics.PercentileKeys[:], []string{"std"})

// Figure is one statistic of one metric of a run, in the unit of the reports.
type Figure struct {
	Tag, Stat, Unit string
	Value           float64
	// Header and Shown are for people: the metric's name, and whether the console shows the metric.
	Header string
	Shown  bool
	// Order is where the console shows it; 0 sorts last.
	Order int
}

// figures flattens the metrics of a run, in the order of its summary file.
func figures(r *summary.Result) []Figure {
	var list []Figure
	first, others := summary.OrderedBlocks(r.Metrics)
	for _, m := range append(first, others...) {
		of := m.Figures()
		for _, stat := range statNames {
			i := slices.IndexFunc(of, func(f metrics.Figure) bool { return f.Key == stat })
			if i >= 0 && artifact.Finite(of[i].Value) {
				list = append(list, Figure{Tag: m.Tag, Stat: stat, Unit: m.Unit, Value: of[i].Value,
					Header: m.Header, Shown: shown(&m), Order: m.Order})
			}
		}
	}
	return list
}

func shown(m *metrics.Result) bool {
	return m.Group == metrics.GroupDefault && m.Flags&(metrics.ErrorOnly|metrics.Internal|metrics.Experimental) == 0
}

func find(figures []Figure, tag, stat string) (float64, bool) {
	i := slices.IndexFunc(figures, func(f Figure) bool { return f.Tag == tag && f.Stat == stat })
	if i < 0 {
		return 0, false
	}
	return figures[i].Value, true
}

// Row is what the runs say of one statistic of one metric. Its Value means nothing.
type Row struct {
	Figure
	stats.Estimate
}

// Key is the row's name in files.
func (r *Row) Key() string { return r.Tag + "_" + r.Stat }

// Summarize compares runs, figure by figure, each over those that have it: metrics in the order in which the
// runs first show them, then statistics in their own.
func Summarize(runs []Run, level float64) []Row {
	var tags []string
	byTag := map[string]map[string][]Figure{}
	for _, r := range runs {
		for _, f := range r.Figures {
			if byTag[f.Tag] == nil {
				tags, byTag[f.Tag] = append(tags, f.Tag), map[string][]Figure{}
			}
			byTag[f.Tag][f.Stat] = append(byTag[f.Tag][f.Stat], f)
		}
	}
	var rows []Row
	for _, tag := range tags {
		for _, stat := range statNames {
			same := byTag[tag][stat]
			if len(same) == 0 {
				continue
			}
			row := Row{Figure: same[0]}
			values := make([]float64, len(same))
			for i, f := range same {
				values[i] = f.Value
				if row.Unit == "" {
					row.Unit = f.Unit
				}
			}
			row.Estimate = stats.Confidence(values, level)
			rows = append(rows, row)
		}
	}
	return rows
}

// tagsOf lists the metrics of runs in the order in which they first show.
func tagsOf(runs []Run) (tags []string) {
	seen := map[string]bool{}
	for _, r := range runs {
		for _, f := range r.Figures {
			if !seen[f.Tag] {
				seen[f.Tag] = true
				tags = append(tags, f.Tag)
			}
		}
	}
	return tags
}
