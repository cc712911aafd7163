package load

import (
	"context"
	"math"
	"slices"
)

// loop runs the phases one after the other: it takes the mail, does what is due and waits. Where a phase is
// seamless, those before it are still active until their last return. It returns with all of them complete. It is the
// only goroutine that touches phases, which is why nothing of them has a lock.
func (e *Engine) loop(ctx context.Context) {
	for next := 0; ; {
		e.readMail()
		more := false
		for _, p := range e.active {
			more = p.step(ctx) || more
			if p.stats.State < Complete {
				e.publish(&p.stats)
			}
		}
		e.active = slices.DeleteFunc(e.active, func(p *phaseRun) bool { return p.stage == gone })
		joining := false
		if next < len(e.plan.Phases) && e.mayOpen(ctx, next) {
			if e.joined(ctx, next) {
				e.open(ctx, next)
				next++
				continue
			}
			joining = true // the shares may agree at any instant: only the next look says so
		}
		if len(e.active) == 0 && !joining {
			return
		}
		if !more {
			e.wait(ctx)
		}
	}
}

// mayOpen reports whether it is the turn of a phase.
func (e *Engine) mayOpen(ctx context.Context, index int) bool {
	if ctx.Err() != nil && index > 0 || e.mail.stopRequest() != nil && index > 0 {
		return false
	}
	if len(e.active) == 0 {
		return true
	}
	return e.plan.Phases[index].Seamless && e.active[len(e.active)-1].stats.State >= SendingComplete
}

// open prepares a phase while its gate is waited for.
func (e *Engine) open(ctx context.Context, index int) {
	p := newPhaseRun(e, index)
	if p.phase.Seamless && len(e.active) > 0 {
		before := e.active[len(e.active)-1]
		p.sessions, p.prefill = before.sessions, before.prefill
	}
	e.active = append(e.active, p)
	e.publish(&p.stats)
	if !p.idle {
		p.lookAhead() // requests are made ready while the gate is closed
		p.prepareBarrier()
	}
	p.gate = e.newGate(ctx, e.opt.Gates.BeforeFirstCredit, index)
}

// readMail processes what the sender reported, and a request to stop.
func (e *Engine) readMail() {
	batch, stop := e.mail.take()
	if len(batch) > 0 {
		now := e.clock.NowNS()
		for _, m := range batch {
			for _, p := range e.active {
				if p.stats.Index == m.phase {
					p.receive(m, now)
				}
			}
		}
	}
	if stop != nil {
		for _, p := range e.active {
			p.stop()
		}
	}
}

// wait returns at the next deadline, at mail or at the end of the context. It may return early.
func (e *Engine) wait(ctx context.Context) {
	deadline := int64(math.MaxInt64)
	for _, p := range e.active {
		deadline = min(deadline, p.deadlineNS())
	}
	if deadline <= e.clock.NowNS() {
		return
	}
	if deadline != e.armedNS {
		e.armedNS = deadline
		if deadline != math.MaxInt64 {
			e.timer.Reset(deadline)
		}
	}
	select {
	case <-e.mail.wake:
	case <-e.timer.C():
		e.armedNS = 0
	case <-ctx.Done():
		e.waitForGates()
	}
}

// waitForGates keeps the loop from spinning when only gates are left, which end with the context.
func (e *Engine) waitForGates() {
	for _, p := range e.active {
		if p.stage == closing {
			<-p.gate.passed
		}
	}
}
