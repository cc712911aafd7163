package media

import (
	"math"
	"sync"

	"aiperf/internal/base/random"
)

// The noise is normal with a standard deviation of 0.3 of full scale, cut at full scale.
const (
	sigma        = 0.3
	quantileBits = 13
	fractionBits = 8
)

// quantiles is the inverse of the distribution at the steps of an equal division, in units of 2^-31.
// Its values have 20 bits after the point: the last bits of a logarithm differ between machines.
var quantiles = sync.OnceValue(func() *[1<<quantileBits + 1]int64 {
	var table [1<<quantileBits + 1]int64
	const top = math.MaxInt32
	for i := range table {
		p := float64(i) / (1 << quantileBits)
		x := min(1, max(-1, sigma*math.Sqrt2*math.Erfinv(2*p-1)))
		table[i] = min(top, max(-top, int64(math.Round(x*(1<<20)))<<11))
	}
	return &table
})

// noise draws samples of the distribution, three from each 64 random bits.
type noise struct {
	r     *random.Rand
	table *[1<<quantileBits + 1]int64
	bits  uint64
	left  int
}

func newNoise(r *random.Rand) *noise { return &noise{r: r, table: quantiles()} }

// next returns a sample in units of 2^-31.
func (n *noise) next() int32 {
	if n.left == 0 {
		n.bits, n.left = n.r.Uint64(), 3
	}
	at := n.bits & (1<<quantileBits - 1)
	between := int64(n.bits >> quantileBits & (1<<fractionBits - 1))
	n.bits >>= quantileBits + fractionBits
	n.left--
	from, to := n.table[at], n.table[at+1]
	return int32(from + (to-from)*between>>fractionBits)
}
