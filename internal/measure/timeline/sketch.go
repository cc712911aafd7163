package timeline

import (
	"math"
	"math/bits"

	"aiperf/internal/measure/stats"
)

// sketch is a distribution of whole numbers from 0 on: numbers that agree in their first precision+1 bits count as
// one, so that a quantile is off by at most one part in 2^precision. The smallest and the largest are exact.
type sketch struct {
	classes  stats.Counts
	n        int64
	min, max int64
}

// classOf returns the number of a value's class.
func classOf(v int64, precision uint) int {
	shift := max(0, bits.Len64(uint64(v))-int(precision)-1)
	return shift<<precision + int(v>>shift)
}

// classRange returns where a class begins and how wide it is.
func classRange(class int, precision uint) (low, width int64) {
	shift := max(0, class>>precision-1)
	return int64(class-shift<<precision) << shift, 1 << shift
}

func (s *sketch) add(v int64, precision uint) {
	v = max(v, 0)
	if s.n == 0 {
		s.min, s.max = v, v
	}
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.n++
	if class := classOf(v, precision); !s.classes.Increment(class) {
		s.classes.Add(class, 1)
	}
}

func (s *sketch) merge(o *sketch) {
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

// quantile returns the value below which a share q of the population lies; NaN for an empty one.
func (s *sketch) quantile(q float64, precision uint) float64 {
	if s.n == 0 {
		return math.NaN()
	}
	place := q * float64(s.n-1)
	var before int64
	for class, n := range s.classes.All() {
		if float64(before+n) > place {
			low, width := classRange(class, precision)
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
