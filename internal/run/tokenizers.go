package run

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/jinja"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// Tokenizers keeps what runs have loaded, so that those of a series look it up once. nil keeps nothing.
type Tokenizers struct {
	mu   sync.Mutex
	kept map[[2]string]loadedTokenizer // by name and revision
}

type loadedTokenizer struct {
	tokenizer tokenizer.Tokenizer
	bundle    *load.Bundle
}

// load loads a tokenizer, once for all runs of a series. A failure is not kept: the next run may find the hub again.
// Loads wait for each other, so that the same one is not made twice.
func (t *Tokenizers) load(ctx context.Context, o load.Options) (tokenizer.Tokenizer, *load.Bundle, error) {
	if t == nil {
		return load.Load(ctx, o)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := [2]string{o.Name, o.Revision}
	if k, ok := t.kept[key]; ok {
		return k.tokenizer, k.bundle, nil
	}
	tok, bundle, err := load.Load(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	if t.kept == nil {
		t.kept = map[[2]string]loadedTokenizer{}
	}
	t.kept[key] = loadedTokenizer{tok, bundle}
	return tok, bundle, nil
}

// templated counts conversations with their chat template, other texts as they are.
type templated struct {
	endpoint.Counter
	template *jinja.ChatTemplate
	warn     func(error)
	once     sync.Once   // a refusal is told once
	off      atomic.Bool // the template does not end; it is not tried again
}

// CountMessages implements endpoint.MessageCounter.
func (t *templated) CountMessages(messages []byte) (int, bool) {
	if t.off.Load() {
		return 0, false
	}
	text, err := t.template.Render(messages)
	if err != nil {
		if errors.Is(err, jinja.ErrEndless) {
			t.off.Store(true)
		}
		t.once.Do(func() { t.warn(err) })
		return 0, false
	}
	return t.Count(text), true
}
