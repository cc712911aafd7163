package load

// tree is a running session with all its descendants.
type tree struct {
	shape *Tree
	nodes []*node
	url   int
	// open counts the nodes that are not done, inFlight the requests in flight, unsent those that are still to be sent.
	open, inFlight int
	unsent         int64
	// lane is where a recorded tree is played, nil for others.
	lane *lane
	// requests counts the requests of the shape; it is negative where an earlier phase sent some of them.
	requests int
	// released: the session slot is given back and no node goes on.
	released bool
}

// node is a running session of a tree.
type node struct {
	tree    *tree
	at      int // in the shape
	session uint64
	parent  *node
	level   int
	// joinAt is the turn of the parent that waits for the node, 0 = none; background nodes hold up no parent.
	joinAt     int
	background bool
	// waits counts the children that a turn waits for; suspendedAt is the turn that does, 0 = none.
	waits       map[int]int
	suspendedAt int
	// openChildren counts the children that keep the node from being done.
	openChildren int
	// inFlight: a request is in flight. returned: all turns have returned. forgotten: no turn will be sent.
	inFlight, returned, forgotten, errored bool
	// parked: the turn next is left for the next phase.
	parked bool
	next   int
}

func (n *node) turns() []NodeTurn { return n.tree.shape.Nodes[n.at].Turns }

func (n *node) silent(turn int) bool { return n.turns()[turn].Silent }

// depth, sent and failed do nothing for sessions that are not nodes.

func (n *node) depth() int {
	if n == nil {
		return 0
	}
	return n.level
}

func (n *node) sent() {
	if n != nil {
		n.inFlight = true
		n.tree.inFlight++
		n.tree.unsent--
	}
}

func (n *node) failed() {
	if n != nil {
		n.errored = true
	}
}

// job returns the session that stands for the job of a turn, and how many requests that has, as [Credit] has them.
func (t *turn) job() (session uint64, requests int) {
	switch {
	case t.node != nil:
		return t.node.tree.nodes[0].session, t.node.tree.requests
	case t.partial:
		return t.session, -t.count
	}
	return t.session, t.count
}

// begins reports whether nothing of the session was sent before the turn.
func (t *turn) begins() bool {
	if t.node == nil {
		return t.index == 0
	}
	for i := range t.index {
		if !t.node.silent(i) {
			return false
		}
	}
	return true
}

// gone reports whether the turn was dropped with its tree.
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

// shape returns the tree of a session, nil for a plain one.
func (p *phaseRun) shape(session uint64) *Tree {
	if p.e.branching == nil {
		return nil
	}
	return p.e.branching.Tree(session)
}

// startTree starts a session that may branch. It holds a session slot.
func (p *phaseRun) startTree(session uint64, shape *Tree, intendedNS, nowNS int64) {
	requests := shape.requests()
	tr := &tree{shape: shape, url: p.beginSession(requests), open: 1, unsent: int64(requests), requests: requests}
	p.trees[tr] = struct{}{}
	root := &node{tree: tr, session: session}
	tr.nodes = append(tr.nodes, root)
	before := shape.Nodes[0].Before
	p.spawn(root, Branch{Nodes: before, Background: true}, 0, Origin{}, nowNS)
	first := turn{session: session, count: len(root.turns()), url: tr.url, node: root, intendedNS: intendedNS}
	switch {
	case root.silent(0):
		p.queueAfter(root.turns()[0].DelayNS, first, nowNS)
	case len(before) == 0 && p.prefill.acquire():
		p.issue(first, nowNS)
	default:
		p.admitted.push(first)
	}
}

// spawn starts the children of a branch, which wait for what from says.
func (p *phaseRun) spawn(parent *node, b Branch, parentTurn int, from Origin, nowNS int64) {
	tr := parent.tree
	for _, at := range b.Nodes {
		p.stats.Branches.ChildrenSpawned++
		child := p.e.newChild(parent, at, b, parentTurn)
		if b.JoinAt > 0 {
			parent.waitFor(child, b.JoinAt)
		}
	}
	for _, child := range tr.nodes[len(tr.nodes)-len(b.Nodes):] {
		p.spawn(child, Branch{Nodes: tr.shape.Nodes[child.at].Before, Background: true}, 0, from, nowNS)
		p.queueTurn(child, 0, from, nowNS)
	}
}

// newChild adds a child of a session to its tree.
func (e *Engine) newChild(parent *node, at int, b Branch, parentTurn int) *node {
	tr := parent.tree
	tr.open++
	if !b.Background {
		parent.openChildren++
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

// waitFor makes a turn wait for a child.
func (n *node) waitFor(child *node, turn int) {
	if n.waits == nil {
		n.waits = map[int]int{}
	}
	n.waits[turn]++
	child.joinAt = turn
}

// queueTurn queues a turn that waits for no child, after its delay; lanes that are filled have no delays. from is what
// it waited for.
func (p *phaseRun) queueTurn(n *node, index int, from Origin, nowNS int64) {
	delay := n.turns()[index].DelayNS
	if p.replay.Stage == FillLanes {
		delay = 0
	}
	p.queueTurnAfter(n, index, delay, from, nowNS)
}

// queueTurnAfter queues a turn after a delay.
func (p *phaseRun) queueTurnAfter(n *node, index int, delayNS int64, from Origin, nowNS int64) {
	next := n.turns()[index]
	if p.replay.parks() && (!p.maySend(nowNS) || p.laneFull(n, next)) {
		n.park(index)
		return
	}
	if !p.maySend(nowNS) && (!next.Silent || delayNS > 0) {
		p.truncateNode(n)
		return
	}
	if !next.Silent {
		p.e.sender.Prepare(p.stats.Index, n.session, index)
	}
	if n.parent != nil && index == 0 && delayNS > 0 {
		p.stats.Branches.ChildrenDelayed++
	}
	t := turn{session: n.session, index: index, count: len(n.turns()), url: n.tree.url, node: n, origin: from}
	p.queueAfter(delayNS, t, nowNS)
}

// nodeReturned goes on with a tree after one of its turns has returned, or was silent. Children are spawned before the
// next turn is looked at, as that turn may wait for them.
func (p *phaseRun) nodeReturned(t turn, nowNS int64) {
	n := t.node
	n.inFlight = false
	if n.tree.released {
		p.forget(n)
		return
	}
	from := t.next()
	for _, b := range n.turns()[t.index].Branches {
		p.spawn(n, b, t.index, from, nowNS)
	}
	next := t.index + 1
	switch {
	case next == t.count:
		n.returned = true
		p.forget(n)
		p.finishNode(n, from, nowNS)
	case n.waits[next] > 0:
		n.suspendedAt = next
		p.stats.Branches.ParentsSuspended++
	default:
		p.queueTurn(n, next, from, nowNS)
	}
	p.finishAfterFinalCredit(nowNS)
	if !p.sending() && !p.replay.parks() {
		p.truncateTree(n.tree)
	}
	p.capTreeIdle(n.tree, nowNS)
}

// finishNode reports what waits for a node that it is done, if it is: the tree, then a turn of the parent that joins
// it, and then, up the tree, whatever waits for the parent. from is what the turn waited for that made it so.
func (p *phaseRun) finishNode(n *node, from Origin, nowNS int64) {
	if !n.returned || n.openChildren > 0 {
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
	parent.openChildren--
	if n.joinAt > 0 {
		parent.waits[n.joinAt]--
		if parent.suspendedAt == n.joinAt && parent.waits[n.joinAt] == 0 {
			parent.suspendedAt = 0
			p.stats.Branches.ParentsResumed++
			p.queueTurn(parent, n.joinAt, from, nowNS)
		}
	}
	p.finishNode(parent, from, nowNS)
}

// truncateTrees gives up the nodes that will have no further request now that sending is complete.
func (p *phaseRun) truncateTrees() {
	for tr := range p.trees {
		p.truncateTree(tr)
	}
}

// truncateTree gives up the nodes of a tree that wait for a request that will not be sent, and the tree if nothing of
// it is in flight.
func (p *phaseRun) truncateTree(tr *tree) {
	if tr.released {
		return
	}
	for _, n := range tr.nodes {
		switch {
		case n.inFlight || n.returned || n.forgotten:
		case n.suspendedAt > 0 && n.silent(n.suspendedAt) && tr.inFlight > 0:
			// Its children may still be done, and with them the tree.
		default:
			p.truncateNode(n)
		}
	}
	if tr.inFlight == 0 {
		p.releaseTree(tr)
	}
}

// truncateNode gives up a node whose next request will not be sent. A join that it waits for does not fire.
func (p *phaseRun) truncateNode(n *node) {
	if n.suspendedAt > 0 {
		n.suspendedAt = 0
		p.stats.Branches.JoinsSuppressed++
	}
	if n.parent != nil && !n.forgotten {
		p.stats.Branches.ChildrenTruncated++
	}
	p.forget(n)
}

// cancelTree ends a tree one of whose credits was cut off.
func (p *phaseRun) cancelTree(t turn) {
	n := t.node
	n.inFlight = false
	p.forget(n)
	if n.tree.released {
		return
	}
	p.stats.CancelledSessions++
	p.unsent -= n.tree.unsent
	for _, other := range n.tree.nodes {
		if !other.inFlight {
			p.forget(other)
		}
	}
	p.releaseTree(n.tree)
}

func (p *phaseRun) releaseTree(tr *tree) {
	tr.released = true
	p.sessions.release()
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
