package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
)

// The defaults of [Options].
const (
	DefaultCancelDrainTimeout = 10 * time.Second
	DefaultGateTimeout        = 10 * time.Second
	DefaultGatherTimeout      = time.Minute
)

// ErrChildFailed ends a plan that fails fast.
var ErrChildFailed = errors.New("a request of a child session failed")

// Options are what an Engine needs from outside.
type Options struct {
	Clock *clock.Clock
	// Timer wakes the loop; nil means the best of the system. A timer given here is not stopped by the engine.
	Timer clock.Timer
	// MaxCatchup is the lag up to which missed arrivals are sent late instead of dropped; 0 keeps none.
	MaxCatchup time.Duration
	// CancelDrainTimeout is how long requests that were cut off may take to return; 0 means the default.
	CancelDrainTimeout time.Duration
	// GatherTimeout bounds the wait of a phase with a barrier for its first requests to be ready; 0 means the default.
	GatherTimeout time.Duration
	Gates         Gates
	// Observe is called at every change of state, in order, on a goroutine of its own.
	Observe func(PhaseEvent)
	// Windows measures for adaptive phases how the service performs.
	Windows WindowSource
	// Join is called before each phase but the first, with what the plan has used so far; it waits for the other shares
	// of the run and returns the Max of all. A share of a plan with several phases needs it.
	Join func(ctx context.Context, phase int, used Used) (Used, error)
	// Begin is called when a phase is ready to start, and returns the instant of its start; one in the past is the
	// start, too. nil starts at once. Its context ends when the run does; an error ends the run.
	Begin func(ctx context.Context, phase int) (startNS int64, err error)
}

// Gates delay a phase at its two ends. A gate must return when its context ends; the phase does not wait longer.
// The last requests of the phase before a seamless one are in flight while its gate is waited for.
type Gates struct {
	// BeforeFirstCredit runs before the clock of the phase starts, AfterLastReturn after its last return.
	BeforeFirstCredit, AfterLastReturn func(ctx context.Context, phase int)
	// Timeout bounds each; 0 means the default.
	Timeout time.Duration
}

// Result is what became of the phases that were started.
type Result struct {
	Phases []Stats
	// Adaptive is what the adaptive phases found, in their order.
	Adaptive []AdaptiveResult
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
	// wantsFirstContent is set when some phase limits prefill; otherwise first contents are not worth a message.
	wantsFirstContent bool
	opener            Opener
	branching         Branching
	// entries are the sessions of the recording, where a phase has a schedule.
	entries *entries

	// What follows belongs to the loop. The numbers of sessions, children, begun sessions and profiling credits go on
	// over the phases: used has the first ones of the next phase.
	timer     clock.Timer
	armedNS   int64
	active    []*phaseRun
	used      Used
	nextChild uint64
	// meeting is the agreement with the other shares that the next phase waits for.
	meeting *meeting
	// lanes are shared by the phases that have them; traces is the queue of recordings that wait for a lane.
	lanes             []*lane
	lanesMade         lanesMade
	traces            []int
	cancellationDraws random.Stream
	watcher           *observer

	mu        sync.Mutex
	published []Stats
	searches  []AdaptiveResult
}

// New returns an engine for a plan; [Engine.Run] starts it.
func New(plan Plan, source Source, sender Sender, opt Options) *Engine {
	if opt.Clock == nil {
		opt.Clock = clock.New()
	}
	orDefault(&opt.CancelDrainTimeout, DefaultCancelDrainTimeout)
	orDefault(&opt.GatherTimeout, DefaultGatherTimeout)
	orDefault(&opt.Gates.Timeout, DefaultGateTimeout)
	plan.URLs = max(1, plan.URLs)
	e := &Engine{
		plan: plan, source: source, sender: sender, opt: opt, clock: opt.Clock,
		mail:              newMailbox(),
		wantsFirstContent: slices.ContainsFunc(plan.Phases, func(p Phase) bool { return p.Prefill > 0 }),
		nextChild:         FirstChild,
		cancellationDraws: plan.Seed.Stream("timing.request.cancellation"),
	}
	e.opener, _ = sender.(Opener)
	if branching, ok := source.(Branching); ok && e.opener != nil {
		e.branching = branching
	}
	return e
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// FirstContent implements Events.
func (e *Engine) FirstContent(c Credit) {
	if e.wantsFirstContent {
		e.mail.post(message{phase: c.Phase, id: c.ID, kind: firstContent})
	}
}

// Returned implements Events.
func (e *Engine) Returned(c Credit, o Outcome) {
	e.mail.post(message{phase: c.Phase, id: c.ID, kind: returned, outcome: o})
}

// Started implements Events.
func (e *Engine) Started(c Credit, startNS int64) {
	e.mail.post(message{phase: c.Phase, id: c.ID, kind: started, startNS: startNS})
}

// EndPhase ends the sending of a phase as if one of its stop conditions was met: the requests in flight are waited for,
// those that have not returned after the grace are cut off, and the next phase follows. [Infinite] waits as long as the
// phase does without; a longer grace than that of the phase has no effect. A phase that is not sending is left alone.
func (e *Engine) EndPhase(phase int, grace time.Duration) {
	e.mail.post(message{phase: phase, kind: endAsked, grace: grace})
}

// Stop ends the run early: nothing more is sent, what is in flight is cut off and waited for as
// long as CancelDrainTimeout, the phase completes and those after it are left out.
func (e *Engine) Stop() { e.mail.requestStop(stopRequest{}) }

// Abort stops like Stop; Run returns the reason.
func (e *Engine) Abort(reason error) { e.mail.requestStop(stopRequest{reason: reason}) }

// Snapshot returns the state of all phases that have begun, the running one last.
func (e *Engine) Snapshot() []Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.Clone(e.published)
	for i := range all {
		all[i].RequestsPerURL = slices.Clone(all[i].RequestsPerURL)
	}
	return all
}

// Searches returns what the adaptive phases that have begun did so far, in their order.
func (e *Engine) Searches() []AdaptiveResult {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.searches)
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
	if err := e.check(); err != nil {
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

	e.loop(ctx)
	e.meeting.giveUp()
	e.abandonLanes()
	res := Result{Phases: e.Snapshot(), Adaptive: e.Searches()}
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

// check validates the plan and checks that source, sender and options offer what it needs, so that no phase fails for
// the want of it after others have run. It reads the recording of a schedule, which is shared by the phases.
func (e *Engine) check() error {
	if err := e.plan.Validate(); err != nil {
		return err
	}
	if !e.plan.Share.Whole() && len(e.plan.Phases) > 1 && e.opt.Join == nil {
		return errors.New("a share of a plan with several phases needs to join the others before each")
	}
	recorded, _ := e.source.(Recorded)
	trees, _ := e.source.(Trees)
	_, cuts := e.sender.(PhaseCutter)
	for _, p := range e.plan.Phases {
		mode := p.mode()
		switch {
		case mode == bySchedule && (recorded == nil || e.opener == nil):
			return errors.New("a schedule needs a source with recorded times and a sender that plays them")
		case mode == byLanes && (trees == nil || trees.Traces() == 0 || e.opener == nil):
			return errors.New("lanes need a source with recorded trees and a sender that plays them")
		case mode == byUsers && e.opener == nil:
			return errors.New("users need a sender that supports them")
		case p.Seamless && !cuts:
			return errors.New("a seamless phase needs a sender that can cut off one phase alone")
		case p.Adaptive != nil && e.opt.Windows == nil:
			return errors.New("an adaptive phase needs windows of metrics")
		}
		if mode != bySchedule {
			continue
		}
		if e.entries == nil {
			var err error
			if e.entries, err = readRecording(recorded); err != nil {
				return err
			}
		}
		if first, end := e.entries.window(*p.Schedule); first >= end {
			return fmt.Errorf("phase %s: its part of the recording contains no conversation", p.Name)
		}
	}
	return nil
}
