package metrics

import "aiperf/internal/measure/stats"

// gapsAtOnce bounds how many chunk gaps are unpacked to be sorted at one time. Tests lower it, so that few are many.
var gapsAtOnce = 1 << 22

// describeGaps computes the statistics of the chunk gaps of every slice. The gaps of a slice lie
// spread over the store, because requests are stored as they end: each pass over the store picks
// those of as many slices as fit.
func (d *sliceDescriber) describeGaps(m *metric) []stats.Summary {
	out := make([]stats.Summary, len(d.numbers))
	if d.sketched(m) {
		sketches := make([]*stats.Sketch, len(d.numbers))
		for i := range sketches {
			sketches[i] = d.overflowOf(m, i)
		}
		d.eachGap(func(slice int, ns int64) { sketches[slice].Add(float64(ns)) })
		for i, s := range sketches {
			out[i] = s.Summary(d.set.ranks)
		}
		return out
	}
	counts := d.countGaps()
	for from := 0; from < len(counts); {
		to, total := from+1, counts[from]
		for to < len(counts) && total+counts[to] <= gapsAtOnce {
			total += counts[to]
			to++
		}
		d.describeGapsOf(from, counts[from:to], out[from:to])
		from = to
	}
	return out
}

// describeGapsOf computes neighbouring slices, the first of which is numbered first. One with more
// gaps than are unpacked at a time is alone.
func (d *sliceDescriber) describeGapsOf(first int, counts []int, out []stats.Summary) {
	if counts[0] > gapsAtOnce {
		var own gapStore
		d.eachGap(func(slice int, ns int64) {
			if slice == first {
				own.add(ns)
			}
		})
		out[0] = own.describe(d.set.ranks)
		return
	}
	next := make([]int, len(counts))
	total := 0
	for i, n := range counts {
		next[i], total = total, total+n
	}
	if total == 0 {
		return
	}
	d.ordered = growTo(d.ordered, total)
	d.eachGap(func(slice int, ns int64) {
		if i := slice - first; i >= 0 && i < len(next) {
			d.ordered[next[i]] = float64(ns)
			next[i]++
		}
	})
	start := 0
	for i, end := range next {
		out[i] = stats.Describe(d.ordered[start:end], d.set.ranks)
		start = end
	}
}

// countGaps returns the number of gaps of every slice.
func (d *sliceDescriber) countGaps() []int {
	counts := make([]int, len(d.numbers))
	d.eachGapCount(func(home int32, gaps int64) {
		if home >= 0 {
			counts[home] += int(gaps)
		}
	})
	return counts
}

// eachGap yields the gaps of the rows in a slice, in the order of the store. Gaps of requests whose
// rows were not kept follow those of all rows; they are in the sketches.
func (d *sliceDescriber) eachGap(yield func(slice int, ns int64)) {
	cursor := d.gaps.cursor()
	d.eachGapCount(func(home int32, gaps int64) {
		for range gaps {
			if ns, ok := cursor.next(); ok && home >= 0 {
				yield(int(home), ns)
			}
		}
	})
}

// eachGapCount yields the slice of every row and how many of its gaps the store holds.
func (d *sliceDescriber) eachGapCount(yield func(home int32, gaps int64)) {
	var counts [blockRows]int64
	row := 0
	for _, b := range d.blocks {
		b.columns[gapCount].unpack(counts[:b.rows])
		for i, n := range counts[:b.rows] {
			yield(d.slicing.homes[row+i], n)
		}
		row += b.rows
	}
}
