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
	if b.dataset.Contents().Prompts == 0 {
		return nil
	}
	if b.tok == nil {
		return fmt.Errorf("%s: making prompts of the recorded lengths needs a tokenizer, and this endpoint "+
			"type uses none", b.Path)
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

func (b *builder) setWriter(turns []dataset.Turn) {
	for i := range turns {
		if p := turns[i].Prompt; p != nil {
			p.By = b.writer
		}
	}
}
