package synthetic

import (
	"strings"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

const (
	maxRounds  = 10 // repairs of one window
	maxWindows = 16 // windows tried until one comes out exact
)

// Source makes texts. It is safe for concurrent use.
type Source struct {
	tok    tokenizer.Tokenizer
	corpus *corpus
}

// NewSource makes texts that are counted by tok. With the built-in vocabulary it costs
// little, with another one the whole corpus is encoded first.
func NewSource(tok tokenizer.Tokenizer) *Source { return &Source{tok: tok, corpus: corpusFor(tok)} }

// CorpusTokens returns the length of the corpus; longer texts repeat it.
func (s *Source) CorpusTokens() int { return s.corpus.length() }

// text returns a text of n tokens. exact is false for a vocabulary in which no window could be cut so
// that it counts n tokens again; the text is then some tokens off.
func (s *Source) text(r *random.Rand, n int) (text string, exact bool) {
	return s.Continue(r, "", n)
}

// Continue returns prefix followed by text, so that both together count n tokens more than prefix alone.
func (s *Source) Continue(r *random.Rand, prefix string, n int) (text string, exact bool) {
	if n <= 0 {
		return prefix, true
	}
	start := s.tok.Encode(nil, prefix)
	for range maxWindows {
		ids := s.corpus.sample(start[:len(start):len(start)], r, n)
		if text, exact = s.repair(r, ids); exact && strings.HasPrefix(text, prefix) {
			return text, true
		}
	}
	return text, false
}

// repair changes the end of ids until their text is encoded in as many tokens. Where a window is
// cut the neighbours merge differently, so that the text of n tokens may count n and a few.
func (s *Source) repair(r *random.Rand, ids []int) (text string, exact bool) {
	n := len(ids)
	var again []int
	for range maxRounds {
		text = s.tok.Decode(ids)
		again = s.tok.Encode(again[:0], text)
		switch {
		case len(again) == n:
			return text, true
		case len(again) > n:
			again = again[:n]
		default:
			again = s.corpus.sample(again, r, n-len(again))
		}
		ids, again = again, ids[:0:0]
	}
	return s.tok.Decode(ids), false
}
