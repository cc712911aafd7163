package servermetrics

import (
	"slices"
	"sort"

	"aiperf/internal/watch/prom"
)

// Series is one label set of a family at one endpoint and all its samples.
type Series struct {
	// Family is the endpoint's: name, type and description of its first appearance there.
	Family *prom.Family
	Labels []prom.Label // sorted by name
	// Bounds are the texts of a histogram's le labels, Upper their numbers, ascending, +Inf last.
	Bounds []string
	Upper  []float64

	endpoint *EndpointStore
	values   column
	course   course
	starts   *starts // of the series of a start time
	counts   int     // scratch of Add: the place of the sample that counts
}

// Endpoint returns where the series comes from.
func (s *Series) Endpoint() *EndpointStore { return s.endpoint }

// describe names a series for messages: the family's name and the labels in braces.
func (s *Series) describe() string {
	if len(s.Labels) == 0 {
		return s.Family.Name
	}
	return s.Family.Name + LabelText(s.Labels)
}

// Sample is a series at one instant.
type Sample struct {
	TimestampNS int64
	Value       float64 // of all but histograms
	// Buckets are cumulative and in the order of Series.Bounds; they must not be changed.
	Buckets    []float64
	Sum, Count float64
}

// Samples are consecutive samples of a series in order of time. The zero value is empty; reading another
// series into it reuses its memory.
type Samples struct {
	// Reference reports that growth counts from the first sample, which is the last one before the window. Of a counter or a
	// histogram that began later it is 0, see [Series.Read].
	Reference bool

	before int // samples before those of the window: the reference, and another 0 just before a later beginning
	times  []int64
	at     []int32   // where the row of each sample begins; equal neighbours share one
	rows   []float64 // the distinct rows, before them the place of the reference
	width  int
	cursor cursor
	bySlot []int32 // scratch: the row of each slot
}

// Len returns the number of samples, the reference included.
func (s *Samples) Len() int { return len(s.times) }

// First returns the number of the first sample that a page of the window had.
func (s *Samples) First() int { return s.before }

// TimestampNS returns the instant of sample i.
func (s *Samples) TimestampNS(i int) int64 { return s.times[i] }

// Value returns sample i of a scalar series.
func (s *Samples) Value(i int) float64 { return s.rows[s.at[i]] }

// Buckets returns the cumulative buckets of sample i of a histogram, valid until the next Read.
func (s *Samples) Buckets(i int) []float64 { return s.rows[s.at[i]:][:s.width-2] }

// Sum returns that of sample i of a histogram.
func (s *Samples) Sum(i int) float64 { return s.rows[int(s.at[i])+s.width-2] }

// Count returns that of sample i of a histogram.
func (s *Samples) Count(i int) float64 { return s.rows[int(s.at[i])+s.width-1] }

// At returns sample i.
func (s *Samples) At(i int) Sample {
	out := Sample{TimestampNS: s.times[i]}
	if s.width == scalarRow {
		out.Value = s.Value(i)
		return out
	}
	out.Buckets, out.Sum, out.Count = s.Buckets(i), s.Sum(i), s.Count(i)
	return out
}

// Read fills into with the samples within w, both ends included, after the reference: the last sample before w. A server
// makes the series of a counter or a histogram with the first event that it counts: on a page without the series it is 0.
// If there was such a page, the reference is 0 at the last one before w, or at the first one within.
func (s *Series) Read(into *Samples, w Window) {
	if order := s.endpoint.slotsByTime(); order != nil {
		s.readUnordered(into, w, order)
		return
	}
	s.empty(into)
	times := s.endpoint.times
	from := int32(sort.Search(len(times), func(i int) bool { return times[i] >= w.StartNS }))
	to := int32(sort.Search(len(times), func(i int) bool { return times[i] > w.EndNS }))
	k := &into.cursor
	k.seek(&s.values, from-1)
	for row := int32(0); k.read() && k.first < to; {
		first, end := k.first, min(k.first+k.n, to)
		if first < from { // all before, or the end of a run that goes on into the window
			before := min(end, from)
			into.reference(times[before-1], k.row)
			first = before
		}
		if first >= end {
			continue
		}
		if k.changed || row == 0 {
			row = int32(len(into.rows))
			into.rows = append(into.rows, k.row...)
		}
		for slot := first; slot < end; slot++ {
			into.times = append(into.times, times[slot])
			into.at = append(into.at, row)
		}
	}
	if len(s.values.blocks) > 0 {
		s.begin(into, int(from), int(s.values.blocks[0].first), func(place int) int64 { return times[place] })
	}
}

// empty makes samples those of the series, none yet.
func (s *Series) empty(into *Samples) {
	into.Reference, into.before = false, 0
	into.times, into.at = into.times[:0], into.at[:0]
	into.width = len(s.values.last)
	// The first row is kept for the reference.
	into.rows = append(into.rows[:0], s.values.last...)
}

// begin puts zeros before the samples of a counter or a histogram that is first on a page at or after the one at place
// from, the first of the window: one as the reference, and one at the page just before its beginning, so that what it grew
// by did not take longer than it did. at is the instant of the page at a place.
func (s *Series) begin(into *Samples, from, beginning int, at func(place int) int64) {
	if into.Reference || len(into.times) == 0 || beginning == 0 || !s.Grows() {
		return
	}
	clear(into.rows[:into.width])
	reference := max(from-1, 0)
	zeros := append(make([]int64, 0, 2), at(reference))
	if beginning-1 > reference {
		zeros = append(zeros, at(beginning-1))
	}
	into.Reference, into.before = true, len(zeros)
	into.times = slices.Insert(into.times, 0, zeros...)
	into.at = slices.Insert(into.at, 0, make([]int32, len(zeros))...)
}

// Grows reports whether the series only grows while its server runs.
func (s *Series) Grows() bool { return s.Family.Type == prom.Counter || s.Family.Type.Bucketed() }

// reference puts a sample before all others, in place of an earlier one.
func (s *Samples) reference(ns int64, row []float64) {
	copy(s.rows, row)
	if !s.Reference {
		s.Reference, s.before = true, 1
		s.times, s.at = append(s.times, ns), append(s.at, 0)
	}
	s.times[0] = ns
}

// readUnordered does what Read does, for an endpoint with late arrivals: everything is decoded, then put into order.
func (s *Series) readUnordered(into *Samples, w Window, order []int32) {
	const absent = -1
	s.empty(into)
	times := s.endpoint.times
	into.bySlot = slices.Grow(into.bySlot[:0], len(times))[:len(times)]
	for i := range into.bySlot {
		into.bySlot[i] = absent
	}
	k := &into.cursor
	k.seek(&s.values, 0)
	for row := int32(0); k.read(); {
		if k.changed {
			row = int32(len(into.rows))
			into.rows = append(into.rows, k.row...)
		}
		for slot := k.first; slot < k.first+k.n; slot++ {
			into.bySlot[slot] = row
		}
	}
	from, beginning := -1, -1 // places in the order
	for place, slot := range order {
		row, ns := into.bySlot[slot], times[slot]
		if from < 0 && ns >= w.StartNS {
			from = place
		}
		if beginning < 0 && row != absent {
			beginning = place
		}
		switch {
		case row == absent || ns > w.EndNS:
		case ns < w.StartNS:
			into.reference(ns, into.rows[row:int(row)+into.width])
		default:
			into.times = append(into.times, ns)
			into.at = append(into.at, row)
		}
	}
	s.begin(into, from, beginning, func(place int) int64 { return times[order[place]] })
}

// LastBefore returns the last sample before an instant. Unless scrapes came late, it decodes no more than a
// block.
func (s *Series) LastBefore(ns int64) (Sample, bool) {
	var samples Samples
	s.Read(&samples, Window{StartNS: ns, EndNS: ns - 1})
	if !samples.Reference {
		return Sample{}, false
	}
	return samples.At(0), true
}
