package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func plainTurns(n int) []NodeTurn { return make([]NodeTurn, n) }

// fork is a root with one turn after which two children begin.
func forking(uint64) *Tree {
	return &Tree{Nodes: []Node{
		{Turns: []NodeTurn{{Branches: []Branch{{Nodes: []int{1, 2}, Fork: true}}}}},
		{Turns: plainTurns(1)},
		{Turns: plainTurns(2)},
	}}
}

// joining returns a root whose third turn waits for two children of the first.
func joining(uint64) *Tree {
	root := plainTurns(3)
	root[0].Branches = []Branch{{Nodes: []int{1, 2}, JoinAt: 2}}
	return &Tree{Nodes: []Node{{Turns: root}, {Turns: plainTurns(1)}, {Turns: plainTurns(1)}}}
}

// nodes lists root/node.turn of the credits.
func (p played) nodes() string {
	var b strings.Builder
	for _, c := range p.sent {
		o := p.opened[c.Session]
		fmt.Fprintf(&b, "%d/%d.%d ", o.Root, o.Node, c.Turn)
	}
	return strings.TrimSpace(b.String())
}

func TestChildrenAreSentWhenTheParentTurnReturns(t *testing.T) {
	p := scenario{plan: one(Phase{Concurrency: 1, Sessions: 2}), tree: forking, serve: within(time.Second)}.run(t)
	same(t, "order", p.nodes(), "0/0.0 0/1.0 0/2.0 0/2.1 1/0.0 1/1.0 1/2.0 1/2.1")
	same(t, "sends", p.sends(0), "0s 1s 1s 2s 3s 4s 4s 5s")
	s := p.result.Phases[0]
	same(t, "requests, sessions", []int64{s.RequestsSent, s.SentSessions, s.CompletedSessions, s.TotalSessionTurns},
		[]int64{8, 2, 2, 8})
	same(t, "children", s.Branches, Branches{ChildrenSpawned: 4, ChildrenCompleted: 4})
	child := p.opened[p.sent[1].Session]
	same(t, "child", child, Opening{Session: FirstChild, Conversation: -1, Root: 0, Node: 1, Parent: 0, Fork: true,
		Depth: 1})
	same(t, "depth", p.sent[1].Depth, 1)
	same(t, "final", []bool{p.sent[0].Final, p.sent[2].Final, p.sent[3].Final}, []bool{true, false, true})
}

func TestParentWaitsForItsChildren(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 1, Sessions: 1}), tree: joining,
		serve: func(c Credit) answer {
			if c.Session == FirstChild+1 {
				return answer{after: 5 * time.Second, outcome: Failure}
			}
			return answer{after: time.Second}
		},
	}.run(t)
	same(t, "order", p.nodes(), "0/0.0 0/1.0 0/2.0 0/0.1 0/0.2")
	same(t, "sends", p.sends(0), "0s 1s 1s 1s 6s")
	same(t, "children", p.result.Phases[0].Branches,
		Branches{ChildrenSpawned: 2, ChildrenCompleted: 1, ChildrenErrored: 1, ParentsSuspended: 1, ParentsResumed: 1})
}

// Children take no session slots, but prefill slots; the root holds its slot until all of its tree is done.
func TestChildrenTakePrefillSlotsOnly(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 1, Prefill: 1, Sessions: 2}), tree: forking,
		serve: within(time.Second),
	}.run(t)
	same(t, "sends", p.sends(0), "0s 1s 2s 3s 4s 5s 6s 7s")
	same(t, "prefills at once", p.peaks[0].maxPrefill, 1)
	p = scenario{plan: one(Phase{Concurrency: 1, Prefill: 2, Requests: 3}), tree: forking,
		serve: within(time.Second)}.run(t)
	same(t, "sends with two", p.sends(0), "0s 1s 1s")
}

func TestRequestCountAppliesToChildren(t *testing.T) {
	p := scenario{plan: one(Phase{Concurrency: 1, Requests: 2}), tree: forking, serve: within(time.Second)}.run(t)
	same(t, "order", p.nodes(), "0/0.0 0/1.0")
	s := p.result.Phases[0]
	same(t, "sessions", []int64{s.SentSessions, s.CompletedSessions, s.CancelledSessions}, []int64{1, 0, 0})
	same(t, "children", s.Branches, Branches{ChildrenSpawned: 2, ChildrenCompleted: 1, ChildrenTruncated: 1})

	p = scenario{plan: one(Phase{Concurrency: 1, Requests: 3}), tree: joining, serve: within(time.Second)}.run(t)
	same(t, "join without its children", p.nodes(), "0/0.0 0/1.0 0/2.0")
	s = p.result.Phases[0]
	same(t, "children of the join", s.Branches, Branches{ChildrenSpawned: 2, ChildrenCompleted: 2})
	same(t, "took", p.took, 2*time.Second)
}

func TestJoinThatCannotFireIsSuppressed(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 1, Duration: 3500 * ms, Grace: Infinite}), tree: joining,
		serve: func(c Credit) answer {
			if c.Session == FirstChild {
				return answer{after: time.Minute}
			}
			return answer{after: time.Second}
		},
	}.run(t)
	same(t, "order", p.nodes(), "0/0.0 0/1.0 0/2.0 0/0.1")
	same(t, "children", p.result.Phases[0].Branches,
		Branches{ChildrenSpawned: 2, ChildrenCompleted: 2, ParentsSuspended: 1, JoinsSuppressed: 1})
}

func TestOrchestratorSendsNothingItself(t *testing.T) {
	rounds := func(uint64) *Tree {
		return &Tree{Nodes: []Node{
			{Turns: []NodeTurn{
				{Silent: true, Branches: []Branch{{Nodes: []int{1, 2}, JoinAt: 1}}},
				{Silent: true, DelayNS: int64(10 * time.Second), Branches: []Branch{{Nodes: []int{3}}}},
			}},
			{Turns: plainTurns(1)}, {Turns: plainTurns(1)}, {Turns: plainTurns(1)},
		}}
	}
	p := scenario{plan: one(Phase{Concurrency: 1, Sessions: 2}), tree: rounds, serve: within(time.Second)}.run(t)
	same(t, "order", p.nodes(), "0/1.0 0/2.0 0/3.0 1/1.0 1/2.0 1/3.0")
	same(t, "sends", p.sends(0), "0s 0s 11s 12s 12s 23s")
	s := p.result.Phases[0]
	same(t, "requests, sessions, completed", []int64{s.RequestsSent, s.SentSessions, s.CompletedSessions},
		[]int64{6, 2, 2})
}

func TestOrchestratorWaitsBeforeItsFirstRound(t *testing.T) {
	thinking := func(uint64) *Tree {
		return &Tree{Nodes: []Node{
			{Turns: []NodeTurn{{Silent: true, DelayNS: int64(3 * time.Second), Branches: []Branch{{Nodes: []int{1}}}}}},
			{Turns: plainTurns(1)},
		}}
	}
	p := scenario{plan: one(Phase{Concurrency: 1, Sessions: 2}), tree: thinking, serve: within(time.Second)}.run(t)
	same(t, "sends", p.sends(0), "3s 7s")
	p = scenario{plan: one(Phase{Concurrency: 1, Duration: 2 * time.Second}), tree: thinking,
		serve: within(time.Second)}.run(t)
	same(t, "stopped meanwhile", p.result.Phases[0].RequestsSent, 0)
}

func TestFirstFailedChildEndsAPlanThatFailsFast(t *testing.T) {
	plan := one(Phase{Concurrency: 1, Sessions: 5})
	plan.FailFast = true
	run := func(fails func(Credit) bool) played {
		return scenario{plan: plan, tree: joining, serve: func(c Credit) answer {
			a := answer{after: time.Second}
			if fails(c) {
				a.outcome = Failure
			}
			return a
		}}.run(t)
	}
	p := run(func(c Credit) bool { return c.Session == FirstChild })
	if !errors.Is(p.err, ErrChildFailed) {
		t.Errorf("error %v", p.err)
	}
	same(t, "sent", p.nodes(), "0/0.0 0/1.0 0/2.0 0/0.1")
	same(t, "parents failed", p.result.Phases[0].Branches.ParentsFailed, 1)
	p = run(func(c Credit) bool { return c.Session < FirstChild })
	if p.err != nil || p.result.Phases[0].CompletedSessions != 5 {
		t.Errorf("failed roots: %v, %+v", p.err, p.result.Phases[0])
	}
}

func TestChildrenBeforeTheFirstTurn(t *testing.T) {
	before := func(uint64) *Tree {
		child := plainTurns(1)
		child[0].DelayNS = int64(3 * time.Second)
		return &Tree{Nodes: []Node{{Turns: plainTurns(1), Before: []int{1, 2}}, {Turns: plainTurns(1)}, {Turns: child}}}
	}
	p := scenario{plan: one(Phase{Arrivals: constantly(1), Concurrency: 1, Sessions: 2}), tree: before,
		serve: within(600 * ms)}.run(t)
	same(t, "order", p.nodes(), "0/1.0 0/0.0 0/2.0 1/1.0 1/0.0 1/2.0")
	same(t, "sends", p.sends(0), "1s 1s 4s 5s 5s 8s")
	same(t, "arrivals while the tree is busy", p.result.Phases[0].SkippedArrivals, 3)
	same(t, "delayed", p.result.Phases[0].Branches.ChildrenDelayed, 2)
}

func TestBackgroundChildrenKeepNoParent(t *testing.T) {
	grand := func(uint64) *Tree {
		root, child := plainTurns(2), plainTurns(1)
		root[0].Branches = []Branch{{Nodes: []int{1}, JoinAt: 1}}
		child[0].Branches = []Branch{{Nodes: []int{2}, Background: true}}
		return &Tree{Nodes: []Node{{Turns: root}, {Turns: child}, {Turns: plainTurns(1)}}}
	}
	p := scenario{plan: one(Phase{Concurrency: 1, Sessions: 2}), tree: grand, serve: func(c Credit) answer {
		if c.Depth == 2 {
			return answer{after: 10 * time.Second}
		}
		return answer{after: time.Second}
	}}.run(t)
	same(t, "sends", p.sends(0), "0s 1s 2s 2s 12s 13s 14s 14s")
}

func TestCutOffEndsTheTree(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 1, Sessions: 2}), tree: joining,
		serve: func(c Credit) answer {
			if c.Session == FirstChild {
				return answer{after: time.Second, outcome: CutOff}
			}
			return answer{after: 2 * time.Second}
		},
	}.run(t)
	s := p.result.Phases[0]
	same(t, "sessions", []int64{s.SentSessions, s.CompletedSessions, s.CancelledSessions}, []int64{2, 1, 1})
	same(t, "order", p.nodes(), "0/0.0 0/1.0 0/2.0 0/0.1 1/0.0 1/1.0 1/2.0 1/0.1 1/0.2")
}

func TestStopForgetsTrees(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 3, Requests: 100}), tree: joining,
		serve: within(time.Second), deaf: true,
		opt:    Options{CancelDrainTimeout: 100 * ms},
		during: func(_ context.CancelFunc, e *Engine) { time.Sleep(2500 * ms); e.Stop() },
	}.run(t)
	s := p.result.Phases[0]
	same(t, "counts add up", s.RequestsSent, s.RequestsCompleted+s.RequestsCancelled)
	same(t, "cancelled", s.RequestsCancelled > 0, true)
}

// origins lists what each request waited for: the request before it as its place in the order of sending, -1 for none,
// and the delay.
func (p played) origins() (list []string) {
	place := map[int64]int{}
	for i, c := range p.sent {
		place[c.ID+1] = i
	}
	for _, c := range p.sent {
		before := -1
		if at, ok := place[c.Origin.After]; ok {
			before = at
		}
		list = append(list, fmt.Sprintf("%d+%v", before, time.Duration(c.Origin.DelayNS)))
	}
	return list
}

// A turn goes on from the request whose return let it: the turn before it, the turn that started it, or the child that
// it waited for last. What sends nothing passes on what it waited for.
func TestCreditsSayWhatTheyWaitedFor(t *testing.T) {
	tree := func(uint64) *Tree {
		root := plainTurns(3)
		root[0].Branches = []Branch{{Nodes: []int{1, 2}, JoinAt: 2}}
		root[1].DelayNS = int64(time.Second)
		slow := plainTurns(2)
		slow[1].DelayNS = int64(3 * time.Second)
		silent := []NodeTurn{{Silent: true, DelayNS: int64(time.Second), Branches: []Branch{{Nodes: []int{3}}}}}
		leaf := plainTurns(1)
		leaf[0].DelayNS = int64(2 * time.Second)
		return &Tree{Nodes: []Node{{Turns: root}, {Turns: slow}, {Turns: silent}, {Turns: leaf}}}
	}
	p := scenario{plan: one(Phase{Concurrency: 1, Sessions: 1}), tree: tree, serve: within(time.Second)}.run(t)
	same(t, "order", p.nodes(), "0/0.0 0/1.0 0/0.1 0/3.0 0/1.1 0/0.2")
	same(t, "origins", p.origins(), []string{"-1+0s", "0+0s", "0+1s", "0+3s", "1+3s", "4+0s"})
	for _, c := range p.sent {
		same(t, "job", []int64{int64(c.Job), int64(c.JobRequests)}, []int64{0, 6})
	}
	same(t, "begins", p.sent[4].Begins, false)
	same(t, "begins a child", p.sent[3].Begins, true)
}

// jobs lists job: requests and delay of the credits of a phase.
func (p played) jobs(phase int) (list []string) {
	for _, c := range p.sent {
		if c.Phase == phase {
			list = append(list, fmt.Sprintf("%d: %d +%v", c.Job, c.JobRequests, time.Duration(c.Origin.DelayNS)))
		}
	}
	return list
}

// What is left of a tree that the warm-up began is no whole job. Delays are those that limits on idle time left.
func TestJobsOfLanes(t *testing.T) {
	p := scenario{
		plan: Plan{Phases: lanePhases(1, 0.5, Phase{Sessions: 2,
			Lanes: &Lanes{TreeIdle: 2 * time.Second, SystemIdle: Infinite}})},
		traces: []*Tree{trace(5, 0, 10, 20, 30, 40), trace(1, 0, 7)},
		serve:  within(time.Second),
	}.run(t)
	same(t, "warm-up", p.jobs(0), []string{"0: -1 +0s"})
	same(t, "replay", p.jobs(1), []string{"0: -3 +0s", "0: -3 +2s", "0: -3 +2s", "1: 2 +0s", "1: 2 +1s"})
}

// The first users come as if they had been there for long: their sessions are shorter, and no whole jobs.
func TestJobsOfUsers(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Requests: 8, Users: &Users{Rate: 1, Count: 2, MeanTurns: 4}}),
		turns: func(uint64) int { return 4 }, serve: within(100 * time.Millisecond),
	}.run(t)
	part, whole := 0, 0
	for _, c := range p.sent {
		if c.JobRequests < 0 {
			part++
		} else if same(t, "requests of a whole job", c.JobRequests, 4); c.Turn > 0 {
			whole++
			same(t, "time to the next turn", time.Duration(c.Origin.DelayNS), 1900*time.Millisecond)
		}
	}
	if part == 0 || whole == 0 {
		t.Errorf("%d requests of parts of jobs, %d of whole ones: %v", part, whole, p.jobs(0))
	}
}
