package run

import (
	"context"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/intake"
	"aiperf/internal/wire/session"
)

// dispatcher carries credits out: it takes the request from the store, sends it on a goroutine of the pool, and hands
// the finished exchange over before it returns the credit.
type dispatcher struct {
	*requests
	*senders
	client   transport
	endpoint endpoint.Endpoint
	clock    *clock.Clock
	pool     *intake.Pool
	workers  *workers
	health   *clientHealth
	// reach is nil where nothing is done about servers that cannot be reached.
	reach *reachability
	// zero places recorded times of all phases on the clock of the first one with a schedule.
	zero scheduleZero
	// prompts counts what is sent.
	prompts *promptTally
	// hearsContent is false when no phase limits prefill: then first contents are not reported.
	hearsContent bool
	// events is load's engine; set before the first credit.
	events load.Events
}

// phaseName is what records say of a phase.
type phaseName struct {
	servermetrics.PhaseID
	scheduled bool
	play      session.Play
}

func phaseNames(phases []config.Phase) []phaseName {
	var list []phaseName
	for i, p := range serverPhases(phases) {
		from := &phases[i]
		play := session.Play{OneToken: from.Lanes != nil && from.Lanes.Stage == load.FillLanes}
		list = append(list, phaseName{p, from.Schedule != nil, play})
	}
	return list
}

// processorID is the record processor that records name: the pool is one of them.
const processorID = "record_processor_1"

// exchange carries out one credit from pick-up to return.
func (d *dispatcher) exchange(s *sending) {
	c := &s.credit
	pickedUpNS := d.clock.NowNS()
	t := d.state(c.Session)
	p := t.ready(d.phases[c.Phase].Profiling < 0, c.Turn)
	p.Aim(c.URLIndex, c.CancelAfterNS)
	p.Request.FinalTurn = c.Final
	t.worker = d.workers.take(t.worker)

	decoder := d.endpoint.NewDecoder()
	if d.hearsContent {
		decoder.OnFirstContent(func() { d.events.FirstContent(*c) })
	}
	job := d.newJob(c, t, p, decoder)
	job.PickedUpNS = pickedUpNS
	switch first := c.Turn == 0 && c.Depth == 0; {
	case first && d.phases[c.Phase].Profiling >= 0:
		d.prompts.add(t.root)
	case first:
		d.prompts.warm(t.root)
	}
	d.send(s.ctx, job, p)
	d.workers.give(t.worker)
	if s.together {
		d.events.Started(*c, job.Exchange.StartNS)
	}
	outcome := load.CutOff
	if !job.Exchange.CutOff {
		if p.Err == nil && d.phases[c.Phase].Profiling >= 0 {
			d.health.exchange(c, job)
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
		pause = d.reach.observe(&job.Exchange)
	}
	d.pool.Submit(job)
	d.reach.pause(s.ctx, pause)
	d.events.Returned(*c, outcome)
}

// newJob returns the job of a credit, without its exchange.
func (d *dispatcher) newJob(c *load.Credit, t *turnState, p *session.Prepared, decoder endpoint.Decoder) *intake.Job {
	job := intake.NewJob()
	job.Identity, job.Decoder, job.Body, job.Model = p.Identity, decoder, p.Body, p.Model
	job.RequestedTokens, job.Images, job.AudioNS = p.RequestedTokens, p.Images, p.AudioNS
	job.IssuedNS, job.IntendedNS = c.IssuedNS, c.IntendedNS
	if p.Prefix != nil {
		job.PrefixHits, job.PrefixBlocks = int64(p.Prefix.Hits), int64(p.Prefix.Blocks)
	}
	job.Identity.SessionNum = c.ID
	phase := &d.phases[c.Phase]
	job.Identity.Phase, job.Identity.PhaseName = phase.Kind, phase.Name
	job.Identity.PhaseIndex, job.Identity.ProfilingIndex = c.Phase, phase.Profiling
	if phase.scheduled {
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
func (d *dispatcher) send(ctx context.Context, job *intake.Job, p *session.Prepared) {
	if p.Err == nil {
		d.client.SendInto(ctx, &p.Request, job.Decoder, &job.Exchange)
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
