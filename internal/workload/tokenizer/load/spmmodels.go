package load

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// unknownPenalty is how much less than the worst piece an unknown character scores.
const unknownPenalty = 10

// pieceNode is the best way to a place of the text.
type pieceNode struct {
	score float32
	start int32 // -1 if there is no way yet
	id    int32
}

func (n *pieceNode) offer(score float32, start int, id int32) {
	if n.start < 0 || score > n.score {
		*n = pieceNode{score, int32(start), id}
	}
}

// unigram takes the pieces whose scores have the highest sum, in single precision as the library: ties
// depend on it.
func (t *SentencePiece) unigram(w *pieceWorker, text string) {
	if cap(w.path) <= len(text) {
		w.path = make([]pieceNode, 2*len(text)+16)
	}
	path := w.path[:len(text)+1]
	for i := range path {
		path[i] = pieceNode{start: -1}
	}
	path[0].start = 0
	unk := t.least - unknownPenalty
	for at := 0; at < len(text); {
		here := path[at].score
		_, size := utf8.DecodeRuneInString(text[at:])
		single := false
		t.all.Each(text[at:], func(n int, id int32) {
			kind := t.kind(id)
			if kind == unused {
				return
			}
			score := t.scores[id]
			if kind == userDefined { // always better than its parts
				score = float32(n-1) * 0.1
			}
			path[at+n].offer(score+here, at, id)
			single = single || n == size
		})
		if !single {
			path[at+size].offer(unk+here, at, int32(t.p.Unk))
		}
		at += size
	}
	w.ends = w.ends[:0]
	for end := len(text); end > 0; end = int(path[end].start) {
		w.ends = append(w.ends, int32(end))
	}
	start := 0
	for i := len(w.ends) - 1; i >= 0; i-- {
		end := int(w.ends[i])
		t.emit(w, text[start:end], path[end].id)
		start = end
	}
}

// symbol is a part of the text in a linked list; a merged one is empty.
type symbol struct {
	start, end int32
	prev, next int32
	frozen     bool // a user-defined piece, which never merges
}

// maxCached bounds the words that a worker remembers, maxCachedWord their length.
const (
	maxCached     = 8192
	maxCachedWord = 48
)

// bpe merges neighbours that form a piece, the one of the highest score first.
func (t *SentencePiece) bpe(w *pieceWorker, text string) {
	if !t.wordCuts || !t.user.Empty() {
		t.merge(w, text)
		return
	}
	if w.cache == nil {
		w.cache = map[string][]int{}
	}
	for text != "" {
		// A word starts with blanks; no piece reaches over its end.
		lead := len(text) - len(strings.TrimLeft(text, blank))
		end := strings.Index(text[lead:], blank)
		word := text
		if end >= 0 {
			word = text[:lead+end]
		}
		text = text[len(word):]
		if ids, ok := w.cache[word]; ok && !w.afterUnk {
			w.out = append(w.out, ids...)
			continue
		}
		start, after := len(w.out), w.afterUnk
		t.merge(w, word)
		if len(word) <= maxCachedWord && !after && !w.afterUnk {
			if len(w.cache) >= maxCached {
				clear(w.cache)
			}
			w.cache[strings.Clone(word)] = append([]int(nil), w.out[start:]...)
		}
	}
}

// merge cuts a text into characters and user-defined symbols, which stay whole, and merges neighbours by the best score
// until none is left, as SentencePiece does. The queue is not cleaned when symbols merge: an entry whose length is no
// longer that of its pair is out of date.
func (t *SentencePiece) merge(w *pieceWorker, text string) {
	w.symbols = w.symbols[:0]
	w.pairs.Reset()
	if w.split == nil {
		w.split = map[string][2]string{}
	}
	clear(w.split)
	for at := 0; at < len(text); {
		n, _ := t.user.Longest(text[at:])
		frozen := n > 0
		if !frozen {
			_, n = utf8.DecodeRuneInString(text[at:])
		}
		i := int32(len(w.symbols))
		w.symbols = append(w.symbols, symbol{int32(at), int32(at + n), i - 1, i + 1, frozen})
		at += n
	}
	if len(w.symbols) == 0 {
		return
	}
	w.symbols[len(w.symbols)-1].next = -1
	for i := 1; i < len(w.symbols); i++ {
		t.offer(w, text, int32(i-1), int32(i))
	}
	for !w.pairs.Empty() {
		c := w.pairs.Pop()
		at := c.At()
		left := &w.symbols[at]
		if left.start == left.end || left.next < 0 {
			continue
		}
		right := &w.symbols[left.next]
		if right.end-left.start != int32(c.Note) { // out of date
			continue
		}
		left.end, left.next = right.end, right.next
		if right.next >= 0 {
			w.symbols[right.next].prev = at
		}
		right.start = right.end
		t.offer(w, text, left.prev, at)
		t.offer(w, text, at, left.next)
	}
	for i := int32(0); i >= 0; i = w.symbols[i].next {
		s := w.symbols[i]
		t.resegment(w, text[s.start:s.end], 0)
	}
}

func (t *SentencePiece) offer(w *pieceWorker, text string, left, right int32) {
	if left < 0 || right < 0 || w.symbols[left].frozen || w.symbols[right].frozen {
		return
	}
	l, r := w.symbols[left], w.symbols[right]
	joined := text[l.start:r.end]
	id := t.pieces.Find(joined)
	if id < 0 {
		return
	}
	if t.kind(id) == unused {
		w.split[joined] = [2]string{text[l.start:l.end], text[r.start:r.end]}
	}
	w.pairs.Push(tokenizer.MergePair{Order: tokenizer.ScoredKey(t.scores[id], left), Note: uint32(r.end - l.start)})
}

// resegment adds a piece; an unused one is taken apart again.
func (t *SentencePiece) resegment(w *pieceWorker, text string, depth int) {
	id := t.id(text)
	if t.kind(id) == unused && depth < 100 {
		if parts, ok := w.split[text]; ok {
			t.resegment(w, parts[0], depth+1)
			t.resegment(w, parts[1], depth+1)
			return
		}
	}
	t.emit(w, text, id)
}
