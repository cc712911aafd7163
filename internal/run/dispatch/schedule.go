package dispatch

import (
	"aiperf/internal/load"
	"aiperf/internal/workload/dataset"
)

// schedule answers load's questions about the dataset: session k plays the root that the sampler gives to it.
type schedule struct {
	data    *dataset.Dataset
	sampler *dataset.Sampler
	forest  *sessionTrees
}

// at is the index of the conversation of session k.
func (s schedule) at(k uint64) int { return s.data.RootAt(s.sampler.At(k)) }

// Turns implements load.Source.
func (s schedule) Turns(k uint64) int { return s.data.TurnsOf(s.at(k)) }

// DelayNS implements load.Source.
func (s schedule) DelayNS(k uint64, turn int) int64 {
	return delayNS(&s.data.At(s.at(k)).Turns[turn])
}

// Tree implements load.Branching.
func (s schedule) Tree(k uint64) *load.Tree { return s.forest.tree(k, s.at(k)) }

// Conversations implements load.Recorded: like a trace, a recorded conversation is that of the session of its number.
func (s schedule) Conversations() int { return s.data.Len() }

// ConversationTurns implements load.Recorded.
func (s schedule) ConversationTurns(conversation int) int {
	return s.data.TurnsOf(s.at(uint64(conversation)))
}

// TurnTime implements load.Recorded.
func (s schedule) TurnTime(conversation, turn int) load.TurnTime {
	at, delay := s.data.Time(s.at(uint64(conversation)), turn)
	switch {
	case at != nil:
		return load.TurnTime{Timed: true, AtNS: nanoseconds(*at)}
	case delay != nil:
		return load.TurnTime{DelayNS: nanoseconds(*delay)}
	}
	return load.TurnTime{}
}

// Traces implements load.Trees.
func (s schedule) Traces() int { return s.data.RootCount() }

// Trace implements load.Trees: the recordings come in the order of the sampler's first pass.
func (s schedule) Trace(trace int, k uint64) *load.Tree {
	return s.forest.recordedTree(k, s.at(uint64(trace)))
}
