package session

import (
	"sync"

	"aiperf/internal/wire/endpoint"
)

// bodyKey names a body that does not depend on replies.
type bodyKey struct{ conversation, turn int }

// cacheBytes bounds the encoded bodies that are kept.
const cacheBytes = 64 << 20

// bodyCache keeps encoded bodies in two generations: when the young one is full it becomes the old
// one, and what the old one held is dropped unless it was used again.
type bodyCache struct {
	mu         sync.Mutex
	young, old map[bodyKey]*endpoint.Body
	youngBytes int
	// limit of one generation; 0 stands for half of cacheBytes.
	limit int
}

func (c *bodyCache) get(k bodyKey) (*endpoint.Body, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, ok := c.young[k]; ok {
		return b, true
	}
	b, ok := c.old[k]
	if ok {
		c.add(k, b)
	}
	return b, ok
}

// put keeps a body and returns the one to use: another goroutine may have been first, and the token
// count of a body is worth sharing.
func (c *bodyCache) put(k bodyKey, b *endpoint.Body) *endpoint.Body {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first, ok := c.young[k]; ok {
		return first
	}
	c.add(k, b)
	return b
}

func (c *bodyCache) add(k bodyKey, b *endpoint.Body) {
	limit := c.limit
	if limit == 0 {
		limit = cacheBytes / 2
	}
	if c.young == nil || c.youngBytes+len(b.Bytes) > limit {
		c.old, c.young, c.youngBytes = c.young, map[bodyKey]*endpoint.Body{}, 0
	}
	c.young[k] = b
	c.youngBytes += len(b.Bytes)
}
