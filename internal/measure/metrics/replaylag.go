package metrics

import (
	"math"

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

// offsetBins count the offsets of sends from their schedule beyond the limit of exact rows. Lags are off by half a bin
// at most.
type offsetBins struct {
	stats.Bins[requestCount, *requestCount]
}

// requestCount is how many requests had an offset in a bin.
type requestCount int64

// Join implements stats.Bin.
func (n *requestCount) Join(o *requestCount, _ int64) { *n += *o }

func newOffsetBins() *offsetBins {
	return &offsetBins{stats.Bins[requestCount, *requestCount]{Width: finestLagNS, Most: maxLagBins}}
}

func (b *offsetBins) add(offset int64) {
	b.Cover(offset, offset)
	b.List[b.Index(offset)]++
}

func (b *offsetBins) clone() *offsetBins {
	if b == nil {
		return nil
	}
	return &offsetBins{*b.Clone()}
}

// lag returns the percentiles of the offsets above the lowest one.
func (b *offsetBins) lag() replayLag {
	var count requestCount
	for _, n := range b.List {
		count += n
	}
	return lagOf(stats.PercentilesAt(replayRanks[:], int64(count), func(places []int64) []float64 {
		found := make([]float64, 0, len(places))
		var seen requestCount
		for i, n := range b.List {
			seen += n
			middle := (b.First+int64(i))*b.Width + b.Width/2
			for len(found) < len(places) && places[len(found)] < int64(seen) {
				found = append(found, float64(max(0, middle-b.Low)))
			}
		}
		return found
	}))
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
			all.add(offset)
		}
		if len(all.List) == 0 {
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
