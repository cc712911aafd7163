package load

import "time"

// numbered is what closedLoop and openLoop have in common: sessions begin in the order of their numbers in the source,
// and a turn follows the return of the one before after its think time.
type numbered struct {
	p *phaseRun
	// Sessions up to prepared, exclusive, are announced to the sender.
	prepared uint64
}

func (*numbered) start(int64)         {}
func (*numbered) dueNS() int64        { return 0 }
func (*numbered) startDue(int64) bool { return false }

// queue lets a continuation wait for an arrival, or in a closed loop for a prefill slot. The first turn of a child
// needs no arrival: its tree has used one.
func (m *numbered) queue(child bool) *fifo {
	if child {
		return &m.p.admitted
	}
	return &m.p.ready
}

// follow waits for the think time of the source. Which arrival the turn takes is not known before that.
func (m *numbered) follow(session uint64, turn int, _, nowNS int64) (dueNS, intendedNS int64) {
	if delay := m.p.e.source.DelayNS(session, turn); delay > 0 {
		return addNS(nowNS, time.Duration(delay)), 0
	}
	return 0, 0
}

func (*numbered) keeps(*node, Outcome) bool { return false }

// announce announces the sessions that may begin soon, but none that the stop conditions leave no room for.
func (m *numbered) announce() {
	p := m.p
	ahead := p.phase.lookAheadSize()
	if p.phase.Sessions > 0 {
		ahead = min(ahead, p.phase.Sessions-p.stats.SentSessions)
	}
	if p.phase.Requests > 0 {
		ahead = min(ahead, p.phase.Requests-p.stats.RequestsSent)
	}
	end := p.numbers.after(max(0, ahead))
	for ; m.prepared < end; m.prepared += p.numbers.step {
		k := m.prepared
		if shape := p.shape(k); shape != nil {
			p.e.opener.Open(Opening{Session: k, Conversation: -1, Root: k})
			if shape.Nodes[0].Turns[0].Silent {
				continue
			}
		}
		p.e.sender.Prepare(p.stats.Index, k, 0)
	}
}

func (m *numbered) endSending(int64) {
	for m.prepared > m.p.numbers.next {
		m.prepared -= m.p.numbers.step
		m.p.e.sender.Forget(m.prepared)
	}
}

// closedLoop is a burst: a credit is issued as soon as a slot is free, so that the concurrency is what is given and the
// rate what the service makes of it.
type closedLoop struct{ numbered }

func (m *closedLoop) issueNew() (more bool) { return m.p.issueEach(m.fill) }

// fill issues one credit if a slot is free: continuations first, then new sessions.
func (m *closedLoop) fill(nowNS int64) bool {
	p := m.p
	if p.anyReady() {
		if !p.prefill.acquire() {
			return false
		}
		p.issue(p.ready.pop(), nowNS)
		return true
	}
	return p.mayStart(nowNS) && p.startSession(0, nowNS)
}

// openLoop is a rate: arrivals come at the instants of a pacer, whether or not the service has answered. Each is for
// one turn, of a session that waits for it or of a new one.
type openLoop struct {
	numbered
	// pacer is empty until the start.
	pacer *pacer
}

func (m *openLoop) start(nowNS int64) {
	p := m.p
	changing := newRateIntegral(p.phase.Arrivals, p.e.plan.Seed)
	if from, adapts := p.phase.adaptsFrom(ControlRequestRate); adapts {
		changing = rateSegments{}.then(0, from, 0)
	}
	m.pacer = p.phase.Arrivals.pacer(changing, p.e.plan.Seed, nowNS, p.taking)
}

func (m *openLoop) dueNS() int64 { return m.pacer.dueNS() }

func (m *openLoop) issueNew() (more bool) { return m.p.issueEach(m.arrive) }

// arrive uses one arrival of the pacer if it is due: for the oldest continuation, else for a new session. A
// continuation keeps its arrival while it waits for a prefill slot, without holding up the pacer; a session
// without a slot loses it. No new session overtakes a waiting continuation, since it would need a prefill slot too.
func (m *openLoop) arrive(nowNS int64) bool {
	p := m.p
	due := m.pacer.dueNS()
	if due > nowNS {
		return false
	}
	m.pacer.advance()
	switch {
	case p.anyReady():
		t := p.ready.pop()
		t.intendedNS = due
		if p.prefill.acquire() {
			p.issue(t, nowNS)
		} else {
			p.admitted.push(t)
		}
	case p.mayStart(nowNS):
		if !p.startSession(due, nowNS) {
			p.stats.SkippedArrivals++
		}
	}
	p.stats.DroppedByCatchup += m.pacer.catchUp(p.e.clock.NowNS(), int64(p.e.opt.MaxCatchup))
	return true
}

// endSending makes the target rate the mean of a rate that changed, over the time in which was sent.
func (m *openLoop) endSending(nowNS int64) {
	if rate, changes := m.pacer.meanRate(nowNS); changes {
		m.p.stats.TargetRate = rate / m.p.share.width()
	}
	m.numbered.endSending(nowNS)
}
