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

// ints returns the tokens of a chunk.
func (c *corpus) ints(chunk int) (ids []int) {
	for _, id := range c.chunk(chunk) {
		ids = append(ids, int(id))
	}
	return ids
}

// all returns the tokens of all chunks.
func (c *corpus) all() (ids []int32) {
	for i := range c.chunks {
		ids = append(ids, c.chunk(i)...)
	}
	return ids
}

func TestCorpus(t *testing.T) {
	c := builtinCorpus()
	if c.length() < 1_000_000 {
		t.Errorf("only %d tokens", c.length())
	}
	if n := len(c.all()); n != c.length() {
		t.Errorf("the chunks hold %d tokens of %d", n, c.length())
	}
	text := tokenizer.Builtin().Decode(c.ints(0))
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
	c, text := builtinCorpus(), ""
	for i := range c.chunks {
		text += tokenizer.Builtin().Decode(c.ints(i)) + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wrapped is the built-in vocabulary as one that the corpus was not encoded for.
type wrapped struct{ tokenizer.Tokenizer }

func TestCorpusInAnotherVocabulary(t *testing.T) {
	tok := wrapped{tokenizer.Builtin()}
	if got, want := corpusFor(tok), builtinCorpus(); !slices.Equal(got.all(), want.all()) ||
		!slices.Equal(got.starts, want.starts) {
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

// A window is the same tokens whether its chunks have been read before or not, also beyond the end.
func TestWindowsOfTheCorpus(t *testing.T) {
	all := openCorpus(packedCorpus).all()
	for seed := range uint64(200) {
		at := generator(seed).IntN(len(all))
		n := 1 + int(seed)*50
		if seed == 199 {
			n = len(all) + 1
		}
		got := openCorpus(packedCorpus).sample(nil, generator(seed), n)
		for i, id := range got {
			if want := all[(at+i)%len(all)]; int32(id) != want {
				t.Fatalf("token %d of %d from %d is %d, want %d", i, n, at, id, want)
			}
		}
		if len(got) != n {
			t.Errorf("%d tokens, want %d", len(got), n)
		}
	}
}

func TestTextLongerThanTheCorpus(t *testing.T) {
	s := &Source{tok: tokenizer.Builtin(), corpus: newCorpus(builtinCorpus().chunk(0)[:50])}
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

func BenchmarkOpenCorpus(b *testing.B) {
	for b.Loop() {
		openCorpus(packedCorpus)
	}
}
