package load

import (
	"context"
	"strings"
	"testing"
	"time"
)

func then(first, second Phase) Plan {
	second.Kind, second.Seamless = Profiling, true
	return Plan{Phases: []Phase{first, second}}
}

func TestSeamlessPhaseStartsWhenTheOneBeforeHasSentItsLast(t *testing.T) {
	p := scenario{
		plan:  then(Phase{Concurrency: 2, Requests: 4}, Phase{Concurrency: 3, Requests: 3}),
		serve: within(time.Second),
	}.run(t)
	first, second := p.result.Phases[0], p.result.Phases[1]
	same(t, "first", p.sends(0), "0s 0s 1s 1s")
	same(t, "start of the second", time.Duration(second.StartNS-first.StartNS), time.Second)
	// One of its three slots is free; the first phase pays the other two back at its end.
	same(t, "second", p.sends(1), "0s 1s 1s")
	same(t, "first is complete", time.Duration(first.RequestsEndNS-first.StartNS), 2*time.Second)
	same(t, "completed", []int64{first.RequestsCompleted, second.RequestsCompleted}, []int64{4, 3})
	var order []string
	for _, e := range p.events {
		order = append(order, e.Stats.Kind.String()+" "+e.State.String())
	}
	same(t, "events", strings.Join(order[:3], ", "), "warmup started, warmup sending_complete, profiling started")
}

func TestLowerLimitOfASeamlessPhaseIsPaidBackFirst(t *testing.T) {
	p := scenario{
		plan: then(Phase{Concurrency: 5, Requests: 5}, Phase{Concurrency: 2, Requests: 2}),
		serve: func(c Credit) answer {
			if c.Phase == 0 {
				return answer{after: time.Duration(c.ID+1) * time.Second}
			}
			return answer{after: time.Minute}
		},
	}.run(t)
	same(t, "second", p.sends(1), "4s 5s")
}

func TestUnfinishedSessionsGiveTheirSlotsToTheSeamlessPhase(t *testing.T) {
	p := scenario{
		plan:  then(Phase{Concurrency: 2, Requests: 3}, Phase{Concurrency: 2, Requests: 2}),
		turns: turns(3),
		delay: func(k uint64, _ int) time.Duration { return time.Duration(1+k) * 5 * time.Second },
		serve: within(time.Second),
	}.run(t)
	same(t, "first", p.turnOrder(0), "0.0 1.0 0.1")
	// Session 1 waits for its delay when the first phase ends and session 0 is in flight.
	same(t, "second", p.sends(1), "0s 1s")
}

func TestGraceOfTheOlderPhaseCutsOffItsOwnRequestsOnly(t *testing.T) {
	p := scenario{
		plan: then(Phase{Concurrency: 3, Duration: time.Second, Grace: 2 * time.Second},
			Phase{Concurrency: 4, Requests: 1}),
		serve: func(c Credit) answer {
			if c.Phase == 0 {
				return answer{never: true}
			}
			return answer{after: 5 * time.Second}
		},
	}.run(t)
	first, second := p.result.Phases[0], p.result.Phases[1]
	same(t, "first cancelled", []int64{first.RequestsCancelled, first.ForcedReturns}, []int64{3, 0})
	same(t, "second", []int64{second.RequestsCompleted, second.RequestsCancelled}, []int64{1, 0})
	same(t, "took", p.took, 6*time.Second)
}

func TestStopEndsAllActivePhases(t *testing.T) {
	p := scenario{
		plan:   then(Phase{Concurrency: 3, Requests: 3}, Phase{Concurrency: 5, Requests: 5}),
		serve:  never,
		during: func(_ context.CancelFunc, e *Engine) { time.Sleep(time.Second); e.Stop() },
	}.run(t)
	first, second := p.result.Phases[0], p.result.Phases[1]
	same(t, "cancelled", []int64{first.RequestsCancelled, second.RequestsCancelled}, []int64{3, 2})
	same(t, "flags", []bool{first.WasCancelled, second.WasCancelled}, []bool{true, true})
	same(t, "took", p.took, time.Second)
}

func TestGateOfASeamlessPhaseDoesNotHoldUpTheOlderOne(t *testing.T) {
	p := scenario{
		plan:  then(Phase{Concurrency: 1, Requests: 1}, Phase{Concurrency: 1, Requests: 1}),
		serve: within(time.Second),
		opt: Options{Gates: Gates{BeforeFirstCredit: func(ctx context.Context, phase int) {
			if phase == 1 {
				time.Sleep(3 * time.Second)
			}
		}}},
	}.run(t)
	same(t, "first complete", time.Duration(p.result.Phases[0].RequestsEndNS-p.result.Phases[0].StartNS), time.Second)
	same(t, "second starts", time.Duration(p.result.Phases[1].StartNS-p.result.Phases[0].StartNS), 3*time.Second)
}

func TestSeamlessNeedsASenderThatCanCutOffOnePhase(t *testing.T) {
	e := &echo{}
	_, err := New(then(Phase{Concurrency: 1, Requests: 1}, Phase{Concurrency: 1, Requests: 1}), e, e,
		Options{}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "seamless") {
		t.Errorf("error %v", err)
	}
}
