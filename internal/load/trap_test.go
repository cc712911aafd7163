package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/random"
)

const ms = time.Millisecond

func constantly(rate float64) Arrivals { return Arrivals{Pattern: Constant, Rate: rate} }

func one(p Phase) Plan {
	if p.Kind == 0 {
		p.Kind = Profiling
	}
	return Plan{Phases: []Phase{p}, Seed: random.Root(42)}
}

func turns(n int) func(uint64) int { return func(uint64) int { return n } }

func within(d time.Duration) func(Credit) answer {
	return func(Credit) answer { return answer{after: d} }
}

func never(Credit) answer { return answer{never: true} }

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func TestTrapFirstArrivalComesOneIntervalAfterTheStart(t *testing.T) {
	p := scenario{plan: one(Phase{Arrivals: constantly(10), Requests: 5})}.run(t)
	same(t, "sends", p.sends(0), "100ms 200ms 300ms 400ms 500ms")
	for _, c := range p.sent {
		same(t, "intended", c.IntendedNS, c.IssuedNS)
	}
}

func TestTrapRateCountsTurnsAndContinuationsGoFirst(t *testing.T) {
	p := scenario{plan: one(Phase{Arrivals: constantly(10), Duration: 1050 * ms}), turns: turns(2)}.run(t)
	same(t, "order", p.turnOrder(0), "0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1")
	same(t, "sends", p.sends(0), "100ms 200ms 300ms 400ms 500ms 600ms 700ms 800ms 900ms 1s")
}

func TestTrapArrivalWithoutSlotIsSkipped(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Arrivals: constantly(10), Concurrency: 1, Requests: 4}),
		serve: within(250 * ms),
	}.run(t)
	same(t, "sends", p.sends(0), "100ms 400ms 700ms 1s")
	same(t, "skipped", p.result.Phases[0].SkippedArrivals, 6)
	same(t, "sessions are kept for the next arrival", p.turnOrder(0), "0.0 1.0 2.0 3.0")
}

func TestTrapStallDropsOrCatchesUp(t *testing.T) {
	tests := []struct {
		name           string
		rate           float64
		end, from, to  time.Duration
		maxCatchup     time.Duration
		sent, dropped  int64
		aroundTheStall string
	}{
		{"1 s at 100/s without catch-up", 100, 10005 * ms, 5000 * ms, 6000 * ms, 0, 902, 98, "5s 6s 6s 6.01s"},
		{"1 s at 100/s with 10 ms", 100, 10005 * ms, 5000 * ms, 6000 * ms, 10 * ms, 902, 98, "5s 6s 6s 6.01s"},
		{"1 s at 100/s with 10 s", 100, 10005 * ms, 5000 * ms, 6000 * ms, 10 * time.Second, 1000, 0,
			"5s" + strings.Repeat(" 6s", 100) + " 6.01s"},
		{"6 ms at 1000/s without catch-up", 1000, 1000 * ms, 500 * ms, 506 * ms, 0, 995, 4, "500ms 506ms 506ms 507ms"},
		{"6 ms at 1000/s with 10 ms", 1000, 1000 * ms, 500 * ms, 506 * ms, 10 * ms, 999, 0,
			"500ms 506ms 506ms 506ms 506ms 506ms 506ms 507ms"},
		{"a lag of exactly the allowance is kept", 100, 1000 * ms, 500 * ms, 530 * ms, 10 * ms, 99, 0,
			"500ms 530ms 530ms 530ms 540ms"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := scenario{
				plan:      one(Phase{Arrivals: constantly(test.rate), Duration: test.end, Grace: time.Second}),
				serve:     within(time.Minute), // no return wakes the loop
				opt:       Options{MaxCatchup: test.maxCatchup},
				stallFrom: test.from, stallTo: test.to,
			}.run(t)
			same(t, "sent", len(p.sent), test.sent)
			same(t, "dropped", p.result.Phases[0].DroppedByCatchup, test.dropped)
			if !strings.Contains(" "+p.sends(0)+" ", " "+test.aroundTheStall+" ") {
				t.Errorf("want %s in %s", test.aroundTheStall, p.sends(0))
			}
		})
	}
}

func TestTrapGapsHaveTheMeanAndVariationOfTheirPattern(t *testing.T) {
	for _, test := range []struct {
		arrivals Arrivals
		cv       float64
	}{
		{Arrivals{Pattern: Constant, Rate: 10}, 0},
		{Arrivals{Pattern: Poisson, Rate: 10}, 1},
		{Arrivals{Pattern: Gamma, Rate: 10}, 1},
		{Arrivals{Pattern: Gamma, Rate: 10, Smoothness: 4}, 0.5},
		{Arrivals{Pattern: Gamma, Rate: 10, Smoothness: 0.25}, 2},
	} {
		process := newProcess(test.arrivals, random.Root(42))
		const n = 100_000
		var sum, squares float64
		for k := range uint64(n) {
			gap := process.gap(k) / 1e9
			sum, squares = sum+gap, squares+gap*gap
		}
		mean := sum / n
		cv := math.Sqrt(max(0, squares/n-mean*mean)) / mean
		if math.Abs(mean-0.1) > 0.003 || math.Abs(cv-test.cv) > 0.05 {
			t.Errorf("%+v: mean %.4f s, variation %.3f; want 0.1 and %.2f", test.arrivals, mean, cv, test.cv)
		}
	}
}

func TestTrapSessionsGoOnOverPhases(t *testing.T) {
	warmup := Phase{Kind: Warmup, Concurrency: 1, Requests: 3}
	profiling := Phase{Kind: Profiling, Concurrency: 1, Requests: 2}
	p := scenario{plan: Plan{Phases: []Phase{warmup, profiling}}}.run(t)
	same(t, "profiling", p.turnOrder(1), "3.0 4.0")

	// A session that was ready but never sent is not lost: numbers have no holes.
	warmup.Requests, warmup.Sessions = 0, 3
	p = scenario{plan: Plan{Phases: []Phase{warmup, profiling}}, turns: turns(2)}.run(t)
	same(t, "warm-up", p.turnOrder(0), "0.0 0.1 1.0 1.1 2.0 2.1")
	same(t, "profiling", p.turnOrder(1), "3.0 3.1")

	// A phase that begins a pass over five conversations begins with the first of them: session 5 plays it.
	warmup, profiling.Pass = Phase{Kind: Warmup, Concurrency: 2, Requests: 3}, 5
	p = scenario{plan: Plan{Phases: []Phase{warmup, profiling}}}.run(t)
	same(t, "profiling of a pass", p.turnOrder(1), "5.0 6.0")
}

func TestTrapURLsAlternateBySessionAcrossPhases(t *testing.T) {
	urls := func(p played, phase int) (got []int) {
		for _, c := range p.sent {
			if c.Phase == phase {
				got = append(got, c.URLIndex)
			}
		}
		return got
	}
	plan := one(Phase{Concurrency: 1, Sessions: 3})
	plan.URLs = 2
	p := scenario{plan: plan, turns: turns(3)}.run(t)
	same(t, "URLs", urls(p, 0), []int{0, 0, 0, 1, 1, 1, 0, 0, 0})
	same(t, "requests per URL", p.result.Phases[0].RequestsPerURL, []int{6, 3})

	plan.Phases = []Phase{{Kind: Warmup, Concurrency: 1, Sessions: 1}, {Kind: Profiling, Concurrency: 1, Sessions: 1}}
	p = scenario{plan: plan, turns: turns(3)}.run(t)
	same(t, "URLs after one warm-up session", urls(p, 1), []int{1, 1, 1})
}

func TestTrapRequestCountCutsASession(t *testing.T) {
	p := scenario{plan: one(Phase{Concurrency: 1, Requests: 5}), turns: turns(3), serve: within(time.Second)}.run(t)
	same(t, "order", p.turnOrder(0), "0.0 0.1 0.2 1.0 1.1")
	s := p.result.Phases[0]
	same(t, "sent, sessions, completed, in flight",
		[]int64{s.RequestsSent, s.SentSessions, s.CompletedSessions, s.requestsInFlight()}, []int64{5, 2, 1, 0})
	same(t, "all turns", s.TotalSessionTurns, 6)
	same(t, "state", s.State, Complete)
}

func TestTrapSessionCountSendsAllTurns(t *testing.T) {
	var sentAtEnd int64
	p := scenario{
		plan: one(Phase{Concurrency: 1, Sessions: 2}), turns: turns(3), serve: within(time.Second),
		opt: Options{Observe: func(e PhaseEvent) {
			if e.State == SendingComplete {
				sentAtEnd = e.Stats.RequestsSent
			}
		}},
	}.run(t)
	same(t, "order", p.turnOrder(0), "0.0 0.1 0.2 1.0 1.1 1.2")
	same(t, "sent when sending is complete", sentAtEnd, 6)
	for _, c := range p.sent {
		same(t, "final turn", c.Final, c.Turn == 2)
	}
}

func TestTrapNoGraceCutsOffAtOnce(t *testing.T) {
	p := scenario{plan: one(Phase{Concurrency: 3, Duration: 10 * time.Second}), serve: within(4 * time.Second)}.run(t)
	s := p.result.Phases[0]
	same(t, "sent, completed, cancelled, errors",
		[]int64{s.RequestsSent, s.RequestsCompleted, s.RequestsCancelled, s.RequestErrors}, []int64{9, 6, 3, 0})
	same(t, "took", p.took, 10*time.Second)
	same(t, "oldest", s.OldestCutOff, 2*time.Second)
	same(t, "flags", []bool{s.TimeoutTriggered, s.GracePeriodTimeoutTriggered, s.WasCancelled},
		[]bool{true, true, false})
	same(t, "sent by the server's count", p.returned[CutOff], 3)
}

func TestTrapGraceRunsFromTheEndOfTheDuration(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 1, Requests: 1, Duration: 10 * time.Second, Grace: 5 * time.Second}),
		serve: never,
	}.run(t)
	s := p.result.Phases[0]
	same(t, "took", p.took, 15*time.Second)
	same(t, "timeout, grace timeout", []bool{s.TimeoutTriggered, s.GracePeriodTimeoutTriggered}, []bool{false, true})
	same(t, "sending ended at once", s.SentEndNS, s.StartNS)
}

func TestTrapSlotIsHeldDuringDelays(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 1, Sessions: 2}),
		turns: turns(3),
		delay: func(_ uint64, turn int) time.Duration { return 2 * time.Second },
		serve: within(time.Second),
	}.run(t)
	same(t, "sends", p.sends(0), "0s 3s 6s 7s 10s 13s")
	same(t, "sessions at once", p.peaks[0].maxSessions, 1)
}

func TestTrapDurationDropsADelayedContinuation(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 1, Duration: 2 * time.Second, Grace: 30 * time.Second}),
		turns: turns(2),
		delay: func(uint64, int) time.Duration { return 5 * time.Second },
		serve: within(time.Second),
	}.run(t)
	s := p.result.Phases[0]
	same(t, "order", p.turnOrder(0), "0.0")
	same(t, "sent, completed, cancelled sessions",
		[]int64{s.SentSessions, s.CompletedSessions, s.CancelledSessions}, []int64{1, 0, 0})
	same(t, "took", p.took, 2*time.Second)
}

func TestTrapEveryRequestCancelledIsARunOfErrors(t *testing.T) {
	plan := one(Phase{Concurrency: 2, Requests: 20, Cancellation: Cancellation{Percent: 100}})
	p := scenario{plan: plan, serve: func(c Credit) answer {
		if c.CancelAfterNS == 0 {
			return answer{after: ms, outcome: Failure}
		}
		return answer{after: ms}
	}}.run(t)
	s := p.result.Phases[0]
	same(t, "completed, errors, cancelled", []int64{s.RequestsCompleted, s.RequestErrors, s.RequestsCancelled},
		[]int64{20, 20, 0})
	same(t, "cancelled run", []bool{p.result.Cancelled, s.WasCancelled}, []bool{false, false})
}

func TestTrapWarmupDoesNotChangeTheCancellations(t *testing.T) {
	cancellation := Cancellation{Percent: 10, Delay: 500 * ms}
	profiling := Phase{Kind: Profiling, Concurrency: 3, Requests: 200, Cancellation: cancellation}
	warmup := Phase{Kind: Warmup, Concurrency: 1, Requests: 5, Cancellation: cancellation}
	pattern := func(phases ...Phase) (cancelled []int64) {
		p := scenario{plan: Plan{Phases: phases, Seed: random.Root(7)}, serve: within(ms)}.run(t)
		for _, c := range p.sent {
			switch {
			case phases[c.Phase].Kind == Warmup && c.CancelAfterNS >= 0:
				t.Error("a warm-up request is cancelled")
			case c.CancelAfterNS == int64(500*ms):
				cancelled = append(cancelled, c.ID)
			case c.CancelAfterNS >= 0:
				t.Errorf("cancelled after %d ns", c.CancelAfterNS)
			}
		}
		return cancelled
	}
	alone := pattern(profiling)
	same(t, "with a warm-up", pattern(warmup, profiling), alone)
	if len(alone) < 8 || len(alone) > 35 {
		t.Errorf("%d of 200 cancelled, want about 20", len(alone))
	}
	// A second profiling phase goes on with the draws of the first.
	half := profiling
	half.Requests = 100
	var want []int64
	for _, id := range alone {
		want = append(want, id%100)
	}
	same(t, "in two phases", pattern(half, half), want)
}

func TestTrapPrefillSlotIsHeldUntilContent(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 3, Prefill: 1, Requests: 3}),
		serve: func(Credit) answer { return answer{content: 100 * ms, after: time.Second} },
	}.run(t)
	same(t, "sends", p.sends(0), "0s 100ms 200ms")
	same(t, "prefills at once", p.peaks[0].maxPrefill, 1)
}

func TestTrapFailureWithoutContentFreesThePrefillSlot(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 4, Prefill: 1, Requests: 100}),
		serve: func(Credit) answer { return answer{after: ms, outcome: Failure} },
	}.run(t)
	same(t, "errors", p.result.Phases[0].RequestErrors, 100)
	same(t, "took", p.took, 100*ms)
}

func TestTrapWarmupRunsAtItsRate(t *testing.T) {
	p := scenario{plan: Plan{Phases: []Phase{
		{Kind: Warmup, Arrivals: constantly(10), Requests: 50},
		{Kind: Profiling, Arrivals: constantly(10), Requests: 500},
	}}}.run(t)
	warmup, profiling := p.result.Phases[0], p.result.Phases[1]
	same(t, "warm-up took", warmup.Elapsed(0), 5*time.Second)
	same(t, "profiling took", profiling.Elapsed(0), 50*time.Second)
	same(t, "profiling starts after it", profiling.StartNS >= warmup.RequestsEndNS, true)
}

func TestTrapProgressIsThatOfTheClosestCondition(t *testing.T) {
	var percent float64
	var remaining time.Duration
	scenario{
		plan: one(Phase{Arrivals: constantly(4), Requests: 100, Duration: 10 * time.Second}),
		during: func(_ context.CancelFunc, e *Engine) {
			time.Sleep(5*time.Second + ms)
			s := e.Snapshot()[0]
			percent, _ = s.Progress(s.StartNS + int64(5*time.Second))
			remaining, _ = s.Remaining(s.StartNS + int64(5*time.Second))
			same(t, "completed", s.RequestsCompleted, 20)
		},
	}.run(t)
	same(t, "percent", percent, 50)
	same(t, "remaining", remaining, 5*time.Second)
}

func TestTrapStopKeepsWhatIsFinished(t *testing.T) {
	p := scenario{
		plan: Plan{Phases: []Phase{{Kind: Profiling, Concurrency: 2, Requests: 100},
			{Kind: Profiling, Concurrency: 1, Requests: 1}}},
		serve: within(time.Second),
		during: func(_ context.CancelFunc, e *Engine) {
			time.Sleep(10*time.Second + 500*ms)
			e.Stop()
		},
	}.run(t)
	s := p.result.Phases[0]
	same(t, "phases begun", len(p.result.Phases), 1)
	same(t, "sent, completed, cancelled", []int64{s.RequestsSent, s.RequestsCompleted, s.RequestsCancelled},
		[]int64{22, 20, 2})
	same(t, "cancelled run", []bool{p.result.Cancelled, s.WasCancelled}, []bool{true, true})
	same(t, "error", p.err, nil)
	same(t, "took", p.took, 10*time.Second+500*ms)
}

func TestAbortReturnsItsReason(t *testing.T) {
	reason := errors.New("21 of 100 requests failed")
	p := scenario{
		plan:   one(Phase{Concurrency: 2, Requests: 100}),
		serve:  never,
		during: func(_ context.CancelFunc, e *Engine) { time.Sleep(time.Second); e.Abort(reason); e.Stop() },
	}.run(t)
	same(t, "error", p.err, reason)
	same(t, "cancelled", p.result.Phases[0].RequestsCancelled, 2)
}
