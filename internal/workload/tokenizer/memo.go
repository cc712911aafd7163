package tokenizer

import (
	"hash/maphash"
	"sync"
)

// Cuttable is a Tokenizer for which a text can be cut between a letter or digit of ASCII and a blank
// behind it: whatever stands on both sides, the tokens of the parts are those of the whole.
type Cuttable interface {
	Tokenizer
	// CutsAtBlanks reports whether that holds.
	CutsAtBlanks() bool
}

// Memo counts texts that share their beginnings, such as the growing history of a conversation, without
// encoding the same stretch again. A count is always that of the whole text. It is safe for concurrent use.
type Memo struct {
	tok   Tokenizer
	cuts  bool
	mu    sync.Mutex
	known map[memoKey]int32
}

// memoKey identifies a part of a text: two hashes and its length.
type memoKey struct {
	a, b uint64
	size int
}

const (
	memoStretch = 2048    // bytes of a stretch at least
	memoEntries = 1 << 16 // stretches remembered
)

var memoSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// NewMemo counts by tok.
func NewMemo(tok Tokenizer) *Memo {
	c, ok := tok.(Cuttable)
	return &Memo{tok: tok, cuts: ok && c.CutsAtBlanks(), known: map[memoKey]int32{}}
}

// Count returns the number of tokens of text.
func (m *Memo) Count(text string) int {
	if !m.cuts {
		return m.tok.Count(text)
	}
	n := 0
	for {
		at := cutAfter(text, memoStretch)
		if at < 0 {
			return n + m.tok.Count(text)
		}
		n += m.stretch(text[:at])
		text = text[at:]
	}
}

// stretch counts a part that may come again. Where it ends follows from its own text alone, so that equal
// beginnings are cut alike.
func (m *Memo) stretch(text string) int {
	key := memoKey{maphash.String(memoSeeds[0], text), maphash.String(memoSeeds[1], text), len(text)}
	m.mu.Lock()
	n, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return int(n)
	}
	n = int32(m.tok.Count(text))
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= memoEntries {
		clear(m.known)
	}
	m.known[key] = n
	return int(n)
}

// cutAfter returns the first place at or after from where a text may be cut, or -1.
func cutAfter(text string, from int) int {
	for i := max(from, 1); i < len(text); i++ {
		if text[i] == ' ' && isASCIIWord(text[i-1]) {
			return i
		}
	}
	return -1
}

func isASCIIWord(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9'
}

// CutsAtBlanks implements Cuttable: the splitting patterns end a word before a blank, and no special token
// holds one.
func (t *byteLevel) CutsAtBlanks() bool { return true }
func (builtin) CutsAtBlanks() bool      { return true }
func (n *named) CutsAtBlanks() bool     { return true }
