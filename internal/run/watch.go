package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/run/plan"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/trust"
)

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
		figures := newOptionalTicker(plan.StatsInterval(e.cfg))
		defer figures.stop()
		stop := e.options.Stop
		for {
			select {
			case <-done:
				e.show()
				return
			case <-stop:
				stop = nil
				e.engine.Stop()
			case <-snapshots.C:
				e.show()
			case <-figures.c:
				e.logFigures()
			}
		}
	}()
	return ended
}

// optionalTicker never fires when its interval is 0.
type optionalTicker struct {
	c      <-chan time.Time
	ticker *time.Ticker
}

func newOptionalTicker(interval time.Duration) optionalTicker {
	if interval <= 0 {
		return optionalTicker{}
	}
	t := time.NewTicker(interval)
	return optionalTicker{t.C, t}
}

func (t optionalTicker) stop() {
	if t.ticker != nil {
		t.ticker.Stop()
	}
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
		parts = append(parts, fmt.Sprintf("sent=%d, completed=%d, in_flight=%d", s.RequestsSent, s.RequestsCompleted, s.RequestsInFlight()))
		if s.GraceEndNS > 0 && s.RequestsInFlight() > 0 {
			parts = append(parts, fmt.Sprintf("waiting at most %.1f s for them", max(0, float64(s.GraceEndNS-e.clock.NowNS())/1e9)))
		}
	case load.Complete:
		parts = append(parts, fmt.Sprintf("completed=%d, cancelled=%d, errors=%d", s.RequestsCompleted, s.RequestsCancelled, s.RequestErrors))
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

// warnLateStart tells that a recording begins late.
func (e *execution) warnLateStart(s *load.Stats) {
	if first := time.Duration(s.FirstDueNS); first > lateStart {
		e.log.Warn(fmt.Sprintf("The first request of the schedule is due %.1f s after the start: --fixed-schedule-auto-offset lets the first recorded time be the start", first.Seconds()))
	}
}
