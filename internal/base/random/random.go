// Package random provides named random streams derived from one root seed.
//
// The invariant: a stream's draws are addressed by index. The draws for item k are a pure function of (root seed,
// stream name, k), whatever was drawn before, by whom and on how many cores.
//
// It also makes point sets that fill the unit cube more evenly than random draws: Sobol sequences and Latin
// hypercube samples.
//
// The points of a seed are frozen, and are those that SciPy 1.17 (scipy.stats.qmc) makes of the same seed, to the last
// bit, so that designs of experiments can be compared with others. A point is a slice of coordinates in [0, 1).
package random

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Seed is the root seed of a run. The zero value has no root: every stream takes OS entropy.
type Seed struct {
	root uint64
	set  bool
}

// Root returns the seed a user gave.
func Root(n uint64) Seed { return Seed{root: n, set: true} }

// IsSet reports whether a user gave the seed.
func (s Seed) IsSet() bool { return s.set }

// ChildSeed returns the seed of a named stream: the first eight bytes, big-endian, of
// SHA-256("<root>:<name>"). Without a root it is OS entropy, different on every call.
func (s Seed) ChildSeed(name string) uint64 {
	if !s.set {
		var b [8]byte
		rand.Read(b[:]) // never fails: crypto/rand ends the program if the OS has no entropy
		return binary.BigEndian.Uint64(b[:])
	}
	sum := sha256.Sum256([]byte(strconv.FormatUint(s.root, 10) + ":" + name))
	return binary.BigEndian.Uint64(sum[:8])
}

// Stream returns the stream of that name.
func (s Seed) Stream(name string) Stream { return Stream{seed: s.ChildSeed(name)} }

// Stream is a family of generators, one for each index.
type Stream struct{ seed uint64 }

// At returns a fresh generator for item k.
func (s Stream) At(k uint64) Rand {
	// Two rounds of mixing part the neighbouring indices; the generator itself is SplitMix64.
	return Rand{state: mix(mix(s.seed) ^ (k*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019))}
}

// Rand is a small generator (SplitMix64, Steele, Lea and Flood 2014). Its sequence is frozen:
// the same seed gives the same data set in every release.
type Rand struct{ state uint64 }

func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Uint64 returns the next 64 bits.
func (r *Rand) Uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return mix(r.state)
}

// Float64 returns a uniform draw in [0, 1).
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// IntN returns a uniform draw in [0, n); n must be positive (Lemire 2019, without bias).
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic("random: IntN needs n > 0")
	}
	hi, lo := bits.Mul64(r.Uint64(), uint64(n))
	if lo < uint64(n) {
		threshold := -uint64(n) % uint64(n)
		for lo < threshold {
			hi, lo = bits.Mul64(r.Uint64(), uint64(n))
		}
	}
	return int(hi)
}

// Normal returns a standard normal draw (Marsaglia's polar method).
func (r *Rand) Normal() float64 {
	for {
		u, v := 2*r.Float64()-1, 2*r.Float64()-1
		// The conversions keep the compiler from fusing, so that every machine draws the same.
		if s := float64(u*u) + float64(v*v); s > 0 && s < 1 {
			return u * math.Sqrt(-2*math.Log(s)/s)
		}
	}
}

// Exponential returns a draw of mean 1.
func (r *Rand) Exponential() float64 { return -math.Log1p(-r.Float64()) }

// Gamma returns a draw of the gamma distribution with the given shape and scale 1
// (Marsaglia and Tsang 2000; below shape 1 by their boosting step).
func (r *Rand) Gamma(shape float64) float64 {
	if shape < 1 {
		return r.Gamma(shape+1) * math.Pow(1-r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.Normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if u := 1 - r.Float64(); math.Log(u) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// Perm returns a uniform permutation of 0…n-1.
func (r *Rand) Perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}
