package session

import (
	"slices"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// Play is how a phase plays a turn.
type Play struct {
	// OneToken limits the output to one token.
	OneToken bool
}

// Lineage is where a child session branched off.
type Lineage struct {
	// Parent is the number of a running session, ParentTurn the turn after which the child begins.
	Parent     uint64
	ParentTurn int
	// Fork children inherit the history up to and with the reply to that turn; others begin empty.
	Fork  bool
	Depth int
}

// ancestry is what a session has from its parents; roots have none.
type ancestry struct {
	depth            int
	parentID, rootID string
	inherited        []endpoint.Turn
}

// Child starts session k as the child of a running session. The reply to the parent's turn was captured before.
func (s *Store) Child(k uint64, conversation int, l Lineage) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	child := s.start(k, conversation)
	child.depth = l.Depth
	parent, running := s.sessions[l.Parent]
	if !running {
		return child
	}
	child.playMark = parent.playMark
	child.parentID, child.rootID = parent.correlationID, parent.rootID
	if parent.rootID == "" {
		child.rootID = parent.correlationID
	}
	if l.Fork && child.mode != dataset.MessageArrayWithResponses {
		child.inherited, child.seed = parent.history(l.ParentTurn), parent.seed
	}
	return child
}

// history is the conversation up to a turn, its reply included where the mode keeps replies.
func (s *Session) history(turn int) []endpoint.Turn {
	turns := s.context(turn).Turns
	if s.live() && turn < len(s.replies) && s.replies[turn].message != nil {
		turns = append(turns, endpoint.Turn{Assistant: s.replies[turn].message, AssistantID: s.replies[turn].id})
	}
	return slices.Clip(turns)
}

// forks reports whether children inherit the history that ends with a turn.
func forks(t *dataset.Turn) bool {
	return slices.ContainsFunc(t.Branches, func(b dataset.Branch) bool { return b.Fork })
}
