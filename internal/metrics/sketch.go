package metrics

import (
	"math"
	"math/big"
	"slices"

	"aiperf/internal/stats"
)

const (
	// sketchBins bounds the bins on each side of zero.
	sketchBins = 256
	// A bin is the range of floats that agree in sign, exponent and their first mantissa bits: at the
	// finest this many, fewer where the values spread over more than sketchBins such bins.
	finestMantissaBits = 7
)

// sketch is a distribution in at most some kilobytes, often less than one: what time slices keep of
// requests beyond the exact limits, in numbers for which a stats.Histogram is too large. Its figures
// are exact but for the percentiles: those have a relative error of at most 0.4 % where all values
// lie within a factor of 4, and twice that each time the factor is squared: 0.8 % within 16, 1.6 %
// within 256, 3.2 % within 65,536. The zero value is empty.
type sketch struct {
	count              int64
	min, max           float64
	sum, squares       pair
	zeros              int64
	negative, positive bins
}

// add adds v, which must be finite.
func (s *sketch) add(v float64) {
	if s.count == 0 {
		s.min, s.max = v, v
	}
	s.count++
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.sum.add(v)
	square := v * v
	s.squares.add(square)
	s.squares.add(math.FMA(v, v, -square))
	switch {
	case v == 0:
		s.zeros++
	case v < 0:
		s.negative.add(-v)
	default:
		s.positive.add(v)
	}
}

// merge adds the population of o; nil is an empty one.
func (s *sketch) merge(o *sketch) {
	if o == nil || o.count == 0 {
		return
	}
	if s.count == 0 {
		s.min, s.max = o.min, o.max
	}
	s.count += o.count
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	s.sum.merge(o.sum)
	s.squares.merge(o.squares)
	s.zeros += o.zeros
	s.negative.merge(&o.negative)
	s.positive.merge(&o.positive)
}

// summary returns the figures of the population, with the percentiles of the given ranks.
func (s *sketch) summary(ranks []float64) stats.Summary {
	if s.count == 0 {
		return stats.Summary{}
	}
	out := stats.Summary{
		Count: s.count, Min: s.min, Max: s.max,
		Sum: s.sum.value(), Avg: s.sum.value() / float64(s.count), Std: s.std(),
	}
	places := stats.Places(ranks, s.count)
	found := s.at(places)
	out.Percentiles = stats.Interpolate(ranks, s.count, func(place int64) float64 {
		i, _ := slices.BinarySearch(places, place)
		return found[i]
	})
	return out
}

// at returns the values at the given ascending places of the sorted population.
func (s *sketch) at(places []int64) []float64 {
	out := make([]float64, 0, len(places))
	var seen int64
	take := func(n int64, value float64) {
		seen += n
		for len(out) < len(places) && places[len(out)] < seen {
			out = append(out, min(max(value, s.min), s.max))
		}
	}
	for i, n := range slices.Backward(s.negative.counts) {
		take(n, -s.negative.middle(i))
	}
	take(s.zeros, 0)
	for i, n := range s.positive.counts {
		take(n, s.positive.middle(i))
	}
	return out
}

// std is the population standard deviation: √(n·Σx² − (Σx)²) / n, the difference taken exactly.
func (s *sketch) std() float64 {
	if s.min == s.max {
		return 0
	}
	n, sum := exactly(float64(s.count)), s.sum.exact()
	spread := exactly(0).Mul(n, s.squares.exact())
	spread.Sub(spread, sum.Mul(sum, sum))
	variance, _ := spread.Quo(spread, n.Mul(n, n)).Float64()
	return math.Sqrt(max(variance, 0))
}

// exactly makes a number wide enough for the products of std.
func exactly(v float64) *big.Float {
	const precision = 512
	return new(big.Float).SetPrec(precision).SetFloat64(v)
}

// pair is a sum of floats in twice their precision. Sums of whole numbers below 2^106 are exact, so
// that no order of adding or merging shows in them; of other values the last bit of the sum may.
type pair struct{ high, low float64 }

func (p *pair) add(v float64) {
	sum := p.high + v
	part := sum - p.high
	rest := (p.high - (sum - part)) + (v - part) + p.low
	p.high = sum + rest
	p.low = rest - (p.high - sum)
}

func (p *pair) merge(o pair) {
	p.add(o.high)
	p.add(o.low)
}

func (p pair) value() float64 { return p.high + p.low }

func (p pair) exact() *big.Float {
	x := exactly(p.high)
	return x.Add(x, exactly(p.low))
}

// bins count positive values. They are as fine as the spread of the values allows, which does not
// depend on the order in which the values came.
type bins struct {
	first  int   // number of the first bin
	coarse uint8 // a bin is 2^coarse bins of the finest width
	counts []int64
}

// finestBin numbers the bins at their finest, ascending with v.
func finestBin(v float64) int { return int(math.Float64bits(v) >> (52 - finestMantissaBits)) }

func (b *bins) add(v float64) {
	i := finestBin(v) >> b.coarse
	if at := i - b.first; at < 0 || at >= len(b.counts) {
		b.cover(i, i)
		i = finestBin(v) >> b.coarse
	}
	b.counts[i-b.first]++
}

func (b *bins) merge(o *bins) {
	if len(o.counts) == 0 {
		return
	}
	for b.coarse < o.coarse {
		b.halve()
	}
	shift := b.coarse - o.coarse
	b.cover(o.first>>shift, o.last()>>shift)
	shift = b.coarse - o.coarse
	for i, n := range o.counts {
		b.counts[(o.first+i)>>shift-b.first] += n
	}
}

func (b *bins) last() int { return b.first + len(b.counts) - 1 }

// cover makes room for the bins from first to last, which may make all bins coarser.
func (b *bins) cover(first, last int) {
	if len(b.counts) > 0 {
		first, last = min(first, b.first), max(last, b.last())
	}
	for last-first >= sketchBins {
		b.halve()
		first, last = first>>1, last>>1
	}
	counts := make([]int64, last-first+1)
	if len(b.counts) > 0 {
		copy(counts[b.first-first:], b.counts)
	}
	b.first, b.counts = first, counts
}

// halve makes one bin of every two.
func (b *bins) halve() {
	b.coarse++
	if len(b.counts) == 0 {
		return
	}
	first := b.first >> 1
	counts := make([]int64, b.last()>>1-first+1)
	for i, n := range b.counts {
		counts[(b.first+i)>>1-first] += n
	}
	b.first, b.counts = first, counts
}

// middle is the centre of the i-th bin.
func (b *bins) middle(i int) float64 {
	edge := func(bin int) float64 {
		return math.Float64frombits(uint64(bin) << b.coarse << (52 - finestMantissaBits))
	}
	low, high := edge(b.first+i), edge(b.first+i+1)
	return low + (high-low)/2
}
