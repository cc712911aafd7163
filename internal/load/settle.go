package load

import "time"

// receive takes a message about a credit. It ignores what does not belong to a credit in flight: late returns and
// second ones.
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
	if p.replay.Stage == SeedLanes {
		f.turn.node.tree.inFlight--
		p.seedReturned(f.turn, m.outcome)
	}
	switch m.outcome {
	case CutOff:
		p.stats.RequestsCancelled++
		p.dropCutOff(f, nowNS)
		return
	case Failure:
		p.stats.RequestErrors++
		f.turn.node.failed()
	}
	p.stats.RequestsCompleted++
	p.continueSession(f.turn, nowNS)
	if m.outcome == Failure && p.e.plan.FailFast && f.turn.node.depth() > 0 {
		p.stats.Branches.ParentsFailed++
		p.e.Abort(ErrChildFailed)
		p.stop()
	}
}

// continueSession goes on with a session after one of its turns has returned; a failed turn does not end it.
func (p *phaseRun) continueSession(t turn, nowNS int64) {
	if p.replay.Stage == SeedLanes {
		return
	}
	if t.node != nil {
		t.node.tree.inFlight--
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
	next := t
	next.index++
	p.e.sender.Prepare(p.stats.Index, t.session, next.index)
	if p.timetable != nil {
		due, intended := p.timetable.follow(next, nowNS)
		next.intendedNS = intended
		p.delayed.push(due, next)
		return
	}
	next.intendedNS = 0
	p.queueAfter(p.e.source.DelayNS(t.session, next.index), next, nowNS)
}

// queueAfter queues a turn that waits for its delay first.
func (p *phaseRun) queueAfter(delayNS int64, t turn, nowNS int64) {
	if delayNS > 0 {
		p.delayed.push(addNS(nowNS, time.Duration(delayNS)), t)
	} else {
		p.queueDue(t, nowNS)
	}
}

// dropCutOff ends a session one of whose credits was cut off.
func (p *phaseRun) dropCutOff(f flight, nowNS int64) {
	if p.replay.Stage == SeedLanes {
		return
	}
	if f.turn.node != nil {
		f.turn.node.tree.inFlight--
		p.cancelTree(f.turn)
	} else {
		p.stats.CancelledSessions++
		p.sessions.release()
		p.unsent -= int64(f.turn.count - f.turn.index - 1)
		p.e.sender.Forget(f.turn.session)
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
	if rate, changes := p.pacer.meanRate(nowNS); changes {
		p.stats.TargetRate = rate / p.share.width()
	}
	p.dropWaiting()
	if !p.replay.parks() {
		p.truncateTrees()
	}
	if p.replay.Stage == SeedLanes && p.phase.Grace < Infinite {
		p.stats.GraceEndNS = addNS(nowNS, p.phase.Grace)
	}
	if p.timetable != nil {
		p.timetable.drop(p.e.sender.Forget)
	}
	for p.timetable == nil && p.prepared > p.numbers.next {
		p.prepared -= p.numbers.step
		p.e.sender.Forget(p.prepared)
	}
	p.prepared = p.numbers.next
	if p.phase.Lanes != nil {
		p.keepNumbers()
	}
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

// dropWaiting drops the turns that wait for anything; those of trees are dropped with their trees.
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

// drain brings a phase that has sent its last credit to its end.
func (p *phaseRun) drain(nowNS int64) {
	switch {
	case len(p.inFlight) == 0:
		p.complete(nowNS)
	case p.drainEndNS != 0 && nowNS >= p.drainEndNS:
		p.forceReturns()
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
func (p *phaseRun) forceReturns() {
	for id, f := range p.inFlight {
		delete(p.inFlight, id)
		p.stats.ForcedReturns++
		p.stats.RequestsCancelled++
		if f.prefill {
			p.prefill.release()
		}
		if p.replay.Stage == SeedLanes {
			f.turn.node.tree.inFlight--
			p.seedReturned(f.turn, CutOff)
			continue
		}
		if f.turn.node != nil {
			f.turn.node.tree.inFlight--
			p.cancelTree(f.turn)
			continue
		}
		p.stats.CancelledSessions++
		p.sessions.release()
		p.e.sender.Forget(f.turn.session)
	}
}

// endAtOnce completes the phase without waiting for anything.
func (p *phaseRun) endAtOnce(nowNS int64) {
	p.stats.WasCancelled = true
	p.finishSending(nowNS)
	p.cutOff(nowNS)
	p.forceReturns()
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
