package run

import (
	"context"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
)

// Preview is what a run would send.
type Preview struct {
	Dataset *dataset.Dataset
	// First is the body of the first request; empty where none can be shown.
	First []byte
	// Count counts tokens as the run would; nil without a tokenizer.
	Count func(text string) int
	// Warning is what a run would say of conversations that do not fit the endpoint; "" for nothing.
	Warning string
	// Refusal is why the run would end before its first request; nil if it would not.
	Refusal error
}

// Look makes the data of a run without asking a server.
func Look(ctx context.Context, cfg *config.Run, o Options) (*Preview, error) {
	e := newExecution(newBase(cfg, o, clock.New()))
	defer e.target.close()
	if err := e.target.bind(ctx, e.content.encode); err != nil {
		return nil, err
	}
	if err := e.content.loadTokenizers(ctx); err != nil {
		return nil, err
	}
	if err := e.content.buildDataset(ctx); err != nil {
		return nil, err
	}
	p := &Preview{Dataset: e.content.data, Warning: sendAlone(e.content.data, e.content.descriptor)}
	if t := e.content.tokenizer; t != nil {
		p.Count = t.Count
	}
	p.Refusal = e.content.checkStart()
	for i := range p.Dataset.Len() {
		c := p.Dataset.At(i)
		if len(c.Turns) == 0 || c.Turns[0].Silent || c.Broken != nil {
			continue
		}
		body, err := session.Payload(e.target.endpoint, c, 0)
		if err != nil {
			return nil, err
		}
		p.First = body
		break
	}
	return p, nil
}
