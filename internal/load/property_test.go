package load

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/base/random"
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
	for range rapid.IntRange(0, 8).Draw(rt, "conversations") {
		times := make([]TurnTime, rapid.IntRange(1, 3).Draw(rt, "recorded turns"))
		for i := range times {
			times[i] = TurnTime{Timed: i == 0 || rapid.Bool().Draw(rt, "timed"),
				AtNS: int64(rapid.IntRange(0, 1500).Draw(rt, "recorded ms")) * int64(ms)}
		}
		s.recording = append(s.recording, times)
	}
	if rapid.Bool().Draw(rt, "trees") {
		s.tree = anyTree
	}
	s.gathers, s.gatherFor = rapid.Bool().Draw(rt, "gathers"), 20*ms
	for i := range rapid.IntRange(1, 3).Draw(rt, "phases") {
		phase := drawPhase(rt, len(s.recording) > 0)
		phase.Seamless = i > 0 && rapid.Bool().Draw(rt, "seamless")
		s.plan.Phases = append(s.plan.Phases, phase)
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

// anyTree gives every other session a shape of its own.
func anyTree(session uint64) *Tree {
	shapes := []func(uint64) *Tree{forking, joining, orchestrating}
	if session%2 == 0 {
		return nil
	}
	return shapes[session/2%3](session)
}

// orchestrating returns a root that sends nothing: two rounds of children, one of which has one before its first turn.
func orchestrating(uint64) *Tree {
	return &Tree{Nodes: []Node{
		{Turns: []NodeTurn{
			{Silent: true, Branches: []Branch{{Nodes: []int{1, 2}, JoinAt: 1}}},
			{Silent: true, DelayNS: int64(50 * ms),
				Branches: []Branch{{Nodes: []int{3}}, {Nodes: []int{4}, Background: true}}},
		}},
		{Turns: plainTurns(1)}, {Turns: plainTurns(2)}, {Turns: plainTurns(1), Before: []int{5}},
		{Turns: plainTurns(1)}, {Turns: plainTurns(1)},
	}}
}

func drawRamp(rt *rapid.T) Ramp {
	return Ramp{
		Duration: time.Duration(max(0, rapid.IntRange(-1000, 1000).Draw(rt, "ramp ms"))) * ms,
		Strategy: Strategy(rapid.IntRange(0, 2).Draw(rt, "strategy")),
	}
}

// drawMode makes the phase one of the modes and tells the rate of its arrivals.
func drawMode(rt *rapid.T, p *Phase, recorded bool) {
	rate := float64(rapid.IntRange(1, 60).Draw(rt, "rate"))
	pattern := Pattern(rapid.IntRange(1, 3).Draw(rt, "pattern"))
	switch mode := rapid.IntRange(0, 5).Draw(rt, "mode"); {
	case mode == 1:
		p.Arrivals = Arrivals{Pattern: pattern, Rate: rate}
	case mode == 2:
		p.Arrivals = Arrivals{Pattern: pattern, Rate: rate, Ramp: RateRamp{Ramp: drawRamp(rt), Interval: 10 * ms}}
	case mode == 3:
		p.Arrivals = Arrivals{Pattern: pattern,
			Series: []RatePoint{{100 * ms, rate}, {600 * ms, 61 - rate}, {700 * ms, rate}}}
	case mode == 4 && recorded:
		p.Schedule = &Schedule{AutoOffset: rapid.Bool().Draw(rt, "auto offset")}
	case mode == 5:
		p.Users = &Users{Count: rapid.IntRange(1, 9).Draw(rt, "users"), Rate: rate, MeanTurns: 2.5}
	default:
		p.Concurrency = max(1, p.Concurrency)
		p.Barrier = p.ConcurrencyRamp.Duration == 0 && rapid.Bool().Draw(rt, "barrier")
	}
}

func drawPhase(rt *rapid.T, recorded bool) Phase {
	p := Phase{
		Kind:            Kind(rapid.IntRange(0, 1).Draw(rt, "kind")),
		Concurrency:     rapid.IntRange(0, 5).Draw(rt, "concurrency"),
		Prefill:         rapid.IntRange(0, 3).Draw(rt, "prefill"),
		ConcurrencyRamp: drawRamp(rt),
		PrefillRamp:     drawRamp(rt),
		Cancellation: Cancellation{
			Percent: float64(rapid.IntRange(0, 100).Draw(rt, "cancellation")),
		},
	}
	drawMode(rt, &p, recorded)
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
	withProcessors(t, func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			s := drawScenario(rt)
			var p played
			synctest.Test(t, func(*testing.T) { p = s.play() })
			for _, broken := range slices.Concat(p.faults, brokenCounts(s, p), brokenCredits(s, p)) {
				rt.Error(broken)
			}
		})
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
		check(stats.RequestsSent == stats.RequestsCompleted+stats.RequestsCancelled, "phase %d: credits are lost: %+v",
			i, stats)
		check(stats.RequestErrors <= stats.RequestsCompleted, "phase %d: errors: %+v", i, stats)
		check(phase.Concurrency == 0 || peak.maxSessions <= phase.Concurrency, "phase %d: %d sessions at once", i,
			peak.maxSessions)
		check(phase.Prefill == 0 || peak.maxPrefill <= phase.Prefill, "phase %d: %d prefills at once", i,
			peak.maxPrefill)
		check(phase.Requests == 0 || stats.RequestsSent <= phase.Requests, "phase %d: too many requests: %+v", i, stats)
		check(phase.Sessions == 0 || stats.SentSessions <= phase.Sessions, "phase %d: too many sessions: %+v", i, stats)
		if phase.Duration == 0 && !stats.WasCancelled {
			byRequests := stats.ExpectedRequests > 0 && stats.RequestsSent == stats.ExpectedRequests
			bySessions := stats.ExpectedSessions > 0 && stats.SentSessions == stats.ExpectedSessions &&
				stats.RequestsSent == stats.TotalSessionTurns
			check(byRequests || bySessions, "phase %d: ends short of its counts: %+v", i, stats)
			check(stats.RequestsCancelled == 0, "phase %d: cut off without a limit: %+v", i, stats)
		}
		if phase.Duration > 0 {
			check(stats.SentEndNS <= stats.StartNS+int64(phase.Duration), "phase %d: sends after its duration: %+v", i,
				stats)
		}
		var perURL int64
		for _, n := range stats.RequestsPerURL {
			perURL += n
		}
		check(perURL == stats.RequestsSent, "phase %d: requests per URL: %+v", i, stats)
		sent, completed = sent+stats.RequestsSent, completed+stats.RequestsCompleted
	}
	check(int(sent) == len(p.sent), "%d credits counted, %d sent", sent, len(p.sent))
	// At an abrupt end an answer of the same instant may come too late.
	if !s.deaf && p.err == nil {
		check(completed == p.returned[Success]+p.returned[Failure], "%d completed, the server saw %v", completed,
			p.returned)
		check(sent == p.returned[Success]+p.returned[Failure]+p.returned[CutOff], "%d sent, the server saw %v", sent,
			p.returned)
	}
	return broken
}

// brokenCredits checks the numbering of the credits and their times.
func brokenCredits(s scenario, p played) (broken []string) {
	var sessions uint64
	ids := make([]int64, len(s.plan.Phases))
	last := map[uint64]Credit{}
	urls := max(1, s.plan.URLs)
	sampled := !slices.ContainsFunc(s.plan.Phases, func(p Phase) bool { return p.Schedule != nil || p.Users != nil })
	for _, c := range p.sent {
		before, later := last[c.Session]
		if c.Turn == 0 && c.Session < FirstChild && s.tree == nil && sampled {
			if c.Session != sessions || c.URLIndex != int(sessions%uint64(urls)) {
				broken = append(broken, fmt.Sprintf("session %d begins after %d", c.Session, sessions))
			}
			sessions++
		}
		switch {
		case later != (c.Turn > 0), later &&
			(c.Turn != before.Turn+1 || before.Final || c.URLIndex != before.URLIndex || c.Phase != before.Phase):
			broken = append(broken, fmt.Sprintf("turn out of order: %+v after %+v", c, before))
		case s.tree == nil && sampled && c.Final != (c.Turn == s.turns(c.Session)-1):
			broken = append(broken, fmt.Sprintf("wrong end: %+v", c))
		}
		last[c.Session] = c
		if c.ID != ids[c.Phase] {
			broken = append(broken, fmt.Sprintf("credit out of order: %+v", c))
		}
		ids[c.Phase]++
		if !planned(s, p, c) {
			broken = append(broken, fmt.Sprintf("no arrival of the plan: %+v, phase starts at %d", c,
				p.result.Phases[c.Phase].StartNS))
		}
	}
	return broken
}

// planned reports whether the intended time of a credit is an arrival of the pure plan.
func planned(s scenario, p played, c Credit) bool {
	phase, stats := s.plan.Phases[c.Phase], p.result.Phases[c.Phase]
	switch {
	case c.Depth > 0 && c.Turn == 0:
		return c.IntendedNS == 0
	case phase.Schedule != nil:
		recorded := s.recording[p.opened[c.Session].Conversation][c.Turn]
		return !recorded.Timed || c.IntendedNS == max(1, stats.StartNS+recorded.AtNS-zero(s, phase))
	case phase.Users != nil:
		return c.IntendedNS >= stats.StartNS && c.IntendedNS <= c.IssuedNS
	case phase.Barrier && c.ID < int64(stats.Barrier.Size) && c.Turn == 0:
		return c.IntendedNS == 0 || c.IntendedNS == stats.StartNS
	}
	pure := phase.Arrivals.pacer(newRateIntegral(phase.Arrivals, s.plan.Seed), s.plan.Seed, stats.StartNS, Share{})
	if pure == nil {
		return c.IntendedNS == 0
	}
	for pure.dueNS() < c.IntendedNS {
		pure.advance()
	}
	return pure.dueNS() == c.IntendedNS
}

// zero returns the recorded time of the start of a phase.
func zero(s scenario, phase Phase) int64 {
	if !phase.Schedule.AutoOffset {
		return 0
	}
	first := s.recording[0][0].AtNS
	for _, times := range s.recording {
		first = min(first, times[0].AtNS)
	}
	return first
}

// What is intended does not depend on how the service answers, in any mode of an open loop.
func TestPlansOfOpenLoopsAreFunctionsOfTheSeed(t *testing.T) {
	ramped, series := constantly(30),
		Arrivals{Pattern: Poisson, Series: []RatePoint{{time.Second, 10}, {2 * time.Second, 50}}}
	ramped.Pattern, ramped.Ramp = Gamma, RateRamp{Ramp: Ramp{Duration: 2 * time.Second, Strategy: RandomSteps}}
	for name, phase := range map[string]Phase{
		"ramp":     {Arrivals: ramped, Requests: 100},
		"series":   {Arrivals: series, Requests: 100},
		"schedule": {Schedule: &Schedule{}},
		"users":    {Users: &Users{Count: 7, Rate: 20, MeanTurns: 3}, Sessions: 60},
	} {
		intended := func(seed uint64, took func(Credit) answer) (all []string) {
			phase.Kind = Profiling
			plan := Plan{Phases: []Phase{phase}, Seed: random.Root(seed)}
			p := scenario{plan: plan, serve: took, recording: recorded(50, 10, 400, 30)}.run(t)
			for _, c := range p.sent {
				if c.Turn == 0 {
					all = append(all, fmt.Sprint(c.User, "@", c.IntendedNS-p.result.Phases[0].StartNS))
				}
			}
			return all
		}
		quick := intended(1, nil)
		same(t, name, intended(1, func(c Credit) answer { return answer{after: time.Duration(c.ID*7919%1000) * ms} }),
			quick)
	}
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

func TestDelaysThatArePulledForwardKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var h delays
		due := map[uint64]int64{}
		for i, at := range rapid.SliceOfN(rapid.Int64Range(0, 100), 1, 40).Draw(rt, "due") {
			due[uint64(i)] = at
			h.push(at, turn{session: uint64(i)})
		}
		latest, kind := rapid.Int64Range(0, 100).Draw(rt, "latest"), rapid.Uint64Range(1, 4).Draw(rt, "kind")
		mine := func(t turn) bool { return t.session%kind == 0 }
		h.pullForward(latest, mine)
		by, last := int64(-1), int64(-1000)
		for h.len() > 0 {
			at := h.dueNS()
			t := h.pop()
			if at < last {
				rt.Fatalf("%d comes after %d", at, last)
			}
			last = at
			moved := due[t.session] - at
			switch {
			case !mine(t) && moved != 0:
				rt.Fatalf("turn %d moved by %d, but is another's", t.session, moved)
			case mine(t) && by >= 0 && moved != by:
				rt.Fatalf("turn %d moved by %d, another one by %d", t.session, moved, by)
			case mine(t):
				if by < 0 && at > latest {
					rt.Fatalf("the first is due at %d, want %d at the latest", at, latest)
				}
				by = moved
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
