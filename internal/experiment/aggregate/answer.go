package aggregate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/answer"
)

// Answer returns what the cells say as a page shows it that lies in the folder from, cells in the order of their
// plan. A cell links to the page of its first run, or to the text of its report if the run has no page.
func (s *Sweep) Answer(from string) *answer.Sweep {
	out := &answer.Sweep{Kind: "Sweep", Version: s.Version, Cache: series.WarmNote(s.runs)}
	several := s.trials() > 1
	if several {
		out.Level = s.Level
	}
	for i, name := range s.names {
		out.Parameters = append(out.Parameters, answer.Parameter{Name: name, Path: s.paths[i]})
	}
	for _, f := range s.Filters {
		out.Limits = append(out.Limits, answer.Limit{Metric: f.Metric, Stat: f.Stat, Op: f.Op, Threshold: f.Threshold,
			Unit: answer.NewMetric(f.Metric, f.Stat, "").Unit})
	}
	units := map[string]string{}
	out.Objectives = s.objectives()
	front, index, accuracies := s.Front(), map[*Cell]int{}, s.accuracies()
	for i, c := range s.cells {
		of := s.cellAnswer(c, from, units)
		of.Pareto = slices.Contains(front, c)
		of.SetAccuracy(accuracies[c])
		index[c] = i
		out.Cells = append(out.Cells, of)
	}
	s.axesAnswer(out, units)
	out.Metrics = answer.Metrics(units)
	out.Judge()
	for _, b := range s.Best() {
		out.Best = append(out.Best, answer.Best{Key: b.Key, Title: b.Title(), Metric: answer.Metric{Unit: b.Unit}, Value: b.Value,
			Cell: index[b.Cell]})
	}
	return out
}

func (s *Sweep) cellAnswer(c *Cell, from string, units map[string]string) answer.Cell {
	of := answer.Cell{Figures: map[string]answer.Figure{}}
	var parts []string
	for _, name := range s.names {
		v, ok := c.Parameters.Get(name)
		of.Values = append(of.Values, v)
		if ok {
			parts = append(parts, name+" "+answer.Label(v))
		}
	}
	of.Label = strings.Join(parts, ", ")
	if v, ok := c.Parameters.Get(scenario); ok && len(c.Parameters) == 1 {
		of.Label = answer.Label(v)
	}
	for i := range c.Runs {
		r := &c.Runs[i]
		if !r.Succeeded() {
			of.Failures = append(of.Failures, answer.Failure{Label: r.Info.RunLabel, Error: r.Err})
			continue
		}
		of.Runs++
		if of.Page == "" {
			of.Page = pageOf(&r.Artifacts, from)
		}
	}
	of.ClientLimited, of.Times = c.limited(), c.times()
	if len(c.Runs) > 0 && of.Runs == 0 {
		of.Verdict = answer.Failed
	}
	if c.Succeeded() {
		s.figures(c, func(k *key, e *stats.Estimate) {
			f := answer.Figure{Mean: e.Mean, Low: e.Low, High: e.High, Runs: e.N}
			if e.N > 1 {
				f.Std = e.Std
			}
			of.Figures[k.name], units[k.name] = f, k.unit
		})
	}
	return of
}

// objectives are those of --goodput in words, of the first cell that has them.
func (s *Sweep) objectives() (list []string) {
	for _, c := range s.cells {
		if c.Config == nil || len(c.Config.SLOs) == 0 {
			continue
		}
		for _, slo := range c.Config.SLOs {
			list = append(list, answer.Objective(slo.Tag, slo.Value))
		}
		return list
	}
	return nil
}

// axesAnswer sets the axes of the front. An axis may be a parameter, which is then a figure of each cell.
func (s *Sweep) axesAnswer(out *answer.Sweep, units map[string]string) {
	axes := s.Axes
	if axes == nil {
		list := s.listed()
		metric := latencyKey(list)
		if metric == "" || !all(list, throughput, "avg") {
			return
		}
		axes = &Axes{X: search.Objective{Metric: metric, Stat: slowestShare},
			Y: search.Objective{Metric: throughput, Stat: "avg", Maximize: true}}
	}
	of := func(o search.Objective) answer.Metric {
		m := answer.NewMetric(o.Metric, o.Stat, units[o.Metric+"_"+o.Stat])
		for i, c := range s.cells {
			if _, has := out.Cells[i].Figures[m.Key()]; has {
				continue
			}
			if v, ok := s.value(c, o); ok && c.Succeeded() {
				out.Cells[i].Figures[m.Key()] = answer.Single(v)
				units[m.Key()] = m.Unit
			}
		}
		return m
	}
	out.Front = &answer.Axes{X: of(axes.X), Y: of(axes.Y), MaximizeX: axes.X.Maximize, MinimizeY: !axes.Y.Maximize}
}

// pageOf returns the address of the page of a run from a folder, "" if it has none.
func pageOf(a *config.Artifacts, from string) string {
	for _, kind := range []config.Artifact{config.HTMLReport, config.ConsoleText} {
		path := a.Path(kind)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if rel, err := filepath.Rel(from, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return ""
}
