package loader

import "math/bits"

// Set is a set of numbers that knows how many of them are below another.
type Set struct {
	words  []uint64
	counts []uint32 // before each word
}

// Add adds a number.
func (b *Set) Add(i int) {
	for len(b.words) <= i/64 {
		b.words = append(b.words, 0)
	}
	b.words[i/64] |= 1 << (i % 64)
}

// Has reports whether a number is in the set.
func (b *Set) Has(i int) bool { return i/64 < len(b.words) && b.words[i/64]>>(i%64)&1 == 1 }

// Count prepares [Set.Before], for numbers up to n.
func (b *Set) Count(n int) {
	for len(b.words) <= n/64 {
		b.words = append(b.words, 0)
	}
	b.counts = make([]uint32, len(b.words))
	for i := 1; i < len(b.words); i++ {
		b.counts[i] = b.counts[i-1] + uint32(bits.OnesCount64(b.words[i-1]))
	}
}

// Before returns how many numbers of the set are below i.
func (b *Set) Before(i int) int {
	if b.counts == nil {
		return 0
	}
	return int(b.counts[i/64]) + bits.OnesCount64(b.words[i/64]&(1<<(i%64)-1))
}
