package load

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// blank is the character that stands for white space in pieces.
const blank = "▁"

// SentencePiece is a model made ready. It is safe for concurrent use.
type SentencePiece struct {
	name     string
	p        *pieceModel
	chars    *tokenizer.Charsmap
	pieces   *tokenizer.Vocab // normal, user-defined and unused pieces
	reserved *tokenizer.Vocab // the others
	scores   []float32
	kinds    []byte
	user     *tokenizer.Trie // user-defined pieces
	bytes    [256]int32      // ids of the byte pieces, -1 without
	least    float32         // the worst score of a normal piece
	all      *tokenizer.Trie // for unigram models: every one of pieces
	wordCuts bool            // blanks stand only at the start of pieces, so that words can be merged one by one
	added    int
	workers  sync.Pool
}

// NewSentencePiece makes a tokenizer of the content of a model file. added is the number of special tokens that the
// model's own pipeline puts around a sequence; a negative one takes the usual: its BOS, or without that its EOS.
func NewSentencePiece(name string, data []byte, added int) (*SentencePiece, error) {
	p, err := readPieceModel(data)
	if err != nil {
		return nil, err
	}
	t := &SentencePiece{name: name, p: p, added: added}
	if err := t.sortPieces(p.pieces); err != nil {
		return nil, err
	}
	p.pieces = nil
	return t, t.prepare()
}

// sortPieces makes the tables.
func (t *SentencePiece) sortPieces(list []piece) error {
	pieces, reserved := tokenizer.NewVocabBuilder(len(list), 8*len(list)), tokenizer.NewVocabBuilder(0, 0)
	t.all = tokenizer.NewTrie()
	t.wordCuts = !t.p.WhitespaceSuffix && t.p.EscapeWhitespace
	for i, piece := range list {
		id := int32(i)
		t.scores, t.kinds = append(t.scores, piece.score), append(t.kinds, byte(piece.kind))
		switch piece.kind {
		case normal, userDefined, unused:
			if piece.text == "" {
				return fmt.Errorf("piece %d is empty", i)
			}
			pieces.Put(piece.text, id)
			if t.p.ModelType == unigramModel {
				t.all.Put(piece.text, id)
			}
			if at := strings.LastIndex(piece.text, blank); at > 0 && strings.Trim(piece.text[:at], blank) != "" {
				t.wordCuts = false
			}
		default:
			reserved.Put(piece.text, id)
		}
	}
	t.pieces, t.reserved = pieces.Vocab(), reserved.Vocab()
	for i, piece := range list {
		if t.text(i) != piece.text {
			return fmt.Errorf("piece %d, %q, appears twice", i, piece.text)
		}
	}
	return nil
}

// prepare makes what follows from the tables.
func (t *SentencePiece) prepare() (err error) {
	if t.p.ModelType < unigramModel || t.p.ModelType > charModel {
		return fmt.Errorf("the SentencePiece model type %d is not known", t.p.ModelType)
	}
	if t.chars, err = tokenizer.ParseCharsmap(t.p.charsmap); err != nil {
		return err
	}
	t.user = tokenizer.NewTrie()
	for i := range t.bytes {
		t.bytes[i] = -1
	}
	t.least = math.MaxFloat32
	foundUnknown := false
	for i, k := range t.kinds {
		switch pieceKind(k) {
		case normal:
			t.least = min(t.least, t.scores[i])
		case userDefined:
			t.user.Put(t.text(i), int32(i))
		case unknown:
			t.p.Unk, foundUnknown = i, true
		case byteKind:
			var b int
			if _, err := fmt.Sscanf(t.text(i), "<0x%02X>", &b); err == nil && b >= 0 && b < 256 {
				t.bytes[b] = int32(i)
			}
		}
	}
	if !foundUnknown {
		return errors.New("the model has no unknown piece")
	}
	if t.p.ByteFallback {
		for _, id := range t.bytes {
			if id < 0 {
				return errors.New("the model falls back to bytes but lacks pieces for some")
			}
		}
	}
	if t.added < 0 {
		t.added = 0
		if s := t.Specials(); s.BOS >= 0 || s.EOS >= 0 {
			t.added = 1
		}
	}
	t.workers.New = func() any { return &pieceWorker{} }
	return nil
}

// kind returns the type of a piece.
func (t *SentencePiece) kind(id int32) pieceKind { return pieceKind(t.kinds[id]) }

// text returns the text of a piece.
func (t *SentencePiece) text(id int) string {
	table := t.reserved
	switch pieceKind(t.kinds[id]) {
	case normal, userDefined, unused:
		table = t.pieces
	}
	if id >= table.Len() {
		return ""
	}
	return table.Text(int32(id))
}

// Name returns what the user asked for.
func (t *SentencePiece) Name() string { return t.name }

// VocabSize returns one more than the largest id.
func (t *SentencePiece) VocabSize() int { return len(t.kinds) }

// Specials lists the special tokens.
func (t *SentencePiece) Specials() tokenizer.Specials {
	s := tokenizer.Specials{BOS: -1, EOS: -1, Added: t.added}
	if t.isControl(t.p.BOS) {
		s.BOS = t.p.BOS
	}
	if t.isControl(t.p.EOS) {
		s.EOS = t.p.EOS
	}
	return s
}

func (t *SentencePiece) isControl(id int) bool {
	return id >= 0 && id < len(t.kinds) && t.kind(int32(id)) == control
}

// Encode appends the ids of text to dst.
func (t *SentencePiece) Encode(dst []int, text string) []int {
	w := t.workers.Get().(*pieceWorker)
	w.out = dst
	t.run(w, text)
	dst, w.out = w.out, nil
	t.workers.Put(w)
	return dst
}

// Count returns the number of tokens of text.
func (t *SentencePiece) Count(text string) int {
	w := t.workers.Get().(*pieceWorker)
	w.out = w.spare[:0]
	t.run(w, text)
	n := len(w.out)
	w.spare, w.out = w.out, nil
	t.workers.Put(w)
	return n
}

// pieceWorker is the room that encoding needs. It serves one call at a time.
type pieceWorker struct {
	out, spare []int
	afterUnk   bool // the last id is an unknown one, which joins a following one
	path       []pieceNode
	ends       []int32
	symbols    []symbol
	pairs      tokenizer.MergeQueue
	split      map[string][2]string
	cache      map[string][]int
}

// run encodes a text by the kind of model. Symbols of the user are never split.
func (t *SentencePiece) run(w *pieceWorker, text string) {
	text = t.normalize(tokenizer.Lossy(text))
	w.afterUnk = false
	switch t.p.ModelType {
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

// id returns the id of a piece's text, the unknown one if there is none.
func (t *SentencePiece) id(text string) int32 {
	if id := t.reserved.Find(text); id >= 0 {
		return id
	}
	if id := t.pieces.Find(text); id >= 0 {
		return id
	}
	return int32(t.p.Unk)
}

// emit adds an id; an unknown piece becomes its bytes if the model has them, else unknown ones in a row
// are one.
func (t *SentencePiece) emit(w *pieceWorker, text string, id int32) {
	isUnk := int(id) == t.p.Unk
	switch {
	case isUnk && t.p.ByteFallback:
		for i := range len(text) {
			w.out = append(w.out, int(t.bytes[text[i]]))
		}
	case !isUnk || !w.afterUnk:
		w.out = append(w.out, int(id))
	}
	w.afterUnk = isUnk
}

// words cuts at white space; the blank begins a word, or ends it where it is a suffix.
func (t *SentencePiece) words(text string, word func(string)) {
	start, inBlanks := 0, false
	for i, r := range text {
		isBlank := string(r) == blank
		if t.p.WhitespaceSuffix {
			end := i + utf8.RuneLen(r)
			if isBlank && !(t.p.AllowWhitespaceOnly && strings.HasPrefix(text[end:], blank)) {
				word(text[start:end])
				start = end
			}
			continue
		}
		if isBlank && i > start && !(inBlanks && t.p.AllowWhitespaceOnly) {
			word(text[start:i])
			start = i
		}
		inBlanks = isBlank
	}
	if start < len(text) {
		word(text[start:])
	}
}
