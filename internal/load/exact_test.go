package load

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
)

// withProcessors runs a test on 1, 2 and 8 processors.
func withProcessors(t *testing.T, test func(t *testing.T)) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, n := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(n)
		t.Run(fmt.Sprint(n, " processors"), test)
	}
}

// drawOpen makes one phase of an open loop: nothing of the service may change what it intends. Sessions have one turn
// in the modes in which a further one would take an arrival.
func drawOpen(rt *rapid.T) scenario {
	s := scenario{plan: Plan{Seed: random.Root(rapid.Uint64().Draw(rt, "seed")),
		URLs: rapid.IntRange(1, 3).Draw(rt, "URLs")}}
	for range rapid.IntRange(1, 12).Draw(rt, "conversations") {
		s.recording = append(s.recording,
			[]TurnTime{at(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "recorded ms")) * ms)})
	}
	var p Phase
	for drawMode(rt, &p, true); p.Arrivals.Pattern == Burst && p.Schedule == nil &&
		p.Users == nil; drawMode(rt, &p, true) {
		p = Phase{}
	}
	if p.Users != nil {
		most := rapid.IntRange(1, 4).Draw(rt, "turns")
		s.turns = func(k uint64) int { return 1 + int(k)%most }
	}
	p.Kind = Profiling
	p.Concurrency, p.Barrier = 0, false
	p.Cancellation = Cancellation{Percent: float64(rapid.IntRange(0, 100).Draw(rt, "cancellation"))}
	if rapid.Bool().Draw(rt, "timed") {
		p.Duration, p.Grace = time.Duration(rapid.IntRange(100, 3000).Draw(rt, "duration ms"))*ms, Infinite
	} else {
		p.Sessions = int64(rapid.IntRange(1, 60).Draw(rt, "sessions"))
	}
	s.plan.Phases = []Phase{p}
	return s
}

// intentions returns the sessions of a run with what was intended for them, in order of issue.
func (p played) intentions(all bool) (list []string) {
	for _, c := range p.sent {
		if c.Turn == 0 {
			cancel := "-"
			if all {
				cancel = fmt.Sprint(c.CancelAfterNS)
			}
			list = append(list, fmt.Sprint(c.Session, " user ", c.User, " URL ", c.URLIndex, " at ",
				c.IntendedNS-p.result.Phases[0].StartNS, " cancelled ", cancel))
		}
	}
	return list
}

// TestAnyOpenPlanIsAFunctionOfTheSeed: intended times, sessions, addresses and cancellations do not depend on the
// service times, nor on the number of processors.
func TestAnyOpenPlanIsAFunctionOfTheSeed(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	differ := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawOpen(rt)
		slowest := rapid.IntRange(1, 5000).Draw(rt, "slowest ms")
		// Draws of cancellations are numbered by credit: with several turns the service may order these.
		all := s.turns == nil
		play := func(processors int, serve func(Credit) answer) string {
			runtime.GOMAXPROCS(processors)
			var p played
			s.serve = serve
			synctest.Test(t, func(*testing.T) { p = s.play() })
			return fmt.Sprint(p.intentions(all))
		}
		instant := play(2, nil)
		script := random.Root(uint64(slowest)).Stream("script")
		for _, processors := range []int{1, 2, 8} {
			if got := play(processors, func(c Credit) answer {
				r := script.At(c.Session*8 + uint64(c.Turn))
				return answer{after: time.Duration(r.IntN(slowest)) * ms, outcome: Outcome(r.IntN(2))}
			}); got != instant {
				rt.Errorf("%d processors:\n got %s\nwant %s", processors, got, instant)
			}
		}
		s.plan.Seed = random.Root(s.plan.Seed.ChildSeed("another"))
		if play(2, nil) != instant {
			differ++
		}
	})
	if differ == 0 {
		t.Error("the seed changes nothing")
	}
}

// realSender answers in real time from goroutines of its own and counts what is open at once.
type realSender struct {
	engine *Engine
	limits []Phase
	turns  int

	mu       sync.Mutex
	sessions map[uint64]bool // open
	prefill  int             // open
	credits  []Credit
	faults   []string
	outcomes [3]int64

	all    sync.WaitGroup
	cut    chan struct{}
	cutOne sync.Once
}

func (s *realSender) Turns(uint64) int          { return s.turns }
func (s *realSender) DelayNS(uint64, int) int64 { return 0 }
func (s *realSender) Prepare(int, uint64, int)  {}
func (s *realSender) CutOff()                   { s.cutOne.Do(func() { close(s.cut) }) }
func (s *realSender) CutOffPhase(int)           { s.CutOff() }

func (s *realSender) Forget(session uint64) {
	s.mu.Lock()
	delete(s.sessions, session)
	s.mu.Unlock()
}

func (s *realSender) Send(c Credit) {
	s.mu.Lock()
	s.credits = append(s.credits, c)
	s.sessions[c.Session] = true
	s.prefill++
	limit := s.limits[c.Phase]
	if n := len(s.sessions); c.Turn == 0 && limit.Concurrency > 0 && n > limit.Concurrency {
		s.faults = append(s.faults, fmt.Sprintf("phase %d: %d sessions open", c.Phase, n))
	}
	if limit.Prefill > 0 && s.prefill > limit.Prefill {
		s.faults = append(s.faults, fmt.Sprintf("phase %d: %d prefills open", c.Phase, s.prefill))
	}
	s.mu.Unlock()
	s.all.Go(func() { s.answer(c) })
}

func (s *realSender) answer(c Credit) {
	draw := random.Root(uint64(c.Phase)).Stream("service").At(uint64(c.ID))
	content, rest := time.Duration(draw.IntN(300))*time.Microsecond, time.Duration(draw.IntN(300))*time.Microsecond
	outcome := Outcome(draw.IntN(2))
	if outcome == Success && !s.waits(content) {
		s.mu.Lock()
		s.prefill--
		s.mu.Unlock()
		s.engine.FirstContent(c)
		if s.waits(rest) {
			outcome = CutOff
		}
	} else {
		if s.waits(content) {
			outcome = CutOff
		}
		s.mu.Lock()
		s.prefill--
		s.mu.Unlock()
	}
	s.mu.Lock()
	if c.Final || outcome == CutOff {
		delete(s.sessions, c.Session)
	}
	s.outcomes[outcome]++
	s.mu.Unlock()
	s.engine.Returned(c, outcome)
	s.engine.Returned(c, Success) // a second return is ignored
}

// waits reports whether the exchange was cut off meanwhile.
func (s *realSender) waits(d time.Duration) (cut bool) {
	if d < 50*time.Microsecond {
		runtime.Gosched()
		return false
	}
	select {
	case <-s.cut:
		return true
	case <-time.After(d):
		return false
	}
}

func (s *realSender) run(t *testing.T, plan Plan, opt Options, stopAfter time.Duration) Result {
	t.Helper()
	s.limits, s.cut = plan.Phases, make(chan struct{})
	s.sessions = map[uint64]bool{}
	opt.Clock = clock.New()
	s.engine = New(plan, s, s, opt)
	if stopAfter > 0 {
		stop := time.AfterFunc(stopAfter, s.engine.Stop)
		defer stop.Stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	result, err := s.engine.Run(ctx)
	s.all.Wait()
	if err != nil {
		t.Error(err)
	}
	for _, fault := range s.faults {
		t.Error(fault)
	}
	var sent, completed, failed, cut int64
	for i, p := range result.Phases {
		if p.RequestsSent != p.RequestsCompleted+p.RequestsCancelled || p.ForcedReturns != 0 || p.State != Complete {
			t.Errorf("phase %d: %+v", i, p)
		}
		sent, completed, failed, cut = sent+p.RequestsSent, completed+p.RequestsCompleted, failed+p.RequestErrors,
			cut+p.RequestsCancelled
	}
	if want := s.outcomes; int(sent) != len(s.credits) || completed != want[Success]+want[Failure] ||
		failed != want[Failure] || cut != want[CutOff] {
		t.Errorf("%d sent, %d completed, %d failed, %d cut off; the sender saw %d and %v", sent, completed, failed, cut,
			len(s.credits), want)
	}
	return result
}

// TestCapsAreExactInRealTime: on real processors, with answers from anywhere at any time, no more sessions and prefills
// are open than the limits allow, and every credit is accounted for.
func TestCapsAreExactInRealTime(t *testing.T) {
	withProcessors(t, func(t *testing.T) {
		plan := Plan{Seed: random.Root(1), Phases: []Phase{
			{Kind: Warmup, Concurrency: 9, Prefill: 4, Requests: 700},
			{Kind: Profiling, Concurrency: 5, Prefill: 2, Requests: 700, Seamless: true},
			{Kind: Profiling, Arrivals: Arrivals{Pattern: Poisson, Rate: 20_000}, Concurrency: 7, Prefill: 3,
				Duration: 50 * ms, Grace: time.Second,
				ConcurrencyRamp: Ramp{Duration: 30 * ms}, PrefillRamp: Ramp{Duration: 20 * ms}},
			{Kind: Profiling, Prefill: 3, Sessions: 100, Seamless: true},
		}}
		result := (&realSender{turns: 3}).run(t, plan, Options{}, 0)
		same(t, "sent in the first two phases",
			[]int64{result.Phases[0].RequestsSent, result.Phases[1].RequestsSent, result.Phases[3].RequestsSent},
			[]int64{700, 700, 300})
		for i := range 4 {
			(&realSender{turns: 1 + i%3}).run(t, plan, Options{}, time.Duration(1+i*13)*ms)
		}
	})
}

// TestRateIsNeverExceededInRealTime: between any two credits lie no more arrivals than the rate and the allowance for
// catching up make possible.
func TestRateIsNeverExceededInRealTime(t *testing.T) {
	const rate = 4000
	period := int64(time.Second) / rate
	withProcessors(t, func(t *testing.T) {
		for _, allowance := range []time.Duration{0, 3 * ms} {
			s := &realSender{turns: 1}
			result := s.run(t, one(Phase{Arrivals: constantly(rate), Duration: 120 * ms, Grace: time.Second}),
				Options{MaxCatchup: allowance}, 0)
			start := result.Phases[0].StartNS
			for i, c := range s.credits {
				if c.IssuedNS < c.IntendedNS {
					t.Fatalf("credit %d was issued %d ns before its time", i, c.IntendedNS-c.IssuedNS)
				}
				if i == 0 {
					same(t, "first arrival", c.IntendedNS-start, period)
					continue
				}
				if gap := c.IntendedNS - s.credits[i-1].IntendedNS; gap < period-1 {
					t.Errorf("credit %d is intended %d ns after the one before, the period is %d", i, gap, period)
				}
				for j := range i {
					between := float64(c.IssuedNS-s.credits[j].IssuedNS+int64(allowance))/float64(period) + 1
					if float64(i-j) > math.Ceil(between) {
						t.Fatalf("%d credits after credit %d, there is time for %v", i-j, j, between)
					}
				}
			}
			// Every arrival up to the end was sent or dropped.
			last := s.credits[len(s.credits)-1].IntendedNS - start
			if most := last / period; int64(len(s.credits))+result.Phases[0].DroppedByCatchup > most+1 {
				t.Errorf("%d sent and %d dropped of %d", len(s.credits), result.Phases[0].DroppedByCatchup, most)
			}
		}
	})
}
