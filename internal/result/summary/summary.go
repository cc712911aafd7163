// Package summary defines the typed result of one run. [Build] makes a [Result] from metric results and the facts of
// the run; package report writes it; [ReadFigures] reads the figures of a summary file, for comparisons.
//
// A [State] is what a result depends on apart from the records. It is written each second while the run goes on, so
// that the results of a run that was killed can be computed from its records.
//
// Invariants: the same records and the same state give the same result; sent = completed + cut off, and completed =
// successes + errors + skipped. The package never sends anything and never knows how requests were sent.
//
// It also reads the graded answers of runs, and compares those of two runs problem by problem.
//
// Vocabulary: a problem is asked once or several times, each time with one answer that is right or wrong; of two runs
// it is lost where it was right in the base alone, and won where it is right in the new run alone. A problem that was
// asked several times is right where most of its answers are.
//
// Invariant: answers are paired by the id of their problem, never by their order.
package summary

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
)

// Result is the content of the reports of one run.
type Result struct {
	// Run has the start of the profiling phase, or of the first request if that is not known, and counts that include
	// the outcomes of the requests.
	Run
	// EndNS is the end of the last request of the profiling phase, wall epoch ns.
	EndNS int64
	// Metrics are the profiling results, in result order.
	Metrics []metrics.Metric
	// Parts are the results of the profiling phases where there are several; nil elsewhere.
	Parts []Part
	// Slices are the profiling results by time slice; nil when slices are off.
	Slices []metrics.Slice
	// Warmup are the results of the warm-up phase; nil when there was none.
	Warmup []metrics.Metric
	// Recomputed is how the result differs from that of the live run; nil when it does not.
	Recomputed artifact.Object
	// ClientHealth reports the client's own influence on the figures; nil when it was not observed.
	ClientHealth artifact.Object
	// Telemetry has the metrics of the GPUs; nil when none were collected.
	Telemetry *gpu.Telemetry
	Errors    []ErrorCount
	// UsageReported and CacheReported report whether any response carried usage, and a cache field in it,
	// where the endpoint generates tokens.
	UsageReported, CacheReported bool
	// Recoded counts replies that have the requested length only by the server's count.
	Recoded metrics.Recoded
	// Acceptance is the pooled histogram of speculative decoding; nil where servers reported none.
	Acceptance []metrics.AcceptedSteps
	// Trend is how the load changed while requests were sent; nil where that is not known.
	Trend *metrics.Trend
	// Servers is how busy the servers were; nil where they did not say so.
	Servers *servermetrics.Load
	// Stages are how long requests were in the stages of the servers; nil where they did not say so.
	Stages *servermetrics.Stages
	// Reconciliation compares the totals with the server's; nil where its counters were not scraped.
	Reconciliation *servermetrics.Reconciliation
	// Cached is how much of the prompts came from the server's prefix cache by its counters; nil where they do not say
	// so.
	Cached *servermetrics.Cached
	// Twin compares the recording that was played with the run; nil where none was.
	Twin *Twin
}

// Run is what is known of a run apart from its records.
type Run struct {
	AIPerfVersion string `json:"aiperf_version"`
	BenchmarkID   string `json:"benchmark_id"`
	// EndpointTitle is the second half of the console's title, e.g. "LLM Metrics".
	EndpointTitle string  `json:"endpoint_title"`
	RunInfo       RunInfo `json:"run_info"`
	WasCancelled  bool    `json:"was_cancelled"`
	// Incomplete is the reason why the run degraded; "" when it did not.
	Incomplete string `json:"incomplete_reason,omitempty"`
	// EndedEarly says why the profiling phase is shorter than it was asked to be, WarmupEndedEarly the same of the
	// warm-up; nil where a stop condition of its own ended it.
	EndedEarly       *EarlyEnd `json:"ended_early,omitempty"`
	WarmupEndedEarly *EarlyEnd `json:"warmup_ended_early,omitempty"`
	// StartNS is the start of the profiling phase, wall epoch ns; 0 = the first request's send.
	StartNS int64 `json:"start_ns,omitempty"`
	// Counts are the load generator's totals.
	Counts Counts `json:"counts"`
	// InputConfig is the resolved configuration, redacted.
	InputConfig artifact.Object `json:"input_config"`
	// Provenance has versions, hashes and the machine; nil when they are not known.
	Provenance artifact.Object `json:"provenance,omitzero"`
	// Submission is nil without a scenario.
	Submission *Submission `json:"submission,omitempty"`
	// Branches are the child sessions of the profiling phase; nil where no session may branch.
	Branches *Branches `json:"branch_stats,omitempty"`
	// Dataset counts how often prompts were sent; nil before the first request, and where it is not known.
	Dataset *Dataset `json:"dataset,omitempty"`
	// FinishReasons count the replies of the profiling phases by the reason that the server gave for their end; nil
	// where it gave none.
	FinishReasons map[string]int64 `json:"finish_reasons,omitempty"`
	// Source is the public data set that was sent; nil for other data.
	Source *Source `json:"source,omitempty"`
	// Accuracy is nil where no answers were graded.
	Accuracy *Accuracy `json:"accuracy,omitempty"`
}

// EarlyEnd is the end of a phase before its stop condition was met.
type EarlyEnd struct {
	Reason string `json:"reason"`
	// Confidence is how certain the reason is, between 0 and 1.
	Confidence float64 `json:"confidence"`
	// SavedSeconds is the time that the phase would have gone on, by its progress so far; 0 if that was not known.
	SavedSeconds float64 `json:"saved_seconds"`
}

// String returns the reason with how certain it is and the time saved.
func (e *EarlyEnd) String() string {
	return fmt.Sprintf("%s (confidence %.4g, %.1f s saved)", e.Reason, e.Confidence, e.SavedSeconds)
}

// RunInfo identifies the run within its series.
type RunInfo struct {
	// SweepID is that of all runs of a series, a sweep or a search; empty for a run of its own.
	SweepID         string          `json:"sweep_id,omitempty"`
	RandomSeed      *uint64         `json:"random_seed,omitempty"`
	Trial           int             `json:"trial"`
	RunLabel        string          `json:"run_label,omitempty"`
	VariationLabel  string          `json:"variation_label,omitempty"`
	VariationIndex  int             `json:"variation_index"`
	VariationValues artifact.Object `json:"variation_values,omitzero"`
	CLICommand      string          `json:"cli_command"`
}

// ErrorCount is one group of equal errors, in order of first occurrence.
type ErrorCount = metrics.ErrorCount

// Source is a public data set. The names of the hub are empty if it is a plain file; Entries is 0 unless the user set
// the number of entries.
type Source struct {
	Loader     string `json:"loader"`
	HubDataset string `json:"hub_dataset"`
	HubSubset  string `json:"hub_subset"`
	HubSplit   string `json:"hub_split"`
	Entries    int64  `json:"entries"`
}

// Counts are the totals of the profiling phase: sent = completed + cut off; completed = successes + errors + skipped.
type Counts struct {
	Sent   int64 `json:"requests_sent"`
	CutOff int64 `json:"requests_cancelled"`
	// Successes, Errors and Skipped are counted from the records. Skipped requests had a too long context in an agentic
	// replay.
	Successes int64 `json:"-"`
	Errors    int64 `json:"-"`
	Skipped   int64 `json:"-"`
	// Skipped arrivals found no free slot; dropped arrivals were discarded after a stall.
	SkippedArrivals  int64   `json:"skipped_arrivals"`
	DroppedByCatchup int64   `json:"dropped_by_catchup"`
	TargetRate       float64 `json:"target_rate"`
	DeliveredRate    float64 `json:"delivered_rate"`
}

// Dataset counts the first prompts of the conversations in the profiling phases. Repeats are how often a prompt was
// sent: 1 is once.
type Dataset struct {
	Conversations   int64   `json:"conversations"`
	DistinctPrompts int64   `json:"distinct_prompts"`
	MeanRepeats     float64 `json:"mean_repeats"`
	MaxRepeats      int64   `json:"max_repeats"`
}

// Completed returns the number of requests that ended.
func (c *Counts) Completed() int64 { return c.Successes + c.Errors + c.Skipped }

// AllFailed reports whether requests ended and none of them succeeded.
func (c *Counts) AllFailed() bool { return c.Successes == 0 && c.Completed() > 0 }

// Branches counts child sessions and the parents that waited for them. A child is truncated if not all of its turns
// could be sent; a join is suppressed if its requests may no longer be sent. A graph is a root session with all its
// descendants; it is completed when all its turns were sent.
type Branches struct {
	ChildrenSpawned   int64 `json:"children_spawned"`
	ChildrenCompleted int64 `json:"children_completed"`
	ChildrenErrored   int64 `json:"children_errored"`
	ChildrenTruncated int64 `json:"children_truncated"`
	ChildrenDelayed   int64 `json:"children_delayed"`
	ParentsSuspended  int64 `json:"parents_suspended"`
	ParentsResumed    int64 `json:"parents_resumed"`
	ParentsFailed     int64 `json:"parents_failed"`
	JoinsSuppressed   int64 `json:"joins_suppressed"`
	GraphsAdmitted    int64 `json:"graphs_admitted"`
	GraphsCompleted   int64 `json:"graphs_completed"`
}

// Submission reports whether the run complies with its scenario: it does if there are no reasons against it.
type Submission struct {
	Scenario string   `json:"scenario"`
	Reasons  []string `json:"reasons"`
}
