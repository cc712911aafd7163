package run

import (
	"context"
	"fmt"
	"strings"
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

// Observer follows a run from outside: a page that is scraped, a stream to a collector, a tracker of experiments. It
// never holds the load up and never decides how a run ends: what it cannot pass on in time it drops, counts and tells,
// and its failures are lines of the log. Its methods return at once: they must not wait for anything but a short lock.
//
// Begin comes first, then Record and Show, End last; a run that fails before its first request has none of them.
type Observer interface {
	// Begin reports what is about to be measured.
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
	// of the run's files. The run waits for it before its end, so it bounds itself. A run that fails under way has
	// none.
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

// followers are the observers of a run. One goroutine uses them at a time.
type followers struct {
	*execution
	// begun is true from begin to end.
	begun bool
	// client is what they saw of it, from figures of countedRecords.
	client                *trust.Report
	nextNS, nextFiguresNS int64
	figures               []metrics.Result
	countedRecords        int64
}

// begin tells the observers.
func (f *followers) begin() {
	f.begun = len(f.options.Observers) > 0
	b := Beginning{
		BenchmarkID: f.id, Info: f.options.Info, Config: f.cfg, URLs: f.target.urls, Metrics: f.records.set,
		Log: f.options.Log,
	}
	for _, o := range f.options.Observers {
		o.Begin(b)
	}
}

// flush lets those observers that need time for it pass on what they have, all at the same time; the returned function
// waits for them.
func (f *followers) flush() (wait func()) {
	last := f.snapshot()
	var flushing sync.WaitGroup
	for _, o := range f.options.Observers {
		if slow, ok := o.(Flusher); ok {
			flushing.Go(func() { slow.Flush(last) })
		}
	}
	return flushing.Wait
}

// end tells the observers; a second call does nothing.
func (f *followers) end(out *Outcome) {
	if !f.begun {
		return
	}
	f.begun = false
	last := f.snapshot()
	last.Client = nil
	if out != nil {
		last.Phases, last.Client = out.Phases, out.Client
	}
	for _, o := range f.options.Observers {
		o.End(out, last)
	}
}

// show gives a snapshot to everyone who follows the run.
func (f *followers) show() {
	if f.options.Observe == nil && len(f.options.Observers) == 0 {
		return
	}
	s := f.snapshot()
	if f.options.Observe != nil {
		f.options.Observe(s)
	}
	if len(f.options.Observers) == 0 {
		return
	}
	if f.options.WatchClient {
		s.Client = f.lookAtClient(&s)
	}
	for _, o := range f.options.Observers {
		o.Show(s)
	}
}

func (e *execution) snapshot() Snapshot {
	return Snapshot{Phases: e.engine.Snapshot(), NowNS: e.clock.NowNS(), Records: e.records.profiling.Snapshot()}
}

// lookAtClient judges the client by what is known so far, once a second.
func (f *followers) lookAtClient(s *Snapshot) *trust.Report {
	if s.NowNS < f.nextNS {
		return f.client
	}
	f.nextNS = s.NowNS + int64(clientInterval)
	if records := s.Records.Requests(); s.NowNS >= f.nextFiguresNS && records != f.countedRecords {
		f.figures = f.records.profiling.ResultsOf(headlines...)
		f.countedRecords = records
		f.nextFiguresNS = s.NowNS + clientCost*(f.clock.NowNS()-s.NowNS)
	}
	result := &summary.Result{Metrics: f.figures}
	result.Counts.Successes, result.Counts.Errors, result.Counts.Skipped = s.Records.Successes, s.Records.Errors,
		s.Records.Skipped
	profiling := phaseOf(s.Phases, load.Profiling)
	if profiling != nil {
		result.Counts.TargetRate, result.Counts.DeliveredRate = profiling.TargetRate, profiling.DeliveredRate(s.NowNS)
	}
	f.client = f.health.judge(f.health.watch.SoFar(), result, profiling, trust.Course{})
	return f.client
}

// Snapshot is what an observer sees of a run.
type Snapshot struct {
	// Phases are the load generator's numbers; the last one that has started is the current one.
	Phases []load.Stats
	// NowNS is the instant of the snapshot on the run's clock.
	NowNS int64
	// Records counts the records made so far in the profiling phase.
	Records metrics.Snapshot
	// Client is how the client itself does, at most a second old; nil as long as that is not known, for Observe, and
	// without Options.WatchClient. The last snapshot of a run with an outcome has it always.
	Client *trust.Report
}

// snapshotInterval is how often observers see the run.
const snapshotInterval = 100 * time.Millisecond

// watch looks after a running load until done is closed: it shows snapshots, logs figures, and asks
// the load to stop when the user does. The returned channel is closed when it has ended.
func (e *execution) watch(done <-chan struct{}) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		snapshots := time.NewTicker(snapshotInterval)
		defer snapshots.Stop()
		var figures <-chan time.Time
		if interval := plan.StatsInterval(e.cfg); interval > 0 {
			ticker := time.NewTicker(interval)
			defer ticker.Stop()
			figures = ticker.C
		}
		stop := e.options.Stop
		for {
			select {
			case <-done:
				e.followers.show()
				return
			case <-stop:
				stop = nil
				e.engine.Stop()
			case <-snapshots.C:
				e.followers.show()
			case <-figures:
				e.realtime.log(e)
			}
		}
	}()
	return ended
}

// logPhase writes one line for each change of a phase's state.
func (e *execution) logPhase(event load.PhaseEvent) {
	s := &event.Stats
	if s.State == load.Started && s.Kind == load.Profiling {
		for _, w := range e.watches {
			w.begin()
		}
	}
	if s.State == load.Started {
		e.warnLateStart(s)
	}
	parts := []string{fmt.Sprintf("Phase %s %s", s.Name, strings.ReplaceAll(s.State.String(), "_", " "))}
	switch s.State {
	case load.Started:
		if s.ExpectedRequests > 0 {
			parts = append(parts, fmt.Sprintf("requests=%d", s.ExpectedRequests))
		}
		if s.ExpectedSessions > 0 {
			parts = append(parts, fmt.Sprintf("sessions=%d", s.ExpectedSessions))
		}
		if s.ExpectedDuration > 0 {
			parts = append(parts, fmt.Sprintf("duration=%s", s.ExpectedDuration))
		}
		if s.TargetRate > 0 {
			parts = append(parts, fmt.Sprintf("rate=%g/s", s.TargetRate))
		}
	case load.SendingComplete:
		parts = append(parts, fmt.Sprintf("sent=%d, completed=%d, in_flight=%d", s.RequestsSent, s.RequestsCompleted,
			s.RequestsInFlight()))
		if s.GraceEndNS > 0 && s.RequestsInFlight() > 0 {
			parts = append(parts, fmt.Sprintf("waiting at most %.1f s for them",
				max(0, float64(s.GraceEndNS-e.clock.NowNS())/1e9)))
		}
	case load.Complete:
		parts = append(parts, fmt.Sprintf("completed=%d, cancelled=%d, errors=%d", s.RequestsCompleted,
			s.RequestsCancelled, s.RequestErrors))
		if s.OldestCutOff > 0 {
			parts = append(parts, fmt.Sprintf("oldest_cut_off=%.2fs", s.OldestCutOff.Seconds()))
		}
	}
	if s.TotalSessionTurns > s.SentSessions {
		parts = append(parts, fmt.Sprintf("sessions sent=%d, completed=%d", s.SentSessions, s.CompletedSessions))
	}
	parts = append(parts, fmt.Sprintf("elapsed=%.2fs", s.Elapsed(e.clock.NowNS()).Seconds()))
	for _, flag := range []struct {
		on   bool
		name string
	}{
		{s.TimeoutTriggered, "timeout_triggered"},
		{s.GracePeriodTimeoutTriggered, "grace_period_timeout_triggered"},
		{s.WasCancelled, "was_cancelled"},
	} {
		if flag.on {
			parts = append(parts, flag.name)
		}
	}
	e.log.Log(context.Background(), runlog.LevelNotice, strings.Join(parts, " | "))
}

// lateStart is the wait for a first request from which a user may think that nothing happens.
const lateStart = 10 * time.Second

// warnLateStart reports that a recording begins late.
func (e *execution) warnLateStart(s *load.Stats) {
	if first := time.Duration(s.FirstDueNS); first > lateStart {
		e.log.Warn(fmt.Sprintf("The first request of the schedule is due %.1f s after the start: "+
			"--fixed-schedule-auto-offset lets the first recorded time be the start", first.Seconds()))
	}
}
