package servermetrics

import (
	"iter"
	"math"

	"aiperf/internal/watch/prom"
)

// maxSlices is the number of slices beyond which none are made: a slice length that is far below the interval
// of the scrapes is a mistake, and must not fill the disk.
const maxSlices = 1 << 22

// countSlices counts the slices of a series and gathers the rates of the complete ones of a counter.
func (w *worker) countSlices(j *job) {
	w.values = w.values[:0]
	s := &j.stats
	for slice := range slicesOf(s.Series.Family.Type, &w.samples, s.window, s.sliceNS) {
		s.SliceCount++
		if s.Series.Family.Type == prom.Counter && !slice.Partial {
			w.values = append(w.values, slice.Rate)
		}
	}
}

// slicesOf cuts the window into slices of the given length and yields what a series of type t did in each. The
// samples must be those of the window.
func slicesOf(t prom.Type, s *Samples, w Window, lengthNS int64) iter.Seq[Slice] {
	if lengthNS <= 0 || w.EndNS <= w.StartNS {
		return func(func(Slice) bool) {}
	}
	switch t {
	case prom.Histogram:
		return histogramSlices(s, w, lengthNS)
	case prom.Counter:
		return counterSlices(s, w, lengthNS)
	}
	return gaugeSlices(s, w, lengthNS)
}

// grid returns the slices of a window, without values.
func grid(w Window, lengthNS int64) iter.Seq[Slice] {
	return func(yield func(Slice) bool) {
		if (w.EndNS-w.StartNS)/lengthNS >= maxSlices {
			return
		}
		for start := w.StartNS; start < w.EndNS; start += lengthNS {
			left := w.EndNS - start
			slice := Slice{StartNS: start, EndNS: w.EndNS, Partial: lengthNS > left}
			if !slice.Partial {
				slice.EndNS = start + lengthNS
			}
			if !yield(slice) || slice.Partial {
				return
			}
		}
	}
}

// perInterval reports whether slices would be shorter than the interval of the samples from first to last; then
// each interval is a slice.
func perInterval(s *Samples, first, last int, lengthNS int64) bool {
	within, gaps := 0, last-first
	for i := first; i < last; i++ {
		if s.times[i+1]-s.times[i] <= lengthNS {
			within++
		}
	}
	if gaps < 2 || 2*within > gaps { // the usual case, without sorting
		return false
	}
	gap, _ := medianGap(s.times[first : last+1])
	return float64(lengthNS) < gap
}

// intervals returns the slices between consecutive instants from sample first to last, with the numbers of their
// first and last sample. Of several samples at one instant the last counts.
func intervals(s *Samples, first, last int) iter.Seq2[Slice, [2]int] {
	return func(yield func(Slice, [2]int) bool) {
		start := -1
		for i := first; i <= last; i++ {
			if i < last && s.times[i+1] == s.times[i] {
				continue
			}
			if start >= 0 && !yield(Slice{StartNS: s.times[start], EndNS: s.times[i]}, [2]int{start, i}) {
				return
			}
			start = i
		}
	}
}

// between returns the slices from sample first to last, with the numbers of the samples at their two boundaries:
// the last ones at or before, the first one if there is none.
func between(s *Samples, first, last int, w Window, lengthNS int64) iter.Seq2[Slice, [2]int] {
	if perInterval(s, first, last, lengthNS) {
		return intervals(s, first, last)
	}
	return func(yield func(Slice, [2]int) bool) {
		at := first
		advance := func(ns int64) int {
			for at < s.Len()-1 && s.times[at+1] <= ns {
				at++
			}
			return at
		}
		for slice := range grid(w, lengthNS) {
			from := advance(slice.StartNS)
			if !yield(slice, [2]int{from, advance(slice.EndNS)}) {
				return
			}
		}
	}
}

// gaugeSlices divides a window into slices of a length, with the figures of the samples in each; slices without a
// sample are left out. Where scrapes are further apart than slices are long, each interval between two of them is a
// slice, with the value that held from its start.
func gaugeSlices(s *Samples, w Window, lengthNS int64) iter.Seq[Slice] {
	return func(yield func(Slice) bool) {
		first, last := s.First(), s.Len()-1
		if last-first < 1 {
			return
		}
		if perInterval(s, first, last, lengthNS) {
			for slice, ends := range intervals(s, first, last) {
				v := s.Value(ends[0])
				slice.Avg, slice.Min, slice.Max = v, v, v
				if !yield(slice) {
					return
				}
			}
			return
		}
		next := first
		for slice := range grid(w, lengthNS) {
			from := next
			for next <= last && (s.times[next] < slice.EndNS || s.times[next] == w.EndNS && slice.EndNS == w.EndNS) {
				next++
			}
			if next == from {
				continue
			}
			gaugeSlice(&slice, s, from, next)
			if !yield(slice) {
				return
			}
		}
	}
}

// gaugeSlice fills in the values of samples from up to but without to.
func gaugeSlice(slice *Slice, s *Samples, from, to int) {
	slice.Min, slice.Max = math.Inf(1), math.Inf(-1)
	mean, n := 0.0, float64(to-from)
	for i := from; i < to; i++ {
		v := s.Value(i)
		slice.Min, slice.Max = min(slice.Min, v), max(slice.Max, v)
		mean += v
	}
	mean /= n
	if math.IsInf(mean, 0) || math.IsNaN(mean) { // the sum is beyond float64, the mean is not
		mean = 0
		for i := from; i < to; i++ {
			mean += s.Value(i) / n
		}
	}
	slice.Avg = min(max(mean, slice.Min), slice.Max)
}

func counterSlices(s *Samples, w Window, lengthNS int64) iter.Seq[Slice] {
	return func(yield func(Slice) bool) {
		last := s.Len() - 1
		if last < 1 {
			return
		}
		for slice, ends := range between(s, 0, last, w, lengthNS) {
			slice.Total = max(s.Value(ends[1])-s.Value(ends[0]), 0)
			slice.Rate = slice.Total / seconds(slice.EndNS-slice.StartNS)
			if !yield(slice) {
				return
			}
		}
	}
}

// histogramSlices divides a window as [gaugeSlices] does, with what was observed in each slice. One in which a count or
// sum fell, as after a restart, is left out. The buckets are valid until the next slice.
func histogramSlices(s *Samples, w Window, lengthNS int64) iter.Seq[Slice] {
	return func(yield func(Slice) bool) {
		final := s.Len() - 1
		if final < 1 || int64(s.Count(final)-s.Count(0)) <= 0 {
			return
		}
		var buckets []int64
		for slice, ends := range between(s, 0, final, w, lengthNS) {
			growth := s.Count(ends[1]) - s.Count(ends[0])
			slice.Sum = s.Sum(ends[1]) - s.Sum(ends[0])
			if growth < 0 || slice.Sum < 0 {
				continue
			}
			slice.Count = int64(growth)
			if slice.Count > 0 {
				slice.Avg = slice.Sum / float64(slice.Count)
			}
			buckets, _ = bucketGrowth(buckets[:0], s, ends[0], ends[1])
			slice.Buckets = buckets
			if !yield(slice) {
				return
			}
		}
	}
}
