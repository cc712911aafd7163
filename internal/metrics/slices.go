package metrics

import (
	"runtime"
	"slices"
	"sync"

	"aiperf/internal/record"
	"aiperf/internal/stats"
)

// Slice is a stretch of time and the results of the requests that started in it, failed ones
// included, however long they took.
type Slice struct {
	// Index numbers the slices of a run that have requests: 0, 1, 2… in time order.
	Index int
	// StartNS and EndNS are the bounds of the slice, wall epoch ns: multiples of the slice length, so
	// that a slice in which no request started shows as a gap between two neighbours.
	StartNS, EndNS int64
	// Complete is false where the slice had not ended when the last request of the run did: at most
	// the last one.
	Complete bool
	// Results are in table order, in display units.
	Results []Result
}

// Slices computes the results of every time slice of the records so far; nil when slices are off.
//
// All metrics are computed anew from the requests of the slice: a duration is the time from the
// slice's own first send to its own last content response and may exceed the slice. Rates divide by
// that duration, but in a slice that is not complete by the length of its window, which is the part
// of it within the run, from the first send to the end of the last request: there a request sent
// shortly before the end would make a rate of its own. Figures of the replay schedule exist only for
// whole runs.
//
// Within the limits MaxRecords and MaxGaps of the run everything is exact. A run beyond them has the
// percentiles of all its slices from sketches (MethodSketch), so that slices stay comparable and do
// not depend on which request came first; counts, sums, averages, extremes and deviations stay exact.
//
// Timelines and adjusted metrics exist only for whole runs.
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
	distributions := d.distributions(s.closure((*metric).sliced), runtime.GOMAXPROCS(0))
	out := make([]Slice, len(d.numbers))
	for i, number := range d.numbers {
		slice := &out[i]
		*slice = Slice{Index: i, StartNS: number * s.cfg.SliceNS, EndNS: (number + 1) * s.cfg.SliceNS}
		slice.Complete = slice.EndNS <= d.watch.all.end
		var windowNS int64
		if !slice.Complete {
			windowNS = d.watch.all.end - max(slice.StartNS, d.watch.all.start)
		}
		own := make(map[string]stats.Summary, len(distributions))
		for tag, perSlice := range distributions {
			if perSlice[i].Count > 0 {
				own[tag] = perSlice[i]
			}
		}
		values := s.evaluate(d.slices.parts[number].aggregates, own, scope{windowNS: windowNS})
		slice.Results = s.assemble((*metric).sliced, own, values, d.sliceMethod)
	}
	return out
}

// sliced tells whether slices report the metric.
func (m *metric) sliced() bool {
	return m.shown && !m.Flags.Has(FixedScheduleOnly) && m.Kind != KindTimeline && m.Kind != KindAdjusted
}

// slicing computes the slices of a frozen engine.
type slicing struct {
	*frozen
	set *Set
	// numbers are the slices in time order; homes the place in it of every row, −1 for none.
	numbers []int64
	homes   []int32
}

// assign finds the slice of every row.
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
				home, kept = places[d.set.cfg.sliceNumber(start)]
			}
			if !kept {
				home = -1
			}
			d.homes = append(d.homes, home)
		}
	}
}

// sketched tells whether the rows or gaps that were kept are not all.
func (d *slicing) sketched(m *metric) bool {
	return d.overflow != nil || m.list && d.gapsBeyond != nil
}

func (d *slicing) sliceMethod(m *metric) Method {
	if d.sketched(m) {
		return MethodSketch
	}
	return MethodExact
}

// distributions computes the statistics of record metrics, slice by slice, in their internal units.
func (d *slicing) distributions(needed map[string]bool, workers int) map[string][]stats.Summary {
	var mu sync.Mutex
	out := map[string][]stats.Summary{}
	jobs := make(chan *metric)
	var group sync.WaitGroup
	for range min(workers, maxDescribers) {
		group.Go(func() {
			w := sliceDescriber{slicing: d}
			for m := range jobs {
				perSlice := w.describe(m)
				mu.Lock()
				out[m.Tag] = perSlice
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
	reader  reader
	values  []float64
	homes   []int32 // of values
	ordered []float64
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
		return stats.Describe(values, d.set.ranks)
	}
	all := d.overflowOf(m, i)
	for _, v := range values {
		all.add(v)
	}
	return all.summary(d.set.ranks)
}

// overflowOf returns a copy of what a slice keeps of a metric beyond the exact limits.
func (d *slicing) overflowOf(m *metric, i int) *sketch {
	all := new(sketch)
	if kept := d.slices.parts[d.numbers[i]].sketches; kept != nil {
		all.merge(kept[m.slot])
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
