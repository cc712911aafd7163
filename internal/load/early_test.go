package load

import (
	"context"
	"testing"
	"time"
)

// A phase that is ended early is as one whose stop condition was met: nothing is cancelled, what is in flight is
// awaited, and the next phase follows.
func TestPhaseThatEndsEarlyIsNotCancelled(t *testing.T) {
	p := scenario{
		plan: Plan{Phases: []Phase{
			{Concurrency: 2, Duration: time.Minute, Grace: 30 * time.Second},
			{Kind: Profiling, Concurrency: 2, Requests: 100},
		}},
		serve: within(2 * time.Second),
		during: func(_ context.CancelFunc, e *Engine) {
			time.Sleep(3 * time.Second)
			e.EndPhase(0, Infinite)
			e.EndPhase(1, Infinite) // has not begun
			time.Sleep(4 * time.Second)
			e.EndPhase(0, 0) // is over
			e.EndPhase(1, Infinite)
			e.EndPhase(1, 0) // sends no more
		},
	}.run(t)
	first, second := p.result.Phases[0], p.result.Phases[1]
	same(t, "sent", []int64{first.RequestsSent, second.RequestsSent}, []int64{4, 4})
	same(t, "completed", []int64{first.RequestsCompleted, second.RequestsCompleted}, []int64{4, 4})
	same(t, "ended early", []bool{first.EndedEarly, second.EndedEarly}, []bool{true, true})
	same(t, "cancelled", []bool{p.result.Cancelled, first.WasCancelled, second.WasCancelled},
		[]bool{false, false, false})
	same(t, "timed out", first.TimeoutTriggered, false)
	same(t, "end of the grace", first.GraceEndNS-first.StartNS, int64(33*time.Second))
	same(t, "took", p.took, 8*time.Second)
}

func TestGraceOfAnEarlyEndBoundsTheWait(t *testing.T) {
	for _, c := range []struct {
		name         string
		phase, given time.Duration
		took         time.Duration
	}{
		{"shorter than that of the phase", time.Minute, 5 * time.Second, 8 * time.Second},
		{"longer than that of the phase", 4 * time.Second, time.Hour, 7 * time.Second},
	} {
		p := scenario{
			plan:  one(Phase{Concurrency: 3, Duration: time.Minute, Grace: c.phase}),
			serve: never,
			during: func(_ context.CancelFunc, e *Engine) {
				time.Sleep(3 * time.Second)
				e.EndPhase(0, c.given)
			},
		}.run(t)
		s := p.result.Phases[0]
		same(t, c.name+": took", p.took, c.took)
		same(t, c.name+": cut off", s.RequestsCancelled, 3)
		same(t, c.name+": cancelled", s.WasCancelled, false)
	}
}

// A phase without a duration waits for its replies without a bound; an early end can have one.
func TestEarlyEndOfAPhaseOfRequests(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 1, Requests: 10}),
		serve: within(time.Hour),
		during: func(_ context.CancelFunc, e *Engine) {
			time.Sleep(time.Second)
			e.EndPhase(0, Infinite)
		},
	}.run(t)
	same(t, "completed", p.result.Phases[0].RequestsCompleted, 1)
	same(t, "took", p.took, time.Hour)
}
