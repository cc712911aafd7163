package console

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/summary"
)

// product is the first half of every table title.
const product = "AIPerf"

// headerOnOneLine is the longest header, in characters, with its unit on the same line.
const headerOnOneLine = 30

// Table describes a table of metrics for lists.
type Table struct {
	Group metrics.Group
	Title string
}

// Tables lists the tables of metrics, in the order in which they are printed.
func Tables() (list []Table) {
	for _, g := range groupTitles {
		list = append(list, Table{g.group, "LLM Metrics" + g.suffix})
	}
	return append(list, Table{metrics.GroupHTTPTrace, traceTitle})
}

const traceTitle = "HTTP Trace Timing"

// groupTitles are the groups that have a table, in the order in which the tables are printed.
var groupTitles = [...]struct {
	group  metrics.Group
	suffix string
}{
	{metrics.GroupDefault, ""},
	{metrics.GroupEffective, ": Effective"},
	{metrics.GroupActive, ": Active"},
	{metrics.GroupUsage, ": Usage"},
	{metrics.GroupCache, ": Cache"},
	{metrics.GroupPrediction, ": Prediction"},
	{metrics.GroupAudio, ": Audio"},
	{metrics.GroupReasoning, ": Reasoning"},
}

const cacheHint = "The server reported token usage but no cached tokens. Turn on cache reporting in the server " +
	"to see prefix cache metrics here (for example --enable-prompt-tokens-details in vLLM)."

// metricTables appends a table for each requested group that has metrics.
func (p *page) metricTables(r *summary.Result, groups []metrics.Group) {
	printed := false
	for _, g := range groupTitles {
		if slices.Contains(groups, g.group) {
			printed = p.groupTable(r, g.group, product+" | "+r.EndpointTitle+g.suffix) || printed
		}
	}
	if printed && r.UsageReported && !r.CacheReported {
		for _, line := range wrap(cacheHint, p.width) {
			p.line(span{line, yellow})
		}
	}
}

// traceTable appends the phases of the HTTP exchanges.
func (p *page) traceTable(r *summary.Result) {
	p.groupTable(r, metrics.GroupHTTPTrace, product+" | "+traceTitle)
}

// flaggedTable appends the metrics with a flag: results hold them only in developer mode.
func (p *page) flaggedTable(r *summary.Result, flag metrics.Flags, heading string) {
	p.metricTable(r, heading, func(m *metrics.Metric) bool { return m.Flags.Has(flag) })
}

// groupTable appends the table of one group and reports whether the group had any metric.
func (p *page) groupTable(r *summary.Result, group metrics.Group, heading string) bool {
	return p.metricTable(r, heading, func(m *metrics.Metric) bool { return m.Group == group && m.IsShown() })
}

// metricTable appends a table of the metrics that belong to it, if there are any.
func (p *page) metricTable(r *summary.Result, heading string, belongs func(*metrics.Metric) bool) bool {
	var rows []metrics.Metric
	for i := range r.Metrics {
		if belongs(&r.Metrics[i]) {
			rows = append(rows, r.Metrics[i])
		}
	}
	if len(rows) == 0 {
		return false
	}
	slices.SortStableFunc(rows, func(a, b metrics.Metric) int {
		return cmp.Compare(metrics.Place(a.Order), metrics.Place(b.Order))
	})
	t := table{title: heading, titleStyle: title, columns: []column{{header: "Metric", style: cyan, wraps: true}}}
	t.columns = append(t.columns, statColumns()...)
	for i := range rows {
		t.rows = append(t.rows, metricRow(&rows[i]))
	}
	t.print(p)
	for _, note := range []string{fewSamples(rows), inexact(rows)} {
		p.remark(note, dim)
	}
	return true
}

// fewSamples lists the percentiles of the table that have no upper bound, because there are too few requests: they are
// then close to the largest value, and further requests may change them much.
func fewSamples(rows []metrics.Metric) string {
	var parts []string
	for _, rank := range [...]float64{99, 90, 50} {
		n := 0
		for i := range rows {
			for _, b := range rows[i].Bounds {
				if b.Rank == rank && math.IsNaN(b.High) {
					n++
				}
			}
		}
		switch {
		case n == 1:
			parts = append(parts, fmt.Sprintf("%s of 1 metric (%d needed)", metrics.RankKey(rank),
				stats.SamplesForBounds(rank, metrics.BoundsConfidence)))
		case n > 1:
			parts = append(parts, fmt.Sprintf("%s of %d metrics (%d needed)", metrics.RankKey(rank), n,
				stats.SamplesForBounds(rank, metrics.BoundsConfidence)))
		}
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("Too few samples for an upper bound at %.0f %% confidence: %s", 100*metrics.BoundsConfidence,
		strings.Join(parts, ", "))
}

// inexact reports that percentiles of the table come from histograms of bounded size.
func inexact(rows []metrics.Metric) string {
	n, worst := 0, 0.0
	for i := range rows {
		if e := rows[i].Method.RelativeError(); e > 0 {
			n, worst = n+1, max(worst, e)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Percentiles of %d of these metrics are estimates with a relative error of up to %.2g %%: "+
		"there were more requests than are kept individually", n, 100*worst)
}

func metricRow(m *metrics.Metric) []cell {
	return append([]cell{{text: metricLabel(m)}}, statCells(&m.Stats, m.Distribution, number)...)
}

// statColumns are the statistics of a table.
func statColumns() (columns []column) {
	for _, name := range [...]string{"avg", "min", "max", "p99", "p90", "p50", "std"} {
		columns = append(columns, column{header: name, style: green})
	}
	return columns
}

// statCells returns the cells of a row; a metric that is not a distribution has only the first.
func statCells(s *metrics.Stats, distribution bool, number func(float64) cell) []cell {
	p := &s.Percentiles
	var row []cell
	for _, v := range [...]float64{s.Avg, s.Min, s.Max, p.At(99), p.At(90), p.At(50), s.Std} {
		if distribution || len(row) == 0 {
			row = append(row, number(v))
		} else {
			row = append(row, cell{notAvailable, dim})
		}
	}
	return row
}

func number(v float64) cell {
	if !artifact.Finite(v) {
		return cell{notAvailable, dim}
	}
	return cell{text: fixed2(v)}
}

func metricLabel(m *metrics.Metric) string {
	switch {
	case m.Unit == "":
		return m.Header
	case utf8.RuneCountInString(m.Header) > headerOnOneLine:
		return m.Header + "\n(" + m.Unit + ")"
	}
	return m.Header + " (" + m.Unit + ")"
}
