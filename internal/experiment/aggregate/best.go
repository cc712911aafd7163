package aggregate

import (
	"cmp"
	"slices"

	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/series"
)

// The metrics of the best configurations.
const (
	throughput   = "request_throughput"
	firstToken   = "time_to_first_token"
	latency      = "request_latency"
	slowestShare = "p99"
)

// Best is the best cell by one figure.
type Best struct {
	// Key is its name in files, Name that in tables of files, Metric what it is the best of.
	Key, Name, Metric string
	Cell              *Cell
	Value             float64
	Unit              string
}

// feasible returns those of the cells that meet all filters.
func (s *Sweep) feasible(list []*Cell) []*Cell {
	var kept []*Cell
	for _, c := range list {
		if s.Feasible(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// Feasible reports whether the figures of a cell meet all filters. A figure that it does not have meets none.
func (s *Sweep) Feasible(c *Cell) bool {
	for _, f := range s.Filters {
		v, ok := s.value(c, search.Objective{Metric: f.Metric, Stat: f.Stat})
		if !ok || !f.Passes(v) {
			return false
		}
	}
	return c.Succeeded()
}

// latencyKey returns the metric of best_latency_p99: time to first token, or request latency if a cell lacks it; "" if
// a cell lacks both.
func latencyKey(list []*Cell) string {
	for _, metric := range []string{firstToken, latency} {
		if all(list, metric, slowestShare) {
			return metric
		}
	}
	return ""
}

// all reports whether all cells, at least one, have a figure.
func all(list []*Cell, metric, stat string) bool {
	for _, c := range list {
		if _, ok := c.Mean(metric, stat); !ok {
			return false
		}
	}
	return len(list) > 0
}

// Title returns the name for people. "Latency" of the files is the time to the first token where all cells have it.
func (b *Best) Title() string {
	if b.ofFirstToken() {
		return "Best TTFT p99"
	}
	return b.Name
}

// ofFirstToken reports whether what the files name latency is the time to the first token.
func (b *Best) ofFirstToken() bool { return b.Key == bestLatency && b.Metric == firstToken }

// bestLatency is the key of the lowest latency.
const bestLatency = "best_latency_p99"

// Best returns the best configurations: that of the highest throughput and that of the lowest latency among the
// feasible cells, or among all if none is feasible. A figure that a cell lacks has no best. Axes that were asked for
// have one each, too.
func (s *Sweep) Best() []Best {
	list := s.listed()
	among := s.feasible(list)
	if len(among) == 0 {
		among = list
	}
	var out []Best
	add := func(key, name, unit string, o search.Objective) {
		b := Best{Key: key, Name: name, Metric: o.Metric}
		for _, c := range list {
			if _, ok := s.value(c, o); !ok {
				return
			}
		}
		for _, c := range among {
			v, _ := s.value(c, o)
			if b.Cell == nil || o.Maximize && v > b.Value || !o.Maximize && v < b.Value {
				b.Cell, b.Value = c, v
			}
		}
		if b.Cell == nil {
			return
		}
		if i, ok := b.Cell.find(o.Metric + "_" + o.Stat); ok {
			b.Unit = cmp.Or(b.Cell.shape.keys[i].unit, unit)
		}
		out = append(out, b)
	}
	add("best_throughput", "Best Throughput", "requests/sec",
		search.Objective{Metric: throughput, Stat: "avg", Maximize: true})
	metric := latencyKey(list)
	if metric != "" {
		add(bestLatency, "Best Latency P99", "ms", search.Objective{Metric: metric, Stat: slowestShare})
	}
	if s.Axes == nil {
		return out
	}
	for _, o := range []search.Objective{s.Axes.X, s.Axes.Y} {
		known := o.Metric == throughput && o.Stat == "avg" || o.Metric == metric && o.Stat == slowestShare
		if !known && !slices.Contains(s.names, o.Metric) {
			add("best_"+o.Metric+"_"+o.Stat, series.Titled("best_"+o.Metric+"_"+o.Stat), "", o)
		}
	}
	return out
}

// Front returns the feasible cells that no other one beats on both axes, in the order of their values. Cells that are
// equal on both axes are both kept. With the default axes there are none if a cell lacks one of the two figures; with
// axes that were asked for such a cell is left out.
func (s *Sweep) Front() []*Cell {
	list := s.listed()
	axes := s.Axes
	if axes == nil {
		metric := latencyKey(list)
		if metric == "" || !all(list, throughput, "avg") {
			return nil
		}
		axes = &Axes{X: search.Objective{Metric: metric, Stat: slowestShare},
			Y: search.Objective{Metric: throughput, Stat: "avg", Maximize: true}}
	}
	var points [][]float64
	var among []*Cell
	for _, c := range s.feasible(list) {
		x, okX := s.value(c, axes.X)
		y, okY := s.value(c, axes.Y)
		if okX && okY {
			points, among = append(points, []float64{x, y}), append(among, c)
		}
	}
	var front []*Cell
	for _, i := range search.Front(points, []search.Objective{axes.X, axes.Y}) {
		front = append(front, among[i])
	}
	s.sort(front)
	return front
}
