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
	// Run has the start of the profiling phase, or of the first request where the phase's is not known, and the counts
	// with the outcomes of the requests.
	Run
	// EndNS is the end of the last request of the profiling phase, wall epoch ns.
	EndNS int64
	// Metrics are the profiling results, in result order.
	Metrics []metrics.Result
	// Slices are the profiling results by time slice; nil when slices are off.
	Slices []metrics.Slice
	// Warmup are the results of the warm-up phase; nil when there was none.
	Warmup []metrics.Result
	// Recomputed says how the result differs from that of the live run; nil when it does not.
	Recomputed artifact.Object
	// ClientHealth says what the client itself may have distorted; nil when nothing watched it.
	ClientHealth artifact.Object
	// Telemetry is what the GPUs did; nil when nothing was collected of any.
	Telemetry *gpu.Telemetry
	Errors    []ErrorCount
	// UsageReported and CacheReported report whether any response carried usage, and a cache field in it,
	// where the endpoint generates tokens.
	UsageReported, CacheReported bool
	// Recoded are replies as long as asked for by the server's count only.
	Recoded metrics.Recoded
	// Acceptance is the pooled histogram of speculative decoding; nil where servers reported none.
	Acceptance []metrics.AcceptedSteps
	// Reconciliation compares the totals with the server's; nil where its counters were not scraped.
	Reconciliation *reconcile.Reconciliation
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
	// StartNS is the start of the profiling phase, wall epoch ns; 0 = the first request's send.
	StartNS int64 `json:"start_ns,omitempty"`
	// Counts are the load generator's totals.
	Counts Counts `json:"counts"`
	// InputConfig is the resolved configuration, redacted.
	InputConfig artifact.Object `json:"input_config"`
	// Provenance says what measured what: versions, hashes, the machine; nil when it is not known.
	Provenance artifact.Object `json:"provenance,omitzero"`
	// Submission is nil without a scenario.
	Submission *Submission `json:"submission,omitempty"`
	// Branches are the child sessions of the profiling phase; nil where no session may branch.
	Branches *Branches `json:"branch_stats,omitempty"`
	// Dataset says how often prompts were sent; nil before anything was sent, and where it is not known.
	Dataset *Dataset `json:"dataset,omitempty"`
	// Source is the public data set that was sent; nil for other data.
	Source *Source `json:"source,omitempty"`
}

// RunInfo identifies the run within its series.
type RunInfo struct {
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

// Source is a public data set. It has no place on the hub if it is a plain file; Entries is 0 unless the user said how
// many are taken.
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
	// Successes, Errors and Skipped are counted by the records. Skipped requests had too long a context in an agentic
	// replay.
	Successes int64 `json:"-"`
	Errors    int64 `json:"-"`
	Skipped   int64 `json:"-"`
	// Skipped arrivals found no slot; Dropped arrivals were given up after a stall.
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

// Completed is the number of requests that came to an end.
func (c *Counts) Completed() int64 { return c.Successes + c.Errors + c.Skipped }

// AllFailed reports whether requests came to an end and none of them succeeded.
func (c *Counts) AllFailed() bool { return c.Successes == 0 && c.Completed() > 0 }

// Branches count child sessions and the parents that waited for them. A child whose turns could not all be sent is
// truncated; a join whose requests may not be sent any more is suppressed. A graph is a root session with all that
// grows out of it; it is completed when all its turns were played.
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

// Submission reports whether the run keeps its scenario: it does without reasons against it.
type Submission struct {
	Scenario string   `json:"scenario"`
	Reasons  []string `json:"reasons"`
}
