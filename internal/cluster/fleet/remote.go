package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/run"
	"aiperf/internal/run/remote"
)

// fleetRun is a run of the fleet. It implements [remote.Shares] and [run.Stocker].
type fleetRun struct {
	fleet *Fleet
	id    string
	work  work
	// shares are the members that make the run, by share.
	shares []*member
	sink   remote.Sink
	plan   load.Plan
	// content is what the requests say, until it is in the store.
	content *run.Content
	stored  bool

	// gate is held for reading while the sink is used, and for writing to close it.
	gate   sync.RWMutex
	closed bool
	// joinSent are the phases for which the join, what all shares have used, was sent.
	joinSent map[int]bool
	// losses are members whose loss is being dealt with.
	losses sync.WaitGroup
	// done ends what goes on beside the run.
	done context.Context
	end  context.CancelFunc
	// account is what became of the shares, once the run is over.
	account []Account
}

// Remote returns a run of the fleet, for the options of one execution.
func (f *Fleet) Remote() *RemoteRun { return &RemoteRun{fleetRun{fleet: f, joinSent: map[int]bool{}}} }

// RemoteRun is a run of a fleet, as the options of an execution take it.
type RemoteRun struct{ fleetRun }

// Accounts returns what became of the shares, once the run is over.
func (r *RemoteRun) Accounts() []Account { return r.account }

// Stock implements [run.Stocker].
func (r *fleetRun) Stock(_ context.Context, cfg *config.Run, id string, c *run.Content) error {
	r.id, r.content = id, c
	r.work = work{ID: id, Config: *cfg, Secrets: cfg.Secrets(), Bucket: "aiperf-" + id, RawStays: r.fleet.options.RawStays}
	r.work.WithoutIDs = cfg.Artifacts.ExportLevel == "summary" && !cfg.Artifacts.HTMLReport
	return nil
}

// Start implements [remote.Shares].
func (r *fleetRun) Start(ctx context.Context, plan load.Plan, sink remote.Sink) (int, error) {
	f := r.fleet
	r.sink, r.plan = sink, plan
	r.done, r.end = context.WithCancel(f.alongside.ctx)
	if err := f.waitForAgents(ctx); err != nil {
		return 0, err
	}
	f.mu.Lock()
	r.shares = f.liveMembers()[:f.options.Agents]
	for i, m := range r.shares {
		m.share, m.lastBatch, m.rows, m.records, m.journal = i, 0, 0, 0, nil
	}
	f.running = r
	f.mu.Unlock()
	store, err := createObjectStore(ctx, f.link, r.work.Bucket)
	if err != nil {
		return 0, err
	}
	r.stored = true
	if r.work.Content, err = publish(ctx, store, r.content, len(r.shares)); err != nil {
		return 0, err
	}
	r.content = nil
	if err := f.compareClocks(ctx, r.shares); err != nil {
		return 0, err
	}
	plan.Share = load.Share{Of: len(r.shares)}
	r.work.Residues = plan.KeepsResidues()
	for i, err := range f.sendCommands(ctx, r.shares, func(m *member) *command {
		own := r.work
		own.Share = load.Share{Index: m.share, Of: len(r.shares)}
		return &command{Kind: startShare, Run: r.id, Work: &own}
	}) {
		if err != nil && !errors.Is(err, errLost) {
			return 0, fmt.Errorf("the agent %s: %w", r.shares[i].Name, err)
		}
	}
	return len(r.shares), ctx.Err()
}

// liveShares are the members of the run that are not lost.
func (r *fleetRun) liveShares() (list []*member) {
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	for _, m := range r.shares {
		if m.lost == nil {
			list = append(list, m)
		}
	}
	return list
}

const (
	// minLead is how long before its beginning a phase is announced at least.
	minLead = 15 * time.Millisecond
	// leadRoundTrips is how many times the fastest answer of each agent fits in, leadSlowestTrips how many times the
	// slowest of its newest ones, which may be far slower on a machine with much other work.
	leadRoundTrips   = 8
	leadSlowestTrips = 3
)

// Begin implements [remote.Shares].
func (r *fleetRun) Begin(ctx context.Context, phase int) (time.Time, error) {
	f := r.fleet
	ready, cancel := context.WithTimeout(ctx, r.work.Config.Env.Service.ProfileConfigureTimeout)
	defer cancel()
	err := f.await(ready, func() bool {
		return !slices.ContainsFunc(r.shares, func(m *member) bool {
			return m.lost == nil && (m.report.Run != r.id || m.report.Ready <= phase)
		})
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("not all agents are ready (%s): %w", r.unready(phase), err)
	}
	list, lead := r.liveShares(), minLead
	if len(list) == 0 {
		return time.Time{}, errors.New("all agents are lost")
	}
	if phase > 0 {
		f.compareClocks(ctx, list)
	}
	f.mu.Lock()
	for _, m := range list {
		lead = max(lead, leadRoundTrips*time.Duration(2*m.clock.boundNS), leadSlowestTrips*m.clock.slowest())
	}
	f.mu.Unlock()
	c := f.options.Clock
	atNS := c.WallNS(c.NowNS()) + int64(lead)
	late := f.sendCommands(ctx, list, func(m *member) *command {
		f.mu.Lock()
		defer f.mu.Unlock()
		return &command{Kind: beginPhase, Run: r.id, Phase: phase, AtNS: m.clock.theirs(atNS)}
	})
	if by := c.WallNS(c.NowNS()) - atNS; by > 0 {
		f.options.Log.Warn(fmt.Sprintf("A phase was announced %s too late to some agents: their first requests are late",
			time.Duration(by).Round(time.Microsecond)))
	}
	if ctx.Err() != nil { // the run is ended, which is no fault of the agents
		return time.Time{}, ctx.Err()
	}
	for i, err := range late {
		if err != nil && !errors.Is(err, errLost) {
			f.markLost(list[i], err)
		}
	}
	return time.Unix(0, atNS), nil
}

// unready names the members that are not ready for a phase.
func (r *fleetRun) unready(phase int) (names string) {
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	for _, m := range r.shares {
		if m.lost == nil && m.report.Ready <= phase {
			if names != "" {
				names += ", "
			}
			names += m.Name
		}
	}
	return names
}

// report takes the state of a member; the fleet is locked. What goes on to the run does so in order, after that.
func (r *fleetRun) report(m *member) {
	r.sendJoins()
	rep := m.report
	phases := r.phasesOf(m)
	if m.lost != nil { // only what is over can be trusted to be the last word
		phases = slices.DeleteFunc(phases, func(s load.Stats) bool { return s.State != load.Complete })
	}
	share := m.share
	r.forward(share, phases)
	if e := rep.Ended; e != nil && e.Error != "" && m.lost == nil {
		r.fleet.alongside.start(func(context.Context) { r.memberEnded(m, &rep) })
	}
}

// phasesOf are the numbers of the phases of a member, on the coordinator's clock; the fleet is locked.
func (r *fleetRun) phasesOf(m *member) (phases []load.Stats) {
	for _, s := range m.report.Phases {
		s.RequestsPerURL = slices.Clone(s.RequestsPerURL)
		s.Shift(-m.clock.at(s.StartNS - m.clock.offsetNS))
		phases = append(phases, s)
	}
	return phases
}

// lastRecordsTimeout bounds the wait for the last records of a member that ended its share early.
const lastRecordsTimeout = 5 * time.Second

// memberEnded counts a member that ended its share early as lost, after its records have come.
func (r *fleetRun) memberEnded(m *member, last *report) {
	ctx, cancel := context.WithTimeout(r.done, lastRecordsTimeout)
	defer cancel()
	_ = r.fleet.await(ctx, func() bool { return m.lost != nil || m.lastBatch >= last.Batches })
	r.fleet.markLost(m, errors.New(last.Ended.Error))
}

// withSink calls something that uses the sink, unless that is closed: messages may come after the run has got its
// results.
func (r *fleetRun) withSink(what func()) {
	r.gate.RLock()
	defer r.gate.RUnlock()
	if !r.closed {
		what()
	}
}

// forward passes the numbers of phases of a share to the run.
func (r *fleetRun) forward(share int, phases []load.Stats) {
	r.withSink(func() {
		for _, s := range phases {
			r.sink.Phase(share, s)
		}
	})
}

// sendJoins tells the shares what all of them have used, once all wait for it; the fleet is locked.
func (r *fleetRun) sendJoins() {
	waiting, used := r.agreed()
	if waiting == 0 || r.joinSent[waiting] {
		return
	}
	r.joinSent[waiting] = true
	for _, m := range r.shares {
		if m.lost == nil {
			c := &command{Kind: joinPhase, Run: r.id, Phase: waiting, Used: used}
			r.fleet.alongside.start(func(ctx context.Context) { _ = r.fleet.sendCommand(ctx, m, c) })
		}
	}
}

// agreed returns the phase that all shares wait to join, 0 if some share waits for another one or none, and the highest
// of what they have used.
func (r *fleetRun) agreed() (phase int, used load.Used) {
	for _, m := range r.shares {
		switch {
		case m.lost != nil:
			continue
		case m.report.Run != r.id || m.report.Joined == 0 || phase != 0 && m.report.Joined != phase:
			return 0, load.Used{}
		}
		phase, used = m.report.Joined, used.Max(m.report.Used)
	}
	return phase, used
}

// takeBatch takes a batch of records of a member if it is the one after those that have come, and returns the number of
// the last one that has.
func (r *fleetRun) takeBatch(m *member, b *batch) (last uint64, err error) {
	m.batchMu.Lock()
	defer m.batchMu.Unlock()
	came := func() uint64 {
		r.fleet.mu.Lock()
		defer r.fleet.mu.Unlock()
		return m.lastBatch
	}
	if last = came(); b.number != last+1 {
		return last, nil
	}
	err = r.recordBatch(m, b)
	return came(), err
}

// recordBatch takes the next batch of records of a member; its batches are locked. The batch counts as taken only after
// its records are: an acknowledgement before that could lose them.
func (r *fleetRun) recordBatch(m *member, b *batch) (err error) {
	r.fleet.mu.Lock()
	by, share := m.clock, m.share
	r.fleet.mu.Unlock()
	var rows, cut int64
	taken := false
	r.withSink(func() {
		taken = true
		err = recordfile.ReadBatch(b.data, func(x *record.Record) {
			toOurClock(x, &by)
			rows++
			if x.Raw != nil && x.Raw.CutOff {
				cut++
			}
			r.sink.Record(share, x)
		})
	})
	if !taken {
		return nil
	}
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	if on := r.fleet.running; on != nil && on != r { // the member is in the next run
		return err
	}
	m.lastBatch, m.rows, m.records = b.number, m.rows+rows, m.records+rows-cut
	r.fleet.notify()
	return err
}

// memberLost passes on that a member is lost; the fleet is locked.
func (r *fleetRun) memberLost(m *member, why error) {
	i := slices.Index(r.shares, m)
	if i < 0 || r.sink == nil {
		return
	}
	left := 0
	for _, x := range r.shares {
		if x.lost == nil {
			left++
		}
	}
	r.sendJoins()
	share := float64(left) / float64(len(r.shares))
	r.losses.Add(1)
	if !r.fleet.alongside.start(func(context.Context) {
		defer r.losses.Done()
		r.readJournal(m)
		r.withSink(func() { r.reportLoss(i, m, why, left, share) })
	}) {
		r.losses.Done()
	}
}

// reportLoss passes on that a member is lost, and ends the run if too few are left.
func (r *fleetRun) reportLoss(i int, m *member, why error, left int, share float64) {
	r.sink.Lost(i, fmt.Errorf("the agent %s is lost: %w", m.Name, why))
	switch least := r.fleet.options.MinAlive; {
	case left == 0:
		r.sink.Abort(fmt.Errorf("all agents are lost, the last one was %s: %w", m.Name, why))
	case share < least:
		r.sink.Abort(fmt.Errorf("%d of %d agents are left, which is less than the share of %g that "+
			"AIPERF_WORKER_MIN_ALIVE_FRACTION asks for", left, len(r.shares), least))
	}
}

// EndPhase implements [remote.Shares].
func (r *fleetRun) EndPhase(phase int, grace time.Duration) {
	r.fleet.alongside.start(func(ctx context.Context) {
		r.fleet.sendCommands(ctx, r.liveShares(), func(*member) *command {
			return &command{Kind: endPhase, Run: r.id, Phase: phase, Grace: grace}
		})
	})
}

// Stop implements [remote.Shares].
func (r *fleetRun) Stop(reason error) {
	c := &command{Kind: stopShare, Run: r.id}
	if reason != nil {
		c.Reason = reason.Error()
	}
	r.fleet.alongside.start(func(ctx context.Context) {
		r.fleet.sendCommands(ctx, r.liveShares(), func(*member) *command { return c })
	})
}
