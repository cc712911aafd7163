package schema

import (
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/option"
	"aiperf/internal/load"
)

// Reasons of keys that this program accepts without effect.
const (
	oneProcess = "this program runs as one process"
	noCluster  = "it belongs to runs in a cluster"
)

func fields(groups ...[]Key) []Key { return slices.Concat(groups...) }

// opt is a key with the effect of an option, and its default in a complete configuration.
func opt(name, optionName string, def any) Key {
	return Key{Name: name, Option: optionName, Default: def}
}

// of limits keys to types of dataset or phase.
func of(types []string, keys ...Key) []Key {
	for i := range keys {
		keys[i].Of = types
	}
	return keys
}

// ours marks keys that the original does not know.
func ours(keys ...Key) []Key {
	for i := range keys {
		keys[i].Ours = true
	}
	return keys
}

func section(name, help string, keys ...Key) Key {
	return Key{Name: name, Kind: Section, Help: help, Fields: keys}
}

// helped gives a key a text of its own.
func (k Key) helped(text string) Key { k.Help = text; return k }

// as gives a key another kind than that of its option.
func (k Key) as(kind Kind) Key { k.Kind = kind; return k }

func (k Key) within(l option.Limits) Key { k.Limits = l; return k }

func envelopeKeys() []Key {
	body := section("benchmark", "One workload: what sweeps vary.", bodyKeys()...)
	body.Required = true
	return []Key{
		{Name: "schema_version", Kind: Choice, Values: []string{"2.0"}, Help: "Version of the format."},
		body,
		sweepSection(),
		section("multi_run", "Repetitions of the benchmark and how their results are combined.",
			opt("num_runs", "num-profile-runs", 1), opt("cooldown_seconds", "profile-run-cooldown-seconds", 0.0).
				within(option.Between(0, 86400)),
			opt("confidence_level", "confidence-level", 0.95), opt("set_consistent_seed", "set-consistent-seed", true),
			opt("disable_warmup_after_first", "profile-run-disable-warmup-after-first", true),
			opt("vary_seed_per_trial", "vary-seed-per-trial", false),
			section("convergence", "When the runs are enough.",
				opt("metric", "convergence-metric", nil), opt("stat", "convergence-stat", nil),
				opt("mode", "convergence-mode", nil), opt("threshold", "convergence-threshold", nil),
				Key{Name: "min_runs", Kind: Whole, Option: "convergence-min-runs"})),
		{Name: "plot", Kind: Anything, Help: "Settings of plots: a path relative to this file, or a mapping."},
		{Name: "variables", Kind: Table, Help: "Values for {{ expressions }} in this file."},
		opt("random_seed", "random-seed", nil),
		opt("no_sweep_table", "no-sweep-table", false),
	}
}

func bodyKeys() []Key {
	datasets := Key{Name: "datasets", Kind: Sections, Fields: datasetKeys(), Required: true,
		Help: "Exactly one dataset: what is sent."}
	phases := Key{Name: "phases", Kind: Sections, Fields: phaseKeys(), Required: true,
		Help: "Stretches of load, one after the other."}
	models := section("models", "The models that are asked for.",
		opt("strategy", "model-selection-strategy", "round_robin"),
		Key{Name: "items", Kind: Sections, Required: true, Help: "One model each.", Fields: []Key{
			opt("name", "model-names", nil).as(Word),
			{Name: "weight", Kind: Number, Limits: option.Between(0, 1),
				Help: "Share of the requests with strategy weighted; the shares add up to 1."},
			{Name: "lora", Kind: Word, Help: "Name of an adapter.",
				Unused: "name the adapter as a model, as servers list it"},
			{Name: "modalities", Kind: Words, Help: "What the model understands: text, image, audio, video.",
				Unused: "models are chosen by strategy alone"},
			section("tokenizer", "Tokenizer of this model.", opt("name", "tokenizer", nil)),
		}})
	models.Required = true
	endpoint := section("endpoint", "The server and how it is asked.", endpointKeys()...)
	endpoint.Required = true
	return fields([]Key{models, endpoint, datasets, phases,
		section("artifacts", "Files of results.", artifactKeys()...),
		{Name: "slos", Kind: Table, Option: "goodput",
			Help: "Thresholds of goodput: metric tag to number, in display units."},
		section("tokenizer", "The tokenizer that counts.", opt("name", "tokenizer", nil),
			opt("revision", "tokenizer-revision", "main"),
			opt("trust_remote_code", "tokenizer-trust-remote-code", false),
			opt("apply_chat_template", "apply-chat-template", false),
			Key{Name: "resolved_names", Kind: Anything, Help: "Written by exports.", Unused: "it is output only"}),
	}, telemetryKeys(), runtimeKeys(), []Key{
		opt("scenario", "scenario", nil), opt("unsafe_override", "unsafe-override", false),
	}, ours(opt("fail_if", "fail-if", nil), opt("require_valid", "require-valid", nil),
		opt("fail_fast", "fail-fast", nil), fleetKeys()))
}

func fleetKeys() Key {
	return section("fleet", "Processes and machines that share the load.", opt("agents", "agents", nil),
		opt("wait_for_agents", "wait-for-agents", nil), opt("timeout", "agents-timeout", nil),
		opt("name", "fleet-name", nil), opt("records", "fleet-records", nil),
		section("nats", "The server at which they meet.", opt("url", "nats-url", nil), opt("listen", "nats-listen", nil),
			opt("token_file", "nats-token-file", nil), opt("nkey_file", "nats-nkey-file", nil),
			opt("creds_file", "nats-creds-file", nil), opt("ca_file", "nats-ca-file", nil),
			opt("cert_file", "nats-cert-file", nil), opt("key_file", "nats-key-file", nil),
			opt("allow_clear_text", "nats-allow-clear-text", nil)))
}

func endpointKeys() []Key {
	return fields([]Key{
		urlsKey(),
		opt("url_strategy", "url-strategy", "round_robin"), opt("type", "endpoint-type", "chat"),
		opt("path", "custom-endpoint", nil), opt("api_key", "api-key", nil),
		opt("timeout", "request-timeout-seconds", 21600.0), opt("streaming", "streaming", false),
		opt("transport", "transport", nil), opt("connection_reuse", "connection-reuse-strategy", "pooled"),
		opt("use_legacy_max_tokens", "use-legacy-max-tokens", false),
		opt("use_server_token_count", "use-server-token-count", false),
		opt("per_chunk_usage", "per-chunk-usage", false),
		section("template", "Body of the requests of a template endpoint.",
			Key{Name: "body", Kind: Word, Required: true,
				Help: "Jinja template of a request's body; rendered for each request."},
			Key{Name: "response_field", Kind: Word, Default: "text",
				Help: "Path of the text in a response, such as choices.0.message.content."}),
		opt("headers", "header", artifact.Object{}), opt("extra", "extra-inputs", artifact.Object{}),
		opt("download_video_content", "download-video-content", false),
		opt("request_content_type", "request-content-type", nil), opt("session_header", "session-header", nil),
		opt("uuid_and_strip", "uuid-and-strip", false),
		opt("wait_for_model_timeout", "wait-for-model-timeout", 0.0),
		opt("wait_for_model_interval", "wait-for-model-interval", 5.0),
		opt("wait_for_model_mode", "wait-for-model-mode", "inference"),
		section("reset_kv_cache", "Empty the server's prefix cache before the load: true, or its settings.",
			opt("timeout_seconds", "reset-kv-cache-timeout-seconds", nil),
			Key{Name: "max_retry_seconds", Kind: Number, Option: "reset-kv-cache-retry-seconds"},
			opt("path", "reset-kv-cache-path", nil)),
		section("server_profiler", "Run the server's profiler during the load: true, or its settings.",
			opt("timeout_seconds", "server-profiler-timeout-seconds", nil),
			opt("start_path", "server-profiler-start-path", nil), opt("stop_path", "server-profiler-stop-path", nil)),
	}, ours(opt("session_cookies", "session-cookies", nil), opt("echo_headers", "echo-header", nil),
		opt("plugin", "endpoint-plugin", nil), opt("http2", "http2", nil), opt("uds_path", "unix-socket", nil),
		opt("source_addresses", "source-address", nil), opt("tls_ca_file", "tls-ca-file", nil),
		opt("tls_client_cert", "tls-client-cert", nil), opt("tls_client_key", "tls-client-key", nil),
		section("auth", "Requests signed for AWS.", opt("type", "auth-type", nil), opt("region", "aws-region", nil),
			opt("service", "aws-service", nil), opt("profile", "aws-profile", nil)),
		section("sagemaker", "An endpoint of SageMaker.", opt("endpoint_name", "sagemaker-endpoint-name", nil),
			opt("target_model", "sagemaker-target-model", nil),
			opt("inference_component_name", "sagemaker-inference-component-name", nil),
			opt("target_variant", "sagemaker-target-variant", nil)),
	))
}

// urlsKey are URLs, each a text, or a mapping where the requests to it have headers of their own.
func urlsKey() Key {
	k := opt("urls", "url", nil).required()
	k.Fields = ours(Key{Name: "url", Kind: Word, Required: true, Help: "The URL."},
		Key{Name: "headers", Kind: TextTable, Default: artifact.Object{},
			Help: "Headers of the requests to this URL alone."})
	return k
}

func (k Key) required() Key { k.Required = true; return k }

// The types of dataset.
const (
	Synthetic = "synthetic"
	File      = "file"
	Public    = "public"
)

// DatasetTypes are the types of dataset.
func DatasetTypes() []string { return []string{Synthetic, File, Public} }

func dist(name string, def any, help string) Key {
	return Key{Name: name, Kind: Distribution, Default: def, Help: help}
}

func datasetKeys() []Key {
	synthetic, file, public := []string{Synthetic}, []string{File}, []string{Public}
	read := []string{File, Public}
	bust := section("cache_bust", "Marks that keep requests out of the server's prefix cache.",
		opt("target", "cache-bust", "none"))
	value := func(x float64) artifact.Object { return artifact.Object{{Key: "value", Value: x}} }
	prompts := section("prompts", "Texts of the requests.",
		dist("isl", nil, "Input length of a turn in tokens."),
		dist("osl", nil, "Requested output length in tokens."),
		opt("block_size", "isl-block-size", nil), opt("batch_size", "prompt-batch-size", 1),
		opt("corpus", "prompt-corpus", nil), bust,
		Key{Name: "sequence_distribution", Kind: Anything, Option: "seq-dist",
			Help: "List of isl, osl and probability in percent; the probabilities add up to 100."},
		Key{Name: "random_range_ratio", Kind: Anything, Option: "random-range-ratio"},
		opt("random_corpus_style", "random-corpus-style", "vllm"))
	prompts.Fields = append(prompts.Fields, ours(opt("random_range_ratio_mode", "random-range-ratio-mode", nil))...)
	corpus := section("prompts", "", opt("corpus", "prompt-corpus", nil))
	synthesis := section("synthesis", "How a trace is changed before it is replayed.",
		opt("speedup_ratio", "synthesis-speedup-ratio", 1.0),
		opt("prefix_len_multiplier", "synthesis-prefix-len-multiplier", 1.0),
		opt("prefix_root_multiplier", "synthesis-prefix-root-multiplier", 1),
		opt("prompt_len_multiplier", "synthesis-prompt-len-multiplier", 1.0),
		opt("output_len_multiplier", "synthesis-output-len-multiplier", 1.0),
		opt("max_isl", "synthesis-max-isl", nil), opt("max_osl", "synthesis-max-osl", nil),
		opt("allow_dataset_wrap", "allow-dataset-wrap", false))
	return fields([]Key{
		{Name: "name", Kind: Word, Required: true, Help: "Name of the dataset."},
		{Name: "type", Kind: Choice, Values: DatasetTypes(), Default: Synthetic,
			Help: "Where conversations come from."},
		{Name: "random_seed", Kind: Whole, Limits: option.AtLeast(0), Help: "Seed of the dataset alone."},
		opt("system_prompt", "system-prompt", nil),
		opt("system_prompt_file", "system-prompt-file", nil),
	},
		of(file, opt("path", "input-file", nil),
			Key{Name: "records", Kind: Anything,
				Help: "Lines of the file, written here: a list of mappings, or with random_pool a mapping of pools."},
			opt("format", "custom-dataset-type", "single_turn")),
		of(public, opt("dataset", "public-dataset", nil), opt("hf_subset", "hf-subset", nil),
			opt("hf_weka_dataset", "hf-weka-dataset", nil),
			opt("filters", "dataset-filter", artifact.Object{}).as(TextTable)),
		of(synthetic, opt("entries", "num-dataset-entries", 100)), of(read, opt("entries", "num-dataset-entries", nil)),
		[]Key{opt("sampling", "dataset-sampling-strategy", "sequential")},
		of(synthetic, prompts,
			section("prefix_prompts", "Shared beginnings of the prompts.",
				opt("pool_size", "prompt-prefix-pool-size", nil).within(option.AtLeast(1)),
				opt("length", "prompt-prefix-length", nil).within(option.AtLeast(1)),
				opt("shared_system_length", "shared-system-prompt-length", nil).within(option.AtLeast(1)),
				opt("user_context_length", "user-context-prompt-length", nil).within(option.AtLeast(1))),
			dist("turns", nil, "Number of turns of a conversation."),
			dist("turn_delay", nil, "Think time before a turn in milliseconds."),
			opt("turn_delay_ratio", "conversation-turn-delay-ratio", 1.0),
			section("images", "Pictures of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", "image-batch-size", 0),
				dist("width", value(512), "Width in pixels."),
				dist("height", value(512), "Height in pixels."),
				opt("format", "image-format", "jpeg"), opt("source", "image-source", "noise"),
				opt("source_sampling", "image-source-sampling", "random-with-replacement")),
			section("audio", "Sound of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", "audio-batch-size", 0),
				dist("length", value(10), "Length in seconds."),
				opt("format", "audio-format", "wav"), opt("sample_rates", "audio-sample-rates", []any{16.0}),
				opt("depths", "audio-depths", []any{16}),
				opt("channels", "audio-num-channels", 1).within(option.Between(1, 2))),
			section("video", "Video of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", "video-batch-size", 0),
				opt("duration", "video-duration", 1.0).within(option.Above(0)),
				opt("fps", "video-fps", 4), opt("width", "video-width", nil), opt("height", "video-height", nil),
				opt("format", "video-format", "webm"), opt("codec", "video-codec", "libvpx-vp9"),
				opt("synth_type", "video-synth-type", "moving_shapes"),
				section("audio", "Sound of the video.",
					opt("sample_rate", "video-audio-sample-rate", 44.1).within(option.Between(8, 96)).
						helped("Sample rate in kHz."),
					opt("channels", "video-audio-num-channels", 0), opt("codec", "video-audio-codec", nil),
					opt("depth", "video-audio-depth", 16))),
			section("rankings", "Queries and passages of rankings endpoints.",
				dist("passages", value(10), "Passages of a query."),
				dist("passage_tokens", value(128), "Length of a passage in tokens."),
				dist("query_tokens", value(32), "Length of a query in tokens."))),
		of(read, corpus, synthesis, bust,
			dist("osl", nil, "Output length in tokens, where the data has none."),
			opt("trace_idle_gap_cap_seconds", "trace-idle-gap-cap-seconds", nil),
			opt("inter_turn_delay_cap_seconds", "inter-turn-delay-cap-seconds", nil),
			opt("ignore_trace_delays", "ignore-trace-delays", false),
			opt("use_think_time_only", "use-think-time-only", false),
			opt("max_context_length", "max-context-length", nil)),
		of(file, opt("block_size", "isl-block-size", nil),
			opt("prompt_batch_size", "prompt-batch-size", nil), opt("image_batch_size", "image-batch-size", nil),
			opt("audio_batch_size", "audio-batch-size", nil), opt("video_batch_size", "video-batch-size", nil),
			opt("trace_session_sample_ratio", "trace-session-sample-ratio", nil),
			opt("max_idle_gap_cap_seconds", "max-idle-gap-cap-seconds", nil),
			opt("replay_speedup", "replay-speedup", nil), opt("open_loop_replay", "open-loop-replay", true),
			opt("open_loop_strict", "open-loop-strict", false), opt("omit_kv_hints", "omit-kv-hints", false),
			opt("force_min_tokens", "force-min-tokens", true)),
		ours(of(public, Key{Name: "path", Option: "dataset-path"}, opt("block_size", "isl-block-size", nil))...),
		ours(of(file, opt("map", "map", artifact.Object{}).as(TextTable))...),
		ours(of(synthetic, Key{Name: "media_mix", Kind: Anything,
			Help: "List of weighted kinds of request with media of their own."})...),
	)
}

// The types of phase.
const (
	Concurrency   = "concurrency"
	Constant      = option.ArrivalConstant
	Poisson       = option.ArrivalPoisson
	Gamma         = option.ArrivalGamma
	UserCentric   = "user_centric"
	FixedSchedule = "fixed_schedule"
)

// PhaseTypes are the types of phase.
func PhaseTypes() []string {
	return []string{Concurrency, Constant, Poisson, Gamma, UserCentric, FixedSchedule}
}

func phaseKeys() []Key {
	arrivals, rates := []string{Constant, Poisson, Gamma}, []string{Constant, Poisson, Gamma, UserCentric}
	ramp := func(name, optionName string) Key { return Key{Name: name, Kind: Ramp, Option: optionName} }
	return fields([]Key{
		{Name: "name", Kind: Word, Required: true, Help: "Name of the phase: letters, digits, - and _."},
		{Name: "kind", Kind: Choice, Values: []string{"warmup", "profiling"},
			Help: "What the phase is for; the names warmup and profiling imply it."},
		{Name: "type", Kind: Choice, Values: PhaseTypes(), Required: true, Help: "When requests are sent."},
		opt("requests", "request-count", nil), opt("duration", "benchmark-duration", nil).as(Duration),
		opt("sessions", "num-sessions", nil), opt("concurrency", "concurrency", nil),
		ramp("concurrency_ramp", "concurrency-ramp-duration"),
		opt("prefill_concurrency", "prefill-concurrency", nil),
		ramp("prefill_ramp", "prefill-concurrency-ramp-duration"),
		opt("grace_period", "benchmark-grace-period", nil).as(Duration),
		section("cancellation", "Requests that are cancelled on purpose.",
			opt("rate", "request-cancellation-rate", nil).within(option.Between(0, 100)).required(),
			opt("delay", "request-cancellation-delay", 0.0)),
		{Name: "seamless", Option: "phase-seamless", Default: false},
		{Name: "exclude_from_results", Kind: Switch, Help: "True for warm-up phases, false for the others."},
		opt("failed_request_threshold", "failed-request-threshold", nil),
		{Name: "sla", Kind: Anything, Default: []any{},
			Help: "Limits of adaptive scale: a list, or a mapping of metric, statistic and operator."},
		{Name: "adaptive_scale", Kind: Anything, Option: "phase-adaptive", Default: false},
		{Name: "adaptive_sustain_duration", Kind: Duration, Help: "Seconds that the load found is held."},
		{Name: "adaptive_assessment_period", Kind: Number, Limits: option.AtLeast(1),
			Help: "Length of a window in seconds."},
		{Name: "adaptive_min_completed_requests", Kind: Whole, Limits: option.AtLeast(1), Default: 1,
			Help: "Successful requests that make a window count."},
		{Name: "adaptive_control_variable", Kind: Choice, Default: "concurrency",
			Values: load.VariableNames(), Help: "What is raised."},
		{Name: "adaptive_control_min", Kind: Number, Limits: option.Above(0), Default: 1.0,
			Help: "Where the search begins."},
		{Name: "adaptive_control_max", Kind: Number, Limits: option.Above(0),
			Help: "Where the search ends at the latest."},
		{Name: "adaptive_scale_strategy_type", Kind: Choice, Values: []string{load.StrategyRampUntilFail},
			Default: load.StrategyRampUntilFail,
			Help:    "How the load is searched."},
		{Name: "adaptive_scale_step_policy", Kind: Choice, Values: load.StepPolicyNames(),
			Default: "sla_margin", Help: "How the next step is chosen."},
		{Name: "adaptive_scale_base_step", Kind: Whole, Limits: option.AtLeast(1), Default: 10,
			Help: "Step of sla_margin."},
		{Name: "adaptive_scale_max_step_multiplier", Kind: Whole, Limits: option.AtLeast(1), Default: 4,
			Help: "Largest multiple of the base step."},
		{Name: "adaptive_scale_step_percent", Kind: Number, Limits: option.Above(0), Default: 25.0,
			Help: "Step of fixed_percent_step."},
		{Name: "timing_mode", Kind: Choice, Values: []string{"fixed_schedule", "request_rate", "adaptive_scale",
			"user_centric_rate", "agentic_replay"}, Help: "The timing mode that the type implies."},
		opt("trajectory_start_min_ratio", "trajectory-start-min-ratio", 0.25),
		opt("trajectory_start_max_ratio", "trajectory-start-max-ratio", 0.75),
		opt("burst_phase_starts", "burst-phase-starts", false),
		opt("system_idle_gap_cap_seconds", "system-idle-gap-cap-seconds", nil),
		opt("agentic_cache_warmup_duration", "agentic-cache-warmup-duration", nil),
		opt("agentic_warmup_grace_period", "agentic-warmup-grace-period", nil),
	},
		of(rates, opt("rate", "request-rate", nil).within(option.Above(0))),
		of(arrivals, ramp("rate_ramp", "request-rate-ramp-duration"),
			Key{Name: "rate_series", Kind: Anything, Option: "phase-rate-series",
				Help: "A rate that changes: a path, or a list of time_s and qps."}),
		of([]string{Gamma}, opt("smoothness", "arrival-smoothness", nil)),
		of([]string{UserCentric}, opt("users", "num-users", nil).required()),
		of([]string{FixedSchedule}, opt("auto_offset", "fixed-schedule-auto-offset", true),
			opt("start_offset", "fixed-schedule-start-offset", nil),
			opt("end_offset", "fixed-schedule-end-offset", nil)),
		ours(of([]string{Concurrency}, opt("simultaneous_start", "simultaneous-start", nil))...),
		ours(opt("warmup_requests_per_lane", "warmup-requests-per-lane", nil)),
	)
}

func artifactKeys() []Key {
	return fields([]Key{
		opt("dir", "output-artifact-dir", "artifacts"), opt("prefix", "profile-export-prefix", nil),
		{Name: "summary", Kind: Words, Option: "export-summary", Values: []string{"json"}, Default: []any{"json"}},
		{Name: "records", Kind: Words, Values: []string{"jsonl"}, Default: []any{"jsonl"},
			Help: "The file of one line for each request: [jsonl], or false."},
		{Name: "raw", Kind: Switch, Default: false,
			Help: "Keep requests and responses as they were sent and received."},
		opt("trace", "export-http-trace", false), opt("slice_duration", "slice-duration", nil).as(Duration),
		opt("show_trace_timing", "show-trace-timing", false),
		{Name: "user_files", Kind: Sections, Option: "user-files", Default: []any{}, Fields: []Key{
			{Name: "path", Kind: Word, Required: true, Help: "Where the file goes, relative to the folder of the run."},
			{Name: "content", Kind: Anything, Required: true,
				Help: "Text, or a value that is written as JSON or YAML."},
			{Name: "format", Kind: Choice, Values: []string{"json", "yaml", "text"},
				Help: "text for a text, json for anything else."},
		}},
		opt("auto_plot", "auto-plot", false), opt("plot_required", "plot-required", false),
		opt("export_outputs_json", "export-outputs-json", false),
	}, ours(opt("percentiles", "percentiles", nil), opt("records_parquet", "export-records-parquet", nil),
		opt("records_compress", "records-compress", nil),
		opt("html_report", "html-report", nil), opt("overwrite", "overwrite", nil)))
}

func telemetryKeys() []Key {
	return []Key{
		section("gpu_telemetry", "Figures of GPUs. A text is a URL.", append(ours(
			opt("price_per_gpu_hour", "price-per-gpu-hour", nil), opt("num_gpus", "num-gpus", nil)),
			Key{Name: "enabled", Kind: Switch, Default: true, Help: "Collect figures of GPUs."},
			Key{Name: "urls", Kind: Words, Default: []any{}, Help: "DCGM exporters."},
			Key{Name: "metrics_file", Kind: Word, Help: "CSV file with names of further DCGM fields."},
			Key{Name: "collector", Kind: Choice, Values: []string{"dcgm", "pynvml", "amdsmi"}, Default: "dcgm",
				Help: "Where figures come from."},
			Key{Name: "mode", Kind: Choice, Values: []string{"summary", "realtime_dashboard"}, Default: "summary",
				Help: "Whether figures are shown during the run."})...),
		section("server_metrics", "Prometheus metrics of the server. A text is a URL.",
			Key{Name: "enabled", Kind: Switch, Default: true, Help: "Collect the server's metrics."},
			opt("urls", "server-metrics", []any{}),
			opt("formats", "server-metrics-formats", []any{"json", "csv", "parquet"}),
			section("discovery", "Finding metrics pages by themselves.",
				Key{Name: "mode", Kind: Choice, Values: []string{"auto", "kubernetes", "disabled"}, Default: "auto",
					Help: "Where metrics pages are looked for."},
				Key{Name: "label_selector", Kind: Word, Help: "Label selector of pods.", Unused: noCluster},
				Key{Name: "namespace", Kind: Word, Help: "Namespace of pods.", Unused: noCluster},
				Key{Name: "timeout_seconds", Kind: Number, Limits: option.Above(0), Default: 30.0,
					Help: "Seconds to look for pods.", Unused: noCluster})),
		section("network_latency", "Round trips to the server, to correct latencies by.",
			opt("enabled", "network-latency-automatic", false),
			opt("ping_interval", "network-latency-ping-interval", 1.0), opt("mean_ms", "network-latency-mean", nil)),
		section("otel", "Figures to an OpenTelemetry collector.", opt("metrics_url", "otel-url", nil),
			Key{Name: "stream_metrics_enabled", Kind: Switch, Default: true, Help: "Send figures of requests."},
			Key{Name: "stream_timing_enabled", Kind: Switch, Default: true, Help: "Send figures of the schedule."},
			opt("custom_resource_attributes", "otel-resource-attributes", artifact.Object{}).as(TextTable),
			opt("gen_ai_provider", "gen-ai-provider", nil)),
		section("mlflow", "Results to an MLflow server.", opt("tracking_uri", "mlflow-tracking-uri", nil),
			opt("experiment", "mlflow-experiment", "aiperf"), opt("run_name", "mlflow-run-name", nil),
			opt("tags", "mlflow-tag", nil), opt("parent_run_id", "mlflow-parent-run-id", nil),
			opt("artifact_globs", "mlflow-artifact-glob", nil)),
		section("wandb", "Results to Weights & Biases.", opt("project", "wandb-project", nil),
			opt("entity", "wandb-entity", nil), opt("run_name", "wandb-run-name", nil), opt("tags", "wandb-tag", nil)),
	}
}

func runtimeKeys() []Key {
	unused := func(name string, kind Kind, help, why string) Key {
		return Key{Name: name, Kind: kind, Help: help, Unused: why}
	}
	runtime := section("runtime", "The program itself.", opt("ui", "ui-type", "dashboard"),
		opt("workers", "workers-max", nil), opt("workers_min", "workers-min", nil),
		opt("record_processors", "record-processor-service-count", nil),
		Key{Name: "service_run_type", Kind: Choice, Values: []string{"multiprocessing", "kubernetes"},
			Default: "multiprocessing", Help: "How the parts of the original are run.", Unused: oneProcess},
		unused("communication", Anything, "How the parts of the original talk to each other.", oneProcess),
		opt("api_port", "api-port", nil), opt("api_host", "api-host", nil),
		unused("dataset_api_base_url", Word, "Where pods get the dataset.", noCluster),
		unused("workers_per_pod", Whole, "Workers of a pod.", noCluster).within(option.Between(1, 100)),
		unused("record_processors_per_pod", Whole, "Record processors of a pod.", noCluster).
			within(option.Between(1, 100)),
		opt("stats_interval", "stats-interval", nil).within(option.Between(0, 1000)))
	runtime.Fields = append(runtime.Fields, ours(opt("metrics_listen", "metrics-listen", nil),
		opt("web", "web", nil),
		opt("timestamp_source", "timestamp-source", nil), opt("verbose", "verbose", nil),
		opt("report", "report", nil))...)
	accuracy := section("accuracy", "Whether answers are right.", opt("benchmark", "accuracy-benchmark", nil),
		opt("tasks", "accuracy-tasks", nil), opt("n_shots", "accuracy-n-shots", nil),
		opt("enable_cot", "accuracy-enable-cot", nil), opt("grader", "accuracy-grader", nil),
		opt("system_prompt", "accuracy-system-prompt", nil), opt("verbose", "accuracy-verbose", nil))
	accuracy.Fields = append(accuracy.Fields, ours(opt("data", "accuracy-data", nil),
		opt("download", "accuracy-download", nil),
		opt("repeats", "accuracy-repeats", nil), opt("allow_code_execution", "accuracy-allow-code-execution", nil))...)
	return []Key{
		runtime,
		section("logging", "The log.", opt("level", "log-level", "INFO")),
		section("metrics", "Reserved."),
		accuracy,
	}
}
