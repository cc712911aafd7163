package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// BenchmarkSpeed is our side of interop/tokenizers/speed.sh, which makes the tokenizers and the prose.
func BenchmarkSpeed(b *testing.B) {
	root := os.Getenv("AIPERF_TOKENIZER_SPEED")
	if root == "" {
		b.Skip("AIPERF_TOKENIZER_SPEED names no folder")
	}
	prose, err := os.ReadFile(filepath.Join(root, "prose.txt"))
	if err != nil {
		b.Fatal(err)
	}
	var texts []string
	for from := 0; from < 400_000; from += 4000 {
		texts = append(texts, strings.ToValidUTF8(string(prose[from:from+4000]), ""))
	}
	open := func(b *testing.B, path string) (tokenizer.Tokenizer, *load.Bundle) {
		tok, bundle, err := load.Load(b.Context(), load.Options{Name: path})
		if err != nil {
			b.Fatal(err)
		}
		return tok, bundle
	}
	for _, name := range []string{"bytelevel", "wordpiece", "unigram"} {
		path := filepath.Join(root, name)
		b.Run("encode/"+name, func(b *testing.B) {
			tok, _ := open(b, path)
			var ids []int
			b.SetBytes(400_000)
			for b.Loop() {
				for _, text := range texts {
					ids = tok.Encode(ids[:0], text)
				}
			}
		})
		b.Run("load/"+name, func(b *testing.B) {
			for b.Loop() {
				open(b, path)
			}
		})
	}
	for _, name := range []string{"bytelevel", "wordpiece", "unigram"} {
		packed := filepath.Join(b.TempDir(), "packed.tokenizer")
		_, bundle := open(b, filepath.Join(root, name))
		if err := bundle.Pack(packed); err != nil {
			b.Fatal(err)
		}
		b.Run("packed/"+name, func(b *testing.B) {
			for b.Loop() {
				open(b, packed)
			}
		})
	}
}
