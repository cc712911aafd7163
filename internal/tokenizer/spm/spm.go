// Package spm is an engine for SentencePiece models (tokenizer.model): it gives the ids of that library
// for BPE, unigram, word and character models.
//
// Text that spells a control piece, such as <s>, is text: only the program that makes a prompt puts
// control ids in.
package spm

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"aiperf/internal/tokenizer"
	"aiperf/internal/tokenizer/agenda"
	"aiperf/internal/tokenizer/charsmap"
	"aiperf/internal/tokenizer/trie"
)

// blank is the character that stands for white space in pieces.
const blank = "▁"

// Tokenizer is a model made ready. It is safe for concurrent use.
type Tokenizer struct {
	name     string
	p        *proto
	chars    *charsmap.Map
	ids      map[string]int32 // of normal, user-defined and unused pieces
	reserved map[string]int32 // of the others
	user     *trie.Trie       //  user-defined pieces
	bytes    [256]int32       // ids of the byte pieces, -1 without
	least    float32          // the worst score of a normal piece
	all      *trie.Trie       //  for unigram models: every piece of ids
	wordCuts bool             // blanks stand only at the start of pieces, so that words can be merged one by one
	added    int
	workers  sync.Pool
}

// New makes a tokenizer of the content of a model file. added is the number of special tokens that the
// model's own pipeline puts around a sequence; a negative one takes the usual: its BOS, or without that its EOS.
func New(name string, data []byte, added int) (*Tokenizer, error) {
	p, err := readProto(data)
	if err != nil {
		return nil, err
	}
	if p.modelType < unigramModel || p.modelType > charModel {
		return nil, fmt.Errorf("the SentencePiece model type %d is not known", p.modelType)
	}
	t := &Tokenizer{name: name, p: p, ids: map[string]int32{}, reserved: map[string]int32{}, user: trie.New(), all: trie.New(), wordCuts: !p.whitespaceSuffix && p.escapeWhitespace}
	if t.chars, err = charsmap.Parse(p.charsmap); err != nil {
		return nil, err
	}
	for i := range t.bytes {
		t.bytes[i] = -1
	}
	if err := t.sortPieces(); err != nil {
		return nil, err
	}
	if t.added = added; added < 0 {
		t.added = 0
		if s := t.Specials(); s.BOS >= 0 || s.EOS >= 0 {
			t.added = 1
		}
	}
	t.workers.New = func() any { return &worker{} }
	return t, nil
}

func (t *Tokenizer) sortPieces() error {
	t.least = math.MaxFloat32
	foundUnknown := false
	for i, piece := range t.p.pieces {
		id := int32(i)
		switch piece.kind {
		case normal, userDefined, unused:
			if piece.text == "" {
				return fmt.Errorf("piece %d is empty", i)
			}
			t.ids[piece.text] = id
			t.all.Put(piece.text, id)
			if at := strings.LastIndex(piece.text, blank); at > 0 && strings.Trim(piece.text[:at], blank) != "" {
				t.wordCuts = false
			}
		default:
			t.reserved[piece.text] = id
		}
		switch piece.kind {
		case normal:
			t.least = min(t.least, piece.score)
		case userDefined:
			t.user.Put(piece.text, id)
		case unknown:
			t.p.unk, foundUnknown = i, true
		case byteKind:
			var b int
			if _, err := fmt.Sscanf(piece.text, "<0x%02X>", &b); err == nil && b >= 0 && b < 256 {
				t.bytes[b] = id
			}
		}
	}
	if !foundUnknown {
		return errors.New("the model has no unknown piece")
	}
	if t.p.byteFallback {
		for _, id := range t.bytes {
			if id < 0 {
				return errors.New("the model falls back to bytes but lacks pieces for some")
			}
		}
	}
	return nil
}

// Name is what the user asked for.
func (t *Tokenizer) Name() string { return t.name }

// VocabSize is one more than the largest id.
func (t *Tokenizer) VocabSize() int { return len(t.p.pieces) }

// Specials lists the special tokens.
func (t *Tokenizer) Specials() tokenizer.Specials {
	s := tokenizer.Specials{BOS: -1, EOS: -1, Added: t.added}
	if t.isControl(t.p.bos) {
		s.BOS = t.p.bos
	}
	if t.isControl(t.p.eos) {
		s.EOS = t.p.eos
	}
	return s
}

func (t *Tokenizer) isControl(id int) bool {
	return id >= 0 && id < len(t.p.pieces) && t.p.pieces[id].kind == control
}

// Encode appends the ids of text to dst.
func (t *Tokenizer) Encode(dst []int, text string) []int {
	w := t.workers.Get().(*worker)
	w.out = dst
	t.run(w, text)
	dst, w.out = w.out, nil
	t.workers.Put(w)
	return dst
}

// Count is the number of tokens of text.
func (t *Tokenizer) Count(text string) int {
	w := t.workers.Get().(*worker)
	w.out = w.spare[:0]
	t.run(w, text)
	n := len(w.out)
	w.spare, w.out = w.out, nil
	t.workers.Put(w)
	return n
}

// worker is the room that encoding needs. It serves one call at a time.
type worker struct {
	out, spare []int
	afterUnk   bool // the last id is an unknown one, which joins a following one
	path       []node
	ends       []int32
	symbols    []symbol
	agenda     agenda.Heap
	split      map[string][2]string
	cache      map[string][]int
}

func (t *Tokenizer) run(w *worker, text string) {
	text = t.normalize(tokenizer.Lossy(text))
	w.afterUnk = false
	switch t.p.modelType {
	case unigramModel:
		t.unigram(w, text)
	case bpeModel:
		t.bpe(w, text)
	case charModel:
		for text != "" {
			n, _ := t.user.Longest(text)
			if n == 0 {
				_, n = utf8.DecodeRuneInString(text)
			}
			t.emit(w, text[:n], t.id(text[:n]))
			text = text[n:]
		}
	case wordModel:
		t.words(text, func(word string) { t.emit(w, word, t.id(word)) })
	}
}

// id is the id of a piece's text, the unknown one if there is none.
func (t *Tokenizer) id(text string) int32 {
	if id, ok := t.reserved[text]; ok {
		return id
	}
	if id, ok := t.ids[text]; ok {
		return id
	}
	return int32(t.p.unk)
}

// emit adds an id; an unknown piece becomes its bytes if the model has them, else unknown ones in a row
// are one.
func (t *Tokenizer) emit(w *worker, text string, id int32) {
	isUnk := int(id) == t.p.unk
	switch {
	case isUnk && t.p.byteFallback:
		for i := range len(text) {
			w.out = append(w.out, int(t.bytes[text[i]]))
		}
	case !isUnk || !w.afterUnk:
		w.out = append(w.out, int(id))
	}
	w.afterUnk = isUnk
}

// words cuts at white space; the blank begins a word, or ends it where it is a suffix.
func (t *Tokenizer) words(text string, word func(string)) {
	start, inBlanks := 0, false
	for i, r := range text {
		isBlank := string(r) == blank
		if t.p.whitespaceSuffix {
			end := i + utf8.RuneLen(r)
			if isBlank && !(t.p.allowWhitespaceOnly && strings.HasPrefix(text[end:], blank)) {
				word(text[start:end])
				start = end
			}
			continue
		}
		if isBlank && i > start && !(inBlanks && t.p.allowWhitespaceOnly) {
			word(text[start:i])
			start = i
		}
		inBlanks = isBlank
	}
	if start < len(text) {
		word(text[start:])
	}
}
