package load

// laned is what the stages of lanes have in common. Their sessions are trees, which begin with the phase or in a lane
// that is free, and all of whose turns come from the trees: nothing arrives.
type laned struct{ p *phaseRun }

func (*laned) dueNS() int64                                    { return 0 }
func (*laned) startDue(int64) bool                             { return false }
func (*laned) issueNew() (more bool)                           { return false }
func (m *laned) queue(bool) *fifo                              { return &m.p.admitted }
func (*laned) follow(uint64, int, int64, int64) (int64, int64) { return 0, 0 }
func (*laned) keeps(*node, Outcome) bool                       { return false }
func (*laned) announce()                                       {}
func (m *laned) endSending(int64)                              { m.p.keepNumbers() }

// newLaneMode returns the mode of the stage of a phase.
func (p *phaseRun) newLaneMode() mode {
	return [...]mode{
		SeedLanes: &seedStage{laned{p}}, FillLanes: &fillStage{laned{p}}, ReplayLanes: &replayStage{laned{p}},
	}[p.replay.Stage]
}

// seedStage sends the warm-up requests of the lanes, one of each session that goes on, so that the service has their
// contexts in its caches. Sessions do not go on when these return.
type seedStage struct{ laned }

// start queues the requests without regard to their times: the turns before them count as sent.
func (m *seedStage) start(nowNS int64) {
	p := m.p
	for _, l := range p.e.lanes {
		seeds := l.tree.seeds()
		p.adoptTree(l.tree, int64(len(seeds)))
		for _, n := range seeds {
			p.admitted.push(turn{session: n.session, index: n.next - 1, count: len(n.turns()), url: l.tree.url,
				node: n})
		}
	}
	if p.phase.Requests == 0 {
		p.finishSending(nowNS)
	}
}

// announce announces the warm-up requests to the sender. It is called once, before the start.
func (m *seedStage) announce() {
	p := m.p
	for _, l := range p.e.lanes {
		for _, n := range l.tree.seeds() {
			p.e.sender.Prepare(p.stats.Index, n.session, n.next-1)
		}
	}
}

// keeps lets all sessions wait. A warm-up request that fails ends the run; a stop that was requested before takes
// precedence over the requests that it cut off.
func (m *seedStage) keeps(n *node, o Outcome) bool {
	n.inFlight = false
	if n.parent == nil && o != Success {
		m.p.e.Abort(ErrLaneWarmup)
	}
	return true
}

// endSending gives the warm-up requests the grace of the phase to return, as there is no duration after which it would
// begin.
func (m *seedStage) endSending(nowNS int64) {
	m.laned.endSending(nowNS)
	if m.p.phase.Grace < Infinite {
		m.p.stats.GraceEndNS = addNS(nowNS, m.p.phase.Grace)
	}
}

// fillStage plays the trees without think times, to fill the caches of the service. What is left of them goes on in the
// next phase.
type fillStage struct{ laned }

func (m *fillStage) start(nowNS int64) {
	p := m.p
	for _, l := range p.e.lanes {
		l.atNS = unplaced
		if l.tree == nil {
			p.startTrace(l, nowNS)
			continue
		}
		p.adoptTree(l.tree, l.tree.remaining())
		for _, n := range l.tree.parked() {
			n.parked = false
			p.queueTurn(n, n.next, Origin{}, nowNS)
		}
	}
}

// replayStage plays the trees with the gaps of the recording.
type replayStage struct{ laned }

// start continues each session at the distance that its next turn has from the start of its lane, less the smallest of
// these distances: the sessions keep the offsets of the recording to each other, and the phase does not begin with a
// wait in which nothing is in flight.
func (m *replayStage) start(nowNS int64) {
	p := m.p
	type start struct {
		offset int64
		node   *node
	}
	var starts []start
	smallest := int64(0)
	for _, l := range p.e.lanes {
		if l.tree == nil {
			p.startTrace(l, nowNS)
			continue
		}
		p.adoptTree(l.tree, l.tree.remaining())
		parked := l.tree.parked()
		l.place(parked)
		for _, n := range parked {
			s := start{offset: l.offset(n), node: n}
			if p.replay.Together {
				s.offset = 0
			}
			if len(starts) == 0 || s.offset < smallest {
				smallest = s.offset
			}
			starts = append(starts, s)
		}
	}
	if offset, any := p.smallestElsewhere(); any && !p.replay.Together {
		smallest = min(smallest, offset)
	}
	for _, s := range starts {
		s.node.parked = false
		p.queueTurnAfter(s.node, s.node.next, s.offset-smallest, Origin{}, nowNS)
	}
	for _, l := range p.e.lanes {
		p.capTreeIdle(l.tree, nowNS)
	}
}
