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

	// schedule is nil in a burst phase.
	schedule          *schedule
	sessions, prefill slots
	inFlight          map[int64]flight
	// unsent counts the turns of started sessions that were not sent yet.
	unsent int64

	// delayed turns wait for their delay, ready ones for an arrival (in a burst for a prefill slot),
	// admitted ones have taken their arrival and wait for a prefill slot.
	delayed  delays
	ready    fifo
	admitted fifo

	// Instants, 0 = never: the end of the duration and of the wait for what was cut off.
	durationEndNS, drainEndNS int64
	armedNS                   int64
}

// flight is a credit that has not returned.
type flight struct {
	credit  Credit
	count   int  // turns of the session
	prefill bool // holds a prefill slot
}

// maxIssues bounds the credits issued between two looks at the mailbox, so that a rate beyond what can be sent
// cannot keep the loop from hearing a stop.
const maxIssues = 256

func newPhaseRun(e *Engine, index int) *phaseRun {
	phase := e.plan.Phases[index]
	return &phaseRun{
		e:        e,
		phase:    phase,
		stats:    newStats(index, phase, e.plan.URLs),
		sessions: slots{limit: phase.Concurrency},
		prefill:  slots{limit: phase.Prefill},
		inFlight: make(map[int64]flight),
	}
}

// run is the loop: it takes the mail, does what is due and waits. It returns with the phase complete.
func (p *phaseRun) run(ctx context.Context) {
	p.start()
	for {
		p.readMail()
		more := p.act(ctx)
		if p.stats.State == Complete {
			return
		}
		p.e.publish(&p.stats)
		if !more {
			p.wait(ctx)
		}
	}
}

func (p *phaseRun) start() {
	now := p.e.clock.NowNS()
	p.stats.StartNS = now
	if process := newProcess(p.phase.Arrivals, p.e.plan.Seed); process != nil {
		p.schedule = newSchedule(process, now)
	}
	if p.phase.Duration > 0 {
		p.durationEndNS = later(now, p.phase.Duration)
		if p.phase.Grace < Infinite {
			p.stats.GraceEndNS = later(p.durationEndNS, p.phase.Grace)
		}
	}
	p.enter(Started)
}

// later adds without overflow.
func later(ns int64, d time.Duration) int64 {
	if int64(d) > math.MaxInt64-ns {
		return math.MaxInt64
	}
	return ns + int64(d)
}

// enter changes the state and tells everybody.
func (p *phaseRun) enter(s State) {
	p.stats.State = s
	p.e.publish(&p.stats)
	event := PhaseEvent{State: s, Stats: p.stats}
	event.Stats.RequestsPerURL = slices.Clone(p.stats.RequestsPerURL)
	p.e.watcher.send(event)
}

func (p *phaseRun) sending() bool { return p.stats.State == Started }

// act does what is due now and tells whether more of it is left.
func (p *phaseRun) act(ctx context.Context) (more bool) {
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
		more = p.send(now)
	}
	if !p.sending() {
		p.settle(p.e.clock.NowNS())
		return false
	}
	return more
}

// wait returns at the next deadline, at mail or at the end of the context. It may return early.
func (p *phaseRun) wait(ctx context.Context) {
	deadline := p.deadlineNS()
	if deadline <= p.e.clock.NowNS() {
		return
	}
	if deadline != p.armedNS {
		p.armedNS = deadline
		if deadline != math.MaxInt64 {
			p.e.timer.Reset(deadline)
		}
	}
	select {
	case <-p.e.mail.wake:
	case <-p.e.timer.C():
		p.armedNS = 0
	case <-ctx.Done():
	}
}

// deadlineNS is the earliest instant at which something is to be done without mail.
func (p *phaseRun) deadlineNS() int64 {
	earliest := int64(math.MaxInt64)
	consider := func(ns int64) {
		if ns != 0 && ns < earliest {
			earliest = ns
		}
	}
	if !p.sending() {
		if p.drainEndNS == 0 {
			consider(p.stats.GraceEndNS)
		}
		consider(p.drainEndNS)
		return earliest
	}
	consider(p.durationEndNS)
	if p.schedule != nil {
		consider(p.schedule.dueNS())
	}
	if p.delayed.len() > 0 {
		consider(p.delayed.dueNS())
	}
	return earliest
}
