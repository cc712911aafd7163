package load

import "math"

// expired reports whether the duration is over.
func (p *phaseRun) expired(nowNS int64) bool {
	return p.durationEndNS != 0 && nowNS >= p.durationEndNS
}

// maySend reports whether a turn of any kind may be sent.
func (p *phaseRun) maySend(nowNS int64) bool {
	return p.sending() && !p.expired(nowNS) &&
		(p.phase.Requests == 0 || p.stats.RequestsSent < p.phase.Requests) &&
		(p.phase.Sessions == 0 || p.stats.SentSessions < p.phase.Sessions || p.unsent > 0)
}

// mayStart reports whether a new session may be started.
func (p *phaseRun) mayStart(nowNS int64) bool {
	return p.maySend(nowNS) && (p.phase.Sessions == 0 || p.stats.SentSessions < p.phase.Sessions)
}

// send issues every credit that is due and has its slots. It reports whether it stopped before it was through.
func (p *phaseRun) send(nowNS int64) (more bool) {
	p.openBarrier(nowNS)
	p.admitArrived()
	for p.delayed.len() > 0 && p.delayed.dueNS() <= nowNS {
		if p.mode.startDue(p.delayed.dueNS() - 1) {
			p.admitArrived()
			continue
		}
		p.queueDue(p.delayed.pop(), nowNS)
	}
	for range maxIssues {
		if !p.mode.startDue(nowNS) {
			break
		}
	}
	p.admitArrived()
	// A new session may have children that lack only a prefill slot.
	return p.issueAdmitted() || p.mode.issueNew() || p.sending() && p.admitted.len() > 0 && p.prefill.free()
}

// admitArrived gives session slots to the turns that wait for one, in the order of their time.
func (p *phaseRun) admitArrived() {
	for p.arrived.len() > 0 && p.sessions.acquire() {
		p.admitted.push(p.arrived.pop())
	}
}

// queueDue puts a turn whose time has come into the queue for what it needs next; a silent one needs nothing.
func (p *phaseRun) queueDue(t turn, nowNS int64) {
	if t.node != nil && t.node.silent(t.index) {
		p.nodeReturned(t, nowNS)
		return
	}
	p.mode.queue(t.node != nil && t.node.parent != nil && t.index == 0).push(t)
}

// issueAdmitted issues the turns that lack only a prefill slot, and reports whether it stopped before it was through.
func (p *phaseRun) issueAdmitted() (more bool) {
	for range maxIssues {
		// Time passes while credits are issued: each is judged by a fresh reading.
		now := p.e.clock.NowNS()
		switch {
		case p.admitted.len() == 0 || !p.sending():
			return false
		case !p.maySend(now):
			// Only the loop declares the end of the duration.
			return p.expired(now)
		case p.admitted.peek().gone():
			p.admitted.pop()
		case !p.prefill.acquire():
			return false
		default:
			p.issue(p.admitted.pop(), now)
		}
	}
	return true
}

// issueEach calls a step, which issues at most one credit, until it reports that no other one can follow now.
func (p *phaseRun) issueEach(step func(nowNS int64) bool) (more bool) {
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

// anyReady reports whether a continuation waits.
func (p *phaseRun) anyReady() bool {
	for p.ready.len() > 0 && p.ready.peek().gone() {
		p.ready.pop()
	}
	return p.ready.len() > 0
}

// startSession issues the first turn of the next session and reports whether it did. Without both slots nothing
// happens: the session keeps its number for the next arrival, in this phase or a later one.
func (p *phaseRun) startSession(intendedNS, nowNS int64) bool {
	if !p.sessions.acquire() {
		return false
	}
	if !p.prefill.acquire() {
		p.sessions.release()
		return false
	}
	k := p.numbers.take()
	p.e.used.Sessions = max(p.e.used.Sessions, k+1)
	if shape := p.shape(k); shape != nil {
		p.prefill.release()
		p.startTree(k, shape, intendedNS, nowNS)
	} else {
		p.issue(turn{session: k, count: max(1, p.e.source.Turns(k)), intendedNS: intendedNS}, nowNS)
	}
	p.lookAhead()
	return true
}

// beginSession counts a session whose first turn is sent, and returns the index of its URL.
func (p *phaseRun) beginSession(turns int) (url int) {
	url = p.e.urlOf(p.begun.take())
	p.countSession(turns)
	return url
}

// urlOf returns the index of the URL of a session that begins, by its number among those.
func (e *Engine) urlOf(begun uint64) int {
	e.used.Begun = max(e.used.Begun, begun+1)
	return int(begun % uint64(e.plan.URLs))
}

func (p *phaseRun) countSession(turns int) {
	p.stats.SentSessions++
	p.stats.TotalSessionTurns += int64(turns)
	p.unsent += int64(turns)
}

// issue sends a turn that has its slots and may be sent.
func (p *phaseRun) issue(t turn, nowNS int64) {
	switch {
	case t.index > 0 || t.node != nil:
	case t.place.of != nil:
		t.url = p.e.urlOf(p.begun.base + t.place.start)
		p.countSession(t.count)
	default:
		t.url = p.beginSession(t.count)
	}
	id := p.creditID(&t)
	c := Credit{
		Phase: p.stats.Index, ID: id,
		Session: t.session, Turn: t.index, Final: t.index == t.count-1,
		URLIndex: t.url, User: t.user, Depth: t.node.depth(), Origin: t.origin,
		IntendedNS: t.intendedNS, IssuedNS: nowNS,
		CancelAfterNS: p.cancelAfterNS(uint64(id)),
	}
	t.credit = id
	c.Job, c.JobRequests = t.job()
	c.Begins = t.begins()
	p.inFlight[c.ID] = flight{turn: t, issuedNS: nowNS, prefill: true}
	p.stats.RequestsSent++
	p.stats.RequestsPerURL[t.url]++
	p.unsent--
	t.node.sent()
	p.sendCredit(c)
	p.finishAfterFinalCredit(nowNS)
}

// sendCredit passes a credit to the sender, or adds it to those that a barrier sends together.
func (p *phaseRun) sendCredit(c Credit) {
	if p.barrier.size > 0 {
		if p.barrier.gathers {
			p.barrier.credits = append(p.barrier.credits, c)
			return
		}
		p.stats.Barrier.released(c.IssuedNS)
	}
	p.e.sender.Send(c)
}

// finishAfterFinalCredit completes sending when no further credit can come.
func (p *phaseRun) finishAfterFinalCredit(nowNS int64) {
	last := p.phase.Requests > 0 && p.stats.RequestsSent >= p.phase.Requests ||
		p.phase.Sessions > 0 && p.stats.SentSessions >= p.phase.Sessions && p.unsent == 0
	if last && p.sending() {
		p.finishSending(nowNS)
	}
}

// creditID returns the number of the next credit in the phase.
func (p *phaseRun) creditID(t *turn) int64 {
	if t.place.of != nil {
		return t.place.of.number(t)
	}
	return int64(p.credits.take())
}

// cancelAfterNS draws whether and when the client of a credit cancels it. Draws are addressed by the number of the
// profiling credit in the run, so that a warm-up does not change them.
func (p *phaseRun) cancelAfterNS(credit uint64) int64 {
	if p.phase.Kind != Profiling {
		return -1
	}
	k := p.drawsFrom + credit
	p.e.used.Credits = max(p.e.used.Credits, k+1)
	draw := p.e.cancellationDraws.At(k)
	if draw.Float64() < p.phase.Cancellation.Percent/100 {
		return int64(p.phase.Cancellation.Delay)
	}
	return -1
}

// lookAhead announces the next sessions to the sender.
func (p *phaseRun) lookAhead() {
	if p.stats.State <= Started {
		p.mode.announce()
	}
}

// lookAheadSize returns how many sessions are kept prepared: what starts at once in a burst, some time's worth of a
// rate.
func (p *Phase) lookAheadSize() int64 {
	const (
		least, most  = 64, 256
		aheadSeconds = 0.01
	)
	switch {
	case p.Barrier:
		return max(p.barrierSize(), least)
	case p.Concurrency > 0:
		return min(int64(p.Concurrency), most)
	}
	rate := p.Arrivals.Rate
	for _, point := range p.Arrivals.Series {
		rate = max(rate, point.Rate)
	}
	return int64(min(max(math.Ceil(rate*aheadSeconds), least), most))
}
