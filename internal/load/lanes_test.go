package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/random"
)

// told returns a session whose turns began at these seconds; between them were gaps of as many seconds.
func told(gap int, at ...int) (turns []NodeTurn) {
	for i, s := range at {
		turn := NodeTurn{Timed: true, AtNS: int64(s) * int64(time.Second)}
		if i > 0 {
			turn.DelayNS = int64(gap) * int64(time.Second)
		}
		turns = append(turns, turn)
	}
	return turns
}

func trace(gap int, at ...int) *Tree { return &Tree{Nodes: []Node{{Turns: told(gap, at...)}}} }

// lanePhases returns a warm-up and a replay from one share of the recordings on.
func lanePhases(lanes int, share float64, replay Phase) []Phase {
	seed := Lanes{Stage: SeedLanes, MinStart: share, MaxStart: share}
	replay.Kind, replay.Concurrency = Profiling, lanes
	if replay.Lanes == nil {
		replay.Lanes = &Lanes{TreeIdle: Infinite, SystemIdle: Infinite}
	}
	replay.Lanes.Stage = ReplayLanes
	return []Phase{{Name: "warmup", Concurrency: lanes, Grace: Infinite, Lanes: &seed}, replay}
}

// turnsOf lists trace/node.turn@instant of the credits of a phase.
func (p played) turnsOf(phase int) string {
	var b strings.Builder
	for _, c := range p.sent {
		if c.Phase == phase {
			o := p.opened[c.Session]
			fmt.Fprintf(&b, "%d/%d.%d@%v ", p.opened[o.Root].Conversation, o.Node, c.Turn,
				time.Duration(c.IssuedNS-p.result.Phases[phase].StartNS))
		}
	}
	return strings.TrimSpace(b.String())
}

func TestLaneBeginsInTheMidstAndTheNextTraceAtItsStart(t *testing.T) {
	p := scenario{
		plan:   Plan{Phases: lanePhases(1, 0.5, Phase{Sessions: 2})},
		traces: []*Tree{trace(5, 0, 10, 20, 30, 40), trace(3, 0, 7)},
		serve:  within(time.Second),
	}.run(t)
	same(t, "warm-up", p.turnsOf(0), "0/0.1@0s")
	same(t, "replay", p.turnsOf(1), "0/0.2@0s 0/0.3@6s 0/0.4@12s 1/0.0@13s 1/0.1@17s")
	s := p.result.Phases[1]
	same(t, "sessions, completed, requests", []int64{s.SentSessions, s.CompletedSessions, s.TotalSessionTurns},
		[]int64{2, 2, 5})
	same(t, "one session over both phases", p.sent[0].Session, p.sent[1].Session)
}

func TestFirstRequestsKeepTheirDistances(t *testing.T) {
	traces := []*Tree{trace(5, 0, 10, 24), trace(5, 0, 10, 27), trace(5, 0, 9, 20)} // from 12, 13.5 and 10 s on
	plan := Plan{Phases: lanePhases(3, 0.5, Phase{Requests: 3})}
	p := scenario{plan: plan, traces: traces, serve: within(time.Second)}.run(t)
	same(t, "warm-up", p.turnsOf(0), "0/0.1@0s 1/0.1@0s 2/0.1@0s")
	same(t, "replay", p.turnsOf(1), "2/0.2@0s 2/0.0@1s 0/0.2@2s")

	plan.Phases[1].Lanes.Together = true
	p = scenario{plan: plan, traces: traces, serve: within(time.Second)}.run(t)
	same(t, "together", p.turnsOf(1), "0/0.2@0s 1/0.2@0s 2/0.2@0s")
}

// sorted puts what happens at the same instant in order.
func sorted(turns string) string {
	list := strings.Fields(turns)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// handing returns a root whose third turn waits for two children of the first. One of them is done after 12 s, the
// other begins at 10 s; a third one begins at 25 s in the background.
func handing() *Tree {
	root := told(1, 0, 20, 40)
	root[0].Branches = []Branch{{Nodes: []int{1, 2}, JoinAt: 2}}
	root[1].Branches = []Branch{{Nodes: []int{3}, Background: true}}
	return &Tree{Nodes: []Node{{Turns: root}, {Turns: told(1, 2, 12)}, {Turns: told(1, 10, 30)}, {Turns: told(1, 25)}}}
}

func TestEachStateThatGoesOnIsWarmedUp(t *testing.T) {
	for _, c := range []struct {
		name           string
		share          float64
		warmup, replay string
	}{
		{"at the start", 0, "", "0/0.0@0s 0/1.0@1s 0/2.0@1s 0/0.1@2s 0/1.1@3s 0/2.1@3s 0/3.0@3s 0/0.2@5s"},
		{"one child running, one to come", 0.125, "0/0.0@0s 0/1.0@0s",
			"0/2.0@0s 0/1.1@2s 0/2.1@2s 0/0.1@10s 0/3.0@11s 0/0.2@12s"},
		{"one child done", 0.4, "0/0.0@0s 0/2.0@0s", "0/0.1@0s 0/3.0@1s 0/2.1@10s 0/0.2@12s"},
		{"parent held", 0.6, "0/0.1@0s 0/2.0@0s", "0/3.0@0s 0/2.1@5s 0/0.2@7s"},
		{"children done", 0.8, "0/0.1@0s", "0/0.2@0s"},
	} {
		p := scenario{
			plan:   Plan{Phases: lanePhases(1, c.share, Phase{Sessions: 1})},
			traces: []*Tree{handing()}, serve: within(time.Second),
		}.run(t)
		same(t, c.name+", warm-up", p.turnsOf(0), c.warmup)
		same(t, c.name+", replay", sorted(p.turnsOf(1)), sorted(c.replay))
	}
}

func TestTracesWithoutTimesBeginByTheirTurns(t *testing.T) {
	delayed := plainTurns(5)
	delayed[3].DelayNS, delayed[2].DelayNS = int64(2*time.Second), int64(4*time.Second)
	for share, want := range map[float64][2]string{
		0.5: {"0/0.1@0s 1/0.0@0s", "0/0.2@0s 1/0.1@1s"},
		1:   {"0/0.3@0s 1/0.0@0s", "0/0.4@0s 1/0.1@3s"},
	} {
		p := scenario{
			plan: Plan{Phases: lanePhases(2, share, Phase{Requests: 2})},
			traces: []*Tree{{Nodes: []Node{{Turns: delayed}}},
				{Nodes: []Node{{Turns: []NodeTurn{{}, {DelayNS: int64(5 * time.Second)}}}}}},
			serve: within(time.Minute),
		}.run(t)
		same(t, fmt.Sprint(share, " warm-up"), p.turnsOf(0), want[0])
		if share == 0.5 {
			same(t, "distances", p.turnsOf(1), want[1])
		}
		same(t, "one turn is left", p.result.Phases[1].RequestsSent, 2)
	}
}

func TestFinishedTracesGoToTheEndOfTheQueue(t *testing.T) {
	p := scenario{
		plan:   Plan{Phases: lanePhases(2, 0, Phase{Sessions: 7})},
		traces: []*Tree{trace(0, 0, 5), trace(0, 0), trace(0, 0)},
		serve: func(c Credit) answer {
			return answer{after: time.Duration(1000+c.ID) * ms}
		},
	}.run(t)
	var order []int
	for _, c := range p.sent {
		if c.Turn == 0 {
			order = append(order, p.opened[c.Session].Conversation)
		}
	}
	same(t, "order", order, []int{0, 1, 2, 1, 0, 2, 1})
}

// More lanes than traces: each trace has as many as come to it.
func TestTraceIsPlayedInSeveralLanes(t *testing.T) {
	p := scenario{
		plan:   Plan{Phases: lanePhases(3, 0, Phase{Sessions: 6}), URLs: 2},
		traces: []*Tree{trace(0, 0), trace(0, 0)},
		serve:  func(c Credit) answer { return answer{after: time.Duration(1+c.ID) * time.Second} },
	}.run(t)
	same(t, "replay", p.turnsOf(1), "0/0.0@0s 1/0.0@0s 0/0.0@0s 0/0.0@1s 1/0.0@2s 0/0.0@3s")
	same(t, "addresses", p.result.Phases[1].RequestsPerURL, []int64{3, 3})
}

func TestFailedWarmupOfARootEndsTheRun(t *testing.T) {
	fails := func(root bool) played {
		return scenario{
			plan:   Plan{Phases: lanePhases(1, 0.4, Phase{Sessions: 1})},
			traces: []*Tree{handing()},
			serve: func(c Credit) answer {
				if c.Phase == 0 && (c.Session < FirstChild) == root {
					return answer{after: time.Second, outcome: Failure}
				}
				return answer{after: time.Second}
			},
		}.run(t)
	}
	p := fails(true)
	if !errors.Is(p.err, ErrLaneWarmup) || len(p.result.Phases) != 1 {
		t.Errorf("error %v after %d phases", p.err, len(p.result.Phases))
	}
	p = fails(false)
	if p.err != nil || p.result.Phases[1].CompletedSessions != 1 || p.result.Phases[0].RequestErrors != 1 {
		t.Errorf("a child's warm-up: %v, %+v", p.err, p.result.Phases)
	}
}

func TestWarmupOfLanesIsNotWaitedForLongerThanItsGrace(t *testing.T) {
	phases := lanePhases(1, 0.4, Phase{Sessions: 1})
	phases[0].Grace = 5 * time.Second
	slow := func(root bool) played {
		return scenario{
			plan: Plan{Phases: phases}, traces: []*Tree{handing()},
			serve: func(c Credit) answer {
				return answer{after: time.Second, never: c.Phase == 0 && (c.Session < FirstChild) == root}
			},
		}.run(t)
	}
	p := slow(true)
	if !errors.Is(p.err, ErrLaneWarmup) {
		t.Errorf("error %v", p.err)
	}
	same(t, "took", p.took, 5*time.Second)
	p = slow(false)
	if p.err != nil || p.result.Phases[1].CompletedSessions != 1 {
		t.Errorf("a child's warm-up: %v, %+v", p.err, p.result.Phases)
	}
	same(t, "cut off, replay begins",
		[]int64{p.result.Phases[0].RequestsCancelled, p.result.Phases[1].StartNS - p.result.Phases[0].StartNS},
		[]int64{1, int64(5 * time.Second)})
}

// filling puts a phase that fills the caches between warm-up and replay.
func filling(fill Lanes, duration time.Duration, phases []Phase) []Phase {
	fill.Stage = FillLanes
	return slices.Insert(phases, 1,
		Phase{Name: "fill", Concurrency: phases[0].Concurrency, Duration: duration, Grace: Infinite, Lanes: &fill})
}

func TestCachesAreFilledWithoutDelaysAndTheReplayGoesOnFromThere(t *testing.T) {
	long := trace(10, 0, 10, 20, 30, 40, 50, 60, 70)
	p := scenario{
		plan:   Plan{Phases: filling(Lanes{}, 2500*ms, lanePhases(2, 0.1, Phase{Requests: 3}))},
		traces: []*Tree{long, handing()}, serve: within(time.Second),
	}.run(t)
	same(t, "fill", sorted(p.turnsOf(1)),
		sorted("0/0.1@0s 1/1.1@0s 1/2.0@0s 1/0.1@0s 0/0.2@1s 1/2.1@1s 1/3.0@1s 0/0.3@2s 1/0.2@2s"))
	same(t, "drained", p.result.Phases[2].StartNS-p.result.Phases[1].StartNS, int64(3*time.Second))
	same(t, "replay", p.turnsOf(2), "1/0.0@0s 0/0.4@0s 1/1.0@1s")
}

func TestCachesAreFilledWithSoManyRequestsOfEachLane(t *testing.T) {
	p := scenario{
		plan:   Plan{Phases: filling(Lanes{PerLane: 2}, 0, lanePhases(2, 0, Phase{Requests: 2}))},
		traces: []*Tree{trace(10, 0, 10, 20, 30), trace(10, 0), trace(10, 0, 5)}, serve: within(time.Second),
	}.run(t)
	same(t, "fill", sorted(p.turnsOf(1)), "0/0.0@0s 0/0.1@1s 1/0.0@0s 2/0.0@1s")
	same(t, "replay", p.turnsOf(2), "0/0.2@0s 2/0.1@0s")

	// A slow lane is waited for; the others send no more meanwhile.
	slow := scenario{
		plan:   Plan{Phases: filling(Lanes{PerLane: 3}, 0, lanePhases(2, 0, Phase{Requests: 2}))},
		traces: []*Tree{trace(1, 0, 10, 20, 30, 40), trace(1, 0, 10, 25, 30, 40)},
		serve: func(c Credit) answer {
			return answer{after: time.Second + time.Duration(c.Session)*9*time.Second}
		},
	}.run(t)
	same(t, "a slow lane", slow.turnsOf(1), "0/0.0@0s 1/0.0@0s 0/0.1@1s 0/0.2@2s 1/0.1@10s 1/0.2@20s")
	same(t, "both go on", slow.turnsOf(2), "0/0.3@0s 1/0.3@0s")
}

func TestIdleTreesArePulledForward(t *testing.T) {
	replay := Phase{Requests: 4, Lanes: &Lanes{TreeIdle: 3 * time.Second, SystemIdle: Infinite}}
	p := scenario{
		plan:   Plan{Phases: lanePhases(1, 0, replay)},
		traces: []*Tree{trace(60, 0, 100, 200), trace(0, 0, 1)}, serve: within(time.Second),
	}.run(t)
	same(t, "capped", p.turnsOf(1), "0/0.0@0s 0/0.1@4s 0/0.2@8s 1/0.0@9s")

	// A child that waits keeps its distance to one that waits longer; one in flight lets the tree wait.
	root := told(0, 0)
	root[0].Branches = []Branch{{Nodes: []int{1, 2, 3}}}
	child := func(delay int) Node {
		turns := told(0, 1)
		turns[0].DelayNS = int64(delay) * int64(time.Second)
		return Node{Turns: turns}
	}
	tree := &Tree{Nodes: []Node{{Turns: root}, child(20), child(22), child(90)}}
	p = scenario{plan: Plan{Phases: lanePhases(1, 0, replay)}, traces: []*Tree{tree},
		serve: within(5 * time.Second)}.run(t)
	same(t, "together", p.turnsOf(1), "0/0.0@0s 0/1.0@8s 0/2.0@10s 0/3.0@18s")
}

func TestIdleSystemIsPulledForward(t *testing.T) {
	replay := Phase{Requests: 4, Lanes: &Lanes{TreeIdle: Infinite, SystemIdle: 10 * time.Second}}
	p := scenario{
		plan:   Plan{Phases: lanePhases(2, 0, replay)},
		traces: []*Tree{trace(30, 0, 100), trace(45, 0, 100)}, serve: within(time.Second),
	}.run(t)
	same(t, "sends", p.turnsOf(1), "0/0.0@0s 1/0.0@0s 0/0.1@11s 0/0.0@12s")
	replay.Requests = 5
	p = scenario{
		plan:   Plan{Phases: lanePhases(2, 0, replay)},
		traces: []*Tree{trace(30, 0, 100, 200), trace(45, 0, 100)}, serve: within(time.Second),
	}.run(t)
	same(t, "all shift alike", p.turnsOf(1), "0/0.0@0s 1/0.0@0s 0/0.1@11s 1/0.1@22s 1/0.0@23s")
}

func TestLaneStartsAreFunctionsOfTheSeed(t *testing.T) {
	at := func(seed uint64) string {
		long := make([]int, 101)
		for i := range long {
			long[i] = i
		}
		var traces []*Tree
		for range 40 {
			traces = append(traces, trace(1, long...))
		}
		phases := lanePhases(40, 0, Phase{Requests: 40})
		phases[0].Lanes.MinStart, phases[0].Lanes.MaxStart = 0.25, 0.75
		p := scenario{plan: Plan{Phases: phases, Seed: random.Root(seed)}, traces: traces,
			serve: within(time.Second)}.run(t)
		low, high := 100, 0
		for _, c := range p.sent[:40] {
			low, high = min(low, c.Turn), max(high, c.Turn)
		}
		if low < 24 || low > 35 || high > 75 || high < 65 {
			t.Errorf("seed %d: starts from %d to %d", seed, low, high)
		}
		return p.turnsOf(0)
	}
	same(t, "same seed", at(1), at(1))
	if at(1) == at(2) {
		t.Error("two seeds start at the same points")
	}
}

func TestStopDuringTheWarmupOfLanesForgetsThem(t *testing.T) {
	p := scenario{
		plan:   Plan{Phases: lanePhases(2, 0.4, Phase{Sessions: 2})},
		traces: []*Tree{handing(), handing()}, serve: within(time.Minute),
		during: stopAfter(time.Second),
	}.run(t)
	if p.err != nil || !p.result.Cancelled || len(p.result.Phases) != 1 {
		t.Errorf("%v, %+v", p.err, p.result)
	}
}

func TestLanesThatCannotRun(t *testing.T) {
	lanes := func(change func(*Phase)) Plan {
		p := Phase{Concurrency: 2, Sessions: 2, Lanes: &Lanes{Stage: ReplayLanes}}
		change(&p)
		return one(p)
	}
	for want, plan := range map[string]Plan{
		"lanes need a concurrency":      lanes(func(p *Phase) { p.Concurrency = 0 }),
		"no stop condition":             lanes(func(p *Phase) { p.Sessions = 0 }),
		"want shares from 0 to 1":       lanes(func(p *Phase) { p.Lanes.MinStart = 0.5 }),
		"lanes exclude a ramp":          lanes(func(p *Phase) { p.ConcurrencyRamp.Duration = time.Second }),
		"a limit of the lanes":          lanes(func(p *Phase) { p.Lanes.TreeIdle = -1 }),
		"a number of requests per lane": lanes(func(p *Phase) { p.Lanes.PerLane = 1 }),
		"a schedule, users and lanes":   lanes(func(p *Phase) { p.Arrivals = constantly(1) }),
		"a source with recorded trees":  lanes(func(*Phase) {}),
	} {
		p := scenario{plan: plan}.run(t)
		if p.err == nil || !strings.Contains(p.err.Error(), want) {
			t.Errorf("error %v, want one with %q", p.err, want)
		}
	}
}

func stopAfter(d time.Duration) func(context.CancelFunc, *Engine) {
	return func(_ context.CancelFunc, e *Engine) {
		time.Sleep(d)
		e.Stop()
	}
}
