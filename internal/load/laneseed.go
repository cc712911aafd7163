package load

import "math"

// seedLane starts the next trace in a lane, at a share of its duration or of its turns.
func (p *phaseRun) seedLane(l *lane, share float64) {
	root := p.nextTrace(l)
	shape := l.tree.shape
	if !shape.timed() {
		n := len(root.turns())
		root.park(min(int(math.Floor(share*float64(n))), n-1))
		return
	}
	last := shape.lastStarts()
	first := shape.Nodes[0].Turns[0].AtNS
	l.atNS = first + int64(share*float64(last[0]-first))
	p.e.seedNode(root, l.atNS, last)
}

// timed reports whether the recording of a tree has the time of each turn.
func (t *Tree) timed() bool {
	for _, n := range t.Nodes {
		for _, turn := range n.Turns {
			if !turn.Timed {
				return false
			}
		}
	}
	return true
}

// lastStarts returns, for each node, when the last turn began of it and of all its descendants.
func (t *Tree) lastStarts() []int64 {
	last := make([]int64, len(t.Nodes))
	var walk func(at int) int64
	walk = func(at int) int64 {
		node := &t.Nodes[at]
		last[at] = math.MinInt64
		for _, turn := range node.Turns {
			last[at] = max(last[at], turn.AtNS)
			for _, b := range turn.Branches {
				for _, child := range b.Nodes {
					last[at] = max(last[at], walk(child))
				}
			}
		}
		for _, child := range node.Before {
			last[at] = max(last[at], walk(child))
		}
		return last[at]
	}
	walk(0)
	return last
}

// seedNode brings a session to an instant of its recording: the turns that began before it count as sent, and the
// children of these turns as begun, if anything of them is left. A session whose next turn waits for such a child is
// suspended rather than parked: the child will resume it.
func (e *Engine) seedNode(n *node, atNS int64, last []int64) {
	turns := n.turns()
	sent := 0
	for sent < len(turns) && turns[sent].AtNS < atNS {
		sent++
	}
	alive := func(b Branch, after int) {
		for _, at := range b.Nodes {
			if last[at] < atNS {
				continue
			}
			child := e.newChild(n, at, b, after)
			if b.JoinAt >= sent && b.JoinAt > 0 {
				n.waitFor(child, b.JoinAt)
			}
			e.seedNode(child, atNS, last)
		}
	}
	alive(Branch{Nodes: n.tree.shape.Nodes[n.at].Before, Background: true}, 0)
	for i, turn := range turns[:sent] {
		for _, b := range turn.Branches {
			alive(b, i)
		}
	}
	switch {
	case sent == len(turns):
		n.returned, n.forgotten = true, true
		e.sender.Forget(n.session)
	case n.waits[sent] > 0:
		n.suspendedAt = sent
	default:
		n.park(sent)
	}
}

// seeds returns the sessions whose last sent turn is sent in the warm-up: those that go on.
func (tr *tree) seeds() (all []*node) {
	for _, n := range tr.nodes {
		if next := n.upcoming(); next > 0 && !n.silent(next-1) {
			n.next = next
			all = append(all, n)
		}
	}
	return all
}

// upcoming returns the turn with which a session goes on, -1 if it does not.
func (n *node) upcoming() int {
	switch {
	case n.done():
		return -1
	case n.suspendedAt > 0:
		return n.suspendedAt
	}
	return n.next
}

// done reports whether a session sends nothing more.
func (n *node) done() bool { return n.returned || n.forgotten }

func (tr *tree) parked() (all []*node) {
	for _, n := range tr.nodes {
		if n.parked && !n.done() {
			all = append(all, n)
		}
	}
	return all
}

// remaining counts the requests that are left of a tree whose sessions are parked or wait for children: those that a
// limit of sessions must still let through. Children that have begun are nodes and count by themselves, those of later
// turns by the shape.
func (tr *tree) remaining() (requests int64) {
	var whole func(at int)
	from := func(at, first int) {
		for _, turn := range tr.shape.Nodes[at].Turns[first:] {
			if !turn.Silent {
				requests++
			}
			for _, b := range turn.Branches {
				for _, child := range b.Nodes {
					whole(child)
				}
			}
		}
	}
	whole = func(at int) {
		from(at, 0)
		for _, child := range tr.shape.Nodes[at].Before {
			whole(child)
		}
	}
	for _, n := range tr.nodes {
		if next := n.upcoming(); next >= 0 {
			from(n.at, next)
		}
	}
	return requests
}
