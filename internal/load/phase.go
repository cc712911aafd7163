package load

import (
	"context"
	"math"
	"slices"
	"time"
)

// phaseRun is one running phase. All of it belongs to the loop.
type phaseRun struct {
	e *Engine
	// phase is the part of the plan's phase that is made here: share has its places, taking its arrivals, sessions and
	// counts.
	phase         Phase
	share, taking Share
	// replay is how trees are played.
	replay Lanes
	// idle phases have nothing to send here: other shares have all of it.
	idle  bool
	stats Stats
	stage stage
	// gate is that of the stage; beginning is the wait for the start, once all else is ready.
	gate      *gate
	beginning *beginning

	// numbers are those of the sessions of the source, begun those of the sessions that begin, credits those of the
	// requests in the phase; drawsFrom is that of the draws of credit 0.
	numbers, begun, credits numbering
	drawsFrom               uint64

	// mode is how sessions begin and go on.
	mode mode
	// sessions and prefill are shared with the phases before a seamless one.
	sessions, prefill *slots
	controls          []control
	barrier           barrier
	inFlight          map[int64]flight
	trees             map[*tree]struct{}
	// unsent counts the turns of started sessions that were not sent yet.
	unsent int64

	// delayed turns wait for their time, ready ones for an arrival (in a burst for a prefill slot), arrived ones
	// for a session slot; admitted ones lack only a prefill slot.
	delayed  delays
	ready    fifo
	arrived  fifo
	admitted fifo

	// Instants, 0 = never: the end of the duration and of the wait for what was cut off.
	durationEndNS, drainEndNS int64
}

// stage is what the loop does with a phase.
type stage uint8

const (
	opening stage = iota // waits at the start gate
	running
	closing // waits at the end gate
	gone
)

// flight is a credit that has not returned.
type flight struct {
	turn     turn
	issuedNS int64
	prefill  bool // holds a prefill slot
}

// maxIssues bounds the credits issued between two readings of the mailbox, so that a rate beyond what can be sent
// cannot keep the loop from hearing a stop.
const maxIssues = 256

// firstSession returns the number of the first session, if that of the next one would be another: of a phase that
// begins a pass, the next one that plays the first conversation.
func (p *Phase) firstSession(next uint64) uint64 {
	if n := uint64(p.Pass); n > 0 {
		next = (next + n - 1) / n * n
	}
	return next
}

// newPhaseRun returns the part of a phase that this engine makes. The order matters: the numbers depend on the share,
// the mode on the numbers, the limits on the mode, and whether there is anything to send on the limits.
func newPhaseRun(e *Engine, index int) *phaseRun {
	p := &phaseRun{
		e:        e,
		sessions: &slots{},
		prefill:  &slots{},
		inFlight: make(map[int64]flight),
		trees:    make(map[*tree]struct{}),
	}
	whole := e.plan.Phases[index]
	p.stats.Index = index
	e.used.Sessions = whole.firstSession(e.used.Sessions)
	var takesPart bool
	p.share, takesPart = e.plan.shareOf(index)
	p.takeFrom(e.used.Sessions)
	p.phase = whole.part(p.share, p.taking)
	p.replay = p.phase.replay()
	p.number()
	p.mode = p.newMode(&whole, takesPart)
	phase := &p.phase
	p.idle = !takesPart || whole.Requests > 0 && phase.Requests == 0 || whole.Sessions > 0 && phase.Sessions == 0 ||
		whole.mode() == bySchedule && phase.Sessions == 0
	p.stats = newStats(index, *phase, e.plan.URLs)
	p.stats.TargetRate /= p.share.width()
	switch {
	case p.idle:
		p.stats.TargetRate, p.stats.ExpectedRequests, p.stats.ExpectedSessions = 0, 0, 0
	case whole.mode() == bySchedule:
		p.stats.FirstDueNS = p.mode.dueNS()
	}
	return p
}

// number sets the numbers with which the phase begins.
func (p *phaseRun) number() {
	used := p.e.used
	p.numbers, p.begun, p.credits = p.taking.numbering(used.Sessions), p.taking.numbering(used.Begun),
		p.taking.numbering(0)
	if made := &p.e.lanesMade; p.e.lanes != nil && made.until == p.stats.Index-1 {
		p.numbers, p.begun = made.numbers, made.begun
	}
	p.drawsFrom = used.Credits
}

// start starts the clock of the phase, at an instant that may lie a little in the past. The mode comes last: it may
// queue turns, which only a phase that has started may send.
func (p *phaseRun) start(now int64) {
	p.stage = running
	p.stats.StartNS = now
	if p.idle {
		p.setState(Started)
		p.finishSending(now)
		return
	}
	p.startControls(now)
	if p.phase.Duration > 0 {
		p.durationEndNS = addNS(now, p.phase.Duration)
		if p.phase.Grace < Infinite {
			p.stats.GraceEndNS = addNS(p.durationEndNS, p.phase.Grace)
		}
	}
	p.setState(Started)
	p.mode.start(now)
}

// addNS adds without overflow.
func addNS(ns int64, d time.Duration) int64 {
	if int64(d) > math.MaxInt64-ns {
		return math.MaxInt64
	}
	return ns + int64(d)
}

// setState changes the state, publishes it and informs the observer.
func (p *phaseRun) setState(s State) {
	p.stats.State = s
	p.e.publish(&p.stats)
	event := PhaseEvent{State: s, Stats: p.stats}
	event.Stats.RequestsPerURL = slices.Clone(p.stats.RequestsPerURL)
	p.e.watcher.send(event)
}

func (p *phaseRun) sending() bool { return p.stats.State == Started }

// step does what is due now and reports whether more of it is left.
func (p *phaseRun) step(ctx context.Context) (more bool) {
	switch p.stage {
	case opening:
		startNS, begins := p.mayBegin(ctx)
		if !begins {
			return false
		}
		p.start(startNS)
		if p.e.mail.stopRequest() != nil {
			p.stop()
		}
	case closing:
		if p.gate.open.Load() {
			p.stage = gone
		}
		return false
	}
	more = p.stepRunning(ctx)
	if p.stats.State == Complete {
		p.stage = closing
		p.gate = p.e.newGate(ctx, p.e.opt.Gates.AfterLastReturn, p.stats.Index)
		return true
	}
	return more
}

// mayBegin reports whether the phase need not wait for its start any longer, and when that is; at an early end it need
// not.
func (p *phaseRun) mayBegin(ctx context.Context) (startNS int64, begins bool) {
	now := p.e.clock.NowNS()
	switch {
	case ctx.Err() != nil || p.e.mail.stopRequest() != nil:
		p.gate.cancel()
		p.beginning.giveUp()
		return now, true
	case !p.gate.open.Load() || !p.barrier.mayOpen(now):
		return 0, false
	case p.e.opt.Begin == nil:
		return now, true
	case p.beginning == nil:
		p.beginning = p.e.askBegin(ctx, p.stats.Index)
		return 0, false
	}
	at := p.beginning.startNS.Load()
	return at, at != 0 && at <= now
}

// stepRunning does what is due in a phase that has started: limits change before credits are issued under them, and the
// end of the duration comes before both.
func (p *phaseRun) stepRunning(ctx context.Context) (more bool) {
	now := p.e.clock.NowNS()
	if ctx.Err() != nil {
		p.endAtOnce(now)
		return false
	}
	if p.sending() && p.expired(now) {
		p.stats.TimeoutTriggered = true
		p.finishSending(now)
	}
	if p.sending() {
		p.control(now)
	}
	if p.sending() {
		more = p.send(now)
		p.capSystemIdle(now)
	}
	if !p.sending() {
		p.drain(p.e.clock.NowNS())
		return false
	}
	return more
}

// deadlineNS returns the earliest instant at which something is to be done without mail. What waits for a slot or for a
// return has no deadline: mail brings these.
func (p *phaseRun) deadlineNS() int64 {
	earliest := int64(math.MaxInt64)
	consider := func(ns int64) {
		if ns != 0 && ns < earliest {
			earliest = ns
		}
	}
	switch {
	case p.stage == opening && p.beginning != nil:
		consider(p.beginning.startNS.Load())
		return earliest
	case p.stage == opening:
		consider(p.barrier.deadlineNS())
		return earliest
	case p.stage >= closing:
		return earliest
	case !p.sending():
		if p.drainEndNS == 0 {
			consider(p.stats.GraceEndNS)
		}
		consider(p.drainEndNS)
		return earliest
	}
	consider(p.durationEndNS)
	consider(p.mode.dueNS())
	if p.delayed.len() > 0 {
		consider(p.delayed.dueNS())
	}
	for _, c := range p.controls {
		consider(c.dueNS())
	}
	return earliest
}
