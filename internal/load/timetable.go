package load

// timetable determines when the sessions of a phase start and when their turns follow, whatever the service does.
type timetable interface {
	// start sets the instant of the phase's start.
	start(nowNS int64)
	// next returns when the next session starts, if one does; pop gives its first turn.
	next() (dueNS int64, any bool)
	pop() turn
	// follow returns when a turn is due, and its arrival by the plan. The turn before it, which has returned now, had
	// its own at beforeNS.
	follow(session uint64, turn int, beforeNS, nowNS int64) (dueNS, intendedNS int64)
	// announce reports sessions that will start soon and were not announced.
	announce(ahead int64, to func(Opening))
	// drop reports the sessions that were announced and did not start.
	drop(to func(session uint64))
}

// timetabled is the mode of a recording and of users: an open loop of sessions rather than of requests. A session has
// its arrival from a timetable and waits for a session slot; its turns follow by the timetable and need no arrival. It
// is a list of turns: branches of the source are not played.
type timetabled struct {
	p         *phaseRun
	timetable timetable
	// opened counts the sessions that were queued. The limit of sessions holds for them, not only for those that were
	// sent: those that wait for a slot will be.
	opened int64
}

func (m *timetabled) start(nowNS int64) { m.timetable.start(nowNS) }

// next returns when the next session starts, if one does.
func (m *timetabled) next() (dueNS int64, any bool) {
	if m.p.phase.Sessions > 0 && m.opened >= m.p.phase.Sessions {
		return 0, false
	}
	return m.timetable.next()
}

func (m *timetabled) dueNS() int64 {
	due, _ := m.next()
	return due
}

func (m *timetabled) startDue(byNS int64) bool {
	due, any := m.next()
	if !any || due > byNS {
		return false
	}
	m.opened++
	p, t := m.p, m.timetable.pop()
	p.e.used.Sessions = max(p.e.used.Sessions, t.session+1)
	p.arrived.push(t)
	p.lookAhead()
	return true
}

// issueNew issues nothing, as sessions that have started wait in the queues of the phase.
func (m *timetabled) issueNew() (more bool) {
	due, any := m.next()
	return m.p.sending() && any && due <= m.p.e.clock.NowNS()
}

func (m *timetabled) queue(bool) *fifo { return &m.p.admitted }

// follow lets a turn wait even if it is due, so that turns and the starts of sessions are queued in the order of their
// times.
func (m *timetabled) follow(session uint64, turn int, beforeNS, nowNS int64) (dueNS, intendedNS int64) {
	return m.timetable.follow(session, turn, beforeNS, nowNS)
}

func (*timetabled) keeps(*node, Outcome) bool { return false }

func (m *timetabled) announce() { m.timetable.announce(m.p.phase.lookAheadSize(), m.prepare) }

func (m *timetabled) prepare(o Opening) {
	m.p.e.opener.Open(o)
	m.p.e.sender.Prepare(m.p.stats.Index, o.Session, 0)
}

func (m *timetabled) endSending(int64) { m.timetable.drop(m.p.e.sender.Forget) }
