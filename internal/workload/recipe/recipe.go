// Package recipe holds what a dataset is made of: the options that more than one room of the workload takes, and those
// that the user's flags set as they are. It imports no reader of files and no generator, so that the configuration
// can describe a dataset without them.
package recipe

import "time"

// LengthPair is one entry of a sequence distribution: lengths in tokens, weight in percent.
type LengthPair struct {
	ISL, OSL Sizes
	Percent  float64
}

// Images says which pictures a turn has.
type Images struct {
	Width, Height Sizes
	BatchSize     int
	Format        string // png, jpeg or random
	Source        string // noise, assets or a folder
	// Sampling is the order in which pictures of a finite source are taken; empty: at random.
	Sampling string
}

// Audio says which sound a turn has; each clip draws its rate and its depth.
type Audio struct {
	Seconds   Sizes
	BatchSize int
	Format    string // wav or mp3
	Depths    []int
	RatesHz   []int
	Channels  int
}

// Rankings says which queries and passages are made, instead of prompts.
type Rankings struct {
	Passages                   Sizes // of one query
	PassageTokens, QueryTokens Sizes
}

// Column is the column of a table that has a role; an empty one says that none has it.
type Column struct{ Role, Column string }

// Filter is a column and the value it must have.
type Filter struct{ Column, Value string }

// Baseten says how a baseten trace is replayed.
type Baseten struct {
	// SessionColumn names the column that groups rows; empty: the one that is there.
	SessionColumn string
	// ThinkTimes replays sessions in a closed loop: a turn waits after the reply before it as long as
	// the recorded client did, at most DelayCapMS (nil: no limit).
	ThinkTimes bool
	DelayCapMS *float64
	// Alone makes a session of each row, so that nothing waits for a reply.
	Alone bool
	// Speedup divides all times; 0 is 1. IdleCapMS shortens stretches without a request; 0 means no limit.
	Speedup, IdleCapMS float64
	// Share of the sessions that is kept; 0 keeps all.
	Share float64
	// NoMinTokens does not ask for the recorded output as a minimum, NoHints leaves cache hints out.
	NoMinTokens, NoHints bool
}

// Weka says how recorded agents are taken apart.
type Weka struct {
	// Split takes agents apart whose requests stand in one list.
	Split bool
	// A request goes on with a chain of others, even if it does not extend it, if it begins at most SeamSeconds after
	// its end and shares SeamOverlap of the blocks with it.
	SeamSeconds, SeamOverlap float64
	// A chain of at most AuxRequests is auxiliary if its input is at most AuxShare of its parent's, which has at least
	// AuxFloor tokens, or if its model is another one and AuxCrossModel; it is a reduction if its output is at most
	// ReductionOutput and its input ReductionRatio times that.
	AuxRequests, AuxFloor, ReductionOutput int
	AuxShare, ReductionRatio               float64
	AuxCrossModel                          bool
	// GroupSize is the number of chains that begin at one point from which they are a group of workers.
	GroupSize int
}

// TraceLab says how sub-agents of a tracelab recording are found: their rows do not name their parents.
type TraceLab struct {
	// Join makes a session that ran within another one's call of an agent the child of that session.
	Join bool
	// JoinCodex looks for such calls in Codex sessions too, which record only the first call and the last wait.
	JoinCodex bool
	// MinSpawn is the shortest call that counts.
	MinSpawn time.Duration
}
