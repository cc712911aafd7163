// Package dispatch carries the credits of a run out: it makes requests ahead of need, sends them on a pool of
// goroutines, hands finished exchanges over and returns the credits. It holds credits back while no server can be
// reached.
package dispatch

import (
	"context"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
	"aiperf/internal/load"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/intake"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
)

// Transport carries out exchanges.
type Transport interface {
	// SendInto carries out one exchange and has its result in *out; the end of ctx cuts it off.
	SendInto(ctx context.Context, r *client.Request, sink client.Sink, out *client.Exchange)
}

// Tally counts the prompts that begin sessions. Its methods are called from several goroutines.
type Tally interface {
	// Add counts the first turn of a session of the profiling phases, by the index of the conversation that is the root
	// of its tree; Warm counts one of a warm-up.
	Add(conversation int)
	Warm(conversation int)
}

// Options are what requests are made of, how they are sent, and who hears of them.
type Options struct {
	// Phases are those of the plan, by their index.
	Phases []Phase
	// Data are the conversations. Its sampler says which one a session plays; Seed is that of the think times.
	Data     *dataset.Dataset
	Seed     random.Seed
	Sessions *session.Store
	// Client sends the requests, replies are read by decoders of Endpoint, instants are those of Clock.
	Client   Transport
	Endpoint endpoint.Endpoint
	Clock    *clock.Clock
	// Pool takes each finished exchange.
	Pool *intake.Pool
	// Workers is the number of logical workers that records name, those of Share.
	Workers int
	Share   load.Share
	// Sent is called before each request leaves, with its phase; nil for none.
	Sent    func(phase int)
	Prompts Tally
	// Finished takes each exchange of a profiling phase that was sent and not cut off, from several goroutines.
	Finished func(*load.Credit, *intake.Job)
	// Reach is nil where nothing is done about servers that cannot be reached.
	Reach *Reachability
	// Jobs has records say which job their request belongs to. They do where any session has several requests, too.
	Jobs bool
	// HearsContent is false when no phase limits prefill: then first contents are not reported.
	HearsContent bool
}

// Dispatcher carries credits out, as a [load.Sender]: it takes the request from the store, sends it on a goroutine of
// the pool, and hands the finished exchange over before it returns the credit.
type Dispatcher struct {
	o Options
	*requests
	*senders
	workers *workers
	// jobs: records say which job their request belongs to.
	jobs bool
	// zero places recorded times of all phases on the clock of the first one with a schedule.
	zero scheduleZero
	// events is load's engine; set before the first credit.
	events load.Events
}

// New makes a dispatcher. [Dispatcher.Close] ends its goroutines.
func New(o Options) *Dispatcher {
	d := &Dispatcher{o: o, workers: newWorkers(o.Workers, o.Share), jobs: o.Jobs || o.Data.HasJobs()}
	d.requests = newRequests(schedule{o.Data, o.Data.Sampler, newSessionTrees(o.Data, o.Seed)}, o.Sessions, o.Phases)
	d.senders = newSenders(d.prepareFirst, d.exchange, o.Sent)
	return d
}

// Source returns what the load generator asks about the sessions.
func (d *Dispatcher) Source() load.Source { return d.schedule }

// ReportTo sets who hears of the credits; before the first one.
func (d *Dispatcher) ReportTo(events load.Events) { d.events = events }

// processorID is the record processor that records name: the pool is one of them.
const processorID = "record_processor_1"

// exchange carries out one credit from pick-up to return.
func (d *Dispatcher) exchange(s *sending) {
	c := &s.credit
	pickedUpNS := d.o.Clock.NowNS()
	t := d.state(c.Session)
	p := t.ready(d.phases[c.Phase].Profiling < 0, c.Turn)
	p.Aim(c.URLIndex, c.CancelAfterNS)
	p.Request.FinalTurn = c.Final
	t.worker = d.workers.take(t.worker)

	decoder := d.o.Endpoint.NewDecoder()
	if d.o.HearsContent {
		decoder.OnFirstContent(func() { d.events.FirstContent(*c) })
	}
	job := d.newJob(c, t, p, decoder)
	job.PickedUpNS = pickedUpNS
	switch first := c.Turn == 0 && c.Depth == 0; {
	case first && d.phases[c.Phase].Profiling >= 0:
		d.o.Prompts.Add(t.root)
	case first:
		d.o.Prompts.Warm(t.root)
	}
	d.send(s.ctx, job, p)
	d.workers.give(t.worker)
	if s.together {
		d.events.Started(*c, job.Exchange.StartNS)
	}
	outcome := load.CutOff
	if !job.Exchange.CutOff {
		if p.Err == nil && d.phases[c.Phase].Profiling >= 0 {
			d.o.Finished(c, job)
		}
		outcome = load.Failure
		if job.Failure() == nil {
			outcome = load.Success
			t.session.Capture(c.Turn, decoder.Reply())
		}
	}
	// The record is on its way before the credit returns: when the last phase ends, all records are known.
	pause := time.Duration(0)
	if p.Err == nil {
		pause = d.o.Reach.Observe(&job.Exchange)
	}
	d.o.Pool.Submit(job)
	d.o.Reach.Pause(s.ctx, pause)
	d.events.Returned(*c, outcome)
}

// newJob returns the job of a credit, without its exchange.
func (d *Dispatcher) newJob(c *load.Credit, t *turnState, p *session.Prepared, decoder endpoint.Decoder) *intake.Job {
	job := intake.NewJob()
	job.Identity, job.Decoder, job.Body, job.Model = p.Identity, decoder, p.Body, p.Model
	job.RequestedTokens, job.Images, job.AudioNS = p.RequestedTokens, p.Images, p.AudioNS
	job.IssuedNS, job.IntendedNS = c.IssuedNS, c.IntendedNS
	if d.jobs {
		job.Job, job.JobRequests = int64(c.Job), int64(c.JobRequests)
		job.After, job.DelayNS = c.Origin.After, c.Origin.DelayNS
		job.BeginsAgent = c.Begins && c.Depth > 0
	}
	if p.Prefix != nil {
		job.PrefixHits, job.PrefixBlocks = int64(p.Prefix.Hits), int64(p.Prefix.Blocks)
	}
	job.Identity.SessionNum = c.ID
	phase := &d.phases[c.Phase]
	job.Identity.Phase, job.Identity.PhaseName = phase.Kind, phase.Name
	job.Identity.PhaseIndex, job.Identity.ProfilingIndex = c.Phase, phase.Profiling
	if phase.Scheduled {
		if at := t.session.Conversation().Turns[c.Turn].TimestampMS; at != nil {
			job.Scheduled, job.ScheduledNS = true, d.zero.on(nanoseconds(*at), c.IntendedNS)
		}
	}
	job.Identity.WorkerID = d.workers.name(t.worker)
	job.Identity.ProcessorID = processorID
	return job
}

// scheduleZero is by how much the instants of the first schedule that is played lie after its recorded times. The times
// of a schedule that is played later in the run are moved, so that one lag can be computed for all of them.
type scheduleZero struct {
	once  sync.Once
	shift int64
}

// on returns the recorded time of a turn that the plan sends at an instant.
func (z *scheduleZero) on(recordedNS, intendedNS int64) int64 {
	z.once.Do(func() { z.shift = intendedNS - recordedNS })
	return intendedNS - z.shift
}

// send does the exchange. It is apart from the making of the job, because the stack under an open stream is part of the
// cost of that stream.
func (d *Dispatcher) send(ctx context.Context, job *intake.Job, p *session.Prepared) {
	if p.Err == nil {
		d.o.Client.SendInto(ctx, &p.Request, job.Decoder, &job.Exchange)
		if raw := job.Exchange.Raw; raw != nil && p.Body.Message() {
			raw.Payload = p.Body.JSON()
		}
	} else {
		job.Exchange = client.Exchange{StartNS: job.PickedUpNS, EndNS: d.o.Clock.NowNS(), Err: p.Err}
	}
}

// closeTimeout bounds the wait for exchanges that do not end although they were cut off.
const closeTimeout = 5 * time.Second

// Close ends the goroutines; all credits must have returned or been given up.
func (d *Dispatcher) Close() {
	if !d.senders.end() {
		return
	}
	close(d.preparing)
	done := make(chan struct{})
	go func() {
		d.all.Wait()
		d.preparers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeTimeout):
	}
}
