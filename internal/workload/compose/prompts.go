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

// drawnLength draws the length of the prompt of turn i of conversation k, one of so many turns.
func (b *builder) drawnLength(k uint64, i, turns int) int {
	if pairs := b.drawPairs(k, turns); pairs != nil {
		return pairs[i].isl
	}
	r := b.streams.lengths.At(k)
	n := 0
	for range i + 1 {
		n = b.promptLength(&r)
	}
	return n
}

func (b *builder) setWriter(k uint64, turns []dataset.Turn) {
	for i := range turns {
		if p := turns[i].Prompt; p != nil {
			if p.Tokens == 0 { // a recorded arrival alone
				p.Tokens = b.drawnLength(k, i, len(turns))
			}
			p.By = b.writer
		}
	}
}
