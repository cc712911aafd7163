package progress

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

// Observer follows runs, one after the other. The calls for a run come one at a time on one goroutine: Begin first, End
// last. A run that fails before its first request has none of them. What an observer cannot pass on in time it drops,
// counts and reports; its failures are lines of the log and never decide how a run ends.
type Observer interface {
	// Begin is called before the first request and returns what the observer needs of the run.
	Begin(*Run) Needs
	// Show is called a few times a second with the newest snapshot.
	Show(*Snapshot)
	// End is called after the files of the run are written.
	End(*Ending)
}

// RecordObserver also takes the finished requests.
type RecordObserver interface {
	Observer
	// Record takes each request that succeeded or failed, warm-up included, from several goroutines at once, between
	// Begin and End. It is part of the making of records, so it must return at once. The record is shared: it must not
	// be changed, and it is valid during the call, what it points to stays.
	Record(*record.Record)
}

// PhaseObserver also hears of each change of a phase's state.
type PhaseObserver interface {
	Observer
	PhaseChanged(*Phase)
}

// Flusher is an observer that takes time to pass on what it has.
type Flusher interface {
	Observer
	// Flush is called once there are no more records, with the last snapshot, while the files of the run are written.
	// The run waits for it, so it bounds itself. A run that fails under way has none.
	Flush(*Snapshot)
}

// Uploader is an observer that is still busy after End.
type Uploader interface {
	Observer
	// Wait waits until the upload has ended, or gives it up when stop is closed meanwhile.
	Wait(stop <-chan struct{})
}

// Needs is what an observer needs beyond counts. Computing it takes time, so only what somebody needs is computed.
type Needs struct {
	// Metrics are the tags of the metrics whose current figures are needed.
	Metrics []string
	// Servers asks for the figures of the servers.
	Servers bool
	// Every is the time between two computations of these; 0 is for none of them.
	Every time.Duration
	// Client asks for the report on the client itself, once a second.
	Client bool
	// Errors asks for the kinds of errors, GPUs for the values of the GPUs.
	Errors, GPUs bool
}

// And returns what two observers need together.
func (n Needs) And(o Needs) Needs {
	n.Metrics = slices.Concat(n.Metrics, o.Metrics)
	slices.Sort(n.Metrics)
	n.Metrics = slices.Compact(n.Metrics)
	n.Servers, n.Client = n.Servers || o.Servers, n.Client || o.Client
	n.Errors, n.GPUs = n.Errors || o.Errors, n.GPUs || o.GPUs
	if n.Every == 0 || o.Every > 0 && o.Every < n.Every {
		n.Every = o.Every
	}
	return n
}

// Run is what is known of a run before its first request.
type Run struct {
	// Label tells the runs of a series apart; "" for a run that stands alone.
	Label, BenchmarkID string
	// Version is that of this program, Command the command line.
	Version, Command string
	Models           []string
	EndpointType     string
	Streaming        bool
	// BaseURLs are the servers as the user named them, URLs what is requested, paths included.
	BaseURLs, URLs []string
	// Phases are the phases of the run in their order.
	Phases []Plan
	// Dir is the folder of the run's files as a path, which is not redacted.
	Dir string
	// Report is the name of the HTML report in Dir, "" where there will be none.
	Report string
	// Config is the configuration as exports show it, Info what places the run in its series.
	Config, Info artifact.Object
	// Metrics are those that the run measures.
	Metrics *metrics.Set
	// Conversations are those of the data set.
	Conversations int
	// Servers are the metrics pages of servers, GPUs the sources of GPU telemetry.
	Servers, GPUs Sources
	// Log returns a logger of the run for a component.
	Log func(component string) *slog.Logger
}

// Sources are the places that a run collects from, without secrets.
type Sources struct{ Configured, Reachable []string }

// Profiling returns the plans of the profiling phases.
func (r *Run) Profiling() []Plan {
	return slices.DeleteFunc(slices.Clone(r.Phases), func(p Plan) bool { return p.Kind != ProfilingKind })
}

// shortID is how much of a benchmark's id stands in names.
const shortID = 8

// ShortID returns the first characters of the benchmark's id.
func (r *Run) ShortID() string { return r.BenchmarkID[:min(shortID, len(r.BenchmarkID))] }

// UploadName returns the name of the run on a server: the user's own, with the label of the run in a series, or one
// made of the benchmark's id.
func (r *Run) UploadName(own string) string {
	if own != "" && r.Label != "" {
		return own + "-" + r.Label
	}
	return cmp.Or(own, "aiperf-"+r.ShortID())
}

// The kinds of phases.
const (
	WarmupKind    = record.PhaseWarmup
	ProfilingKind = record.PhaseProfiling
)

// Plan is what a phase is asked to do; nil is no limit.
type Plan struct {
	Name string
	// Kind is [WarmupKind] or [ProfilingKind], Type the kind of load: concurrency, poisson, fixed_schedule …
	Kind, Type string
	// Concurrency caps sessions in flight, PrefillConcurrency requests before their first content.
	Concurrency, PrefillConcurrency *int
	Requests                        *int64
	Duration                        *time.Duration
	// Grace is the wait for replies after Duration; nil without an end.
	Grace *time.Duration
	// Rate is requests per second; 0 where replies and limits decide.
	Rate float64
}

// PhaseState is how far a phase is. Being cancelled is a flag beside it.
type PhaseState string

// The states of a phase.
const (
	PhaseCreated         PhaseState = "created"
	PhaseStarted         PhaseState = "started"
	PhaseSendingComplete PhaseState = "sending_complete"
	PhaseComplete        PhaseState = "complete"
)

// PhaseStates returns the states in order.
func PhaseStates() []PhaseState {
	return []PhaseState{PhaseCreated, PhaseStarted, PhaseSendingComplete, PhaseComplete}
}

// Phase is where a phase stands at the instant of a snapshot. Expectations of 0 are not set.
type Phase struct {
	// Index is that of the phase's plan in [Run].
	Index      int
	Name, Kind string
	State      PhaseState

	// Elapsed is the age of the phase, at its end if it has ended, Draining the time since the end of sending,
	// GraceLeft the time until the requests in flight are cut off, 0 = never.
	Elapsed, Draining, GraceLeft time.Duration

	ExpectedRequests, ExpectedSessions int64
	ExpectedDuration                   time.Duration
	// Progress is how much of the phase is done, 0 to 1, by the stop condition that is closest, Remaining the estimated
	// time to its end; both are -1 as long as they are unknown.
	Progress  float64
	Remaining time.Duration

	// RequestsCompleted are those that returned and were not cut off, failures included; RequestsCancelled those cut
	// off.
	RequestsSent, RequestsCompleted, RequestsCancelled, RequestErrors int64
	SentSessions, CompletedSessions, CancelledSessions                int64
	// TotalSessionTurns are all turns of the sessions that were started.
	TotalSessionTurns int64
	// SkippedArrivals found no free slot, DroppedArrivals were given up because the client was late.
	SkippedArrivals, DroppedArrivals int64

	// TargetRate is the planned number of requests per second, 0 without one; DeliveredRate and CompletedRate are the
	// numbers sent and completed per second.
	TargetRate, DeliveredRate, CompletedRate float64

	TimeoutTriggered, GracePeriodTimeoutTriggered, WasCancelled bool
	// OldestCutOff is the age of the oldest request at the moment the requests in flight were cut off.
	OldestCutOff time.Duration
	// Search is where the search of the load stands; nil in a phase that searches none.
	Search *Search
}

// The stages of a search.
const (
	SearchDiscovers = "discover"
	SearchHolds     = "sustain"
	SearchIsOver    = "complete"
)

// Search is the search of a phase for the largest load with which a service meets its limits.
type Search struct {
	// Stage is [SearchDiscovers], [SearchHolds] or [SearchIsOver].
	Stage string
	// Variable is what is changed, Value the value that is applied.
	Variable string
	Value    float64
	// LastPassing met all limits, FirstFailing did not; nil as long as there is none.
	LastPassing, FirstFailing *float64
	// Windows were measured so far.
	Windows int
}

// RequestsInFlight returns the number of requests that were sent and have not returned.
func (p *Phase) RequestsInFlight() int64 {
	return p.RequestsSent - p.RequestsCompleted - p.RequestsCancelled
}

// SessionsInFlight returns the number of sessions that were started and neither completed nor cut off.
func (p *Phase) SessionsInFlight() int64 {
	return p.SentSessions - p.CompletedSessions - p.CancelledSessions
}

// Stage is what a run as a whole does.
type Stage string

// The stages of a run.
const (
	Starting  Stage = "starting"
	WarmingUp Stage = "warmup"
	Profiling Stage = "profiling"
	Draining  Stage = "draining"
	Exporting Stage = "exporting"
	Done      Stage = "done"
)

// Snapshot is where a run stands at an instant.
type Snapshot struct {
	At    time.Time
	Stage Stage
	// Elapsed is the time since Begin.
	Elapsed time.Duration
	// Phases are the phases that have begun, in their order.
	Phases []Phase
	// Records counts the records made so far in the profiling phases.
	Records Records
	// Figures are the newest that were computed; nil as long as there are none.
	Figures *Figures
	// Client is the newest report on the client itself; nil as long as there is none.
	Client *Client
	// Judgement is what is to be thought of the run so far; nil as long as there is no report on the client.
	Judgement *Judgement
	// Accuracy is what the answers graded so far amount to; nil where none is graded.
	Accuracy *Accuracy
	// Errors are the kinds of errors of the profiling phases so far, the most frequent first.
	Errors []ErrorKind
	// GPUs are the newest values of the GPUs; nil as long as there are none.
	GPUs []GPU
	// Warnings are the newest warnings and errors in the log, the oldest of them first.
	Warnings []string
}

// Current returns the last phase that has begun, nil before the first.
func (s *Snapshot) Current() *Phase {
	for i := len(s.Phases) - 1; i >= 0; i-- {
		if s.Phases[i].State != PhaseCreated {
			return &s.Phases[i]
		}
	}
	return nil
}

// Measured returns the number of requests of profiling phases that have completed.
func (s *Snapshot) Measured() int64 {
	n := int64(0)
	for i := range s.Phases {
		if p := &s.Phases[i]; p.Kind == ProfilingKind {
			n += p.RequestsCompleted
		}
	}
	return n
}

// Records counts records by their outcome. Skipped ones are neither successes nor errors: their context was too long.
type Records struct{ Successes, Errors, Skipped int64 }

// Requests returns the number of successes and errors.
func (r Records) Requests() int64 { return r.Successes + r.Errors }

// Figures are current figures of the profiling phases. All of them belong to one instant.
type Figures struct {
	At time.Time
	// Elapsed is the time since the first request.
	Elapsed time.Duration
	Records Records
	Metrics []metrics.Metric
	// Servers are the figures of the servers, server_….
	Servers []Figure
}

// Metric returns the figures of a metric, nil if they are unknown.
func (f *Figures) Metric(tag string) *metrics.Metric { return metrics.Find(f.Metrics, tag) }

// Accuracy is what graded answers amount to. Metrics are its figures, which [Figures] has too.
type Accuracy struct {
	Benchmark string
	// Of the Total answers, Correct are right and Unparsed not in the form asked for.
	Correct, Total, Unparsed int64
	Metrics                  []metrics.Metric
}

// Rate returns the share of right answers, 0 of none.
func (a *Accuracy) Rate() float64 {
	if a.Total == 0 {
		return 0
	}
	return float64(a.Correct) / float64(a.Total)
}

// ErrorKind is a kind of errors.
type ErrorKind struct {
	// Code is the HTTP status or 0, Type the name of the error, Message that of the last one, redacted and cut.
	Code          int
	Type, Message string
	Count         int64
}

// GPU is one GPU that is observed.
type GPU struct {
	// Source is where its values come from: a URL without secrets, or the name of a library of this machine.
	Source, Model, UUID, Host string
	Index                     int
	// Memory is the size of its memory in GB; 0 where it is not known.
	Memory float64
	// Values are current ones, and what they amount to since the start of profiling, in the order of the tables at the
	// end of a run.
	Values []GPUValue
}

// GPUValue is one metric of a GPU.
type GPUValue struct {
	Tag, Header, Unit string
	// Now is the newest value.
	Now float64
	// Statistics are over the profiling phases so far; NaN as long as there are none.
	Avg, Min, Max, P50, P90, P99, Std float64
}

// Figure is a measured value. Its name ends with its unit, as Prometheus asks for.
type Figure struct {
	Name string
	// Labels are the values of the figure's labels, in the order of its documentation.
	Labels []string
	Value  float64
}

// Verdicts returns what the verdict on the client can be.
func Verdicts() []string { return []string{"valid", "client_limited", "inconclusive"} }

// Client is the report on the client itself, since the start of the profiling phase.
type Client struct {
	// Verdict is one of [Verdicts], "" as long as there is no request to judge.
	Verdict  string
	Findings []Finding
	// Figures are those of the client's process and of the machine that it runs on, client_… and host_….
	Figures []Figure
}

// Judgement is what is to be thought of a run, so far or at its end.
type Judgement struct {
	// State is its code, Level how it is to be taken (good, plain, warn, bad), Title a few words.
	State, Level, Title string
	// Findings are in order, the worst first.
	Findings []Judged
}

// Judged is one finding.
type Judged struct {
	Code, Kind, Level string
	// Title has a few words, Text sentences, Brief one line, Advice what to do; "" for nothing.
	Title, Text, Brief, Advice string
}

// Brief says on one line what limited the run so far; "" if nothing shows it.
func (j *Judgement) Brief() string {
	if j == nil {
		return ""
	}
	for i := range j.Findings {
		if j.Findings[i].Brief != "" {
			return j.Findings[i].Brief
		}
	}
	return ""
}

// Finding is a reason for a verdict.
type Finding struct {
	Code string
	// LeadsTo is the verdict that the finding leads to.
	LeadsTo string
	// Message says what was seen, Advice what helps.
	Message, Advice string
}

// Ending is how a run ended.
type Ending struct {
	// Last is the last snapshot.
	Last *Snapshot
	// HasResults reports whether the run has results. Metrics are these, Completed is the number of requests in them.
	HasResults bool
	Metrics    []metrics.Metric
	Completed  int64
	// Failed reports that the run ended itself early, that files could not be written or that all requests failed;
	// Cancelled that it was stopped.
	Failed, Cancelled bool
}
