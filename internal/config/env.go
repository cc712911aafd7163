package config

import (
	"time"

	"aiperf/internal/workload/recipe"
)

// Env holds the environment variables that change what this release does. The names are those of the
// variables without their prefix: Env.HTTP.ConnectionLimit is AIPERF_HTTP_CONNECTION_LIMIT.
type Env struct {
	HTTP          HTTPEnv
	ServerMetrics ServerMetricsEnv
	GPU           GPUEnv
	Network       NetworkEnv
	OTel          OTelEnv
	// MLflow bounds the upload to an MLflow server.
	MLflow   UploadEnv
	Endpoint EndpointEnv
	Plugin   PluginEnv
	Chat     ChatEnv
	Dataset  DatasetEnv
	Metrics  MetricsEnv
	UI       UIEnv
	Timing   TimingEnv
	Weka     recipe.Weka
	// ContextOverflow says when a context was too long, and the share of such requests that a scenario tolerates.
	ContextOverflow ContextOverflowEnv
	Record          RecordEnv
	Service         ServiceEnv
	Worker          WorkerEnv
	Dev             DevEnv
}

// HTTPEnv tunes connections.
type HTTPEnv struct {
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

// ServerMetricsEnv tunes the collection of server metrics.
type ServerMetricsEnv struct {
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

// GPUEnv tunes the collection of GPU telemetry.
type GPUEnv struct {
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

// NetworkEnv tunes the probes of the network's round trip.
type NetworkEnv struct {
	// MinSamples is how many probes an estimate needs; TopUpTimeout bounds the time after the load in which
	// missing ones are made up for.
	MinSamples                   int
	ConnectTimeout, TopUpTimeout time.Duration
}

// EndpointEnv shapes request bodies.
type EndpointEnv struct {
	// ForceContentParts writes message content as a list even for a single text.
	ForceContentParts bool
}

// PluginEnv bounds the calls of a program.
type PluginEnv struct{ CallTimeout, StartTimeout time.Duration }

// ChatEnv bounds the chat command's wait for a connection and for more of a reply.
type ChatEnv struct{ ConnectTimeout, ReadTimeout time.Duration }

// DatasetEnv bounds what is made of a dataset.
type DatasetEnv struct {
	// InputsMaxBytes is the size of inputs.json above which it is left out; 0 is no limit.
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

// MetricsEnv holds thresholds of metrics.
type MetricsEnv struct {
	UsagePctDiffThreshold        float64
	OSLMismatchPctThreshold      float64
	OSLMismatchMaxTokenThreshold int
	ExportFlushInterval          time.Duration
	ListenLinger                 time.Duration
}

// UIEnv tunes what is shown.
type UIEnv struct {
	// RealtimeMetricsInterval is nil when unset: 5 s on the dashboard, 30 s else.
	RealtimeMetricsInterval *time.Duration
	MinUpdatePercent        float64
	ConsoleExportWidth      int
	// ConsoleGroups are the metric groups printed at the end.
	ConsoleGroups []string
}

// TimingEnv tunes the load generator.
type TimingEnv struct {
	CancelDrainTimeout time.Duration
	// MaxCatchup is the lateness that is made up for.
	MaxCatchup             time.Duration
	RateRampUpdateInterval time.Duration
	// DAGFailFast ends a run at the first failed request of a child session.
	DAGFailFast bool
}

// ContextOverflowEnv recognises requests whose context was too long.
type ContextOverflowEnv struct {
	Substrings []string
	RateLimit  float64
}

// UploadEnv bounds an upload after the run.
type UploadEnv struct{ Timeout time.Duration }

// OTelEnv tunes the pushes to an OpenTelemetry collector.
type OTelEnv struct {
	// FlushInterval lies between two pushes, RequestTimeout bounds one.
	FlushInterval, RequestTimeout time.Duration
	// MaxBatch records are added to the figures at the latest when so many wait; MaxBuffered wait at most, more are left out.
	MaxBatch, MaxBuffered int
}

// RecordEnv tunes the making and writing of records.
type RecordEnv struct {
	ProcessRecordsTimeout time.Duration
	// CompletionStallTimeout is how long finished requests may wait without any of them becoming a record; 0 is no limit.
	// CompletionStallCheckInterval lies between two looks.
	CompletionStallTimeout, CompletionStallCheckInterval time.Duration
	// RawMaxBytes and OutputsMaxBytes are the sizes of the raw export and of outputs.json beyond which
	// requests are left out; 0 is no limit.
	RawMaxBytes, OutputsMaxBytes int64
}

// ServiceEnv bounds the steps of a run.
type ServiceEnv struct {
	// ProfileCancelTimeout is the time for results after the first interrupt.
	ProfileCancelTimeout    time.Duration
	ProfileConfigureTimeout time.Duration
	// TokenizerPreloadTimeout bounds how long a tokenizer may take to be found, fetched and loaded.
	TokenizerPreloadTimeout time.Duration
	// TokenizerSkipPreload leaves out the look-ups before that: no search for another name, no bound in time.
	TokenizerSkipPreload bool
}

// WorkerEnv sizes the pool of logical workers.
type WorkerEnv struct {
	CPUUtilizationFactor float64
	MaxWorkersCap        int
}

// DevEnv holds developer switches. The two Show switches are already off when Mode is.
type DevEnv struct {
	Mode                    bool
	ShowInternalMetrics     bool
	ShowExperimentalMetrics bool
}

func newEnv(v variables) Env {
	dev := v.flag("DEV_MODE")
	return Env{
		HTTP: HTTPEnv{
			ConnectionLimit:         v.number("HTTP_CONNECTION_LIMIT"),
			ConnectLimit:            v.number("HTTP_CONNECT_LIMIT"),
			ConnectTimeout:          v.seconds("HTTP_CONNECT_TIMEOUT"),
			KeepaliveTimeout:        v.seconds("HTTP_KEEPALIVE_TIMEOUT"),
			SendBuffer:              v.number("HTTP_SO_SNDBUF"),
			ReceiveBuffer:           v.number("HTTP_SO_RCVBUF"),
			TCPKeepCount:            v.number("HTTP_TCP_KEEPCNT"),
			TCPKeepIdle:             v.seconds("HTTP_TCP_KEEPIDLE"),
			TCPKeepInterval:         v.seconds("HTTP_TCP_KEEPINTVL"),
			TCPUserTimeout:          v.seconds("HTTP_TCP_USER_TIMEOUT") / 1000,
			UseDNSCache:             v.flag("HTTP_USE_DNS_CACHE"),
			DNSCacheTTL:             v.seconds("HTTP_TTL_DNS_CACHE"),
			ForceClose:              v.flag("HTTP_FORCE_CLOSE"),
			SSLVerify:               v.flag("HTTP_SSL_VERIFY"),
			CancellationSendTimeout: v.seconds("HTTP_REQUEST_CANCELLATION_SEND_TIMEOUT"),
			MaxResponseBytes:        v.number("HTTP_MAX_RESPONSE_BYTES"),
			VideoPollInterval:       v.seconds("HTTP_VIDEO_POLL_INTERVAL"),
			IPVersion:               v.text("HTTP_IP_VERSION"),
			TrustEnv:                v.flag("HTTP_TRUST_ENV"),
			XSessionID:              v.flag("HTTP_X_SESSION_ID_FROM_CORRELATION_ID"),
			XSMGRoutingKey:          v.flag("HTTP_X_SMG_ROUTING_KEY_FROM_CORRELATION_ID"),
			XDynamoSessionID:        v.flag("HTTP_X_DYNAMO_SESSION_ID_FROM_CORRELATION_ID"),
			XSessionAffinity:        v.flag("HTTP_X_SESSION_AFFINITY_FROM_CORRELATION_ID"),
		},
		ServerMetrics: ServerMetricsEnv{
			CollectionInterval:    v.seconds("SERVER_METRICS_COLLECTION_INTERVAL"),
			CollectionFlushPeriod: v.seconds("SERVER_METRICS_COLLECTION_FLUSH_PERIOD"),
			ReachabilityTimeout:   v.seconds("SERVER_METRICS_REACHABILITY_TIMEOUT"),
			ScrapeReadTimeout:     v.seconds("HTTP_METRICS_SCRAPE_READ_TIMEOUT"),
			ScrapeTimeout:         v.seconds("SERVER_METRICS_SCRAPE_TIMEOUT"),
			CSVComments:           v.flag("SERVER_METRICS_CSV_COMMENTS"),
			LegacyJSON:            v.flag("SERVER_METRICS_LEGACY_JSON"),
			Bounds:                v.flag("SERVER_METRICS_PERCENTILE_BOUNDS"),
			Namespace:             v.text("NAMESPACE"),
		},
		GPU: GPUEnv{
			CollectionInterval:  v.seconds("GPU_COLLECTION_INTERVAL"),
			ReachabilityTimeout: v.seconds("GPU_REACHABILITY_TIMEOUT"),
			Endpoints:           v.list("GPU_DEFAULT_DCGM_ENDPOINTS"),
			FinalGrace:          time.Duration(v.real("GPU_FINAL_SCRAPE_GRACE_NS")),
			ShutdownTimeout:     v.seconds("GPU_SHUTDOWN_DELAY"),
			VendorScoped:        v.flag("GPU_VENDOR_SCOPED"),
		},
		Network: NetworkEnv{
			MinSamples:     v.number("NETWORK_LATENCY_MIN_SAMPLES"),
			ConnectTimeout: v.seconds("NETWORK_LATENCY_CONNECT_TIMEOUT"),
			TopUpTimeout:   v.seconds("NETWORK_LATENCY_COMPLETE_TOPUP_TIMEOUT"),
		},
		OTel: OTelEnv{
			FlushInterval: v.seconds("OTEL_FLUSH_INTERVAL_SECONDS"), RequestTimeout: v.seconds("OTEL_REQUEST_TIMEOUT_SECONDS"),
			MaxBatch: v.number("OTEL_MAX_BATCH_RECORDS"), MaxBuffered: v.number("OTEL_MAX_BUFFERED_RECORDS"),
		},
		MLflow:   UploadEnv{Timeout: v.seconds("MLFLOW_EXPORT_TIMEOUT_SECONDS")},
		Plugin:   PluginEnv{CallTimeout: v.seconds("PLUGIN_CALL_TIMEOUT"), StartTimeout: v.seconds("PLUGIN_START_TIMEOUT")},
		Chat:     ChatEnv{ConnectTimeout: v.seconds("CHAT_CONNECT_TIMEOUT"), ReadTimeout: v.seconds("CHAT_READ_TIMEOUT")},
		Endpoint: EndpointEnv{ForceContentParts: v.flag("ENDPOINT_FORCE_CONTENT_PARTS")},
		Dataset: DatasetEnv{
			InputsMaxBytes:       int64(v.number("DATASET_INPUTS_JSON_MAX_BYTES")),
			MaxLineBytes:         int64(v.number("DATASET_MAX_LINE_BYTES")),
			BasetenSessionColumn: v.text("DATASET_BASETEN_SESSION_COLUMN"),
			TraceLab: recipe.TraceLab{
				Join: v.flag("DATASET_TRACELAB_SUBAGENT_JOIN"), JoinCodex: v.flag("DATASET_TRACELAB_CODEX_SUBAGENT_JOIN"),
				MinSpawn: time.Duration(v.number("DATASET_TRACELAB_MIN_SPAWN_MS")) * time.Millisecond,
			},
			PublicTimeout: v.seconds("DATASET_PUBLIC_DATASET_TIMEOUT"), PublicCacheDir: v.text("DATASET_PUBLIC_CACHE_DIR"),
			MediaTimeout: v.seconds("DATASET_MEDIA_DOWNLOAD_TIMEOUT"), MediaParallel: v.number("DATASET_MEDIA_DOWNLOAD_MAX_CONCURRENCY"),
		},
		Metrics: MetricsEnv{
			UsagePctDiffThreshold:        v.real("METRICS_USAGE_PCT_DIFF_THRESHOLD"),
			OSLMismatchPctThreshold:      v.real("METRICS_OSL_MISMATCH_PCT_THRESHOLD"),
			OSLMismatchMaxTokenThreshold: v.number("METRICS_OSL_MISMATCH_MAX_TOKEN_THRESHOLD"),
			ExportFlushInterval:          v.seconds("METRICS_EXPORT_FLUSH_INTERVAL"),
			ListenLinger:                 v.seconds("METRICS_LISTEN_LINGER"),
		},
		UI: UIEnv{
			RealtimeMetricsInterval: v.optionalSeconds("UI_REALTIME_METRICS_INTERVAL"),
			MinUpdatePercent:        v.real("UI_MIN_UPDATE_PERCENT"),
			ConsoleExportWidth:      v.number("UI_CONSOLE_EXPORT_WIDTH"),
			ConsoleGroups:           v.list("UI_CONSOLE_GROUPS"),
		},
		ContextOverflow: ContextOverflowEnv{
			Substrings: v.list("AGENTX_CONTEXT_OVERFLOW_SUBSTRINGS"), RateLimit: v.real("AGENTX_CONTEXT_OVERFLOW_RATE_LIMIT"),
		},
		Weka: recipe.Weka{
			Split:           v.flag("DATASET_WEKA_SPLIT_FLATTENED_AGENTS"),
			SeamSeconds:     v.real("DATASET_WEKA_SEAM_MAX_GAP_SECONDS"),
			SeamOverlap:     v.real("DATASET_WEKA_SEAM_MIN_OVERLAP_RATIO"),
			AuxRequests:     v.number("DATASET_WEKA_AUX_MAX_REQUESTS"),
			AuxFloor:        v.number("DATASET_WEKA_AUX_ISL_FLOOR"),
			ReductionOutput: v.number("DATASET_WEKA_AUX_REDUCTION_OSL_MAX"),
			AuxShare:        v.real("DATASET_WEKA_AUX_ISL_RATIO"),
			ReductionRatio:  v.real("DATASET_WEKA_AUX_REDUCTION_RATIO"),
			AuxCrossModel:   v.flag("DATASET_WEKA_AUX_CROSS_MODEL"),
			GroupSize:       v.number("DATASET_WEKA_WORKER_GROUP_MIN"),
		},
		Timing: TimingEnv{
			CancelDrainTimeout:     v.seconds("TIMING_CANCEL_DRAIN_TIMEOUT"),
			MaxCatchup:             v.seconds("TIMING_MAX_CATCHUP_SECONDS"),
			RateRampUpdateInterval: v.seconds("TIMING_RATE_RAMP_UPDATE_INTERVAL"),
			DAGFailFast:            v.flag("DAG_FAIL_FAST"),
		},
		Record: RecordEnv{
			ProcessRecordsTimeout:        v.seconds("RECORD_PROCESS_RECORDS_TIMEOUT"),
			CompletionStallTimeout:       v.seconds("RECORD_COMPLETION_STALL_TIMEOUT"),
			CompletionStallCheckInterval: v.seconds("RECORD_COMPLETION_STALL_CHECK_INTERVAL"),
			RawMaxBytes:                  int64(v.number("RECORD_RAW_MAX_BYTES")),
			OutputsMaxBytes:              int64(v.number("RECORD_OUTPUTS_JSON_MAX_BYTES")),
		},
		Service: ServiceEnv{
			ProfileCancelTimeout:    v.seconds("SERVICE_PROFILE_CANCEL_TIMEOUT"),
			ProfileConfigureTimeout: v.seconds("SERVICE_PROFILE_CONFIGURE_TIMEOUT"),
			TokenizerPreloadTimeout: v.seconds("TOKENIZER_PRELOAD_TIMEOUT"),
			TokenizerSkipPreload:    v.flag("TOKENIZER_SKIP_PRELOAD"),
		},
		Worker: WorkerEnv{
			CPUUtilizationFactor: v.real("WORKER_CPU_UTILIZATION_FACTOR"),
			MaxWorkersCap:        v.number("WORKER_MAX_WORKERS_CAP"),
		},
		Dev: DevEnv{
			Mode:                    dev,
			ShowInternalMetrics:     v.flag("DEV_SHOW_INTERNAL_METRICS") && dev,
			ShowExperimentalMetrics: v.flag("DEV_SHOW_EXPERIMENTAL_METRICS") && dev,
		},
	}
}
