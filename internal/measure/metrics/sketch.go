package metrics

import (
	"math"
	"math/big"
	"slices"

	"aiperf/internal/measure/stats"
)

// A bin of a sketch is the range of floats that agree in sign, exponent and their first mantissa bits.
const sketchMantissaBits = 5

// SketchRelativeError is the bound of the relative error of the percentiles of a sketch: half the
// width of a bin.
const SketchRelativeError = 1.0 / (2 << sketchMantissaBits)

// sketch is a distribution in some 200 bytes and 128 more for each doubling that its values span: what
// time slices keep of requests beyond the exact limits, in numbers for which a stats.Histogram is too
// large. Its figures are exact but for the percentiles, which have a relative error of at most
// SketchRelativeError (each of the two neighbours between which one is interpolated). The zero value is
// empty.
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
	for i := len(s.negative.counts) - 1; i >= 0; i-- {
		take(s.negative.count(i), -s.negative.middle(i))
	}
	take(s.zeros, 0)
	for i := range s.positive.counts {
		take(s.positive.count(i), s.positive.middle(i))
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

// Magnitudes outside count as the smallest and the largest number, to bound the number of bins.
var (
	smallestBin = binOf(0x1p-64)
	largestBin  = binOf(0x1p64)
)

// bins count positive values, from the first bin with a value to the last.
type bins struct {
	first  int // number of the first bin
	counts []uint32
	// carries hold, by number of a bin, the rare count that does not fit, in units of 2^32.
	carries map[int]int64
}

// binOf numbers the bins, ascending with v.
func binOf(v float64) int { return int(math.Float64bits(v) >> (52 - sketchMantissaBits)) }

func (b *bins) add(v float64) {
	i := min(max(binOf(v), smallestBin), largestBin)
	if at := i - b.first; at < 0 || at >= len(b.counts) {
		b.cover(i, i)
	}
	b.increase(i, 1)
}

func (b *bins) increase(bin int, n int64) {
	n += int64(b.counts[bin-b.first])
	b.counts[bin-b.first] = uint32(n)
	if carry := n >> 32; carry > 0 {
		if b.carries == nil {
			b.carries = map[int]int64{}
		}
		b.carries[bin] += carry
	}
}

// count is the number of values in the i-th bin.
func (b *bins) count(i int) int64 { return int64(b.counts[i]) + b.carries[b.first+i]<<32 }

func (b *bins) merge(o *bins) {
	if len(o.counts) == 0 {
		return
	}
	b.cover(o.first, o.last())
	for i := range o.counts {
		b.increase(o.first+i, o.count(i))
	}
}

func (b *bins) last() int { return b.first + len(b.counts) - 1 }

// cover makes room for the bins from first to last.
func (b *bins) cover(first, last int) {
	if len(b.counts) > 0 {
		first, last = min(first, b.first), max(last, b.last())
	}
	if len(b.counts) == last-first+1 {
		return
	}
	counts := make([]uint32, last-first+1)
	if len(b.counts) > 0 {
		copy(counts[b.first-first:], b.counts)
	}
	b.first, b.counts = first, counts
}

// middle is the centre of the i-th bin.
func (b *bins) middle(i int) float64 {
	edge := func(bin int) float64 { return math.Float64frombits(uint64(bin) << (52 - sketchMantissaBits)) }
	low, high := edge(b.first+i), edge(b.first+i+1)
	return low + (high-low)/2
}
