package row

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// blocks cuts token ids and gives each block the name of itself and of all before it.
type blocks struct {
	size int
	salt []byte

	mu   sync.Mutex
	seen map[int64]struct{}
	ring []int64
	next int
}

func newBlocks(size int, salt []byte) *blocks {
	return &blocks{size: size, salt: salt, seen: map[int64]struct{}{}}
}

// hash appends the ids of the whole blocks of a prompt. An id has 52 bits, so that readers of JSON keep it. What is
// left of the prompt has no id: a later prompt that goes on with it would have another one.
func (b *blocks) hash(dst []int64, tokens []int) (ids []int64) {
	var before Digest
	var text []byte
	for ; len(tokens) >= b.size; tokens = tokens[b.size:] {
		text = append(text[:0], before[:]...)
		for _, id := range tokens[:b.size] {
			text = binary.AppendUvarint(text, uint64(id))
		}
		m := hmac.New(sha256.New, b.salt)
		m.Write(text)
		m.Sum(before[:0])
		dst = append(dst, int64(binary.BigEndian.Uint64(before[:8])>>12))
	}
	return dst
}

// see notes the blocks of a prompt, and returns how many tokens stand in those at its beginning that had been seen. The
// oldest are forgotten.
func (b *blocks) see(ids []int64) (shared int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := true
	for _, id := range ids {
		_, seen := b.seen[id]
		if known = known && seen; known {
			shared += b.size
		}
		if !seen {
			b.note(id)
		}
	}
	return shared
}

func (b *blocks) note(id int64) {
	b.seen[id] = struct{}{}
	if len(b.ring) < seenBlocks {
		b.ring = append(b.ring, id)
		return
	}
	delete(b.seen, b.ring[b.next])
	b.ring[b.next] = id
	b.next = (b.next + 1) % seenBlocks
}
