package synthetic

import (
	"strings"
	"sync"

	"aiperf/internal/base/random"
)

// Blocks makes prompts out of blocks of a fixed number of tokens. Equal ids are equal text, so that
// prompts which share their first ids share their beginning, as a server's prefix cache sees it.
//
// The text of a block depends on its id and the stream alone. It begins with the separator of the
// vocabulary, where there is one, so that no token spans two blocks and a prompt counts exactly the
// tokens of its parts. It is safe for concurrent use.
type Blocks struct {
	source    *Source
	stream    random.Stream
	size      int
	separator string

	mu         sync.Mutex
	young, old map[blockKey]string
	youngBytes int
}

// blockKey is a block, or its first tokens.
type blockKey struct {
	id     int64
	tokens int
}

// blockCacheBytes bounds each of the two generations of texts that are kept.
const blockCacheBytes = 32 << 20

// NewBlocks makes blocks of size tokens.
func NewBlocks(source *Source, stream random.Stream, size int) *Blocks {
	b := &Blocks{source: source, stream: stream, size: size}
	if id := source.tok.Specials().Separator(); id >= 0 {
		b.separator = source.tok.Decode([]int{id})
	}
	return b
}

// Prompt returns a text of n tokens: the blocks, the last of them cut where n ends, and behind them text
// drawn from fresh. A prompt without ids is such text alone.
func (b *Blocks) Prompt(n int, ids []int64, fresh *random.Rand) string {
	if len(ids) == 0 {
		text, _ := b.source.text(fresh, n)
		return text
	}
	var text strings.Builder
	for _, id := range ids {
		take := min(n, b.size)
		if take <= 0 {
			break
		}
		text.WriteString(b.text(blockKey{id, take}))
		n -= take
	}
	if n > 0 {
		text.WriteString(b.filled(fresh, n))
	}
	return text.String()
}

// text returns a block or the beginning of one.
func (b *Blocks) text(key blockKey) string {
	if text, ok := b.cached(key); ok {
		return text
	}
	draw := b.stream.At(uint64(key.id))
	var text string
	if key.tokens == b.size {
		text = b.filled(&draw, b.size)
	} else {
		text = b.beginning(&draw, b.text(blockKey{key.id, b.size}), key.tokens)
	}
	b.keep(key, text)
	return text
}

// filled returns the separator and text, n tokens together.
func (b *Blocks) filled(draw *random.Rand, n int) string {
	if b.separator != "" {
		n--
	}
	text, _ := b.source.Continue(draw, b.separator, n)
	return text
}

// beginning returns the first n tokens of a block. Where the cut makes the last of them merge differently
// the end is repaired.
func (b *Blocks) beginning(draw *random.Rand, block string, n int) string {
	ids := b.source.tok.Encode(nil, block)
	if text, exact := b.source.repair(draw, ids[:min(n, len(ids))]); exact {
		return text
	}
	return b.filled(draw, n)
}

func (b *Blocks) cached(key blockKey) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text, ok := b.young[key]; ok {
		return text, true
	}
	text, ok := b.old[key]
	if ok {
		b.add(key, text)
	}
	return text, ok
}

func (b *Blocks) keep(key blockKey, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(key, text)
}

func (b *Blocks) add(key blockKey, text string) {
	if b.young == nil || b.youngBytes+len(text) > blockCacheBytes {
		b.old, b.young, b.youngBytes = b.young, map[blockKey]string{}, 0
	}
	if _, ok := b.young[key]; !ok {
		b.young[key] = text
		b.youngBytes += len(text)
	}
}
