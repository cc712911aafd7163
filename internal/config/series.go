package config

import "time"

// Seeds says which seed each run of a series gets.
type Seeds uint8

// The kinds of seeds.
const (
	// SameSeed gives every run that of the configuration.
	SameSeed Seeds = iota
	// VarySeeds derives one for each run from that of the configuration.
	VarySeeds
	// FreshSeeds gives none: every run differs.
	FreshSeeds
)

// Series says how often the benchmark is repeated.
type Series struct {
	// Runs is their number; with Convergence the most of them.
	Runs int
	// Cooldown is the pause between two runs.
	Cooldown time.Duration
	// Confidence is the two-sided level of the intervals, between 0 and 1.
	Confidence float64
	// WarmupOnce leaves the warm-up out from the second run on.
	WarmupOnce bool
	Seeds      Seeds
	// Convergence is nil where all runs are made.
	Convergence *Convergence
}

// Probes says how the runs of a search are made.
type Probes struct {
	// EarlyStop ends a run when its verdict is certain with Confidence, and a warm-up when its figures are stationary.
	EarlyStop  bool
	Confidence float64
	// Isolated gives each run prompts of its own and has it wait until the servers are idle.
	Isolated bool
}

// The modes of Convergence.
const (
	ConvergeCIWidth      = "ci_width"
	ConvergeCV           = "cv"
	ConvergeDistribution = "distribution"
)

// Convergence ends a series early.
type Convergence struct {
	// Metric and Stat are what has to be stable; ConvergeDistribution takes the values of each request instead of Stat.
	Metric, Stat string
	Mode         string
	Threshold    float64
	// MinRuns is the number of runs before the first check.
	MinRuns int
}

// Several reports whether the benchmark is repeated.
func (r *Run) Several() bool { return r.Series.Runs > 1 }
