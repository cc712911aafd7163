package aggregate

import (
	"iter"
	"math"
	"slices"

	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
)

// key identifies a figure: one statistic of one metric. Its name is tag_stat.
type key struct{ tag, stat, unit, name string }

// shape is a list of figures. Runs that have the same ones share it: an experiment of thousands of runs keeps eight
// bytes for each of a run's figures.
type shape struct {
	keys []key
	at   map[string]int
}

func newShape(keys []key) *shape {
	s := &shape{keys: keys, at: make(map[string]int, len(keys))}
	for i := range keys {
		s.at[keys[i].name] = i
	}
	return s
}

// trial has the values of one run, in the order of its shape, and the number of values behind each of its metrics, 0
// where there is none.
type trial struct {
	*shape
	values []float64
	counts []int64
}

// trialOf keeps the figures of a run.
func (s *Sweep) trialOf(r *series.Run) trial {
	values := make([]float64, 0, s.most())
	var keys []key
	var counts []int64
	var last *metrics.Metric
	r.Figures(func(m *metrics.Metric, stat string, v float64) {
		if m != last {
			counts, last = append(counts, m.Stats.Count), m
		}
		keys, values = append(keys, key{tag: m.Tag, stat: stat, unit: m.Unit}), append(values, v)
	})
	same := func(a, b key) bool { return a.tag == b.tag && a.stat == b.stat && a.unit == b.unit }
	for _, known := range slices.Backward(s.shapes) {
		if slices.EqualFunc(known.keys, keys, same) {
			return trial{known, values, counts}
		}
	}
	for i := range keys {
		keys[i].name = keys[i].tag + "_" + keys[i].stat
	}
	s.shapes = append(s.shapes, newShape(keys))
	return trial{s.shapes[len(s.shapes)-1], values, counts}
}

// most is the number of figures of the last run.
func (s *Sweep) most() int {
	if len(s.shapes) == 0 {
		return 0
	}
	return len(s.shapes[len(s.shapes)-1].keys)
}

// add takes a trial into a cell.
func (c *Cell) add(t trial) {
	c.trials = append(c.trials, t)
	if c.shape == nil || c.shape == t.shape {
		c.shape = t.shape
		return
	}
	c.shape = merge(c.shape, t.shape)
}

// merge returns the figures of two shapes: the metrics in the order in which they first show, then the statistics in
// theirs. The unit is the first that is not empty.
func merge(a, b *shape) *shape {
	if !slices.ContainsFunc(b.keys, func(k key) bool { i, known := a.at[k.name]; return !known || a.keys[i].unit == "" }) {
		return a
	}
	var tags []string
	units := map[string]string{}
	for _, k := range slices.Concat(a.keys, b.keys) {
		if _, seen := units[k.tag]; !seen {
			tags = append(tags, k.tag)
		}
		if units[k.tag] == "" {
			units[k.tag] = k.unit
		}
	}
	var keys []key
	for _, tag := range tags {
		for _, stat := range series.Stats() {
			name := tag + "_" + stat
			_, first := a.at[name]
			_, second := b.at[name]
			if first || second {
				keys = append(keys, key{tag, stat, units[tag], name})
			}
		}
	}
	return newShape(keys)
}

// find returns the index of a figure; false if the cell does not have it.
func (c *Cell) find(name string) (int, bool) {
	if c.shape == nil {
		return 0, false
	}
	i, ok := c.shape.at[name]
	return i, ok
}

// values appends the values of a figure in the trials that have it.
func (c *Cell) values(i int, list []float64) []float64 {
	for _, t := range c.trials {
		at := i
		if t.shape != c.shape {
			var has bool
			if at, has = t.at[c.shape.keys[i].name]; !has {
				continue
			}
		}
		list = append(list, t.values[at])
	}
	return list
}

// figures calls yield with all figures of a cell. What takes two values is NaN where there is one.
func (s *Sweep) figures(c *Cell, yield func(*key, *stats.Estimate)) {
	var buffer []float64
	for i := range c.shape.keys {
		buffer = c.values(i, buffer[:0])
		n := len(buffer)
		t, known := s.critical[n]
		if !known {
			t = stats.StudentT(s.Level, float64(n-1))
			s.critical[n] = t
		}
		e := stats.ConfidenceAt(buffer, t)
		yield(&c.shape.keys[i], &e)
	}
}

// whole is a metric of a cell with one trial, as the original writes it: what it has in the run, with a spread of 0
// around its average.
type whole struct {
	tag, unit string
	keys      []key
	values    []float64
	count     int64
	stats.Estimate
}

// wholes returns the metrics of a cell with one trial that have an average.
func (c *Cell) wholes() iter.Seq[whole] {
	return func(yield func(whole) bool) {
		only := c.trials[0]
		for from, n := 0, 0; from < len(only.keys); n++ {
			to := from + 1
			for to < len(only.keys) && only.keys[to].tag == only.keys[from].tag {
				to++
			}
			w := whole{tag: only.keys[from].tag, unit: only.keys[from].unit, keys: only.keys[from:to],
				values: only.values[from:to], count: only.counts[n]}
			from = to
			stat := func(name string, otherwise float64) float64 {
				if i := slices.IndexFunc(w.keys, func(k key) bool { return k.stat == name }); i >= 0 {
					return w.values[i]
				}
				return otherwise
			}
			avg := stat("avg", math.NaN())
			if math.IsNaN(avg) {
				continue
			}
			w.Estimate = stats.Estimate{N: 1, Mean: avg, Min: stat("min", avg), Max: stat("max", avg), Low: avg,
				High: avg}
			if !yield(w) {
				return
			}
		}
	}
}
