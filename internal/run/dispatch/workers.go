package dispatch

import (
	"fmt"
	"sync"

	"aiperf/internal/load"
)

// workers are the logical workers that records name: a session stays with the worker that took its
// first turn, which was the one with the fewest requests in flight.
type workers struct {
	names []string

	mu       sync.Mutex
	inFlight []int
	next     int
}

// newWorkers returns the workers of a share of a run; those of all shares are numbered in turn.
func newWorkers(n int, s load.Share) *workers {
	w := &workers{inFlight: make([]int, n)}
	for i := range n {
		w.names = append(w.names, fmt.Sprintf("worker_%d", i*max(1, s.Of)+s.Index+1))
	}
	return w
}

// take assigns a request to the session's worker, or chooses one when current is negative.
func (w *workers) take(current int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if current < 0 {
		current = w.next
		for i := range w.inFlight {
			if k := (w.next + i) % len(w.inFlight); w.inFlight[k] < w.inFlight[current] {
				current = k
			}
		}
		w.next = (current + 1) % len(w.inFlight)
	}
	w.inFlight[current]++
	return current
}

func (w *workers) give(worker int) {
	w.mu.Lock()
	w.inFlight[worker]--
	w.mu.Unlock()
}

func (w *workers) name(worker int) string { return w.names[worker] }
