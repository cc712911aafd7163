package run

import (
	"context"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/workload/tokenizer/load"
)

// stock gives a Remote what its shares need.
func (c *content) stock(ctx context.Context) error {
	s, ok := c.options.Remote.(Stocker)
	if !ok {
		return nil
	}
	out := &Content{Data: c.data}
	for name, b := range c.bundles {
		data, err := packed(b)
		if err != nil {
			return err
		}
		out.Tokenizers = append(out.Tokenizers, PackedTokenizer{Name: name, Data: data})
	}
	return s.Stock(ctx, c.cfg, c.id, out)
}

// packed returns a tokenizer as one file.
func packed(b *load.Bundle) ([]byte, error) {
	temporary, err := artifact.NewTemporary("tokenizer")
	if err != nil {
		return nil, err
	}
	defer temporary.Remove()
	path := filepath.Join(temporary.Dir, "tokenizer")
	if err := b.Pack(path); err != nil {
		return nil, err
	}
	return bounded.ReadFile(path)
}
