package stats

import (
	"math"
	"math/big"
)

// Sketch is a Histogram in less memory, for thousands of populations: some 200 bytes and 128 more for each doubling
// that its values span. Its percentiles have a relative error of at most SketchRelativeError; all other figures are
// exact where the values are whole numbers, as far as a Pair is. The zero value is empty.
type Sketch struct {
	count        int64
	min, max     float64
	sum, squares Pair
	values       spread
}

// Add adds v, which must be finite.
func (s *Sketch) Add(v float64) {
	if s.count == 0 {
		s.min, s.max = v, v
	}
	s.count++
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.sum.Add(v)
	square := v * v
	s.squares.Add(square)
	s.squares.Add(math.FMA(v, v, -square))
	s.values.add(v, sketchBits)
}

// Merge adds the population of o; nil is an empty one.
func (s *Sketch) Merge(o *Sketch) {
	if o == nil || o.count == 0 {
		return
	}
	if s.count == 0 {
		s.min, s.max = o.min, o.max
	}
	s.count += o.count
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	s.sum.Merge(o.sum)
	s.squares.Merge(o.squares)
	s.values.merge(&o.values)
}

// Summary returns the figures of the population, with the percentiles of the given ranks.
func (s *Sketch) Summary(ranks []float64) Summary {
	if s.count == 0 {
		return Summary{}
	}
	return Summary{
		Count: s.count, Min: s.min, Max: s.max,
		Sum: s.sum.Value(), Avg: s.sum.Value() / float64(s.count), Std: s.std(),
		Percentiles: PercentilesAt(ranks, s.count, s.At),
	}
}

// At returns the values at the given ascending places of the sorted population.
func (s *Sketch) At(places []int64) []float64 { return s.values.at(places, sketchBits, s.min, s.max) }

// std returns the population standard deviation: √(n·Σx² − (Σx)²) / n, the difference taken exactly.
func (s *Sketch) std() float64 {
	if s.min == s.max {
		return 0
	}
	n, sum := bigFloat(float64(s.count)), s.sum.exact()
	spread := bigFloat(0).Mul(n, s.squares.exact())
	spread.Sub(spread, sum.Mul(sum, sum))
	variance, _ := spread.Quo(spread, n.Mul(n, n)).Float64()
	return math.Sqrt(max(variance, 0))
}

// bigFloat returns a number wide enough for the products of std.
func bigFloat(v float64) *big.Float {
	const precision = 512
	return new(big.Float).SetPrec(precision).SetFloat64(v)
}

// Pair is a sum of floats in twice their precision: High + Low. Sums of whole numbers below 2^106 are exact, so that no
// order of adding or merging shows in them; of other values the last bit of the sum may.
type Pair struct{ High, Low float64 }

// Add adds v.
func (p *Pair) Add(v float64) {
	sum := p.High + v
	part := sum - p.High
	rest := (p.High - (sum - part)) + (v - part) + p.Low
	p.High = sum + rest
	p.Low = rest - (p.High - sum)
}

// AddTimes adds k times o, exactly but for the precision of p.
func (p *Pair) AddTimes(o Pair, k float64) {
	p.AddProduct(o.High, k)
	p.AddProduct(o.Low, k)
}

// AddProduct adds v times k, exactly but for the precision of p. A part that is 0 is left out: it would change no bit.
func (p *Pair) AddProduct(v, k float64) {
	product := v * k
	if product == 0 {
		return
	}
	p.Add(product)
	if rest := math.FMA(v, k, -product); rest != 0 {
		p.Add(rest)
	}
}

// Merge adds o.
func (p *Pair) Merge(o Pair) {
	p.Add(o.High)
	p.Add(o.Low)
}

// Value returns the sum as one float.
func (p Pair) Value() float64 { return p.High + p.Low }

func (p Pair) exact() *big.Float {
	x := bigFloat(p.High)
	return x.Add(x, bigFloat(p.Low))
}
