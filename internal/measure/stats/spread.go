package stats

import "math"

// Magnitudes from smallest to largest keep the stated error; smaller ones count as zero, larger ones as largest.
const (
	smallest = 0x1p-64
	largest  = 0x1.fffffffffffffp63
)

// spread counts numbers by their bins: the floats that agree in sign, exponent and the first bits of their mantissa.
type spread struct {
	zeros              int64
	negative, positive Counts
}

func (s *spread) add(v float64, bits uint) {
	side := &s.positive
	if v < 0 {
		side, v = &s.negative, -v
	}
	if v < smallest {
		s.zeros++
		return
	}
	if v > largest {
		v = largest
	}
	if bin := int(math.Float64bits(v) >> (52 - bits)); !side.Increment(bin) {
		side.Add(bin, 1)
	}
}

func (s *spread) merge(o *spread) {
	s.zeros += o.zeros
	s.negative.Merge(&o.negative)
	s.positive.Merge(&o.positive)
}

// at returns the values at the given ascending places of the sorted population: the middles of their bins, none beyond
// the extremes.
func (s *spread) at(places []int64, bits uint, lowest, highest float64) []float64 {
	out := make([]float64, 0, len(places))
	var seen int64
	take := func(n int64, value float64) {
		seen += n
		for len(out) < len(places) && places[len(out)] < seen {
			out = append(out, min(max(value, lowest), highest))
		}
	}
	middle := func(bin int) float64 {
		edge := func(bin int) float64 { return math.Float64frombits(uint64(bin) << (52 - bits)) }
		low, high := edge(bin), edge(bin+1)
		return low + (high-low)/2
	}
	for bin, n := range s.negative.backward() {
		take(n, -middle(bin))
	}
	take(s.zeros, 0)
	for bin, n := range s.positive.All() {
		take(n, middle(bin))
	}
	return out
}
