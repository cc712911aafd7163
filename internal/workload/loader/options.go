package loader

import (
	"aiperf/internal/base/random"
	"aiperf/internal/workload/recipe"
)

// Options configure how a file is read.
type Options struct {
	// Scheduled conversations go out at their recorded times: each needs one for its first turn.
	Scheduled bool
	// Window keeps what was recorded in it.
	Window Window
	// BlockSize is the number of tokens of a hash id; 0 is the format's own.
	BlockSize int
	// IgnoreTimes drops recorded times and delays.
	IgnoreTimes bool
	// MaxISL leaves out trace rows with longer input, MaxOSL caps their output; 0 means no limit.
	MaxISL, MaxOSL int
	// Entries is the number of recordings to read, MaxContext leaves out those with a longer context; 0 means no limit.
	Entries, MaxContext int
	// Limit is the number of conversations that are kept of a file; 0 means all.
	Limit int
	// ThinkOnly takes the recorded think time for the delay, MaxDelayMS caps the delays; nil is no cap.
	ThinkOnly  bool
	MaxDelayMS *float64
	// Models are those of the run; recorded ones stand for them in order.
	Models []string
	Weka   recipe.Weka
	// TraceLab belongs to that format alone.
	TraceLab recipe.TraceLab
	// Reshape changes a trace; nil leaves it as it is.
	Reshape *Reshape
	Seed    random.Seed
	// Draws is the number of conversations drawn from pools, 0 for their default; Batches are the
	// contents of each, nil for one entry of each pool.
	Draws   int
	Batches *Batches
	// Baseten belongs to that format alone.
	Baseten recipe.Baseten
	// Users is by how much the users of a recording are multiplied; 0 is 1.
	Users float64
	// Played says how a recording of aiperf record is played.
	Played Played
	// StripImages sends an image that has an id without its content when an earlier turn of the session sent it.
	StripImages bool
	// Stream adds to request bodies that they ask for a stream, where they do not say it themselves.
	Stream bool
	// Columns are those of a table that the user names.
	Columns []recipe.Column
	// IndexFrom is the size from which a trace stays in its file; 0 is the usual one.
	IndexFrom int64
	// MaxLine bounds a line in bytes; 0 is the usual bound.
	MaxLine int64
}

func (o *Options) maxLine() Limit { return Limit(o.MaxLine) }

// Window is a stretch of recorded time in milliseconds, both ends included; nil is open.
type Window struct{ StartMS, EndMS *int64 }

func (w Window) open() bool { return w.StartMS == nil && w.EndMS == nil }

// Holds reports whether an instant lies in the window.
func (w Window) Holds(ms float64) bool {
	return (w.StartMS == nil || ms >= float64(*w.StartMS)) && (w.EndMS == nil || ms <= float64(*w.EndMS))
}

// traceOnly lists the options that are set and apply only to traces.
func (o *Options) traceOnly() (flags []string) {
	for _, x := range []struct {
		on   bool
		flag string
	}{
		{o.MaxISL > 0, "--synthesis-max-isl"}, {o.MaxOSL > 0, "--synthesis-max-osl"},
		{o.Reshape != nil, "--speedup, --synthesis-… ratios and multipliers"},
		{o.Users > 0 && o.Users != 1, "--users"},
	} {
		if x.on {
			flags = append(flags, x.flag)
		}
	}
	return flags
}
