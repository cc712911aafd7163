package hf

import (
	"fmt"

	"aiperf/internal/workload/tokenizer"
)

// packed is what a packed file holds in addition to the tables.
type packed struct {
	File     *file
	Model    *modelSpec
	BOS, EOS string
	Guess    bool
}

// Save adds the tokenizer to a packed file.
func (t *Tokenizer) Save(w *tokenizer.TableWriter) error {
	if err := w.JSON("hf", packed{t.file, t.spec, t.options.BOS, t.options.EOS, t.options.Guess}); err != nil {
		return err
	}
	if err := t.vocab.Save(w, "vocab"); err != nil {
		return err
	}
	switch m := t.model.(type) {
	case *bpe:
		tokenizer.WriteNumbers(w, "merges.slots", m.pairs.slots)
		tokenizer.WriteNumbers(w, "merges.into", m.pairs.into)
		if m.cuts != nil {
			tokenizer.WriteNumbers(w, "cuts", m.cuts.merging.slots)
		}
	case *unigram:
		tokenizer.WriteNumbers(w, "scores", m.scores)
		m.tree.Save(w, "tree")
	case *wordPiece:
		m.tree.Save(w, "tree")
	}
	return nil
}

// Load takes a tokenizer out of a packed file.
func Load(f *tokenizer.TableFile, name string) (*Tokenizer, error) {
	var p packed
	if err := f.JSON("hf", &p); err != nil {
		return nil, err
	}
	if p.File == nil || p.Model == nil {
		return nil, fmt.Errorf("the section \"hf\" of the packed file is not whole")
	}
	v, err := tokenizer.LoadVocab(f, "vocab")
	if err != nil {
		return nil, err
	}
	t, err := newTokenizer(p.File, p.Model, v, Options{name, p.BOS, p.EOS, p.Guess})
	if err != nil {
		return nil, err
	}
	switch p.Model.Type {
	case "BPE":
		t.model, err = loadBPE(f, t)
	case "Unigram":
		t.model, err = loadUnigram(f, t)
	case "WordPiece":
		var tree *tokenizer.Trie
		if tree, err = tokenizer.LoadTrie(f, "tree", v.Len()); err == nil {
			t.model = newWordPiece(p.Model, v, tree)
		}
	case "WordLevel":
		t.model = newWordLevel(p.Model, v)
	default:
		err = fmt.Errorf("the model %q is not known", p.Model.Type)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// loadBPE reads the tables of [bpe.readMerges] from a file that is mapped into memory. The pairs are checked: a damaged
// file must not lead to ids that the vocabulary does not have.
func loadBPE(f *tokenizer.TableFile, t *Tokenizer) (*bpe, error) {
	b, err := newBPE(t.spec, t.vocab, t.raw)
	if err != nil {
		return nil, err
	}
	b.pairs = &pairTable{}
	if b.pairs.slots, err = tokenizer.Numbers[uint64](f, "merges.slots"); err != nil {
		return nil, err
	}
	if b.pairs.into, err = tokenizer.Numbers[uint32](f, "merges.into"); err != nil {
		return nil, err
	}
	if err := b.pairs.check(t.vocab.Len()); err != nil {
		return nil, err
	}
	if f.Has("cuts") && !t.raw {
		slots, err := tokenizer.Numbers[uint64](f, "cuts")
		if err != nil {
			return nil, err
		}
		b.cuts = newCutter(b)
		if b.cuts.merging, err = loadRunePairs(slots); err != nil {
			return nil, err
		}
		b.cuts.merging.each(b.cuts.addASCII)
	}
	return b, nil
}

func loadUnigram(f *tokenizer.TableFile, t *Tokenizer) (*unigram, error) {
	scores, err := tokenizer.Numbers[float64](f, "scores")
	if err != nil {
		return nil, err
	}
	tree, err := tokenizer.LoadTrie(f, "tree", min(len(scores), t.vocab.Len()))
	if err != nil {
		return nil, err
	}
	return unigramOf(t.spec, t.vocab, scores, tree)
}

// check finds whether a table that was read can be used for ids below size.
func (t *pairTable) check(size int) error {
	if len(t.into) > maxMerges {
		return fmt.Errorf("the packed file has more than %d merges", maxMerges)
	}
	if t.measure(max(1, size)); len(t.slots) != 1<<(64-t.shift) {
		return fmt.Errorf("the merges of the packed file are wrong: the number of slots does not fit")
	}
	free, mask := 0, uint64(1)<<t.bits-1
	for _, s := range t.slots {
		if s == 0 {
			free++
		} else if rank := s & mask; rank == 0 || rank > uint64(len(t.into)) {
			return fmt.Errorf("the merges of the packed file are wrong: a slot is outside of them")
		}
	}
	if free == 0 {
		return fmt.Errorf("the merges of the packed file are wrong: no slot is free")
	}
	for _, id := range t.into {
		if int64(id) >= int64(size) {
			return fmt.Errorf("the merges of the packed file are wrong: one makes the token %d, and there are %d", id,
				size)
		}
	}
	return nil
}
