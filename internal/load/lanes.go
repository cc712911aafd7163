package load

import (
	"errors"
	"time"
)

// ErrLaneWarmup ends a run whose lanes could not be warmed up.
var ErrLaneWarmup = errors.New("the warm-up request of a lane failed")

// Trees is a Source of recorded trees; a Phase with Lanes needs one.
type Trees interface {
	Source
	// Traces returns how many recordings there are.
	Traces() int
	// Trace returns the tree of a recording, played as session k. Its turns are Timed where the recording has times.
	Trace(trace int, k uint64) *Tree
}

// LaneStage is what a phase does with its lanes.
type LaneStage uint8

// The stages, in the order in which the phases of a plan have them. Only the last one is needed.
const (
	// SeedLanes sends, for each session that goes on, the turn before the point at which its lane begins.
	SeedLanes LaneStage = iota
	// FillLanes goes on from there without delays, to fill the caches of the service.
	FillLanes
	// ReplayLanes goes on from there with the gaps of the recording.
	ReplayLanes
)

// Lanes replays recordings of agents: each of the Phase's Concurrency lanes plays one tree at a time, whole. The first
// tree of a lane begins somewhere in its middle, those that follow at their start. A recording whose tree is done goes
// to the end of the queue of recordings; the first one of the queue takes its lane. Phases that follow each other share
// the lanes; the start is as the first of them says.
type Lanes struct {
	Stage LaneStage
	// MinStart and MaxStart bound the start of a lane as a share of the recorded duration, or of the root's turns
	// where there are no times.
	MinStart, MaxStart float64
	// Together lets all lanes of a replay begin at once; otherwise their first requests keep the distances that they
	// have from the points at which the lanes begin.
	Together bool
	// TreeIdle is the longest a tree waits with nothing in flight, SystemIdle the longest all of them do; Infinite is
	// no limit.
	TreeIdle, SystemIdle time.Duration
	// PerLane ends FillLanes after so many requests of each lane; 0 leaves it to the phase's duration.
	PerLane int64
}

// lane plays one tree at a time.
type lane struct {
	number uint64
	trace  int
	// tree is nil until the lane's next trace starts.
	tree *tree
	// atNS is the instant of the recording at which the lane's tree is.
	atNS int64
	// planned counts the requests of a FillLanes phase.
	planned int64
}

// replay returns how the trees of a phase are played. A phase without lanes plays them like a replay that does not
// bound the time in which nothing is in flight; nor do the stages before the replay, which fill caches.
func (p *Phase) replay() Lanes {
	if p.Lanes == nil {
		return Lanes{Stage: ReplayLanes, TreeIdle: Infinite, SystemIdle: Infinite}
	}
	l := *p.Lanes
	if l.parks() {
		l.TreeIdle, l.SystemIdle = Infinite, Infinite
	}
	return l
}

// parks reports whether the sessions of the phase go on in a later one.
func (l *Lanes) parks() bool { return l.Stage != ReplayLanes }

// park leaves a turn for the next phase.
func (n *node) park(index int) { n.parked, n.next = true, index }

// makeLanes makes the lanes, each at its starting point.
func (p *phaseRun) makeLanes(phase Phase) {
	e, source := p.e, p.e.source.(Trees)
	e.lanesMade = lanesMade{phase: p.stats.Index, used: e.used, until: -1}
	whole := e.plan.Phases[p.stats.Index].Concurrency
	for i := p.share.Index; i < max(source.Traces(), whole); i += int(p.share.width()) {
		e.traces = append(e.traces, i%source.Traces())
	}
	draws := e.plan.Seed.Stream("timing.trajectory_start")
	for i := range phase.Concurrency {
		l := &lane{number: uint64(p.share.Index + i*int(p.share.width()))}
		e.lanes = append(e.lanes, l)
		draw := draws.At(l.number)
		p.seedLane(l, phase.Lanes.MinStart+(phase.Lanes.MaxStart-phase.Lanes.MinStart)*draw.Float64())
	}
}

// nextTrace gives the first trace of the queue to a lane and returns the root of its tree.
func (p *phaseRun) nextTrace(l *lane) *node {
	e := p.e
	l.trace, e.traces = e.traces[0], e.traces[1:]
	session := p.numbers.take()
	e.used.Sessions = max(e.used.Sessions, session+1)
	l.tree = &tree{shape: e.source.(Trees).Trace(l.trace, session), lane: l, open: 1,
		url: e.urlOf(p.begun.take())}
	e.opener.Open(Opening{Session: session, Conversation: l.trace, Root: session})
	root := &node{tree: l.tree, session: session}
	l.tree.nodes = append(l.tree.nodes, root)
	return root
}

// unplaced is the instant of a lane that went on since it was placed.
const unplaced = -1

// place sets the instant of a lane that went on: that of the first of the turns that are to be sent.
func (l *lane) place(parked []*node) {
	if l.atNS != unplaced {
		return
	}
	for i, n := range parked {
		if at := n.turns()[n.next].AtNS; i == 0 || at < l.atNS {
			l.atNS = at
		}
	}
}

// offset returns the distance of a session's next turn from the instant of its lane.
func (l *lane) offset(n *node) int64 {
	next := n.turns()[n.next]
	if !next.Timed {
		return next.DelayNS
	}
	return max(0, next.AtNS-l.atNS)
}

// adoptTree makes a tree of an earlier phase one of this phase, with as many requests.
func (p *phaseRun) adoptTree(tr *tree, requests int64) {
	p.trees[tr] = struct{}{}
	p.sessions.acquire()
	p.stats.SentSessions++
	p.stats.TotalSessionTurns += requests
	p.unsent += requests
	tr.unsent = requests
	if tr.requests = int(requests); tr.requests < tr.shape.requests() {
		tr.requests = -tr.requests
	}
	if p.replay.Stage == SeedLanes {
		return
	}
	for _, n := range tr.nodes {
		if n.parent != nil && !n.done() {
			p.stats.Branches.ChildrenSpawned++
		}
		if n.suspendedAt > 0 {
			p.stats.Branches.ParentsSuspended++
		}
	}
}

// startTrace starts the next trace in a lane.
func (p *phaseRun) startTrace(l *lane, nowNS int64) {
	root := p.nextTrace(l)
	p.adoptTree(l.tree, int64(l.tree.shape.requests()))
	p.spawn(root, Branch{Nodes: l.tree.shape.Nodes[0].Before, Background: true}, 0, Origin{}, nowNS)
	p.queueTurn(root, 0, Origin{}, nowNS)
	p.capTreeIdle(l.tree, nowNS)
}

// freeLane takes the lane from a tree that is done. The next trace starts if one may.
func (p *phaseRun) freeLane(l *lane) {
	p.e.traces = append(p.e.traces, l.trace)
	l.tree = nil
	if now := p.e.clock.NowNS(); p.mayStart(now) {
		p.startTrace(l, now)
	}
}

// laneFull reports whether a turn is left to the next phase because its lane has sent enough; it counts the turn if
// not.
func (p *phaseRun) laneFull(n *node, next NodeTurn) bool {
	most := p.replay.PerLane
	if most == 0 || next.Silent {
		return false
	}
	if n.tree.lane.planned == most {
		return true
	}
	n.tree.lane.planned++
	return false
}

// leaveLanes ends the phase for trees that go on in the next one.
func (p *phaseRun) leaveLanes() {
	for tr := range p.trees {
		p.sessions.release()
		delete(p.trees, tr)
	}
}

// abandonLanes tells the sender to forget what no phase will play any more.
func (e *Engine) abandonLanes() {
	for _, l := range e.lanes {
		if l.tree == nil {
			continue
		}
		for _, n := range l.tree.nodes {
			if !n.forgotten {
				n.forgotten = true
				e.sender.Forget(n.session)
			}
		}
	}
}

// laneRequests returns the number of requests after which a phase ends, 0 = no such number.
func (e *Engine) laneRequests(phase Phase) int64 {
	switch phase.Lanes.Stage {
	case SeedLanes:
		n := 0
		for _, l := range e.lanes {
			n += len(l.tree.seeds())
		}
		return int64(n)
	case FillLanes:
		if phase.Lanes.PerLane > 0 {
			return phase.Lanes.PerLane * int64(phase.Concurrency)
		}
	}
	return phase.Requests
}
