package trust

import (
	"slices"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/stats"
)

// probeInterval is the time between two probes of the process and the machine.
const probeInterval = 250 * time.Millisecond

// Watch observes the process until it is stopped.
type Watch struct {
	clock  *clock.Clock
	system system
	stop   chan struct{}
	ended  chan struct{}

	mu        sync.Mutex
	since     reading
	last      reading
	late      stats.Histogram // nanoseconds by which the probe's timer was late
	health    Health
	intervals intervals
	done      bool
}

// Start begins to watch. The watch belongs to one run; Stop ends it.
func Start(c *clock.Clock) *Watch { return start(c, thisSystem()) }

func start(c *clock.Clock, s system) *Watch {
	w := &Watch{clock: c, system: s, stop: make(chan struct{}), ended: make(chan struct{})}
	w.restart()
	go w.run()
	return w
}

// Restart drops what was observed so far: the measured part of the run begins.
func (w *Watch) Restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.restart()
	}
}

func (w *Watch) restart() {
	w.since = w.system.all(w.clock.NowNS())
	w.last = w.since
	w.late = stats.Histogram{}
	w.health = Health{availableMin: -1, peaks: peaks{}}
	w.intervals = intervals{}
	w.health.level(&w.since)
}

// run probes on an absolute schedule: a probe that comes late does not move those after it, and those
// that it has missed meanwhile are left out.
func (w *Watch) run() {
	defer close(w.ended)
	due := w.clock.NowNS() + int64(probeInterval)
	timer := time.NewTimer(probeInterval)
	defer timer.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-timer.C:
		}
		now := w.clock.NowNS()
		w.probe(now, now-due)
		now = w.clock.NowNS()
		due += int64(probeInterval) * max(1, (now-due)/int64(probeInterval)+1)
		timer.Reset(time.Duration(due - now))
	}
}

func (w *Watch) probe(now, late int64) {
	r := w.system.use(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	r.quota = w.since.quota
	w.late.Add(float64(max(0, late)))
	w.health.level(&r)
	w.health.peak(&w.last, &r)
	w.intervals.add(&w.last, &r, max(0, late))
	w.last = r
}

// SoFar returns what the watch has observed since the start or the last Restart. It reads the machine, which may take
// half a millisecond.
func (w *Watch) SoFar() Health {
	now := w.system.all(w.clock.NowNS())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return w.health
	}
	if now.atNS < w.since.atNS { // a Restart came in between
		now = w.since
	}
	h := w.health
	h.level(&now)
	h.window(&w.since, &now)
	h.Probe = lagsOf(&w.late)
	return h
}

// Stop ends the watch and returns what it observed since the start or the last Restart.
func (w *Watch) Stop() Health {
	w.mu.Lock()
	first := !w.done
	w.done = true
	w.mu.Unlock()
	if first {
		close(w.stop)
	}
	<-w.ended
	if first {
		end := w.system.all(w.clock.NowNS())
		w.mu.Lock()
		defer w.mu.Unlock()
		w.health.level(&end)
		w.health.window(&w.since, &end)
		w.health.Probe = lagsOf(&w.late)
	}
	return w.health
}

// Intervals returns what was observed over time so far.
func (w *Watch) Intervals() []Interval {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.intervals.list)
}
