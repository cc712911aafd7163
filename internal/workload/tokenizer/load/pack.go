package load

import (
	"errors"
	"fmt"
	"os"

	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/hf"
)

// label describes a packed file, in addition to the tokenizer's own tables.
type label struct {
	Kind     string // hf, spm or ranks
	Config   *tokenizerConfig
	Template string // the chat template; empty without one
}

// saver is a tokenizer that can be packed.
type saver interface {
	Save(w *tokenizer.TableWriter) error
}

// Pack writes the tokenizer as one file that Open reads, with its tables as they are used. The same files give the
// same bytes. It shows under its name when it is whole.
func (b *Bundle) Pack(path string) error {
	if b.builtin != nil {
		return fmt.Errorf("%s is built in and needs no file", b.Name)
	}
	t, err := b.tokenizer()
	if err != nil {
		return fmt.Errorf("it would not be read back: %w", err)
	}
	data, err := b.image(t)
	if err != nil {
		return err
	}
	temporary := path + ".new"
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(temporary)
		return err
	}
	return os.Rename(temporary, path)
}

// image returns a tokenizer as one file, with its settings and chat template: other processes map it instead of reading
// JSON.
func (b *Bundle) image(t tokenizer.Tokenizer) ([]byte, error) {
	l := label{Config: b.config()}
	l.Template, _ = b.ChatTemplate()
	switch t.(type) {
	case *hf.Tokenizer:
		l.Kind = "hf"
	case *SentencePiece:
		l.Kind = "spm"
	case *tokenizer.Ranked:
		l.Kind = "ranks"
	}
	w := &tokenizer.TableWriter{}
	if err := w.JSON("label", l); err != nil {
		return nil, err
	}
	s, ok := t.(saver)
	if !ok {
		return nil, fmt.Errorf("a tokenizer of the type %T cannot be packed", t)
	}
	if err := s.Save(w); err != nil {
		return nil, err
	}
	return w.File(), nil
}

// openPacked returns the bundle of a packed file.
func openPacked(name string, data []byte) (*Bundle, error) {
	f, err := tokenizer.OpenTables(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b := &Bundle{Name: name, Where: "the packed file " + name, packed: f}
	if err := f.JSON("label", &b.label); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if b.label.Config == nil {
		b.label.Config = &tokenizerConfig{}
	}
	return b, nil
}

// unpacked returns the tokenizer of a packed file.
func (b *Bundle) unpacked() (tokenizer.Tokenizer, error) {
	switch b.label.Kind {
	case "hf":
		return some(hf.Load(b.packed, b.Name))
	case "spm":
		return some(loadSentencePiece(b.packed, b.Name))
	case "ranks":
		return some(tokenizer.LoadRanks(b.packed, b.Name, RankSplitter))
	}
	return nil, fmt.Errorf("the packed file holds a tokenizer of an unknown kind, %q", b.label.Kind)
}
