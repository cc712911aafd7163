package hf

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"aiperf/internal/tokenizer/trie"
)

// newModel reads the model, whatever its type; older files name none. It returns the tokens and their
// ids, too.
func newModel(raw string) (model, map[string]int32, error) {
	if raw == "" {
		return nil, nil, errors.New("it has no model")
	}
	var s modelSpec
	if err := (&reader{s: raw}).object(&s, map[string]*string{"vocab": &s.Vocab, "merges": &s.Merges}); err != nil {
		return nil, nil, fmt.Errorf("model: %w", err)
	}
	if s.Type == "" {
		s.Type = guessType(&s)
	}
	if s.Type == "Unigram" {
		return newUnigram(&s)
	}
	vocab, err := readVocab(s.Vocab)
	if err != nil {
		return nil, nil, err
	}
	switch s.Type {
	case "BPE":
		m, err := newBPE(&s, vocab)
		return m, vocab, err
	case "WordPiece":
		return newWordPiece(&s, vocab), vocab, nil
	case "WordLevel":
		m := &wordLevel{vocab: vocab, unk: -1}
		if id, ok := vocab[or(s.UnkToken, "<unk>")]; ok {
			m.unk = id
		}
		return m, vocab, nil
	}
	return nil, nil, fmt.Errorf("the model %q is not known", s.Type)
}

func guessType(s *modelSpec) string {
	switch {
	case len(s.Merges) > 0:
		return "BPE"
	case len(s.Vocab) > 0 && s.Vocab[0] == '[':
		return "Unigram"
	case s.MaxInputCharsPerWord != nil:
		return "WordPiece"
	}
	return "WordLevel"
}

// wordLevel knows whole pieces only.
type wordLevel struct {
	vocab map[string]int32
	unk   int32
}

func (m *wordLevel) encode(w *worker, piece string) {
	if id, ok := m.vocab[piece]; ok {
		w.out = append(w.out, int(id))
	} else if m.unk >= 0 {
		w.out = append(w.out, int(m.unk))
	}
}

// wordPiece takes the longest token from the left, again and again; behind the first one only tokens
// with the prefix fit. A piece that cannot be covered is unknown as a whole.
type wordPiece struct {
	tree  *trie.Trie
	rest  uint32 // node of the prefix; 0 if no token has it
	bare  bool   // there is no prefix
	unk   int32
	limit int
}

func newWordPiece(s *modelSpec, vocab map[string]int32) *wordPiece {
	m := &wordPiece{tree: trie.New(), unk: -1, limit: or(s.MaxInputCharsPerWord, 100)}
	for token, id := range vocab {
		m.tree.Put(token, id)
	}
	prefix := or(s.ContinuingSubwordPrefix, "##")
	m.bare = prefix == ""
	m.rest, _ = m.tree.Find(prefix)
	if id, ok := vocab[or(s.UnkToken, "[UNK]")]; ok {
		m.unk = id
	}
	return m
}

func (m *wordPiece) encode(w *worker, piece string) {
	start := len(w.out)
	if utf8.RuneCountInString(piece) > m.limit || !m.cover(w, piece) {
		w.out = w.out[:start]
		if m.unk >= 0 {
			w.out = append(w.out, int(m.unk))
		}
	}
}

func (m *wordPiece) cover(w *worker, piece string) bool {
	for at := 0; at < len(piece); {
		node := uint32(0)
		if at > 0 && !m.bare {
			if node = m.rest; node == 0 {
				return false
			}
		}
		end, id := at, int32(-1)
		for i := at; i < len(piece); i++ {
			if node = m.tree.Step(node, piece[i]); node == 0 {
				break
			}
			if v := m.tree.Value(node); v >= 0 {
				end, id = i+1, v
			}
		}
		if id < 0 {
			return false
		}
		w.out = append(w.out, int(id))
		at = end
	}
	return true
}
