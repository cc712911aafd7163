package series

import (
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// statNames are the statistics that runs are compared by, in their order; counts are not among them.
var statNames = []string{"avg", "min", "max", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "std"}

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

// figures flattens the metrics of a run, in the order of its summary file: whatever has a unit there.
func figures(r *summary.Result) []Figure {
	var list []Figure
	for _, member := range report.SummaryObject(r, nil) {
		block, ok := member.Value.(artifact.Object)
		if !ok {
			continue
		}
		unit, ok := block.Get("unit")
		if !ok {
			continue
		}
		name, _ := unit.(string)
		m, _ := r.Find(member.Key)
		for _, stat := range statNames {
			if v, ok := number(block, stat); ok {
				list = append(list, Figure{Tag: member.Key, Stat: stat, Unit: name, Value: v, Header: m.Header, Shown: shown(&m), Order: m.Order})
			}
		}
	}
	return list
}

// number is a finite number of a metric block.
func number(block artifact.Object, key string) (float64, bool) {
	value, _ := block.Get(key)
	switch v := value.(type) {
	case float64:
		return v, artifact.Finite(v)
	case int64:
		return float64(v), true
	}
	return 0, false
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
