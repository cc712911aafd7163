package compose

import (
	"fmt"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/synthetic"
)

// writer makes the texts of a trace when they are needed: a long trace is far larger as text than as
// lengths and ids.
type writer struct {
	blocks *synthetic.Blocks
	rows   random.Stream
}

// Write implements dataset.Writer.
func (w *writer) Write(p *dataset.Prompt) string {
	fresh := w.rows.At(p.Row)
	return w.blocks.Prompt(p.Tokens, p.Blocks, &fresh)
}

// promptWriter makes the writer if the dataset has prompts to make.
func (b *builder) promptWriter(blockSize int) error {
	if s, ok := b.dataset.Store.(*stored); ok && !s.MakesPrompts() || !ok && !makesPrompts(b.dataset) {
		return nil
	}
	if b.tok == nil {
		return fmt.Errorf("%s: making prompts of the recorded lengths needs a tokenizer, and this endpoint type uses none", b.Path)
	}
	if b.source == nil {
		b.source = b.newSource()
	}
	b.writer = &writer{
		blocks: synthetic.NewBlocks(b.source, b.Seed.Stream("dataset.prompt.blocks"), blockSize),
		rows:   b.Seed.Stream("dataset.prompt.rows"),
	}
	return nil
}

func makesPrompts(d *dataset.Dataset) bool {
	for i := range d.Conversations {
		for j := range d.Conversations[i].Turns {
			if d.Conversations[i].Turns[j].Prompt != nil {
				return true
			}
		}
	}
	return false
}

func (b *builder) letWrite(turns []dataset.Turn) {
	for i := range turns {
		if p := turns[i].Prompt; p != nil {
			p.By = b.writer
		}
	}
}
