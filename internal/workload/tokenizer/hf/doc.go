// Package hf is an engine for tokenizer.json, the file in which the Hugging Face library keeps a tokenizer, without
// that library: it gives the same ids.
//
// A text passes the added tokens, which are cut out of it; the normalizer; the pre-tokenizers, which cut it into
// pieces; and the model, which turns each piece into ids. The post-processor adds the special tokens of a whole prompt;
// here they are only counted. The decoder turns ids into text again.
//
// Invariants: a component that is not known is an error, never a guess; whatever the file says, the text that it makes
// is bounded by a multiple of the text that goes in.
//
// The package must never know where the file comes from.
package hf

import (
	"sync"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// Tokenizer is a tokenizer.json made ready. It is safe for concurrent use.
type Tokenizer struct {
	name      string
	verbatim  *added // tokens found in the text as it is
	inNormal  *added // tokens found in the normalized text
	normalize normalizer
	steps     []step
	raw       bool // the pieces are bytes for a byte-level model
	leads     bool // a step asks which piece is the first one
	cuts      bool // see CutsAtBlanks
	model     model
	decode    []decoder
	vocab     *tokenizer.Vocab
	over      map[int]string // texts of added tokens, before those of the vocabulary
	overFrom  int            // the lowest id of over
	size      int
	bytes     bool // decoding only turns byte characters into bytes
	specials  tokenizer.Specials
	workers   sync.Pool
	file      *file // what it was made of but for the tables
	spec      *modelSpec
	options   Options
	slow      []*expression
}

// model turns a piece into ids, which it appends to w.out.
type model interface {
	encode(w *worker, piece string)
}

// worker is the room that encoding needs. It serves one call at a time.
type worker struct {
	out   []int
	chain func(text string, lead int)
	merge merger
	path  []pathNode
	runes []int32
}

func (t *Tokenizer) newWorker() any {
	w := &worker{}
	next := func(piece string, _ int) {
		if piece != "" {
			t.model.encode(w, piece)
		}
	}
	for i := len(t.steps) - 1; i >= 0; i-- {
		split, emit := t.steps[i], next
		next = func(text string, lead int) {
			if text != "" {
				split(text, lead, emit)
			}
		}
	}
	w.chain = next
	return w
}

// Name returns what the user asked for.
func (t *Tokenizer) Name() string { return t.name }

// VocabSize returns one more than the largest id.
func (t *Tokenizer) VocabSize() int { return t.size }

// Specials lists the special tokens.
func (t *Tokenizer) Specials() tokenizer.Specials { return t.specials }

// Encode appends the ids of text to dst.
func (t *Tokenizer) Encode(dst []int, text string) []int {
	w := t.workers.Get().(*worker)
	w.out = dst
	t.run(w, text)
	dst, w.out = w.out, nil
	t.workers.Put(w)
	return dst
}

// Count returns the number of tokens of text.
func (t *Tokenizer) Count(text string) int {
	w := t.workers.Get().(*worker)
	w.out = w.merge.spare[:0]
	t.run(w, text)
	n := len(w.out)
	w.merge.spare, w.out = w.out, nil
	t.workers.Put(w)
	return n
}

// run encodes a text: tokens that are found verbatim are cut out first, the rest is normalised, tokens that are found
// in the normal form are cut out, and the parts go through the pre-tokenizers. lead is the number of bytes of a part
// that are the text's first character, which some steps treat apart; normalisation may lengthen it or drop it.
func (t *Tokenizer) run(w *worker, text string) {
	t.verbatim.cut(tokenizer.Lossy(text), func(part string, start, id int) {
		if id >= 0 {
			w.out = append(w.out, id)
			return
		}
		lead := 0
		if t.leads && start == 0 {
			_, lead = utf8.DecodeRuneInString(part)
		}
		if t.normalize != nil {
			before := part
			var dropped bool
			if part, dropped = t.normalize(part); dropped {
				lead = 0
			} else if lead > 0 {
				first, _ := t.normalize(before[:lead])
				lead = len(first)
			}
		}
		t.inNormal.cut(part, func(part string, start, id int) {
			if id >= 0 {
				w.out = append(w.out, id)
				return
			}
			w.chain(part, max(0, lead-start))
		})
	})
}

// Decode returns the text of ids, special tokens included.
func (t *Tokenizer) Decode(ids []int) string {
	if t.bytes {
		out := make([]byte, 0, 4*len(ids))
		for _, id := range ids {
			if text, ok := t.token(id); ok {
				out = appendBytes(out, text)
			} else {
				out = utf8.AppendRune(out, utf8.RuneError)
			}
		}
		return tokenizer.Lossy(string(out))
	}
	list := make([]string, 0, len(ids))
	for _, id := range ids {
		text, ok := t.token(id)
		if !ok {
			text = string(utf8.RuneError)
		}
		list = append(list, text)
	}
	return tokenizer.Lossy(decodeAll(t.decode, list))
}

// token returns the text of an id as the vocabulary spells it.
func (t *Tokenizer) token(id int) (string, bool) {
	if id >= t.overFrom {
		if text, ok := t.over[id]; ok {
			return text, true
		}
	}
	if !t.vocab.Has(id) {
		return "", false
	}
	return t.vocab.Text(int32(id)), true
}

// id returns the lowest id of an added token or of a token of the vocabulary, or -1.
func (t *Tokenizer) id(token string) int {
	best := int(t.vocab.Find(token))
	if text, ok := t.over[best]; ok && text != token {
		best = -1
	}
	for id, text := range t.over {
		if text == token && (best < 0 || id < best) {
			best = id
		}
	}
	return best
}
