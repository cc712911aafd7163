package synthetic

import (
	"os"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

func generator(seed uint64) *random.Rand {
	r := random.Root(seed).Stream("test").At(0)
	return &r
}

func TestCorpus(t *testing.T) {
	c := builtinCorpus()
	if len(c.ids) < 1_000_000 {
		t.Errorf("only %d tokens", len(c.ids))
	}
	total := 0
	for _, n := range c.lengths {
		total += n
	}
	if total != len(c.ids) {
		t.Errorf("the chunks hold %d tokens of %d", total, len(c.ids))
	}
	var ids []int
	for _, id := range c.ids[:c.lengths[0]] {
		ids = append(ids, int(id))
	}
	text := tokenizer.Builtin().Decode(ids)
	if n := len([]rune(text)); n < 10_000 || n > 11_500 {
		t.Errorf("the first chunk has %d characters", n)
	}
	if strings.ContainsAny(text, "\n*_#\\") || strings.Contains(text, "  ") {
		t.Errorf("the first chunk is not plain text: %q", text[:300])
	}
}

// TestWriteProse gives the corpus to interop/tokenizers/speed.sh.
func TestWriteProse(t *testing.T) {
	path := os.Getenv("AIPERF_PROSE")
	if path == "" {
		t.Skip("AIPERF_PROSE names no file")
	}
	c, text, from := builtinCorpus(), "", 0
	for _, n := range c.lengths {
		var ids []int
		for _, id := range c.ids[from : from+n] {
			ids = append(ids, int(id))
		}
		text += tokenizer.Builtin().Decode(ids) + "\n"
		from += n
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wrapped is the built-in vocabulary as one that the corpus was not encoded for.
type wrapped struct{ tokenizer.Tokenizer }

func TestCorpusInAnotherVocabulary(t *testing.T) {
	tok := wrapped{tokenizer.Builtin()}
	if got, want := corpusFor(tok), builtinCorpus(); !slices.Equal(got.ids, want.ids) ||
		!slices.Equal(got.lengths, want.lengths) {
		t.Error("encoding the text again gives other tokens than the bundled ones")
	}
}

func TestTextsHaveExactlyTheTokensAskedFor(t *testing.T) {
	tok := tokenizer.Builtin()
	s := NewSource(tok)
	r := generator(2)
	for _, n := range []int{1, 2, 3, 5, 8, 13, 32, 100, 550, 4000} {
		for range max(5, 2000/n) {
			text, exact := s.text(r, n)
			if got := tok.Count(text); got != n || !exact {
				t.Fatalf("%d tokens, want %d (exact %v): %q", got, n, exact, text)
			}
		}
	}
}

func TestTextLongerThanTheCorpus(t *testing.T) {
	s := &Source{tok: tokenizer.Builtin(), corpus: &corpus{ids: builtinCorpus().ids[:50]}}
	text, exact := s.text(generator(3), 175)
	if n := tokenizer.Builtin().Count(text); n != 175 || !exact {
		t.Errorf("%d tokens, want 175", n)
	}
}

func TestContinueKeepsThePrefix(t *testing.T) {
	tok := tokenizer.Builtin()
	s := NewSource(tok)
	r := generator(4)
	for range 300 {
		prefix, _ := s.text(r, 20)
		text, exact := s.Continue(r, prefix, 5)
		if !exact || tok.Count(text) != 25 || !strings.HasPrefix(text, prefix) {
			t.Fatalf("%d tokens, %q after %q", tok.Count(text), text, prefix)
		}
	}
	if text, exact := s.text(r, 0); text != "" || !exact {
		t.Errorf("no tokens: %q", text)
	}
}

// even never counts an odd number of tokens, so that no text of five can exist.
type even struct{ tokenizer.Tokenizer }

func (e even) Encode(dst []int, text string) []int {
	before := len(dst)
	if dst = e.Tokenizer.Encode(dst, text); (len(dst)-before)%2 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

func TestTextSaysWhenItIsNotExact(t *testing.T) {
	s := &Source{tok: even{tokenizer.Builtin()}, corpus: builtinCorpus()}
	if text, exact := s.text(generator(5), 5); exact || text == "" {
		t.Errorf("exact %v, text %q", exact, text)
	}
}

func BenchmarkText550(b *testing.B) {
	s := NewSource(tokenizer.Builtin())
	r := generator(1)
	for b.Loop() {
		s.text(r, 550)
	}
}

func BenchmarkUnpackCorpus(b *testing.B) {
	for b.Loop() {
		unpackCorpus(packedCorpus)
	}
}
