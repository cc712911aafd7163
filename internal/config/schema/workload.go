package schema

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/config/option"
	"aiperf/internal/load"
)

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
		preset("target", &t.CacheBust))
	value := func(x float64) artifact.Object { return artifact.Object{{Key: "value", Value: x}} }
	prompts := section("prompts", "Texts of the requests.",
		dist("isl", nil, "Input length of a turn in tokens."),
		dist("osl", nil, "Requested output length in tokens."),
		opt("block_size", &t.ISLBlockSize), preset("batch_size", &t.PromptBatchSize), opt("corpus", &t.PromptCorpus),
		bust,
		Key{Name: "sequence_distribution", Kind: Anything, Option: t.SeqDist.Row(),
			Help: "List of isl, osl and probability in percent; the probabilities add up to 100."},
		Key{Name: "random_range_ratio", Kind: Anything, Option: t.RandomRangeRatio.Row()},
		preset("random_corpus_style", &t.RandomCorpusStyle))
	prompts.Fields = append(prompts.Fields, ours(opt("random_range_ratio_mode", &t.RandomRangeRatioMode))...)
	corpus := section("prompts", "", opt("corpus", &t.PromptCorpus))
	synthesis := section("synthesis", "How a trace is changed before it is replayed.",
		preset("speedup_ratio", &t.SynthesisSpeedupRatio),
		preset("prefix_len_multiplier", &t.SynthesisPrefixLenMultiplier),
		preset("prefix_root_multiplier", &t.SynthesisPrefixRootMultiplier),
		preset("prompt_len_multiplier", &t.SynthesisPromptLenMultiplier),
		preset("output_len_multiplier", &t.SynthesisOutputLenMultiplier), opt("max_isl", &t.SynthesisMaxISL),
		opt("max_osl", &t.SynthesisMaxOSL),
		preset("allow_dataset_wrap", &t.AllowDatasetWrap))
	synthesis.Fields = append(synthesis.Fields, ours(preset("users", &t.SynthesisUsers))...)
	return fields([]Key{
		{Name: "name", Kind: Word, Required: true, Help: "Name of the dataset."},
		{Name: "type", Kind: Choice, Values: DatasetTypes(), Default: Synthetic,
			Help: "Where conversations come from."},
		{Name: "random_seed", Kind: Whole, Limits: option.AtLeast(0), Help: "Seed of the dataset alone."},
		opt("system_prompt", &t.SystemPrompt), opt("system_prompt_file", &t.SystemPromptFile),
	},
		of(file, opt("path", &t.InputFile),
			Key{Name: "records", Kind: Anything,
				Help: "Lines of the file, written here: a list of mappings, or with random_pool a mapping of pools."},
			opt("format", &t.CustomDatasetType).or("single_turn")),
		of(public, opt("dataset", &t.PublicDataset), opt("hf_subset", &t.HFSubset),
			opt("hf_weka_dataset", &t.HFWekaDataset),
			opt("filters", &t.DatasetFilter).or(artifact.Object{}).as(TextTable)),
		of(synthetic, preset("entries", &t.NumDatasetEntries)), of(read, opt("entries", &t.NumDatasetEntries)),
		[]Key{opt("sampling", &t.DatasetSamplingStrategy).or("sequential")},
		of(synthetic, prompts,
			section("prefix_prompts", "Shared beginnings of the prompts.",
				opt("pool_size", &t.PromptPrefixPoolSize).within(option.AtLeast(1)),
				opt("length", &t.PromptPrefixLength).within(option.AtLeast(1)),
				opt("shared_system_length", &t.SharedSystemPromptLength).within(option.AtLeast(1)),
				opt("user_context_length", &t.UserContextPromptLength).within(option.AtLeast(1))),
			dist("turns", nil, "Number of turns of a conversation."),
			dist("turn_delay", nil, "Think time before a turn in milliseconds."),
			preset("turn_delay_ratio", &t.ConversationTurnDelayRatio),
			section("images", "Pictures of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", &t.ImageBatchSize).or(0),
				dist("width", value(512), "Width in pixels."),
				dist("height", value(512), "Height in pixels."),
				opt("format", &t.ImageFormat).or("jpeg"), preset("source", &t.ImageSource),
				preset("source_sampling", &t.ImageSourceSampling)),
			section("audio", "Sound of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", &t.AudioBatchSize).or(0),
				dist("length", value(10), "Length in seconds."),
				preset("format", &t.AudioFormat), preset("sample_rates", &t.AudioSampleRates),
				preset("depths", &t.AudioDepths),
				preset("channels", &t.AudioNumChannels).within(option.Between(1, 2))),
			section("video", "Video of a turn; sent where batch_size is 1 or more.",
				opt("batch_size", &t.VideoBatchSize).or(0),
				opt("duration", &t.VideoDuration).or(1.0).within(option.Above(0)), preset("fps", &t.VideoFPS),
				opt("width", &t.VideoWidth), opt("height", &t.VideoHeight), preset("format", &t.VideoFormat),
				preset("codec", &t.VideoCodec), preset("synth_type", &t.VideoSynthType),
				section("audio", "Sound of the video.",
					opt("sample_rate", &t.VideoAudioSampleRate).or(44.1).within(option.Between(8, 96)).
						helped("Sample rate in kHz."),
					preset("channels", &t.VideoAudioNumChannels), opt("codec", &t.VideoAudioCodec),
					preset("depth", &t.VideoAudioDepth))),
			section("rankings", "Queries and passages of rankings endpoints.",
				dist("passages", value(10), "Passages of a query."),
				dist("passage_tokens", value(128), "Length of a passage in tokens."),
				dist("query_tokens", value(32), "Length of a query in tokens."))),
		of(read, corpus, synthesis, bust,
			dist("osl", nil, "Output length in tokens, where the data has none."),
			opt("trace_idle_gap_cap_seconds", &t.TraceIdleGapCapSeconds),
			opt("inter_turn_delay_cap_seconds", &t.InterTurnDelayCapSeconds),
			preset("ignore_trace_delays", &t.IgnoreTraceDelays), preset("use_think_time_only", &t.UseThinkTimeOnly),
			opt("max_context_length", &t.MaxContextLength)),
		of(file, opt("block_size", &t.ISLBlockSize),
			opt("prompt_batch_size", &t.PromptBatchSize), opt("image_batch_size", &t.ImageBatchSize),
			opt("audio_batch_size", &t.AudioBatchSize), opt("video_batch_size", &t.VideoBatchSize),
			opt("trace_session_sample_ratio", &t.TraceSessionSampleRatio),
			opt("max_idle_gap_cap_seconds", &t.MaxIdleGapCapSeconds), opt("replay_speedup", &t.ReplaySpeedup),
			preset("open_loop_replay", &t.OpenLoopReplay), preset("open_loop_strict", &t.OpenLoopStrict),
			preset("omit_kv_hints", &t.OmitKVHints),
			preset("force_min_tokens", &t.ForceMinTokens)),
		ours(of(public, Key{Name: "path", Option: t.DatasetPath.Row()}, opt("block_size", &t.ISLBlockSize))...),
		ours(of(file, opt("map", &t.Map).or(artifact.Object{}).as(TextTable))...),
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
		opt("requests", &t.RequestCount), opt("duration", &t.BenchmarkDuration).as(Duration),
		opt("sessions", &t.NumSessions), opt("concurrency", &t.Concurrency),
		ramp("concurrency_ramp", &t.ConcurrencyRampDuration), opt("prefill_concurrency", &t.PrefillConcurrency),
		ramp("prefill_ramp", &t.PrefillConcurrencyRampDuration),
		opt("grace_period", &t.BenchmarkGracePeriod).as(Duration),
		section("cancellation", "Requests that are cancelled on purpose.",
			opt("rate", &t.RequestCancellationRate).within(option.Between(0, 100)).required(),
			preset("delay", &t.RequestCancellationDelay)),
		{Name: "seamless", Option: t.PhaseSeamless.Row(), Default: false},
		{Name: "exclude_from_results", Kind: Switch, Help: "True for warm-up phases, false for the others."},
		opt("failed_request_threshold", &t.FailedRequestThreshold),
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
		preset("trajectory_start_min_ratio", &t.TrajectoryStartMinRatio),
		preset("trajectory_start_max_ratio", &t.TrajectoryStartMaxRatio),
		preset("burst_phase_starts", &t.BurstPhaseStarts),
		opt("system_idle_gap_cap_seconds", &t.SystemIdleGapCapSeconds),
		opt("agentic_cache_warmup_duration", &t.AgenticCacheWarmupDuration),
		opt("agentic_warmup_grace_period", &t.AgenticWarmupGracePeriod),
	},
		of(rates, opt("rate", &t.RequestRate).within(option.Above(0))),
		of(arrivals, ramp("rate_ramp", &t.RequestRateRampDuration),
			Key{Name: "rate_series", Kind: Anything, Option: t.PhaseRateSeries.Row(),
				Help: "A rate that changes: a path, or a list of time_s and qps."}),
		of([]string{Gamma}, opt("smoothness", &t.ArrivalSmoothness)),
		of([]string{UserCentric}, opt("users", &t.NumUsers).required()),
		of([]string{FixedSchedule}, opt("auto_offset", &t.FixedScheduleAutoOffset).or(true),
			opt("start_offset", &t.FixedScheduleStartOffset),
			opt("end_offset", &t.FixedScheduleEndOffset)),
		ours(of([]string{Concurrency}, opt("simultaneous_start", &t.SimultaneousStart))...),
		ours(opt("warmup_requests_per_lane", &t.WarmupRequestsPerLane)),
	)
}
