package env

import (
	"slices"
	"time"

	"aiperf/internal/config/option"
)

// VarType is the value grammar of an environment variable.
type VarType uint8

// The types of environment variables.
const (
	VarString VarType = iota
	VarBool
	VarInt
	VarFloat
	VarEnum
	VarList
	VarPath
	VarJSON
)

// VarGroup is the group of a variable in the documentation.
type VarGroup string

// The groups of environment variables, in the order of the documentation.
const (
	VarProduct   VarGroup = "Product behaviour"
	VarDeveloper VarGroup = "Developer"
	// VarInternal variables describe another program's process model: checked, without effect.
	VarInternal VarGroup = "Accepted without effect"
)

// Variable is a row of the table of environment variables.
type Variable struct {
	// Name lacks the prefix AIPERF_.
	Name string
	Type VarType
	// Default is written as a user would write it; empty means unset.
	Default string
	Limits  option.Limits
	// Unit is that of a bare number where the variable is a time, whose texts may have units; else 0.
	Unit time.Duration
	// Values are the choices of a VarEnum.
	Values []string
	Group  VarGroup
	Help   string

	// field is the field of Env that the variable sets, nil if it sets none.
	field any
}

// Variables is the table of environment variables in the order of the documentation.
func Variables() []Variable { return variablesOf(&Values{}) }

// variablesOf is the table, with the fields of e.
func variablesOf(e *Values) []Variable {
	return slices.Concat(httpVariables(e), metricsVariables(e), telemetryVariables(e), datasetVariables(e),
		uiVariables(e), runVariables(e), serviceVariables(e), laterVariables(e), developerVariables(e),
		operatorVariables(e), internalVariables(), clusterVariables(), clockVariables(&e.Worker.Clock))
}

func vBool(name, def, help string) Variable {
	return Variable{Name: name, Type: VarBool, Default: def, Group: VarProduct, Help: help}
}
func vInt(name, def string, l option.Limits, help string) Variable {
	return Variable{Name: name, Type: VarInt, Default: def, Limits: l, Group: VarProduct, Help: help}
}
func vFloat(name, def string, l option.Limits, help string) Variable {
	return Variable{Name: name, Type: VarFloat, Default: def, Limits: l, Group: VarProduct, Help: help}
}
func vText(name string, t VarType, def, help string) Variable {
	return Variable{Name: name, Type: t, Default: def, Group: VarProduct, Help: help}
}
func vEnum(name, def, help string, values ...string) Variable {
	return Variable{Name: name, Type: VarEnum, Default: def, Values: values, Group: VarProduct, Help: help}
}

// in makes a number a time, of which a bare number is so many units.
func (v Variable) in(unit time.Duration) Variable {
	v.Unit = unit
	return v
}

// to binds a variable to the field that it sets.
func (v Variable) to(field any) Variable {
	v.field = field
	return v
}

// internal marks a variable as accepted without effect.
func internal(v Variable) Variable {
	v.Group = VarInternal
	return v
}

func httpVariables(e *Values) []Variable {
	return []Variable{
		vInt("HTTP_CONNECTION_LIMIT", "2500", option.Between(1, 65000),
			"Open connections per logical worker; more requests wait.").to(&e.HTTP.ConnectionLimit),
		vInt("HTTP_CONNECT_LIMIT", "512", option.Between(1, 65000),
			"Connections that are being opened at a time; more requests wait, so that the server's queue of "+
				"connections does not overflow.").to(&e.HTTP.ConnectLimit),
		vFloat("HTTP_CONNECT_TIMEOUT", "30", option.Between(0.001, 10000),
			"Seconds to open a connection to one address of the server, and again for the TLS "+
				"handshake.").in(time.Second).to(&e.HTTP.ConnectTimeout),
		vFloat("HTTP_KEEPALIVE_TIMEOUT", "300", option.Between(0, 10000),
			"Seconds an idle connection is kept.").in(time.Second).to(&e.HTTP.KeepaliveTimeout),
		vInt("HTTP_SO_RCVBUF", "10485760", option.AtLeast(1024),
			"Receive buffer of a socket in bytes.").to(&e.HTTP.ReceiveBuffer),
		vInt("HTTP_SO_SNDBUF", "10485760", option.AtLeast(1024),
			"Send buffer of a socket in bytes.").to(&e.HTTP.SendBuffer),
		internal(vInt("HTTP_SO_RCVTIMEO", "30", option.Between(1, 100000),
			"Receive timeout of a socket in seconds.").in(time.Second)),
		internal(vInt("HTTP_SO_SNDTIMEO", "30", option.Between(1, 100000),
			"Send timeout of a socket in seconds.").in(time.Second)),
		vInt("HTTP_TCP_KEEPCNT", "1", option.Between(1, 100),
			"Unanswered keepalive probes before a connection is dead.").to(&e.HTTP.TCPKeepCount),
		vInt("HTTP_TCP_KEEPIDLE", "60", option.Between(1, 100000),
			"Idle seconds before the first keepalive probe.").in(time.Second).to(&e.HTTP.TCPKeepIdle),
		vInt("HTTP_TCP_KEEPINTVL", "30", option.Between(1, 100000),
			"Seconds between keepalive probes.").in(time.Second).to(&e.HTTP.TCPKeepInterval),
		vInt("HTTP_TCP_USER_TIMEOUT", "30000", option.Between(1, 1000000),
			"Milliseconds that sent data may stay unacknowledged "+
				"(Linux).").in(time.Millisecond).to(&e.HTTP.TCPUserTimeout),
		vInt("HTTP_TTL_DNS_CACHE", "300", option.Between(0, 1000000),
			"Seconds a resolved name is kept.").in(time.Second).to(&e.HTTP.DNSCacheTTL),
		vBool("HTTP_USE_DNS_CACHE", "true", "Keep resolved names.").to(&e.HTTP.UseDNSCache),
		vBool("HTTP_FORCE_CLOSE", "false", "Close the connection after every request.").to(&e.HTTP.ForceClose),
		internal(vBool("HTTP_ENABLE_CLEANUP_CLOSED", "false", "Clean up half-closed TLS connections.")),
		vBool("HTTP_SSL_VERIFY", "true", "Verify TLS certificates; false is insecure.").to(&e.HTTP.SSLVerify),
		vFloat("HTTP_REQUEST_CANCELLATION_SEND_TIMEOUT", "300", option.Between(10, 3600),
			"Seconds to finish sending a request that is to be "+
				"cancelled.").in(time.Second).to(&e.HTTP.CancellationSendTimeout),
		vEnum("HTTP_IP_VERSION", "4", "Address family of connections.", "4", "6", "auto").to(&e.HTTP.IPVersion),
		vBool("HTTP_TRUST_ENV", "false", "Honour HTTP_PROXY, HTTPS_PROXY and NO_PROXY.").to(&e.HTTP.TrustEnv),
		vInt("HTTP_MAX_RESPONSE_BYTES", "268435456", option.AtLeast(1024),
			"Largest reply, and largest event of a stream, that is accepted; a stream may be four times as long in "+
				"all.").to(&e.HTTP.MaxResponseBytes),
		vFloat("HTTP_VIDEO_POLL_INTERVAL", "0.1", option.Between(0.001, 10),
			"Seconds between two polls of a video job.").in(time.Second).to(&e.HTTP.VideoPollInterval),
		vBool("HTTP_X_SESSION_ID_FROM_CORRELATION_ID", "false",
			"Also send the correlation id as X-Session-ID.").to(&e.HTTP.XSessionID),
		vBool("HTTP_X_SMG_ROUTING_KEY_FROM_CORRELATION_ID", "false",
			"Also send the correlation id as X-SMG-Routing-Key.").to(&e.HTTP.XSMGRoutingKey),
		vBool("HTTP_X_DYNAMO_SESSION_ID_FROM_CORRELATION_ID", "false",
			"Also send the correlation id as X-Dynamo-Session-ID.").to(&e.HTTP.XDynamoSessionID),
		vBool("HTTP_X_SESSION_AFFINITY_FROM_CORRELATION_ID", "true",
			"Also send the correlation id as X-Session-Affinity.").to(&e.HTTP.XSessionAffinity),
		vFloat("HTTP_METRICS_SCRAPE_READ_TIMEOUT", "30", option.Between(1, 3600),
			"Seconds between two pieces of a metrics page.").in(time.Second).to(&e.ServerMetrics.ScrapeReadTimeout),
		vFloat("PLUGIN_CALL_TIMEOUT", "30", option.Above(0),
			"Seconds that a call of a plug-in may take.").in(time.Second).to(&e.Plugin.CallTimeout),
		vFloat("PLUGIN_START_TIMEOUT", "10", option.Above(0),
			"Seconds in which a plug-in must identify itself.").in(time.Second).to(&e.Plugin.StartTimeout),
	}
}

func metricsVariables(e *Values) []Variable {
	return []Variable{
		vFloat("METRICS_USAGE_PCT_DIFF_THRESHOLD", "10", option.Between(0, 100),
			"Percent by which server and client token counts may differ.").to(&e.Metrics.UsagePctDiffThreshold),
		vFloat("METRICS_OSL_MISMATCH_PCT_THRESHOLD", "5", option.Between(0, 100),
			"Percent by which an output may miss its requested length.").to(&e.Metrics.OSLMismatchPctThreshold),
		vInt("METRICS_OSL_MISMATCH_MAX_TOKEN_THRESHOLD", "50", option.AtLeast(1),
			"Cap in tokens on the allowed miss of the requested length.").to(&e.Metrics.OSLMismatchMaxTokenThreshold),
		internal(vInt("METRICS_ARRAY_INITIAL_CAPACITY", "10000", option.Between(100, 1000000),
			"Initial size of metric arrays.")),
		vFloat("METRICS_EXPORT_FLUSH_INTERVAL", "1.0", option.Between(0.05, 60),
			"Seconds between two flushes of the per-request file.").in(time.Second).to(&e.Metrics.ExportFlushInterval),
		vEnum("METRICS_LIST_BACKEND", "ragged", "Keep chunk latencies exactly (ragged) or as a sketch (tdigest).",
			"ragged", "tdigest"),
		vInt("METRICS_TDIGEST_COMPRESSION", "500", option.Between(20, 10000), "Compression of the sketch."),
	}
}

func telemetryVariables(e *Values) []Variable {
	return []Variable{
		vFloat("SERVER_METRICS_COLLECTION_INTERVAL", "0.333", option.Between(0.001, 300),
			"Seconds between two scrapes of server metrics.").in(time.Second).to(&e.ServerMetrics.CollectionInterval),
		vFloat("SERVER_METRICS_COLLECTION_FLUSH_PERIOD", "2.0", option.Between(0, 30),
			"Seconds to wait after the end for final server "+
				"metrics.").in(time.Second).to(&e.ServerMetrics.CollectionFlushPeriod),
		vInt("SERVER_METRICS_REACHABILITY_TIMEOUT", "10", option.Between(1, 300),
			"Seconds to find out whether a metrics endpoint "+
				"answers.").in(time.Second).to(&e.ServerMetrics.ReachabilityTimeout),
		vInt("SERVER_METRICS_EXPORT_BATCH_SIZE", "100", option.Between(1, 1000000), "Scrapes written at a time."),
		internal(vInt("SERVER_METRICS_SHUTDOWN_DELAY", "5", option.Between(1, 300),
			"Seconds before the collector ends.").in(time.Second)),
		vFloat("SERVER_METRICS_SCRAPE_TIMEOUT", "", option.Between(0.1, 600),
			"Seconds for the scrape before the load, those at the ends of phases and the last one; by default 10, 5 "+
				"and 10.").in(time.Second).to(&e.ServerMetrics.ScrapeTimeout),
		vBool("SERVER_METRICS_CSV_COMMENTS", "false",
			"Comment lines in the server metrics CSV.").to(&e.ServerMetrics.CSVComments),
		vBool("SERVER_METRICS_PERCENTILE_BOUNDS", "false",
			"Add the bucket bounds of each estimated percentile of a server's histogram (p99_lower, "+
				"p99_upper).").to(&e.ServerMetrics.Bounds),
		vBool("SERVER_METRICS_LEGACY_JSON", "false",
			"An additional server metrics file in the older layout.").to(&e.ServerMetrics.LegacyJSON),
		vFloat("METRICS_LISTEN_LINGER", "60", option.Between(0, 3600),
			"Seconds that the page of --metrics-listen stays at most after the end, for a Prometheus that has scraped "+
				"it to read the final figures.").in(time.Second).to(&e.Metrics.ListenLinger),
		vBool("GPU_VENDOR_SCOPED", "false", "Vendor-prefixed names of GPU fields.").to(&e.GPU.VendorScoped),
		vFloat("GPU_COLLECTION_INTERVAL", "0.333", option.Between(0.01, 300),
			"Seconds between two readings of GPU metrics.").in(time.Second).to(&e.GPU.CollectionInterval),
		vText("GPU_DEFAULT_DCGM_ENDPOINTS", VarList, "http://localhost:9400/metrics,http://localhost:9401/metrics",
			"DCGM exporters that are tried by default.").to(&e.GPU.Endpoints),
		vInt("GPU_REACHABILITY_TIMEOUT", "10", option.Between(1, 300),
			"Seconds to find out whether an exporter answers.").in(time.Second).to(&e.GPU.ReachabilityTimeout),
		internal(vInt("GPU_EXPORT_BATCH_SIZE", "100", option.Between(1, 1000000), "GPU records written at a time.")),
		vInt("GPU_FINAL_SCRAPE_GRACE_NS", "666000000", option.Between(0, 60000000000),
			"Nanoseconds after the end for the last energy reading.").in(time.Nanosecond).to(&e.GPU.FinalGrace),
		vInt("GPU_SHUTDOWN_DELAY", "5", option.Between(1, 300),
			"Seconds in which the reader of local GPUs must end.").in(time.Second).to(&e.GPU.ShutdownTimeout),
		internal(vInt("GPU_THREAD_JOIN_TIMEOUT", "5", option.Between(1, 300),
			"Seconds to wait for the collector's thread.").in(time.Second)),
		vFloat("NETWORK_LATENCY_DEFAULT_PROBE_INTERVAL", "1", option.Between(0.001, 300),
			"Seconds between two round-trip probes.").in(time.Second),
		vInt("NETWORK_LATENCY_MIN_SAMPLES", "5", option.Between(1, 100000),
			"Probes that a round-trip estimate needs.").to(&e.Network.MinSamples),
		vFloat("NETWORK_LATENCY_CONNECT_TIMEOUT", "5", option.Between(0.001, 300),
			"Seconds a probe may take to connect.").in(time.Second).to(&e.Network.ConnectTimeout),
		vFloat("NETWORK_LATENCY_COMPLETE_TOPUP_TIMEOUT", "3", option.Between(0, 30),
			"Seconds to collect missing probes at the end.").in(time.Second).to(&e.Network.TopUpTimeout),
		vInt("NETWORK_LATENCY_EXPORT_BATCH_SIZE", "100", option.Between(1, 1000000), "Probes written at a time."),
	}
}

func datasetVariables(e *Values) []Variable {
	return []Variable{
		vInt("DATASET_CONFIGURATION_TIMEOUT", "300", option.Between(1, 100000),
			"Seconds in which a data set must be built.").in(time.Second),
		vInt("DATASET_PUBLIC_DATASET_TIMEOUT", "300", option.Between(1, 100000),
			"Seconds for the download of a public data set.").in(time.Second).to(&e.Dataset.PublicTimeout),
		vInt("DATASET_MEDIA_DOWNLOAD_TIMEOUT", "60", option.Between(1, 100000),
			"Seconds for the download of one media file.").in(time.Second).to(&e.Dataset.MediaTimeout),
		vInt("DATASET_MEDIA_DOWNLOAD_MAX_CONCURRENCY", "10", option.Between(1, 100),
			"Media downloads at a time.").to(&e.Dataset.MediaParallel),
		vInt("DATASET_MAX_LINE_BYTES", "67108864", option.AtLeast(1024),
			"Longest line of an input file in bytes; a longer one is an error.").to(&e.Dataset.MaxLineBytes),
		vInt("DATASET_INPUTS_JSON_MAX_BYTES", "1073741824", option.AtLeast(0),
			"Size above which inputs.json is left out; 0 means no limit.").to(&e.Dataset.InputsMaxBytes),
		internal(vText("DATASET_MMAP_BASE_PATH", VarPath, "", "Folder of memory-mapped data sets.")),
		vBool("DATASET_MMAP_CACHE_ENABLED", "true", "Reuse generated data sets."),
		vText("DATASET_MMAP_CACHE_DIR", VarPath, "", "Folder of generated data sets that are kept."),
		vInt("DATASET_INLINE_RECORDS_WARN_THRESHOLD", "500", option.AtLeast(1),
			"Inline records above which a configuration file draws a warning."),
		vBool("DATASET_PREFORMAT_PAYLOADS", "false",
			"Encode bodies before the run; input lengths are then not reported."),
		vText("DATASET_PUBLIC_CACHE_DIR", VarPath, ".cache/aiperf/datasets",
			"Folder of downloaded public data sets.").to(&e.Dataset.PublicCacheDir),
		vText("DATASET_BASETEN_SESSION_COLUMN", VarString, "provided_session_id",
			"Column that names the session in a baseten trace; a trace without it is grouped by the other usual "+
				"one.").to(&e.Dataset.BasetenSessionColumn),
		vBool("DATASET_TRACELAB_SUBAGENT_JOIN", "true",
			"Play sessions of a tracelab trace that ran within another one's call of an agent as its "+
				"children.").to(&e.Dataset.TraceLab.Join),
		vBool("DATASET_TRACELAB_CODEX_SUBAGENT_JOIN", "true",
			"Do so in Codex sessions too, which record only one window for all their "+
				"agents.").to(&e.Dataset.TraceLab.JoinCodex),
		vInt("DATASET_TRACELAB_MIN_SPAWN_MS", "10000", option.AtLeast(0),
			"Shortest call of an agent in milliseconds that a sub-agent is looked for "+
				"in.").in(time.Millisecond).to(&e.Dataset.TraceLab.MinSpawn),
		vBool("ENDPOINT_FORCE_CONTENT_PARTS", "false",
			"Write message content as a list even for a single text.").to(&e.Endpoint.ForceContentParts),
		vInt("DATASET_WEKA_PARALLEL_WORKERS", "0", option.AtLeast(0), "Readers of a weka trace; 0 chooses."),
		vInt("DATASET_WEKA_PARALLEL_THRESHOLD", "8", option.AtLeast(0),
			"Files from which a weka trace is read in parallel."),
		vBool("DATASET_WEKA_SPLIT_FLATTENED_AGENTS", "true",
			"Split agents that a weka trace has flattened.").to(&e.Weka.Split),
		vBool("DATASET_WEKA_TOOL_SHAPED_MESSAGES", "false", "Write tool-shaped messages from a weka trace."),
		vFloat("DATASET_WEKA_SEAM_MAX_GAP_SECONDS", "3600", option.AtLeast(0),
			"Longest pause inside one weka session in seconds.").in(time.Second).to(&e.Weka.SeamSeconds),
		vFloat("DATASET_WEKA_SEAM_MIN_OVERLAP_RATIO", "0.5", option.Between(0, 1),
			"Overlap from which two weka requests belong together.").to(&e.Weka.SeamOverlap),
		vInt("DATASET_WEKA_AUX_MAX_REQUESTS", "1", option.AtLeast(0),
			"Requests up to which a weka group is auxiliary.").to(&e.Weka.AuxRequests),
		vFloat("DATASET_WEKA_AUX_ISL_RATIO", "0.1", option.AtLeast(0),
			"Share of the input length below which a weka request is auxiliary.").to(&e.Weka.AuxShare),
		vInt("DATASET_WEKA_AUX_ISL_FLOOR", "16384", option.AtLeast(0),
			"Input length below which no weka request is auxiliary.").to(&e.Weka.AuxFloor),
		vBool("DATASET_WEKA_AUX_CROSS_MODEL", "true",
			"Look for auxiliary weka requests across models.").to(&e.Weka.AuxCrossModel),
		vInt("DATASET_WEKA_AUX_REDUCTION_OSL_MAX", "4000", option.AtLeast(0),
			"Longest output of a weka reduction request.").to(&e.Weka.ReductionOutput),
		vFloat("DATASET_WEKA_AUX_REDUCTION_RATIO", "20", option.AtLeast(0),
			"Input to output ratio of a weka reduction request.").to(&e.Weka.ReductionRatio),
		vInt("DATASET_WEKA_WORKER_GROUP_MIN", "3", option.AtLeast(0),
			"Smallest weka worker group.").to(&e.Weka.GroupSize),
	}
}

func uiVariables(e *Values) []Variable {
	return []Variable{
		vFloat("UI_REALTIME_METRICS_INTERVAL", "", option.Between(0, 1000),
			"Seconds between realtime statistics; by default 5 on the dashboard, 30 else; 0 is off. Same as "+
				"--stats-interval.").in(time.Second).to(&e.UI.RealtimeMetricsInterval),
		vBool("UI_REALTIME_METRICS_ENABLED", "false", "Realtime statistics in every mode."),
		vFloat("UI_MIN_UPDATE_PERCENT", "1.0", option.Between(0.01, 100),
			"Percent of progress after which a bar is redrawn.").to(&e.UI.MinUpdatePercent),
		vFloat("UI_LOG_REFRESH_INTERVAL", "0.1", option.Between(0.01, 100000),
			"Seconds between refreshes of the dashboard's log; there are at most four frames a "+
				"second.").in(time.Second).to(&e.UI.LogRefresh),
		vFloat("UI_SPINNER_REFRESH_RATE", "0.1", option.Between(0.1, 100),
			"Seconds between steps of the dashboard's spinner; there are at most four frames a "+
				"second.").in(time.Second).to(&e.UI.SpinnerRefresh),
		vInt("UI_NOTIFICATION_TIMEOUT", "3", option.Between(1, 100000),
			"Seconds that a notice stays on the dashboard.").in(time.Second).to(&e.UI.Notice),
		vInt("UI_CONSOLE_EXPORT_WIDTH", "140", option.Between(40, 10000),
			"Width of the report in columns without a terminal.").to(&e.UI.ConsoleExportWidth),
		vText("UI_CONSOLE_GROUPS", VarList, "default,effective,active,usage,cache,prediction,audio,reasoning",
			"Metric groups of the full report, at the end and of aiperf report.").to(&e.UI.ConsoleGroups),
	}
}

func runVariables(e *Values) []Variable {
	return []Variable{
		vInt("TIMING_CANCEL_DRAIN_TIMEOUT", "10", option.Between(1, 300),
			"Seconds to wait for cancelled requests to end.").in(time.Second).to(&e.Timing.CancelDrainTimeout),
		vFloat("TIMING_MAX_CATCHUP_SECONDS", "0.01", option.Between(0, 10),
			"Seconds of lateness that are caught up.").in(time.Second).to(&e.Timing.MaxCatchup),
		internal(vBool("TIMING_HIGH_RES_TIMER", "true", "Use timers of high resolution.")),
		vFloat("TIMING_RATE_RAMP_UPDATE_INTERVAL", "0.1", option.Between(0.01, 10),
			"Seconds between steps of a rate ramp; its first rate is target × this ÷ "+
				"duration.").in(time.Second).to(&e.Timing.RateRampUpdateInterval),
		vInt("RECORD_EXPORT_BATCH_SIZE", "100", option.Between(1, 1000000), "Records written at a time."),
		vInt("RECORD_RAW_EXPORT_BATCH_SIZE", "10", option.Between(1, 1000000), "Raw records written at a time."),
		vInt("RECORD_RAW_MAX_BYTES", "0", option.AtLeast(0),
			"Size of the raw export beyond which further requests are left out; 0 means no "+
				"limit.").to(&e.Record.RawMaxBytes),
		vInt("RECORD_OUTPUTS_JSON_MAX_BYTES", "1073741824", option.AtLeast(0),
			"Size of outputs.json beyond which further requests are left out; 0 means no "+
				"limit.").to(&e.Record.OutputsMaxBytes),
		vFloat("RECORD_PROGRESS_REPORT_INTERVAL", "2", option.Between(0.1, 600),
			"Seconds between progress reports about records.").in(time.Second),
		vFloat("RECORD_PROCESS_RECORDS_TIMEOUT", "300", option.Between(1, 100000),
			"Seconds for the processing of the last records.").in(time.Second).to(&e.Record.ProcessRecordsTimeout),
		vFloat("RECORD_COMPLETION_STALL_TIMEOUT", "300", option.Between(0, 86400),
			"Seconds in which requests that are over wait for their records and none comes; then the run ends as "+
				"incomplete. 0 is off.").in(time.Second).to(&e.Record.CompletionStallTimeout),
		vFloat("RECORD_COMPLETION_STALL_CHECK_INTERVAL", "10", option.AboveUpTo(0, 3600),
			"Seconds between two checks of that.").in(time.Second).to(&e.Record.CompletionStallCheckInterval),
		vInt("RECORD_PROCESSOR_SCALE_FACTOR", "4", option.Between(1, 100), "Workers per record processor."),
		vEnum("RECORD_STRIP_PAYLOAD_BYTES", "auto", "Drop request bytes from records as soon as they are not needed.",
			"auto", "true", "false", "1", "0", "yes", "no", "on", "off"),
		vFloat("WORKER_CPU_UTILIZATION_FACTOR", "0.75", option.Between(0.1, 1),
			"Share of the CPUs from which the worker count follows.").to(&e.Worker.CPUUtilizationFactor),
		vInt("WORKER_MAX_WORKERS_CAP", "32", option.Between(1, 10000),
			"Cap on the derived worker count.").to(&e.Worker.MaxWorkersCap),
		vFloat("WORKER_MIN_ALIVE_FRACTION", "0", option.Between(0, 1),
			"Share of the agents below which a run ends when others are lost; 0 lets it go on with those that are left.").
			to(&e.Worker.MinAliveFraction),
		vFloat("SERVICE_HEARTBEAT_INTERVAL", "5", option.Between(0.1, 1000),
			"Seconds between two reports of an agent at most; one that misses three of them is lost.").in(time.Second).
			to(&e.Service.HeartbeatInterval),
		{Name: "NATS_TOKEN", Group: VarProduct, Help: "Token of the agents of a run (--nats-token-file, aiperf agent --token-file)."},
	}
}

func serviceVariables(e *Values) []Variable {
	return []Variable{
		vFloat("SERVICE_PROFILE_CANCEL_TIMEOUT", "10", option.Between(1, 100000),
			"Seconds for results after the first interrupt.").in(time.Second).to(&e.Service.ProfileCancelTimeout),
		vFloat("SERVICE_PROFILE_CONFIGURE_TIMEOUT", "600", option.Between(1, 100000),
			"Seconds for everything before the first request; at least "+
				"AIPERF_DATASET_CONFIGURATION_TIMEOUT.").in(time.Second).to(&e.Service.ProfileConfigureTimeout),
		vFloat("SERVICE_PROFILE_START_TIMEOUT", "60", option.Between(1, 100000),
			"Seconds in which a run must start.").in(time.Second),
		vFloat("SERVICE_CREDIT_PROGRESS_REPORT_INTERVAL", "2", option.Between(1, 100000),
			"Seconds between progress reports about requests.").in(time.Second),
		vFloat("SERVICE_WARMUP_PROGRESS_LOG_INTERVAL", "30", option.Between(0, 100000),
			"Seconds between log lines during warm-up; 0 is off.").in(time.Second),
		vBool("SERVICE_HEALTH_ENABLED", "false", "Have an agent answer /healthz, and /readyz once it has joined.").
			to(&e.Service.Health),
		vText("SERVICE_HEALTH_HOST", VarString, "127.0.0.1", "Address of that server.").to(&e.Service.HealthHost),
		vInt("SERVICE_HEALTH_PORT", "8080", option.Between(0, 65535), "Its port; 0 is any that is free.").
			to(&e.Service.HealthPort),
		vFloat("SERVICE_HEALTH_REQUEST_TIMEOUT", "5", option.Between(0.1, 60),
			"Seconds for one health request.").in(time.Second),
		vText("API_KEY", VarString, "",
			"Key for --api-key where that flag is not given; stronger than OPENAI_API_KEY. Never shown or written."),
		vText("API_SERVER_HOST", VarString, "127.0.0.1", "Address of the HTTP API. Same as --api-host."),
		vInt("API_SERVER_PORT", "", option.Between(1, 65535),
			"Port of the HTTP API; setting it turns the API on. Same as --api-port."),
		vText("API_SERVER_CORS_ORIGINS", VarList, "", "Origins that may call the HTTP API from a browser.").
			to(&e.API.Origins),
		vInt("API_SERVER_SHUTDOWN_TIMEOUT", "5", option.Between(1, 300),
			"Seconds for the HTTP API to end.").in(time.Second).to(&e.API.Shutdown),
		vFloat("API_SERVER_POST_COMPLETE_GRACE", "5", option.Between(0, 300),
			"Seconds the HTTP API, and a live page that somebody looks at, stay after the run.").
			in(time.Second).to(&e.API.Grace),
		vFloat("API_SERVER_SHUTDOWN_RESPONSE_DELAY_SECONDS", "0.5", option.Between(0, 60),
			"Seconds between the reply to a request to shut down and the end of the HTTP API.").
			in(time.Second).to(&e.API.ShutdownDelay),
		vInt("API_SERVER_WEBSOCKET_MAX_CONNECTIONS", "100", option.Between(1, 100000),
			"WebSocket clients of the HTTP API at a time.").to(&e.API.Sockets),
		vText("CONFIG_USER_FILE", VarPath, "", "Configuration file of the service command."),
		vText("CONFIG_SERVICE_FILE", VarPath, "", "Service configuration file of the service command."),
		vFloat("CHAT_CONNECT_TIMEOUT", "10", option.Above(0),
			"Seconds the chat command waits for a connection.").in(time.Second).to(&e.Chat.ConnectTimeout),
		vFloat("CHAT_READ_TIMEOUT", "300", option.Above(0),
			"Seconds the chat command waits for more of a reply.").in(time.Second).to(&e.Chat.ReadTimeout),
		vInt("TOKENIZER_PRELOAD_TIMEOUT", "120", option.Between(1, 100000),
			"Seconds in which a tokenizer must be loaded.").in(time.Second).to(&e.Service.TokenizerPreloadTimeout),
		vBool("TOKENIZER_SKIP_PRELOAD", "false",
			"Take the name of a tokenizer as it is: no search for others on the hub, and no "+
				"AIPERF_TOKENIZER_PRELOAD_TIMEOUT.").to(&e.Service.TokenizerSkipPreload),
	}
}

func laterVariables(e *Values) []Variable {
	return []Variable{
		vText("JOB_ID", VarString, "", "Name of the benchmark in Kubernetes.").to(&e.Cluster.JobID),
		vText("JOB_UID", VarString, "", "UID of its resource.").to(&e.Cluster.JobUID),
		vText("POD_NAME", VarString, "", "Name of the pod.").to(&e.Cluster.PodName),
		vText("POD_INDEX", VarString, "", "Number of the pod of workers, from 0.").to(&e.Cluster.PodIndex),
		vText("K8S_CONTROLLER_HOST", VarString, "", "Host name of the controller pod.").to(&e.Cluster.ControllerHost),
		vBool("OPERATOR_MANAGED", "false", "The process is a pod of a benchmark in Kubernetes: a sweep is refused.").
			to(&e.Cluster.Managed),
		vBool("CONTROLLER_POD", "false", "The pod is that of the coordinator.").to(&e.Cluster.Controller),
		vText("K8S_DEFAULT_IMAGE", VarString, "", "Image of benchmarks in Kubernetes that name none, for aiperf kube and "+
			"the results server.").to(&e.Cluster.Image),
		vText("K8S_DEFAULT_IMAGE_PULL_POLICY", VarString, "", "Their imagePullPolicy.").to(&e.Cluster.PullPolicy),
		vText("K8S_JOBSET_KUEUE_DEFAULT_QUEUE_NAME", VarString, "", "LocalQueue of Kueue for benchmarks that name none.").
			to(&e.Cluster.Queue),
		vText("K8S_JOBSET_KUEUE_DEFAULT_PRIORITY_CLASS", VarString, "",
			"WorkloadPriorityClass of Kueue for benchmarks that name none.").to(&e.Cluster.PriorityClass),
		vText("NAMESPACE", VarString, "", "Kubernetes namespace of the run.").to(&e.ServerMetrics.Namespace),
		vText("PLUGIN_PATH", VarPath, "",
			"Folders with plug-ins, separated as in PATH; those of --plugin-dir come first, ~/.aiperf/plugins "+
				"last.").to(&e.Plugin.Path),
		vFloat("OTEL_FLUSH_INTERVAL_SECONDS", "2", option.Between(0.1, 60),
			"Seconds between two pushes to an OTLP collector.").in(time.Second).to(&e.OTel.FlushInterval),
		vInt("OTEL_MAX_BATCH_RECORDS", "500", option.Between(1, 1e6),
			"Records that wait to be added to the stream's figures at most, unless these are about to be "+
				"pushed.").to(&e.OTel.MaxBatch),
		vInt("OTEL_MAX_BUFFERED_RECORDS", "10000", option.Between(1, 1e7),
			"Records that may wait for that when the machine is busy; more are left out and "+
				"counted.").to(&e.OTel.MaxBuffered),
		vFloat("OTEL_REQUEST_TIMEOUT_SECONDS", "10", option.Between(0.1, 300),
			"Seconds for one push, and for the last one after the run.").in(time.Second).to(&e.OTel.RequestTimeout),
		vFloat("MLFLOW_EXPORT_TIMEOUT_SECONDS", "30", option.Between(1, 600),
			"Seconds for the upload to MLflow.").in(time.Second).to(&e.MLflow.Timeout),
		vFloat("WANDB_EXPORT_TIMEOUT_SECONDS", "30", option.Between(1, 600),
			"Seconds for the upload to Weights & Biases.").in(time.Second).to(&e.WandB.Timeout),
		vBool("RAISE_ON_CALLBACK_ERROR", "false",
			"Make an exporter or a metric of a plug-in that fails a failure of the run.").to(&e.Plugin.Fatal),
		vFloat("ACCURACY_CANCEL_RESULT_WAIT_SEC", "5", option.AtLeast(0),
			"Seconds to wait for graded results after an interrupt.").in(time.Second).to(&e.Accuracy.CancelWait),
		vText("ACCURACY_LCB_RELEASE_TAG", VarString, "v4_v5",
			"Release of the code generation benchmark.").to(&e.Accuracy.LCBRelease),
		vFloat("ACCURACY_LCB_GRADE_TIMEOUT_MAX_S", "300", option.AtLeast(1),
			"Seconds for all tests of one program at the most.").in(time.Second).to(&e.Accuracy.MaxGrade),
		vBool("DAG_FAIL_FAST", "false", "End a run at the first failing child of a DAG.").to(&e.Timing.DAGFailFast),
		vText("AGENTX_CONTEXT_OVERFLOW_SUBSTRINGS", VarList,
			"context length,maximum context,context_length_exceeded,prompt is too "+
				"long", "Words by which a context overflow is recognised.").to(&e.ContextOverflow.Substrings),
		vFloat("AGENTX_CONTEXT_OVERFLOW_RATE_LIMIT", "0.01", option.Between(0, 1),
			"Share of context overflows that is tolerated.").to(&e.ContextOverflow.RateLimit),
		vInt("AGENTX_RECYCLE_GUARD_MAX_WINDOW", "1000000", option.AtLeast(1),
			"Window of the guard against recycled traces."),
		vFloat("SEARCH_PLANNER_SLA_PRECISION_DEFAULT", "0.05", option.Between(0, 1),
			"Default precision of a search for a limit."),
		vFloat("SEARCH_PLANNER_DEFAULT_WARMUP_SECONDS", "30", option.Above(0),
			"Warm-up of a search step in seconds.").in(time.Second),
		vFloat("SEARCH_PLANNER_FIRST_PROBE_WARMUP_FLOOR", "60", option.Above(0),
			"Shortest warm-up of the first search step in seconds.").in(time.Second),
		vFloat("SEARCH_PLANNER_REPLICATE_WARMUP_FLOOR", "15", option.Above(0),
			"Shortest warm-up of a repeated search step in seconds.").in(time.Second),
		vText("SEARCH_PLANNER_SLA_PRECISION_REQUESTS", VarJSON, `{"tight":10000,"normal":1000,"coarse":300}`,
			"Requests of a search step by precision."),
	}
}

func developerVariables(e *Values) []Variable {
	vars := []Variable{
		vBool("DEV_MODE", "false", "Developer mode: a banner, and the next two variables count.").to(&e.Dev.Mode),
		vBool("DEV_SHOW_INTERNAL_METRICS", "false", "Show and export internal metrics.").to(&e.Dev.ShowInternalMetrics),
		vBool("DEV_SHOW_EXPERIMENTAL_METRICS", "false",
			"Show and export experimental metrics.").to(&e.Dev.ShowExperimentalMetrics),
		vText("DEV_DEBUG_SERVICES", VarList, "", "Components that log at DEBUG."),
		vText("DEV_TRACE_SERVICES", VarList, "", "Components that log at TRACE."),
	}
	for i := range vars {
		vars[i].Group = VarDeveloper
	}
	return append(vars, internal(vBool("DEV_ENABLE_YAPPI", "false", "Run a profiler.")))
}

func internalVariables() []Variable {
	const seconds = "Seconds; describes another program's processes."
	const count = "Describes another program's processes."
	var vars []Variable
	add := func(v ...Variable) { vars = append(vars, v...) }
	wide := option.Between(1, 100000)
	add(vInt("LOGGING_QUEUE_MAXSIZE", "1000", option.Between(1, 1e6), count),
		vInt("COMPRESSION_CHUNK_SIZE", "65536", option.Between(1024, 1048576), count),
		vInt("COMPRESSION_ZSTD_LEVEL", "3", option.Between(1, 22), count),
		vInt("COMPRESSION_GZIP_LEVEL", "6", option.Between(1, 9), count),
		vFloat("SERVICE_COMMAND_RESPONSE_TIMEOUT", "30", option.Between(1, 1000), seconds).in(time.Second),
		vFloat("SERVICE_COMMS_REQUEST_TIMEOUT", "90", option.Between(1, 1000), seconds).in(time.Second),
		vFloat("SERVICE_CONNECTION_PROBE_INTERVAL", "0.1", option.Between(0.1, 600), seconds).in(time.Second),
		vFloat("SERVICE_CONNECTION_PROBE_TIMEOUT", "90", wide, seconds).in(time.Second),
		vFloat("SERVICE_REGISTRATION_INTERVAL", "1", wide, seconds).in(time.Second),
		vInt("SERVICE_REGISTRATION_MAX_ATTEMPTS", "10", wide, count),
		vFloat("SERVICE_REGISTRATION_TIMEOUT", "30", wide, seconds).in(time.Second),
		vFloat("SERVICE_START_TIMEOUT", "30", wide, seconds).in(time.Second),
		vFloat("SERVICE_TASK_CANCEL_TIMEOUT_SHORT", "2", wide, seconds).in(time.Second),
		vBool("SERVICE_DISABLE_UVLOOP", "false", count),
		vBool("SERVICE_EVENT_LOOP_HEALTH_ENABLED", "true", count),
		vFloat("SERVICE_EVENT_LOOP_HEALTH_INTERVAL", "0.25", option.Between(0.05, 10), seconds).in(time.Second),
		vFloat("SERVICE_EVENT_LOOP_HEALTH_WARN_THRESHOLD_MS", "25", option.Between(1, 10000), count),
		vInt("SERVICE_WINDOWS_TCP_BASE_PORT", "28000", option.Between(1, 65535), count),
		vInt("SERVICE_WINDOWS_TCP_PORT_RANGE", "20000", option.Between(1, 65535), count))
	for _, w := range []struct{ name, def string }{
		{"CHECK_INTERVAL", "1"}, {"ERROR_RECOVERY_TIME", "3"}, {"HEALTH_CHECK_INTERVAL", "2"},
		{"HIGH_LOAD_RECOVERY_TIME", "5"}, {"STALE_TIME", "10"}, {"STATUS_SUMMARY_INTERVAL", "0.5"},
	} {
		add(vFloat("WORKER_"+w.name, w.def, option.Between(0.1, 1000), seconds).in(time.Second))
	}
	add(vFloat("WORKER_HIGH_LOAD_CPU_USAGE", "85", option.Between(50, 100),
		"Percent; describes another program's processes."))
	for _, name := range []string{"PULL", "REPLY", "REQUEST", "STREAMING_DEALER", "STREAMING_ROUTER", "SUB"} {
		add(vInt("ZMQ_"+name+"_YIELD_INTERVAL", "10", option.Between(0, 1e6), count))
	}
	add(vInt("ZMQ_CONTEXT_TERM_TIMEOUT", "10", option.AtLeast(0), seconds).in(time.Second),
		vInt("ZMQ_PULL_MAX_CONCURRENCY", "100000", option.AtLeast(1), count),
		vInt("ZMQ_PUSH_MAX_RETRIES", "2", option.Between(1, 100), count),
		vFloat("ZMQ_PUSH_RETRY_DELAY", "0.1", option.AtLeast(0), seconds).in(time.Second),
		vInt("ZMQ_RCVTIMEO", "300000", option.AtLeast(0), count),
		vInt("ZMQ_SNDTIMEO", "300000", option.AtLeast(0), count),
		vInt("ZMQ_TCP_KEEPALIVE_IDLE", "60", option.AtLeast(0), seconds).in(time.Second),
		vInt("ZMQ_TCP_KEEPALIVE_INTVL", "10", option.AtLeast(0), seconds).in(time.Second),
		vInt("ZMQ_EVENT_BUS_PROXY_FRONTEND_PORT", "5663", option.Between(1, 65535), count),
		vInt("ZMQ_EVENT_BUS_PROXY_BACKEND_PORT", "5664", option.Between(1, 65535), count))
	for i := range vars {
		vars[i].Group = VarInternal
	}
	return vars
}
