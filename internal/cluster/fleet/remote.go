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

// running is a run of the fleet. It implements [remote.Shares] and [run.Stocker].
type running struct {
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
	// told are the phases before which the shares were told what all have used.
	told map[int]bool
	// losses are members whose loss is being dealt with.
	losses sync.WaitGroup
	// done ends what goes on beside the run.
	done context.Context
	end  context.CancelFunc
	// account is what became of the shares, once the run is over.
	account []Account
}

// Remote returns a run of the fleet, for the options of one execution.
func (f *Fleet) Remote() *Run { return &Run{running{fleet: f, told: map[int]bool{}}} }

// Run is a run of a fleet, as the options of an execution take it.
type Run struct{ running }

// Accounts returns what became of the shares, once the run is over.
func (r *Run) Accounts() []Account { return r.account }

// Stock implements [run.Stocker].
func (r *running) Stock(_ context.Context, cfg *config.Run, id string, c *run.Content) error {
	r.id, r.content = id, c
	r.work = work{ID: id, Config: *cfg, Secrets: cfg.Secrets(), Bucket: "aiperf-" + id, RawStays: r.fleet.options.RawStays}
	r.work.WithoutIDs = cfg.Artifacts.ExportLevel == "summary" && !cfg.Artifacts.HTMLReport
	return nil
}

// Start implements [remote.Shares].
func (r *running) Start(ctx context.Context, plan load.Plan, sink remote.Sink) (int, error) {
	f := r.fleet
	r.sink, r.plan = sink, plan
	r.done, r.end = context.WithCancel(f.alongside.ctx)
	if err := f.gather(ctx); err != nil {
		return 0, err
	}
	f.mu.Lock()
	r.shares = f.alive()[:f.options.Agents]
	for i, m := range r.shares {
		m.share, m.batches, m.rows, m.records, m.journal = i, 0, 0, 0, nil
	}
	f.running = r
	f.mu.Unlock()
	store, err := createObjects(ctx, f.link, r.work.Bucket)
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
	for i, err := range f.tellAll(ctx, r.shares, func(m *member) *command {
		own := r.work
		own.Share = load.Share{Index: m.share, Of: len(r.shares)}
		return &command{Kind: start, Run: r.id, Work: &own}
	}) {
		if err != nil && !errors.Is(err, errLost) {
			return 0, fmt.Errorf("the agent %s: %w", r.shares[i].Name, err)
		}
	}
	return len(r.shares), ctx.Err()
}

// going are the members of the run that are not lost.
func (r *running) going() (list []*member) {
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
	// leastLead is how long before its beginning a phase is announced at least.
	leastLead = 15 * time.Millisecond
	// leadAnswers is how many times the fastest answer of each agent fits in, leadSlowest how many times the slowest of its
	// newest ones, which may be far slower on a machine with much other work.
	leadAnswers = 8
	leadSlowest = 3
)

// Begin implements [remote.Shares].
func (r *running) Begin(ctx context.Context, phase int) (time.Time, error) {
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
	list, lead := r.going(), leastLead
	if len(list) == 0 {
		return time.Time{}, errors.New("all agents are lost")
	}
	if phase > 0 {
		f.compareClocks(ctx, list)
	}
	f.mu.Lock()
	for _, m := range list {
		lead = max(lead, leadAnswers*time.Duration(2*m.clock.boundNS), leadSlowest*m.clock.slowest())
	}
	f.mu.Unlock()
	c := f.options.Clock
	atNS := c.WallNS(c.NowNS()) + int64(lead)
	late := f.tellAll(ctx, list, func(m *member) *command {
		f.mu.Lock()
		defer f.mu.Unlock()
		return &command{Kind: begin, Run: r.id, Phase: phase, AtNS: m.clock.theirs(atNS)}
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
			f.lose(list[i], err)
		}
	}
	return time.Unix(0, atNS), nil
}

// unready names the members that are not ready for a phase.
func (r *running) unready(phase int) (names string) {
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
func (r *running) report(m *member) {
	r.joins()
	rep := m.report
	phases := r.phasesOf(m)
	if m.lost != nil { // only what is over can be trusted to be the last word
		phases = slices.DeleteFunc(phases, func(s load.Stats) bool { return s.State != load.Complete })
	}
	share := m.share
	r.forward(share, phases)
	if e := rep.Ended; e != nil && e.Error != "" && m.lost == nil {
		r.fleet.alongside.start(func(context.Context) { r.part(m, &rep) })
	}
}

// phasesOf are the numbers of the phases of a member, on the coordinator's clock; the fleet is locked.
func (r *running) phasesOf(m *member) (phases []load.Stats) {
	for _, s := range m.report.Phases {
		s.RequestsPerURL = slices.Clone(s.RequestsPerURL)
		s.Shift(-m.clock.at(s.StartNS - m.clock.offsetNS))
		phases = append(phases, s)
	}
	return phases
}

// partPatience bounds the wait for the last records of a member that ended its share early.
const partPatience = 5 * time.Second

// part takes leave of a member that ended its share early, after its records have come.
func (r *running) part(m *member, last *report) {
	ctx, cancel := context.WithTimeout(r.done, partPatience)
	defer cancel()
	_ = r.fleet.await(ctx, func() bool { return m.lost != nil || m.batches >= last.Batches })
	r.fleet.lose(m, errors.New(last.Ended.Error))
}

// use calls something that uses the sink, unless that is closed.
func (r *running) use(what func()) {
	r.gate.RLock()
	defer r.gate.RUnlock()
	if !r.closed {
		what()
	}
}

func (r *running) forward(share int, phases []load.Stats) {
	r.use(func() {
		for _, s := range phases {
			r.sink.Phase(share, s)
		}
	})
}

// joins tells the shares what all of them have used, once all wait for it; the fleet is locked.
func (r *running) joins() {
	waiting, used := r.agreed()
	if waiting == 0 || r.told[waiting] {
		return
	}
	r.told[waiting] = true
	for _, m := range r.shares {
		if m.lost == nil {
			c := &command{Kind: joined, Run: r.id, Phase: waiting, Used: used}
			r.fleet.alongside.start(func(ctx context.Context) { _ = r.fleet.tell(ctx, m, c) })
		}
	}
}

// agreed returns the phase that all shares wait to join, 0 if some share waits for another one or none, and the highest
// of what they have used.
func (r *running) agreed() (phase int, used load.Used) {
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

// next takes a batch of records of a member if it is the one after those that have come, and returns the number of the
// last one that has.
func (r *running) next(m *member, b *batch) (last uint64, err error) {
	m.taking.Lock()
	defer m.taking.Unlock()
	came := func() uint64 {
		r.fleet.mu.Lock()
		defer r.fleet.mu.Unlock()
		return m.batches
	}
	if last = came(); b.number != last+1 {
		return last, nil
	}
	err = r.take(m, b)
	return came(), err
}

// take takes the next batch of records of a member; its taking is locked.
func (r *running) take(m *member, b *batch) (err error) {
	r.fleet.mu.Lock()
	by, share := m.clock, m.share
	r.fleet.mu.Unlock()
	var rows, cut int64
	taken := false
	r.use(func() {
		taken = true
		err = recordfile.ReadBatch(b.data, func(x *record.Record) {
			shift(x, &by)
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
	m.batches, m.rows, m.records = b.number, m.rows+rows, m.records+rows-cut
	r.fleet.change()
	return err
}

// shift converts the instants of a record to the coordinator's clock. All others are durations.
func shift(x *record.Record, by *offset) {
	at, ok := x.Get(record.StartWall)
	if !ok {
		return
	}
	x.Facts[record.StartWall] = by.ours(at)
	t := x.Trace
	if t == nil {
		return
	}
	d := at - x.Facts[record.StartWall]
	for _, ns := range []*int64{&t.RequestSendStartNS, &t.RequestHeadersSentNS, &t.RequestSendEndNS,
		&t.ResponseHeadersReceivedNS, &t.ResponseReceiveStartNS, &t.ResponseReceiveEndNS, &t.ErrorNS, &t.PoolWaitStartNS,
		&t.PoolWaitEndNS, &t.DNSStartNS, &t.DNSEndNS, &t.DNSCacheHitNS, &t.DNSCacheMissNS, &t.ConnectStartNS,
		&t.ConnectEndNS, &t.ConnectionReusedNS} {
		if *ns != 0 {
			*ns -= d
		}
	}
	for _, list := range [][]record.Chunk{t.RequestChunks, t.ResponseChunks} {
		for i := range list {
			list[i].AtNS -= d
		}
	}
}

// lose passes on that a member is lost; the fleet is locked.
func (r *running) lose(m *member, why error) {
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
	r.joins()
	share := float64(left) / float64(len(r.shares))
	r.losses.Add(1)
	if !r.fleet.alongside.start(func(context.Context) {
		defer r.losses.Done()
		r.readJournal(m)
		r.use(func() { r.passOn(i, m, why, left, share) })
	}) {
		r.losses.Done()
	}
}

// passOn passes on that a member is lost, and ends the run if too few are left.
func (r *running) passOn(i int, m *member, why error, left int, share float64) {
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
func (r *running) EndPhase(phase int, grace time.Duration) {
	r.fleet.alongside.start(func(ctx context.Context) {
		r.fleet.tellAll(ctx, r.going(), func(*member) *command {
			return &command{Kind: endPhase, Run: r.id, Phase: phase, Grace: grace}
		})
	})
}

// Stop implements [remote.Shares].
func (r *running) Stop(reason error) {
	c := &command{Kind: stop, Run: r.id}
	if reason != nil {
		c.Reason = reason.Error()
	}
	r.fleet.alongside.start(func(ctx context.Context) {
		r.fleet.tellAll(ctx, r.going(), func(*member) *command { return c })
	})
}
