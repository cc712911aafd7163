package load

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/base/random"
)

// counts are the numbers of shares of these tests.
var counts = []int{1, 2, 3, 4, 5, 8, 16}

// meetings are where the shares of a run wait for each other.
type meetings struct {
	of int
	mu sync.Mutex
	at map[string]*assembly
}

type assembly struct {
	came int
	used Used
	all  chan struct{}
}

// meet returns once all shares have called it with the same name, with the highest of what they have used.
func (m *meetings) meet(ctx context.Context, name string, used Used) (Used, error) {
	m.mu.Lock()
	a := m.at[name]
	if a == nil {
		a = &assembly{all: make(chan struct{})}
		m.at[name] = a
	}
	a.used = a.used.Max(used)
	if a.came++; a.came == m.of {
		close(a.all)
	}
	m.mu.Unlock()
	select {
	case <-a.all:
		return a.used, nil
	case <-ctx.Done():
		return Used{}, ctx.Err()
	}
}

// inShares plays a scenario in shares that know of each other only what they have used before a phase; it must be
// called inside a bubble. Each phase starts 5 ms after the last share is ready.
func (s scenario) inShares(of int) []played {
	m := &meetings{of: of, at: map[string]*assembly{}}
	all := make([]played, of)
	var shares sync.WaitGroup
	for i := range of {
		own := s
		own.plan.Share = Share{Index: i, Of: of}
		own.opt.Join = func(ctx context.Context, phase int, used Used) (Used, error) {
			return m.meet(ctx, fmt.Sprint("join ", phase), used)
		}
		begun := time.Now()
		own.opt.Begin = func(ctx context.Context, phase int) (int64, error) {
			_, err := m.meet(ctx, fmt.Sprint("begin ", phase), Used{})
			return int64(time.Since(begun)+5*ms) + 1, err
		}
		shares.Go(func() { all[i] = own.play() })
	}
	shares.Wait()
	return all
}

// runInShares is inShares in a bubble of its own; it fails the test on a violation of the contract in any share.
func (s scenario) runInShares(t *testing.T, of int) (all []played) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { all = s.inShares(of) })
	for i, p := range all {
		for _, fault := range p.faults {
			t.Errorf("share %d of %d: %s", i, of, fault)
		}
		if p.err != nil {
			t.Errorf("share %d of %d: %v", i, of, p.err)
		}
	}
	return all
}

// known is what is the same of a phase in shares: the number of requests, which requests these are, when they are
// intended and with which address, and the numbers of their credits, by which cancellations are drawn.
type known int

const (
	sameAmount known = iota
	sameOnes
	sameInstants
	sameNumbers
)

// requestsOf lists what was sent in all shares, sorted, with what is known of each.
func requestsOf(all []played, known func(phase int) known) []string {
	var list []string
	for _, p := range all {
		for _, c := range p.sent {
			text := fmt.Sprintf("phase %d session %05d turn %d", c.Phase, c.Session, c.Turn)
			if o, ok := p.opened[c.Session]; ok && c.Session < FirstChild {
				text += fmt.Sprint(" plays ", o.Conversation, " user ", c.User)
			}
			if known(c.Phase) >= sameInstants {
				at := time.Duration(0)
				if c.IntendedNS != 0 {
					at = time.Duration(c.IntendedNS - p.result.Phases[c.Phase].StartNS)
				}
				text += fmt.Sprint(" URL ", c.URLIndex, " at ", at)
			}
			if known(c.Phase) == sameNumbers {
				text += fmt.Sprint(" credit ", c.ID, " cancelled after ", c.CancelAfterNS)
			}
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// sharedModes are plans whose requests do not depend on how the service answers, as long as it does so at once or after
// the same time.
func sharedModes() map[string]scenario {
	profiling := func(p Phase) Phase {
		p.Kind, p.Name = Profiling, "profiling"
		p.Cancellation = Cancellation{Percent: 30}
		return p
	}
	rate := func(pattern Pattern, p Phase) Phase {
		p.Arrivals.Pattern, p.Arrivals.Rate, p.Arrivals.Smoothness = pattern, 50, 0.5
		return profiling(p)
	}
	ramped := rate(Gamma, Phase{Requests: 103})
	ramped.Arrivals.Ramp = RateRamp{Ramp: Ramp{Duration: 2 * time.Second, Strategy: RandomSteps}, Interval: 100 * ms}
	series := rate(Poisson, Phase{Duration: 3 * time.Second, Grace: Infinite})
	series.Arrivals.Rate = 0
	series.Arrivals.Series = []RatePoint{{At: 0, Rate: 10}, {At: 2 * time.Second, Rate: 60}}
	climbing := profiling(Phase{Concurrency: 23, Requests: 119})
	climbing.ConcurrencyRamp.Duration = time.Second
	three := func(uint64) int { return 3 }
	uneven := func(k uint64) int { return 1 + int(k%4) }
	var trace, talks [][]TurnTime
	for i := range 67 {
		trace = append(trace, []TurnTime{at(time.Duration(i*i%61) * 17 * ms)})
		talk := []TurnTime{at(time.Duration(i) * 11 * ms)}
		for j := range i % 3 {
			talk = append(talk, TurnTime{Timed: true, AtNS: int64(time.Duration(i)*11*ms) + int64(j+1)*int64(100*ms)})
		}
		talks = append(talks, talk)
	}
	warm := Phase{Kind: Warmup, Name: "warmup", Concurrency: 3, Requests: 17}
	plan := func(phases ...Phase) Plan { return Plan{Phases: phases, Seed: random.Root(42), URLs: 3} }
	from, until := 100*ms, 700*ms
	return map[string]scenario{
		"constant":                 {plan: plan(rate(Constant, Phase{Requests: 103}))},
		"poisson":                  {plan: plan(rate(Poisson, Phase{Requests: 103}))},
		"gamma":                    {plan: plan(rate(Gamma, Phase{Requests: 103}))},
		"rate, duration":           {plan: plan(rate(Poisson, Phase{Duration: 2 * time.Second, Grace: Infinite}))},
		"rate, sessions":           {plan: plan(rate(Poisson, Phase{Sessions: 57}))},
		"rate ramp":                {plan: plan(ramped)},
		"rate series":              {plan: plan(series)},
		"burst":                    {plan: plan(profiling(Phase{Concurrency: 23, Requests: 119}))},
		"burst, 3 at a time":       {plan: plan(profiling(Phase{Concurrency: 3, Requests: 119}))},
		"burst, fewer than shares": {plan: plan(profiling(Phase{Concurrency: 3, Requests: 3}))},
		"prefill alone":            {plan: plan(profiling(Phase{Prefill: 7, Requests: 119}))},
		"concurrency ramp":         {plan: plan(climbing)},
		"together": {plan: plan(profiling(Phase{Concurrency: 23, Requests: 60, Barrier: true})),
			gathers: true},
		"multi-turn, sessions": {plan: plan(profiling(Phase{Concurrency: 9, Sessions: 41})), turns: uneven},
		"multi-turn, requests": {plan: plan(profiling(Phase{Concurrency: 9, Requests: 83})), turns: uneven},
		"rate, multi-turn":     {plan: plan(rate(Poisson, Phase{Sessions: 41})), turns: uneven},
		"multi-turn, both limits": {plan: plan(profiling(Phase{Concurrency: 9, Sessions: 40, Requests: 500})),
			turns: uneven},
		"schedule":           {plan: plan(profiling(replay(Schedule{AutoOffset: true}))), recording: trace},
		"schedule, sessions": {plan: plan(profiling(Phase{Schedule: &Schedule{}, Sessions: 31})), recording: trace},
		"schedule, requests": {plan: plan(profiling(Phase{Schedule: &Schedule{}, Requests: 31})), recording: trace},
		"schedule, window": {plan: plan(profiling(replay(Schedule{From: &from, Until: &until}))),
			recording: trace},
		"schedule, multi-turn": {plan: plan(profiling(replay(Schedule{}))), recording: talks},
		"schedule, 5 at a time": {plan: plan(profiling(Phase{Schedule: &Schedule{}, Concurrency: 5})),
			recording: trace},
		"users, duration": {plan: plan(profiling(Phase{Users: &Users{Count: 7, Rate: 20, MeanTurns: 3},
			Duration: 4 * time.Second, Grace: Infinite})), turns: three},
		"users, requests": {plan: plan(profiling(Phase{Users: &Users{Count: 17, Rate: 20, MeanTurns: 3},
			Requests: 111})), turns: uneven},
		"users, sessions": {plan: plan(profiling(Phase{Users: &Users{Count: 17, Rate: 20, MeanTurns: 3},
			Sessions: 43})), turns: uneven},
		"warm-up, profiling": {plan: plan(warm, rate(Poisson, Phase{Requests: 103}))},
		"warm-up, burst":     {plan: plan(warm, profiling(Phase{Concurrency: 23, Requests: 119}))},
		"warm-up of sessions, users": {plan: plan(Phase{Name: "warmup", Concurrency: 4, Sessions: 9},
			profiling(Phase{Users: &Users{Count: 7, Rate: 20, MeanTurns: 3}, Requests: 61})), turns: three},
		"warm-up, schedule, schedule": {plan: plan(warm, profiling(replay(Schedule{Until: &from})),
			profiling(replay(Schedule{From: &until}))), recording: trace},
		"several phases": {plan: plan(warm, rate(Constant, Phase{Requests: 31}),
			profiling(Phase{Concurrency: 2, Requests: 11}), rate(Poisson, Phase{Sessions: 29}))},
		"trees": {plan: plan(profiling(Phase{Concurrency: 9, Sessions: 41})), tree: anyTree},
	}
}

// knownOf returns what is the same in shares of a mode.
func knownOf(name string, s scenario, phase int) known {
	switch name {
	case "multi-turn, requests": // replies decide whose turns come first
		return sameAmount
	case "schedule, multi-turn", "schedule, 5 at a time": // replies decide the order of issue
		return sameInstants
	case "rate, multi-turn": // replies decide which arrival a later turn takes
		return sameOnes
	}
	if s.plan.Phases[phase].burst() { // a request takes the place of one that has returned
		return sameOnes
	}
	return sameNumbers
}

// exactness is a table of what shares send: a row for each mode, with the requests of one process, what is the same of
// them, and how many differ for each number of shares.
type exactness map[string][]string

func (e exactness) add(name string, whole int, same known, differ map[int]int) {
	row := []string{name, strconv.Itoa(whole), [...]string{"number", "requests", "requests, instants",
		"requests, instants, cancellations"}[same]}
	for _, of := range counts {
		row = append(row, strconv.Itoa(differ[of]))
	}
	e[name] = row
}

func (e exactness) String() string {
	text := "| Plan | Requests | The same | Differ at P ="
	for i, of := range counts {
		if i > 0 {
			text += " |"
		}
		text += fmt.Sprint(" ", of)
	}
	text += " |\n|" + strings.Repeat("---|", 3+len(counts)) + "\n"
	for _, name := range slices.Sorted(maps.Keys(e)) {
		text += "| " + strings.Join(e[name], " | ") + " |\n"
	}
	return text
}

// TestSharesSendTheRequestsOfTheWhole: the requests of all shares are those of one process, and those of open loops are
// intended for the same instants. With -v it prints the table of exactness.
func TestSharesSendTheRequestsOfTheWhole(t *testing.T) {
	table := exactness{}
	defer func() { t.Log("\n" + table.String()) }()
	for name, s := range sharedModes() {
		t.Run(name, func(t *testing.T) {
			differ := map[int]int{}
			for _, serve := range []func(Credit) answer{nil, within(3 * ms)} {
				s.serve = serve
				exact := func(phase int) known { return knownOf(name, s, phase) }
				whole := s.run(t)
				for _, of := range counts {
					all := s.runInShares(t, of)
					got, want := requestsOf(all, exact), requestsOf([]played{whole}, exact)
					same(t, fmt.Sprint(of, " shares: requests"), len(got), len(want))
					differ[of] += max(len(got)-len(want), len(want)-len(got))
					if s.tree != nil {
						got, want = roots(got), roots(want)
					}
					if exact(0) == sameAmount {
						continue
					}
					more, less := without(got, want), without(want, got)
					differ[of] += len(more) + len(less)
					if len(more)+len(less) > 0 {
						t.Errorf("%d shares, answers after %v:\n got %v\nwant %v", of, serve != nil, more, less)
					}
					for i := range s.plan.Phases {
						checkPhase(t, s.plan, i, all, whole.result.Phases[i])
					}
				}
				table.add(name, len(whole.sent), exact(len(s.plan.Phases)-1), differ)
			}
		})
	}
}

// without returns the elements of a sorted list that another one has not.
func without(list, other []string) (rest []string) {
	for _, e := range list {
		if _, found := slices.BinarySearch(other, e); !found {
			rest = append(rest, e)
		}
	}
	return rest
}

func always(int) known { return sameNumbers }

// TestSharesKeepTheirResidues: where it is said that they do, a share takes the same sessions modulo the number of
// shares in all phases, wherever these begin.
func TestSharesKeepTheirResidues(t *testing.T) {
	kept := 0
	for name, s := range sharedModes() {
		for _, of := range counts {
			plan := s.plan
			plan.Share = Share{0, of}
			if !plan.KeepsResidues() {
				continue
			}
			kept++
			for i, p := range s.runInShares(t, of) {
				for _, c := range p.sent {
					if c.Session < FirstChild && c.Session%uint64(of) != uint64(i) {
						t.Errorf("%s: share %d of %d takes session %d in phase %d", name, i, of, c.Session, c.Phase)
					}
				}
			}
		}
	}
	if kept < 30 {
		t.Errorf("%d plans say that they keep residues", kept)
	}
}

// roots leaves out child sessions, whose numbers are those of their own share.
func roots(requests []string) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool {
		return len(r) > len("phase 0 session 9223372036854775808") && r[16:19] == "922"
	})
}

// checkPhase compares the numbers of a phase of all shares together with those of the whole.
func checkPhase(t *testing.T, plan Plan, phase int, all []played, whole Stats) {
	t.Helper()
	var parts []Stats
	for _, p := range all {
		parts = append(parts, p.result.Phases[phase])
	}
	sum := plan.Merge(phase, parts)
	of := func(s Stats) string {
		s.Branches.ParentsSuspended, s.Branches.ParentsResumed = 0, 0 // by which child returns first
		return fmt.Sprint(s.State, s.RequestsSent, s.RequestsCompleted, s.RequestsCancelled, s.RequestErrors,
			s.SentSessions, s.CompletedSessions, s.CancelledSessions, s.TotalSessionTurns, s.ExpectedRequests,
			s.ExpectedSessions, s.ExpectedDuration, s.ExpectedGrace, *s.FinalSent, *s.FinalReturned, s.FirstDueNS,
			s.SkippedArrivals, s.DroppedByCatchup, s.Branches, s.Barrier.Size, s.Barrier.Released)
	}
	same(t, fmt.Sprintf("%d shares, phase %d", len(all), phase), of(sum), of(whole))
	same(t, "requests to each URL", sum.RequestsPerURL, whole.RequestsPerURL)
	if d := sum.TargetRate - whole.TargetRate; d > 1e-9*whole.TargetRate || -d > 1e-9*whole.TargetRate {
		t.Errorf("%d shares, phase %d: the target is %v, want %v", len(all), phase, sum.TargetRate, whole.TargetRate)
	}
}

// use is what is open from one instant to another.
type use struct{ fromNS, untilNS int64 }

// mostOpen returns the largest number of uses that are open at once beyond what is allowed at that instant.
func mostOpen(uses []use, allowed func(ns int64) int) (excess int, at int64) {
	type change struct {
		ns int64
		by int
	}
	var changes []change
	for _, u := range uses {
		changes = append(changes, change{u.fromNS, 1}, change{u.untilNS, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.ns, b.ns), cmp.Compare(a.by, b.by)) })
	open, most := 0, -1<<31
	for _, c := range changes {
		open += c.by
		if over := open - allowed(c.ns); c.by > 0 && over > most {
			most, at = over, c.ns
		}
	}
	return most, at
}

// TestLimitsOfSharesAddUp: over all shares there are never more sessions, nor more requests before their first content,
// than the limit of the whole at that instant, on a ramp too.
func TestLimitsOfSharesAddUp(t *testing.T) {
	var reached [2]int
	rapid.Check(t, func(rt *rapid.T) {
		script := random.Root(rapid.Uint64().Draw(rt, "seed")).Stream("script")
		mostTurns := rapid.IntRange(1, 3).Draw(rt, "turns")
		of := rapid.SampledFrom(counts).Draw(rt, "shares")
		phase := Phase{Kind: Profiling, Concurrency: rapid.IntRange(1, 40).Draw(rt, "concurrency"),
			Prefill:  rapid.IntRange(0, 20).Draw(rt, "prefill"),
			Requests: int64(rapid.IntRange(1, 150).Draw(rt, "requests"))}
		phase.ConcurrencyRamp, phase.PrefillRamp = drawRamp(rt), drawRamp(rt)
		if rapid.Bool().Draw(rt, "rate") {
			phase.Arrivals = Arrivals{Pattern: Poisson, Rate: 300}
		}
		s := scenario{plan: Plan{Phases: []Phase{phase}, Seed: random.Root(1)},
			turns: func(k uint64) int { return 1 + int(k)%mostTurns }}
		s.serve = func(c Credit) answer {
			r := script.At(c.Session*8 + uint64(c.Turn))
			a := answer{after: time.Duration(1+r.IntN(200)) * ms}
			if phase.Prefill > 0 && r.IntN(2) == 0 {
				a.content = time.Duration(1+r.IntN(int(a.after/ms))) * ms
			}
			return a
		}
		var all []played
		synctest.Test(t, func(*testing.T) { all = s.inShares(of) })
		var sessions, prefills []use
		sent := int64(0)
		ids := map[int64]bool{}
		for i, p := range all {
			if len(p.faults) > 0 || p.err != nil {
				rt.Fatalf("share %d: %v %v", i, p.faults, p.err)
			}
			spans := map[uint64]*use{}
			for _, c := range p.sent {
				sent++
				if ids[c.ID] {
					rt.Fatalf("credit %d twice", c.ID)
				}
				ids[c.ID] = true
				a := s.serve(c)
				u := spans[c.Session]
				if u == nil {
					u = &use{fromNS: c.IssuedNS}
					spans[c.Session] = u
				}
				u.untilNS = c.IssuedNS + int64(a.after)
				until := a.after
				if a.content > 0 {
					until = min(until, a.content)
				}
				prefills = append(prefills, use{c.IssuedNS, c.IssuedNS + int64(until)})
			}
			for _, u := range spans {
				sessions = append(sessions, *u)
			}
		}
		if sent != phase.Requests {
			rt.Fatalf("%d requests were sent, want %d", sent, phase.Requests)
		}
		start := all[0].result.Phases[0].StartNS
		for i, uses := range [][]use{sessions, prefills} {
			limit := []int{phase.Concurrency, phase.Prefill}[i]
			ramp := []Ramp{phase.ConcurrencyRamp, phase.PrefillRamp}[i]
			steps := ramp.steps(limit, rampDraws(s.plan.Seed, uint64(i)))
			if limit == 0 {
				continue
			}
			excess, at := mostOpen(uses, func(ns int64) int {
				allowed := limit
				if len(steps) > 0 {
					for _, step := range steps {
						if start+step.atNS <= ns {
							allowed = step.limit
						}
					}
				}
				return allowed
			})
			if excess > 0 {
				rt.Errorf("limit %d is exceeded by %d, %v after the start", i, excess, time.Duration(at-start))
			}
			if excess == 0 {
				reached[i]++
			}
		}
	})
	if reached[0] == 0 || reached[1] == 0 {
		t.Errorf("the limits were reached %v times: the test cannot fail", reached)
	}
}

// TestAnyOpenPlanIsTheSameInShares: in any open loop each request has the session, user, address, number, intended time
// and cancellation that it has in one process.
func TestAnyOpenPlanIsTheSameInShares(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawOpen(rt)
		s.plan.Phases[0].Prefill = 0
		of := rapid.SampledFrom(counts).Draw(rt, "shares")
		if s.plan.Phases[0].Duration > 0 && s.plan.Phases[0].Duration%(10*ms) == 0 {
			s.plan.Phases[0].Duration++ // what is due at its very end is sent or not, as it happens
		}
		var whole played
		synctest.Test(t, func(*testing.T) { whole = s.play() })
		var all []played
		synctest.Test(t, func(*testing.T) { all = s.inShares(of) })
		got, want := requestsOf(all, always), requestsOf([]played{whole}, always)
		if !slices.Equal(got, want) {
			rt.Errorf("%d shares of %+v:\n got %v\nwant %v", of, s.plan.Phases[0], got, want)
		}
	})
}

// TestNoShareRepeatsASession: where the number of requests of a phase is not known before, as with a duration, the next
// one begins with sessions that no share has used.
func TestNoShareRepeatsASession(t *testing.T) {
	warm := Phase{Name: "warmup", Concurrency: 3, Duration: time.Second, Grace: Infinite}
	s := scenario{plan: one(Phase{Concurrency: 7, Requests: 50}),
		serve: func(c Credit) answer { return answer{after: time.Duration(10+c.Session%7*20) * ms} }}
	s.plan.Phases = []Phase{warm, s.plan.Phases[0]}
	for _, of := range counts {
		seen := map[uint64]bool{}
		for _, p := range s.runInShares(t, of) {
			for _, c := range p.sent {
				if seen[c.Session] {
					t.Errorf("%d shares: session %d twice", of, c.Session)
				}
				seen[c.Session] = true
			}
		}
	}
}

// TestSharesOfSeamlessPhasesKeepTheirLimit: requests of both phases together stay within the larger limit.
func TestSharesOfSeamlessPhasesKeepTheirLimit(t *testing.T) {
	first, second := Phase{Kind: Profiling, Name: "a", Concurrency: 20, Prefill: 3, Requests: 60},
		Phase{Kind: Profiling, Name: "b", Concurrency: 20, Requests: 60, Seamless: true}
	s := scenario{plan: Plan{Phases: []Phase{first, second}},
		serve: func(c Credit) answer { return answer{content: ms, after: time.Duration(10+c.Session%7*20) * ms} }}
	for _, of := range counts {
		var uses []use
		for _, p := range s.runInShares(t, of) {
			for _, c := range p.sent {
				uses = append(uses, use{c.IssuedNS, c.IssuedNS + int64(s.serve(c).after)})
			}
		}
		same(t, "requests", len(uses), 120)
		if excess, _ := mostOpen(uses, func(int64) int { return 20 }); excess > 0 {
			t.Errorf("%d shares: %d more than the limit", of, excess)
		}
	}
}

// TestLanesOfShares: lanes are dealt out, and their first requests keep the distances that they have in one process.
func TestLanesOfShares(t *testing.T) {
	var traces []*Tree
	for i := range 9 {
		traces = append(traces, trace(5, 0, 10, 24+i, 40+2*i))
	}
	plan := Plan{Phases: lanePhases(7, 0.5, Phase{Sessions: 9}), Seed: random.Root(42)}
	s := scenario{plan: plan, traces: traces, serve: within(time.Second)}
	list := func(all []played) (list []string) {
		for _, p := range all {
			for _, c := range p.sent {
				at := time.Duration(c.IssuedNS - p.result.Phases[c.Phase].StartNS)
				if c.Phase == 1 && c.Session >= 7 {
					at = 0 // the second trace of a lane begins when the first one of some lane is done
				}
				o := p.opened[c.Session]
				list = append(list, fmt.Sprint(c.Phase, " session ", c.Session, " trace ", o.Conversation,
					" turn ", c.Turn, " at ", at))
			}
		}
		slices.Sort(list)
		return list
	}
	want := list([]played{s.run(t)})
	for _, of := range counts {
		same(t, fmt.Sprint(of, " shares"), list(s.runInShares(t, of)), want)
	}
}

func TestShareThatNeedsTheWhole(t *testing.T) {
	search := Phase{Kind: Profiling, Concurrency: 10, Duration: time.Minute,
		Adaptive: adaptive(SLA{Metric: "request_latency", Stat: "p95", Op: "lt", Threshold: 1})}
	idle := lanePhases(2, 0.5, Phase{Sessions: 2, Lanes: &Lanes{TreeIdle: Infinite, SystemIdle: time.Second}})
	for want, plan := range map[string]Plan{
		"phase 0 (): a search of the load needs the whole run in one process": {Phases: []Phase{search}},
		"phase 1 (): a limit of the time in which nothing is in flight needs the whole run in one process": {
			Phases: idle},
		"share 2 of 2 does not exist: shares are counted from 0": {Phases: one(Phase{Requests: 1}).Phases,
			Share: Share{2, 2}},
	} {
		if plan.Share.Whole() {
			if err := plan.Validate(); err != nil {
				t.Errorf("the whole plan: %v", err)
			}
			plan.Share = Share{1, 2}
		}
		same(t, "refusal", plan.Validate(), want)
	}
}

func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		of := rapid.IntRange(1, 20).Draw(rt, "shares")
		n := rapid.Int64Range(0, 1000).Draw(rt, "n")
		room := make([]int64, of)
		whole := int64(0)
		for i := range room {
			room[i] = rapid.Int64Range(0, 80).Draw(rt, "room")
			whole += room[i]
		}
		sum, within := int64(0), int64(0)
		for i := range of {
			part := Share{i, of}.Part(n)
			if part < n/int64(of) || part > (n+int64(of)-1)/int64(of) {
				rt.Errorf("part %d of %d in %d is %d", i, n, of, part)
			}
			sum += part
			own := partWithin(n, room, i)
			if own < 0 || own > room[i] {
				rt.Errorf("part %d of %d within %v is %d", i, n, room, own)
			}
			within += own
		}
		if sum != n || within != min(n, whole) {
			rt.Errorf("the parts of %d add up to %d, within %v to %d", n, sum, room, within)
		}
	})
}
