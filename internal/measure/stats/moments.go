package stats

import (
	"math"
	"math/big"
	"math/bits"
)

// Moments are the count, extremes, sum and spread of a population. The zero value is empty. They
// are exact: merging and reordering change no bit of any figure.
type Moments struct {
	count    int64
	min, max float64
	sum      Sum
	squares  Sum
}

// Add adds v, which must be finite and small enough for its square to be so too.
func (m *Moments) Add(v float64) {
	if m.count == 0 || v < m.min {
		m.min = v
	}
	if m.count == 0 || v > m.max {
		m.max = v
	}
	m.count++
	m.sum.Add(v)
	square := v * v
	m.squares.Add(square)
	if rest := math.FMA(v, v, -square); rest != 0 {
		m.squares.Add(rest)
	}
}

// AddWhole adds whole numbers, at a third of the time of Add: their sums are whole numbers, too.
func (m *Moments) AddWhole(values []uint32) {
	if len(values) == 0 {
		return
	}
	lowest, highest := values[0], values[0]
	var sum, high, low, carry uint64
	for _, v := range values {
		n := uint64(v)
		sum += n
		low, carry = bits.Add64(low, n*n, 0)
		high += carry
		lowest, highest = min(lowest, v), max(highest, v)
	}
	if m.count == 0 || float64(lowest) < m.min {
		m.min = float64(lowest)
	}
	if m.count == 0 || float64(highest) > m.max {
		m.max = float64(highest)
	}
	m.count += int64(len(values))
	m.sum.addWhole(0, sum)
	m.squares.addWhole(high, low)
}

// Merge adds the population of o.
func (m *Moments) Merge(o *Moments) {
	if o.count == 0 {
		return
	}
	if m.count == 0 || o.min < m.min {
		m.min = o.min
	}
	if m.count == 0 || o.max > m.max {
		m.max = o.max
	}
	m.count += o.count
	m.sum.Merge(&o.sum)
	m.squares.Merge(&o.squares)
}

// Count returns the number of values.
func (m *Moments) Count() int64 { return m.count }

// Summary returns all figures but the percentiles.
func (m *Moments) Summary() Summary {
	if m.count == 0 {
		return Summary{}
	}
	sum := m.sum.Float64()
	return Summary{
		Count: m.count,
		Sum:   sum,
		Avg:   sum / float64(m.count),
		Min:   m.min,
		Max:   m.max,
		Std:   m.std(),
	}
}

// std returns the population standard deviation: √(n·Σx² − (Σx)²) / n.
func (m *Moments) std() float64 { return m.deviation(m.count) }

// SampleStd returns the standard deviation of the population of which these values are a sample:
// √((n·Σx² − (Σx)²) / (n·(n−1))); NaN below two values.
func (m *Moments) SampleStd() float64 {
	if m.count < 2 {
		return math.NaN()
	}
	return m.deviation(m.count - 1)
}

// deviation returns √((n·Σx² − (Σx)²) / (n·divisor)), the difference taken exactly.
func (m *Moments) deviation(divisor int64) float64 {
	if m.min == m.max {
		return 0
	}
	n := big.NewInt(m.count)
	sum := m.sum.integer()
	// The squares are in units of 2^smallestExp2, the square of the sum in that unit squared.
	spread := new(big.Int).Mul(n, m.squares.integer())
	spread.Lsh(spread, -smallestExp2)
	spread.Sub(spread, sum.Mul(sum, sum))
	variance := new(big.Float).SetInt(spread)
	variance.Quo(variance, new(big.Float).SetInt(n.Mul(n, big.NewInt(divisor))))
	variance.SetMantExp(variance, 2*smallestExp2)
	v, _ := variance.Float64()
	return math.Sqrt(max(v, 0))
}
