package load

// expired tells whether the duration is over.
func (p *phaseRun) expired(nowNS int64) bool {
	return p.durationEndNS != 0 && nowNS >= p.durationEndNS
}

// maySend tells whether a turn of any kind may be sent.
func (p *phaseRun) maySend(nowNS int64) bool {
	return p.sending() && !p.expired(nowNS) &&
		(p.phase.Requests == 0 || p.stats.RequestsSent < p.phase.Requests) &&
		(p.phase.Sessions == 0 || p.stats.SentSessions < p.phase.Sessions || p.unsent > 0)
}

// mayStart tells whether a new session may be started.
func (p *phaseRun) mayStart(nowNS int64) bool {
	return p.maySend(nowNS) && (p.phase.Sessions == 0 || p.stats.SentSessions < p.phase.Sessions)
}

// send issues every credit that is due and has its slots. It tells whether it stopped before it was through.
func (p *phaseRun) send(nowNS int64) (more bool) {
	for p.delayed.len() > 0 && p.delayed.dueNS() <= nowNS {
		p.ready.push(p.delayed.pop())
	}
	for p.admitted.len() > 0 {
		// Time passes while credits are issued: each is judged by a fresh reading.
		now := p.e.clock.NowNS()
		if !p.maySend(now) || !p.prefill.take() {
			break
		}
		p.issue(p.admitted.pop(), now)
	}
	step := p.arrive
	if p.schedule == nil {
		step = p.fill
	}
	for range maxIssues {
		now := p.e.clock.NowNS()
		if !p.sending() || p.expired(now) {
			return p.sending()
		}
		if !step(now) {
			return false
		}
	}
	return true
}

// fill issues one credit of a burst phase if a slot is free: continuations first, then new sessions.
func (p *phaseRun) fill(nowNS int64) bool {
	if p.ready.len() > 0 {
		if !p.prefill.take() {
			return false
		}
		p.issue(p.ready.pop(), nowNS)
		return true
	}
	return p.mayStart(nowNS) && p.startSession(0, nowNS)
}

// arrive spends one arrival of the schedule if it is due: on the oldest continuation, else on a new session.
// A continuation keeps its arrival while it waits for a prefill slot, without holding up the schedule; a session
// without a slot loses it. No new session overtakes a waiting continuation, since it would need a prefill slot too.
func (p *phaseRun) arrive(nowNS int64) bool {
	due := p.schedule.dueNS()
	if due > nowNS {
		return false
	}
	p.schedule.advance()
	switch {
	case p.ready.len() > 0:
		t := p.ready.pop()
		t.intendedNS = due
		if p.prefill.take() {
			p.issue(t, nowNS)
		} else {
			p.admitted.push(t)
		}
	case p.mayStart(nowNS):
		if !p.startSession(due, nowNS) {
			p.stats.SkippedArrivals++
		}
	}
	p.stats.DroppedByCatchup += p.schedule.catchUp(p.e.clock.NowNS(), int64(p.e.opt.MaxCatchup))
	return true
}

// startSession issues the first turn of the next session. Without both slots nothing happens: the session
// keeps its number for the next arrival, in this phase or a later one.
func (p *phaseRun) startSession(intendedNS, nowNS int64) bool {
	if !p.sessions.take() {
		return false
	}
	if !p.prefill.take() {
		p.sessions.give()
		return false
	}
	t := turn{session: p.e.nextSession, count: max(1, p.e.source.Turns(p.e.nextSession)), intendedNS: intendedNS}
	p.e.nextSession++
	p.stats.SentSessions++
	p.stats.TotalSessionTurns += int64(t.count)
	p.unsent += int64(t.count)
	p.issue(t, nowNS)
	p.lookAhead()
	return true
}

// issue sends a turn that has its slots and may be sent.
func (p *phaseRun) issue(t turn, nowNS int64) {
	url := int(t.session % uint64(p.e.plan.URLs))
	c := Credit{
		Phase: p.stats.Index, ID: p.stats.RequestsSent,
		Session: t.session, Turn: t.index, Final: t.index == t.count-1,
		URLIndex:   url,
		IntendedNS: t.intendedNS, IssuedNS: nowNS,
		CancelAfterNS: p.cancelAfterNS(),
	}
	p.inFlight[c.ID] = flight{credit: c, count: t.count, prefill: true}
	p.stats.RequestsSent++
	p.stats.RequestsPerURL[url]++
	p.unsent--
	p.e.sender.Send(c)
	p.finishAfterFinalCredit(nowNS)
}

// finishAfterFinalCredit completes sending when no further credit can come.
func (p *phaseRun) finishAfterFinalCredit(nowNS int64) {
	last := p.phase.Requests > 0 && p.stats.RequestsSent >= p.phase.Requests ||
		p.phase.Sessions > 0 && p.stats.SentSessions >= p.phase.Sessions && p.unsent == 0
	if last && p.sending() {
		p.finishSending(nowNS)
	}
}

// cancelAfterNS draws whether the client of the next credit goes away. Draws are addressed by the number of the
// profiling credit in the run, so that a warm-up does not change them.
func (p *phaseRun) cancelAfterNS() int64 {
	if p.phase.Kind != Profiling {
		return -1
	}
	draw := p.e.cancellationDraws.At(p.e.profilingCredits)
	p.e.profilingCredits++
	if draw.Float64() < p.phase.Cancellation.Percent/100 {
		return int64(p.phase.Cancellation.Delay)
	}
	return -1
}

// lookAhead announces the next sessions to the sender.
func (p *phaseRun) lookAhead() {
	if p.stats.State > Started {
		return
	}
	ahead := p.aheadOf()
	if p.phase.Sessions > 0 {
		ahead = min(ahead, p.phase.Sessions-p.stats.SentSessions)
	}
	if p.phase.Requests > 0 {
		ahead = min(ahead, p.phase.Requests-p.stats.RequestsSent)
	}
	for end := p.e.nextSession + uint64(max(0, ahead)); p.e.prepared < end; p.e.prepared++ {
		p.e.sender.Prepare(p.stats.Index, p.e.prepared, 0)
	}
}

// aheadOf is how many sessions are kept prepared: what starts at once in a burst, some time's worth of a rate.
func (p *phaseRun) aheadOf() int64 {
	const (
		least, most    = 64, 256
		stretchSeconds = 0.01
	)
	if p.phase.Concurrency > 0 {
		return min(int64(p.phase.Concurrency), most)
	}
	return int64(min(max(p.phase.Arrivals.Rate*stretchSeconds, least), most))
}
