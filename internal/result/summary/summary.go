// Package summary is the typed result of one run: built from metric results and run facts by one
// function, written by report, read back by what compares runs.
package summary

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/reconcile"
)

// PartOnly says what to think of the figures of a run that is not complete.
const PartOnly = "The figures cover only a part of the run and must not be compared with those of other runs."

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
	// ClientHealth says what the client itself may have distorted; nil when nothing watched it.
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
	// Recoded are replies as long as asked for by the server's count only.
	Recoded metrics.Recoded
	Counts  Counts
	// Acceptance is the pooled histogram of speculative decoding; nil where servers said nothing of it.
	Acceptance []metrics.AcceptedSteps
	// Submission is nil without a scenario.
	Submission *Submission
	// Branches are the child sessions of the profiling phase; nil where no session may branch.
	Branches *Branches
	// Dataset says how often prompts were sent; nil where it is not known.
	Dataset *Dataset
	// Reconciliation compares the totals with the server's; nil where its counters were not scraped.
	Reconciliation *reconcile.Reconciliation
	// Source is the public data set that was sent; nil for other data.
	Source *Source
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

// Source is a public data set. It has no place on the hub if it is a plain file; Entries is 0 unless the user said how
// many are taken.
type Source struct {
	Loader                          string
	HubDataset, HubSubset, HubSplit string
	Entries                         int64
}

// Counts are the totals of the profiling phase: sent = completed + cut off; completed = successes + errors + skipped.
type Counts struct {
	Sent, Successes, Errors, CutOff int64
	// Skipped requests had too long a context in an agentic replay.
	Skipped int64
	// Skipped arrivals found no slot; Dropped arrivals were given up after a stall.
	SkippedArrivals, DroppedByCatchup int64
	TargetRate, DeliveredRate         float64
}

// Dataset counts the first prompts of the conversations in the profiling phases. Repeats are how often a prompt was
// sent: 1 is once.
type Dataset struct {
	Conversations, DistinctPrompts int64
	MeanRepeats                    float64
	MaxRepeats                     int64
}

// Completed is the number of requests that came to an end.
func (c *Counts) Completed() int64 { return c.Successes + c.Errors + c.Skipped }

// AllFailed reports whether requests came to an end and none of them succeeded.
func (c *Counts) AllFailed() bool { return c.Successes == 0 && c.Completed() > 0 }

// Branches count child sessions and the parents that waited for them. A child whose turns could not all be sent is
// truncated; a join whose requests may not be sent any more is suppressed. A graph is a root session with all that
// grows out of it; it is completed when all its turns were played.
type Branches struct {
	ChildrenSpawned, ChildrenCompleted, ChildrenErrored              int64
	ChildrenTruncated, ChildrenDelayed                               int64
	ParentsSuspended, ParentsResumed, ParentsFailed, JoinsSuppressed int64
	GraphsAdmitted, GraphsCompleted                                  int64
}

// Submission reports whether the run keeps its scenario: it does without reasons against it.
type Submission struct {
	Scenario string
	Reasons  []string
}
