package fleet

import (
	"context"
	"sync"
	"time"
)

// goroutines are those that a coordinator or an agent starts alongside. They have a context, which end cancels; none
// begins after that.
type goroutines struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	count int
	over  bool
	// idle is closed when the last one has ended after end was called.
	idle chan struct{}
}

// newGoroutines returns an owner whose goroutines end with a context at the latest.
func newGoroutines(ctx context.Context) *goroutines {
	g := &goroutines{idle: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancel(ctx)
	return g
}

// start runs a function alongside; false if it is too late for that.
func (g *goroutines) start(what func(ctx context.Context)) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return false
	}
	g.count++
	go func() {
		defer g.ended()
		what(g.ctx)
	}()
	return true
}

// ended counts a goroutine out; the last one after the end wakes who waits for it.
func (g *goroutines) ended() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count--
	if g.over && g.count == 0 {
		close(g.idle)
	}
}

// end cancels the context and waits for the goroutines, no longer than given. It returns how many are left; none but
// for a defect.
func (g *goroutines) end(most time.Duration) (left int) {
	g.mu.Lock()
	if first := !g.over; first {
		g.over = true
		if g.count == 0 {
			close(g.idle)
		}
	}
	g.mu.Unlock()
	g.cancel()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-g.idle:
	case <-timer.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count
}
