package load

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
)

func TestPlansThatCannotRun(t *testing.T) {
	good := Phase{Name: "profiling", Kind: Profiling, Concurrency: 1, Requests: 1}
	for _, test := range []struct {
		want  string
		phase func(*Phase)
	}{
		{"no stop condition", func(p *Phase) { p.Requests = 0 }},
		{"a limit is negative", func(p *Phase) { p.Prefill = -1 }},
		{"concurrency", func(p *Phase) { p.Concurrency, p.Requests, p.Duration = 0, 0, time.Second }},
		{"rate above 0", func(p *Phase) { p.Arrivals.Pattern = Poisson }},
		{"rate above 0", func(p *Phase) { p.Arrivals = Arrivals{Pattern: Gamma, Rate: math.NaN()} }},
		{"smoothness", func(p *Phase) { p.Arrivals = Arrivals{Pattern: Gamma, Rate: 1, Smoothness: -1} }},
		{"0 to 100", func(p *Phase) { p.Cancellation.Percent = 101 }},
	} {
		phase := good
		test.phase(&phase)
		_, err := New(one(phase), nil, nil, Options{}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) ||
			!strings.Contains(err.Error(), "phase 0 (profiling)") {
			t.Errorf("%+v: error %v, want %q", phase, err, test.want)
		}
	}
	if err := (Plan{}).Validate(); err == nil {
		t.Error("a plan without phases is accepted")
	}
	if err := one(good).Validate(); err != nil {
		t.Error(err)
	}
}

func TestBurstStartsAllSessionsAtOnce(t *testing.T) {
	p := scenario{plan: one(Phase{Concurrency: 4, Requests: 8}), serve: within(time.Second)}.run(t)
	same(t, "sends", p.sends(0), "0s 0s 0s 0s 1s 1s 1s 1s")
	same(t, "intended", p.sent[0].IntendedNS, 0)
}

func TestBurstThatOnlyItsStopLimits(t *testing.T) {
	p := scenario{plan: one(Phase{Requests: 5}), serve: within(time.Second)}.run(t)
	same(t, "sends by number of requests", p.sends(0), "0s 0s 0s 0s 0s")
	p = scenario{plan: one(Phase{Sessions: 2}), turns: turns(2), serve: within(time.Second)}.run(t)
	same(t, "sends by number of sessions", p.sends(0), "0s 0s 1s 1s")
}

func TestBurstWithPrefillLimitAlone(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Prefill: 2, Requests: 6}),
		serve: func(Credit) answer { return answer{content: 100 * ms, after: time.Second} },
	}.run(t)
	same(t, "sends", p.sends(0), "0s 0s 100ms 100ms 200ms 200ms")
}

func TestBurstPrefersContinuations(t *testing.T) {
	p := scenario{plan: one(Phase{Concurrency: 2, Prefill: 1, Sessions: 3}), turns: turns(2),
		serve: within(time.Second)}.run(t)
	same(t, "order", p.turnOrder(0), "0.0 0.1 1.0 1.1 2.0 2.1")
}

// A continuation that waits for a prefill slot keeps its arrival; the schedule goes on and no session overtakes it.
func TestWaitingContinuationDoesNotHoldUpTheSchedule(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Arrivals: constantly(10), Prefill: 1, Duration: 1050 * ms, Grace: Infinite}),
		turns: turns(2),
		serve: func(c Credit) answer {
			if c.Session == 1 {
				return answer{after: 330 * ms} // from 200 to 530 ms: the only prefill slot
			}
			return answer{content: ms, after: 60 * ms}
		},
		delay: func(k uint64, _ int) time.Duration {
			if k == 0 {
				return 90 * ms // ready at 250 ms
			}
			return 0
		},
	}.run(t)
	same(t, "order", p.turnOrder(0)[:15], "0.0 1.0 0.1 1.1")
	waiting := p.sent[2]
	start := p.result.Phases[0].StartNS
	same(t, "intended, issued", []time.Duration{time.Duration(waiting.IntendedNS - start),
		time.Duration(waiting.IssuedNS - start)},
		[]time.Duration{300 * ms, 530 * ms})
	next := p.sent[3]
	same(t, "the one after it", time.Duration(next.IntendedNS-start), 600*ms)
	same(t, "skipped at 400 and 500 ms at least", p.result.Phases[0].SkippedArrivals >= 2, true)
}

func TestFailedTurnDoesNotEndTheSession(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 1, Sessions: 1}), turns: turns(3),
		serve: func(c Credit) answer { return answer{outcome: Failure} },
	}.run(t)
	same(t, "order", p.turnOrder(0), "0.0 0.1 0.2")
	same(t, "completed sessions", p.result.Phases[0].CompletedSessions, 1)
}

func TestDelayedTurnsComeInTheOrderTheyAreDue(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 3, Sessions: 3}), turns: turns(2),
		delay: func(k uint64, _ int) time.Duration { return time.Duration(3-k) * time.Second },
	}.run(t)
	same(t, "order", p.turnOrder(0), "0.0 1.0 2.0 2.1 1.1 0.1")
	same(t, "sends", p.sends(0), "0s 0s 0s 1s 2s 3s")
}

func TestRequestFinishedWithinGraceIsComplete(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 1, Duration: time.Second, Grace: 5 * time.Second}),
		serve: within(3 * time.Second),
	}.run(t)
	s := p.result.Phases[0]
	same(t, "completed, cancelled", []int64{s.RequestsCompleted, s.RequestsCancelled}, []int64{1, 0})
	same(t, "took", p.took, 3*time.Second)
	same(t, "grace end", s.GraceEndNS-s.StartNS, int64(6*time.Second))
}

func TestInfiniteGraceWaits(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 1, Duration: time.Second, Grace: Infinite}),
		serve: within(6 * time.Hour),
	}.run(t)
	same(t, "completed", p.result.Phases[0].RequestsCompleted, 1)
	same(t, "took", p.took, 6*time.Hour)
	same(t, "end of the grace period", p.result.Phases[0].GraceEndNS, 0)
}

func TestRequestsThatDoNotReturnAreGivenUp(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 3, Duration: time.Second, Grace: time.Second}),
		serve: never, deaf: true,
		opt: Options{CancelDrainTimeout: 7 * time.Second},
	}.run(t)
	s := p.result.Phases[0]
	same(t, "took", p.took, 9*time.Second)
	same(t, "cancelled, of these forced", []int64{s.RequestsCancelled, s.ForcedReturns}, []int64{3, 3})
	same(t, "told once", p.cutOff, 1)
}

func TestStopWhileRequestsAreCutOffChangesNothing(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Arrivals: constantly(10), Requests: 8, Duration: time.Second, Grace: time.Second}),
		serve: never, deaf: true,
		opt:    Options{CancelDrainTimeout: 7 * time.Second},
		during: func(_ context.CancelFunc, e *Engine) { time.Sleep(5 * time.Second); e.Stop() },
	}.run(t)
	s := p.result.Phases[0]
	same(t, "took", p.took, 9*time.Second)
	same(t, "sender told", p.cutOff, 1)
	same(t, "oldest", s.OldestCutOff, 1900*ms)
	same(t, "flags", []bool{s.TimeoutTriggered, s.GracePeriodTimeoutTriggered, s.WasCancelled},
		[]bool{false, true, true})
}

func TestLateReturnOfAnEarlierPhaseIsIgnored(t *testing.T) {
	p := scenario{
		plan: Plan{Phases: []Phase{
			{Kind: Warmup, Concurrency: 1, Duration: time.Second},
			{Kind: Profiling, Concurrency: 1, Requests: 2},
		}},
		serve: func(c Credit) answer {
			if c.Phase == 0 {
				return answer{after: 5 * time.Second} // given up at 2 s, returns in the next phase
			}
			return answer{after: 10 * time.Second}
		},
		deaf: true,
		opt:  Options{CancelDrainTimeout: time.Second},
	}.run(t)
	s := p.result.Phases[1]
	same(t, "profiling completed", s.RequestsCompleted, 2)
	same(t, "profiling took", s.Elapsed(0), 20*time.Second)
	same(t, "warm-up cancelled", p.result.Phases[0].RequestsCancelled, 1)
}

func TestSecondReturnOfACreditIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		twice := &echo{outcomes: []Outcome{Success, Failure, CutOff}}
		c := clock.New()
		timer := clock.NewPlainTimer(c)
		defer timer.Stop()
		twice.engine = New(one(Phase{Concurrency: 1, Requests: 3}), twice, twice, Options{Clock: c, Timer: timer})
		res, err := twice.engine.Run(t.Context())
		s := res.Phases[0]
		same(t, "error", err, nil)
		same(t, "completed, errors, cancelled", []int64{s.RequestsCompleted, s.RequestErrors, s.RequestsCancelled},
			[]int64{3, 0, 0})
	})
}

func TestSessionThatIsCutOffMeanwhileDoesNotHoldUpTheEnd(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 1, Sessions: 2}), turns: turns(3),
		serve: func(c Credit) answer {
			if c.Turn == 1 {
				return answer{outcome: CutOff}
			}
			return answer{}
		},
	}.run(t)
	same(t, "order", p.turnOrder(0), "0.0 0.1 1.0 1.1")
	same(t, "cancelled sessions", p.result.Phases[0].CancelledSessions, 2)
}

func TestEndOfTheContextEndsEverythingAtOnce(t *testing.T) {
	p := scenario{
		plan: Plan{Phases: []Phase{{Kind: Warmup, Concurrency: 2, Requests: 9},
			{Kind: Profiling, Concurrency: 1, Requests: 1}}},
		serve: never, deaf: true,
		during: func(cancel context.CancelFunc, _ *Engine) { time.Sleep(3 * time.Second); cancel() },
	}.run(t)
	s := p.result.Phases[0]
	same(t, "error", p.err, context.Canceled)
	same(t, "took", p.took, 3*time.Second)
	same(t, "cancelled", s.RequestsCancelled, 2)
	same(t, "phases", len(p.result.Phases), 1)
	same(t, "sender told", p.cutOff, 1)
}

func TestStopDuringTheStartGate(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 1, Requests: 1}),
		opt: Options{Gates: Gates{BeforeFirstCredit: func(ctx context.Context, _ int) {
			<-ctx.Done()
		}}},
		during: func(_ context.CancelFunc, e *Engine) { time.Sleep(time.Second); e.Stop() },
	}.run(t)
	same(t, "sent", len(p.sent), 0)
	same(t, "took", p.took, time.Second)
	same(t, "state, cancelled", []any{p.result.Phases[0].State, p.result.Phases[0].WasCancelled}, []any{Complete, true})
	same(t, "events", len(p.events), 3)
}

func TestGatesHoldPhasesApart(t *testing.T) {
	var mu sync.Mutex
	var passed []string
	pass := func(what ...any) {
		mu.Lock()
		defer mu.Unlock()
		passed = append(passed, fmt.Sprint(what...))
	}
	gate := func(name string, d time.Duration) func(context.Context, int) {
		return func(ctx context.Context, phase int) {
			select {
			case <-time.After(d):
				pass(name, phase)
			case <-ctx.Done():
				pass(name, phase, " late")
			}
		}
	}
	p := scenario{
		plan: Plan{Phases: []Phase{{Kind: Warmup, Concurrency: 1, Requests: 1},
			{Kind: Profiling, Concurrency: 1, Requests: 1}}},
		serve: within(time.Second),
		opt: Options{Gates: Gates{BeforeFirstCredit: gate("before", 2*time.Second),
			AfterLastReturn: gate("after", time.Hour), Timeout: 3 * time.Second}},
	}.run(t)
	same(t, "took", p.took, 12*time.Second)
	same(t, "gates", strings.Join(passed, ", "), "before0, after0 late, before1, after1 late")
	same(t, "the clock of a phase starts behind its gate", p.sends(1), "0s")
	same(t, "phase took", p.result.Phases[1].Elapsed(0), time.Second)
}

func TestGateThatIgnoresItsContextIsLeft(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 1, Requests: 1}),
		opt: Options{Gates: Gates{
			BeforeFirstCredit: func(context.Context, int) { time.Sleep(4 * time.Second) },
			AfterLastReturn:   func(context.Context, int) { time.Sleep(time.Second) },
			Timeout:           3 * time.Second,
		}},
	}.run(t)
	same(t, "took", p.took, 4*time.Second)
}

func TestObserverHearsEveryStateInOrder(t *testing.T) {
	p := scenario{
		plan: Plan{Phases: []Phase{{Kind: Warmup, Concurrency: 1, Requests: 1},
			{Kind: Profiling, Arrivals: constantly(10), Requests: 5}}},
		serve: within(ms),
	}.run(t)
	var got []string
	for _, e := range p.events {
		got = append(got, fmt.Sprint(e.Stats.Kind, " ", e.State, " ", e.Stats.RequestsCompleted))
	}
	same(t, "events", strings.Join(got, "; "),
		"warmup started 0; warmup sending_complete 0; warmup complete 1; "+
			"profiling started 0; profiling sending_complete 4; profiling complete 5")
	last := p.events[5].Stats
	same(t, "final", *last.FinalReturned, ReturnedTotals{RequestsCompleted: 5, CompletedSessions: 5})
	same(t, "final sent", *last.FinalSent, SentTotals{Requests: 5, Sessions: 5})
	same(t, "not final before", p.events[4].Stats.FinalReturned == nil, true)
	same(t, "target, delivered", []float64{last.TargetRate, last.DeliveredRate(0)}, []float64{10, 10})
}

func TestObserverThatHangsDoesNotHoldUpTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := scenario{
			plan: one(Phase{Concurrency: 1, Requests: 5}),
			opt:  Options{Observe: func(PhaseEvent) { <-release }},
		}.play()
		same(t, "took", p.took, observerTimeout)
		same(t, "completed", p.result.Phases[0].RequestsCompleted, 5)
		close(release)
	})
}

// The plan of an open loop does not depend on how the server answers.
func TestIntendedTimesAreAFunctionOfTheSeed(t *testing.T) {
	for _, arrivals := range []Arrivals{
		{Pattern: Constant, Rate: 30}, {Pattern: Poisson, Rate: 30}, {Pattern: Gamma, Rate: 30, Smoothness: 3},
	} {
		intended := func(seed uint64, took func(Credit) answer) (all []int64) {
			plan := Plan{Phases: []Phase{{Kind: Profiling, Arrivals: arrivals, Requests: 100}}, Seed: random.Root(seed)}
			p := scenario{plan: plan, serve: took}.run(t)
			for _, c := range p.sent {
				all = append(all, c.IntendedNS-p.result.Phases[0].StartNS)
			}
			return all
		}
		quick := intended(1, nil)
		slow := intended(1, func(c Credit) answer { return answer{after: time.Duration(c.ID*7919%1000) * ms} })
		same(t, arrivals.Pattern.String(), slow, quick)
		if other := intended(2, nil); arrivals.Pattern != Constant && fmt.Sprint(other) == fmt.Sprint(quick) {
			t.Errorf("%v: another seed gives the same plan", arrivals.Pattern)
		}
	}
}

func TestWarmupAndProfilingReplayTheSameIntervals(t *testing.T) {
	phase := Phase{Arrivals: Arrivals{Pattern: Poisson, Rate: 5}, Requests: 20}
	profiling := phase
	profiling.Kind = Profiling
	p := scenario{plan: Plan{Phases: []Phase{phase, profiling}, Seed: random.Root(3)}}.run(t)
	same(t, "profiling", p.sends(1), p.sends(0))
}

// Millions of gaps that no float64 holds exactly end at the instant that the rate says.
func TestConstantArrivalsDoNotDrift(t *testing.T) {
	const rate, n = 7000, 7000 * 3600
	s := constantly(rate).pacer(nil, random.Root(1), 0, Share{})
	for range n - 1 {
		s.advance()
	}
	same(t, "last arrival of an hour", s.dueNS(), int64(time.Hour))
}

// A dropped arrival uses up its index: the interval that follows is that of the arrival it leads to.
func TestDroppedArrivalsKeepTheirIndices(t *testing.T) {
	process := newProcess(Arrivals{Pattern: Poisson, Rate: 100}, random.Root(5))
	pure, stalled := newPacer(process, nil, 1, Share{}), newPacer(process, nil, 1, Share{})
	now := int64(time.Second)
	dropped := stalled.catchUp(now, 0)
	var k uint64
	for ; pure.dueNS() <= now; k++ {
		pure.advance()
	}
	same(t, "dropped, moved and awaited make up all", uint64(dropped)+1, k)
	stalled.advance()
	same(t, "next", stalled.dueNS(), now+int64(process.gap(k)))
}

func TestRateFarBeyondTheMachineIsBounded(t *testing.T) {
	s := newPacer(constant{gapNS: 1e-3}, nil, 1, Share{})
	dropped := s.catchUp(1+int64(time.Second), 0)
	if dropped < 999_000_000_000 || dropped > 1_001_000_000_000 {
		t.Errorf("dropped %d of a million million", dropped)
	}
	same(t, "goes on from now", s.dueNS(), 1+int64(time.Second))
}

func TestSlotsFollowAChangingLimit(t *testing.T) {
	s := slots{limit: 2}
	same(t, "takes", []bool{s.acquire(), s.acquire(), s.acquire()}, []bool{true, true, false})
	s.limit = 3
	same(t, "raised", []bool{s.acquire(), s.acquire()}, []bool{true, false})
	s.limit = 1
	s.release()
	s.release()
	same(t, "lowered", s.acquire(), false)
	s.release()
	same(t, "paid back", s.acquire(), true)
}

// What is announced beyond what can be sent is made in vain.
func TestNoMoreIsPreparedThanCanBeSent(t *testing.T) {
	for name, phase := range map[string]Phase{
		"requests": {Concurrency: 50, Requests: 3},
		"sessions": {Concurrency: 50, Sessions: 3},
		"rate":     {Arrivals: constantly(1000), Requests: 3},
	} {
		s := scenario{plan: one(phase)}
		synctest.Test(t, func(t *testing.T) {
			s.opt.Clock = clock.New()
			s.opt.Timer = clock.NewPlainTimer(s.opt.Clock)
			f := &countingSender{prepared: map[uint64]bool{}}
			f.engine = New(s.plan, f, f, s.opt)
			if _, err := f.engine.Run(t.Context()); err != nil {
				t.Error(err)
			}
			same(t, name, len(f.prepared), 3)
		})
	}
}

// countingSender answers at once.
type countingSender struct {
	engine   *Engine
	prepared map[uint64]bool
}

func (s *countingSender) Turns(uint64) int                     { return 1 }
func (s *countingSender) DelayNS(uint64, int) int64            { return 0 }
func (s *countingSender) Prepare(_ int, session uint64, _ int) { s.prepared[session] = true }
func (s *countingSender) Forget(uint64)                        {}
func (s *countingSender) CutOff()                              {}
func (s *countingSender) Send(c Credit)                        { s.engine.Returned(c, Success) }
