package hf

import (
	"strings"
	"testing"
)

var prose = strings.Repeat("Once more unto the breach, dear friends, once more; or close the wall up with our English dead. "+
	"In peace there's nothing so becomes a man as modest stillness and humility: 12 low lowest été\n", 64)

// BenchmarkEncode encodes prose with small vocabularies of every kind: the pieces fall apart into more tokens than
// those of a large vocabulary.
func BenchmarkEncode(b *testing.B) {
	names := []string{"bpe", "bpe-prefix", "bpe-suffix", "bpe-fallback", "bytelevel", "wordpiece", "unigram", "wordlevel"}
	for i, m := range readComponents(b).Models {
		tok, err := New(m.File, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(names[i], func(b *testing.B) {
			var ids []int
			b.SetBytes(int64(len(prose)))
			for b.Loop() {
				ids = tok.Encode(ids[:0], prose)
			}
		})
	}
}
