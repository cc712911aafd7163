package summary

import (
	"encoding/json"
	"math"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/judge"
	"aiperf/internal/watch/servermetrics"
)

// Document is profile_export_aiperf.json, the summary file. Leading and Metrics have the blocks of metrics by their
// tags; [ParseFigures] reads those.
type Document struct {
	SchemaVersion  string                  `json:"schema_version"`
	AIPerfVersion  string                  `json:"aiperf_version"`
	BenchmarkID    string                  `json:"benchmark_id"`
	Leading        artifact.Object         `json:"-" artifact:"inline"`
	Telemetry      *TelemetryDocument      `json:"telemetry_data,omitempty"`
	InputConfig    artifact.Object         `json:"input_config"`
	RunInfo        RunInfoDocument         `json:"run_info"`
	Metadata       *MetadataDocument       `json:"metadata,omitempty"`
	Recomputed     artifact.Object         `json:"recomputed,omitzero"`
	Provenance     artifact.Object         `json:"provenance,omitzero"`    // see [Provenance]
	ClientHealth   artifact.Object         `json:"client_health,omitzero"` // see [ParseClient]
	Dataset        *Dataset                `json:"dataset,omitempty"`
	FinishReasons  artifact.Map[int64]     `json:"finish_reasons,omitempty"`
	Accuracy       *AccuracyDocument       `json:"accuracy,omitempty"`
	Reconciliation *ReconciliationDocument `json:"reconciliation,omitempty"`
	PrefixCache    *PrefixCacheDocument    `json:"prefix_cache,omitempty"`
	Twin           *TwinDocument           `json:"twin,omitempty"`
	TimeSplit      *timesplit.Times        `json:"time_split,omitempty"`
	Judgement      *judge.Judgement        `json:"judgement,omitempty"`
	Limits         []LimitDocument         `json:"limited_by"`
	Bounds         BoundsDocument          `json:"percentile_bounds,omitempty"`
	WasCancelled   bool                    `json:"was_cancelled"`
	// Complete is nil for a run that is complete.
	Complete         *bool           `json:"is_complete,omitempty"`
	Incomplete       string          `json:"incomplete_reason,omitempty"`
	EndedEarly       *EarlyEnd       `json:"ended_early,omitempty"`
	WarmupEndedEarly *EarlyEnd       `json:"warmup_ended_early,omitempty"`
	Errors           []ErrorDocument `json:"error_summary"`
	// StartTime and EndTime are local times without zone.
	StartTime  string            `json:"start_time,omitempty"`
	EndTime    string            `json:"end_time,omitempty"`
	Branches   *BranchesDocument `json:"branch_stats,omitempty"`
	Warmup     artifact.Object   `json:"warmup_metrics,omitzero"`
	Acceptance artifact.Object   `json:"pooled_spec_decode_acceptance_histogram,omitzero"`
	Reasons    []string          `json:"runtime_submission_invalid_reasons,omitzero"`
	Metrics    artifact.Object   `json:"-" artifact:"inline"`
}

// LimitDocument is a finding of the judgement on what limited the run.
type LimitDocument struct {
	Code   string      `json:"code"`
	Level  judge.Level `json:"level"`
	Title  string      `json:"title"`
	Text   string      `json:"text"`
	Advice string      `json:"advice,omitempty"`
}

// RunInfoDocument is run_info.
type RunInfoDocument struct {
	BenchmarkID string `json:"benchmark_id"`
	RunInfo
	StartNS int64 `json:"start_time_ns,omitempty"`
	EndNS   int64 `json:"end_time_ns,omitempty"`
	CountsDocument
}

// CountsDocument says what was sent and what was not: sent = completed + cancelled, completed = successes + errors +
// skipped.
type CountsDocument struct {
	Sent      int64 `json:"requests_sent"`
	Completed int64 `json:"requests_completed"`
	Cancelled int64 `json:"requests_cancelled"`
	Errors    int64 `json:"request_errors"`
	Skipped   int64 `json:"requests_skipped,omitempty"`
	*RateDocument
}

// RateDocument exists only where a rate was asked for.
type RateDocument struct {
	SkippedArrivals  int64   `json:"skipped_arrivals"`
	DroppedByCatchup int64   `json:"dropped_by_catchup"`
	TargetRate       float64 `json:"target_rate"`
	DeliveredRate    float64 `json:"delivered_rate"`
}

// MetadataDocument says what was sent and what it counts for.
type MetadataDocument struct {
	Dataset *SourceDocument `json:"dataset,omitempty"`
	*SubmissionDocument
}

// SourceDocument is the public data set that was sent.
type SourceDocument struct {
	Type       string `json:"source_type"`
	Loader     string `json:"loader"`
	HubDataset string `json:"hf_dataset_name,omitempty"`
	HubSplit   string `json:"hf_split,omitempty"`
	HubSubset  string `json:"hf_subset,omitempty"`
	Entries    int64  `json:"num_dataset_entries,omitempty"`
}

// SubmissionDocument reports whether the run complies with its scenario.
type SubmissionDocument struct {
	Scenario string   `json:"scenario"`
	Valid    bool     `json:"submission_valid"`
	Reasons  []string `json:"submission_invalid_reasons"`
}

// Provenance says what measured what, so that two results can be told to be of the same kind.
type Provenance struct {
	AIPerfVersion string                `json:"aiperf_version"`
	GoVersion     string                `json:"go_version"`
	ConfigHash    string                `json:"config_sha256"`
	Further       artifact.Object       `json:"further_config,omitempty"`
	DatasetHash   string                `json:"dataset_sha256,omitempty"`
	Tokenizer     *TokenizerFingerprint `json:"tokenizer,omitempty"`
	Host          MachineDocument       `json:"host"`
	ClockSource   string                `json:"clock_source"`
}

// TokenizerFingerprint tells tokenizers apart by what they do.
type TokenizerFingerprint struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint_sha256"`
}

// MachineDocument is the machine that measured.
type MachineDocument struct {
	System     string `json:"system"`
	Processors int    `json:"processors"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Model      string `json:"processor_model,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
}

// AccuracyDocument is how many answers were right, with the intervals that the metrics lack.
type AccuracyDocument struct {
	Benchmark string                 `json:"benchmark"`
	Grader    string                 `json:"grader"`
	Problems  int64                  `json:"problems"`
	Asked     int64                  `json:"asked"`
	Ungraded  int64                  `json:"ungraded"`
	Overall   TaskAccuracyDocument   `json:"overall"`
	Tasks     []TaskAccuracyDocument `json:"tasks"`
	Late      int64                  `json:"late,omitempty"`
	Repeats   *Repeats               `json:"repeats,omitempty"`
}

// TaskAccuracyDocument is how many answers of a task, or of all, were right.
type TaskAccuracyDocument struct {
	Task     string  `json:"task"`
	Correct  int64   `json:"correct"`
	Total    int64   `json:"total"`
	Unparsed int64   `json:"unparsed"`
	Problems int64   `json:"problems"`
	Accuracy float64 `json:"accuracy"`
	Low      float64 `json:"ci95_low"`
	High     float64 `json:"ci95_high"`
}

// ReconciliationDocument is the comparison of the run's totals with the server's.
type ReconciliationDocument struct {
	Verdict string                      `json:"verdict"`
	Summary string                      `json:"summary"`
	Causes  []CauseDocument             `json:"causes,omitempty"`
	Server  ReconciledServer            `json:"server"`
	Client  ReconciledClient            `json:"client"`
	Rows    []ReconciliationRowDocument `json:"rows"`
}

// CauseDocument is why totals differ.
type CauseDocument struct {
	Code    servermetrics.Cause `json:"code"`
	Message string              `json:"message"`
	Advice  string              `json:"advice"`
}

// ReconciledServer is whose counters were compared. Alike are the pages that are of one server, where there are
// others.
type ReconciledServer struct {
	Kind    string `json:"kind"`
	Pages   int    `json:"pages"`
	Alike   *int   `json:"pages_alike,omitempty"`
	Missing int    `json:"pages_missing,omitempty"`
	FromNS  int64  `json:"first_scrape_ns,omitempty"`
	ToNS    int64  `json:"last_scrape_ns,omitempty"`
}

// ReconciledClient is what became of the requests.
type ReconciledClient struct {
	Succeeded int64 `json:"requests_succeeded"`
	GivenUp   int64 `json:"requests_given_up,omitempty"`
	Cancelled int64 `json:"requests_cancelled,omitempty"`
	Failed    int64 `json:"requests_failed,omitempty"`
	CutOff    int64 `json:"requests_cut_off,omitempty"`
	Resent    int64 `json:"requests_resent,omitempty"`
	InFlight  int64 `json:"warmup_in_flight,omitempty"`
	WarmUp    int64 `json:"warmup_requests,omitempty"`
}

// ReconciliationRowDocument compares one quantity. What an absent row does not have is nil.
type ReconciliationRowDocument struct {
	Quantity     servermetrics.Quantity        `json:"quantity"`
	Unit         string                        `json:"unit"`
	Status       servermetrics.ReconcileStatus `json:"status"`
	Reason       *string                       `json:"reason,omitempty"`
	Client       *float64                      `json:"client,omitempty"`
	Server       *float64                      `json:"server,omitempty"`
	ClientMetric *string                       `json:"client_metric,omitempty"`
	ServerMetric *string                       `json:"server_metric,omitempty"`
	Difference   *float64                      `json:"difference,omitempty"`
	PerRequest   *float64                      `json:"per_request,omitempty"`
	Tolerance    float64                       `json:"tolerance,omitempty"`
	Own          float64                       `json:"client_tokenizer,omitempty"`
	Cause        servermetrics.Cause           `json:"cause,omitempty"`
}

// PrefixCacheDocument is how much of the prompts came from the server's prefix cache.
type PrefixCacheDocument struct {
	Share   *float64 `json:"share,omitempty"`
	Metric  string   `json:"server_metric"`
	Repeats *float64 `json:"repeats_share,omitempty"`
}

// TwinDocument compares the recording that was played with its replay.
type TwinDocument struct {
	Verdict judge.TwinVerdict `json:"verdict"`
	Summary string            `json:"summary"`
	Rows    []TwinRowDocument `json:"measures"`
}

// TwinRowDocument is a measure of both; what is not known is left out.
type TwinRowDocument struct {
	Measure  string            `json:"measure"`
	Title    string            `json:"title"`
	Unit     string            `json:"unit,omitempty"`
	Recorded *float64          `json:"recorded,omitempty"`
	Replayed *float64          `json:"replayed,omitempty"`
	Distance *float64          `json:"distance,omitempty"`
	KS       *float64          `json:"ks_distance,omitempty"`
	Mean     *float64          `json:"mean_difference,omitempty"`
	Verdict  judge.TwinVerdict `json:"verdict,omitempty"`
}

// BoundsDocument has the confidence bounds of percentiles by the tag of the metric and the name of the percentile.
type BoundsDocument = artifact.Map[artifact.Map[RangeDocument]]

// RangeDocument is an interval. A side without a bound is not finite, and left out.
type RangeDocument struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// UnmarshalJSON implements [json.Unmarshaler]: what is not there is NaN.
func (r *RangeDocument) UnmarshalJSON(data []byte) error {
	type plain RangeDocument
	*r = RangeDocument{math.NaN(), math.NaN()}
	return json.Unmarshal(data, (*plain)(r))
}

// ErrorDocument is a group of equal errors.
type ErrorDocument struct {
	Details artifact.Object `json:"error_details"`
	Count   int64           `json:"count"`
}

// BranchesDocument has the fields of [Branches] under the names of the summary.
type BranchesDocument struct {
	ChildrenSpawned   int64 `json:"children_spawned"`
	ChildrenCompleted int64 `json:"children_completed"`
	ChildrenErrored   int64 `json:"children_errored"`
	ChildrenTruncated int64 `json:"children_truncated"`
	ChildrenDelayed   int64 `json:"children_delayed"`
	ParentsSuspended  int64 `json:"parents_suspended"`
	ParentsResumed    int64 `json:"parents_resumed"`
	ParentsFailed     int64 `json:"parents_failed_due_to_child_error"`
	JoinsSuppressed   int64 `json:"joins_suppressed"`
	GraphsAdmitted    int64 `json:"graphs_admitted"`
	GraphsCompleted   int64 `json:"graphs_completed_to_end"`
}

// TelemetryDocument is telemetry_data: the metrics of the GPUs.
type TelemetryDocument struct {
	Summary   TelemetrySummary                `json:"summary"`
	Endpoints artifact.Map[TelemetryEndpoint] `json:"endpoints"`
	Errors    []FailureDocument               `json:"error_summary"`
}

// TelemetrySummary says where the metrics come from.
type TelemetrySummary struct {
	Configured []string `json:"endpoints_configured"`
	Successful []string `json:"endpoints_successful"`
	StartTime  string   `json:"start_time,omitempty"`
	EndTime    string   `json:"end_time,omitempty"`
}

// TelemetryEndpoint has the devices of a source by their keys.
type TelemetryEndpoint struct {
	GPUs artifact.Map[GPUDocument] `json:"gpus"`
}

// GPUDocument is a device with the blocks of its metrics by name.
type GPUDocument struct {
	Index     int             `json:"gpu_index"`
	Name      string          `json:"gpu_name"`
	UUID      string          `json:"gpu_uuid"`
	Platform  string          `json:"platform"`
	Hostname  string          `json:"hostname,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Pod       string          `json:"pod_name,omitempty"`
	Instance  string          `json:"gpu_instance_id,omitempty"`
	Metrics   artifact.Object `json:"metrics"`
}

// FailureDocument is how often a collection failed in the same way.
type FailureDocument struct {
	Details FailureDetails `json:"error_details"`
	Count   int64          `json:"count"`
}

// FailureDetails is how a collection failed.
type FailureDetails struct {
	Code    int    `json:"code,omitempty"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// PhaseDocument says which phase it is. The profiling index of a warm-up is null.
type PhaseDocument struct {
	Index        int    `json:"phase_index"`
	Profiling    *int   `json:"profiling_index"`
	Name         string `json:"phase_name"`
	Kind         string `json:"phase_kind"`
	StartNS      int64  `json:"start_ns"`
	EndNS        int64  `json:"end_ns"`
	WasCancelled bool   `json:"was_cancelled"`
}

// PhaseManifest is the list of the phases of a run.
type PhaseManifest struct {
	Phases        []PhaseEntry `json:"phases"`
	SchemaVersion int          `json:"schema_version"`
}

// PhaseEntry is a phase in the list, with the paths of its files.
type PhaseEntry struct {
	PhaseDocument
	Successes int64             `json:"successful_request_count"`
	Failures  int64             `json:"error_request_count"`
	Total     int64             `json:"total_request_count"`
	Errors    []artifact.Object `json:"error_summary"`
	JSON      string            `json:"metrics_json,omitempty"`
	CSV       string            `json:"metrics_csv,omitempty"`
	GPUs      string            `json:"gpu_telemetry_json,omitempty"`
	Servers   string            `json:"server_metrics_json,omitempty"`
}

// PhaseTelemetry is what the GPUs did in one phase.
type PhaseTelemetry struct {
	Data          *TelemetryDocument `json:"data"`
	Phase         PhaseDocument      `json:"phase"`
	SchemaVersion int                `json:"schema_version"`
	Warnings      []string           `json:"warnings"`
}

// TimesliceDocument is the entry of a time slice with the blocks of its metrics by their tags.
type TimesliceDocument struct {
	Index   int   `json:"timeslice_index"`
	StartNS int64 `json:"start_ns"`
	EndNS   int64 `json:"end_ns"`
	// Complete is nil for a slice that is complete.
	Complete *bool           `json:"is_complete,omitempty"`
	Metrics  artifact.Object `json:"-" artifact:"inline"`
}
