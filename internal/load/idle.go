package load

// capTreeIdle shortens the delays of a tree that has nothing in flight, so that it waits no longer than it may.
func (p *phaseRun) capTreeIdle(tr *tree, nowNS int64) {
	if p.replay.TreeIdle == Infinite || tr == nil || tr.released ||
		tr.inFlight > 0 || p.admitted.any(tr) {
		return
	}
	mine := func(t turn) bool { return t.node != nil && t.node.tree == tr }
	p.delayed.pullForward(addNS(nowNS, p.replay.TreeIdle), mine)
}

// capSystemIdle shortens all delays when nothing is in flight.
func (p *phaseRun) capSystemIdle(nowNS int64) {
	if p.replay.SystemIdle == Infinite || len(p.inFlight) > 0 ||
		p.admitted.len() > 0 {
		return
	}
	p.delayed.pullForward(addNS(nowNS, p.replay.SystemIdle), func(turn) bool { return true })
}

// any reports whether a turn of a tree is in the queue.
func (q *fifo) any(tr *tree) bool {
	for _, t := range q.items[q.head:] {
		if t.node != nil && t.node.tree == tr {
			return true
		}
	}
	return false
}

// pullForward moves the turns that match, all by the same, so that the earliest of them is due at an instant at the
// latest.
func (h *delays) pullForward(latestNS int64, match func(turn) bool) {
	earliest, any := int64(0), false
	for _, d := range h.items {
		if match(d.turn) && (!any || d.dueNS < earliest) {
			earliest, any = d.dueNS, true
		}
	}
	if !any || earliest <= latestNS {
		return
	}
	by := earliest - latestNS
	for i := range h.items {
		if match(h.items[i].turn) {
			h.items[i].dueNS -= by
		}
	}
	for i := len(h.items)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// sink moves a turn down to its place below the ones that come before it.
func (h *delays) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if h.items[child].before(h.items[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.items[i], h.items[least] = h.items[least], h.items[i]
		i = least
	}
}
