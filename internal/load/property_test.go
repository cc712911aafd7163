package load

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/random"
)

// drawScenario makes a random plan against a random server. All answers of the server come from a stream addressed
// by session and turn, so that drawing them needs no order.
func drawScenario(rt *rapid.T) scenario {
	seed := random.Root(rapid.Uint64().Draw(rt, "seed"))
	script := seed.Stream("script")
	of := func(session uint64, turn int, what uint64) *random.Rand {
		r := script.At(session*64 + uint64(turn)*4 + what)
		return &r
	}
	mostTurns := rapid.IntRange(1, 4).Draw(rt, "turns")
	slowest := rapid.IntRange(1, 700).Draw(rt, "slowest ms")
	s := scenario{
		plan:  Plan{Seed: seed, URLs: rapid.IntRange(0, 3).Draw(rt, "URLs")},
		turns: func(k uint64) int { return 1 + of(k, 0, 0).IntN(mostTurns) },
		delay: func(k uint64, turn int) time.Duration {
			return time.Duration(max(0, of(k, turn, 1).IntN(600)-300)) * ms
		},
		serve: func(c Credit) answer {
			r := of(c.Session, c.Turn, 2)
			a := answer{after: time.Duration(1+r.IntN(slowest)) * ms}
			if r.IntN(10) == 0 {
				a.after = 0 // answered while it is sent
			}
			if a.after > 0 && r.IntN(2) == 0 {
				a.content = time.Duration(r.IntN(int(a.after)))
			}
			if r.IntN(5) == 0 {
				a.outcome = Failure
			}
			return a
		},
		deaf: rapid.Bool().Draw(rt, "deaf"),
		opt:  Options{CancelDrainTimeout: time.Duration(rapid.IntRange(1, 500).Draw(rt, "drain ms")) * ms},
	}
	for range rapid.IntRange(1, 3).Draw(rt, "phases") {
		s.plan.Phases = append(s.plan.Phases, drawPhase(rt))
	}
	if rapid.IntRange(0, 3).Draw(rt, "early end") == 0 {
		after := time.Duration(rapid.IntRange(0, 3000).Draw(rt, "end after ms")) * ms
		abrupt := rapid.Bool().Draw(rt, "abrupt")
		s.during = func(cancel context.CancelFunc, e *Engine) {
			time.Sleep(after)
			if abrupt {
				cancel()
			} else {
				e.Stop()
			}
		}
	}
	return s
}

func drawPhase(rt *rapid.T) Phase {
	p := Phase{
		Kind:        Kind(rapid.IntRange(0, 1).Draw(rt, "kind")),
		Arrivals:    Arrivals{Pattern: Pattern(rapid.IntRange(0, 3).Draw(rt, "pattern"))},
		Concurrency: rapid.IntRange(0, 5).Draw(rt, "concurrency"),
		Prefill:     rapid.IntRange(0, 3).Draw(rt, "prefill"),
		Cancellation: Cancellation{
			Percent: float64(rapid.IntRange(0, 100).Draw(rt, "cancellation")),
		},
	}
	if p.Arrivals.Pattern == Burst {
		p.Concurrency = max(1, p.Concurrency)
	} else {
		p.Arrivals.Rate = float64(rapid.IntRange(1, 60).Draw(rt, "rate"))
	}
	stops := rapid.IntRange(1, 7).Draw(rt, "stops")
	if stops&1 != 0 {
		p.Requests = int64(rapid.IntRange(1, 40).Draw(rt, "requests"))
	}
	if stops&2 != 0 {
		p.Sessions = int64(rapid.IntRange(1, 20).Draw(rt, "sessions"))
	}
	if stops&4 != 0 {
		p.Duration = time.Duration(rapid.IntRange(1, 2000).Draw(rt, "duration ms")) * ms
		p.Grace = []time.Duration{0, 300 * ms, Infinite}[rapid.IntRange(0, 2).Draw(rt, "grace")]
	}
	return p
}

func TestAnyPlanKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		var p played
		synctest.Test(t, func(*testing.T) { p = s.play() })
		for _, broken := range slices.Concat(p.faults, brokenCounts(s, p), brokenCredits(s, p)) {
			rt.Error(broken)
		}
	})
}

// brokenCounts checks the numbers of the phases.
func brokenCounts(s scenario, p played) (broken []string) {
	var sent, completed int64
	check := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	for i, stats := range p.result.Phases {
		phase, peak := s.plan.Phases[i], p.peaks[i]
		check(stats.State == Complete, "phase %d ends as %v", i, stats.State)
		check(stats.RequestsSent == stats.RequestsCompleted+stats.RequestsCancelled, "phase %d: credits are lost: %+v", i, stats)
		check(stats.RequestErrors <= stats.RequestsCompleted, "phase %d: errors: %+v", i, stats)
		check(phase.Concurrency == 0 || peak.maxSessions <= phase.Concurrency, "phase %d: %d sessions at once", i, peak.maxSessions)
		check(phase.Prefill == 0 || peak.maxPrefill <= phase.Prefill, "phase %d: %d prefills at once", i, peak.maxPrefill)
		check(phase.Requests == 0 || stats.RequestsSent <= phase.Requests, "phase %d: too many requests: %+v", i, stats)
		check(phase.Sessions == 0 || stats.SentSessions <= phase.Sessions, "phase %d: too many sessions: %+v", i, stats)
		if phase.Duration == 0 && !stats.WasCancelled {
			byRequests := phase.Requests > 0 && stats.RequestsSent == phase.Requests
			bySessions := phase.Sessions > 0 && stats.SentSessions == phase.Sessions && stats.RequestsSent == stats.TotalSessionTurns
			check(byRequests || bySessions, "phase %d: ends short of its counts: %+v", i, stats)
			check(stats.RequestsCancelled == 0, "phase %d: cut off without a limit: %+v", i, stats)
		}
		if phase.Duration > 0 {
			check(stats.SentEndNS <= stats.StartNS+int64(phase.Duration), "phase %d: sends after its duration: %+v", i, stats)
		}
		var perURL int64
		for _, n := range stats.RequestsPerURL {
			perURL += n
		}
		check(perURL == stats.RequestsSent, "phase %d: requests per URL: %+v", i, stats)
		sent, completed = sent+stats.RequestsSent, completed+stats.RequestsCompleted
	}
	check(int(sent) == len(p.sent), "%d credits counted, %d sent", sent, len(p.sent))
	if !s.deaf {
		check(completed == p.returned[Success]+p.returned[Failure], "%d completed, the server saw %v", completed, p.returned)
		check(sent == p.returned[Success]+p.returned[Failure]+p.returned[CutOff], "%d sent, the server saw %v", sent, p.returned)
	}
	return broken
}

// brokenCredits checks the numbering of the credits and their times.
func brokenCredits(s scenario, p played) (broken []string) {
	var sessions uint64
	ids := make([]int64, len(s.plan.Phases))
	nextTurn := map[uint64]int{}
	urls := max(1, s.plan.URLs)
	for _, c := range p.sent {
		stats := p.result.Phases[c.Phase]
		if c.Turn == 0 {
			if c.Session != sessions {
				broken = append(broken, fmt.Sprintf("session %d begins after %d", c.Session, sessions))
			}
			sessions++
		}
		if c.Turn != nextTurn[c.Session] || c.Final != (c.Turn == s.turns(c.Session)-1) || c.URLIndex != int(c.Session%uint64(urls)) {
			broken = append(broken, fmt.Sprintf("turn out of order: %+v", c))
		}
		nextTurn[c.Session]++
		if c.ID != ids[c.Phase] {
			broken = append(broken, fmt.Sprintf("credit out of order: %+v", c))
		}
		ids[c.Phase]++
		if !planned(s.plan, c, stats.StartNS) {
			broken = append(broken, fmt.Sprintf("no arrival of the plan: %+v", c))
		}
	}
	return broken
}

// planned tells whether the intended time of a credit is an arrival of the pure plan.
func planned(plan Plan, c Credit, startNS int64) bool {
	process := newProcess(plan.Phases[c.Phase].Arrivals, plan.Seed)
	if process == nil {
		return c.IntendedNS == 0
	}
	pure := newSchedule(process, startNS)
	for pure.dueNS() < c.IntendedNS {
		pure.advance()
	}
	return pure.dueNS() == c.IntendedNS
}

func TestDelaysComeOutByTimeThenOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var h delays
		var want []delayed
		for i, due := range rapid.SliceOf(rapid.Int64Range(0, 9)).Draw(rt, "due") {
			h.push(due, turn{session: uint64(i)})
			want = append(want, delayed{dueNS: due, turn: turn{session: uint64(i)}})
		}
		slices.SortStableFunc(want, func(a, b delayed) int { return int(a.dueNS - b.dueNS) })
		for _, w := range want {
			if due, got := h.dueNS(), h.pop(); due != w.dueNS || got != w.turn {
				rt.Fatalf("got %+v at %d, want %+v", got, due, w)
			}
		}
	})
}

func TestFIFOKeepsOrderAndMemory(t *testing.T) {
	var q fifo
	next := uint64(0)
	for i := range uint64(10_000) {
		q.push(turn{session: 2 * i})
		q.push(turn{session: 2*i + 1})
		for q.len() > 3 {
			if got := q.pop().session; got != next {
				t.Fatalf("got %d, want %d", got, next)
			}
			next++
		}
	}
	if cap(q.items) > 64 {
		t.Errorf("a queue of 3 holds room for %d", cap(q.items))
	}
}
