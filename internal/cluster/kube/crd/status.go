package crd

import "time"

// Phases of a job. An unknown phase reads as Pending.
const (
	Pending      = "Pending"
	Queued       = "Queued"
	Initializing = "Initializing"
	Running      = "Running"
	Completed    = "Completed"
	Failed       = "Failed"
	Cancelled    = "Cancelled"
)

// Phases of a sweep beside Pending, Running, Failed and Cancelled.
const (
	Aggregating     = "Aggregating"
	Succeeded       = "Succeeded"
	PartiallyFailed = "PartiallyFailed"
)

// JobPhases are the phases of a job, SweepPhases those of a sweep.
func JobPhases() []string {
	return []string{Pending, Queued, Initializing, Running, Completed, Failed, Cancelled}
}

// SweepPhases are the phases of a sweep.
func SweepPhases() []string {
	return []string{Pending, Running, Aggregating, Succeeded, PartiallyFailed, Failed, Cancelled}
}

// Terminal reports whether a phase of a job or a sweep is its last.
func Terminal(phase string) bool {
	switch phase {
	case Completed, Failed, Cancelled, Succeeded, PartiallyFailed:
		return true
	}
	return false
}

// JobStatus is what the operator reports of a job.
type JobStatus struct {
	Phase              string                   `json:"phase,omitempty"`
	SubPhase           string                   `json:"subPhase,omitempty"`
	JobID              string                   `json:"jobId,omitempty"`
	JobSetName         string                   `json:"jobSetName,omitempty"`
	RunEpoch           string                   `json:"runEpoch,omitempty"`
	StartTime          *time.Time               `json:"startTime,omitempty"`
	CompletionTime     *time.Time               `json:"completionTime,omitempty"`
	ObservedGeneration int64                    `json:"observedGeneration,omitempty"`
	Error              string                   `json:"error,omitempty"`
	ResultsTTLDays     *int                     `json:"resultsTtlDays,omitempty"`
	Workers            *Workers                 `json:"workers,omitempty"`
	Phases             map[string]PhaseProgress `json:"phases,omitempty"`
	CurrentPhase       string                   `json:"currentPhase,omitempty"`
	LiveMetrics        Object                   `json:"liveMetrics,omitempty"`
	Summary            Object                   `json:"summary,omitempty"`
	Results            any                      `json:"results,omitempty"`
	ResultsPath        string                   `json:"resultsPath,omitempty"`
	ResultsExported    *bool                    `json:"resultsExported,omitempty"`
	ServerMetrics      Object                   `json:"serverMetrics,omitempty"`
	StartupIssue       *StartupIssue            `json:"startupIssue,omitempty"`
	ControllerFailure  string                   `json:"controllerFailure,omitempty"`
	Conditions         []Condition              `json:"conditions,omitempty"`
}

// Workers counts the pods of workers.
type Workers struct {
	Ready int `json:"ready"`
	Total int `json:"total"`
}

// PhaseProgress is where a phase of the load stands.
type PhaseProgress struct {
	PhaseName               string   `json:"phaseName"`
	PhaseKind               string   `json:"phaseKind"`
	PhaseIndex              *int     `json:"phaseIndex,omitempty"`
	ProfilingIndex          *int     `json:"profilingIndex,omitempty"`
	RequestsCompleted       int64    `json:"requestsCompleted"`
	RequestsSent            int64    `json:"requestsSent"`
	RequestsTotal           *int64   `json:"requestsTotal,omitempty"`
	RequestsCancelled       int64    `json:"requestsCancelled"`
	RequestsErrors          int64    `json:"requestsErrors"`
	RequestsInFlight        int64    `json:"requestsInFlight"`
	RequestsPerSecond       *float64 `json:"requestsPerSecond,omitempty"`
	RequestsProgressPercent *float64 `json:"requestsProgressPercent,omitempty"`
	SessionsSent            int64    `json:"sessionsSent"`
	SessionsCompleted       int64    `json:"sessionsCompleted"`
	SessionsCancelled       int64    `json:"sessionsCancelled"`
	SessionsInFlight        int64    `json:"sessionsInFlight"`
	RecordsSuccess          int64    `json:"recordsSuccess"`
	RecordsError            int64    `json:"recordsError"`
	RecordsPerSecond        *float64 `json:"recordsPerSecond,omitempty"`
	RecordsProgressPercent  *float64 `json:"recordsProgressPercent,omitempty"`
	SendingComplete         bool     `json:"sendingComplete"`
	IsRequestsComplete      bool     `json:"isRequestsComplete"`
	IsRecordsComplete       bool     `json:"isRecordsComplete"`
	TimeoutTriggered        bool     `json:"timeoutTriggered"`
	WasCancelled            bool     `json:"wasCancelled"`
	RequestsETASeconds      *float64 `json:"requestsEtaSeconds,omitempty"`
	RecordsETASeconds       *float64 `json:"recordsEtaSeconds,omitempty"`
	ExpectedDurationSeconds *float64 `json:"expectedDurationSeconds,omitempty"`
	ElapsedTimeSeconds      *float64 `json:"elapsedTimeSeconds,omitempty"`
}

// StartupIssue is why a pod does not start.
type StartupIssue struct {
	Fingerprint       string     `json:"fingerprint"`
	PodName           string     `json:"podName"`
	ContainerName     string     `json:"containerName,omitempty"`
	Reason            string     `json:"reason"`
	Message           string     `json:"message,omitempty"`
	FirstObservedTime *time.Time `json:"firstObservedTime,omitempty"`
	WarningEmitted    bool       `json:"warningEmitted,omitempty"`
}

// Condition is one statement of a status with its reason.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// LastTransitionTime is when Status last changed.
	LastTransitionTime *time.Time `json:"lastTransitionTime,omitempty"`
}

// SetCondition adds a condition, or replaces the one of its type. Its time changes only with its status.
func SetCondition(list []Condition, c Condition, now time.Time) []Condition {
	now = now.UTC().Truncate(time.Second)
	c.LastTransitionTime = &now
	for i := range list {
		if list[i].Type != c.Type {
			continue
		}
		if list[i].Status == c.Status {
			c.LastTransitionTime = list[i].LastTransitionTime
		}
		list[i] = c
		return list
	}
	return append(list, c)
}

// SweepStatus is what the sweep controller reports of a sweep.
type SweepStatus struct {
	Phase              string         `json:"phase,omitempty"`
	TotalVariations    int            `json:"totalVariations,omitempty"`
	MaxTotalRuns       int            `json:"maxTotalRuns,omitempty"`
	CompletedRuns      int            `json:"completedRuns"`
	FailedRuns         int            `json:"failedRuns"`
	RunStates          *RunStates     `json:"runStates,omitempty"`
	RunEpoch           string         `json:"runEpoch,omitempty"`
	StartedAt          *time.Time     `json:"startedAt,omitempty"`
	CompletedAt        *time.Time     `json:"completedAt,omitempty"`
	CompletionTime     *time.Time     `json:"completionTime,omitempty"`
	APIURL             string         `json:"apiUrl,omitempty"`
	ObservedGeneration int64          `json:"observedGeneration,omitempty"`
	RuntimeRef         *RuntimeRef    `json:"runtimeRef,omitempty"`
	CurrentCell        *CurrentCell   `json:"currentCell,omitempty"`
	CurrentChildRef    *ChildRef      `json:"currentChildRef,omitempty"`
	Aggregation        *Aggregation   `json:"aggregation,omitempty"`
	AggregateRef       *AggregateRef  `json:"aggregateRef,omitempty"`
	Aggregate          map[string]any `json:"aggregate,omitempty"`
	ResultsAvailable   *bool          `json:"resultsAvailable,omitempty"`
	Error              string         `json:"error,omitempty"`
	Conditions         []Condition    `json:"conditions,omitempty"`
}

// RunStates counts the runs of a sweep by their state.
type RunStates struct {
	Pending   int `json:"pending"`
	Running   int `json:"running"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
}

// RuntimeRef is where the sweep controller runs.
type RuntimeRef struct {
	JobSetName          string `json:"jobSetName"`
	SweepControllerHost string `json:"sweepControllerHost"`
}

// CurrentCell is the variation and trial that runs.
type CurrentCell struct {
	VariationIndex int    `json:"variationIndex"`
	Label          string `json:"label"`
	Trial          int    `json:"trial"`
	Converged      bool   `json:"converged"`
}

// ChildRef is the job that runs.
type ChildRef struct {
	Name  string `json:"name"`
	Index int    `json:"index"`
	Label string `json:"label"`
}

// Aggregation is how far the documents of all runs are.
type Aggregation struct {
	Phase       string     `json:"phase"`
	CompletedAt *time.Time `json:"completedAt,omitempty"`
	Error       string     `json:"error,omitempty"`
}

// AggregateRef is where they are served.
type AggregateRef struct {
	ResultsServerHost string `json:"resultsServerHost"`
	Port              int    `json:"port"`
	APIPath           string `json:"apiPath"`
	URL               string `json:"url"`
}
