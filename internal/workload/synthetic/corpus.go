// Package synthetic makes texts of an exact number of tokens from a bundled corpus, the plays of
// William Shakespeare.
//
// A text is a window of the corpus at a random place, repaired until the tokenizer counts exactly
// the tokens that were asked for. What is drawn depends on the generator handed in and on nothing
// else. The package knows nothing of conversations, turns or requests.
package synthetic

import (
	_ "embed"
	"encoding/binary"
	"sync"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

// The corpus as token ids of the built-in vocabulary; the pack command wrote it.
//
//go:embed corpus.bin
var packedCorpus string

// corpus is the tokens of the whole text, chunk after chunk.
type corpus struct {
	ids     []int32
	lengths []int // tokens of each chunk
}

var builtinCorpus = sync.OnceValue(func() *corpus { return unpackCorpus(packedCorpus) })

// corpusFor returns the corpus in the tokens of tok.
func corpusFor(tok tokenizer.Tokenizer) *corpus {
	if tok == tokenizer.Builtin() {
		// The vocabulary, which the text needs next, is unpacked on another core meanwhile.
		var vocabulary sync.WaitGroup
		vocabulary.Go(func() { tok.Count("") })
		c := builtinCorpus()
		vocabulary.Wait()
		return c
	}
	return builtinCorpus().encode(tok)
}

func unpackCorpus(packed string) *corpus {
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
	c := &corpus{lengths: make([]int, number())}
	total := 0
	for i := range c.lengths {
		c.lengths[i] = number()
		total += c.lengths[i]
	}
	// One byte holds the places below the limit, two bytes the others.
	limit := 256
	for len(distinct) > limit+(256-limit)*256 {
		limit--
	}
	c.ids = make([]int32, total)
	places := packed[at:]
	k := 0
	for i := range c.ids {
		p := int(places[k])
		k++
		if p >= limit {
			p = limit + (p-limit)<<8 + int(places[k])
			k++
		}
		c.ids[i] = distinct[p]
	}
	return c
}

// encode returns the same text in the tokens of another vocabulary.
func (c *corpus) encode(tok tokenizer.Tokenizer) *corpus {
	starts := make([]int, len(c.lengths))
	for i, start := 0, 0; i < len(starts); i++ {
		starts[i] = start
		start += c.lengths[i]
	}
	return encodeAll(tok, len(starts), func(i int) string {
		var ids []int
		for _, id := range c.ids[starts[i] : starts[i]+c.lengths[i]] {
			ids = append(ids, int(id))
		}
		return tokenizer.Builtin().Decode(ids)
	})
}

// sample appends n consecutive tokens from a random place on, from the beginning again after the end.
func (c *corpus) sample(dst []int, r *random.Rand, n int) []int {
	at := r.IntN(len(c.ids))
	for range n {
		dst = append(dst, int(c.ids[at]))
		if at++; at == len(c.ids) {
			at = 0
		}
	}
	return dst
}
