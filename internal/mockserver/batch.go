package mockserver

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// batch limits how many requests are served at the same time; the others queue in order of arrival.
type batch struct {
	limit, maxQueue int

	mu      sync.Mutex
	running int
	queue   []*conn
}

var errQueueFull = &httpError{http.StatusTooManyRequests, "the queue of the server is full"}

// enter takes a place in the batch for c, or in the queue for one. The caller must wait until
// c.granted holds where queued is true.
func (b *batch) enter(c *conn) (queued bool, err *httpError) {
	if b.limit == 0 {
		return false, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running < b.limit {
		b.running++
		return false, nil
	}
	if b.maxQueue >= 0 && len(b.queue) >= b.maxQueue {
		return false, errQueueFull
	}
	c.granted.Store(false)
	b.queue = append(b.queue, c)
	return true, nil
}

// leave gives a place up; the first in the queue inherits it and is woken.
func (b *batch) leave() {
	if b.limit == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.running--
		return
	}
	next := b.queue[0]
	b.queue = slices.Delete(b.queue, 0, 1)
	next.granted.Store(true)
	next.poke()
}

// desert leaves the queue, or the batch if the place was granted meanwhile.
func (b *batch) desert(c *conn) {
	b.mu.Lock()
	i := slices.Index(b.queue, c)
	if i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
	}
	b.mu.Unlock()
	if i < 0 {
		b.leave()
	}
}

// join waits for a place in the batch, for as long as the client stays.
func (b *batch) join(c *conn) error {
	queued, refusal := b.enter(c)
	if refusal != nil {
		return refusal
	}
	for queued && !c.granted.Load() {
		if err := c.listen(time.Minute, c.granted.Load); err != nil {
			b.desert(c)
			return err
		}
	}
	return nil
}
