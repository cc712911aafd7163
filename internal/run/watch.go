package run

import (
	"fmt"
	"time"

	"aiperf/internal/load"
)

// snapshotInterval is how often observers see the run.
const snapshotInterval = 100 * time.Millisecond

// watch looks after a running load until done is closed: it shows snapshots, and asks the load to stop when the user
// does, and to end a phase when its end is asked for. The returned channel is closed when it has ended.
func (e *execution) watch(done <-chan struct{}) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		snapshots := time.NewTicker(snapshotInterval)
		defer snapshots.Stop()
		stop, ends := e.options.Stop, e.options.Ends
		for {
			select {
			case <-done:
				e.followers.show()
				return
			case <-stop:
				stop = nil
				e.engine.Stop()
			case end, open := <-ends:
				if !open {
					ends = nil
					continue
				}
				e.early.end(end)
			case <-snapshots.C:
				e.followers.show()
				e.report()
			}
		}
	}()
	return ended
}

// phaseChanged is called at each change of a phase's state.
func (e *execution) phaseChanged(event load.PhaseEvent) {
	s := &event.Stats
	if s.State == load.Started {
		if s.Index == e.firstProfiling() {
			for _, w := range e.parts {
				w.begin()
			}
		}
		e.warnLateStart(s)
	}
	p := phaseProgress(s, e.clock.NowNS())
	for _, o := range e.followers.list {
		o.PhaseChanged(&p)
	}
	e.report()
}

// report passes the newest numbers of the phases on.
func (e *execution) report() {
	if e.options.Phases == nil {
		return
	}
	e.reporting.Lock()
	defer e.reporting.Unlock()
	for _, s := range e.engine.Snapshot() {
		s.Shift(e.clock.WallNS(0))
		e.options.Phases(s)
	}
}

// lateStart is the wait for a first request from which a user may think that nothing happens.
const lateStart = 10 * time.Second

// warnLateStart reports that a recording begins late.
func (b *base) warnLateStart(s *load.Stats) {
	if first := time.Duration(s.FirstDueNS); first > lateStart {
		b.log.Warn(fmt.Sprintf("The first request of the schedule is due %.1f s after the start: "+
			"--fixed-schedule-auto-offset lets the first recorded time be the start", first.Seconds()))
	}
}
