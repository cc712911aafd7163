package load

// mode is how the sessions of a phase begin and go on. The loop has what all phases have in common: slots, queues, stop
// conditions and the drain. For the rest it asks the mode, and never which one it is.
type mode interface {
	// start is called at the start of the phase, from when on turns may be sent.
	start(nowNS int64)
	// dueNS returns the instant of the next arrival, of a request or a session, 0 = none that is known.
	dueNS() int64
	// startDue queues the next session that starts at an instant of its own, if that is byNS or before. It reports
	// whether there was one. The loop calls it between turns that wait for their times, to keep the order of all.
	startDue(byNS int64) bool
	// issueNew issues what an arrival or a free slot allows, and reports whether it stopped before it was through.
	issueNew() (more bool)
	// queue returns the queue for what a turn needs next whose think time is over. It may be the first one of a child.
	queue(child bool) *fifo
	// follow returns when a turn of a session that is no tree is due, 0 = at once, and its arrival by the plan. The
	// turn before it, which has returned now, had its own at beforeNS.
	follow(session uint64, turn int, beforeNS, nowNS int64) (dueNS, intendedNS int64)
	// keeps reports whether a session of a tree waits for the next phase when a credit of it has returned, instead of
	// going on.
	keeps(n *node, o Outcome) bool
	// announce tells the sender which sessions begin next.
	announce()
	// endSending takes back what was announced and did not begin, when sending is complete.
	endSending(nowNS int64)
}

// newMode returns the mode of a phase, and the limits that only the mode knows: a recording ends with its last session.
// A share without a part in the phase gets a mode that begins nothing; that of lanes is kept, as it passes the numbers
// of their sessions on to the next phase.
func (p *phaseRun) newMode(whole *Phase, takesPart bool) mode {
	e, phase := p.e, &p.phase
	kind := whole.mode()
	switch {
	case kind == byLanes:
		if takesPart {
			if e.lanes == nil {
				p.makeLanes(*phase)
			}
			phase.Requests = e.laneRequests(*phase)
		}
		return p.newLaneMode()
	case kind == atRate:
		return &openLoop{numbered{p, p.numbers.next}, &pacer{}}
	case kind == asBurst || !takesPart:
		return &closedLoop{numbered{p, p.numbers.next}}
	case kind == bySchedule:
		replayed := newRecording(e.entries, *phase.Schedule, e.used.Sessions, p.share)
		phase.Sessions, phase.Requests = replayed.limits(whole.Sessions, whole.Requests)
		return &timetabled{p: p, timetable: replayed}
	}
	users := *phase.Users
	if from, adapts := phase.adaptsFrom(ControlUsers); adapts {
		users.Count = int(from)
	}
	all := newUserTimetable(users, e.used.Sessions, e.source.Turns)
	if p.share.Whole() {
		return &timetabled{p: p, timetable: all}
	}
	ofShare := newSharedUsers(all, p.share, *whole)
	phase.Sessions, phase.Requests = ofShare.sessions, ofShare.requests
	return &timetabled{p: p, timetable: ofShare}
}

// modeKind names how the sessions of a phase begin.
type modeKind uint8

// The kinds. A burst is a closed loop, and so are lanes, which begin a tree when the one before is done. Rates,
// schedules and users are open loops. The first in this order counts where an invalid phase asks for several.
const (
	asBurst modeKind = iota
	bySchedule
	byUsers
	byLanes
	atRate
)

// modes returns the kinds that a phase asks for: at most one in a valid phase, none in a burst.
func (p *Phase) modes() (asked []modeKind) {
	for kind, given := range [...]bool{
		bySchedule: p.Schedule != nil, byUsers: p.Users != nil, byLanes: p.Lanes != nil,
		atRate: p.Arrivals.Pattern != Burst,
	} {
		if given {
			asked = append(asked, modeKind(kind))
		}
	}
	return asked
}

// mode returns the kind of a valid phase.
func (p *Phase) mode() modeKind {
	if asked := p.modes(); len(asked) > 0 {
		return asked[0]
	}
	return asBurst
}
