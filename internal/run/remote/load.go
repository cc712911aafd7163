package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
)

// slack is how much longer than requests that are cut off the shares may take to end.
const slack = 5 * time.Second

// closeTimeout bounds the end of the shares after all records have come.
const closeTimeout = 10 * time.Second

// Options are what the load of a run is made of, and who hears of it.
type Options struct {
	// Shares make the load of Plan; instants are those of Clock.
	Shares Shares
	Plan   load.Plan
	Clock  *clock.Clock
	Gates  load.Gates
	// Observe is called at each change of a phase's state, in order; Deliver takes each record.
	Observe func(load.PhaseEvent)
	Deliver func(*record.Record)
	// Lost is told of shares that are lost, Abort of a reason to end the run.
	Lost  func(share int, reason error)
	Abort func(reason error)
	// DrainTimeout is how long requests that were cut off may take to return.
	DrainTimeout time.Duration
}

// Load makes the load of a run in shares and collects their records; it is the sink of the shares. It takes phases
// through their states as load's engine does: a phase is where the last of its shares is. A nil one has no shares to
// tell of.
type Load struct {
	o Options

	changed chan struct{} // there is news for Run
	// begun are closed when the phases begin.
	begun []chan struct{}
	// stopped ends waits when the run is to end early.
	stopped context.Context
	stop    context.CancelFunc

	mu     sync.Mutex
	shares []*shareState
	phases []*begunPhase // those that have begun
	reason *error        // why the run ends early, to nil where the user asked
	parts  []Part
	// The shares were started, are being closed, are closed.
	started, closing, closed bool
}

// shareState is what is known of a share.
type shareState struct {
	phases []load.Stats // of the plan, those that it has not reported are not created
	// records are those of requests that returned; after lost, nothing counts.
	records atomic.Int64
	lost    error
}

// begunPhase is a phase that has begun.
type begunPhase struct {
	index   int
	startNS int64
	// merged are its numbers; stale reports that shares have reported since.
	merged load.Stats
	stale  bool
	// shown is the state that was observed last.
	shown load.State
	// closing is the wait at the end gate, nil before.
	closing chan struct{}
}

// New returns the load of a run, which [Load.Run] makes.
func New(o Options) *Load {
	r := &Load{o: o, changed: make(chan struct{}, 1)}
	for range o.Plan.Phases {
		r.begun = append(r.begun, make(chan struct{}))
	}
	r.stopped, r.stop = context.WithCancel(context.Background())
	return r
}

// Run makes the load from the first phase to the last.
func (r *Load) Run(ctx context.Context) (load.Result, error) {
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.stopped, cancel)()
	r.mu.Lock()
	r.started = true
	r.mu.Unlock()
	shares, err := r.o.Shares.Start(starting, r.o.Plan, sink{r})
	if err != nil && r.asked() == nil {
		return load.Result{}, err
	}
	r.mu.Lock()
	r.ensure(shares - 1)
	r.mu.Unlock()
	for next := 0; r.asked() == nil && ctx.Err() == nil; next++ {
		if !r.await(ctx, func() bool { return r.mayOpen(next) }) || next == len(r.o.Plan.Phases) {
			break
		}
		if err := r.open(starting, next); err != nil {
			if r.asked() == nil && ctx.Err() == nil {
				r.Abort(fmt.Errorf("phase %s does not start: %w", r.o.Plan.Phases[next].Name, err))
			}
			break
		}
	}
	r.finish(ctx)
	res := load.Result{Phases: r.Snapshot()}
	for i := range res.Phases {
		res.Cancelled = res.Cancelled || res.Phases[i].WasCancelled
	}
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	if reason := r.asked(); reason != nil {
		res.Cancelled = true
		return res, *reason
	}
	return res, nil
}

// ensure makes room for a share; the lock is held.
func (r *Load) ensure(share int) {
	for len(r.shares) <= share {
		r.shares = append(r.shares, &shareState{phases: make([]load.Stats, len(r.o.Plan.Phases))})
	}
}

// mayOpen reports whether it is the turn of a phase, or, after the last one, the end.
func (r *Load) mayOpen(phase int) bool {
	if phase == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seamless := phase < len(r.o.Plan.Phases) && r.o.Plan.Phases[phase].Seamless
	for i, before := range r.phases {
		state := r.stateOf(before)
		if seamless && i == len(r.phases)-1 && state < load.SendingComplete {
			return false
		}
		if !seamless && (state < load.Complete || !before.passed()) {
			return false
		}
	}
	return true
}

// passed reports whether the phase has passed its end gate.
func (p *begunPhase) passed() bool {
	if p.closing == nil {
		return false
	}
	select {
	case <-p.closing:
		return true
	default:
		return false
	}
}

// open waits for the start gate of a phase and has it begin.
func (r *Load) open(ctx context.Context, phase int) error {
	r.gate(ctx, r.o.Gates.BeforeFirstCredit, phase)
	start, err := r.o.Shares.Begin(ctx, phase)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.phases = append(r.phases, &begunPhase{index: phase, startNS: start.UnixNano() - r.o.Clock.WallNS(0), stale: true})
	r.mu.Unlock()
	close(r.begun[phase])
	r.wake()
	return nil
}

// gate calls what a phase has to wait for, no longer than a gate may take.
func (r *Load) gate(ctx context.Context, wait func(context.Context, int), phase int) {
	if wait == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.o.Gates.Timeout, load.DefaultGateTimeout))
	defer cancel()
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		wait(ctx, phase)
	}()
	select {
	case <-waited:
	case <-ctx.Done():
	}
}

// await shows the states of phases until something is the case; false if the run ends before.
func (r *Load) await(ctx context.Context, is func() bool) bool {
	for {
		r.show(ctx)
		switch {
		case ctx.Err() != nil || r.asked() != nil:
			return false
		case is():
			return true
		}
		select {
		case <-r.changed:
		case <-r.stopped.Done():
		case <-ctx.Done():
		}
	}
}

// show tells the observer of the states that phases have reached, and lets those that are complete pass their end gate.
func (r *Load) show(ctx context.Context) {
	r.mu.Lock()
	var events []load.PhaseEvent
	for _, p := range r.phases {
		state := r.stateOf(p)
		for p.shown < state {
			p.shown++
			e := load.PhaseEvent{State: p.shown, Stats: p.merged}
			e.Stats.State = p.shown
			events = append(events, e)
		}
		if state == load.Complete && p.closing == nil {
			p.closing = make(chan struct{})
			go func() {
				defer r.wake()
				defer close(p.closing)
				r.gate(ctx, r.o.Gates.AfterLastReturn, p.index)
			}()
		}
	}
	r.mu.Unlock()
	for _, e := range events {
		r.o.Observe(e)
	}
}

// stateOf brings the numbers of a phase up to date and returns its state; the lock is held.
func (r *Load) stateOf(p *begunPhase) load.State {
	if p.stale {
		p.stale = false
		var parts []load.Stats
		for _, s := range r.shares {
			if s.lost == nil || s.phases[p.index].State > load.Created {
				parts = append(parts, s.phases[p.index])
			}
		}
		p.merged = r.o.Plan.Merge(p.index, parts)
		p.merged.StartNS = cmp.Or(p.merged.StartNS, p.startNS)
		p.merged.State = max(p.merged.State, load.Started)
	}
	return p.merged.State
}

// finish brings the phases that have begun to their ends: those that do not come to it in time are given up.
func (r *Load) finish(ctx context.Context) {
	if r.asked() != nil || ctx.Err() != nil {
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.o.DrainTimeout+slack)
		defer cancel()
		if ctx.Err() != nil {
			r.o.Shares.Stop(context.Cause(ctx))
			cancel()
		}
		for !r.complete() && wait.Err() == nil {
			select {
			case <-r.changed:
			case <-wait.Done():
			}
		}
		r.mu.Lock()
		late := r.unfinished()
		r.mu.Unlock()
		for _, share := range late {
			r.Lost(share, errors.New("it did not end in time"))
		}
	}
	r.show(ctx)
	r.mu.Lock()
	phases := slices.Clone(r.phases)
	r.mu.Unlock()
	for _, p := range phases {
		if p.closing != nil {
			<-p.closing // bounded by the timeout of gates
		}
	}
}

// complete reports whether all phases that have begun are complete.
func (r *Load) complete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.unfinished()) == 0
}

// unfinished returns the shares that have not completed a phase that has begun; the lock is held.
func (r *Load) unfinished() (list []int) {
	for i, s := range r.shares {
		if s.lost == nil && slices.ContainsFunc(r.phases, func(p *begunPhase) bool {
			return s.phases[p.index].State < load.Complete
		}) {
			list = append(list, i)
		}
	}
	return list
}

func (r *Load) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// asked returns why the run is to end early, nil if it is not.
func (r *Load) asked() *error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reason
}

// Stop ends the run early because the user asked for it.
func (r *Load) Stop() { r.end(nil) }

// Abort ends the run early for a reason.
func (r *Load) Abort(reason error) { r.end(reason) }

// end ends the run early; the first reason stands.
func (r *Load) end(reason error) {
	r.mu.Lock()
	first := r.reason == nil
	if first {
		r.reason = &reason
	}
	r.mu.Unlock()
	if first {
		r.o.Shares.Stop(reason)
		r.stop()
	}
}

// EndPhase has all shares end the sending of a phase.
func (r *Load) EndPhase(phase int, grace time.Duration) { r.o.Shares.EndPhase(phase, grace) }

// Snapshot returns the numbers of the phases that have begun.
func (r *Load) Snapshot() []load.Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []load.Stats
	for _, p := range r.phases {
		r.stateOf(p)
		s := p.merged
		s.RequestsPerURL = slices.Clone(s.RequestsPerURL)
		list = append(list, s)
	}
	return list
}

// Searches returns none: a search of the load is not shared.
func (r *Load) Searches() []load.AdaptiveResult { return nil }

// sink is the [Sink] of a Load.
type sink struct{ *Load }

// Abort implements Sink.
func (s sink) Abort(reason error) { s.o.Abort(reason) }

// Phase implements Sink.
func (r *Load) Phase(share int, s load.Stats) {
	s.Shift(-r.o.Clock.WallNS(0))
	r.mu.Lock()
	r.ensure(share)
	known := r.shares[share]
	late := known.lost != nil && (r.closed || s.State < load.Complete)
	if !late && s.Index < len(known.phases) {
		known.phases[s.Index] = s
		r.spoil(s.Index)
	}
	r.mu.Unlock()
	r.wake()
}

// Settled returns the numbers of the phases once the shares are closed: lost ones may have come back and said what they
// sent after the load was over.
func (r *Load) Settled(phases []load.Stats) []load.Stats {
	if r == nil {
		return phases
	}
	return r.Snapshot()
}

// spoil has the numbers of a phase computed anew; the lock is held.
func (r *Load) spoil(phase int) {
	for _, p := range r.phases {
		p.stale = p.stale || p.index == phase
	}
}

// Record implements Sink.
func (r *Load) Record(share int, rec *record.Record) {
	if rec.Raw == nil || !rec.Raw.CutOff {
		r.mu.Lock()
		r.ensure(share)
		from := r.shares[share]
		r.mu.Unlock()
		defer from.records.Add(1)
	}
	if rec.PhaseIndex < len(r.begun) {
		select {
		case <-r.begun[rec.PhaseIndex]: // Begin may not have returned yet
		case <-r.stopped.Done():
		}
	}
	r.o.Deliver(rec)
}

// Lost implements Sink.
func (r *Load) Lost(share int, reason error) {
	r.mu.Lock()
	r.ensure(share)
	s := r.shares[share]
	if s.lost != nil || r.closed {
		r.mu.Unlock()
		return
	}
	s.lost = reason
	now := r.o.Clock.NowNS()
	for i := range s.phases {
		giveUp(&s.phases[i], now)
		r.spoil(i)
	}
	r.mu.Unlock()
	r.o.Lost(share, reason)
	r.wake()
}

// giveUp completes a phase of a share of which nothing more will come: what is in flight counts as cut off.
func giveUp(s *load.Stats, nowNS int64) {
	if s.State == load.Created || s.State == load.Complete {
		return
	}
	inFlight := s.RequestsSent - s.RequestsCompleted - s.RequestsCancelled
	s.RequestsCancelled += inFlight
	s.ForcedReturns += inFlight
	s.CancelledSessions = s.SentSessions - s.CompletedSessions
	s.State, s.RequestsEndNS = load.Complete, nowNS
	if s.FinalSent == nil {
		s.SentEndNS, s.FinalSent = nowNS, &load.SentTotals{Requests: s.RequestsSent, Sessions: s.SentSessions}
	}
	s.FinalReturned = &load.ReturnedTotals{
		RequestsCompleted: s.RequestsCompleted, RequestsCancelled: s.RequestsCancelled, RequestErrors: s.RequestErrors,
		CompletedSessions: s.CompletedSessions, CancelledSessions: s.CancelledSessions,
	}
}

// Progress returns how many finished requests have no record yet, and how many have. The records that a lost share did
// not send are not waited for.
func (r *Load) Progress() (waiting, done int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shares {
		records := s.records.Load()
		done += records
		if s.lost != nil {
			continue
		}
		for i := range s.phases {
			waiting += s.phases[i].RequestsCompleted
		}
		waiting -= records
	}
	return max(0, waiting), done
}

// Lacking returns what the results lack of shares that were lost, nil if none was.
func (r *Load) Lacking() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var who []string
	records, requests := int64(0), int64(0)
	for i, s := range r.shares {
		if s.lost == nil {
			continue
		}
		who = append(who, fmt.Sprintf("share %d: %v", i, s.lost))
		for i := range s.phases {
			records += s.phases[i].RequestsCompleted
			requests += s.phases[i].ForcedReturns
		}
		records -= s.records.Load()
	}
	if who == nil {
		return r.miscounted()
	}
	return fmt.Errorf("%d of the %d shares of the run were lost (%s): %d requests in flight count as cut off, and %d "+
		"finished requests have no record", len(who), len(r.shares), strings.Join(who, "; "), requests, max(0, records))
}

// recordInterval is the time between two looks whether all records have come.
const recordInterval = 5 * time.Millisecond

// Close waits for the records that are missing until ctx is done, and ends the shares.
func (r *Load) Close(ctx context.Context) error {
	r.mu.Lock()
	again := r.closing || !r.started
	r.closing = true
	r.mu.Unlock()
	if again {
		return nil
	}
	looks := time.NewTicker(recordInterval)
	defer looks.Stop()
	var err error
	for err == nil {
		waiting, _ := r.Progress()
		if waiting == 0 {
			break
		}
		select {
		case <-looks.C:
		case <-ctx.Done():
			waiting, _ = r.Progress()
			err = fmt.Errorf("%d finished requests of the shares of the run have no record: %w", waiting, ctx.Err())
		}
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	parts := r.o.Shares.Close(closing)
	r.mu.Lock()
	r.parts, r.closed = parts, true
	r.mu.Unlock()
	return err
}

// miscounted returns an error if a phase that ended by its number of requests had another number of them: its shares
// were not cut from the same plan. The lock is held.
func (r *Load) miscounted() error {
	for _, p := range r.phases {
		plan := &r.o.Plan.Phases[p.index]
		if plan.Requests == 0 || plan.Sessions > 0 || plan.Duration > 0 || plan.Schedule != nil || plan.Lanes != nil ||
			r.stateOf(p) < load.Complete || p.merged.WasCancelled || p.merged.EndedEarly {
			continue
		}
		if sent := p.merged.RequestsSent; sent != plan.Requests {
			return fmt.Errorf("the shares of phase %s sent %d requests together, not %d: they did not agree on where "+
				"it begins", plan.Name, sent, plan.Requests)
		}
	}
	return nil
}

// Judged returns what the shares say of themselves.
func (r *Load) Judged() []Part {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parts
}
