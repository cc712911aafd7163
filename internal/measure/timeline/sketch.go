package timeline

import (
	"math"
	"math/bits"

	"aiperf/internal/measure/stats"
)

// Sketch is a distribution of whole numbers from 0 on: numbers that agree in their first precision+1 bits count as
// one, so that a quantile is off by at most one part in 2^precision. The smallest and the largest are exact.
type Sketch struct {
	classes  stats.Counts
	n        int64
	min, max int64
}

// ClassOf returns the number of the class of a value, which is not negative.
func ClassOf(v int64, precision uint) int {
	shift := max(0, bits.Len64(uint64(v))-int(precision)-1)
	return shift<<precision + int(v>>shift)
}

// ClassRange returns where a class begins and how wide it is.
func ClassRange(class int, precision uint) (low, width int64) {
	shift := max(0, class>>precision-1)
	return int64(class-shift<<precision) << shift, 1 << shift
}

// Add adds a value; one below 0 counts as 0. All calls for a sketch have the same precision.
func (s *Sketch) Add(v int64, precision uint) {
	v = max(v, 0)
	if s.n == 0 {
		s.min, s.max = v, v
	}
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.n++
	if class := ClassOf(v, precision); !s.classes.Increment(class) {
		s.classes.Add(class, 1)
	}
}

func (s *Sketch) merge(o *Sketch) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		s.min, s.max = o.min, o.max
	}
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	s.n += o.n
	s.classes.Merge(&o.classes)
}

// Quantile returns the value below which a share q of the population lies; NaN for an empty one. The precision is
// that of [Sketch.Add].
func (s *Sketch) Quantile(q float64, precision uint) float64 {
	if s.n == 0 {
		return math.NaN()
	}
	place := q * float64(s.n-1)
	var before int64
	for class, n := range s.classes.All() {
		if float64(before+n) > place {
			low, width := ClassRange(class, precision)
			v := float64(low)
			if width > 1 {
				v += float64(width) * (place - float64(before) + 0.5) / float64(n)
			}
			return min(max(v, float64(s.min)), float64(s.max))
		}
		before += n
	}
	return float64(s.max)
}
