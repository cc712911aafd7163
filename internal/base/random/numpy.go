package random

import "math/bits"

// generator draws what NumPy's default generator does for a seed: PCG64 (PCG XSL-RR 128/64, O'Neill 2014), its state
// made by NumPy's SeedSequence. Its sequence is frozen.
type generator struct {
	hi, lo       uint64
	incHi, incLo uint64
	// half is the upper half of a draw of which 32 bits are used, if whole.
	half uint32
	held bool
}

// newGenerator returns the generator of a seed.
func newGenerator(seed uint64) *generator {
	words := seedWords(seed)
	g := &generator{incHi: words[2]<<1 | words[3]>>63, incLo: words[3]<<1 | 1}
	g.step()
	var carry uint64
	g.lo, carry = bits.Add64(g.lo, words[1], 0)
	g.hi, _ = bits.Add64(g.hi, words[0], carry)
	g.step()
	return g
}

// seedWords spreads a seed over four words of state.
func seedWords(seed uint64) (out [4]uint64) {
	const (
		initA, multA = 0x43b0d7e5, 0x931e8875
		initB, multB = 0x8b51f9dd, 0x58f38ded
		mixL, mixR   = 0xca01f9dd, 0x4973f715
	)
	var pool [4]uint32
	factor := uint32(initA)
	hash := func(v uint32) uint32 {
		v ^= factor
		factor *= multA
		v *= factor
		return v ^ v>>16
	}
	for i, word := range [4]uint32{uint32(seed), uint32(seed >> 32), 0, 0} {
		pool[i] = hash(word)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				v := mixL*pool[to] - mixR*hash(pool[from])
				pool[to] = v ^ v>>16
			}
		}
	}
	factor = initB
	for i := range 8 {
		v := pool[i%4] ^ factor
		factor *= multB
		v *= factor
		v ^= v >> 16
		out[i/2] |= uint64(v) << (32 * (i % 2))
	}
	return out
}

func (g *generator) step() {
	const multHi, multLo = 0x2360ed051fc65da4, 0x4385df649fccf645
	hi, lo := bits.Mul64(g.lo, multLo)
	hi += g.hi*multLo + g.lo*multHi
	var carry uint64
	g.lo, carry = bits.Add64(lo, g.incLo, 0)
	g.hi, _ = bits.Add64(hi, g.incHi, carry)
}

func (g *generator) uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.hi^g.lo, -int(g.hi>>58))
}

func (g *generator) uint32() uint32 {
	if g.held {
		g.held = false
		return g.half
	}
	v := g.uint64()
	g.half, g.held = uint32(v>>32), true
	return uint32(v)
}

// float is a draw of [0, 1).
func (g *generator) float() float64 { return float64(g.uint64()>>11) / (1 << 53) }

// below is a draw of [0, n), 0 < n < 2³² (Lemire 2019).
func (g *generator) below(n int) int {
	if n == 1 {
		return 0
	}
	m := uint64(g.uint32()) * uint64(n)
	if uint32(m) < uint32(n) {
		for threshold := -uint32(n) % uint32(n); uint32(m) < threshold; {
			m = uint64(g.uint32()) * uint64(n)
		}
	}
	return int(m >> 32)
}

// upTo is a draw of [0, most], most < 2³², as NumPy's shuffle draws it: the lowest bits of draws until they fit.
func (g *generator) upTo(most int) int {
	mask := uint32(1)<<bits.Len32(uint32(most)) - 1
	for {
		if v := g.uint32() & mask; int(v) <= most {
			return int(v)
		}
	}
}
