package session

import (
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

// branching is a conversation whose turn forks.
func branching(id string, turn int, texts ...string) dataset.Conversation {
	c := talk(id, "", texts...)
	c.Turns[turn].Branches = []dataset.Branch{{Children: []int{1}, Fork: true}}
	return c
}

func TestForkInheritsTheHistoryUpToItsTurn(t *testing.T) {
	s := store(t, "chat", branching("r", 1, "u0", "u1"), talk("f", "", "f0", "f1"), talk("g", "", "g0"))
	root := s.Session(1, 0)
	root.Capture(0, reply(t, "a0"))
	root.Capture(1, reply(t, "a1")) // the last turn: only forks need it
	fork := s.Child(10, 1, Lineage{Parent: 1, ParentTurn: 1, Fork: true, Depth: 1})
	spawn := s.Child(11, 1, Lineage{Parent: 1, ParentTurn: 1, Depth: 1})
	background := s.Child(12, 1, Lineage{Parent: 1, ParentTurn: 0, Fork: true, Depth: 1})
	s.Forget(1)
	fork.Capture(0, reply(t, "b0"))
	grand := s.Child(13, 2, Lineage{Parent: 10, ParentTurn: 0, Fork: true, Depth: 2})
	for _, c := range []struct {
		session *Session
		turn    int
		want    string
	}{
		{fork, 0, "u:u0 a:a0 u:u1 a:a1 u:f0"},
		{fork, 1, "u:u0 a:a0 u:u1 a:a1 u:f0 a:b0 u:f1"},
		{spawn, 0, "u:f0"},
		{background, 0, "u:u0 a:a0 u:f0"},
		{grand, 0, "u:u0 a:a0 u:u1 a:a1 u:f0 a:b0 u:g0"},
	} {
		if got := said(t, c.session.Prepare(c.turn)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	id := grand.Prepare(0).Identity
	if id.AgentDepth != 2 || id.ParentCorrelationID != fork.correlationID ||
		id.RootCorrelationID != root.correlationID {
		t.Errorf("identity %+v", id)
	}
	if id := root.Prepare(0).Identity; id.ParentCorrelationID != "" || id.RootCorrelationID != "" {
		t.Errorf("root %+v", id)
	}
}

func TestForksOfOtherModes(t *testing.T) {
	given := branching("r", 0, "u0")
	given.ContextMode = dataset.DeltasWithResponses
	alone := talk("f", dataset.MessageArrayWithResponses, "f0")
	s := store(t, "chat", given, alone, talk("g", "", "g0"))
	s.Session(1, 0).Capture(0, reply(t, "a0"))
	if got := said(t, s.Child(10, 2, Lineage{Parent: 1, Fork: true}).Prepare(0)); got != "u:u0 u:g0" {
		t.Errorf("live replies of a recorded history are dropped: %s", got)
	}
	if got := said(t, s.Child(11, 1, Lineage{Parent: 1, Fork: true}).Prepare(0)); got != "u:f0" {
		t.Errorf("a message array stands alone: %s", got)
	}
}

func TestOneTokenIsAskedForWithoutChangingTheDataset(t *testing.T) {
	limit := 50
	c := talk("c", "", "u0")
	c.Turns[0].MaxTokens = &limit
	one := store(t, "chat", c).Session(1, 0)
	short, whole := one.PrepareFor(0, Play{OneToken: true}), one.Prepare(0)
	if !strings.Contains(string(short.Request.Body), `"max_completion_tokens":1`) || short.RequestedTokens != 1 {
		t.Errorf("asked for %d: %s", short.RequestedTokens, short.Request.Body)
	}
	if !strings.Contains(string(whole.Request.Body), `"max_completion_tokens":50`) || whole.RequestedTokens != 50 {
		t.Errorf("asked for %d: %s", whole.RequestedTokens, whole.Request.Body)
	}
}

func TestCacheBustMarksDifferBetweenPlaysAndRunsNotInATree(t *testing.T) {
	of := func(run string, k uint64) string {
		s := store(t, "chat", branching("r", 0, "u0"), talk("f", "", "f0"))
		s.options.CacheBust = &CacheBust{Target: FirstTurnPrefix, RunID: run}
		root := s.Session(k, 0)
		root.Capture(0, reply(t, "a"))
		mark := strings.Fields(said(t, root.Prepare(0)))[0]
		for _, fork := range []bool{true, false} {
			child := s.Child(99, 1, Lineage{Parent: k, Fork: fork, Depth: 1})
			if got := said(t, child.Prepare(0)); !strings.HasPrefix(got, mark) || strings.Count(got, "[rid:") != 1 {
				t.Errorf("child of %s: %s", mark, got)
			}
			s.Forget(99)
		}
		return mark
	}
	first, again := of("a", 1), of("a", 1)
	if first != again || first == of("a", 2) || first == of("b", 1) {
		t.Error("a mark is that of a play and a run")
	}
}
