package metrics

import (
	"cmp"
	"slices"
	"sync"

	"aiperf/internal/measure/stats"
)

// overlap is a slice and the requests that were in flight in it, wherever they started.
type overlap struct {
	slice     int
	window    span
	intervals []interval
}

// curves computes the statistics of the timelines of every slice, by tag: each is the curve of the whole run between
// the bounds of the slice. A run beyond the exact limits has none: its curves are averages over stretches of time that
// may be longer than a slice.
func (d *slicing) curves(needed map[string]bool, workers int) []map[string]stats.Summary {
	out := make([]map[string]stats.Summary, len(d.numbers))
	if d.bins != nil || !d.set.needsTimelines(needed) {
		return out
	}
	jobs := make(chan overlap)
	var group sync.WaitGroup
	for range min(workers, maxDescribers) {
		group.Go(func() {
			var curve timeDistribution
			var levels levelCache
			for o := range jobs {
				own := map[string]stats.Summary{}
				of := levels.hold(sweep(o.intervals, o.window))
				d.set.describeTimelines(&curve, of, needed, func(m *metric, sum stats.Summary) { own[m.Tag] = sum })
				out[o.slice] = own
			}
		})
	}
	d.overlaps(func(o overlap) { jobs <- o })
	close(jobs)
	group.Wait()
	return out
}

// overlaps yields the slices in time order.
func (d *slicing) overlaps(yield func(overlap)) {
	intervals, _ := d.intervals()
	slices.SortFunc(intervals, func(a, b interval) int { return cmp.Compare(a.start, b.start) })
	var open []interval
	for i, number := range d.numbers {
		bounds := d.bounds(i, number)
		for len(intervals) > 0 && intervals[0].start < bounds.EndNS {
			open = append(open, intervals[0])
			intervals = intervals[1:]
		}
		open = slices.DeleteFunc(open, func(r interval) bool {
			return r.end <= bounds.StartNS &&
				r.start < bounds.StartNS
		})
		yield(overlap{i, span{bounds.StartNS, bounds.EndNS}, slices.Clone(open)})
	}
}

// levelCache keeps the levels of a slice, so that they are found once for all its curves.
type levelCache struct {
	ns     []int64
	levels []level
}

// maxHeldLevels bounds what is kept to some 20 MB; of slices with more segments the levels are found again for each
// curve.
const maxHeldLevels = 1 << 18

// hold returns the same segments, valid until the next call.
func (h *levelCache) hold(of segments) segments {
	if of.n > maxHeldLevels {
		return of
	}
	h.ns, h.levels = h.ns[:0], h.levels[:0]
	of.each(func(ns int64, l *level) {
		h.ns, h.levels = append(h.ns, ns), append(h.levels, *l)
	})
	return segments{noImages: of.noImages, n: of.n, each: func(yield func(int64, *level)) {
		for i := range h.levels {
			yield(h.ns[i], &h.levels[i])
		}
	}}
}
