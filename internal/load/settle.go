package load

import "time"

// receive takes a message about a credit. It ignores what does not belong to a credit in flight: late returns and
// second ones. Counters change before the session goes on, as that may complete the sending and publish them.
func (p *phaseRun) receive(m message, nowNS int64) {
	if m.kind == started {
		p.stats.Barrier.released(m.startNS)
		return
	}
	if m.kind == endAsked {
		p.endEarly(m.grace, nowNS)
		return
	}
	f, ok := p.inFlight[m.id]
	if !ok {
		return
	}
	if f.prefill {
		p.prefill.release()
	}
	if m.kind == firstContent {
		f.prefill = false
		p.inFlight[m.id] = f
		return
	}
	delete(p.inFlight, m.id)
	switch m.outcome {
	case CutOff:
		p.stats.RequestsCancelled++
		p.goOn(f.turn, CutOff, nowNS)
		return
	case Failure:
		p.stats.RequestErrors++
		f.turn.node.failed()
	}
	p.stats.RequestsCompleted++
	p.goOn(f.turn, m.outcome, nowNS)
	if m.outcome == Failure && p.e.plan.FailFast && f.turn.node.depth() > 0 {
		p.stats.Branches.ParentsFailed++
		p.e.Abort(ErrChildFailed)
		p.stop()
	}
}

// goOn goes on with the session of a credit that has returned. A failed turn does not end it, one that was cut off
// does. This is the one way by which a credit in flight ends: by a return, a cut-off or a drain that was given up.
func (p *phaseRun) goOn(t turn, o Outcome, nowNS int64) {
	if t.node != nil {
		t.node.tree.inFlight--
		if p.mode.keeps(t.node, o) {
			return
		}
	}
	switch {
	case o == CutOff:
		p.dropCutOff(t, nowNS)
		return
	case t.node != nil:
		p.nodeReturned(t, nowNS)
		return
	}
	if t.index == t.count-1 {
		p.stats.CompletedSessions++
	}
	if t.index == t.count-1 || !p.maySend(nowNS) {
		p.sessions.release()
		p.e.sender.Forget(t.session)
		return
	}
	t.origin = t.next()
	t.index++
	p.e.sender.Prepare(p.stats.Index, t.session, t.index)
	var due int64
	if due, t.intendedNS = p.mode.follow(t.session, t.index, t.intendedNS, nowNS); due == 0 {
		p.queueDue(t, nowNS)
	} else {
		p.delayed.pushSince(nowNS, due, t)
	}
}

// queueAfter queues a turn that waits for its delay first.
func (p *phaseRun) queueAfter(delayNS int64, t turn, nowNS int64) {
	if delayNS > 0 {
		p.delayed.pushSince(nowNS, addNS(nowNS, time.Duration(delayNS)), t)
	} else {
		p.queueDue(t, nowNS)
	}
}

// dropCutOff ends a session one of whose credits was cut off.
func (p *phaseRun) dropCutOff(t turn, nowNS int64) {
	if t.node != nil {
		p.cancelTree(t)
	} else {
		p.stats.CancelledSessions++
		p.sessions.release()
		p.unsent -= int64(t.count - t.index - 1)
		p.e.sender.Forget(t.session)
	}
	p.finishAfterFinalCredit(nowNS)
}

// finishSending ends the issue of credits and drops all turns that wait.
func (p *phaseRun) finishSending(nowNS int64) {
	if !p.sending() {
		return
	}
	p.stats.SentEndNS = nowNS
	p.stats.FinalSent = &SentTotals{Requests: p.stats.RequestsSent, Sessions: p.stats.SentSessions}
	p.stats.State = SendingComplete
	p.dropWaiting()
	if !p.replay.parks() {
		p.truncateTrees()
	}
	p.mode.endSending(nowNS)
	for _, c := range p.controls {
		c.end(nowNS)
	}
	p.setState(SendingComplete)
}

// endEarly ends the sending of the phase before a stop condition of its own is met.
func (p *phaseRun) endEarly(grace time.Duration, nowNS int64) {
	if p.stage != running || !p.sending() {
		return
	}
	if p.phase.Duration > 0 {
		grace = min(grace, p.phase.Grace)
	}
	p.stats.EndedEarly = true
	if p.stats.GraceEndNS = 0; grace < Infinite {
		p.stats.GraceEndNS = addNS(nowNS, grace)
	}
	p.finishSending(nowNS)
}

// dropWaiting drops the turns that wait for anything; those of trees are dropped with their trees, or parked where the
// next phase goes on with them. Turns that have arrived hold no session slot yet; the others do.
func (p *phaseRun) dropWaiting() {
	for p.arrived.len() > 0 {
		p.e.sender.Forget(p.arrived.pop().session)
	}
	drop := func(t turn) {
		if p.replay.Stage == FillLanes {
			t.node.park(t.index)
		} else if t.node == nil {
			p.sessions.release()
			p.e.sender.Forget(t.session)
		}
	}
	for _, q := range []*fifo{&p.admitted, &p.ready} {
		for q.len() > 0 {
			drop(q.pop())
		}
	}
	for p.delayed.len() > 0 {
		drop(p.delayed.pop())
	}
}

// drain brings a phase that has sent its last credit to its end: when nothing is in flight, at the latest when the
// grace is over and what was cut off had its time to return.
func (p *phaseRun) drain(nowNS int64) {
	switch {
	case len(p.inFlight) == 0:
		p.complete(nowNS)
	case p.drainEndNS != 0 && nowNS >= p.drainEndNS:
		p.forceReturns(nowNS)
		p.complete(nowNS)
	case p.drainEndNS == 0 && p.stats.GraceEndNS != 0 && nowNS >= p.stats.GraceEndNS:
		p.stats.GracePeriodTimeoutTriggered = true
		p.cutOff(nowNS)
	}
}

// stop ends the phase before its plan does.
func (p *phaseRun) stop() {
	if p.stage != running || p.stats.WasCancelled {
		return
	}
	now := p.e.clock.NowNS()
	p.stats.WasCancelled = true
	p.finishSending(now)
	p.cutOff(now)
}

// cutOff closes all requests in flight and begins to wait for their return.
func (p *phaseRun) cutOff(nowNS int64) {
	if p.drainEndNS != 0 || len(p.inFlight) == 0 {
		return
	}
	oldest := nowNS
	for _, f := range p.inFlight {
		oldest = min(oldest, f.issuedNS)
	}
	p.stats.OldestCutOff = time.Duration(nowNS - oldest)
	p.drainEndNS = addNS(nowNS, p.e.opt.CancelDrainTimeout)
	if cutter, ok := p.e.sender.(PhaseCutter); ok {
		cutter.CutOffPhase(p.stats.Index)
	} else {
		p.e.sender.CutOff()
	}
}

// forceReturns counts the credits that did not return as cut off. What still comes of them is ignored.
func (p *phaseRun) forceReturns(nowNS int64) {
	for id, f := range p.inFlight {
		delete(p.inFlight, id)
		p.stats.ForcedReturns++
		p.stats.RequestsCancelled++
		if f.prefill {
			p.prefill.release()
		}
		p.goOn(f.turn, CutOff, nowNS)
	}
}

// endAtOnce completes the phase without waiting for anything.
func (p *phaseRun) endAtOnce(nowNS int64) {
	p.stats.WasCancelled = true
	p.finishSending(nowNS)
	p.cutOff(nowNS)
	p.forceReturns(nowNS)
	p.complete(nowNS)
}

func (p *phaseRun) complete(nowNS int64) {
	if p.replay.parks() {
		p.leaveLanes()
	}
	p.stats.RequestsEndNS = nowNS
	p.stats.FinalReturned = &ReturnedTotals{
		RequestsCompleted: p.stats.RequestsCompleted, RequestsCancelled: p.stats.RequestsCancelled,
		RequestErrors:     p.stats.RequestErrors,
		CompletedSessions: p.stats.CompletedSessions, CancelledSessions: p.stats.CancelledSessions,
	}
	p.setState(Complete)
}
