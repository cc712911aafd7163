package metrics

import (
	"maps"
	"slices"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// defaultMaxSlices bounds the time slices of a run: almost three hours of one second each.
const defaultMaxSlices = 10_000

// sliceStore keeps, by time slice, what the rows of facts cannot tell when a run is over: the
// aggregates, which also look at errors, and the sketches of the requests beyond the exact limits.
// That costs some hundred bytes a slice within the limits and some ten kilobytes (up to fifty) beyond,
// nothing per request. Of more slices than the limit the first ones are kept.
type sliceStore struct {
	set *Set
	// originNS is where slice 0 starts, wall epoch ns.
	originNS int64
	parts    map[int64]*slicePart
	// last is the highest number in parts.
	last int64
	// outside counts the requests that belong to none of the slices kept.
	outside int64
}

// slicePart is one slice.
type slicePart struct {
	// errors are those of the requests that failed.
	requests, errors int64

	aggregates []folded        // by slot of the aggregates
	sketches   []*stats.Sketch // by slot of the record metrics, for what came beyond the exact limits
}

// newSliceStore returns nil, of which every method does nothing, when slices are off.
func newSliceStore(set *Set) *sliceStore {
	if set.cfg.SliceNS <= 0 {
		return nil
	}
	return &sliceStore{set: set, parts: map[int64]*slicePart{}}
}

// number returns the number of the slice in which an instant lies, by integer division: a float cannot
// hold epoch nanoseconds.
func (s *sliceStore) number(wallNS int64) int64 {
	since, length := wallNS-s.originNS, s.set.cfg.SliceNS
	n := since / length
	if since%length < 0 {
		n--
	}
	return n
}

// count counts a request in the slice in which it started; nil when that slice is not kept.
func (s *sliceStore) count(f *record.Facts) *slicePart {
	if s == nil {
		return nil
	}
	start, ok := f.Get(record.StartWall)
	if !ok {
		s.outside++
		return nil
	}
	part := s.open(s.number(start))
	if part == nil {
		s.outside++
		return nil
	}
	part.requests++
	if f.IsError() {
		part.errors++
	}
	return part
}

// find returns the slice of a request that was counted before.
func (s *sliceStore) find(f *record.Facts) *slicePart {
	start, ok := f.Get(record.StartWall)
	if s == nil || !ok {
		return nil
	}
	return s.parts[s.number(start)]
}

// open returns a slice and makes it if need be; nil when it lies behind as many as are kept.
func (s *sliceStore) open(number int64) *slicePart {
	if part := s.parts[number]; part != nil {
		return part
	}
	if len(s.parts) >= s.set.cfg.MaxSlices {
		if len(s.parts) == 0 || number > s.last {
			return nil
		}
		s.outside += s.parts[s.last].requests
		delete(s.parts, s.last)
		s.last = number
		for n := range s.parts {
			s.last = max(s.last, n)
		}
	}
	if len(s.parts) == 0 || number > s.last {
		s.last = number
	}
	part := &slicePart{aggregates: make([]folded, len(s.set.aggregates))}
	s.parts[number] = part
	return part
}

// sketch returns the sketch of a record metric.
func (p *slicePart) sketch(s *Set, slot int) *stats.Sketch {
	if p.sketches == nil {
		p.sketches = make([]*stats.Sketch, s.recordMetrics)
	}
	if p.sketches[slot] == nil {
		p.sketches[slot] = new(stats.Sketch)
	}
	return p.sketches[slot]
}

// addGaps adds chunk gaps that the exact stores do not tell the slice of.
func (p *slicePart) addGaps(s *Set, gaps []int64) {
	if s.listMetric == nil || len(gaps) == 0 {
		return
	}
	into := p.sketch(s, s.listMetric.slot)
	for _, ns := range gaps {
		into.Add(float64(ns))
	}
}

// merge adds the slices of o, which have the same origin unless s is empty, in ascending order, so that none is made
// only to be dropped.
func (s *sliceStore) merge(o *sliceStore) {
	if s == nil || o == nil {
		return
	}
	if len(s.parts) == 0 {
		s.originNS = o.originNS
	}
	s.outside += o.outside
	for _, number := range o.numbers() {
		from := o.parts[number]
		into := s.open(number)
		if into == nil {
			s.outside += from.requests
			continue
		}
		into.requests += from.requests
		into.errors += from.errors
		for _, m := range s.set.aggregates {
			if a := from.aggregates[m.slot]; a.present {
				into.aggregates[m.slot].add(m.fold, a.value)
			}
		}
		for slot, k := range from.sketches {
			if k != nil {
				into.sketch(s.set, slot).Merge(k)
			}
		}
	}
}

// clone returns a copy apart from s.
func (s *sliceStore) clone() *sliceStore {
	if s == nil {
		return nil
	}
	c := newSliceStore(s.set)
	c.merge(s)
	return c
}

// numbers lists the slices in time order.
func (s *sliceStore) numbers() []int64 {
	return slices.Sorted(maps.Keys(s.parts))
}
