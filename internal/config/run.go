package config

import (
	"slices"
	"time"

	"aiperf/internal/config/env"
	"aiperf/internal/config/pluginfile"
	"aiperf/internal/config/settings"
)

// Run is the resolved configuration of one benchmark.
type Run struct {
	// Models are the model names, at least one.
	Models []string
	// ModelSelection is "round_robin", "random" or "weighted".
	ModelSelection string
	// ModelWeights are the shares of Models where they are chosen by weight; nil: they are not.
	ModelWeights []float64
	Endpoint     Endpoint
	Tokenizer    Tokenizer
	Dataset      Dataset
	// Phases run in order; at least one is a profiling phase.
	Phases []Phase
	// SLOs are the goodput thresholds in display units, in the order of first mention.
	SLOs          []SLO
	Artifacts     Artifacts
	ServerMetrics ServerMetrics
	GPU           GPU
	Network       Network
	OTel          OTel
	MLflow        MLflow
	WandB         WandB
	// Plugins are the outside programs that get the finished run.
	Plugins Plugins
	UI      UI
	// LogLevel is one of TRACE, DEBUG, INFO, NOTICE, WARNING, SUCCESS, ERROR, CRITICAL.
	LogLevel string
	// RandomSeed is nil when the user gave none; 0 is a seed.
	RandomSeed *uint64
	// FailedRequestThreshold is the share (0 to 1) of failed requests above which the run aborts.
	FailedRequestThreshold *float64
	// FailFast ends a run whose server was never reached, and pauses between connections while all of them fail.
	FailFast bool
	Series   Series
	// Accuracy is nil where no answers are graded.
	Accuracy *Accuracy
	// Serve is nil where the server is up already.
	Serve *Serve
	// Fleet is nil where one process makes the load.
	Fleet *Fleet `carry:"-"`
	// Probes says how the runs of a search are made.
	Probes  Probes
	Workers Workers
	// MetricsListen is where the run's own figures are served, HOST:PORT; "" for nowhere.
	MetricsListen string
	Web           Web
	// TimestampSource is "auto", "kernel" or "user".
	TimestampSource string
	// RequireValid makes a verdict other than valid a failure.
	RequireValid bool
	// FailIf are conditions under which a result is a failure, as written.
	FailIf []string
	// CLICommand is the recorded command line, redacted.
	CLICommand string
	Env        env.Values

	// Submission is nil without a scenario.
	Submission *Submission
	// Asked holds what the user gave, for exports of the configuration.
	Asked *settings.Settings `carry:"-"`
}

// Accuracy is a benchmark whose problems are sent, and whose answers are graded.
type Accuracy struct {
	// Benchmark is its name, Grader that of the grader.
	Benchmark, Grader string
	// Tasks are those that are asked; nil: all.
	Tasks []string
	// Data is a file or folder with the problems; "" for the hub's cache, or with Download for the hub.
	Data     string
	Download bool
	// Shots is the number of worked examples, Reasons asks for reasoning; nil: as the benchmark has it.
	Shots   *int
	Reasons *bool
	// System replaces the system message of the benchmark, an empty one by none; nil does not.
	System *string
	// MaxTokens replaces the limit of the benchmark; nil does not.
	MaxTokens *int
	// Repeats is how often each problem is asked.
	Repeats int
	Verbose bool
	// AllowCode allows programs that a model wrote to be run.
	AllowCode bool
}

// Web is where browsers and programs can watch a run.
type Web struct {
	// Page is the address of the live page, API that of the HTTP API, both HOST:PORT; "" for nowhere.
	Page, API string
	// APIOptional reports that the port of the API is that of an environment: a run does without it where it is taken.
	APIOptional bool
}

// Plugins are outside programs: exporters get the results of a run, metrics its records.
type Plugins struct{ Exporters, Metrics []pluginfile.Program }

// Profiling returns the first profiling phase.
func (r *Run) Profiling() *Phase {
	if all := r.PhasesOf(ProfilingPhase); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Warmup returns the first warm-up phase, nil if there is none.
func (r *Run) Warmup() *Phase {
	if all := r.PhasesOf(WarmupPhase); len(all) > 0 {
		return all[0]
	}
	return nil
}

// PhasesOf returns the phases of a kind in their order.
func (r *Run) PhasesOf(kind PhaseKind) []*Phase {
	var list []*Phase
	for i := range r.Phases {
		if r.Phases[i].Kind == kind {
			list = append(list, &r.Phases[i])
		}
	}
	return list
}

// Threshold returns the share of failed requests above which a phase ends the run, nil for none. That of the run is for
// profiling phases.
func (r *Run) Threshold(p *Phase) *float64 {
	if p.FailedRequestThreshold == nil && p.Kind == ProfilingPhase {
		return r.FailedRequestThreshold
	}
	return p.FailedRequestThreshold
}

// AnyProfiling reports whether some profiling phase is as asked.
func (r *Run) AnyProfiling(is func(*Phase) bool) bool {
	return slices.ContainsFunc(r.PhasesOf(ProfilingPhase), is)
}

// Common returns what all pointers point to; nil if they differ or one is nil.
func Common[T comparable](list []*T) *T {
	for _, p := range list {
		if p == nil || *p != *list[0] {
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// Cap returns the largest concurrency of the profiling phases; nil if one of them has none.
func (r *Run) Cap() *int {
	var most *int
	for _, p := range r.PhasesOf(ProfilingPhase) {
		if p.Concurrency == nil {
			return nil
		}
		if most == nil || *p.Concurrency > *most {
			most = p.Concurrency
		}
	}
	return most
}

// Submission reports whether a run keeps its scenario.
type Submission struct {
	Scenario string
	// Reasons are why the run cannot be handed in; empty if it can.
	Reasons []string
}

// SLO is one goodput threshold.
type SLO struct {
	Tag   string
	Value float64
}

// UI holds what decides how progress is shown.
type UI struct {
	// Mode is "dashboard", "simple" or "none"; empty when the user did not choose.
	Mode string
	// Verbose is set by -v and -vv.
	Verbose bool
	// Report is "short" or "full"; empty when the user did not choose.
	Report string
	// StatsInterval is the period of the realtime statistics; nil is the mode's own, 0 is off.
	StatsInterval *time.Duration
}

// Pick is the mode for an output that is a terminal or not, and for one run or several.
func (u UI) Pick(terminal, several bool) string {
	switch {
	case u.Mode != "":
		return u.Mode
	case !terminal:
		return "none"
	case u.Verbose || several:
		return "simple"
	default:
		return "dashboard"
	}
}

// Full reports whether all tables are printed at the end, for an output that is a terminal or not.
func (u UI) Full(terminal bool) bool {
	if u.Report != "" {
		return u.Report == "full"
	}
	return !terminal
}

// Workers holds the limits of logical workers.
type Workers struct {
	// Min, Max and RecordProcessors are nil when the user gave none.
	Min, Max, RecordProcessors *int
}

// LogicalWorkers is the number of logical workers on a machine with that many CPUs: the user's own
// number or max(1, min(int(cpus×factor)−1, cap)), never more than the concurrency, and at least the
// user's least number. Without a number of the user's there are as many as it takes for the connections
// of the concurrency, so that the limit of a worker does not hold requests back.
func (r *Run) LogicalWorkers(cpus int) int {
	n := max(1, min(int(float64(cpus)*r.Env.Worker.CPUUtilizationFactor)-1, r.Env.Worker.MaxWorkersCap))
	if r.Workers.Max != nil {
		n = *r.Workers.Max
	}
	if most := r.Cap(); most != nil {
		n = min(n, *most)
	}
	if r.Workers.Max == nil {
		limit := max(1, r.Env.HTTP.ConnectionLimit)
		n = max(n, (r.InFlight()+limit-1)/limit)
	}
	if r.Workers.Min != nil {
		n = max(n, *r.Workers.Min)
	}
	return n
}

// InFlight is the most requests that a phase can have in flight, as far as options bound it; 0 = they do not.
func (r *Run) InFlight() int {
	most := 0
	for i := range r.Phases {
		p := &r.Phases[i]
		most = max(most, p.Users)
		if p.Concurrency != nil {
			most = max(most, *p.Concurrency)
		}
	}
	return most
}

// MetricFacts is what resolution needs to know about a metric.
type MetricFacts struct {
	// Tag is the metric's tag, also where it was found by an alias.
	Tag string
	// Unit is the unit in which a time is displayed; 0 for metrics that are not times.
	Unit time.Duration
	// Derived metrics are computed from aggregates and have no value for a single request.
	Derived bool
}
