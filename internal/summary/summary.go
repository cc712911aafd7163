// Package summary is the typed result of one run: built from metric results and run facts by one
// function, written by report, read back by what compares runs.
package summary

import (
	"aiperf/internal/artifact"
	"aiperf/internal/gpu"
	"aiperf/internal/metrics"
)

// Result is everything that the reports of one run say.
type Result struct {
	AIPerfVersion string
	BenchmarkID   string
	RunInfo       RunInfo
	// Metrics are the profiling results, in result order.
	Metrics []metrics.Result
	// Slices are the profiling results by time slice; nil when slices are off.
	Slices []metrics.Slice
	// Warmup are the results of the warm-up phase; nil when there was none.
	Warmup []metrics.Result
	// InputConfig is the resolved configuration, redacted.
	InputConfig artifact.Object
	// Provenance says what measured what: versions, hashes, the machine; nil when it is not known.
	Provenance artifact.Object
	// Recomputed says how the result differs from that of the live run; nil when it does not.
	Recomputed artifact.Object
	// ClientHealth says what the client itself may have bent; nil when nothing watched it.
	ClientHealth artifact.Object
	// Telemetry is what the GPUs did; nil when nothing was collected of any.
	Telemetry    *gpu.Telemetry
	WasCancelled bool
	// Incomplete is the reason why the run degraded; "" when it did not.
	Incomplete string
	Errors     []ErrorCount
	// Start and end of the profiling phase: its start and the last request's end, wall epoch ns.
	StartNS, EndNS int64
	// EndpointTitle is the console title's second half, e.g. "LLM Metrics".
	EndpointTitle string
	// UsageReported and CacheReported tell whether any response carried usage, and a cache field in it,
	// where the endpoint generates tokens.
	UsageReported, CacheReported bool
	Counts                       Counts
	// Acceptance is the pooled histogram of speculative decoding; nil where servers said nothing of it.
	Acceptance []metrics.AcceptedSteps
	// Submission is nil without a scenario.
	Submission *Submission
	// Branches are the child sessions of the profiling phase; nil where no session may branch.
	Branches *Branches
}

// RunInfo identifies the run within its series.
type RunInfo struct {
	RandomSeed      *uint64
	Trial           int
	RunLabel        string
	VariationLabel  string
	VariationIndex  int
	VariationValues artifact.Object
	CLICommand      string
}

// ErrorCount is one group of equal errors, in order of first occurrence.
type ErrorCount = metrics.ErrorCount

// Counts are the totals of the profiling phase: sent = completed + cut off; completed = successes + errors.
type Counts struct {
	Sent, Successes, Errors, CutOff int64
	// Skipped arrivals found no slot; Dropped arrivals were given up after a stall.
	SkippedArrivals, DroppedByCatchup int64
	TargetRate, DeliveredRate         float64
}

// Branches count child sessions and the parents that waited for them. A child whose turns could not all be sent is
// truncated; a join whose requests may not be sent any more is suppressed.
type Branches struct {
	ChildrenSpawned, ChildrenCompleted, ChildrenErrored              int64
	ChildrenTruncated, ChildrenDelayed                               int64
	ParentsSuspended, ParentsResumed, ParentsFailed, JoinsSuppressed int64
}

// Submission says whether the run keeps its scenario: it does without reasons against it.
type Submission struct {
	Scenario string
	Reasons  []string
}
