package load

import "time"

// readMail takes in what the sender reported and whether a stop was asked for.
func (p *phaseRun) readMail() {
	batch, stop := p.e.mail.take()
	if len(batch) > 0 {
		now := p.e.clock.NowNS()
		for _, m := range batch {
			p.receive(m, now)
		}
	}
	if stop != nil && !p.stats.WasCancelled {
		now := p.e.clock.NowNS()
		p.stats.WasCancelled = true
		p.finishSending(now)
		p.cutOff(now)
	}
}

// receive ignores what does not belong to a credit in flight: late returns and second ones.
func (p *phaseRun) receive(m message, nowNS int64) {
	if m.phase != p.stats.Index {
		return
	}
	f, ok := p.inFlight[m.id]
	if !ok {
		return
	}
	if f.prefill {
		p.prefill.give()
	}
	if m.content {
		f.prefill = false
		p.inFlight[m.id] = f
		return
	}
	delete(p.inFlight, m.id)
	switch m.outcome {
	case CutOff:
		p.stats.RequestsCancelled++
		p.dropCutOff(f, nowNS)
		return
	case Failure:
		p.stats.RequestErrors++
	}
	p.stats.RequestsCompleted++
	p.proceed(f, nowNS)
}

// proceed goes on with a session after one of its turns has returned; a failed turn does not end it.
func (p *phaseRun) proceed(f flight, nowNS int64) {
	session := f.credit.Session
	if f.credit.Final {
		p.stats.CompletedSessions++
		p.sessions.give()
		p.e.sender.Forget(session)
		return
	}
	if !p.maySend(nowNS) {
		p.e.sender.Forget(session)
		return
	}
	next := turn{session: session, index: f.credit.Turn + 1, count: f.count}
	p.e.sender.Prepare(p.stats.Index, session, next.index)
	if delay := p.e.source.DelayNS(session, next.index); delay > 0 {
		p.delayed.push(later(nowNS, time.Duration(delay)), next)
	} else {
		p.ready.push(next)
	}
}

// dropCutOff ends a session one of whose credits was cut off.
func (p *phaseRun) dropCutOff(f flight, nowNS int64) {
	p.stats.CancelledSessions++
	p.sessions.give()
	p.unsent -= int64(f.count - f.credit.Turn - 1)
	p.e.sender.Forget(f.credit.Session)
	p.finishAfterFinalCredit(nowNS)
}

// finishSending ends the issue of credits and drops all turns that wait.
func (p *phaseRun) finishSending(nowNS int64) {
	if !p.sending() {
		return
	}
	p.stats.SentEndNS = nowNS
	p.stats.FinalSent = &SentTotals{Requests: p.stats.RequestsSent, Sessions: p.stats.SentSessions}
	for _, q := range []*fifo{&p.admitted, &p.ready} {
		for q.len() > 0 {
			p.e.sender.Forget(q.pop().session)
		}
	}
	for p.delayed.len() > 0 {
		p.e.sender.Forget(p.delayed.pop().session)
	}
	for p.e.prepared > p.e.nextSession {
		p.e.prepared--
		p.e.sender.Forget(p.e.prepared)
	}
	p.enter(SendingComplete)
}

// settle brings a phase that has sent its last credit to its end.
func (p *phaseRun) settle(nowNS int64) {
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

// cutOff closes all requests in flight and begins to wait for their return.
func (p *phaseRun) cutOff(nowNS int64) {
	if p.drainEndNS != 0 || len(p.inFlight) == 0 {
		return
	}
	oldest := nowNS
	for _, f := range p.inFlight {
		oldest = min(oldest, f.credit.IssuedNS)
	}
	p.stats.OldestCutOff = time.Duration(nowNS - oldest)
	p.drainEndNS = later(nowNS, p.e.opt.CancelDrainTimeout)
	p.e.sender.CutOff()
}

// forceReturns gives up on the credits that did not return. What still comes of them is ignored.
func (p *phaseRun) forceReturns() {
	for id, f := range p.inFlight {
		delete(p.inFlight, id)
		p.stats.ForcedReturns++
		p.stats.RequestsCancelled++
		p.stats.CancelledSessions++
		p.e.sender.Forget(f.credit.Session)
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
	p.stats.RequestsEndNS = nowNS
	p.stats.FinalReturned = &ReturnedTotals{
		RequestsCompleted: p.stats.RequestsCompleted, RequestsCancelled: p.stats.RequestsCancelled,
		RequestErrors:     p.stats.RequestErrors,
		CompletedSessions: p.stats.CompletedSessions, CancelledSessions: p.stats.CancelledSessions,
	}
	p.enter(Complete)
}
