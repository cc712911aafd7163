package config

import (
	"math"
	"net/netip"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/workload/recipe"
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
	// Phases run in order: the warm-up first, if there is one, then profiling.
	Phases []Phase
	// SLOs are the goodput thresholds in display units, in the order of first mention.
	SLOs          []SLO
	Artifacts     Artifacts
	ServerMetrics ServerMetrics
	GPU           GPU
	Network       Network
	OTel          OTel
	MLflow        MLflow
	UI            UI
	// LogLevel is one of TRACE, DEBUG, INFO, NOTICE, WARNING, SUCCESS, ERROR, CRITICAL.
	LogLevel string
	// RandomSeed is nil when the user gave none; 0 is a seed.
	RandomSeed *uint64
	// FailedRequestThreshold is the share (0 to 1) of failed requests above which the run aborts.
	FailedRequestThreshold *float64
	// FailFast ends a run whose server was never reached, and pauses between connections while all of them fail.
	FailFast bool
	Series   Series
	Workers  Workers
	// MetricsListen is where the run's own figures are served, HOST:PORT; "" for nowhere.
	MetricsListen string
	// TimestampSource is "auto", "kernel" or "user".
	TimestampSource string
	// RequireValid makes a verdict other than valid a failure.
	RequireValid bool
	// FailIf are conditions under which a result is a failure, as written.
	FailIf []string
	// CLICommand is the recorded command line, redacted.
	CLICommand string
	Env        Env

	// Submission is nil without a scenario.
	Submission *Submission
	// parsed tells InputConfig which values the user gave.
	parsed *Parsed
}

// Profiling is the profiling phase.
func (r *Run) Profiling() *Phase {
	for i := range r.Phases {
		if r.Phases[i].Kind == ProfilingPhase {
			return &r.Phases[i]
		}
	}
	return nil
}

// Warmup is the warm-up phase, nil if there is none.
func (r *Run) Warmup() *Phase {
	for i := range r.Phases {
		if r.Phases[i].Kind == WarmupPhase {
			return &r.Phases[i]
		}
	}
	return nil
}

// Header is one request header that the user asked for.
type Header struct{ Name, Value string }

// Endpoint says what is asked and how.
type Endpoint struct {
	// Type is the canonical endpoint type, such as "chat".
	Type string
	// URLs are base URLs with a scheme, otherwise as given; they may hold user information.
	URLs []string
	// URLStrategy is "round_robin".
	URLStrategy string
	// Plugin is the command of the program that is the endpoint, "" = none; Type is then "plugin".
	Plugin string
	// CustomPath replaces the type's own path when it is not nil.
	CustomPath *string
	// Streaming is off for types that cannot stream, whatever was asked.
	Streaming bool
	// TimeoutSeconds bounds a whole request; always above 0.
	TimeoutSeconds float64
	// APIKey is a secret: never written, logged or shown.
	APIKey string
	// Headers are the user's own, unique by name ignoring case; values may be secret.
	Headers []Header
	// Extra is merged into every body.
	Extra               Object
	UseLegacyMaxTokens  bool
	UseServerTokenCount bool
	// ChunkUsage asks for usage with every chunk of a stream.
	ChunkUsage bool
	// ConnectionReuse is "pooled", "never" or "sticky-user-sessions".
	ConnectionReuse string
	// SessionHeader is the name of the header that carries the correlation id.
	SessionHeader string
	// SourceAddresses are those that connections start from; none leaves the choice to the system.
	SourceAddresses []netip.Addr
	// Form asks for multipart bodies; types that know no others send them anyway.
	Form bool
	// DownloadVideo fetches generated videos.
	DownloadVideo bool
	// GRPC: calls of gRPC carry the requests.
	GRPC bool
	// HTTP2 speaks HTTP/2 alone; UnixSocket is the path that every connection goes through, "" = TCP.
	HTTP2      bool
	UnixSocket string
	TLS        TLS
	// Signing is nil when requests are not signed.
	Signing *Signing
	// SageMaker is nil for other servers.
	SageMaker *SageMaker
	// Ready is nil when the server is not asked whether it is ready.
	Ready *Readiness
	// ResetCache and Profiler are nil when these hooks are off.
	ResetCache *CacheReset
	Profiler   *Profiler
}

// TLS names PEM files; empty = none.
type TLS struct{ CAFile, CertFile, KeyFile string }

// Signing is AWS signature version 4.
type Signing struct{ Region, Service, Profile string }

// SageMaker says what of an endpoint is invoked; empty = whatever it takes.
type SageMaker struct{ EndpointName, TargetModel, InferenceComponent, TargetVariant string }

// Readiness says how the server is waited for.
type Readiness struct {
	// Mode is "models", "inference" or "both".
	Mode              string
	Timeout, Interval time.Duration
}

// CacheReset is a request before the run: the server forgets its prefix cache.
type CacheReset struct {
	Path    string
	Timeout time.Duration
	// Retry is how long a busy server is asked again.
	Retry time.Duration
}

// Profiler starts and stops the server's profiler around profiling.
type Profiler struct {
	StartPath, StopPath string
	Timeout             time.Duration
}

// Tokenizer names the vocabulary that counts. An empty name means that none is needed.
type Tokenizer struct {
	// Name is the user's own choice or that of the first model.
	Name string
	// Given reports that the user chose it.
	Given bool
	// ByModel names the vocabulary of each model in their order.
	ByModel []string
	// Revision is the branch, tag or commit of a tokenizer from the hub.
	Revision string
	// ChatTemplate counts input as the model's chat template spells it.
	ChatTemplate bool
}

// DatasetKind is where conversations come from.
type DatasetKind string

// The kinds of dataset.
const (
	SyntheticDataset DatasetKind = "synthetic"
	FileDataset      DatasetKind = "file"
	PublicDataset    DatasetKind = "public"
)

// Dataset says which conversations are made or read.
type Dataset struct {
	// MaxTraces is the number of recordings to read, MaxContext leaves out longer ones; 0 is no limit.
	MaxTraces, MaxContext int
	// ThinkOnly takes the recorded think time for the delay, MaxDelayMS caps the delays of recordings; nil is no cap.
	ThinkOnly  bool
	MaxDelayMS *float64
	Kind       DatasetKind
	// Path and Format belong to a file; an empty format means that it is detected.
	Path, Format string
	// Public names the published data set, where that is the kind.
	Public Public
	// BlockSize is the number of tokens of a hash id of a trace; 0 is the format's own.
	BlockSize int
	// IgnoreTimes forgets recorded times and delays.
	IgnoreTimes bool
	// Synthesis changes a trace.
	Synthesis Synthesis
	// Entries is the number of conversations to generate (unused for files).
	Entries int
	// Sessions is the number of sessions to run, nil if the user gave none.
	Sessions *int64
	// Sampling is "sequential", "random" or "shuffle"; empty means the source's own preference.
	Sampling string
	// ISL is the input length of a turn in tokens.
	ISL recipe.Normal
	// OSL is the requested output length; nil leaves the limit out of the request.
	OSL *recipe.Normal
	// SequenceDistribution draws both lengths together; when present it replaces ISL and OSL.
	SequenceDistribution []recipe.LengthPair
	// Batches are the numbers of contents of each modality in a turn.
	Batches BatchSizes
	// Rankings is nil where generated turns have prompts.
	Rankings *recipe.Rankings
	// Images, Audio and Video are nil where generated turns have none.
	Images *recipe.Pictures
	Audio  *recipe.Sounds
	Video  *Video
	// Turns is the number of turns of a conversation.
	Turns recipe.Normal
	// TurnDelayMS is the think time before a turn that is not the first, in milliseconds.
	TurnDelayMS recipe.Normal
	// TurnDelayRatio multiplies every delay.
	TurnDelayRatio float64
	// PrefixPoolSize shared prefixes of PrefixLength tokens go before first turns; 0 means none.
	PrefixPoolSize, PrefixLength int
	// SharedSystemPromptLength is the length in tokens of the generated system prompt; 0 means none.
	SharedSystemPromptLength int
	// UserContextPromptLength is the length in tokens of each entry's own context; 0 means none.
	UserContextPromptLength int
	// Corpus is "sonnet" or "random", the tokens of the vocabulary; special ones take part with the style
	// "sglang".
	Corpus, CorpusStyle string
	// Range draws lengths uniformly around their means; nil: not.
	Range *LengthRange
	// CacheBust is the target of marks against caches; empty is none.
	CacheBust string
	// StripImages sends an image that repeats within a session only once.
	StripImages bool
	// Baseten belongs to that format alone.
	Baseten recipe.Baseten
	// SystemPrompt is a verbatim system text; nil means none.
	SystemPrompt *string
}

// PhaseKind tells warm-up from what is measured.
type PhaseKind string

// The kinds of phase.
const (
	WarmupPhase    PhaseKind = "warmup"
	ProfilingPhase PhaseKind = "profiling"
)

// Mode is how a phase decides when to send.
type Mode string

// The timing modes.
const (
	// Burst sends as soon as a slot is free.
	Burst Mode = "concurrency_burst"
	// Rate sends by an arrival process.
	Rate Mode = "request_rate"
	// UserCentric gives every user a rate of its own.
	UserCentric Mode = "user_centric"
	// AgenticReplay plays recorded agents, one whole tree of sessions per slot of the concurrency.
	AgenticReplay Mode = "agentic_replay"
	// FixedSchedule replays recorded timestamps.
	FixedSchedule Mode = "fixed_schedule"
)

// The arrival patterns of Rate.
const (
	PatternConstant = "constant"
	PatternPoisson  = "poisson"
	PatternGamma    = "gamma"
)

// Unlimited is a wait without end.
const Unlimited = load.Infinite

// Phase is one stretch of load. It ends with the first of its stop conditions.
type Phase struct {
	Name string
	Kind PhaseKind
	Mode Mode
	// Rate is requests per second; Rate mode only. Of an infinite one every arrival is due at the start: see
	// [Phase.AtOnce].
	Rate float64
	// Pattern is "constant", "poisson" or "gamma"; Rate mode only.
	Pattern string
	// Smoothness is the gamma shape; above 0 with PatternGamma, else 0.
	Smoothness float64
	// Concurrency caps sessions in flight; nil is no cap.
	Concurrency *int
	// Simultaneous lets the first requests leave together; Burst mode with a concurrency only.
	Simultaneous bool
	// Prefill caps requests before their first content; nil is no cap.
	Prefill *int
	// Requests, Sessions and Duration are the stop conditions; at least one is set, but with a Schedule.
	Requests *int64
	Sessions *int64
	Duration *time.Duration
	// Grace is the wait for responses after Duration; Unlimited possible; meaningless without Duration.
	Grace time.Duration
	// Series is a rate that changes instead of Rate; Rate mode only.
	Series []RatePoint
	// Lanes is set in AgenticReplay mode.
	Lanes *Lanes
	// Schedule is set in FixedSchedule mode, which ends with the recording.
	Schedule *Schedule
	// Users is their number; UserCentric mode only, where Rate is that of all of them together.
	Users int
	// The ramps let a limit or the rate grow to its value; 0 is no ramp.
	ConcurrencyRamp, PrefillRamp, RateRamp time.Duration
	// Cancellation is nil when no request is cancelled on purpose.
	Cancellation *load.Cancellation
}

// AtOnce reports whether an infinite rate leaves it to the limits when requests are sent.
func (ph *Phase) AtOnce() bool { return ph.Mode == Rate && math.IsInf(ph.Rate, 1) }

// PlannedRate is requests per second; 0 where replies and limits decide.
func (ph *Phase) PlannedRate() float64 {
	if ph.AtOnce() {
		return 0
	}
	return ph.Rate
}

// SLO is one goodput threshold.
type SLO struct {
	Tag   string
	Value float64
}

// ServerMetrics says what is collected from the servers alongside the load.
type ServerMetrics struct {
	Enabled bool
	// Given reports that the user asked for them, which also shows them on the console.
	Given bool
	// URLs are endpoints besides those of the endpoint's own URLs, as the user wrote them.
	URLs []string
	// Formats are the files to write: json, csv, jsonl, parquet.
	Formats []string
}

// GPU says what is collected from GPUs alongside the load.
type GPU struct {
	Enabled bool
	// Given reports that the user asked for telemetry, which also shows it on the console.
	Given bool
	// Exporters are tried beside the default ones.
	Exporters []GPUExporter
	// Collector is "pynvml" or "amdsmi" to read the GPUs of this machine instead of exporters.
	Collector string
	// MetricsFile names further metrics of DCGM; "" for none.
	MetricsFile string
}

// UI holds what decides how progress is shown.
type UI struct {
	// Mode is "simple" or "none"; empty when the user did not choose.
	Mode string
	// Verbose is set by -v and -vv.
	Verbose bool
	// StatsInterval is the period of the realtime statistics; nil is the mode's own, 0 is off.
	StatsInterval *time.Duration
}

// Pick is the mode for an output that is a terminal or not.
func (u UI) Pick(terminal bool) string {
	switch {
	case u.Mode != "":
		return u.Mode
	case terminal:
		return "simple"
	default:
		return "none"
	}
}

// Network says how the network's round trip is known. Nothing set means that it is not.
type Network struct {
	// Automatic measures it each Interval; else Mean is the round trip, if it is not nil.
	Automatic bool
	Interval  time.Duration
	Mean      *time.Duration
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
	if p := r.Profiling(); p != nil && p.Concurrency != nil {
		n = min(n, *p.Concurrency)
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
