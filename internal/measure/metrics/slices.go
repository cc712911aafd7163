package metrics

import (
	"maps"
	"runtime"
	"slices"
	"sync"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// Slice is a stretch of time and the results of the requests that started in it, failed ones
// included, however long they took.
type Slice struct {
	// Index numbers the slices of a run that have requests: 0, 1, 2… in time order.
	Index int
	// StartNS and EndNS are the bounds of the slice, wall epoch ns: the start is a multiple of the slice
	// length after the start of the phase, so that a slice in which no request started shows as a gap
	// between two neighbours.
	StartNS, EndNS int64
	// Complete is false for a slice that the end of the phase cuts short: at most the last one. Its EndNS
	// is the end of the phase.
	Complete bool
	// Results are in table order, in display units.
	Results []Metric
}

// Slices computes the results of every time slice of the records so far; nil when slices are off.
//
// All metrics are computed again from the requests of the slice: a duration is the time from the
// slice's own first send to its own last content response and may exceed the slice. Rates divide by
// the length of the slice, EndNS − StartNS. The phase ends where the facts of the run say so, or else
// with its last request. Figures of the replay schedule exist only for whole runs.
//
// Within the limits MaxRecords and MaxGaps of the run everything is exact. A run beyond them has the
// percentiles of all its slices from sketches (MethodSketch), so that slices stay comparable and do
// not depend on which request came first; counts, sums, averages, extremes and deviations stay exact.
//
// Timelines are those of the run between the bounds of the slice: they count every request in flight there,
// wherever it started. A run beyond the limits has none in its slices.
func (e *Engine) Slices() []Slice {
	s := e.set
	if s.cfg.SliceNS <= 0 {
		return nil
	}
	d := slicing{frozen: e.freezeSliced(), set: s}
	d.numbers = d.slices.numbers()
	if len(d.numbers) == 0 {
		return nil
	}
	d.assign()
	needed, workers := s.closure((*metric).sliced), runtime.GOMAXPROCS(0)
	distributions := d.distributions(needed, workers)
	curves := d.curves(needed, workers)
	out := make([]Slice, len(d.numbers))
	for i, number := range d.numbers {
		slice := &out[i]
		*slice = d.bounds(i, number)
		own := make(map[string]stats.Summary, len(distributions))
		for tag, perSlice := range distributions {
			if perSlice[i].Count > 0 {
				own[tag] = perSlice[i]
			}
		}
		maps.Copy(own, curves[i])
		values := s.evaluate(d.slices.parts[number].aggregates, own,
			scope{windowNS: slice.EndNS - slice.StartNS, networkRTT: d.facts.NetworkRTT})
		slice.Results = s.assemble((*metric).sliced, own, values, d.sliceMethod)
	}
	return out
}

// bounds returns slice i, of a number, without results.
func (d *slicing) bounds(i int, number int64) Slice {
	out := Slice{Index: i, StartNS: d.slices.originNS + number*d.set.cfg.SliceNS, Complete: true}
	out.EndNS = out.StartNS + d.set.cfg.SliceNS
	end := d.facts.WindowEndNS
	if end == 0 {
		end = d.watch.all.end
	}
	if out.StartNS < end && end < out.EndNS {
		out.EndNS, out.Complete = end, false
	}
	return out
}

// sliced reports whether slices report the metric.
func (m *metric) sliced() bool {
	return m.shown && !m.Flags.Has(FixedScheduleOnly)
}

// slicing computes the slices of a frozen engine.
type slicing struct {
	*frozen
	set *Set
	// numbers are the slices in time order; homes the place in it of every row, −1 for none.
	numbers []int64
	homes   []int32
}

// assign determines the slice of every row.
func (d *slicing) assign() {
	places := make(map[int64]int32, len(d.numbers))
	for i, number := range d.numbers {
		places[number] = int32(i)
	}
	d.homes = make([]int32, 0, d.rows)
	var starts [blockRows]int64
	for _, b := range d.blocks {
		b.columns[record.StartWall].unpack(starts[:b.rows])
		for _, start := range starts[:b.rows] {
			home, kept := int32(-1), false
			if start != record.Absent {
				home, kept = places[d.slices.number(start)]
			}
			if !kept {
				home = -1
			}
			d.homes = append(d.homes, home)
		}
	}
}

// sketched reports whether the rows or gaps that were kept are not all.
func (d *slicing) sketched(m *metric) bool {
	return d.overflow != nil || m.list && d.gapsBeyond != nil
}

func (d *slicing) sliceMethod(m *metric) Method {
	if m.Kind != KindTimeline && d.sketched(m) {
		return MethodSketch
	}
	return MethodExact
}

// distributions computes the statistics of record metrics and of those that correct them, slice by slice, in their
// internal units.
func (d *slicing) distributions(needed map[string]bool, workers int) map[string][]stats.Summary {
	var mu sync.Mutex
	out := map[string][]stats.Summary{}
	jobs := make(chan *metric)
	var group sync.WaitGroup
	for range min(workers, maxDescribers) {
		group.Go(func() {
			w := sliceDescriber{slicing: d}
			for m := range jobs {
				w.adjusted = map[string][]stats.Summary{}
				perSlice := w.describe(m)
				mu.Lock()
				out[m.Tag] = perSlice
				maps.Copy(out, w.adjusted)
				mu.Unlock()
			}
		})
	}
	for _, m := range d.set.metrics {
		if m.Kind == KindRecord && needed[m.Tag] {
			jobs <- m
		}
	}
	close(jobs)
	group.Wait()
	return out
}

// sliceDescriber computes one metric after the other with the same buffers: one column and its order
// by slice.
type sliceDescriber struct {
	*slicing
	reader  blockReader
	values  []float64
	homes   []int32 // of values
	ordered []float64
	// adjusted are the metrics that correct the one that is described, by tag and slice.
	adjusted map[string][]stats.Summary
}

func (d *sliceDescriber) describe(m *metric) []stats.Summary {
	if m.list {
		return d.describeGaps(m)
	}
	d.gather(m)
	out := make([]stats.Summary, len(d.numbers))
	for i, values := range d.bySlice() {
		out[i] = d.summarize(m, i, values)
	}
	return out
}

// summarize describes the values of a slice and what only its sketch knows.
func (d *sliceDescriber) summarize(m *metric, i int, values []float64) stats.Summary {
	if !d.sketched(m) {
		sum := stats.Describe(values, d.set.ranks)
		d.adjust(m, i, sum, func(places []int64) []float64 { return stats.Select(values, places) })
		return sum
	}
	all := d.overflowOf(m, i)
	for _, v := range values {
		all.Add(v)
	}
	sum := all.Summary(d.set.ranks)
	d.adjust(m, i, sum, all.At)
	return sum
}

// adjust computes the metrics that correct the one that was just described in a slice.
func (d *sliceDescriber) adjust(source *metric, i int, sum stats.Summary, at func(places []int64) []float64) {
	if sum.Count == 0 {
		return
	}
	p := population{Summary: sum, ranks: d.set.ranks, at: at, failed: d.failed(i), facts: &d.facts}
	for _, m := range d.set.adjusted[source.Tag] {
		out, ok := m.adjust(&p)
		if !ok {
			continue
		}
		if d.adjusted[m.Tag] == nil {
			d.adjusted[m.Tag] = make([]stats.Summary, len(d.numbers))
		}
		d.adjusted[m.Tag][i] = out
	}
}

// failed returns the number of requests of a slice that failed.
func (d *slicing) failed(i int) int64 {
	return d.slices.parts[d.numbers[i]].errors
}

// overflowOf returns a copy of what a slice keeps of a metric beyond the exact limits.
func (d *slicing) overflowOf(m *metric, i int) *stats.Sketch {
	all := new(stats.Sketch)
	if kept := d.slices.parts[d.numbers[i]].sketches; kept != nil {
		all.Merge(kept[m.slot])
	}
	return all
}

// gather collects the values of a metric and the slices they belong to.
func (d *sliceDescriber) gather(m *metric) {
	d.values = slices.Grow(d.values[:0], int(d.rows))
	d.homes = slices.Grow(d.homes[:0], int(d.rows))
	row := 0
	for _, b := range d.blocks {
		before := len(d.values)
		d.values = d.reader.collect(d.values, b, m)
		for i := range len(d.values) - before {
			d.homes = append(d.homes, d.slicing.homes[row+int(d.reader.rows[i])])
		}
		row += b.rows
	}
}

// bySlice orders what was gathered by slice.
func (d *sliceDescriber) bySlice() [][]float64 {
	next := make([]int, len(d.numbers)+1)
	for _, home := range d.homes {
		next[home+1]++
	}
	next[0] = 0 // values of no slice
	out := make([][]float64, len(d.numbers))
	total := 0
	for i := range out {
		next[i], total = total, total+next[i+1]
	}
	d.ordered = growTo(d.ordered, total)
	for i, v := range d.values {
		if home := d.homes[i]; home >= 0 {
			d.ordered[next[home]] = v
			next[home]++
		}
	}
	start := 0
	for i := range out {
		out[i] = d.ordered[start:next[i]:next[i]]
		start = next[i]
	}
	return out
}

// growTo returns a slice of length n, in the memory of s where it fits.
func growTo(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
