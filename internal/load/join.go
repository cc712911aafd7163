package load

import (
	"context"
	"fmt"
	"sync/atomic"
)

// meeting is the wait for what all shares of a run have used before a phase.
type meeting struct {
	used   Used
	open   atomic.Bool
	cancel context.CancelFunc
}

// joined reports whether the shares have agreed on where a phase begins, and asks for that the first time. It changes
// what is used to what all shares have used. The wait is on a goroutine of its own, as the loop still has the returns
// of the phases before to take.
func (e *Engine) joined(ctx context.Context, phase int) bool {
	if e.opt.Join == nil || phase == 0 {
		return true
	}
	j := e.meeting
	if j == nil {
		j = &meeting{}
		e.meeting = j
		own := e.used
		ctx, j.cancel = context.WithCancel(ctx)
		go func() {
			used, err := e.opt.Join(ctx, phase, own)
			j.used = own.Max(used)
			if err != nil && ctx.Err() == nil {
				e.Abort(fmt.Errorf("phase %d: the shares of the run did not join: %w", phase, err))
			}
			j.open.Store(true)
			e.mail.wakeLoop()
		}()
	}
	if !j.open.Load() || e.mail.stopRequest() != nil {
		return false
	}
	j.cancel()
	e.used, e.meeting = j.used, nil
	return true
}

// giveUp ends the wait; nil is none.
func (j *meeting) giveUp() {
	if j != nil {
		j.cancel()
	}
}

// beginning is the wait for the instant at which a phase starts.
type beginning struct {
	// startNS is 0 until it is known.
	startNS atomic.Int64
	cancel  context.CancelFunc
}

// askBegin asks when a phase starts.
func (e *Engine) askBegin(ctx context.Context, phase int) *beginning {
	b := &beginning{}
	ctx, b.cancel = context.WithCancel(ctx)
	go func() {
		defer b.cancel()
		startNS, err := e.opt.Begin(ctx, phase)
		switch {
		case err == nil:
			b.startNS.Store(max(1, startNS)) // 0 means never
		case ctx.Err() == nil:
			e.Abort(fmt.Errorf("phase %d does not start: %w", phase, err))
		}
		e.mail.wakeLoop()
	}()
	return b
}

// giveUp ends the wait; nil is none.
func (b *beginning) giveUp() {
	if b != nil {
		b.cancel()
	}
}
