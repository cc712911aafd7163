package load

import (
	"context"
	"math"
	"slices"
	"time"
)

// phaseRun is one running phase. All of it belongs to the loop.
type phaseRun struct {
	e     *Engine
	phase Phase
	stats Stats
	stage stage
	// gate is that of the stage.
	gate *gate

	// pacer says when the arrivals of a rate are due, timetable those of a recording or of users; neither is set in a
	// burst.
	pacer     *pacer
	timetable timetable
	// sessions and prefill are shared with the phases before a seamless one.
	sessions, prefill *slots
	ramps             []limitRamp
	adaptive          *controller
	barrier           *barrier
	inFlight          map[int64]flight
	trees             map[*tree]struct{}
	// unsent counts the turns of started sessions that were not sent yet; opened the first turns that a timetable
	// has given.
	unsent, opened int64

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

func newPhaseRun(e *Engine, index int) *phaseRun {
	phase := e.plan.Phases[index]
	p := &phaseRun{
		e:        e,
		sessions: &slots{},
		prefill:  &slots{},
		inFlight: make(map[int64]flight),
		trees:    make(map[*tree]struct{}),
	}
	switch {
	case phase.Schedule != nil:
		replayed := newRecording(e.entries, *phase.Schedule, e.nextSession)
		phase.Sessions, phase.Requests = replayed.limits(phase.Sessions, phase.Requests)
		p.timetable = replayed
	case phase.Users != nil:
		users := *phase.Users
		if phase.Adaptive != nil && phase.Adaptive.Variable == ControlUsers {
			users.Count = int(phase.Adaptive.withDefaults(phase).Min)
		}
		p.timetable = newUserTimetable(users, e.nextSession, e.source.Turns)
	case phase.Lanes != nil:
		if e.lanes == nil {
			e.makeLanes(phase)
		}
		phase.Requests = e.laneRequests(phase)
	}
	p.phase = phase
	p.stats = newStats(index, phase, e.plan.URLs)
	if phase.Schedule != nil {
		p.stats.FirstDueNS, _ = p.timetable.next()
	}
	if phase.Adaptive != nil {
		p.adaptive = newController(phase, e.opt.Windows, e.clock, index)
		p.adaptive.result.Summary.ProfilingIndex = e.plan.profilingIndex(index)
	}
	return p
}

// start starts the clock of the phase.
func (p *phaseRun) start() {
	now := p.e.clock.NowNS()
	p.stage = running
	p.stats.StartNS = now
	p.startLimits()
	changing := newRateIntegral(p.phase.Arrivals, p.e.plan.Seed)
	if p.adaptive != nil && p.phase.Adaptive.Variable == ControlRequestRate {
		changing = rateSegments{}.then(0, p.adaptive.value, 0)
	}
	p.pacer = p.phase.Arrivals.pacer(changing, p.e.plan.Seed, now)
	if p.timetable != nil {
		p.timetable.start(now)
	}
	if p.adaptive != nil {
		p.adaptive.start(now)
		p.setControl(now)
		p.publishSearch()
	}
	if p.phase.Duration > 0 {
		p.durationEndNS = addNS(now, p.phase.Duration)
		if p.phase.Grace < Infinite {
			p.stats.GraceEndNS = addNS(p.durationEndNS, p.phase.Grace)
		}
	}
	p.setState(Started)
	if p.phase.Lanes != nil {
		p.startLanes(now)
	}
}

// startLimits applies the limits of the phase, or the first ones of their ramps.
func (p *phaseRun) startLimits() {
	p.sessions.limit, p.prefill.limit = p.phase.Concurrency, p.phase.Prefill
	seed := p.e.plan.Seed
	for _, r := range []limitRamp{
		{p.sessions, p.phase.ConcurrencyRamp.steps(p.phase.Concurrency, rampDraws(seed, concurrencyDraws))},
		{p.prefill, p.phase.PrefillRamp.steps(p.phase.Prefill, rampDraws(seed, prefillDraws))},
	} {
		if len(r.steps) > 0 {
			p.ramps = append(p.ramps, r)
		}
	}
	p.ramp(p.stats.StartNS)
}

// ramp applies the steps of the limits that are due.
func (p *phaseRun) ramp(nowNS int64) {
	for i := range p.ramps {
		p.ramps[i].apply(nowNS - p.stats.StartNS)
	}
	p.ramps = slices.DeleteFunc(p.ramps, func(r limitRamp) bool { return len(r.steps) == 0 })
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
		if !p.mayBegin(ctx) {
			return false
		}
		p.start()
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

// mayBegin reports whether the phase need not wait for its start any longer; at an early end it need not.
func (p *phaseRun) mayBegin(ctx context.Context) bool {
	if ctx.Err() != nil || p.e.mail.stopRequest() != nil {
		p.gate.cancel()
		return true
	}
	return p.gate.open.Load() && p.barrier.mayOpen(p.e.clock.NowNS())
}

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
		p.ramp(now)
		p.assess(now)
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

// deadlineNS returns the earliest instant at which something is to be done without mail.
func (p *phaseRun) deadlineNS() int64 {
	earliest := int64(math.MaxInt64)
	consider := func(ns int64) {
		if ns != 0 && ns < earliest {
			earliest = ns
		}
	}
	switch {
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
	if p.pacer != nil {
		consider(p.pacer.dueNS())
	}
	if due, any := p.nextStart(); any {
		consider(due)
	}
	if p.delayed.len() > 0 {
		consider(p.delayed.dueNS())
	}
	for _, r := range p.ramps {
		consider(p.stats.StartNS + r.steps[0].atNS)
	}
	if p.adaptive != nil {
		consider(p.adaptive.dueNS)
	}
	return earliest
}
