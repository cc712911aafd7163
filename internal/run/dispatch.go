package run

import (
	"context"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/load"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/intake"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
)

// schedule answers load's questions about the dataset: session k plays the root that the sampler gives to it.
type schedule struct {
	data    *dataset.Dataset
	sampler *dataset.Sampler
	forest  *forest
}

// at is the index of the conversation of session k.
func (s schedule) at(k uint64) int { return s.data.RootAt(s.sampler.At(k)) }

func (s schedule) conversation(k uint64) *dataset.Conversation {
	return s.data.At(s.at(k))
}

// Turns implements load.Source.
func (s schedule) Turns(k uint64) int { return s.data.TurnsOf(s.at(k)) }

// DelayNS implements load.Source.
func (s schedule) DelayNS(k uint64, turn int) int64 {
	return delayNS(&s.conversation(k).Turns[turn])
}

// Tree implements load.Branching.
func (s schedule) Tree(k uint64) *load.Tree { return s.forest.tree(k, s.at(k)) }

// wiring is what a dispatcher works with.
type wiring struct {
	schedule schedule
	sessions *session.Store
	client   transport
	endpoint endpoint.Endpoint
	clock    *clock.Clock
	pool     *intake.Pool
	workers  *workers
	health   *clientHealth
	// reach is nil where nothing is done about servers that cannot be reached.
	reach *reach
	// prompts counts what is sent in profiling phases.
	prompts *promptTally
	// phases are the plan's phases as records name them.
	phases []phaseName
	// hearsContent is false when no phase limits prefill: then first contents are not reported.
	hearsContent bool
}

// dispatcher carries credits out: it has requests made ahead of need, sends each on a goroutine that
// waits for nothing else, and hands the finished exchange over before it returns the credit.
type dispatcher struct {
	wiring
	// events is load's engine; set before the first credit.
	events load.Events

	preparing chan *turnState

	mu sync.Mutex
	// exchanges of each phase end when they are to be cut off; what is sent afterwards gets another context.
	exchanges map[int]cutOff
	gathered  *gathered
	live      map[uint64]*turnState
	idle      []chan sending
	closed    bool
	all       sync.WaitGroup
}

// cutOff is a context and what ends it.
type cutOff struct {
	ctx context.Context
	end context.CancelFunc
}

// sending is a credit on its way out, with what ends its exchange from outside.
type sending struct {
	credit load.Credit
	ctx    context.Context
	// together: load wants to hear when the exchange started.
	together bool
}

// phaseName is what records say of a phase.
type phaseName struct {
	name, kind string
	profiling  int // number among the profiling phases, -1 for a warm-up
	scheduled  bool
	play       session.Play
}

func phaseNames(plan load.Plan) []phaseName {
	var list []phaseName
	profiling := 0
	for _, p := range plan.Phases {
		name := phaseName{name: p.Name, kind: p.Kind.String(), profiling: -1, scheduled: p.Schedule != nil}
		name.play = session.Play{OneToken: p.Lanes != nil && p.Lanes.Stage == load.FillLanes}
		if p.Kind == load.Profiling {
			name.profiling = profiling
			profiling++
		}
		list = append(list, name)
	}
	return list
}

// turnState is the next request of a session.
type turnState struct {
	mu      sync.Mutex
	session *session.Session
	// root is the conversation of the root of the session's tree: its own unless it is a child.
	root     int
	worker   int
	turn     int
	play     session.Play
	prepared *session.Prepared
}

// ready returns the request of a turn, making it if nobody has.
func (t *turnState) ready(turn int) *session.Prepared {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.make(turn)
}

// readyIn is ready for a phase that may be another one than the request was made for.
func (t *turnState) readyIn(warmup bool, turn int) *session.Prepared {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session.Warm(warmup) {
		t.prepared = nil
	}
	return t.make(turn)
}

// make makes the request; the state is locked.
func (t *turnState) make(turn int) *session.Prepared {
	if t.prepared == nil || t.turn != turn {
		t.turn, t.prepared = turn, t.session.PrepareFor(turn, t.play)
	}
	return t.prepared
}

// processorID is the record processor that records name: the pool is one of them.
const processorID = "record_processor_1"

// preparers make requests ahead of need; more than a few would only take the cores from the senders.
const preparers = 2

func newDispatcher(w wiring) *dispatcher {
	d := &dispatcher{
		wiring: w, live: map[uint64]*turnState{}, exchanges: map[int]cutOff{}, preparing: make(chan *turnState, 1024),
	}
	for range preparers {
		d.all.Go(func() {
			for t := range d.preparing {
				t.mu.Lock()
				turn := t.turn
				t.mu.Unlock()
				t.ready(turn)
			}
		})
	}
	return d
}

// Prepare implements load.Sender. When the preparers are busy the sending goroutine does the work.
func (d *dispatcher) Prepare(phase int, k uint64, turn int) {
	t := d.state(k)
	t.mu.Lock()
	play := d.phases[phase].play
	if t.session.Warm(d.phases[phase].profiling < 0) || t.turn != turn || t.play != play {
		t.turn, t.play, t.prepared = turn, play, nil
	}
	t.mu.Unlock()
	select {
	case d.preparing <- t:
	default:
	}
}

func (d *dispatcher) state(k uint64) *turnState {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t, ok := d.live[k]; ok {
		return t
	}
	at := d.schedule.at(k)
	t := &turnState{session: d.sessions.Session(k, at), root: at, worker: -1}
	d.live[k] = t
	return t
}

// Open implements load.Opener: a simulated user's session goes by the user's number, that of a schedule or of a
// lane plays the conversation of its entry, and a child has parents.
func (d *dispatcher) Open(o load.Opening) {
	k := o.Session
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &turnState{worker: -1}
	switch {
	case o.Root != k:
		parent := d.live[o.Parent]
		t.root = parent.root
		if o.Fork {
			t.worker = parent.worker // which the history may be warm for
		}
		t.session = d.sessions.Child(k, d.schedule.forest.shape(t.root).conversations[o.Node], session.Lineage{
			Parent: o.Parent, ParentTurn: o.ParentTurn, Fork: o.Fork, Depth: o.Depth,
		})
	case o.User > 0:
		t.root = d.schedule.at(k)
		t.session = d.sessions.Named(k, t.root, strconv.FormatInt(int64(o.User), 10))
	default:
		t.root = d.schedule.at(k)
		if o.Conversation >= 0 {
			t.root = d.schedule.at(uint64(o.Conversation))
		}
		t.session = d.sessions.Session(k, t.root)
	}
	d.live[k] = t
}

// Forget implements load.Sender.
func (d *dispatcher) Forget(k uint64) {
	d.mu.Lock()
	delete(d.live, k)
	d.mu.Unlock()
	d.sessions.Forget(k)
}

// CutOff implements load.Sender.
func (d *dispatcher) CutOff() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for phase := range d.exchanges {
		d.endExchanges(phase)
	}
}

// CutOffPhase implements load.PhaseCutter.
func (d *dispatcher) CutOffPhase(phase int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endExchanges(phase)
}

func (d *dispatcher) endExchanges(phase int) {
	if c, any := d.exchanges[phase]; any {
		c.end()
		delete(d.exchanges, phase)
	}
}

// exchangesOf is what ends the exchanges of a phase from outside.
func (d *dispatcher) exchangesOf(phase int) context.Context {
	c, any := d.exchanges[phase]
	if !any {
		c.ctx, c.end = context.WithCancel(context.Background())
		d.exchanges[phase] = c
	}
	return c.ctx
}

// Send implements load.Sender.
func (d *dispatcher) Send(c load.Credit) {
	d.mu.Lock()
	s := sending{credit: c, ctx: d.exchangesOf(c.Phase)}
	if n := len(d.idle); n > 0 {
		waiting := d.idle[n-1]
		d.idle = d.idle[:n-1]
		d.mu.Unlock()
		waiting <- s
		return
	}
	d.mu.Unlock()
	d.all.Go(func() { d.work(s) })
}

// work is one sending goroutine: it carries out a credit and waits for the next one.
func (d *dispatcher) work(s sending) {
	next := make(chan sending, 1)
	for more := true; more; s, more = <-next {
		d.exchange(s)
		d.mu.Lock()
		if d.closed {
			d.mu.Unlock()
			return
		}
		d.idle = append(d.idle, next)
		d.mu.Unlock()
	}
}

// exchange carries out one credit from pick-up to return.
func (d *dispatcher) exchange(s sending) {
	c := s.credit
	pickedUpNS := d.clock.NowNS()
	t := d.state(c.Session)
	p := t.readyIn(d.phases[c.Phase].profiling < 0, c.Turn)
	p.Aim(c.URLIndex, c.CancelAfterNS)
	p.Request.FinalTurn = c.Final
	t.worker = d.workers.take(t.worker)

	decoder := d.endpoint.NewDecoder()
	if d.hearsContent {
		decoder.OnFirstContent(func() { d.events.FirstContent(c) })
	}
	job := d.job(&c, t, p, decoder)
	job.PickedUpNS = pickedUpNS
	if c.Turn == 0 && d.phases[c.Phase].profiling >= 0 {
		d.prompts.add(t.root)
	}
	d.carry(s.ctx, job, p)
	d.workers.give(t.worker)
	if s.together {
		d.events.Started(c, job.Exchange.StartNS)
	}
	outcome := load.CutOff
	if !job.Exchange.CutOff {
		if p.Err == nil && d.phases[c.Phase].profiling >= 0 {
			d.health.exchange(&c, job)
		}
		outcome = load.Failure
		if intake.Failure(&job.Exchange, decoder.Reply()) == nil {
			outcome = load.Success
			t.session.Capture(c.Turn, decoder.Reply())
		}
	}
	// The record is on its way before the credit returns: when the last phase ends, all records are known.
	pause := time.Duration(0)
	if p.Err == nil {
		pause = d.reach.take(&job.Exchange)
	}
	d.pool.Submit(job)
	d.reach.hold(s.ctx, pause)
	d.events.Returned(c, outcome)
}

// job is what becomes of the credit, but for its exchange.
func (d *dispatcher) job(c *load.Credit, t *turnState, p *session.Prepared, decoder endpoint.Decoder) *intake.Job {
	job := &intake.Job{
		Identity: p.Identity, Decoder: decoder, Body: p.Body, Model: p.Model, RequestedTokens: p.RequestedTokens, Images: p.Images, AudioNS: p.AudioNS,
		IssuedNS: c.IssuedNS, IntendedNS: c.IntendedNS,
	}
	if p.Prefix != nil {
		job.PrefixHits, job.PrefixBlocks = int64(p.Prefix.Hits), int64(p.Prefix.Blocks)
	}
	job.Identity.SessionNum = c.ID
	phase := &d.phases[c.Phase]
	job.Identity.Phase, job.Identity.PhaseName = phase.kind, phase.name
	job.Identity.PhaseIndex, job.Identity.ProfilingIndex = c.Phase, phase.profiling
	if phase.scheduled {
		if at := t.session.Conversation().Turns[c.Turn].TimestampMS; at != nil {
			job.Scheduled, job.ScheduledNS = true, nanoseconds(*at)
		}
	}
	job.Identity.WorkerID = d.workers.name(t.worker)
	job.Identity.ProcessorID = processorID
	return job
}

// carry has the exchange carried out. The making of the job stands apart: the stack under an open
// stream is part of its cost.
func (d *dispatcher) carry(ctx context.Context, job *intake.Job, p *session.Prepared) {
	if p.Err == nil {
		job.Exchange = d.client.Send(ctx, &p.Request, job.Decoder)
		if raw := job.Exchange.Raw; raw != nil && p.Body.Message() {
			raw.Payload = p.Body.JSON()
		}
	} else {
		job.Exchange = client.Exchange{StartNS: job.PickedUpNS, EndNS: d.clock.NowNS(), Err: p.Err}
	}
}

// closeTimeout bounds the wait for exchanges that do not end although they were cut off.
const closeTimeout = 5 * time.Second

// close ends the goroutines; all credits must have returned or been given up.
func (d *dispatcher) close() {
	d.mu.Lock()
	for phase := range d.exchanges {
		d.endExchanges(phase)
	}
	if d.closed {
		d.mu.Unlock()
		return
	}
	d.closed = true
	d.gathered.release()
	for _, waiting := range d.idle {
		close(waiting)
	}
	d.idle = nil
	d.mu.Unlock()
	close(d.preparing)
	done := make(chan struct{})
	go func() {
		d.all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeTimeout):
	}
}
