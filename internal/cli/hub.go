package cli

import (
	"context"

	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// findTokenizer loads a tokenizer by its name; the revision "" is main.
func (a *app) findTokenizer(ctx context.Context, name, revision string) (tokenizer.Tokenizer, error) {
	h := hub.FromEnv(a.env, hub.Models)
	h.UserAgent = "aiperf/" + Version
	tok, _, err := load.Load(ctx, load.Options{Name: name, Revision: revision, Hub: h})
	return tok, err
}
