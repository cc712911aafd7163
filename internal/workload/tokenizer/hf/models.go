package hf

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// source is a model as its file has it.
type source struct {
	spec   modelSpec
	vocab  *tokenizer.Vocab
	scores []float64 // of the tokens of a Unigram model; else nil
	merges []byte    // as they are spelled
}

// model takes the model, whatever its type; older files name none.
func (r *jsonReader) model() (*source, error) {
	m := &source{}
	err := r.object(&m.spec, map[string]func() error{
		"vocab": func() (err error) {
			switch r.peek() {
			case '{':
				m.vocab, err = r.tokens()
			case '[':
				m.vocab, m.scores, err = r.pieces()
			default:
				err = r.want("model.vocab as an object or array")
			}
			return err
		},
		"merges": func() (err error) {
			m.merges, err = r.value()
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if m.spec.Type == "" {
		m.spec.Type = m.guessType()
	}
	if !slices.Contains([]string{"BPE", "Unigram", "WordPiece", "WordLevel"}, m.spec.Type) {
		return nil, fmt.Errorf("the model %q is not known", m.spec.Type)
	}
	if m.vocab == nil {
		m.vocab = tokenizer.VocabOf(nil)
	}
	if (m.spec.Type == "Unigram") != (m.scores != nil) {
		return nil, fmt.Errorf("model.vocab does not fit the model %q", m.spec.Type)
	}
	return m, nil
}

func (m *source) guessType() string {
	switch {
	case len(m.merges) > 0:
		return "BPE"
	case m.scores != nil:
		return "Unigram"
	case m.spec.MaxInputCharsPerWord != nil:
		return "WordPiece"
	}
	return "WordLevel"
}

// ready makes the model ready. raw says that the pieces of a BPE model are bytes.
func (m *source) ready(raw bool) (model, error) {
	switch m.spec.Type {
	case "BPE":
		b, err := newBPE(&m.spec, m.vocab, raw)
		if err != nil {
			return nil, err
		}
		return b, b.readMerges(m.merges)
	case "Unigram":
		return newUnigram(&m.spec, m.vocab, m.scores)
	case "WordPiece":
		tree := tokenizer.NewTrie()
		m.vocab.Each(tree.Put)
		return newWordPiece(&m.spec, m.vocab, tree), nil
	}
	return newWordLevel(&m.spec, m.vocab), nil
}

// wordLevel knows whole pieces only.
type wordLevel struct {
	vocab *tokenizer.Vocab
	unk   int32
}

func newWordLevel(s *modelSpec, v *tokenizer.Vocab) *wordLevel {
	return &wordLevel{v, v.Find(or(s.UnkToken, "<unk>"))}
}

func (m *wordLevel) encode(w *worker, piece string) {
	if id := m.vocab.Find(piece); id >= 0 {
		w.out = append(w.out, int(id))
	} else if m.unk >= 0 {
		w.out = append(w.out, int(m.unk))
	}
}

// wordPiece takes the longest token from the left, again and again; behind the first one only tokens
// with the prefix fit. A piece that cannot be covered is unknown as a whole.
type wordPiece struct {
	tree  *tokenizer.Trie
	rest  uint32 // node of the prefix; 0 if no token has it
	bare  bool   // there is no prefix
	unk   int32
	limit int
}

func newWordPiece(s *modelSpec, v *tokenizer.Vocab, tree *tokenizer.Trie) *wordPiece {
	m := &wordPiece{tree: tree, unk: v.Find(or(s.UnkToken, "[UNK]")), limit: or(s.MaxInputCharsPerWord, 100)}
	prefix := or(s.ContinuingSubwordPrefix, "##")
	m.bare = prefix == ""
	m.rest, _ = m.tree.Find(prefix)
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

// cover appends the longest pieces of a word from its beginning on, as WordPiece does: it is greedy, and does not go
// back where the rest has no piece. It reports whether the word was covered; if not, out has pieces that the caller
// removes.
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
