package run

import (
	"context"
	"fmt"
	"os"
	"time"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/jinja"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// loadTokenizers makes the tokenizers ready that the run counts with: the user's own, or one for each
// model. Each name is looked up once; whatever a run needs of the network, it needs here.
func (c *content) loadTokenizers(ctx context.Context) error {
	t := &c.cfg.Tokenizer
	if t.Name == "" {
		return nil
	}
	asNamed := c.cfg.Env.Service.TokenizerSkipPreload
	if !asNamed {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.cfg.Env.Service.TokenizerPreloadTimeout)
		defer cancel()
	}
	h := hub.FromEnv(os.LookupEnv, hub.Models)
	h.UserAgent = "aiperf/" + c.options.Version
	begin, resolved := time.Now(), 0
	loaded := map[string]endpoint.Counter{}
	c.counters, c.bundles = map[string]endpoint.Counter{}, map[string]*load.Bundle{}
	for i, name := range t.ByModel {
		if counter, ok := loaded[name]; ok {
			c.counters[c.cfg.Models[i]] = counter
			continue
		}
		options := load.Options{Name: name, Revision: t.Revision, Hub: h, AsNamed: asNamed, Info: func(message string) {
			c.log.Info(message)
			resolved++
		}}
		tok, bundle, err := c.options.Tokenizers.load(ctx, options)
		if err != nil && name == c.cfg.Models[i] {
			tok, bundle, err = c.loadRoot(ctx, options, err)
		}
		if err != nil {
			return err
		}
		if _, builtin := tokenizer.Named(name); !builtin {
			c.bundles[name] = bundle
		}
		counter, err := c.chatCounter(tok, bundle)
		if err != nil {
			return err
		}
		loaded[name], c.counters[c.cfg.Models[i]] = counter, counter
		c.tokenizers = append(c.tokenizers, tok)
		if i == 0 {
			c.tokenizer, c.counters[""] = tok, counter
		}
	}
	if resolved > 0 {
		c.log.Info(fmt.Sprintf("%d tokenizer(s) validated • %d resolved • %.1fs", len(loaded), resolved,
			time.Since(begin).Seconds()))
	}
	return nil
}

// loadRoot loads the tokenizer of a model whose own name is not that of one: the server may say where the model comes
// from, as vLLM does of a model with --served-model-name. That is a folder of this machine or a name in its cache, or
// the error stays the one that the model's name gave: what a server says is not a reason to fetch anything.
func (c *content) loadRoot(ctx context.Context, o load.Options, failure error) (tokenizer.Tokenizer, *load.Bundle, error) {
	if c.cfg.Endpoint.GRPC || ctx.Err() != nil {
		return nil, nil, failure
	}
	k, own, err := c.target.control()
	if err != nil {
		return nil, nil, failure
	}
	defer own.Close()
	asking, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	root, model := k.ModelRoot(asking, c.cfg.Endpoint.URLs[0], o.Name), o.Name
	if root == "" {
		return nil, nil, failure
	}
	offline := *o.Hub
	offline.Offline = "the choice of the server"
	o.Name, o.Hub, o.AsNamed = root, &offline, true
	tok, bundle, err := c.options.Tokenizers.load(ctx, o)
	if err != nil {
		return nil, nil, failure
	}
	c.log.Info("There is no tokenizer " + model + ": taking that of " + root + ", which the server names as the root of the model")
	return tok, bundle, nil
}

// tokenizersFailed reports that a tokenizer counts wrongly.
func (c *content) tokenizersFailed() error {
	for _, t := range c.tokenizers {
		if err := tokenizer.Err(t); err != nil {
			return fmt.Errorf("the tokenizer %s: %w", t.Name(), err)
		}
	}
	return nil
}

// chatCounter counts conversations as the chat template spells them, if that is asked for and there is a
// template.
func (c *content) chatCounter(tok tokenizer.Tokenizer, b *load.Bundle) (endpoint.Counter, error) {
	memo := tokenizer.NewMemo(tok)
	if !c.cfg.Tokenizer.ChatTemplate {
		return memo, nil
	}
	text, ok := b.ChatTemplate()
	if !ok {
		c.log.Warn("--apply-chat-template has no effect: the tokenizer has no chat template; input is counted "+
			"without it", "tokenizer", tok.Name())
		return memo, nil
	}
	bos, eos := b.SpecialTokens()
	template, err := jinja.ParseChat(text, bos, eos)
	if err != nil {
		return nil, fmt.Errorf("--apply-chat-template: the chat template of %s cannot be used: %w", tok.Name(), err)
	}
	return &templated{Counter: memo, template: template, warn: func(err error) {
		c.log.Warn("The chat template of "+tok.Name()+" rejects a conversation; such inputs are counted without it",
			"error", err)
	}}, nil
}

// counter counts for the primary model; nil counts nothing.
func (c *content) counter() endpoint.Counter { return c.counters[""] }
