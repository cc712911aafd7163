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
func opt(name string, f option.Field, def any) Key {
	return Key{Name: name, Option: f.Row(), Default: def}
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

func envelopeKeys(t *option.Tree) []Key {
	body := section("benchmark", "One workload: what sweeps vary.", bodyKeys(t)...)
	body.Required = true
	return []Key{
		{Name: "schema_version", Kind: Choice, Values: []string{"2.0"}, Help: "Version of the format."},
		body,
		sweepSection(t),
		section("multi_run", "Repetitions of the benchmark and how their results are combined.",
			opt("num_runs", &t.NumProfileRuns, 1), opt("cooldown_seconds", &t.ProfileRunCooldownSeconds, 0.0).
				within(option.Between(0, 86400)),
			opt("confidence_level", &t.ConfidenceLevel, 0.95), opt("set_consistent_seed", &t.SetConsistentSeed, true),
			opt("disable_warmup_after_first", &t.ProfileRunDisableWarmupAfterFirst, true),
			opt("vary_seed_per_trial", &t.VarySeedPerTrial, false),
			section("convergence", "When the runs are enough.",
				opt("metric", &t.ConvergenceMetric, nil), opt("stat", &t.ConvergenceStat, nil),
				opt("mode", &t.ConvergenceMode, nil), opt("threshold", &t.ConvergenceThreshold, nil),
				Key{Name: "min_runs", Kind: Whole, Option: t.ConvergenceMinRuns.Row()})),
		{Name: "plot", Kind: Anything, Help: "Settings of plots: a path relative to this file, or a mapping."},
		{Name: "variables", Kind: Table, Help: "Values for {{ expressions }} in this file."},
		opt("random_seed", &t.RandomSeed, nil),
		opt("no_sweep_table", &t.NoSweepTable, false),
	}
}

func bodyKeys(t *option.Tree) []Key {
	datasets := Key{Name: "datasets", Kind: Sections, Fields: datasetKeys(t), Required: true,
		Help: "Exactly one dataset: what is sent."}
	phases := Key{Name: "phases", Kind: Sections, Fields: phaseKeys(t), Required: true,
		Help: "Stretches of load, one after the other."}
	models := section("models", "The models that are asked for.",
		opt("strategy", &t.ModelSelectionStrategy, "round_robin"),
		Key{Name: "items", Kind: Sections, Required: true, Help: "One model each.", Fields: []Key{
			opt("name", &t.ModelNames, nil).as(Word),
			{Name: "weight", Kind: Number, Limits: option.Between(0, 1),
				Help: "Share of the requests with strategy weighted; the shares add up to 1."},
			{Name: "lora", Kind: Word, Help: "Name of an adapter.",
				Unused: "name the adapter as a model, as servers list it"},
			{Name: "modalities", Kind: Words, Help: "What the model understands: text, image, audio, video.",
				Unused: "models are chosen by strategy alone"},
			section("tokenizer", "Tokenizer of this model.", opt("name", &t.Tokenizer, nil)),
		}})
	models.Required = true
	endpoint := section("endpoint", "The server and how it is asked.", endpointKeys(t)...)
	endpoint.Required = true
	return fields([]Key{models, endpoint, datasets, phases,
		section("artifacts", "Files of results.", artifactKeys(t)...),
		{Name: "slos", Kind: Table, Option: t.Goodput.Row(),
			Help: "Thresholds of goodput: metric tag to number, in display units."},
		section("tokenizer", "The tokenizer that counts.", opt("name", &t.Tokenizer, nil),
			opt("revision", &t.TokenizerRevision, "main"),
			opt("trust_remote_code", &t.TokenizerTrustRemoteCode, false),
			opt("apply_chat_template", &t.ApplyChatTemplate, false),
			Key{Name: "resolved_names", Kind: Anything, Help: "Written by exports.", Unused: "it is output only"}),
	}, telemetryKeys(t), runtimeKeys(t), []Key{
		opt("scenario", &t.Scenario, nil), opt("unsafe_override", &t.UnsafeOverride, false),
	}, ours(opt("fail_if", &t.FailIf, nil), opt("require_valid", &t.RequireValid, nil),
		opt("fail_fast", &t.FailFast, nil), fleetKeys(t)))
}

func fleetKeys(t *option.Tree) Key {
	return section("fleet", "Processes and machines that share the load.", opt("agents", &t.Agents, nil),
		opt("wait_for_agents", &t.WaitForAgents, nil), opt("timeout", &t.AgentsTimeout, nil),
		opt("name", &t.FleetName, nil), opt("records", &t.FleetRecords, nil),
		section("nats", "The server at which they meet.", opt("url", &t.NATSURL, nil), opt("listen", &t.NATSListen, nil),
			opt("token_file", &t.NATSTokenFile, nil), opt("nkey_file", &t.NATSNKeyFile, nil),
			opt("creds_file", &t.NATSCredsFile, nil), opt("ca_file", &t.NATSCAFile, nil),
			opt("cert_file", &t.NATSCertFile, nil), opt("key_file", &t.NATSKeyFile, nil),
			opt("allow_clear_text", &t.NATSAllowClearText, nil)))
}

func endpointKeys(t *option.Tree) []Key {
	return fields([]Key{
		urlsKey(t),
		opt("url_strategy", &t.URLStrategy, "round_robin"), opt("type", &t.EndpointType, "chat"),
		opt("path", &t.CustomEndpoint, nil), opt("api_key", &t.APIKey, nil),
		opt("timeout", &t.RequestTimeoutSeconds, 21600.0), opt("streaming", &t.Streaming, false),
		opt("transport", &t.Transport, nil), opt("connection_reuse", &t.ConnectionReuseStrategy, "pooled"),
		opt("use_legacy_max_tokens", &t.UseLegacyMaxTokens, false),
		opt("use_server_token_count", &t.UseServerTokenCount, false),
		opt("per_chunk_usage", &t.PerChunkUsage, false),
		section("template", "Body of the requests of a template endpoint.",
			Key{Name: "body", Kind: Word, Required: true,
				Help: "Jinja template of a request's body; rendered for each request."},
			Key{Name: "response_field", Kind: Word, Default: "text",
				Help: "Path of the text in a response, such as choices.0.message.content."}),
		opt("headers", &t.Header, artifact.Object{}), opt("extra", &t.ExtraInputs, artifact.Object{}),
		opt("download_video_content", &t.DownloadVideoContent, false),
		opt("request_content_type", &t.RequestContentType, nil), opt("session_header", &t.SessionHeader, nil),
		opt("uuid_and_strip", &t.UUIDAndStrip, false),
		opt("wait_for_model_timeout", &t.WaitForModelTimeout, 0.0),
		opt("wait_for_model_interval", &t.WaitForModelInterval, 5.0),
		opt("wait_for_model_mode", &t.WaitForModelMode, "inference"),
		section("reset_kv_cache", "Empty the server's prefix cache before the load: true, or its settings.",
			opt("timeout_seconds", &t.ResetKVCacheTimeoutSeconds, nil),
			Key{Name: "max_retry_seconds", Kind: Number, Option: t.ResetKVCacheRetrySeconds.Row()},
			opt("path", &t.ResetKVCachePath, nil)),
		section("server_profiler", "Run the server's profiler during the load: true, or its settings.",
			opt("timeout_seconds", &t.ServerProfilerTimeoutSeconds, nil),
			opt("start_path", &t.ServerProfilerStartPath, nil), opt("stop_path", &t.ServerProfilerStopPath, nil)),
	}, ours(opt("session_cookies", &t.SessionCookies, nil), opt("echo_headers", &t.EchoHeader, nil),
		opt("plugin", &t.EndpointPlugin, nil), opt("http2", &t.HTTP2, nil), opt("uds_path", &t.UnixSocket, nil),
		opt("source_addresses", &t.SourceAddress, nil), opt("tls_ca_file", &t.TLSCAFile, nil),
		opt("tls_client_cert", &t.TLSClientCert, nil), opt("tls_client_key", &t.TLSClientKey, nil),
		section("auth", "Requests signed for AWS.", opt("type", &t.AuthType, nil), opt("region", &t.AWSRegion, nil),
			opt("service", &t.AWSService, nil), opt("profile", &t.AWSProfile, nil)),
		section("sagemaker", "An endpoint of SageMaker.", opt("endpoint_name", &t.SageMakerEndpointName, nil),
			opt("target_model", &t.SageMakerTargetModel, nil),
			opt("inference_component_name", &t.SageMakerInferenceComponentName, nil),
			opt("target_variant", &t.SageMakerTargetVariant, nil)),
	))
}

// urlsKey are URLs, each a text, or a mapping where the requests to it have headers of their own.
func urlsKey(t *option.Tree) Key {
	k := opt("urls", &t.URL, nil).required()
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

func datasetKeys(t *option.Tree) []Key {
	synthetic, file, public := []string{Synthetic}, []string{File}, []string{Public}
	read := []string{File, Public}
	bust := section("cache_bust", "Marks that keep requests out of the server's prefix cache.",
		opt("target", &t.CacheBust, "none"))
	value := func(x float64) artifact.Object { return artifact.Object{{Key: "value", Value: x}} }
	prompts := section("prompts", "Texts of the requests.",
		dist("isl", nil, "Input length of a turn in tokens."),
		dist("osl", nil, "Requested output length in tokens."),
		opt("block_size", &t.ISLBlockSize, nil), opt("batch_size", &t.PromptBatchSize, 1),
		opt("corpus", &t.PromptCorpus, nil), bust,
		Key{Name: "sequence_distribution", Kind: Anything, Option: t.SeqDist.Row(),
			Help: "List of isl, osl and probability in percent; the probabilities add up to 100."},
		Key{Name: "random_range_ratio", Kind: Anything, Option: t.RandomRangeRatio.Row()},
		opt("random_corpus_style", &t.RandomCorpusStyle, "vllm"))
	prompts.Fields = append(prompts.Fields, ours(opt("random_range_ratio_mode", &t.RandomRangeRatioMode, nil))...)
	corpus := section("prompts", "", opt("corpus", &t.PromptCorpus, nil))
	synthesis := section("synthesis", "How a trace is changed before it is replayed.",
		opt("speedup_ratio", &t.SynthesisSpeedupRatio, 1.0),
		opt("prefix_len_multiplier", &t.SynthesisPrefixLenMultiplier, 1.0),
		opt("prefix_root_multiplier", &t.SynthesisPrefixRootMultiplier, 1),
		opt("prompt_len_multiplier", &t.SynthesisPromptLenMultiplier, 1.0),
		opt("output_len_multiplier", &t.SynthesisOutputLenMultiplier, 1.0),
		opt("max_isl", &t.SynthesisMaxISL, nil), opt("max_osl", &t.SynthesisMaxOSL, nil),
		opt("allow_dataset_wrap", &t.AllowDatasetWrap, false))
	return fields([]Key{
		{Name: "name", Kind: Word, Required: true, Help: "Name of the dataset."},
		{Name: "type", Kind: Choice, Values: DatasetTypes(), Default: Synthetic,
			Help: "Where conversations come from."},
		{Name: "random_seed", Kind: Whole, Limits: option.AtLeast(0), Help: "Seed of the dataset alone."},
		opt("system_prompt", &t.SystemPrompt, nil),
		opt("system_prompt_file", &t.SystemPromptFile, nil),
	},
		of(file, opt("path", &t.InputFile, nil),
			Key{Name: "records", Kind: Anything,
				Help: "Lines of the file, written here: a list of mappings, or with random_pool a mapping of pools."},
			opt("format", &t.CustomDatasetType, "single_turn")),
		of(public, opt("dataset", &t.PublicDataset, nil), opt("hf_subset", &t.HFSubset, nil),
			opt("hf_weka_dataset", &t.HFWekaDataset, nil),
			opt("filters", &t.DatasetFilter, artifact.Object{}).as(TextTable)),
		of(synthetic, opt("entries", &t.NumDatasetEntries, 100)), of(read, opt("entries", &t.NumDatasetEntries, nil)),
		[]Key{opt("sampling", &t.DatasetSamplingStrategy, "sequential")},
		of(synthetic, prompts,
			section("prefix_prompts", "Shared beginnings of the prompts.",
				opt("pool_size", &t.PromptPrefixPoolSize, nil).within(option.AtLeast(1)),
				opt("length", &t.PromptPrefixLength, nil).within(option.AtLeast(1)),
				opt("shared_system_length", &t.SharedSystemPromptLength, nil).within(option.AtLeast(1)),
				opt("user_context_length", &t.UserContextPromptLength, nil).within(option.AtLeast(1))),
			dist("turns", nil, "Number of turns of a conversation."),
			dist("turn_delay", nil, "Think time before a turn in milliseconds."),
			opt("turn_delay_ratio", &t.ConversationTurnDelayRatio, 1.0),
			section("images", "Pictures of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", &t.ImageBatchSize, 0),
				dist("width", value(512), "Width in pixels."),
				dist("height", value(512), "Height in pixels."),
				opt("format", &t.ImageFormat, "jpeg"), opt("source", &t.ImageSource, "noise"),
				opt("source_sampling", &t.ImageSourceSampling, "random-with-replacement")),
			section("audio", "Sound of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", &t.AudioBatchSize, 0),
				dist("length", value(10), "Length in seconds."),
				opt("format", &t.AudioFormat, "wav"), opt("sample_rates", &t.AudioSampleRates, []any{16.0}),
				opt("depths", &t.AudioDepths, []any{16}),
				opt("channels", &t.AudioNumChannels, 1).within(option.Between(1, 2))),
			section("video", "Video of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", &t.VideoBatchSize, 0),
				opt("duration", &t.VideoDuration, 1.0).within(option.Above(0)),
				opt("fps", &t.VideoFPS, 4), opt("width", &t.VideoWidth, nil), opt("height", &t.VideoHeight, nil),
				opt("format", &t.VideoFormat, "webm"), opt("codec", &t.VideoCodec, "libvpx-vp9"),
				opt("synth_type", &t.VideoSynthType, "moving_shapes"),
				section("audio", "Sound of the video.",
					opt("sample_rate", &t.VideoAudioSampleRate, 44.1).within(option.Between(8, 96)).
						helped("Sample rate in kHz."),
					opt("channels", &t.VideoAudioNumChannels, 0), opt("codec", &t.VideoAudioCodec, nil),
					opt("depth", &t.VideoAudioDepth, 16))),
			section("rankings", "Queries and passages of rankings endpoints.",
				dist("passages", value(10), "Passages of a query."),
				dist("passage_tokens", value(128), "Length of a passage in tokens."),
				dist("query_tokens", value(32), "Length of a query in tokens."))),
		of(read, corpus, synthesis, bust,
			dist("osl", nil, "Output length in tokens, where the data has none."),
			opt("trace_idle_gap_cap_seconds", &t.TraceIdleGapCapSeconds, nil),
			opt("inter_turn_delay_cap_seconds", &t.InterTurnDelayCapSeconds, nil),
			opt("ignore_trace_delays", &t.IgnoreTraceDelays, false),
			opt("use_think_time_only", &t.UseThinkTimeOnly, false),
			opt("max_context_length", &t.MaxContextLength, nil)),
		of(file, opt("block_size", &t.ISLBlockSize, nil),
			opt("prompt_batch_size", &t.PromptBatchSize, nil), opt("image_batch_size", &t.ImageBatchSize, nil),
			opt("audio_batch_size", &t.AudioBatchSize, nil), opt("video_batch_size", &t.VideoBatchSize, nil),
			opt("trace_session_sample_ratio", &t.TraceSessionSampleRatio, nil),
			opt("max_idle_gap_cap_seconds", &t.MaxIdleGapCapSeconds, nil),
			opt("replay_speedup", &t.ReplaySpeedup, nil), opt("open_loop_replay", &t.OpenLoopReplay, true),
			opt("open_loop_strict", &t.OpenLoopStrict, false), opt("omit_kv_hints", &t.OmitKVHints, false),
			opt("force_min_tokens", &t.ForceMinTokens, true)),
		ours(of(public, Key{Name: "path", Option: t.DatasetPath.Row()}, opt("block_size", &t.ISLBlockSize, nil))...),
		ours(of(file, opt("map", &t.Map, artifact.Object{}).as(TextTable))...),
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

func phaseKeys(t *option.Tree) []Key {
	arrivals, rates := []string{Constant, Poisson, Gamma}, []string{Constant, Poisson, Gamma, UserCentric}
	ramp := func(name string, f option.Field) Key { return Key{Name: name, Kind: Ramp, Option: f.Row()} }
	return fields([]Key{
		{Name: "name", Kind: Word, Required: true, Help: "Name of the phase: letters, digits, - and _."},
		{Name: "kind", Kind: Choice, Values: []string{"warmup", "profiling"},
			Help: "What the phase is for; the names warmup and profiling imply it."},
		{Name: "type", Kind: Choice, Values: PhaseTypes(), Required: true, Help: "When requests are sent."},
		opt("requests", &t.RequestCount, nil), opt("duration", &t.BenchmarkDuration, nil).as(Duration),
		opt("sessions", &t.NumSessions, nil), opt("concurrency", &t.Concurrency, nil),
		ramp("concurrency_ramp", &t.ConcurrencyRampDuration),
		opt("prefill_concurrency", &t.PrefillConcurrency, nil),
		ramp("prefill_ramp", &t.PrefillConcurrencyRampDuration),
		opt("grace_period", &t.BenchmarkGracePeriod, nil).as(Duration),
		section("cancellation", "Requests that are cancelled on purpose.",
			opt("rate", &t.RequestCancellationRate, nil).within(option.Between(0, 100)).required(),
			opt("delay", &t.RequestCancellationDelay, 0.0)),
		{Name: "seamless", Option: t.PhaseSeamless.Row(), Default: false},
		{Name: "exclude_from_results", Kind: Switch, Help: "True for warm-up phases, false for the others."},
		opt("failed_request_threshold", &t.FailedRequestThreshold, nil),
		{Name: "sla", Kind: Anything, Default: []any{},
			Help: "Limits of adaptive scale: a list, or a mapping of metric, statistic and operator."},
		{Name: "adaptive_scale", Kind: Anything, Option: t.PhaseAdaptive.Row(), Default: false},
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
		opt("trajectory_start_min_ratio", &t.TrajectoryStartMinRatio, 0.25),
		opt("trajectory_start_max_ratio", &t.TrajectoryStartMaxRatio, 0.75),
		opt("burst_phase_starts", &t.BurstPhaseStarts, false),
		opt("system_idle_gap_cap_seconds", &t.SystemIdleGapCapSeconds, nil),
		opt("agentic_cache_warmup_duration", &t.AgenticCacheWarmupDuration, nil),
		opt("agentic_warmup_grace_period", &t.AgenticWarmupGracePeriod, nil),
	},
		of(rates, opt("rate", &t.RequestRate, nil).within(option.Above(0))),
		of(arrivals, ramp("rate_ramp", &t.RequestRateRampDuration),
			Key{Name: "rate_series", Kind: Anything, Option: t.PhaseRateSeries.Row(),
				Help: "A rate that changes: a path, or a list of time_s and qps."}),
		of([]string{Gamma}, opt("smoothness", &t.ArrivalSmoothness, nil)),
		of([]string{UserCentric}, opt("users", &t.NumUsers, nil).required()),
		of([]string{FixedSchedule}, opt("auto_offset", &t.FixedScheduleAutoOffset, true),
			opt("start_offset", &t.FixedScheduleStartOffset, nil),
			opt("end_offset", &t.FixedScheduleEndOffset, nil)),
		ours(of([]string{Concurrency}, opt("simultaneous_start", &t.SimultaneousStart, nil))...),
		ours(opt("warmup_requests_per_lane", &t.WarmupRequestsPerLane, nil)),
	)
}

func artifactKeys(t *option.Tree) []Key {
	return fields([]Key{
		opt("dir", &t.ArtifactDir, "artifacts"), opt("prefix", &t.ProfileExportPrefix, nil),
		{Name: "summary", Kind: Words, Option: t.ExportSummary.Row(), Values: []string{"json"}, Default: []any{"json"}},
		{Name: "records", Kind: Words, Values: []string{"jsonl"}, Default: []any{"jsonl"},
			Help: "The file of one line for each request: [jsonl], or false."},
		{Name: "raw", Kind: Switch, Default: false,
			Help: "Keep requests and responses as they were sent and received."},
		opt("trace", &t.ExportHTTPTrace, false), opt("slice_duration", &t.SliceDuration, nil).as(Duration),
		opt("show_trace_timing", &t.ShowTraceTiming, false),
		{Name: "user_files", Kind: Sections, Option: t.UserFiles.Row(), Default: []any{}, Fields: []Key{
			{Name: "path", Kind: Word, Required: true, Help: "Where the file goes, relative to the folder of the run."},
			{Name: "content", Kind: Anything, Required: true,
				Help: "Text, or a value that is written as JSON or YAML."},
			{Name: "format", Kind: Choice, Values: []string{"json", "yaml", "text"},
				Help: "text for a text, json for anything else."},
		}},
		opt("auto_plot", &t.AutoPlot, false), opt("plot_required", &t.PlotRequired, false),
		opt("export_outputs_json", &t.ExportOutputsJSON, false),
	}, ours(opt("percentiles", &t.Percentiles, nil), opt("records_parquet", &t.ExportRecordsParquet, nil),
		opt("records_compress", &t.RecordsCompress, nil),
		opt("html_report", &t.HTMLReport, nil), opt("overwrite", &t.Overwrite, nil)))
}

func telemetryKeys(t *option.Tree) []Key {
	return []Key{
		section("gpu_telemetry", "Figures of GPUs. A text is a URL.", append(ours(
			opt("price_per_gpu_hour", &t.PricePerGPUHour, nil), opt("num_gpus", &t.NumGPUs, nil)),
			Key{Name: "enabled", Kind: Switch, Default: true, Help: "Collect figures of GPUs."},
			Key{Name: "urls", Kind: Words, Default: []any{}, Help: "DCGM exporters."},
			Key{Name: "metrics_file", Kind: Word, Help: "CSV file with names of further DCGM fields."},
			Key{Name: "collector", Kind: Choice, Values: []string{"dcgm", "pynvml", "amdsmi"}, Default: "dcgm",
				Help: "Where figures come from."},
			Key{Name: "mode", Kind: Choice, Values: []string{"summary", "realtime_dashboard"}, Default: "summary",
				Help: "Whether figures are shown during the run."})...),
		section("server_metrics", "Prometheus metrics of the server. A text is a URL.",
			Key{Name: "enabled", Kind: Switch, Default: true, Help: "Collect the server's metrics."},
			opt("urls", &t.ServerMetrics, []any{}),
			opt("formats", &t.ServerMetricsFormats, []any{"json", "csv", "parquet"}),
			section("discovery", "Finding metrics pages by themselves.",
				Key{Name: "mode", Kind: Choice, Values: []string{"auto", "kubernetes", "disabled"}, Default: "auto",
					Help: "Where metrics pages are looked for."},
				Key{Name: "label_selector", Kind: Word, Help: "Label selector of pods.", Unused: noCluster},
				Key{Name: "namespace", Kind: Word, Help: "Namespace of pods.", Unused: noCluster},
				Key{Name: "timeout_seconds", Kind: Number, Limits: option.Above(0), Default: 30.0,
					Help: "Seconds to look for pods.", Unused: noCluster})),
		section("network_latency", "Round trips to the server, to correct latencies by.",
			opt("enabled", &t.NetworkLatencyAutomatic, false),
			opt("ping_interval", &t.NetworkLatencyPingInterval, 1.0), opt("mean_ms", &t.NetworkLatencyMean, nil)),
		section("otel", "Figures to an OpenTelemetry collector.", opt("metrics_url", &t.OTelURL, nil),
			Key{Name: "stream_metrics_enabled", Kind: Switch, Default: true, Help: "Send figures of requests."},
			Key{Name: "stream_timing_enabled", Kind: Switch, Default: true, Help: "Send figures of the schedule."},
			opt("custom_resource_attributes", &t.OTelResourceAttributes, artifact.Object{}).as(TextTable),
			opt("gen_ai_provider", &t.GenAIProvider, nil)),
		section("mlflow", "Results to an MLflow server.", opt("tracking_uri", &t.MLflowTrackingURI, nil),
			opt("experiment", &t.MLflowExperiment, "aiperf"), opt("run_name", &t.MLflowRunName, nil),
			opt("tags", &t.MLflowTag, nil), opt("parent_run_id", &t.MLflowParentRunID, nil),
			opt("artifact_globs", &t.MLflowArtifactGlob, nil)),
		section("wandb", "Results to Weights & Biases.", opt("project", &t.WandBProject, nil),
			opt("entity", &t.WandBEntity, nil), opt("run_name", &t.WandBRunName, nil), opt("tags", &t.WandBTag, nil)),
	}
}

func runtimeKeys(t *option.Tree) []Key {
	unused := func(name string, kind Kind, help, why string) Key {
		return Key{Name: name, Kind: kind, Help: help, Unused: why}
	}
	runtime := section("runtime", "The program itself.", opt("ui", &t.UI, "dashboard"),
		opt("workers", &t.WorkersMax, nil), opt("workers_min", &t.WorkersMin, nil),
		opt("record_processors", &t.RecordProcessors, nil),
		Key{Name: "service_run_type", Kind: Choice, Values: []string{"multiprocessing", "kubernetes"},
			Default: "multiprocessing", Help: "How the parts of the original are run.", Unused: oneProcess},
		unused("communication", Anything, "How the parts of the original talk to each other.", oneProcess),
		opt("api_port", &t.APIPort, nil), opt("api_host", &t.APIHost, nil),
		unused("dataset_api_base_url", Word, "Where pods get the dataset.", noCluster),
		unused("workers_per_pod", Whole, "Workers of a pod.", noCluster).within(option.Between(1, 100)),
		unused("record_processors_per_pod", Whole, "Record processors of a pod.", noCluster).
			within(option.Between(1, 100)),
		opt("stats_interval", &t.StatsInterval, nil).within(option.Between(0, 1000)))
	runtime.Fields = append(runtime.Fields, ours(opt("metrics_listen", &t.MetricsListen, nil),
		opt("web", &t.Web, nil),
		opt("timestamp_source", &t.TimestampSource, nil), opt("verbose", &t.Verbose, nil),
		opt("report", &t.Report, nil))...)
	accuracy := section("accuracy", "Whether answers are right.", opt("benchmark", &t.AccuracyBenchmark, nil),
		opt("tasks", &t.AccuracyTasks, nil), opt("n_shots", &t.AccuracyNShots, nil),
		opt("enable_cot", &t.AccuracyEnableCoT, nil), opt("grader", &t.AccuracyGrader, nil),
		opt("system_prompt", &t.AccuracySystemPrompt, nil), opt("verbose", &t.AccuracyVerbose, nil))
	accuracy.Fields = append(accuracy.Fields, ours(opt("data", &t.AccuracyData, nil),
		opt("download", &t.AccuracyDownload, nil),
		opt("repeats", &t.AccuracyRepeats, nil), opt("allow_code_execution", &t.AccuracyAllowCodeExecution, nil))...)
	return []Key{
		runtime,
		section("logging", "The log.", opt("level", &t.LogLevel, "INFO")),
		section("metrics", "Reserved."),
		accuracy,
	}
}
