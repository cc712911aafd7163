package hf

import (
	"fmt"
	"strings"
	"testing"
)

var prose = strings.Repeat("Once more unto the breach, dear friends, once more; or close the wall up with our "+
	"English dead. "+
	"In peace there's nothing so becomes a man as modest stillness and humility: 12 low lowest été\n", 64)

// BenchmarkEncode encodes prose with small vocabularies of every kind: the pieces fall apart into more tokens than
// those of a large vocabulary.
func BenchmarkEncode(b *testing.B) {
	names := []string{"bpe", "bpe-prefix", "bpe-suffix", "bpe-fallback", "bytelevel", "wordpiece", "unigram",
		"wordlevel"}
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

// BenchmarkNew reads files like published ones: 50,000 tokens, with as many merges or with scores.
func BenchmarkNew(b *testing.B) {
	tokens := []string{`\u0120`}
	for c := 'a'; c <= 'z'; c++ {
		tokens = append(tokens, string(c))
	}
	var vocabulary, merges, scores strings.Builder
	for from := 0; len(tokens) < 50_000; from = max(from+1, 27) { // a token and one letter more
		for c := 'a'; c <= 'z'; c++ {
			fmt.Fprintf(&merges, `,"%s %c"`, tokens[from], c)
			tokens = append(tokens, tokens[from]+string(c))
		}
	}
	for id, token := range tokens {
		fmt.Fprintf(&vocabulary, `,"%s":%d`, token, id)
		fmt.Fprintf(&scores, `,["%s",-%d.25]`, strings.Replace(token, `\u0120`, "▁", 1), id%17)
	}
	for name, file := range map[string]string{
		"bpe": `{"model":{"type":"BPE","vocab":{` + vocabulary.String()[1:] +
			`},"merges":[` + merges.String()[1:] + `]}}`,
		"unigram": `{"model":{"type":"Unigram","unk_id":0,"vocab":[` + scores.String()[1:] + `]}}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				if _, err := New([]byte(file), Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
