package load

import (
	"context"
	"sync/atomic"
)

// gate is a wait at one end of a phase.
type gate struct {
	open   atomic.Bool
	passed chan struct{} // closed once open
	cancel context.CancelFunc
}

// newGate calls what a phase has to wait for; the loop is woken when the gate is open. Without a function it is open
// at once.
func (e *Engine) newGate(ctx context.Context, wait func(context.Context, int), phase int) *gate {
	g := &gate{passed: make(chan struct{}), cancel: func() {}}
	if wait == nil || ctx.Err() != nil {
		g.open.Store(true)
		close(g.passed)
		return g
	}
	ctx, g.cancel = context.WithTimeout(ctx, e.opt.Gates.Timeout)
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		wait(ctx, phase)
	}()
	go func() {
		select {
		case <-waited:
		case <-ctx.Done():
		}
		g.cancel()
		g.open.Store(true)
		close(g.passed)
		e.mail.wakeLoop()
	}()
	return g
}
