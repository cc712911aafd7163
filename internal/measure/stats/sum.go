package stats

import (
	"math"
	"math/big"
)

const (
	// A limb holds 32 bits of the sum in an int64, so that 2^31 values can be added before carries
	// have to be moved on.
	limbBits     = 32
	limbMask     = 1<<limbBits - 1
	carryEvery   = 1 << 30
	sumLimbs     = (2098 + limbBits - 1) / limbBits
	spareLimbs   = 3
	smallestExp2 = -1074 // weight of the lowest bit of the lowest limb
)

// Sum adds finite float64 values exactly: it is a fixed-point number wide enough for every float64.
// The zero value is an empty sum.
type Sum struct {
	limbs [sumLimbs + spareLimbs]int64
	adds  int64
}

// Add adds v, which must be finite.
func (s *Sum) Add(v float64) {
	if v == 0 {
		return
	}
	bits := math.Float64bits(v)
	exp := int(bits>>52) & 0x7ff
	mantissa := bits & (1<<52 - 1)
	if exp != 0 {
		mantissa |= 1 << 52
		exp--
	}
	limb, shift := exp/limbBits, uint(exp%limbBits)
	low := mantissa << shift
	a, b, c := int64(low&limbMask), int64(low>>limbBits), int64(mantissa>>(64-shift))
	if bits>>63 != 0 {
		a, b, c = -a, -b, -c
	}
	s.limbs[limb] += a
	s.limbs[limb+1] += b
	s.limbs[limb+2] += c
	if s.adds++; s.adds >= carryEvery {
		s.carry()
	}
}

// addWhole adds the whole number high·2^64 + low.
func (s *Sum) addWhole(high, low uint64) {
	for i, part := range [...]uint64{low & limbMask, low >> limbBits, high & limbMask, high >> limbBits} {
		s.Add(math.Ldexp(float64(part), i*limbBits))
	}
}

// Merge adds everything that o holds.
func (s *Sum) Merge(o *Sum) {
	s.carry()
	other := *o
	other.carry()
	for i := range s.limbs {
		s.limbs[i] += other.limbs[i]
	}
	s.adds = 2
}

// carry brings every limb but the last into [0, 2^32).
func (s *Sum) carry() {
	var up int64
	for i := range s.limbs[:len(s.limbs)-1] {
		v := s.limbs[i] + up
		up = v >> limbBits
		s.limbs[i] = v & limbMask
	}
	s.limbs[len(s.limbs)-1] += up
	s.adds = 1
}

// Float64 returns the sum, rounded once.
func (s *Sum) Float64() float64 {
	n, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(s.integer()), smallestExp2).Float64()
	return n
}

// integer returns the sum in units of 2^smallestExp2.
func (s *Sum) integer() *big.Int {
	c := *s
	c.carry()
	total, limb := new(big.Int), new(big.Int)
	for i := len(c.limbs) - 1; i >= 0; i-- {
		total.Lsh(total, limbBits)
		total.Add(total, limb.SetInt64(c.limbs[i]))
	}
	return total
}
