package load

// Source knows what can be sent. It is index-addressable: its methods are pure functions of the number.
type Source interface {
	// Turns returns the number of turns of session k, at least 1.
	Turns(k uint64) int
	// DelayNS returns the delay between the return of the previous turn and this one.
	DelayNS(k uint64, turn int) int64
}

// Recorded is a [Source] whose conversations carry the times of a recording; a Phase with a Schedule needs one.
type Recorded interface {
	Source
	// Conversations returns how many there are.
	Conversations() int
	// ConversationTurns returns the number of turns of a conversation.
	ConversationTurns(conversation int) int
	// TurnTime returns when a turn of a conversation goes out.
	TurnTime(conversation, turn int) TurnTime
}

// TurnTime is when a recorded turn goes out.
type TurnTime struct {
	// AtNS is the instant on the clock of the recording; it counts only if Timed.
	Timed bool
	AtNS  int64
	// DelayNS is waited after the return of the turn before, by turns that are not Timed.
	DelayNS int64
}

// Branching is a [Source] whose sessions may branch.
type Branching interface {
	Source
	// Tree returns the shape of session k, nil if it is a plain list of turns.
	Tree(k uint64) *Tree
}

// Tree is a session and all its descendants.
type Tree struct {
	// Nodes are the sessions of the tree; the first is the root. Each of the others is the child of one Branch.
	Nodes []Node
}

// Node is one session of a tree. At least one turn.
type Node struct {
	Turns []NodeTurn
	// Before are children that go out before the first turn; nothing waits for them.
	Before []int
}

// NodeTurn is one turn of a node.
type NodeTurn struct {
	// AtNS is when the turn began in a recording, on the clock of its tree; it counts only if Timed.
	Timed bool
	AtNS  int64
	// DelayNS is waited before the turn: after the return of the turn before, or of the last child it waited for.
	DelayNS int64
	// Silent turns send nothing: they only branch. They are not requests.
	Silent bool
	// Branches go out when the turn has returned.
	Branches []Branch
}

// Branch is a group of children that go out together.
type Branch struct {
	// Nodes are indices of Tree.Nodes.
	Nodes []int
	// Fork children inherit the history of the parent, others begin empty.
	Fork bool
	// JoinAt is the turn of the parent that waits for the children, 0 = none.
	JoinAt int
	// Background children do not keep the parent from being done; the tree they still belong to.
	Background bool
}

// FirstChild is the first number of the sessions that are children; their numbers are no indices of the source.
const FirstChild = 1 << 63

// Opening describes a session where its number alone does not.
type Opening struct {
	Session uint64
	// Conversation is that of a schedule or the trace of a lane, -1 for the one that the source gives to the number.
	Conversation int
	// User is the simulated user, 0 = none.
	User uint64
	// Root is the session of the tree's root and Node the index in the tree. Root is Session itself but in children.
	Root uint64
	Node int
	// Parent and ParentTurn are where a child branched off; a Fork inherits the history up to there.
	Parent     uint64
	ParentTurn int
	Fork       bool
	Depth      int
}

// Opener is a [Sender] that is told what the sessions of schedules, users and trees are. A plan that has them needs
// one.
type Opener interface {
	// Open comes before the first Prepare of the session and before a parent is forgotten.
	Open(Opening)
}

// PhaseCutter is a [Sender] that can end the exchanges of one phase alone; seamless phases need it.
type PhaseCutter interface {
	// CutOffPhase ends the exchanges of the phase; each still returns, with outcome CutOff.
	CutOffPhase(phase int)
}

// Gatherer is a [Sender] that can start many requests at the same instant, for Phase.Barrier. Without one the
// requests leave one after the other.
type Gatherer interface {
	// Gather makes the first turns of the sessions ready, as far as a goroutine that waits for each, and then calls
	// ready, once and from any goroutine. The sessions were prepared before.
	Gather(phase int, sessions []uint64, ready func())
	// SendAll is Send for credits that start together. Events.Started is expected of each.
	SendAll([]Credit)
}
