package dispatch

import (
	"math"

	"aiperf/internal/base/random"
	"aiperf/internal/load"
	"aiperf/internal/workload/dataset"
)

// sessionTrees makes the trees of sessions of which the conversations of a dataset are the roots. It belongs to the
// load loop.
type sessionTrees struct {
	data   *dataset.Dataset
	branch bool // whether any conversation branches
	think  random.Stream
	shapes map[int]*shape
}

// shape is the tree of one conversation.
type shape struct {
	tree *load.Tree
	// conversations are those that the nodes play.
	conversations []int
	// thinks reports that delays are drawn anew for each session.
	thinks bool
}

func newSessionTrees(data *dataset.Dataset, seed random.Seed) *sessionTrees {
	return &sessionTrees{data: data, branch: data.Branches(), think: seed.Stream("timing.orchestrator.think_time"),
		shapes: map[int]*shape{}}
}

// shape is that of a conversation, nil if nothing grows out of it.
func (f *sessionTrees) shape(conversation int) *shape {
	if !f.branch {
		return nil
	}
	if s, known := f.shapes[conversation]; known {
		return s
	}
	var s *shape
	if f.data.At(conversation).Branching() {
		s = f.newShape(conversation)
	}
	f.shapes[conversation] = s
	return s
}

func (f *sessionTrees) newShape(conversation int) *shape {
	s := &shape{tree: &load.Tree{}}
	s.addNode(f.data, conversation)
	return s
}

// recordedTree returns the tree of session k, which plays a recording, even if it is of one session alone.
func (f *sessionTrees) recordedTree(k uint64, conversation int) *load.Tree {
	if t := f.tree(k, conversation); t != nil {
		return t
	}
	return f.newShape(conversation).tree
}

// addNode adds a conversation and all its descendants, and returns its index in the tree.
func (s *shape) addNode(data *dataset.Dataset, conversation int) int {
	at := len(s.tree.Nodes)
	s.conversations = append(s.conversations, conversation)
	s.tree.Nodes = append(s.tree.Nodes, load.Node{})
	c := data.At(conversation)
	node := load.Node{Turns: make([]load.NodeTurn, len(c.Turns)), Before: s.addNodes(data, c.Before)}
	for i := range c.Turns {
		t := &c.Turns[i]
		node.Turns[i] = load.NodeTurn{DelayNS: delayNS(t), Silent: t.Silent}
		if t.TimestampMS != nil {
			node.Turns[i].Timed, node.Turns[i].AtNS = true, nanoseconds(*t.TimestampMS)
		}
		s.thinks = s.thinks || t.Think != nil
		for _, b := range t.Branches {
			node.Turns[i].Branches = append(node.Turns[i].Branches, load.Branch{
				Nodes: s.addNodes(data, b.Children), Fork: b.Fork, JoinAt: b.JoinAt, Background: b.Background,
			})
		}
	}
	s.tree.Nodes[at] = node
	return at
}

func (s *shape) addNodes(data *dataset.Dataset, conversations []int) (nodes []int) {
	for _, c := range conversations {
		nodes = append(nodes, s.addNode(data, c))
	}
	return nodes
}

// tree is the tree of session k, which plays a conversation; nil if the session is a plain list of turns.
func (f *sessionTrees) tree(k uint64, conversation int) *load.Tree {
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

// nanoseconds of a number of milliseconds. The whole ones are taken apart: times since 1970 leave a
// float no digits for the rest.
func nanoseconds(ms float64) int64 {
	whole := math.Floor(ms)
	return int64(whole)*1e6 + int64(math.Round((ms-whole)*1e6))
}
