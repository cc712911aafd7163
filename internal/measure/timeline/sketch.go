package timeline

import (
	"math"
	"math/bits"
)

// sketch is a distribution of whole numbers from 0 on: numbers that agree in their first precision+1 bits count as
// one, so that a quantile is off by at most one part in 2^precision. The smallest and the largest are exact.
type sketch struct {
	first    int // class of counts[0]
	counts   []uint32
	n        int64
	min, max int64
}

// classOf is the number of a value's class.
func classOf(v int64, precision uint) int {
	shift := max(0, bits.Len64(uint64(v))-int(precision)-1)
	return shift<<precision + int(v>>shift)
}

// classRange is where a class begins and how wide it is.
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
	s.cover(classOf(v, precision), 1)
}

// cover makes room for a class and counts n values in it.
func (s *sketch) cover(class int, n uint32) {
	if len(s.counts) == 0 {
		s.first = class
	}
	if before := s.first - class; before > 0 {
		s.counts = append(make([]uint32, before, before+len(s.counts)), s.counts...)
		s.first = class
	}
	if more := class - s.first + 1 - len(s.counts); more > 0 {
		s.counts = append(s.counts, make([]uint32, more)...)
	}
	s.counts[class-s.first] += n
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
	s.cover(o.first, 0)
	s.cover(o.first+len(o.counts)-1, 0)
	for i, n := range o.counts {
		s.counts[o.first-s.first+i] += n
	}
}

// quantile is the value below which a share q of the population lies; NaN for an empty one.
func (s *sketch) quantile(q float64, precision uint) float64 {
	if s.n == 0 {
		return math.NaN()
	}
	place := q * float64(s.n-1)
	var before int64
	for i, n := range s.counts {
		if n > 0 && float64(before+int64(n)) > place {
			low, width := classRange(s.first+i, precision)
			v := float64(low)
			if width > 1 {
				v += float64(width) * (place - float64(before) + 0.5) / float64(n)
			}
			return min(max(v, float64(s.min)), float64(s.max))
		}
		before += int64(n)
	}
	return float64(s.max)
}
