// Package env is the table of the AIPERF_* environment variables and reads them.
//
// A row names the field of [Values] that it sets. A row without a field is checked and has no effect, so that an
// environment made for another program is accepted. Variables that set an option are rows here too; their value
// is read by config/settings.
package env

import (
	"time"

	"aiperf/internal/workload/recipe"
)

// Values holds the environment variables that change what this release does. The names are those of the
// variables without their prefix: Env.HTTP.ConnectionLimit is AIPERF_HTTP_CONNECTION_LIMIT.
type Values struct {
	Cluster       Cluster
	HTTP          HTTP
	ServerMetrics ServerMetrics
	GPU           GPU
	Network       Network
	OTel          OTel
	// MLflow bounds the upload to an MLflow server, WandB that to Weights & Biases.
	MLflow   Upload
	WandB    Upload
	Endpoint Endpoint
	Plugin   Plugin
	Accuracy Accuracy
	Chat     Chat
	Dataset  Dataset
	Metrics  Metrics
	UI       UI
	API      API
	Timing   Timing
	Weka     recipe.Weka
	// ContextOverflow says when a context was too long, and the share of such requests that a scenario tolerates.
	ContextOverflow ContextOverflow
	Record          Record
	Service         Service
	Worker          Worker
	Operator        Operator
	Dev             Dev
}

// HTTP tunes connections.
type HTTP struct {
	// ConnectionLimit is the number of open connections per logical worker.
	ConnectionLimit int
	// ConnectLimit is the number of connections that are being opened at a time.
	ConnectLimit     int
	KeepaliveTimeout time.Duration
	// ConnectTimeout bounds the opening of a connection, and again the TLS handshake.
	ConnectTimeout time.Duration
	// SendBuffer and ReceiveBuffer are socket buffer sizes in bytes.
	SendBuffer, ReceiveBuffer int
	TCPKeepCount              int
	TCPKeepIdle               time.Duration
	TCPKeepInterval           time.Duration
	TCPUserTimeout            time.Duration
	UseDNSCache               bool
	DNSCacheTTL               time.Duration
	ForceClose                bool
	SSLVerify                 bool
	// CancellationSendTimeout bounds the sending of a request that is to be cancelled afterwards.
	CancellationSendTimeout time.Duration
	// VideoPollInterval lies between two polls of a video job.
	VideoPollInterval time.Duration
	// IPVersion is "4", "6" or "auto".
	IPVersion string
	// MaxResponseBytes bounds the memory that a reply takes.
	MaxResponseBytes int
	// TrustEnv honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
	TrustEnv bool
	// Further headers that carry the correlation id.
	XSessionID, XSMGRoutingKey, XDynamoSessionID, XSessionAffinity bool
}

// ServerMetrics tunes the collection of server metrics.
type ServerMetrics struct {
	CollectionInterval, CollectionFlushPeriod time.Duration
	ReachabilityTimeout, ScrapeReadTimeout    time.Duration
	// ScrapeTimeout bounds the scrapes that something waits for; 0 is the usual bound of each.
	ScrapeTimeout           time.Duration
	CSVComments, LegacyJSON bool
	// Bounds adds the limits within which each estimated percentile must lie.
	Bounds bool
	// Namespace is the Kubernetes namespace of the run.
	Namespace string
}

// GPU tunes the collection of GPU telemetry.
type GPU struct {
	CollectionInterval, ReachabilityTimeout time.Duration
	// Endpoints are exporters that are tried by default.
	Endpoints []string
	// FinalGrace is how long after the end of the load an energy counter is still read.
	FinalGrace time.Duration
	// ShutdownTimeout bounds the end of a local collector.
	ShutdownTimeout time.Duration
	// VendorScoped asks for vendor-prefixed names of fields.
	VendorScoped bool
}

// Network tunes the probes of the network's round trip.
type Network struct {
	// MinSamples is how many probes an estimate needs; TopUpTimeout bounds the time after the load in which
	// missing ones are generated for.
	MinSamples                   int
	ConnectTimeout, TopUpTimeout time.Duration
}

// Endpoint shapes request bodies.
type Endpoint struct {
	// ForceContentParts writes message content as a list even for a single text.
	ForceContentParts bool
}

// Accuracy bounds the grading of answers.
type Accuracy struct {
	// CancelWait is the wait for graded results after an interrupt.
	CancelWait time.Duration
	// LCBRelease is the release of the benchmark of code generation.
	LCBRelease string
	// MaxGrade bounds the time for one answer that is a program.
	MaxGrade time.Duration
}

// Plugin bounds the calls of outside programs, and says where they are found.
type Plugin struct {
	CallTimeout, StartTimeout time.Duration
	// Path are folders with plug-ins, separated as in PATH.
	Path string
	// Fatal makes an exporter or a metric that fails a failure of the run.
	Fatal bool
}

// Chat bounds the chat command's wait for a connection and for more of a reply.
type Chat struct{ ConnectTimeout, ReadTimeout time.Duration }

// Dataset bounds what is made of a dataset.
type Dataset struct {
	// InputsMaxBytes is the size of inputs.json above which it is left out; 0 means no limit.
	InputsMaxBytes int64
	// MaxLineBytes bounds a line of an input file.
	MaxLineBytes int64
	// BasetenSessionColumn names the column that groups the rows of a baseten trace; empty: the one that
	// is there.
	BasetenSessionColumn string
	// TraceLab says how the sub-agents of a tracelab trace are found.
	TraceLab recipe.TraceLab
	// PublicTimeout bounds the download of a public data set, PublicCacheDir keeps it.
	PublicTimeout  time.Duration
	PublicCacheDir string
	// MediaTimeout bounds the download of one media file, MediaParallel how many run at a time.
	MediaTimeout  time.Duration
	MediaParallel int
}

// Metrics holds thresholds of metrics.
type Metrics struct {
	UsagePctDiffThreshold        float64
	OSLMismatchPctThreshold      float64
	OSLMismatchMaxTokenThreshold int
	ExportFlushInterval          time.Duration
	ListenLinger                 time.Duration
}

// API tunes the HTTP API.
type API struct {
	// Origins may call it from their own pages.
	Origins []string
	// Shutdown bounds its end, Grace is how long it stays after the run, ShutdownDelay how long after a request to end.
	Shutdown, Grace, ShutdownDelay time.Duration
	// Sockets is the largest number of WebSocket clients.
	Sockets int
}

// UI tunes what is shown.
type UI struct {
	// RealtimeMetricsInterval is nil when unset: 5 s on the dashboard, 30 s else.
	RealtimeMetricsInterval *time.Duration
	MinUpdatePercent        float64
	// LogRefresh and SpinnerRefresh lie between two frames of the dashboard, Notice is how long its notices stay.
	LogRefresh, SpinnerRefresh, Notice time.Duration
	ConsoleExportWidth                 int
	// ConsoleGroups are the metric groups printed at the end.
	ConsoleGroups []string
}

// Timing tunes the load generator.
type Timing struct {
	CancelDrainTimeout time.Duration
	// MaxCatchup is the lateness that is generated for.
	MaxCatchup             time.Duration
	RateRampUpdateInterval time.Duration
	// DAGFailFast ends a run at the first failed request of a child session.
	DAGFailFast bool
}

// ContextOverflow recognises requests whose context was too long.
type ContextOverflow struct {
	Substrings []string
	RateLimit  float64
}

// Upload bounds an upload after the run.
type Upload struct{ Timeout time.Duration }

// OTel tunes the pushes to an OpenTelemetry collector.
type OTel struct {
	// FlushInterval lies between two pushes, RequestTimeout bounds one.
	FlushInterval, RequestTimeout time.Duration
	// MaxBatch records are added to the figures at the latest when so many wait; MaxBuffered wait at most, more are
	// left out.
	MaxBatch, MaxBuffered int
}

// Record tunes the making and writing of records.
type Record struct {
	ProcessRecordsTimeout time.Duration
	// CompletionStallTimeout is how long finished requests may wait without any of them becoming a record; 0 is no
	// limit. CompletionStallCheckInterval lies between two looks.
	CompletionStallTimeout, CompletionStallCheckInterval time.Duration
	// RawMaxBytes and OutputsMaxBytes are the sizes of the raw export and of outputs.json beyond which
	// requests are left out; 0 means no limit.
	RawMaxBytes, OutputsMaxBytes int64
}

// Service bounds the steps of a run.
type Service struct {
	// ProfileCancelTimeout is the time for results after the first interrupt.
	ProfileCancelTimeout    time.Duration
	ProfileConfigureTimeout time.Duration
	// TokenizerPreloadTimeout bounds how long a tokenizer may take to be found, fetched and loaded.
	TokenizerPreloadTimeout time.Duration
	// TokenizerSkipPreload leaves out the look-ups before that: no search for another name, no bound in time.
	TokenizerSkipPreload bool
	// HeartbeatInterval is the longest time between two reports of an agent.
	HeartbeatInterval time.Duration
	// Health has an agent answer whether it lives, at HealthHost and HealthPort.
	Health     bool
	HealthHost string
	HealthPort int
}

// Worker sizes the pool of logical workers.
type Worker struct {
	CPUUtilizationFactor float64
	MaxWorkersCap        int
	// MinAliveFraction is the share of the agents below which a run ends; 0 = it goes on with those that are left.
	MinAliveFraction float64
	Clock            WorkerClock
}

// WorkerClock says how the clocks of agents are compared with that of their coordinator.
type WorkerClock struct {
	// Probes are made at a time, and more until MinSamples count, within ProbeBudget.
	Probes, MinSamples        int
	ProbeTimeout, ProbeBudget time.Duration
	// SlowestAnswer is the longest time of a probe that counts.
	SlowestAnswer time.Duration
	// Window is how many probes are kept, ResetAfter how many are left out in a row until those before are forgotten.
	Window, ResetAfter int
	// LargestOffset refuses a clock. A probe that is further from the median than OutlierFactor median deviations and
	// OutlierFloor is left out.
	LargestOffset, OutlierFloor time.Duration
	OutlierFactor               float64
	// Remeasure lies between two comparisons; 0 = never while a phase goes on.
	Remeasure time.Duration
}

// Dev holds developer switches. The two Show switches are already off when Mode is.
type Dev struct {
	Mode                    bool
	ShowInternalMetrics     bool
	ShowExperimentalMetrics bool
}

// Cluster is what the manifests of a benchmark in Kubernetes tell its pods.
type Cluster struct {
	JobID, JobUID, PodName, PodIndex, ControllerHost string
	// Managed pods run one benchmark: what repeats it is an AIPerfSweep. Controller is the pod of the coordinator.
	Managed, Controller bool
	// Queue and PriorityClass are those of Kueue for benchmarks that name none.
	Queue, PriorityClass string
	// Image and PullPolicy are those of benchmarks that name no image; "" is none.
	Image, PullPolicy string
}
