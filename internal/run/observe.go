package run

import (
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/trust"
)

// Observer follows a run from outside: a page that is scraped, a stream to a collector, a tracker of experiments. It never
// holds the load up and never decides how a run ends: what it cannot pass on in time it drops, counts and tells, and its
// failures are lines of the log. Its methods return at once: they must not wait for anything but a short lock.
//
// Begin comes first, then Record and Show, End last; a run that fails before its first request has none of them.
type Observer interface {
	// Begin tells what is about to be measured.
	Begin(Beginning)
	// Record takes each request that succeeded or failed, warm-up included, from several goroutines at once. The
	// record is shared: it may be kept for a moment, and nothing of it may be changed.
	Record(*record.Record)
	// Show takes a snapshot a few times a second.
	Show(Snapshot)
	// End takes what the run yielded, and its last snapshot; nil is for a run without results.
	End(*Outcome, Snapshot)
}

// Flusher is an observer that takes time to pass on what it has.
type Flusher interface {
	Observer
	// Flush comes once there are no more records, with the last snapshot, on a goroutine of its own beside the writing
	// of the run's files. The run waits for it before its end, so it bounds itself. A run that fails under way has none.
	Flush(Snapshot)
}

// Beginning is what is known of a run before its first request.
type Beginning struct {
	BenchmarkID string
	Info        summary.RunInfo
	Config      *config.Run
	// URLs are what is asked, paths included.
	URLs []string
	// Metrics are those that the run measures.
	Metrics *metrics.Set
	// Log is the run's own.
	Log *runlog.Log
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
	b := Beginning{BenchmarkID: e.id, Info: e.options.Info, Config: e.cfg, URLs: e.target.urls, Metrics: e.records.set, Log: e.options.Log}
	for _, o := range e.options.Observers {
		o.Begin(b)
	}
}

// flush lets those observers that need time for it pass on what they have, all at the same time; the returned function
// waits for them.
func (e *execution) flush() (wait func()) {
	last := e.snapshot()
	var flushing sync.WaitGroup
	for _, o := range e.options.Observers {
		if f, ok := o.(Flusher); ok {
			flushing.Go(func() { f.Flush(last) })
		}
	}
	return flushing.Wait
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
	if e.options.WatchClient {
		s.Client = e.lookAtClient(&s)
	}
	for _, o := range e.options.Observers {
		o.Show(s)
	}
}

func (e *execution) snapshot() Snapshot {
	return Snapshot{Phases: e.engine.Snapshot(), NowNS: e.clock.NowNS(), Records: e.records.profiling.Snapshot()}
}

// lookAtClient judges the client by what is known so far, once a second.
func (e *execution) lookAtClient(s *Snapshot) *trust.Report {
	v := &e.seen
	if s.NowNS < v.nextNS {
		return v.report
	}
	v.nextNS = s.NowNS + int64(clientInterval)
	if records := s.Records.Requests(); s.NowNS >= v.nextFiguresNS && records != v.countedRecords {
		v.figures = e.records.profiling.ResultsOf(headlines...)
		v.countedRecords = records
		v.nextFiguresNS = s.NowNS + clientCost*(e.clock.NowNS()-s.NowNS)
	}
	result := &summary.Result{Metrics: v.figures}
	result.Counts.Successes, result.Counts.Errors, result.Counts.Skipped = s.Records.Successes, s.Records.Errors, s.Records.Skipped
	profiling := phaseOf(s.Phases, load.Profiling)
	if profiling != nil {
		result.Counts.TargetRate, result.Counts.DeliveredRate = profiling.TargetRate, profiling.DeliveredRate(s.NowNS)
	}
	v.report = e.health.judgeSoFar(result, profiling, plan.Limited(e.cfg), e.client.StampSource())
	return v.report
}
