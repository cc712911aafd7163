package prom

import "hash/maphash"

// Duplicates reports whether the body of an endpoint is the same text as the one before. It remembers
// a 64-bit hash, not the text. Start with NewDuplicates.
type Duplicates struct {
	seed   maphash.Seed
	last   uint64
	length int
}

// NewDuplicates returns a detector that has seen nothing.
func NewDuplicates() *Duplicates { return &Duplicates{seed: maphash.MakeSeed(), length: -1} }

// Same reports whether body equals the previous one, and remembers it.
func (d *Duplicates) Same(body []byte) bool {
	hash := maphash.Bytes(d.seed, body)
	same := hash == d.last && len(body) == d.length
	d.last, d.length = hash, len(body)
	return same
}

// Reset forgets the previous body.
func (d *Duplicates) Reset() { d.length = -1 }
