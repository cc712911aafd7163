package hf

import (
	"errors"
	"math"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// unknownPenalty is how much less than the worst token an unknown character scores.
const unknownPenalty = 10

// unigram takes the way through a piece whose tokens have the highest sum of scores.
type unigram struct {
	tree     *tokenizer.Trie
	scores   []float64
	vocab    *tokenizer.Vocab
	unk      int32
	least    float64
	fallback *[256]int32
}

// pathNode is the best way to a place of the text.
type pathNode struct {
	score float64
	start int32 // where its last token starts; -1 if there is no way yet
	id    int32
}

func newUnigram(s *modelSpec, v *tokenizer.Vocab, scores []float64) (*unigram, error) {
	tree := tokenizer.NewTrie()
	v.Each(tree.Put)
	return unigramOf(s, v, scores, tree)
}

// unigramOf is newUnigram where the trie is there.
func unigramOf(s *modelSpec, v *tokenizer.Vocab, scores []float64, tree *tokenizer.Trie) (*unigram, error) {
	m := &unigram{tree: tree, vocab: v, scores: scores, unk: -1, least: math.Inf(1)}
	for _, score := range scores {
		m.least = min(m.least, score)
	}
	if s.UnkID != nil {
		if *s.UnkID < 0 || *s.UnkID >= len(m.scores) {
			return nil, errors.New("model.unk_id is outside the vocabulary")
		}
		m.unk = int32(*s.UnkID)
	}
	if s.ByteFallback {
		m.fallback = byteTokens(v)
	}
	return m, nil
}

// encode finds the most probable segmentation of a piece (Viterbi, over all pieces of the vocabulary). A character that
// no piece of its length has is unknown, at a penalty below the least score, so that it is taken only where nothing
// else is. Ties go to the first that is offered, as in the library.
func (m *unigram) encode(w *worker, piece string) {
	if cap(w.path) <= len(piece) {
		w.path = make([]pathNode, 2*len(piece)+16)
	}
	path := w.path[:len(piece)+1]
	for i := range path {
		path[i] = pathNode{start: -1}
	}
	for at := 0; at < len(piece); {
		here := path[at].score
		_, size := utf8.DecodeRuneInString(piece[at:])
		single := false
		m.tree.Each(piece[at:], func(n int, id int32) {
			path[at+n].offer(here+m.scores[id], at, id)
			single = single || n == size
		})
		if !single {
			path[at+size].offer(here+(m.least-unknownPenalty), at, m.unk) // in this order: ties depend on it
		}
		at += size
	}
	w.runes = w.runes[:0] // the ends of the tokens, from the last one
	for end := len(piece); end > 0; {
		w.runes = append(w.runes, int32(end))
		node := path[end]
		for node.id == m.unk && node.start > 0 && path[node.start].id == m.unk { // unknown ones in a row are one
			node = path[node.start]
		}
		end = int(node.start)
	}
	start := 0
	for i := len(w.runes) - 1; i >= 0; i-- {
		end := int(w.runes[i])
		m.token(w, piece[start:end], path[end])
		start = end
	}
}

func (n *pathNode) offer(score float64, start int, id int32) {
	if n.start < 0 || score > n.score {
		*n = pathNode{score, int32(start), id}
	}
}

// token adds the id of a token, the byte tokens of an unknown one, or the unknown id.
func (m *unigram) token(w *worker, text string, node pathNode) {
	if node.id != m.unk {
		w.out = append(w.out, int(node.id))
		return
	}
	if id := m.vocab.Find(text); id >= 0 {
		w.out = append(w.out, int(id))
		return
	}
	if m.fallback != nil {
		whole := true
		for i := range len(text) {
			whole = whole && m.fallback[text[i]] >= 0
		}
		if whole {
			for i := range len(text) {
				w.out = append(w.out, int(m.fallback[text[i]]))
			}
			return
		}
	}
	if m.unk >= 0 {
		w.out = append(w.out, int(m.unk))
	}
}
