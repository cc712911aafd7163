package synthetic

import (
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

func TestTextsOfTheVocabularyHaveExactLengths(t *testing.T) {
	tok := tokenizer.Builtin()
	for _, special := range []bool{false, true} {
		s := NewVocabulary(tok, special)
		if s.CorpusTokens() < 190_000 {
			t.Errorf("%d tokens", s.CorpusTokens())
		}
		stream, inexact, seen := random.Root(42).Stream("x"), 0, map[string]bool{}
		for k := range uint64(60) {
			r := stream.At(k)
			text, exact := s.text(&r, 100)
			if !exact {
				inexact++
			} else if n := tok.Count(text); n != 100 {
				t.Errorf("a text of %d tokens claims to have 100", n)
			}
			if !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
				t.Errorf("no request can carry %q", text)
			}
			seen[text] = true
		}
		if inexact > 0 || len(seen) != 60 {
			t.Errorf("special %v: %d of 60 are inexact, %d differ", special, inexact, len(seen))
		}
	}
}

func TestSpecialTokensOfTheVocabulary(t *testing.T) {
	end := tokenizer.Builtin().Encode(nil, "<|endoftext|>")
	has := func(s *Source) bool {
		for _, id := range s.corpus.all() {
			if int(id) == end[0] {
				return true
			}
		}
		return false
	}
	if len(end) != 1 || has(NewVocabulary(tokenizer.Builtin(), false)) ||
		!has(NewVocabulary(tokenizer.Builtin(), true)) {
		t.Errorf("%v is not where it belongs", end)
	}
}

func TestWindows(t *testing.T) {
	for _, c := range []struct {
		w      Window
		size   float64
		lo, hi int
	}{
		{Window{Ratio: 0.3}, 128, 89, 167},
		{Window{Ratio: 0.3, UpTo: true}, 128, 38, 128},
		{Window{Ratio: 0.1}, 100, 90, 110},
		{Window{}, 50, 50, 50},
		{Window{UpTo: true}, 50, 1, 50},
		{Window{Ratio: 1, UpTo: true}, 50, 50, 50},
		{Window{Ratio: 0.5}, 0, 0, 0},
	} {
		lo, hi := c.w.bounds(c.size)
		if lo != c.lo || hi != c.hi {
			t.Errorf("%+v of %v is %d to %d, want %d to %d", c.w, c.size, lo, hi, c.lo, c.hi)
		}
		r, least, most := random.Root(1).Stream("w").At(0), 1<<30, 0
		for range 4000 {
			n := c.w.Draw(&r, c.size)
			least, most = min(least, n), max(most, n)
		}
		if least != max(1, lo) || most != max(1, hi) {
			t.Errorf("%+v of %v draws %d to %d", c.w, c.size, least, most)
		}
	}
}
