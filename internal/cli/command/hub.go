package command

import (
	"context"

	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// FindTokenizer loads a tokenizer by its name; the revision "" is main.
func (e *Env) FindTokenizer(ctx context.Context, name, revision string) (tokenizer.Tokenizer, error) {
	h := hub.FromEnv(e.LookupEnv, hub.Models)
	h.UserAgent = "aiperf/" + Version
	tok, _, err := load.Load(ctx, load.Options{Name: name, Revision: revision, Hub: h})
	return tok, err
}
