package hf

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// modelSpec is the "model" of a tokenizer.json, whatever its type.
type modelSpec struct {
	Type                    string   `json:"type"`
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
	vocab          *tokenizer.Vocab
	pairs          *pairTable
	prefix, suffix string
	unk            int32 // -1 without
	fuseUnk        bool
	fallback       *[256]int32 // ids of the byte tokens; nil without byte fallback
	ignoreMerges   bool

	// raw: the pieces are bytes, each of which is a symbol.
	raw     bool
	symbols [256]int32 // of each byte, -1 for none
	cuts    *cutter    // nil where a piece must be merged as one
	ascii   [utf8.RuneSelf]int32
}

// canBeRaw reports whether the pieces of a model may be bytes.
func (s *modelSpec) canBeRaw() bool {
	return s.Type == "BPE" && or(s.ContinuingSubwordPrefix, "") == "" && or(s.EndOfWordSuffix, "") == "" &&
		!s.ByteFallback
}

// newBPE makes the model but for its merges. raw says that the pieces are bytes.
func newBPE(s *modelSpec, v *tokenizer.Vocab, raw bool) (*bpe, error) {
	b := &bpe{
		vocab: v, prefix: or(s.ContinuingSubwordPrefix, ""), suffix: or(s.EndOfWordSuffix, ""), unk: -1,
		fuseUnk: s.FuseUnk, ignoreMerges: s.IgnoreMerges, raw: raw,
	}
	if or(s.Dropout, 0) != 0 {
		return nil, fmt.Errorf("the model drops merges at random (dropout %v), so that no count is certain", *s.Dropout)
	}
	if s.UnkToken != nil {
		b.unk = v.Find(*s.UnkToken)
	}
	if s.ByteFallback {
		b.fallback = byteTokens(v)
	}
	for i := range b.ascii {
		b.ascii[i] = v.Find(string(rune(i)))
	}
	for i, r := range byteChars {
		b.symbols[i] = b.char(r)
	}
	return b, nil
}

// readMerges reads the merges into a table by pairs of ids; the rank of a merge is its place in the list. Where texts
// are normal, it also collects between which characters no merge reaches, at which long texts can be cut.
func (b *bpe) readMerges(raw []byte) error {
	n := bytes.Count(raw, []byte{'"'}) / 2 // at least half as many: an entry is one string, or two in a list
	pairs, into := make([]uint64, 0, n), make([]uint32, 0, n)
	var cuts *cutter
	if !b.raw {
		cuts = newCutter(b)
	}
	next := int32(0) // what merges make mostly has one id after another, which spares a search
	err := readMerges(raw, func(left, right string) error {
		l, r := b.vocab.Find(left), b.vocab.Find(right)
		if l < 0 {
			return fmt.Errorf("%q is not in the vocabulary", left)
		}
		if r < 0 {
			return fmt.Errorf("%q is not in the vocabulary", right)
		}
		rest := right
		if len(right) >= len(b.prefix) {
			rest = right[len(b.prefix):]
		}
		if len(pairs) == maxMerges {
			return fmt.Errorf("there are more than %d merges", maxMerges)
		}
		id := next
		if !b.isJoined(id, left, rest) {
			if id = b.vocab.Find(left + rest); id < 0 {
				return fmt.Errorf("%q is not in the vocabulary", left+rest)
			}
		}
		next = id + 1
		pairs, into = append(pairs, uint64(l)<<32|uint64(r)), append(into, uint32(id))
		if cuts != nil {
			cuts.addMerge(left, right, l, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.pairs = newPairTable(pairs, into, b.vocab.Len())
	if cuts != nil && cuts.possible {
		b.cuts = cuts
	}
	return nil
}

// isJoined reports whether a token is left and rest.
func (b *bpe) isJoined(id int32, left, rest string) bool {
	if int(id) >= b.vocab.Len() {
		return false
	}
	t := b.vocab.Text(id)
	return t != "" && len(t) == len(left)+len(rest) && t[:len(left)] == left && t[len(left):] == rest
}

// byteTokens returns the ids of <0x00> to <0xFF>, -1 for a missing one.
func byteTokens(v *tokenizer.Vocab) *[256]int32 {
	ids := new([256]int32)
	for i := range ids {
		ids[i] = v.Find(fmt.Sprintf("<0x%02X>", i))
	}
	return ids
}

// char returns the id of a code point as a token, or -1.
func (b *bpe) char(r rune) int32 {
	if r < utf8.RuneSelf {
		return b.ascii[r]
	}
	var spelled [utf8.UTFMax]byte
	return b.vocab.FindBytes(spelled[:utf8.EncodeRune(spelled[:], r)])
}

func (b *bpe) encode(w *worker, piece string) {
	if b.ignoreMerges && !b.raw {
		if id := b.vocab.Find(piece); id >= 0 {
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

// whole returns the id of a piece of bytes that is a token, or -1.
func (b *bpe) whole(m *merger, piece string) int32 {
	m.spelled = m.spelled[:0]
	for i := range len(piece) {
		m.spelled = utf8.AppendRune(m.spelled, byteChars[piece[i]])
	}
	return b.vocab.FindBytes(m.spelled)
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
	start := len(w.out)
	if b.ignoreMerges && b.raw {
		if id := b.whole(&w.merge, s); id >= 0 {
			w.out = append(w.out, int(id))
			place.set(s, w.out[start:])
			return
		}
	}
	m := &w.merge
	m.ids = m.ids[:0]
	if b.raw {
		b.byteSymbols(m, s)
	} else {
		b.charSymbols(m, s)
	}
	m.merge(b.pairs)
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
			id = b.vocab.Find(spelled)
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
