package metrics

import (
	"math"
	"slices"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// replayRanks are the percentiles of the lag of a replay.
var (
	replayRanks     = [...]float64{50, 90, 99}
	replayRankNames = [...]string{"p50", "p90", "p99"}
)

// replayLag is how far sends fell behind their schedule, in ms, by replayRanks.
type replayLag struct {
	present bool
	lagsMS  [len(replayRanks)]float64
}

const (
	// maxLagBins bounds the bins of offsets, finestLagNS is their width at first.
	maxLagBins  = 1 << 16
	finestLagNS = 1 << 14
)

// offsetBins count the offsets of sends from their schedule beyond the limit of exact rows: in bins of
// equal width, which doubles when the offsets outgrow them. Lags are off by half a bin at most.
type offsetBins struct {
	widthNS int64
	first   int64 // number of the first bin
	counts  []int64
	count   int64
	lowest  int64
}

func newOffsetBins() *offsetBins { return &offsetBins{widthNS: finestLagNS} }

func (b *offsetBins) add(offset, n int64) {
	if b.count == 0 || offset < b.lowest {
		b.lowest = offset
	}
	b.count += n
	number := floorDiv(offset, b.widthNS)
	b.cover(number, number)
	b.counts[floorDiv(offset, b.widthNS)-b.first] += n
}

// cover makes room for the bins from first to last, numbered by the width so far.
func (b *offsetBins) cover(first, last int64) {
	if len(b.counts) > 0 {
		first, last = min(first, b.first), max(last, b.first+int64(len(b.counts))-1)
	}
	for last-first >= maxLagBins {
		b.coarsen()
		first, last = floorDiv(first, 2), floorDiv(last, 2)
	}
	if n := int(last - first + 1); n > len(b.counts) {
		counts := make([]int64, n)
		if len(b.counts) > 0 {
			copy(counts[b.first-first:], b.counts)
		}
		b.first, b.counts = first, counts
	}
}

// coarsen doubles the width of the bins.
func (b *offsetBins) coarsen() {
	old, first := b.counts, b.first
	b.widthNS *= 2
	b.first, b.counts = 0, nil
	if len(old) == 0 {
		return
	}
	b.first = floorDiv(first, 2)
	b.counts = make([]int64, floorDiv(first+int64(len(old))-1, 2)-b.first+1)
	for i, n := range old {
		b.counts[floorDiv(first+int64(i), 2)-b.first] += n
	}
}

func (b *offsetBins) merge(o *offsetBins) {
	if o.count == 0 {
		return
	}
	o = o.clone()
	for o.widthNS < b.widthNS {
		o.coarsen()
	}
	for b.widthNS < o.widthNS {
		b.coarsen()
	}
	b.cover(o.first, o.first+int64(len(o.counts))-1)
	for o.widthNS < b.widthNS {
		o.coarsen()
	}
	if b.count == 0 || o.lowest < b.lowest {
		b.lowest = o.lowest
	}
	b.count += o.count
	for i, n := range o.counts {
		b.counts[o.first+int64(i)-b.first] += n
	}
}

func (b *offsetBins) clone() *offsetBins {
	if b == nil {
		return nil
	}
	c := *b
	c.counts = slices.Clone(b.counts)
	return &c
}

// lag returns the percentiles of the offsets above the lowest one.
func (b *offsetBins) lag() replayLag {
	places := stats.Places(replayRanks[:], b.count)
	found := make(map[int64]float64, len(places))
	var seen int64
	for i, n := range b.counts {
		seen += n
		middle := (b.first+int64(i))*b.widthNS + b.widthNS/2
		for len(places) > 0 && places[0] < seen {
			found[places[0]] = float64(max(0, middle-b.lowest))
			places = places[1:]
		}
	}
	return lagOf(stats.Interpolate(replayRanks[:], b.count, func(place int64) float64 { return found[place] }))
}

func lagOf(percentilesNS []float64) replayLag {
	lag := replayLag{present: true}
	for i, ns := range percentilesNS {
		lag.lagsMS[i] = ns * nsToMilliseconds
	}
	return lag
}

// nsToMilliseconds converts by one multiplication, as every conversion of units does.
const nsToMilliseconds = 1e-06

// replayLag computes the lag of all sends with a time in the schedule. Offsets are taken apart as
// integers: a float does not hold their nanoseconds.
func (f *frozen) replayLag() replayLag {
	var offsets []int64
	var starts, scheduled [blockRows]int64
	var failed [blockRows]int64
	row := record.NewFacts()
	for _, b := range f.blocks {
		b.columns[record.StartWall].unpack(starts[:b.rows])
		b.columns[record.Scheduled].unpack(scheduled[:b.rows])
		b.columns[record.Failed].unpack(failed[:b.rows])
		for i := range b.rows {
			row[record.StartWall], row[record.Scheduled] = starts[i], scheduled[i]
			if offset, ok := scheduleOffset(&row); ok && failed[i] != 1 {
				offsets = append(offsets, offset)
			}
		}
	}
	if f.offsets != nil {
		all := f.offsets.clone()
		for _, offset := range offsets {
			all.add(offset, 1)
		}
		if all.count == 0 {
			return replayLag{}
		}
		return all.lag()
	}
	if len(offsets) == 0 {
		return replayLag{}
	}
	lowest := int64(math.MaxInt64)
	for _, offset := range offsets {
		lowest = min(lowest, offset)
	}
	lags := make([]float64, len(offsets))
	for i, offset := range offsets {
		lags[i] = float64(offset - lowest)
	}
	return lagOf(stats.Percentiles(lags, replayRanks[:]))
}
