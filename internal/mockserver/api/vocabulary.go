package api

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

// minTokens is the least number of distinct reply tokens that a vocabulary must have.
const minTokens = 16

// vocabulary counts prompts and yields the tokens that replies are made of.
type vocabulary struct {
	// mode names the way of counting, for the record.
	mode  string
	count func(string) int
	// split returns the texts of the tokens of a text; a character of several tokens is in the last of them.
	split func(string) []string
	// tokens are texts of one token each whose concatenations, in any order, have one token for each text.
	tokens []string
	cache  countCache
}

// newVocabulary returns the reply words that are single tokens of tok. Each text is a space and letters: byte-level
// vocabularies split text before each such space, so that neighbours never merge.
func newVocabulary(tok tokenizer.Tokenizer) (*vocabulary, error) {
	v := &vocabulary{mode: tok.Name(), count: tok.Count, split: func(text string) []string {
		return pieces(tok, text)
	}}
	for word := range strings.FieldsSeq(replyWords) {
		if token := " " + word; tok.Count(token) == 1 && tok.Count(token+token) == 2 {
			v.tokens = append(v.tokens, token)
		}
	}
	if len(v.tokens) < minTokens {
		return nil, fmt.Errorf("tokenizer %s: only %d of the reply words are single tokens, at least %d are needed; "+
			"--no-tokenizer counts characters", tok.Name(), len(v.tokens), minTokens)
	}
	return v, nil
}

// cutVocabulary returns the vocabulary of a server without a tokenizer: text is cut every four characters.
func cutVocabulary() *vocabulary {
	v := &vocabulary{mode: "characters", count: countCuts, split: cuts}
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(replyWords) {
		// Three letters and a space are one cut, wherever they stand.
		if token := word[:3] + " "; !seen[token] {
			seen[token] = true
			v.tokens = append(v.tokens, token)
		}
	}
	return v
}

// countCuts cuts text every four characters, each cut up to two longer where that lets it end just
// after a space.
func countCuts(text string) int {
	n := 0
	for len(text) > 0 {
		text = text[cutLength(text):]
		n++
	}
	return n
}

func cuts(text string) (pieces []string) {
	for len(text) > 0 {
		n := cutLength(text)
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// cutLength returns the length of the next token of a text: about four characters, as a token of English has, and a
// little more where a word ends soon.
func cutLength(text string) int {
	end := 0
	var last byte
	for range 4 {
		if end == len(text) {
			return end
		}
		_, size := utf8.DecodeRuneInString(text[end:])
		last = text[end]
		end += size
	}
	if isSpace(last) {
		return end
	}
	for at, chars := end, 0; at < len(text) && chars < 2; chars++ {
		_, size := utf8.DecodeRuneInString(text[at:])
		if isSpace(text[at]) {
			return at + size
		}
		at += size
	}
	return end
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// token draws the next token of a reply.
func (v *vocabulary) token(r *random.Rand) string { return v.tokens[r.IntN(len(v.tokens))] }

// appendTokens appends n of them.
func (v *vocabulary) appendTokens(b []byte, r random.Rand, n int) []byte {
	for range n {
		b = append(b, v.token(&r)...)
	}
	return b
}

// promptTokens counts text, whose hash is given, and remembers the count.
func (v *vocabulary) promptTokens(text []byte, hash uint64) int {
	if len(text) == 0 {
		return 0
	}
	key := countKey{hash, len(text)}
	if n, ok := v.cache.get(key); ok {
		return n
	}
	n := v.count(string(text))
	v.cache.put(key, n)
	return n
}

type countKey struct {
	hash   uint64
	length int
}

// cacheGeneration bounds the cache: it holds at most two generations of entries.
const cacheGeneration = 1 << 15

// countCache keeps the counts of recent prompts. When the young generation is full it becomes the
// old one; what is still in use moves back to the young.
type countCache struct {
	mu         sync.RWMutex
	young, old map[countKey]int
}

func (c *countCache) get(key countKey) (int, bool) {
	c.mu.RLock()
	n, ok := c.young[key]
	if ok {
		c.mu.RUnlock()
		return n, true
	}
	n, ok = c.old[key]
	c.mu.RUnlock()
	if ok {
		c.put(key, n)
	}
	return n, ok
}

func (c *countCache) put(key countKey, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || len(c.young) >= cacheGeneration {
		c.young, c.old = map[countKey]int{}, c.young
	}
	c.young[key] = n
}
