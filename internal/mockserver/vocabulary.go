package mockserver

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

// minPieces is the least number of distinct reply tokens that a vocabulary must have.
const minPieces = 16

// vocabulary counts prompts and yields the pieces that replies are made of.
type vocabulary struct {
	// mode names the way of counting, for the record.
	mode  string
	count func(string) int
	// pieces are texts of one token each whose concatenations, in any order, are one token per piece.
	pieces []string
	cache  countCache
}

// newVocabulary takes the reply words that are single tokens of tok. Only letters and the leading
// space generate a piece: byte-level vocabularies split text before each such space, so that
// neighbours never merge.
func newVocabulary(tok tokenizer.Tokenizer) (*vocabulary, error) {
	v := &vocabulary{mode: tok.Name(), count: tok.Count}
	for word := range strings.FieldsSeq(replyWords) {
		if piece := " " + word; tok.Count(piece) == 1 && tok.Count(piece+piece) == 2 {
			v.pieces = append(v.pieces, piece)
		}
	}
	if len(v.pieces) < minPieces {
		return nil, fmt.Errorf("tokenizer %s: only %d of the reply words are single tokens, at least %d are needed",
			tok.Name(), len(v.pieces), minPieces)
	}
	return v, nil
}

// cutVocabulary works without a tokenizer: text is cut every four characters.
func cutVocabulary() *vocabulary {
	v := &vocabulary{mode: "characters", count: countCuts}
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(replyWords) {
		// Three letters and a space are one cut, wherever they stand.
		if piece := word[:3] + " "; !seen[piece] {
			seen[piece] = true
			v.pieces = append(v.pieces, piece)
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

// piece draws the next token of a reply.
func (v *vocabulary) piece(r *random.Rand) string { return v.pieces[r.IntN(len(v.pieces))] }

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
