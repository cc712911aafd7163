package load

import (
	"errors"

	"aiperf/internal/workload/tokenizer"
)

// packedPieces is what a packed file holds in addition to the tables.
type packedPieces struct {
	Model    *pieceModel
	WordCuts bool
	Added    int
}

// Save adds the tokenizer to a packed file.
func (t *SentencePiece) Save(w *tokenizer.TableWriter) error {
	if err := w.JSON("spm", packedPieces{t.p, t.wordCuts, t.added}); err != nil {
		return err
	}
	w.Bytes("charsmap", t.p.charsmap)
	w.Bytes("kinds", t.kinds)
	tokenizer.WriteNumbers(w, "scores", t.scores)
	if err := t.pieces.Save(w, "pieces"); err != nil {
		return err
	}
	if err := t.reserved.Save(w, "reserved"); err != nil {
		return err
	}
	if t.p.ModelType == unigramModel {
		t.all.Save(w, "tree")
	}
	return nil
}

// loadSentencePiece takes a tokenizer out of a packed file.
func loadSentencePiece(f *tokenizer.TableFile, name string) (*SentencePiece, error) {
	p := packedPieces{Model: &pieceModel{}}
	err := f.JSON("spm", &p)
	if err != nil {
		return nil, err
	}
	if p.Model == nil {
		return nil, errors.New("the section \"spm\" of the packed file is not whole")
	}
	t := &SentencePiece{name: name, p: p.Model, wordCuts: p.WordCuts, added: max(0, p.Added)}
	if t.p.charsmap, err = f.Bytes("charsmap"); err != nil {
		return nil, err
	}
	if t.kinds, err = f.Bytes("kinds"); err != nil {
		return nil, err
	}
	if t.scores, err = tokenizer.Numbers[float32](f, "scores"); err != nil {
		return nil, err
	}
	if t.pieces, err = tokenizer.LoadVocab(f, "pieces"); err != nil {
		return nil, err
	}
	if t.reserved, err = tokenizer.LoadVocab(f, "reserved"); err != nil {
		return nil, err
	}
	if n := len(t.kinds); len(t.scores) != n || t.pieces.Len() > n || t.reserved.Len() > n {
		return nil, errors.New("the pieces of the packed file are wrong: their numbers do not fit")
	}
	if t.p.ModelType == unigramModel {
		if t.all, err = tokenizer.LoadTrie(f, "tree", len(t.kinds)); err != nil {
			return nil, err
		}
	}
	return t, t.prepare()
}
