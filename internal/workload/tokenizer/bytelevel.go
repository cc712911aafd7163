package tokenizer

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Special is a token that stands outside the merges and is found in the text before it is split. Its
// text has the form <|name|>.
type Special struct {
	Text string
	ID   int
}

// byteLevel encodes by byte-pair merging of the bytes of each piece of the text.
type byteLevel struct {
	ranks    *ranks
	split    SplitFunc
	specials map[string]int
	names    map[int]string // the first text of each special id
	longest  int            // bytes of the longest special text
	size     int            // one more than the largest id
	offset   int            // id of rank 0
	mergers  sync.Pool
	// match cuts in place of split where that is nil.
	match func(text string, match func(start, end int))
	// tree finds special tokens if they have any other form than <|name|>.
	tree *Trie
	// blankSpecials reports that one of them holds a blank.
	blankSpecials bool
}

// newByteLevel returns a tokenizer by ranks. Special tokens of the usual form <|name|> are found by their ends, without
// a tree; any other form needs one.
func newByteLevel(r *ranks, pieces SplitFunc, specials []Special) *byteLevel {
	t := &byteLevel{ranks: r, split: pieces, specials: map[string]int{}, names: map[int]string{}, size: r.Len()}
	for _, s := range specials {
		t.specials[s.Text] = s.ID
		if _, known := t.names[s.ID]; !known {
			t.names[s.ID] = s.Text
		}
		t.longest = max(t.longest, len(s.Text))
		if !strings.HasPrefix(s.Text, "<|") || strings.Index(s.Text, "|>") != len(s.Text)-2 {
			t.tree = NewTrie()
		}
		t.blankSpecials = t.blankSpecials || strings.Contains(s.Text, " ")
		t.size = max(t.size, s.ID+1)
	}
	if t.tree != nil {
		for _, s := range specials {
			t.tree.Put(s.Text, int32(s.ID))
		}
	}
	t.mergers.New = func() any { return &merger{ranks: r} }
	return t
}

func (t *byteLevel) Encode(dst []int, text string) []int {
	t.each(text, func(ranks []uint32) {
		for _, rank := range ranks {
			dst = append(dst, t.offset+int(rank))
		}
	}, func(id int) { dst = append(dst, id) })
	return dst
}

func (t *byteLevel) Count(text string) int {
	n := 0
	t.each(text, func(ranks []uint32) { n += len(ranks) }, func(int) { n++ })
	return n
}

// each calls piece and special for the pieces of text and the special tokens between them. What no piece covers is
// dropped, as in tiktoken.
func (t *byteLevel) each(text string, piece func([]uint32), special func(id int)) {
	text = Lossy(text)
	m := t.mergers.Get().(*merger)
	defer t.mergers.Put(m)
	for len(text) > 0 {
		at, size, id := t.nextSpecial(text)
		if t.match != nil {
			t.match(text[:at], func(start, end int) {
				if end > start {
					piece(m.piece(text[start:end]))
				}
			})
		} else {
			for ordinary, i := text[:at], 0; i < len(ordinary); {
				start, end := t.split(ordinary, i)
				if end > start {
					piece(m.piece(ordinary[start:end]))
				}
				i = end
			}
		}
		if size == 0 {
			return
		}
		special(id)
		text = text[at+size:]
	}
}

// nextSpecial returns where the first special token of text starts, its length and id; without one the
// length of text and 0.
func (t *byteLevel) nextSpecial(text string) (at, size, id int) {
	if t.tree != nil {
		for at := range len(text) {
			if !t.tree.Starts(text[at]) {
				continue
			}
			if n, id := t.tree.Longest(text[at:]); n > 0 {
				return at, n, int(id)
			}
		}
		return len(text), 0, 0
	}
	for from := 0; t.longest > 0; {
		open := strings.Index(text[from:], "<|")
		if open < 0 {
			break
		}
		from += open
		near := text[from:min(len(text), from+t.longest)]
		if end := strings.Index(near, "|>"); end > 0 {
			if id, ok := t.specials[near[:end+2]]; ok {
				return from, end + 2, id
			}
		}
		from += 2
	}
	return len(text), 0, 0
}

func (t *byteLevel) Decode(ids []int) string {
	var b strings.Builder
	b.Grow(4 * len(ids))
	for _, id := range ids {
		if name, ok := t.names[id]; ok {
			b.WriteString(name)
		} else if rank := id - t.offset; rank >= 0 && rank < t.ranks.Len() {
			b.WriteString(t.ranks.token(uint32(rank)))
		} else {
			b.WriteRune(utf8.RuneError)
		}
	}
	return Lossy(b.String())
}
