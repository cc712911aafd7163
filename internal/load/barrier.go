package load

import "sync/atomic"

// barrier is the wait for the first requests of a phase, which leave together. The zero value is no barrier: it holds
// nothing up, and credits pass through it.
type barrier struct {
	// size is the number of sessions that wait, 0 once they have left.
	size int
	// ready is set by the sender; after endNS it is not waited for.
	ready atomic.Bool
	endNS int64
	// gathers is set if the sender starts the credits together; they are collected for it.
	gathers bool
	credits []Credit
}

// prepareBarrier asks the sender to make the first requests of a phase with a barrier ready. That is done before the
// clock of the phase starts, so that making them does not spread them. A session whose first request is not the first
// turn of its root is not waited for: that request is prepared when the tree has started.
func (p *phaseRun) prepareBarrier() {
	if !p.phase.Barrier {
		return
	}
	size := p.phase.barrierSize()
	b := &p.barrier
	b.size = int(size)
	p.stats.Barrier.Size = int(size)
	gatherer, ok := p.e.sender.(Gatherer)
	if !ok {
		b.ready.Store(true)
		return
	}
	b.gathers = true
	b.endNS = addNS(p.e.clock.NowNS(), p.e.opt.GatherTimeout)
	sessions := make([]uint64, 0, size)
	n := p.numbers
	for range size {
		k := n.take()
		if shape := p.shape(k); shape == nil || shape.sendsFirst() {
			sessions = append(sessions, k)
		}
	}
	gatherer.Gather(p.stats.Index, sessions, func() {
		b.ready.Store(true)
		p.e.mail.wakeLoop()
	})
}

// barrierSize returns the number of sessions that the limits allow at once.
func (p *Phase) barrierSize() int64 {
	size := int64(p.Concurrency)
	for _, limit := range []int64{int64(p.Prefill), p.Requests, p.Sessions} {
		if limit > 0 {
			size = min(size, limit)
		}
	}
	return size
}

// openBarrier issues the first credits together, if there are any that wait.
func (p *phaseRun) openBarrier(nowNS int64) {
	b := &p.barrier
	if b.size == 0 {
		return
	}
	for range b.size {
		if !p.mayStart(nowNS) || !p.startSession(nowNS, nowNS) {
			break
		}
		if !b.gathers {
			nowNS = p.e.clock.NowNS()
		}
	}
	b.size = 0
	if len(b.credits) > 0 {
		p.e.sender.(Gatherer).SendAll(b.credits)
		b.credits = nil
	}
}

// mayOpen reports whether the barrier need not be waited for any longer.
func (b *barrier) mayOpen(nowNS int64) bool {
	return b.size == 0 || b.ready.Load() || nowNS >= b.endNS
}

// deadlineNS returns when the wait is given up, 0 = never.
func (b *barrier) deadlineNS() int64 {
	if b.size == 0 || b.ready.Load() {
		return 0
	}
	return b.endNS
}

// released records when one of the requests left.
func (b *Barrier) released(ns int64) {
	b.Released++
	if b.FirstNS == 0 || ns < b.FirstNS {
		b.FirstNS = ns
	}
	b.LastNS = max(b.LastNS, ns)
}
