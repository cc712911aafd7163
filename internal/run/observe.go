package run

import (
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/metrics"
	"aiperf/internal/record"
	"aiperf/internal/summary"
	"aiperf/internal/trust"
)

// Observer follows a run from outside. Its methods return at once: they must not wait for anything but a short lock.
// Begin comes first, then Record and Show, End last; a run that fails before its first request has none of them.
type Observer interface {
	// Begin tells what is about to be measured.
	Begin(Beginning)
	// Record takes each request that succeeded or failed, warm-up included, from several goroutines at once. The
	// record belongs to the run: nothing of it may be kept or changed.
	Record(*record.Record)
	// Show takes a snapshot a few times a second.
	Show(Snapshot)
	// End takes what the run yielded, and its last snapshot; nil is for a run without results.
	End(*Outcome, Snapshot)
}

// Beginning is what is known of a run before its first request.
type Beginning struct {
	BenchmarkID string
	Info        summary.RunInfo
	Config      *config.Run
	// Metrics are those that the run measures.
	Metrics *metrics.Set
}

// clientInterval is how often observers see how the client itself does.
const clientInterval = time.Second

// clientCost is the part of the time, as a divisor, that working out the figures for it may take.
const clientCost = 100

// clientView keeps what snapshots say of the client. One goroutine uses it at a time.
type clientView struct {
	report         *trust.Report
	nextNS         int64
	figures        []metrics.Result
	nextFiguresNS  int64
	countedRecords int64
}

// begin tells the observers.
func (e *execution) begin() {
	e.observed = len(e.options.Observers) > 0
	b := Beginning{BenchmarkID: e.id, Info: e.options.Info, Config: e.cfg, Metrics: e.set}
	for _, o := range e.options.Observers {
		o.Begin(b)
	}
}

// end tells the observers; a second call does nothing.
func (e *execution) end(out *Outcome) {
	if !e.observed {
		return
	}
	e.observed = false
	last := e.snapshot()
	last.Client = nil
	if out != nil {
		last.Phases, last.Client = out.Phases, out.Client
	}
	for _, o := range e.options.Observers {
		o.End(out, last)
	}
}

// show gives a snapshot to everyone who follows the run.
func (e *execution) show() {
	if e.options.Observe == nil && len(e.options.Observers) == 0 {
		return
	}
	s := e.snapshot()
	if e.options.Observe != nil {
		e.options.Observe(s)
	}
	if len(e.options.Observers) == 0 {
		return
	}
	s.Client = e.lookAtClient(&s)
	for _, o := range e.options.Observers {
		o.Show(s)
	}
}

func (e *execution) snapshot() Snapshot {
	return Snapshot{Phases: e.engine.Snapshot(), NowNS: e.clock.NowNS(), Records: e.profiling.Snapshot()}
}

// lookAtClient judges the client by what is known so far, once a second.
func (e *execution) lookAtClient(s *Snapshot) *trust.Report {
	v := &e.seen
	if s.NowNS < v.nextNS {
		return v.report
	}
	v.nextNS = s.NowNS + int64(clientInterval)
	if records := s.Records.Successes + s.Records.Errors; s.NowNS >= v.nextFiguresNS && records != v.countedRecords {
		v.figures = e.profiling.ResultsOf(headlines...)
		v.countedRecords = records
		v.nextFiguresNS = s.NowNS + clientCost*(e.clock.NowNS()-s.NowNS)
	}
	result := &summary.Result{Metrics: v.figures}
	result.Counts.Successes, result.Counts.Errors = s.Records.Successes, s.Records.Errors
	profiling := phaseOf(s.Phases, load.Profiling)
	if profiling != nil {
		result.Counts.TargetRate, result.Counts.DeliveredRate = profiling.TargetRate, profiling.DeliveredRate(s.NowNS)
	}
	v.report = e.health.judgeSoFar(result, profiling, e.limited(), e.client.StampSource())
	return v.report
}

// limited tells that a cap may hold arrivals back as it was asked to.
func (e *execution) limited() bool {
	p := e.cfg.Profiling()
	return p.Concurrency != nil || p.Prefill != nil
}
