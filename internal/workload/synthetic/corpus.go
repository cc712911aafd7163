// Package synthetic makes texts of an exact number of tokens from a bundled corpus, the plays of
// William Shakespeare.
//
// A text is a window of the corpus at a random place, repaired until the tokenizer counts exactly
// the tokens that were asked for. What is drawn depends on the generator handed in and on nothing
// else. The package knows nothing of conversations, turns or requests.
//
// It also generates what agents that write programs read and write: source files of several
// languages, logs, tracebacks, diffs, queries, settings and talk about them.
//
// A document is a grammar played out: each template is a text with slots, and what fills them is drawn
// from the generator handed in and from nothing else. No document was written by anybody.
package synthetic

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

// The corpus as token ids of the built-in vocabulary; the pack command wrote it.
//
//go:embed corpus.bin
var packedCorpus string

// corpus is the tokens of a text, chunk after chunk. Those of a packed one are unpacked when they are first needed: a
// run reads a small part of them.
type corpus struct {
	starts []int // the first token of each chunk, and behind them the number of all tokens
	chunks []atomic.Pointer[[]int32]
	unpack func(chunk int) []int32
}

// newCorpus returns that of chunks which are there.
func newCorpus(chunks ...[]int32) *corpus {
	c := &corpus{starts: make([]int, 1, len(chunks)+1), chunks: make([]atomic.Pointer[[]int32], len(chunks))}
	for i := range chunks {
		c.starts = append(c.starts, c.starts[i]+len(chunks[i]))
		c.chunks[i].Store(&chunks[i])
	}
	return c
}

func (c *corpus) length() int { return c.starts[len(c.chunks)] }

// chunk returns the tokens of a chunk.
func (c *corpus) chunk(i int) []int32 {
	if ids := c.chunks[i].Load(); ids != nil {
		return *ids
	}
	ids := c.unpack(i)
	c.chunks[i].Store(&ids)
	return ids
}

var builtinCorpus = sync.OnceValue(func() *corpus { return openCorpus(packedCorpus) })

// corpusFor returns the corpus in the tokens of tok.
func corpusFor(tok tokenizer.Tokenizer) *corpus {
	if tok == tokenizer.Builtin() {
		return builtinCorpus()
	}
	return builtinCorpus().encode(tok)
}

// openCorpus reads the head of what workload/pack wrote, and leaves the chunks packed: a run unpacks those that it
// draws.
func openCorpus(packed string) *corpus {
	at := 0
	number := func() int {
		n, size := binary.Uvarint([]byte(packed[at:min(at+binary.MaxVarintLen64, len(packed))]))
		at += size
		return int(n)
	}
	distinct := make([]int32, number())
	for i := range distinct {
		distinct[i] = int32(number())
	}
	n := number()
	c := &corpus{starts: make([]int, n+1), chunks: make([]atomic.Pointer[[]int32], n)}
	for i := range n {
		c.starts[i+1] = c.starts[i] + number()
	}
	ends := make([]int, n+1) // of the bytes of each chunk, from its second entry on
	for i := range n {
		ends[i+1] = ends[i] + number()
	}
	// One byte holds the places below the limit, two bytes the others.
	limit := 256
	for len(distinct) > limit+(256-limit)*256 {
		limit--
	}
	places := packed[at:]
	c.unpack = func(chunk int) []int32 {
		ids := make([]int32, c.starts[chunk+1]-c.starts[chunk])
		places, k := places[ends[chunk]:ends[chunk+1]], 0
		for i := range ids {
			p := int(places[k])
			k++
			if p >= limit {
				p = limit + (p-limit)<<8 + int(places[k])
				k++
			}
			ids[i] = distinct[p]
		}
		return ids
	}
	return c
}

// encode returns the same text in the tokens of another vocabulary.
func (c *corpus) encode(tok tokenizer.Tokenizer) *corpus {
	return encodeAll(tok, len(c.chunks), func(i int) string {
		var ids []int
		for _, id := range c.chunk(i) {
			ids = append(ids, int(id))
		}
		return tokenizer.Builtin().Decode(ids)
	})
}

// sample appends n consecutive tokens from a random place on, from the beginning again after the end.
func (c *corpus) sample(dst []int, r *random.Rand, n int) []int {
	at := r.IntN(c.length())
	chunk, _ := slices.BinarySearch(c.starts, at+1)
	chunk-- // the one that holds the place
	for from := at - c.starts[chunk]; n > 0; from = 0 {
		ids := c.chunk(chunk)[from:]
		ids = ids[:min(n, len(ids))]
		for _, id := range ids {
			dst = append(dst, int(id))
		}
		n -= len(ids)
		chunk = (chunk + 1) % len(c.chunks)
	}
	return dst
}
