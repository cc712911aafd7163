package load

// tree is a running session with all that has grown out of it.
type tree struct {
	shape *Tree
	nodes []*node
	url   int
	// open counts the nodes that are not done, flying the requests in flight, unsent those that are still to be sent.
	open, flying int
	unsent       int64
	// lane is where a recorded tree is played, nil for others.
	lane *lane
	// over: the session slot is given back and no node goes on.
	over bool
}

// node is a running session of a tree.
type node struct {
	tree    *tree
	at      int // in the shape
	session uint64
	parent  *node
	level   int
	// gate is the turn of the parent that waits for the node, 0 = none; background nodes keep no parent.
	gate       int
	background bool
	// waits counts the children that a turn waits for; held is the turn that does, 0 = none.
	waits map[int]int
	held  int
	// kids counts the children that keep the node from being done.
	kids int
	// flying: a request is in flight. played: all turns have returned. forgotten: no turn will be sent.
	flying, played, forgotten, errored bool
	// parked: the turn next is left to the next phase.
	parked bool
	next   int
}

func (n *node) turns() []NodeTurn { return n.tree.shape.Nodes[n.at].Turns }

func (n *node) silent(turn int) bool { return n.turns()[turn].Silent }

// depth, sent and failed do nothing for sessions that are no node.

func (n *node) depth() int {
	if n == nil {
		return 0
	}
	return n.level
}

func (n *node) sent() {
	if n != nil {
		n.flying = true
		n.tree.flying++
		n.tree.unsent--
	}
}

func (n *node) failed() {
	if n != nil {
		n.errored = true
	}
}

// gone reports whether the turn was given up with its tree.
func (t turn) gone() bool { return t.node != nil && t.node.forgotten }

// requests counts the turns of a tree that send something.
func (t *Tree) requests() (n int) {
	for _, node := range t.Nodes {
		for _, turn := range node.Turns {
			if !turn.Silent {
				n++
			}
		}
	}
	return n
}

// sendsFirst reports whether the first request of the tree is the first turn of its root.
func (t *Tree) sendsFirst() bool {
	return !t.Nodes[0].Turns[0].Silent && len(t.Nodes[0].Before) == 0
}

// shape returns the tree of a session, nil for a plain one. Timetables play conversations as lists of turns.
func (p *phaseRun) shape(session uint64) *Tree {
	if p.e.branching == nil || p.timetable != nil {
		return nil
	}
	return p.e.branching.Tree(session)
}

// plant starts a session that may branch. It holds a session slot.
func (p *phaseRun) plant(session uint64, shape *Tree, intendedNS, nowNS int64) {
	requests := shape.requests()
	tr := &tree{shape: shape, url: p.begin(requests), open: 1, unsent: int64(requests)}
	p.trees[tr] = struct{}{}
	root := &node{tree: tr, session: session}
	tr.nodes = append(tr.nodes, root)
	before := shape.Nodes[0].Before
	p.spawn(root, Branch{Nodes: before, Background: true}, 0, nowNS)
	first := turn{session: session, count: len(root.turns()), url: tr.url, node: root, intendedNS: intendedNS}
	switch {
	case root.silent(0):
		p.after(root.turns()[0].DelayNS, first, nowNS)
	case len(before) == 0 && p.prefill.take():
		p.issue(first, nowNS)
	default:
		p.admitted.push(first)
	}
}

// spawn starts the children of a branch.
func (p *phaseRun) spawn(parent *node, b Branch, parentTurn int, nowNS int64) {
	tr := parent.tree
	for _, at := range b.Nodes {
		p.stats.Branches.ChildrenSpawned++
		child := p.e.bear(parent, at, b, parentTurn)
		if b.JoinAt > 0 {
			parent.awaits(child, b.JoinAt)
		}
	}
	for _, child := range tr.nodes[len(tr.nodes)-len(b.Nodes):] {
		p.spawn(child, Branch{Nodes: tr.shape.Nodes[child.at].Before, Background: true}, 0, nowNS)
		p.enterTurn(child, 0, nowNS)
	}
}

// bear makes a child of a session.
func (e *Engine) bear(parent *node, at int, b Branch, parentTurn int) *node {
	tr := parent.tree
	tr.open++
	if !b.Background {
		parent.kids++
	}
	child := &node{tree: tr, at: at, session: e.nextChild, parent: parent, level: parent.level + 1,
		background: b.Background}
	e.nextChild++
	tr.nodes = append(tr.nodes, child)
	e.opener.Open(Opening{
		Session: child.session, Conversation: -1, Root: tr.nodes[0].session, Node: at,
		Parent: parent.session, ParentTurn: parentTurn, Fork: b.Fork, Depth: child.level,
	})
	return child
}

// awaits has a turn wait for a child.
func (n *node) awaits(child *node, turn int) {
	if n.waits == nil {
		n.waits = map[int]int{}
	}
	n.waits[turn]++
	child.gate = turn
}

// enterTurn has a turn that waits for no child wait for its delay; lanes that are filled know none.
func (p *phaseRun) enterTurn(n *node, index int, nowNS int64) {
	delay := n.turns()[index].DelayNS
	if p.stageIs(FillLanes) {
		delay = 0
	}
	p.enterAfter(n, index, delay, nowNS)
}

// enterAfter has a turn wait for a while.
func (p *phaseRun) enterAfter(n *node, index int, delayNS, nowNS int64) {
	next := n.turns()[index]
	if p.parks() && (!p.maySend(nowNS) || p.laneFull(n, next)) {
		n.park(index)
		return
	}
	if !p.maySend(nowNS) && (!next.Silent || delayNS > 0) {
		p.truncate(n)
		return
	}
	if !next.Silent {
		p.e.sender.Prepare(p.stats.Index, n.session, index)
	}
	if n.parent != nil && index == 0 && delayNS > 0 {
		p.stats.Branches.ChildrenDelayed++
	}
	p.after(delayNS, turn{session: n.session, index: index, count: len(n.turns()), url: n.tree.url, node: n}, nowNS)
}

// nodeReturned goes on with a tree after one of its turns has returned, or was silent.
func (p *phaseRun) nodeReturned(t turn, nowNS int64) {
	n := t.node
	n.flying = false
	if n.tree.over {
		p.forget(n)
		return
	}
	for _, b := range n.turns()[t.index].Branches {
		p.spawn(n, b, t.index, nowNS)
	}
	next := t.index + 1
	switch {
	case next == t.count:
		n.played = true
		p.forget(n)
		p.finishNode(n, nowNS)
	case n.waits[next] > 0:
		n.held = next
		p.stats.Branches.ParentsSuspended++
	default:
		p.enterTurn(n, next, nowNS)
	}
	p.finishAfterFinalCredit(nowNS)
	if !p.sending() && !p.parks() {
		p.prune(n.tree)
	}
	p.capTreeIdle(n.tree, nowNS)
}

// finishNode reports what waits for a node that it is done, if it is.
func (p *phaseRun) finishNode(n *node, nowNS int64) {
	if !n.played || n.kids > 0 {
		return
	}
	n.tree.open--
	if n.tree.open == 0 {
		p.stats.CompletedSessions++
		p.releaseTree(n.tree)
	}
	parent := n.parent
	if parent == nil {
		return
	}
	if n.errored {
		p.stats.Branches.ChildrenErrored++
	} else {
		p.stats.Branches.ChildrenCompleted++
	}
	if n.background {
		return
	}
	parent.kids--
	if n.gate > 0 {
		parent.waits[n.gate]--
		if parent.held == n.gate && parent.waits[n.gate] == 0 {
			parent.held = 0
			p.stats.Branches.ParentsResumed++
			p.enterTurn(parent, n.gate, nowNS)
		}
	}
	p.finishNode(parent, nowNS)
}

// truncateTrees gives up the nodes that will have no further request now that sending is complete.
func (p *phaseRun) truncateTrees() {
	for tr := range p.trees {
		p.prune(tr)
	}
}

// prune gives up the nodes of a tree that wait for a request that will not be sent, and the tree if nothing of it
// is in flight.
func (p *phaseRun) prune(tr *tree) {
	if tr.over {
		return
	}
	for _, n := range tr.nodes {
		switch {
		case n.flying || n.played || n.forgotten:
		case n.held > 0 && n.silent(n.held) && tr.flying > 0:
			// Its children may still be done, and with them the tree.
		default:
			p.truncate(n)
		}
	}
	if tr.flying == 0 {
		p.releaseTree(tr)
	}
}

// truncate gives up a node whose next request will not be sent. A join that it waits for does not fire.
func (p *phaseRun) truncate(n *node) {
	if n.held > 0 {
		n.held = 0
		p.stats.Branches.JoinsSuppressed++
	}
	if n.parent != nil && !n.forgotten {
		p.stats.Branches.ChildrenTruncated++
	}
	p.forget(n)
}

// fell ends a tree one of whose credits was cut off.
func (p *phaseRun) fell(t turn) {
	n := t.node
	n.flying = false
	p.forget(n)
	if n.tree.over {
		return
	}
	p.stats.CancelledSessions++
	p.unsent -= n.tree.unsent
	for _, other := range n.tree.nodes {
		if !other.flying {
			p.forget(other)
		}
	}
	p.releaseTree(n.tree)
}

func (p *phaseRun) releaseTree(tr *tree) {
	tr.over = true
	p.sessions.give()
	delete(p.trees, tr)
	if tr.lane != nil {
		p.freeLane(tr.lane)
	}
}

func (p *phaseRun) forget(n *node) {
	if !n.forgotten {
		n.forgotten = true
		p.e.sender.Forget(n.session)
	}
}
