package run

import (
	"math"

	"aiperf/internal/base/random"
	"aiperf/internal/load"
	"aiperf/internal/workload/dataset"
)

// forest knows the trees of sessions that grow out of the roots of a dataset. It belongs to the load loop.
type forest struct {
	data   *dataset.Dataset
	branch bool // whether any conversation branches
	think  random.Stream
	shapes map[int]*shape
}

// shape is what grows out of one conversation.
type shape struct {
	tree *load.Tree
	// conversations are those that the nodes play.
	conversations []int
	// thinks reports that delays are drawn anew for each session.
	thinks bool
}

func newForest(data *dataset.Dataset, seed random.Seed) *forest {
	return &forest{data: data, branch: data.Branches(), think: seed.Stream("timing.orchestrator.think_time"),
		shapes: map[int]*shape{}}
}

// shape is that of a conversation, nil if nothing grows out of it.
func (f *forest) shape(conversation int) *shape {
	if !f.branch {
		return nil
	}
	if s, known := f.shapes[conversation]; known {
		return s
	}
	var s *shape
	if f.data.At(conversation).Branching() {
		s = f.grown(conversation)
	}
	f.shapes[conversation] = s
	return s
}

func (f *forest) grown(conversation int) *shape {
	s := &shape{tree: &load.Tree{}}
	s.grow(f.data, conversation)
	return s
}

// recorded is the tree of session k, which plays a recording, even if it is of one session alone.
func (f *forest) recorded(k uint64, conversation int) *load.Tree {
	if t := f.tree(k, conversation); t != nil {
		return t
	}
	return f.grown(conversation).tree
}

// grow adds a conversation and all below it, and returns its index in the tree.
func (s *shape) grow(data *dataset.Dataset, conversation int) int {
	at := len(s.tree.Nodes)
	s.conversations = append(s.conversations, conversation)
	s.tree.Nodes = append(s.tree.Nodes, load.Node{})
	c := data.At(conversation)
	node := load.Node{Turns: make([]load.NodeTurn, len(c.Turns)), Before: s.growAll(data, c.Before)}
	for i := range c.Turns {
		t := &c.Turns[i]
		node.Turns[i] = load.NodeTurn{DelayNS: delayNS(t), Silent: t.Silent}
		if t.TimestampMS != nil {
			node.Turns[i].Timed, node.Turns[i].AtNS = true, nanoseconds(*t.TimestampMS)
		}
		s.thinks = s.thinks || t.Think != nil
		for _, b := range t.Branches {
			node.Turns[i].Branches = append(node.Turns[i].Branches, load.Branch{
				Nodes: s.growAll(data, b.Children), Fork: b.Fork, JoinAt: b.JoinAt, Background: b.Background,
			})
		}
	}
	s.tree.Nodes[at] = node
	return at
}

func (s *shape) growAll(data *dataset.Dataset, conversations []int) (nodes []int) {
	for _, c := range conversations {
		nodes = append(nodes, s.grow(data, c))
	}
	return nodes
}

// tree is the tree of session k, which plays a conversation; nil if the session is a plain list of turns.
func (f *forest) tree(k uint64, conversation int) *load.Tree {
	s := f.shape(conversation)
	if s == nil {
		return nil
	}
	if !s.thinks {
		return s.tree
	}
	drawn := &load.Tree{Nodes: append([]load.Node(nil), s.tree.Nodes...)}
	r := f.think.At(k)
	for at, conversation := range s.conversations {
		turns := append([]load.NodeTurn(nil), drawn.Nodes[at].Turns...)
		for i := range turns {
			if think := f.data.At(conversation).Turns[i].Think; think != nil {
				turns[i].DelayNS = thinkNS(think, &r)
			}
		}
		drawn.Nodes[at].Turns = turns
	}
	return drawn
}

// thinkNS draws a think time: exp(σ·Z) around its median, within its limits.
func thinkNS(t *dataset.Think, r *random.Rand) int64 {
	ms := t.MedianMS
	if t.Sigma > 0 {
		ms *= math.Exp(t.Sigma * r.Normal())
	}
	if t.MaxMS != nil {
		ms = min(ms, *t.MaxMS)
	}
	if t.MinMS != nil {
		ms = max(ms, *t.MinMS)
	}
	return nanoseconds(min(ms, longestMS))
}

// longestMS keeps waits within what a duration can hold.
const longestMS = 1e12

func delayNS(t *dataset.Turn) int64 {
	if t.DelayMS == nil {
		return 0
	}
	return nanoseconds(min(*t.DelayMS, longestMS))
}
