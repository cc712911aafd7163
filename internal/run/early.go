package run

import (
	"sync"

	"aiperf/internal/load"
	"aiperf/internal/result/summary"
)

// earlyEnds are the ends that were asked for, by the index of the phase; the first of each counts.
type earlyEnds struct {
	*base
	engine *engine

	mu    sync.Mutex
	asked map[int]summary.EarlyEnd
}

// end passes a request to the load and notes what it saves.
func (e *earlyEnds) end(x End) {
	grace := x.Grace
	if grace <= 0 {
		grace = load.Infinite
	}
	early := summary.EarlyEnd{Reason: e.redactor.Text(x.Reason), Confidence: x.Confidence}
	for _, s := range e.engine.Snapshot() {
		if s.Index == x.Phase {
			left, _ := s.Remaining(e.clock.NowNS())
			early.SavedSeconds = left.Seconds()
		}
	}
	e.mu.Lock()
	_, again := e.asked[x.Phase]
	if !again {
		if e.asked == nil {
			e.asked = map[int]summary.EarlyEnd{}
		}
		e.asked[x.Phase] = early
	}
	e.mu.Unlock()
	if !again {
		e.log.Info("A phase ends early: "+x.Reason, "phase", x.Phase, "saved_seconds", early.SavedSeconds)
		e.engine.EndPhase(x.Phase, grace)
	}
}

// of returns how the first phase of a kind that was ended early came to its end; nil if none was.
func (e *earlyEnds) of(phases []load.Stats, kind load.Kind) *summary.EarlyEnd {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range phases {
		if early, asked := e.asked[phases[i].Index]; asked && phases[i].EndedEarly && phases[i].Kind == kind {
			return &early
		}
	}
	return nil
}
