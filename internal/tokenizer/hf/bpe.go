package hf

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// modelSpec is the "model" of a tokenizer.json, whatever its type.
type modelSpec struct {
	Type                    string   `json:"type"`
	Vocab, Merges           string   `json:"-"` // as they are spelled: they are long
	UnkToken                *string  `json:"unk_token"`
	UnkID                   *int     `json:"unk_id"`
	FuseUnk                 bool     `json:"fuse_unk"`
	ByteFallback            bool     `json:"byte_fallback"`
	IgnoreMerges            bool     `json:"ignore_merges"`
	Dropout                 *float64 `json:"dropout"`
	ContinuingSubwordPrefix *string  `json:"continuing_subword_prefix"`
	EndOfWordSuffix         *string  `json:"end_of_word_suffix"`
	MaxInputCharsPerWord    *int     `json:"max_input_chars_per_word"`
}

// bpe merges the symbols of a piece pair by pair.
type bpe struct {
	vocab          map[string]int32
	pairs          *pairTable
	prefix, suffix string
	unk            int32 // -1 without
	fuseUnk        bool
	fallback       *[256]int32 // ids of the byte tokens; nil without byte fallback
	ignoreMerges   bool

	// raw: the pieces are bytes, each of which is a symbol.
	raw      bool
	symbols  [256]int32       // of each byte, -1 for none
	whole    map[string]int32 // tokens by their bytes, for ignoreMerges
	cuts     *cutter          // nil where a piece must be merged as one
	ascii    [utf8.RuneSelf]int32
	nonASCII map[rune]int32
}

func newBPE(s *modelSpec, vocab map[string]int32) (*bpe, error) {
	b := &bpe{
		vocab: vocab, prefix: or(s.ContinuingSubwordPrefix, ""), suffix: or(s.EndOfWordSuffix, ""), unk: -1,
		fuseUnk: s.FuseUnk, ignoreMerges: s.IgnoreMerges, nonASCII: map[rune]int32{},
	}
	if or(s.Dropout, 0) != 0 {
		return nil, fmt.Errorf("the model drops merges at random (dropout %v), so that no count is certain", *s.Dropout)
	}
	if s.UnkToken != nil {
		id, ok := vocab[*s.UnkToken]
		if ok {
			b.unk = id
		}
	}
	if s.ByteFallback {
		b.fallback = byteTokens(vocab)
	}
	for i := range b.ascii {
		b.ascii[i] = -1
	}
	for token, id := range vocab {
		if isOneChar(token) {
			if r, _ := utf8.DecodeRuneInString(token); r < utf8.RuneSelf {
				b.ascii[r] = id
			} else {
				b.nonASCII[r] = id
			}
		}
	}
	return b, b.readMerges(s.Merges)
}

func (b *bpe) readMerges(raw string) error {
	n := strings.Count(raw, `"`) / 2 // at least: an entry is one string, or two in a list
	if strings.HasPrefix(strings.TrimLeft(raw[min(1, len(raw)):], " \t\r\n"), "[") {
		n /= 2
	}
	b.pairs = newPairTable(n)
	cuts := newCutter(b)
	rank := uint32(0)
	tokens := byID(b.vocab)
	next := int32(0) // what merges make mostly has one id after another, which spares a search
	err := readMerges(raw, func(left, right string) error {
		l, ok := b.vocab[left]
		if !ok {
			return fmt.Errorf("%q is not in the vocabulary", left)
		}
		r, ok := b.vocab[right]
		if !ok {
			return fmt.Errorf("%q is not in the vocabulary", right)
		}
		joined := left
		if len(right) >= len(b.prefix) {
			joined += right[len(b.prefix):]
		}
		id := next
		if joined == "" || int(id) >= len(tokens) || tokens[id] != joined {
			if id, ok = b.vocab[joined]; !ok {
				return fmt.Errorf("%q is not in the vocabulary", joined)
			}
		}
		next = id + 1
		b.pairs.put(l, r, rank, uint32(id))
		cuts.bridge(left, right, l, r)
		rank++
		return nil
	})
	if cuts.possible {
		b.cuts = cuts
	}
	return err
}

// byID lists tokens by their ids; an id without a token has an empty text.
func byID(vocab map[string]int32) []string {
	size := int32(0)
	for _, id := range vocab {
		size = max(size, id+1)
	}
	tokens := make([]string, size)
	for token, id := range vocab {
		tokens[id] = token
	}
	return tokens
}

// byteTokens are the ids of <0x00> to <0xFF>, -1 for a missing one.
func byteTokens(vocab map[string]int32) *[256]int32 {
	ids := new([256]int32)
	for i := range ids {
		ids[i] = -1
		if id, ok := vocab[fmt.Sprintf("<0x%02X>", i)]; ok {
			ids[i] = id
		}
	}
	return ids
}

// useBytes prepares for pieces of raw bytes.
func (b *bpe) useBytes() {
	b.raw = true
	for i, r := range byteChars {
		b.symbols[i] = b.char(r)
	}
	if b.ignoreMerges {
		b.whole = make(map[string]int32, len(b.vocab))
		for token, id := range b.vocab {
			if bytes, ok := fromByteChars(token); ok {
				b.whole[bytes] = id
			}
		}
	}
}

// char is the id of a code point as a token, or -1.
func (b *bpe) char(r rune) int32 {
	if r < utf8.RuneSelf {
		return b.ascii[r]
	}
	if id, ok := b.nonASCII[r]; ok {
		return id
	}
	return -1
}

func (b *bpe) encode(w *worker, piece string) {
	if b.ignoreMerges {
		words := b.vocab
		if b.raw {
			words = b.whole
		}
		if id, ok := words[piece]; ok {
			w.out = append(w.out, int(id))
			return
		}
	}
	if b.raw || b.cuts == nil {
		b.word(w, piece)
		return
	}
	b.cuts.each(piece, func(part string) { b.word(w, part) })
}

// word encodes what is merged as one.
func (b *bpe) word(w *worker, s string) {
	place, known := w.merge.recall(s)
	if known {
		for _, id := range place.ids[:place.count] {
			w.out = append(w.out, int(id))
		}
		return
	}
	m := &w.merge
	m.ids = m.ids[:0]
	if b.raw {
		b.byteSymbols(m, s)
	} else {
		b.charSymbols(m, s)
	}
	m.merge(b.pairs)
	start := len(w.out)
	for _, id := range m.ids {
		w.out = append(w.out, int(id))
	}
	place.set(s, w.out[start:])
}

// byteSymbols is charSymbols for raw bytes, which need no byte fallback.
func (b *bpe) byteSymbols(m *merger, s string) {
	pending := false
	for i := range len(s) {
		id := b.symbols[s[i]]
		if id < 0 {
			if pending && !b.fuseUnk {
				m.ids = append(m.ids, b.unk)
			}
			pending = b.unk >= 0
			continue
		}
		if pending {
			m.ids = append(m.ids, b.unk)
			pending = false
		}
		m.ids = append(m.ids, id)
	}
	if pending {
		m.ids = append(m.ids, b.unk)
	}
}

// charSymbols makes the symbols of a word, one for each character; one that the vocabulary lacks
// becomes its bytes or the unknown token, several of which in a row are one if they are fused.
func (b *bpe) charSymbols(m *merger, s string) {
	pending := false
	for i, r := range s {
		size := utf8.RuneLen(r)
		id := int32(-1)
		first, last := i == 0, i+size == len(s)
		spelled := ""
		if b.prefix != "" && !first || b.suffix != "" && last {
			spelled = s[i : i+size]
			if !first {
				spelled = b.prefix + spelled
			}
			if last {
				spelled += b.suffix
			}
			if v, ok := b.vocab[spelled]; ok {
				id = v
			}
		} else {
			id = b.char(r)
		}
		if id >= 0 {
			if pending {
				m.ids = append(m.ids, b.unk)
				pending = false
			}
			m.ids = append(m.ids, id)
			continue
		}
		if spelled == "" {
			spelled = s[i : i+size]
		}
		if b.fallback != nil && b.fallBack(m, spelled) {
			continue
		}
		if b.unk >= 0 {
			if pending && !b.fuseUnk {
				m.ids = append(m.ids, b.unk)
			}
			pending = true
		}
	}
	if pending {
		m.ids = append(m.ids, b.unk)
	}
}

// fallBack adds the byte tokens of s if the vocabulary has all of them.
func (b *bpe) fallBack(m *merger, s string) bool {
	for i := range len(s) {
		if b.fallback[s[i]] < 0 {
			return false
		}
	}
	for i := range len(s) {
		m.ids = append(m.ids, b.fallback[s[i]])
	}
	return true
}
