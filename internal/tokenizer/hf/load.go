package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"aiperf/internal/tokenizer"
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

// New makes a tokenizer of the text of a tokenizer.json. Whether the text is JSON at all is found out beside: the
// reader only needs it to be nearly so.
func New(data []byte, o Options) (*Tokenizer, error) {
	valid := make(chan bool, 1)
	go func() { valid <- json.Valid(data) }()
	t, err := read(data, o)
	if !<-valid {
		var nothing struct{}
		return nil, fmt.Errorf("it is not a tokenizer.json: %w", json.Unmarshal(data, &nothing))
	}
	return t, err
}

func read(data []byte, o Options) (*Tokenizer, error) {
	var f file
	if err := (&reader{s: string(data)}).object(&f, map[string]*string{"model": &f.Model}); err != nil {
		return nil, fmt.Errorf("it is not a tokenizer.json: %w", err)
	}
	m, vocab, err := newModel(f.Model)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{name: o.Name, model: m, verbatim: newAdded(), inNormal: newAdded()}
	t.workers.New = t.newWorker
	if t.normalize, err = newNormalizer(f.Normalizer); err != nil {
		return nil, err
	}
	b, isBPE := m.(*bpe)
	steps, bytes, err := newSteps(f.PreTokenizer, isBPE && b.prefix == "" && b.suffix == "" && b.fallback == nil)
	if err != nil {
		return nil, err
	}
	for _, one := range flatten(nil, f.PreTokenizer) {
		t.leads = t.leads || one.PrependScheme == "first"
	}
	if t.steps = steps; bytes {
		b.useBytes()
	}
	if t.decode, err = newDecoders(f.Decoder); err != nil {
		return nil, err
	}
	if err := t.fillTokens(vocab, f.AddedTokens); err != nil {
		return nil, err
	}
	if f.Decoder != nil && f.Decoder.Type == "ByteLevel" {
		t.bytes = sync.OnceValue(t.rawTokens)
	}
	t.cuts = bytes && cutsAtBlanks(&f)
	t.specials = tokenizer.Specials{BOS: -1, EOS: -1, Added: addedCount(f.PostProcessor)}
	t.nameSpecials(o, f.AddedTokens)
	return t, nil
}

// fillTokens lists the tokens by id and sorts the added ones into those found before and after the
// normalizer.
func (t *Tokenizer) fillTokens(vocab map[string]int32, list []addedToken) error {
	size := 0
	for _, id := range vocab {
		size = max(size, int(id)+1)
	}
	for _, a := range list {
		if a.ID < 0 || a.ID >= maxID {
			return fmt.Errorf("added_tokens: the id %d of %q is not below %d", a.ID, a.Content, maxID)
		}
		size = max(size, a.ID+1)
	}
	if size == 0 {
		return errors.New("its vocabulary is empty")
	}
	t.tokens, t.known = make([]string, size), make([]bool, size)
	for token, id := range vocab {
		t.tokens[id], t.known[id] = token, true
	}
	for _, a := range list {
		if a.Content == "" {
			continue
		}
		// A token that the vocabulary has, too, keeps the vocabulary's id.
		if id, ok := vocab[a.Content]; ok {
			a.ID = int(id)
		}
		t.tokens[a.ID], t.known[a.ID] = a.Content, true
		if !a.Normalized {
			t.verbatim.add(a.Content, a)
			continue
		}
		content := a.Content
		if t.normalize != nil {
			content, _ = t.normalize(content)
		}
		t.tokens[a.ID] = content // decoding gives what was matched
		t.inNormal.add(content, a)
	}
	return nil
}

func (t *Tokenizer) rawTokens() []string {
	raw := make([]string, len(t.tokens))
	for i, token := range t.tokens {
		raw[i] = bytesOf(token)
	}
	return raw
}

// The usual names of the tokens that begin and end a sequence.
var (
	usualBOS = []string{"<s>", "<|begin_of_text|>", "<bos>", "<｜begin▁of▁sentence｜>", "<|startoftext|>"}
	usualEOS = []string{"</s>", "<|end_of_text|>", "<eos>", "<｜end▁of▁sentence｜>", "<|endoftext|>", "<|im_end|>", "<EOT>"}
)

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
			return t.ID(name)
		}
		return -1
	}
	t.specials.BOS, t.specials.EOS = find(o.BOS, usualBOS), find(o.EOS, usualEOS)
}
