package html

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
)

// curveViews returns the charts of the metrics that at least two cells have, and the statistics to choose from.
func curveViews(s *answer.Sweep) (views []curveView, stats []string) {
	if len(s.Parameters) == 0 {
		return nil, nil
	}
	for _, m := range s.Metrics {
		if s.Having(m.Key()) < 2 {
			continue
		}
		i := slices.IndexFunc(views, func(v curveView) bool { return v.Tag == m.Tag })
		if i < 0 {
			if len(views) == curveTags {
				continue
			}
			i = len(views)
			views = append(views, curveView{Tag: m.Tag, Keys: map[string]string{},
				figure: figure{ID: "curve-" + m.Tag, Title: m.Header, Unit: m.Unit}})
		}
		views[i].Keys[m.Stat] = m.Key()
		views[i].Description = m.Header + " over the parameter; the table below has all values."
	}
	for _, stat := range []string{"avg", "p50", "p90", "p95", "p99", "max"} {
		if slices.ContainsFunc(views, func(v curveView) bool { return len(v.Keys) > 1 && v.Keys[stat] != "" }) {
			stats = append(stats, stat)
		}
	}
	if s.Capacity != nil { // what the answer is about comes first
		slices.SortStableFunc(views, func(a, b curveView) int { return limitRank(s, a.Tag) - limitRank(s, b.Tag) })
	}
	return views, stats
}

// limitRank is the place of a metric among those of the limits, after all of them if it has none. Limits that nobody
// misses, such as that of failed requests, do not make a metric one of the first.
func limitRank(s *answer.Sweep, tag string) int {
	i := slices.IndexFunc(s.Limits, func(l answer.Limit) bool { return l.Metric == tag && tag != "request_error_rate" })
	if i < 0 {
		return len(s.Limits)
	}
	return i
}

// firstStat is the statistic that the curves show at first: that of the first limit which is one of them, so that the
// limit is in the picture.
func firstStat(s *answer.Sweep, stats []string) string {
	for _, l := range s.Limits {
		if l.Stat != "avg" && slices.Contains(stats, l.Stat) {
			return l.Stat
		}
	}
	return "p99"
}

// frontFigure returns the scatter of throughput and latency; nil without both.
func frontFigure(s *answer.Sweep) *figure {
	if s.Front == nil || s.Having(s.Front.X.Key()) < 2 || s.Having(s.Front.Y.Key()) < 2 {
		return nil
	}
	return &figure{ID: "front", Title: s.Front.Y.Title() + " and " + s.Front.X.Title()}
}

// tableMetrics are the figures that the table shows: of each metric that matters its average or, of a latency, p99,
// of those that there are.
func tableMetrics(s *answer.Sweep) []answer.Metric {
	var out []answer.Metric
	for _, view := range tagsOf(s) {
		best := view[0]
		for _, m := range view {
			if m.Stat == "p99" || m.Stat == "avg" && best.Stat != "p99" {
				best = m
			}
		}
		if strings.Contains(best.Tag, "throughput") || strings.HasPrefix(best.Tag, "good") {
			if i := slices.IndexFunc(view, func(m answer.Metric) bool { return m.Stat == "avg" }); i >= 0 {
				best = view[i]
			}
		}
		for _, l := range s.Limits { // what is limited is what is read
			if i := slices.IndexFunc(view, func(m answer.Metric) bool { return m.Tag == l.Metric && m.Stat == l.Stat }); i >= 0 {
				best = view[i]
			}
		}
		out = append(out, best)
	}
	if f := s.Front; f != nil {
		for _, m := range []answer.Metric{f.Y, f.X} {
			known := slices.ContainsFunc(out, func(o answer.Metric) bool { return o.Key() == m.Key() })
			if !known && s.Having(m.Key()) > 0 {
				out = append(out, m)
			}
		}
	}
	return out
}

// tagsOf groups the metrics by tag, at most curveTags.
func tagsOf(s *answer.Sweep) [][]answer.Metric {
	var out [][]answer.Metric
	for _, m := range s.Metrics {
		if n := len(out); n > 0 && out[n-1][0].Tag == m.Tag {
			out[n-1] = append(out[n-1], m)
			continue
		}
		if len(out) == curveTags {
			break
		}
		out = append(out, []answer.Metric{m})
	}
	return out
}

// table makes the table of cells. The values of several parameters have columns of their own; that of one is in the
// label.
func (v *sweepView) table(s *answer.Sweep, letters map[int][]string) {
	list := tableMetrics(s)
	if len(s.Parameters) > 1 {
		for _, p := range s.Parameters {
			v.Columns = append(v.Columns, column{Title: p.Name, Unit: p.Unit, Number: numeric(s, p)})
		}
	}
	for _, m := range list {
		title := m.Short
		if m.Stat != "avg" {
			title += " " + m.Stat
		}
		v.Columns = append(v.Columns, column{Title: title, Unit: m.Unit, Number: true})
	}
	best := map[int][]string{}
	for _, b := range s.Best {
		best[b.Cell] = append(best[b.Cell], strings.ToLower(b.Title))
	}
	if s.Search != nil {
		for _, i := range s.Search.Best {
			best[i] = append(best[i], "best")
		}
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		r := cellRow{Index: i + 1, Label: c.Label, Page: relative(c.Page), Verdict: string(c.Verdict), Why: c.Why,
			Runs: integer(int64(c.Runs)), Marks: best[i], Level: map[answer.Verdict]string{answer.Feasible: good,
				answer.Infeasible: bad, answer.Failed: bad, answer.ClientLimited: warn}[c.Verdict]}
		if r.Label == "" {
			r.Label = fmt.Sprintf("cell %d", i+1)
		}
		v.Judged = v.Judged || c.Verdict != ""
		if load, ok := c.Number(0); ok && s.Capacity != nil && load == s.Capacity.Value {
			r.Marks = append([]string{"answer"}, r.Marks...)
		}
		for _, letter := range letters[i] {
			r.Marks = append(r.Marks, letterNames[letter])
		}
		if c.ClientLimited > 0 && c.Verdict != answer.ClientLimited {
			r.Doubts, v.Doubtful = "client-limited", true
			if c.Runs > 1 {
				r.Doubts = fmt.Sprintf("client-limited in %d of %d runs", c.ClientLimited, c.Runs)
			}
		}
		if c.Pareto {
			r.Marks = append(r.Marks, "Pareto")
		}
		if c.NonMonotonic {
			r.Marks = append(r.Marks, "contradicts an earlier probe")
		}
		if n := len(c.Failures); n > 0 {
			r.Failure = fmt.Sprintf("%d failed", n)
		}
		if len(s.Parameters) > 1 {
			for k := range s.Parameters {
				r.Columns = append(r.Columns, parameterValue(c, k))
			}
		}
		for _, m := range list {
			r.Columns = append(r.Columns, figureValue(c, m))
		}
		v.Rows = append(v.Rows, r)
	}
}

// letterNames say what the letters on the curves mean.
var letterNames = map[string]string{"K": "K knee", "R": "R recommended"}

func numeric(s *answer.Sweep, p answer.Parameter) bool {
	i := slices.Index(s.Parameters, p)
	return !slices.ContainsFunc(s.Cells, func(c answer.Cell) bool {
		_, ok := c.Number(i)
		return !ok
	})
}

func parameterValue(c *answer.Cell, i int) cellValue {
	text := valueText(c.Values, i)
	if n, ok := c.Number(i); ok {
		return cellValue{text, "", exactly(n)}
	}
	return cellValue{text, "", text}
}

func figureValue(c *answer.Cell, m answer.Metric) cellValue {
	f, ok := c.Figure(m.Key())
	if !ok {
		return cellValue{}
	}
	return cellValue{short(f.Mean), answer.Between(f.Low, f.High), exactly(f.Mean)}
}

func exactly(v float64) string { return string(artifact.AppendFloat(nil, v)) }

// relative returns an address below the folder of the page, "" for any other.
func relative(page string) string {
	if page == "" || strings.HasPrefix(page, "/") || strings.Contains(page, ":") || strings.Contains(page, "\\") {
		return ""
	}
	return page
}
