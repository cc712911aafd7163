package mockserver

import (
	"container/list"
	"hash/maphash"
	"sync"

	"aiperf/internal/mockserver/page"
)

// prefixBytes is the length of the pieces that the prefix cache knows prompts by.
const prefixBytes = 4 * page.BlockTokens

// prefixCache knows the beginnings of the prompts so far, the latest of them if they are more than it has room for.
type prefixCache struct {
	limit int // blocks
	seed  maphash.Seed

	mu     sync.Mutex
	blocks map[uint64]*list.Element
	recent *list.List // hashes, the latest first
}

func newPrefixCache(limit int) *prefixCache {
	return &prefixCache{limit: limit, seed: maphash.MakeSeed(), blocks: map[uint64]*list.Element{}, recent: list.New()}
}

// look returns how many of the tokens of a prompt are in the cache, whole blocks and never all of them, and adds the
// prompt to it. A prompt is cut in pieces of bytes; its tokens count as spread evenly over them.
func (c *prefixCache) look(text []byte, tokens int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, chain := 0, uint64(0)
	matches := true
	for at := 0; at+prefixBytes <= len(text); at += prefixBytes {
		var h maphash.Hash
		h.SetSeed(c.seed)
		maphash.WriteComparable(&h, chain)
		h.Write(text[at : at+prefixBytes])
		chain = h.Sum64()
		e := c.blocks[chain]
		if matches = matches && e != nil; matches {
			known = at + prefixBytes
		}
		if e != nil {
			c.recent.MoveToFront(e)
			continue
		}
		c.blocks[chain] = c.recent.PushFront(chain)
		if c.recent.Len() > c.limit {
			delete(c.blocks, c.recent.Remove(c.recent.Back()).(uint64))
		}
	}
	if known == 0 {
		return 0
	}
	cached := min(tokens*known/len(text), tokens-1)
	return cached / page.BlockTokens * page.BlockTokens
}
