package hf

import (
	"errors"
	"fmt"

	"aiperf/internal/workload/tokenizer"
)

// Options say what a tokenizer.json does not.
type Options struct {
	// Name is what the user asked for.
	Name string
	// BOS and EOS are the texts of the tokens that begin and end a sequence, from tokenizer_config.json; empty
	// for none.
	BOS, EOS string
	// Guess takes the usual names for BOS and EOS where they are empty: there was no tokenizer_config.json.
	Guess bool
}

// New makes a tokenizer of the text of a tokenizer.json.
func New(data []byte, o Options) (*Tokenizer, error) {
	r := &jsonReader{b: data}
	var f file
	var m *source
	err := r.object(&f, map[string]func() error{"model": func() (err error) {
		m, err = r.model()
		return err
	}})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, fmt.Errorf("it is not a tokenizer.json: %w", err)
	}
	if m == nil {
		return nil, errors.New("it has no model")
	}
	t, err := newTokenizer(&f, &m.spec, m.vocab, o)
	if err != nil {
		return nil, err
	}
	t.model, err = m.ready(t.raw)
	return t, err
}

// newTokenizer makes all but the model.
func newTokenizer(f *file, s *modelSpec, v *tokenizer.Vocab, o Options) (*Tokenizer, error) {
	t := &Tokenizer{name: o.Name, verbatim: newAdded(), inNormal: newAdded(), file: f, spec: s, vocab: v, options: o}
	t.workers.New = t.newWorker
	for name, s := range map[string]*spec{"normalizer": f.Normalizer, "pre_tokenizer": f.PreTokenizer,
		"decoder": f.Decoder} {
		if by := expansion(s); by > maxExpansion {
			return nil, fmt.Errorf("its %s could make a text %.3g times as long; the limit is %d times", name, by,
				maxExpansion)
		}
	}
	var err error
	if t.normalize, err = newNormalizer(f.Normalizer); err != nil {
		return nil, err
	}
	if t.steps, t.raw, err = newSteps(f.PreTokenizer, s.canBeRaw()); err != nil {
		return nil, err
	}
	for _, one := range flatten(nil, f.PreTokenizer) {
		t.leads = t.leads || one.PrependScheme == "first"
	}
	if t.decode, err = newDecoders(f.Decoder); err != nil {
		return nil, err
	}
	if err := t.fillTokens(f.AddedTokens); err != nil {
		return nil, err
	}
	for _, s := range []*spec{f.Normalizer, f.PreTokenizer, f.Decoder} {
		t.slow = expressions(t.slow, s)
	}
	t.bytes = f.Decoder != nil && f.Decoder.Type == "ByteLevel"
	t.cuts = t.raw && cutsAtBlanks(f)
	t.specials = tokenizer.Specials{BOS: -1, EOS: -1, Added: addedCount(f.PostProcessor)}
	t.nameSpecials(o, f.AddedTokens)
	return t, nil
}

// fillTokens sorts the added tokens into those found before and after the normalizer.
func (t *Tokenizer) fillTokens(list []addedToken) error {
	t.size, t.over = t.vocab.Len(), make(map[int]string, len(list))
	for _, a := range list {
		if a.ID < 0 || a.ID >= maxID {
			return fmt.Errorf("added_tokens: the id %d of %q is not below %d", a.ID, a.Content, maxID)
		}
		t.size = max(t.size, a.ID+1)
	}
	if t.size == 0 {
		return errors.New("its vocabulary is empty")
	}
	t.overFrom = t.size
	for _, a := range list {
		if a.Content == "" {
			continue
		}
		// A token that the vocabulary has, too, keeps the vocabulary's id.
		if id := t.vocab.Find(a.Content); id >= 0 {
			a.ID = int(id)
		}
		t.overFrom = min(t.overFrom, a.ID)
		t.over[a.ID] = a.Content
		if !a.Normalized {
			t.verbatim.add(a.Content, a)
			continue
		}
		content := a.Content
		if t.normalize != nil {
			content, _ = t.normalize(content)
		}
		t.over[a.ID] = content // decoding gives what was matched
		t.inNormal.add(content, a)
	}
	return nil
}

// The usual names of the tokens that begin and end a sequence.
var (
	usualBOS = []string{"<s>", "<|begin_of_text|>", "<bos>", "<｜begin▁of▁sentence｜>", "<|startoftext|>"}
	usualEOS = []string{"</s>", "<|end_of_text|>", "<eos>", "<｜end▁of▁sentence｜>", "<|endoftext|>", "<|im_end|>",
		"<EOT>"}
)

// nameSpecials finds the tokens for begin and end: those that the settings name, or with Guess the first of the usual
// names.
func (t *Tokenizer) nameSpecials(o Options, list []addedToken) {
	find := func(name string, usual []string) int {
		names := []string{name}
		if name == "" && o.Guess {
			names = usual
		}
		for _, n := range names {
			for _, a := range list {
				if n != "" && a.Content == n {
					return a.ID
				}
			}
		}
		if name != "" {
			return t.id(name)
		}
		return -1
	}
	t.specials.BOS, t.specials.EOS = find(o.BOS, usualBOS), find(o.EOS, usualEOS)
}

// Members reports which of two names the JSON object in data has among its members. It reads no further than it must:
// an object that is malformed after them has them, too.
func Members(data []byte, one, other string) (hasOne, hasOther bool) {
	r := &jsonReader{b: data}
	if r.take('{') != nil {
		return false, false
	}
	for n := 0; !hasOther; n++ {
		if more, err := r.more(n, '}'); err != nil || !more {
			break
		}
		key, err := r.text()
		if err != nil || r.take(':') != nil {
			break
		}
		hasOne, hasOther = hasOne || key == one, hasOther || key == other
		if _, err := r.value(); err != nil {
			break
		}
	}
	return hasOne, hasOther
}
