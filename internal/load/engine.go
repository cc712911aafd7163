package load

import (
	"context"
	"slices"
	"sync"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/random"
)

// The defaults of Options, for who has nothing better.
const (
	DefaultMaxCatchup         = 10 * time.Millisecond
	DefaultCancelDrainTimeout = 10 * time.Second
	DefaultGateTimeout        = 10 * time.Second
)

// Options are what an Engine needs from outside.
type Options struct {
	Clock *clock.Clock
	// Timer wakes the loop; nil means the best of the system. A timer given here is not stopped by the engine.
	Timer clock.Timer
	// MaxCatchup is the lag up to which missed arrivals are sent late instead of dropped; 0 keeps none.
	MaxCatchup time.Duration
	// CancelDrainTimeout is how long requests that were cut off may take to return; 0 means the default.
	CancelDrainTimeout time.Duration
	Gates              Gates
	// Observe hears of every change of state, in order, on a goroutine of its own.
	Observe func(PhaseEvent)
}

// Gates hold a phase up at its two ends. A gate must return when its context ends; the phase does not wait longer.
type Gates struct {
	// BeforeFirstCredit runs before the clock of the phase starts, AfterLastReturn after its last return.
	BeforeFirstCredit, AfterLastReturn func(ctx context.Context, phase int)
	// Timeout bounds each; 0 means the default.
	Timeout time.Duration
}

// Result is what became of the phases that were started.
type Result struct {
	Phases []Stats
	// Cancelled is true when Stop, Abort or the context ended the run.
	Cancelled bool
}

// Engine runs a plan once. Its exported methods may be called from any goroutine.
type Engine struct {
	plan   Plan
	source Source
	sender Sender
	opt    Options
	clock  *clock.Clock
	mail   *mailbox
	// hearsContent is set when some phase limits prefill; otherwise first contents are not worth a message.
	hearsContent bool

	// What follows belongs to the loop. nextSession and the profiling credits go on over the phases;
	// sessions up to prepared, exclusive, are announced to the sender.
	timer             clock.Timer
	nextSession       uint64
	prepared          uint64
	profilingCredits  uint64
	cancellationDraws random.Stream
	watcher           *observer

	mu        sync.Mutex
	published []Stats
}

// New makes an engine; Run starts it.
func New(plan Plan, source Source, sender Sender, opt Options) *Engine {
	if opt.Clock == nil {
		opt.Clock = clock.New()
	}
	if opt.CancelDrainTimeout == 0 {
		opt.CancelDrainTimeout = DefaultCancelDrainTimeout
	}
	if opt.Gates.Timeout == 0 {
		opt.Gates.Timeout = DefaultGateTimeout
	}
	plan.URLs = max(1, plan.URLs)
	return &Engine{
		plan: plan, source: source, sender: sender, opt: opt, clock: opt.Clock,
		mail:              newMailbox(),
		hearsContent:      slices.ContainsFunc(plan.Phases, func(p Phase) bool { return p.Prefill > 0 }),
		cancellationDraws: plan.Seed.Stream("timing.request.cancellation"),
	}
}

// FirstContent implements Events.
func (e *Engine) FirstContent(c Credit) {
	if e.hearsContent {
		e.mail.post(message{phase: c.Phase, id: c.ID, content: true})
	}
}

// Returned implements Events.
func (e *Engine) Returned(c Credit, o Outcome) {
	e.mail.post(message{phase: c.Phase, id: c.ID, outcome: o})
}

// Stop ends the run early in good order: nothing more is sent, what is in flight is cut off and waited for as
// long as CancelDrainTimeout, the phase completes and those after it are left out.
func (e *Engine) Stop() { e.mail.requestStop(stopping{}) }

// Abort stops like Stop; Run returns the reason.
func (e *Engine) Abort(reason error) { e.mail.requestStop(stopping{reason: reason}) }

// Snapshot is the state of all phases that have begun, the running one last.
func (e *Engine) Snapshot() []Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.Clone(e.published)
	for i := range all {
		all[i].RequestsPerURL = slices.Clone(all[i].RequestsPerURL)
	}
	return all
}

// publish makes the numbers of a phase visible to Snapshot.
func (e *Engine) publish(s *Stats) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.Index == len(e.published) {
		e.published = append(e.published, Stats{})
	}
	to := &e.published[s.Index]
	perURL := append(to.RequestsPerURL[:0], s.RequestsPerURL...)
	*to = *s
	to.RequestsPerURL = perURL
}

// Run carries out the plan; it may be called once. The end of ctx ends everything at once, without waiting for
// what is in flight. The result is valid whatever the error: that of the plan, the cause of the context's end or
// the reason of Abort.
func (e *Engine) Run(ctx context.Context) (Result, error) {
	if err := e.plan.Validate(); err != nil {
		return Result{}, err
	}
	e.timer = e.opt.Timer
	if e.timer == nil {
		e.timer = clock.NewTimer(e.clock)
		defer e.timer.Stop()
	}
	defer e.mail.close()
	e.watcher = newObserver(e.opt.Observe, len(e.plan.Phases))
	defer e.watcher.close()

	for i := range e.plan.Phases {
		e.runPhase(ctx, i)
		if ctx.Err() != nil || e.mail.stopRequest() != nil {
			break
		}
	}
	res := Result{Phases: e.Snapshot()}
	for _, s := range res.Phases {
		res.Cancelled = res.Cancelled || s.WasCancelled
	}
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	if stop := e.mail.stopRequest(); stop != nil {
		// A stop that came after the last return found nothing to stop, but was heard.
		res.Cancelled = true
		return res, stop.reason
	}
	return res, nil
}

func (e *Engine) runPhase(ctx context.Context, index int) {
	p := newPhaseRun(e, index)
	e.publish(&p.stats)
	p.lookAhead() // requests are made ready while the gate is closed
	e.passGate(ctx, e.opt.Gates.BeforeFirstCredit, index, true)
	p.run(ctx)
	e.passGate(ctx, e.opt.Gates.AfterLastReturn, index, false)
}

// passGate waits for a gate, no longer than its timeout; a gate that can be stopped is left at a stop.
func (e *Engine) passGate(ctx context.Context, gate func(context.Context, int), phase int, stoppable bool) {
	if gate == nil || ctx.Err() != nil || stoppable && e.mail.stopRequest() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, e.opt.Gates.Timeout)
	defer cancel()
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		gate(ctx, phase)
	}()
	for {
		select {
		case <-passed:
			return
		case <-ctx.Done():
			return
		case <-e.mail.wake: // the loop takes the mail before it waits again
			if stoppable && e.mail.stopRequest() != nil {
				return
			}
		}
	}
}
