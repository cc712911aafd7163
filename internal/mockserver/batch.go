package mockserver

import (
	"aiperf/internal/base/clock"
	"aiperf/internal/mockserver/httpd"
	"net/http"
	"slices"
	"sync"
	"time"
)

// batch limits how many requests are served at the same time; the others queue in order of arrival.
type batch struct {
	limit, maxQueue int
	clock           *clock.Clock

	mu      sync.Mutex
	running int
	queue   []*handler
}

var errQueueFull = &httpd.Error{Status: http.StatusTooManyRequests, Message: "the queue of the server is full"}

// enter takes a place in the batch for h, or in the queue for one. The caller must wait until
// h.granted holds where queued is true.
func (b *batch) enter(h *handler) (queued bool, err *httpd.Error) {
	if b.limit == 0 {
		return false, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running < b.limit {
		b.running++
		b.place(h)
		return false, nil
	}
	if b.maxQueue >= 0 && len(b.queue) >= b.maxQueue {
		return false, errQueueFull
	}
	h.granted.Store(false)
	b.queue = append(b.queue, h)
	return true, nil
}

// leave releases a place; the first in the queue gets it and is woken.
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
	b.place(next)
	next.granted.Store(true)
	next.conn.Wake()
}

// place enters in the account that h is served, at once and not when its goroutine comes to it. Where the scheduler
// makes the reply, that gives the place.
func (b *batch) place(h *handler) {
	if !h.scheduled() {
		h.account.Place(b.clock.NowNS())
	}
}

// abandon leaves the queue, or the batch if the place was granted meanwhile.
func (b *batch) abandon(h *handler) {
	b.mu.Lock()
	i := slices.Index(b.queue, h)
	if i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
	}
	b.mu.Unlock()
	if i < 0 {
		b.leave()
	}
}

// join waits for a place in the batch, for as long as the client stays.
func (b *batch) join(h *handler) error {
	queued, refusal := b.enter(h)
	if refusal != nil {
		return refusal
	}
	for queued && !h.granted.Load() {
		if err := h.conn.Listen(time.Minute, h.granted.Load); err != nil {
			b.abandon(h)
			return err
		}
	}
	return nil
}
