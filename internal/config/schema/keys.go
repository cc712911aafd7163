package schema

import (
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/option"
)

// Reasons of keys that this program accepts without effect.
const (
	oneProcess = "this program runs as one process"
	noCluster  = "it belongs to runs in a cluster"
)

func fields(groups ...[]Key) []Key { return slices.Concat(groups...) }

// opt is a key with the effect of an option, which a complete configuration leaves out where it is not given.
func opt(name string, f option.Field) Key { return Key{Name: name, Option: f.Row()} }

// preset is a key with the effect and the default of an option.
func preset(name string, f option.Field) Key {
	k := opt(name, f)
	k.Default = k.Option.DefaultValue()
	if list, ok := k.Default.([]string); ok {
		k.Default = anys(list)
	}
	return k
}

// or gives a key a default of its own.
func (k Key) or(def any) Key { k.Default = def; return k }

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
			preset("num_runs", &t.NumProfileRuns), preset("cooldown_seconds", &t.ProfileRunCooldownSeconds).
				within(option.Between(0, 86400)),
			preset("confidence_level", &t.ConfidenceLevel), preset("set_consistent_seed", &t.SetConsistentSeed),
			preset("disable_warmup_after_first", &t.ProfileRunDisableWarmupAfterFirst),
			preset("vary_seed_per_trial", &t.VarySeedPerTrial),
			section("convergence", "When the runs are enough.",
				opt("metric", &t.ConvergenceMetric), opt("stat", &t.ConvergenceStat), opt("mode", &t.ConvergenceMode),
				opt("threshold", &t.ConvergenceThreshold),
				Key{Name: "min_runs", Kind: Whole, Option: t.ConvergenceMinRuns.Row()})),
		{Name: "plot", Kind: Anything, Help: "Settings of plots: a path relative to this file, or a mapping."},
		{Name: "variables", Kind: Table, Help: "Values for {{ expressions }} in this file."},
		opt("random_seed", &t.RandomSeed), preset("no_sweep_table", &t.NoSweepTable),
	}
}

func bodyKeys(t *option.Tree) []Key {
	datasets := Key{Name: "datasets", Kind: Sections, Fields: datasetKeys(t), Required: true,
		Help: "Exactly one dataset: what is sent."}
	phases := Key{Name: "phases", Kind: Sections, Fields: phaseKeys(t), Required: true,
		Help: "Stretches of load, one after the other."}
	models := section("models", "The models that are asked for.",
		preset("strategy", &t.ModelSelectionStrategy),
		Key{Name: "items", Kind: Sections, Required: true, Help: "One model each.", Fields: []Key{
			opt("name", &t.ModelNames).as(Word),
			{Name: "weight", Kind: Number, Limits: option.Between(0, 1),
				Help: "Share of the requests with strategy weighted; the shares add up to 1."},
			{Name: "lora", Kind: Word, Help: "Name of an adapter.",
				Unused: "name the adapter as a model, as servers list it"},
			{Name: "modalities", Kind: Words, Help: "What the model understands: text, image, audio, video.",
				Unused: "models are chosen by strategy alone"},
			section("tokenizer", "Tokenizer of this model.", opt("name", &t.Tokenizer)),
		}})
	models.Required = true
	endpoint := section("endpoint", "The server and how it is asked.", endpointKeys(t)...)
	endpoint.Required = true
	return fields([]Key{models, endpoint, datasets, phases,
		section("artifacts", "Files of results.", artifactKeys(t)...),
		{Name: "slos", Kind: Table, Option: t.Goodput.Row(),
			Help: "Thresholds of goodput: metric tag to number, in display units."},
		section("tokenizer", "The tokenizer that counts.", opt("name", &t.Tokenizer),
			preset("revision", &t.TokenizerRevision), preset("trust_remote_code", &t.TokenizerTrustRemoteCode),
			preset("apply_chat_template", &t.ApplyChatTemplate),
			Key{Name: "resolved_names", Kind: Anything, Help: "Written by exports.", Unused: "it is output only"}),
	}, telemetryKeys(t), runtimeKeys(t), []Key{
		opt("scenario", &t.Scenario), preset("unsafe_override", &t.UnsafeOverride),
	}, ours(opt("fail_if", &t.FailIf), opt("require_valid", &t.RequireValid),
		opt("fail_fast", &t.FailFast), fleetKeys(t)))
}

func fleetKeys(t *option.Tree) Key {
	return section("fleet", "Processes and machines that share the load.", opt("agents", &t.Agents),
		opt("wait_for_agents", &t.WaitForAgents), opt("timeout", &t.AgentsTimeout), opt("name", &t.FleetName),
		opt("records", &t.FleetRecords),
		section("nats", "The server at which they meet.", opt("url", &t.NATSURL), opt("listen", &t.NATSListen),
			opt("token_file", &t.NATSTokenFile), opt("nkey_file", &t.NATSNKeyFile), opt("creds_file", &t.NATSCredsFile),
			opt("ca_file", &t.NATSCAFile), opt("cert_file", &t.NATSCertFile), opt("key_file", &t.NATSKeyFile),
			opt("allow_clear_text", &t.NATSAllowClearText)))
}

func endpointKeys(t *option.Tree) []Key {
	return fields([]Key{
		urlsKey(t),
		preset("url_strategy", &t.URLStrategy), preset("type", &t.EndpointType), opt("path", &t.CustomEndpoint),
		opt("api_key", &t.APIKey), preset("timeout", &t.RequestTimeoutSeconds), preset("streaming", &t.Streaming),
		opt("transport", &t.Transport), preset("connection_reuse", &t.ConnectionReuseStrategy),
		preset("use_legacy_max_tokens", &t.UseLegacyMaxTokens),
		preset("use_server_token_count", &t.UseServerTokenCount), preset("per_chunk_usage", &t.PerChunkUsage),
		section("template", "Body of the requests of a template endpoint.",
			Key{Name: "body", Kind: Word, Required: true,
				Help: "Jinja template of a request's body; rendered for each request."},
			Key{Name: "response_field", Kind: Word, Default: "text",
				Help: "Path of the text in a response, such as choices.0.message.content."}),
		opt("headers", &t.Header).or(artifact.Object{}), opt("extra", &t.ExtraInputs).or(artifact.Object{}),
		preset("download_video_content", &t.DownloadVideoContent), opt("request_content_type", &t.RequestContentType),
		opt("session_header", &t.SessionHeader), preset("uuid_and_strip", &t.UUIDAndStrip),
		preset("wait_for_model_timeout", &t.WaitForModelTimeout),
		preset("wait_for_model_interval", &t.WaitForModelInterval), preset("wait_for_model_mode", &t.WaitForModelMode),
		section("reset_kv_cache", "Empty the server's prefix cache before the load: true, or its settings.",
			opt("timeout_seconds", &t.ResetKVCacheTimeoutSeconds),
			Key{Name: "max_retry_seconds", Kind: Number, Option: t.ResetKVCacheRetrySeconds.Row()},
			opt("path", &t.ResetKVCachePath)),
		section("server_profiler", "Run the server's profiler during the load: true, or its settings.",
			opt("timeout_seconds", &t.ServerProfilerTimeoutSeconds),
			opt("start_path", &t.ServerProfilerStartPath), opt("stop_path", &t.ServerProfilerStopPath)),
	}, ours(opt("session_cookies", &t.SessionCookies), opt("echo_headers", &t.EchoHeader),
		opt("plugin", &t.EndpointPlugin), opt("http2", &t.HTTP2), opt("uds_path", &t.UnixSocket),
		opt("source_addresses", &t.SourceAddress), opt("tls_ca_file", &t.TLSCAFile),
		opt("tls_client_cert", &t.TLSClientCert), opt("tls_client_key", &t.TLSClientKey),
		section("auth", "Requests signed for AWS.", opt("type", &t.AuthType), opt("region", &t.AWSRegion),
			opt("service", &t.AWSService), opt("profile", &t.AWSProfile)),
		section("sagemaker", "An endpoint of SageMaker.", opt("endpoint_name", &t.SageMakerEndpointName),
			opt("target_model", &t.SageMakerTargetModel),
			opt("inference_component_name", &t.SageMakerInferenceComponentName),
			opt("target_variant", &t.SageMakerTargetVariant)),
	))
}

// urlsKey are URLs, each a text, or a mapping where the requests to it have headers of their own.
func urlsKey(t *option.Tree) Key {
	k := opt("urls", &t.URL).required()
	k.Fields = ours(Key{Name: "url", Kind: Word, Required: true, Help: "The URL."},
		Key{Name: "headers", Kind: TextTable, Default: artifact.Object{},
			Help: "Headers of the requests to this URL alone."})
	return k
}

func (k Key) required() Key { k.Required = true; return k }

func artifactKeys(t *option.Tree) []Key {
	return fields([]Key{
		opt("dir", &t.ArtifactDir).or("artifacts"), opt("prefix", &t.ProfileExportPrefix),
		{Name: "summary", Kind: Words, Option: t.ExportSummary.Row(), Values: []string{"json"}, Default: []any{"json"}},
		{Name: "records", Kind: Words, Values: []string{"jsonl"}, Default: []any{"jsonl"},
			Help: "The file of one line for each request: [jsonl], or false."},
		{Name: "raw", Kind: Switch, Default: false,
			Help: "Keep requests and responses as they were sent and received."},
		preset("trace", &t.ExportHTTPTrace), opt("slice_duration", &t.SliceDuration).as(Duration),
		preset("show_trace_timing", &t.ShowTraceTiming),
		{Name: "user_files", Kind: Sections, Option: t.UserFiles.Row(), Default: []any{}, Fields: []Key{
			{Name: "path", Kind: Word, Required: true, Help: "Where the file goes, relative to the folder of the run."},
			{Name: "content", Kind: Anything, Required: true,
				Help: "Text, or a value that is written as JSON or YAML."},
			{Name: "format", Kind: Choice, Values: []string{"json", "yaml", "text"},
				Help: "text for a text, json for anything else."},
		}},
		opt("auto_plot", &t.AutoPlot).or(false), preset("plot_required", &t.PlotRequired),
		opt("export_outputs_json", &t.ExportOutputsJSON).or(false),
	}, ours(opt("percentiles", &t.Percentiles), opt("records_parquet", &t.ExportRecordsParquet),
		opt("records_compress", &t.RecordsCompress),
		opt("html_report", &t.HTMLReport), opt("overwrite", &t.Overwrite)))
}

func telemetryKeys(t *option.Tree) []Key {
	return []Key{
		section("gpu_telemetry", "Figures of GPUs. A text is a URL.", append(ours(
			opt("price_per_gpu_hour", &t.PricePerGPUHour), opt("num_gpus", &t.NumGPUs)),
			Key{Name: "enabled", Kind: Switch, Default: true, Help: "Collect figures of GPUs."},
			Key{Name: "urls", Kind: Words, Default: []any{}, Help: "DCGM exporters."},
			Key{Name: "metrics_file", Kind: Word, Help: "CSV file with names of further DCGM fields."},
			Key{Name: "collector", Kind: Choice, Values: []string{"dcgm", "pynvml", "amdsmi"}, Default: "dcgm",
				Help: "Where figures come from."},
			Key{Name: "mode", Kind: Choice, Values: []string{"summary", "realtime_dashboard"}, Default: "summary",
				Help: "Whether figures are shown during the run."})...),
		section("server_metrics", "Prometheus metrics of the server. A text is a URL.",
			Key{Name: "enabled", Kind: Switch, Default: true, Help: "Collect the server's metrics."},
			opt("urls", &t.ServerMetrics).or([]any{}), preset("formats", &t.ServerMetricsFormats),
			section("discovery", "Finding metrics pages by themselves.",
				Key{Name: "mode", Kind: Choice, Values: []string{"auto", "kubernetes", "disabled"}, Default: "auto",
					Help: "Where metrics pages are looked for."},
				Key{Name: "label_selector", Kind: Word, Help: "Label selector of pods.", Unused: noCluster},
				Key{Name: "namespace", Kind: Word, Help: "Namespace of pods.", Unused: noCluster},
				Key{Name: "timeout_seconds", Kind: Number, Limits: option.Above(0), Default: 30.0,
					Help: "Seconds to look for pods.", Unused: noCluster})),
		section("network_latency", "Round trips to the server, to correct latencies by.",
			preset("enabled", &t.NetworkLatencyAutomatic),
			preset("ping_interval", &t.NetworkLatencyPingInterval), opt("mean_ms", &t.NetworkLatencyMean)),
		section("otel", "Figures to an OpenTelemetry collector.", opt("metrics_url", &t.OTelURL),
			Key{Name: "stream_metrics_enabled", Kind: Switch, Default: true, Help: "Send figures of requests."},
			Key{Name: "stream_timing_enabled", Kind: Switch, Default: true, Help: "Send figures of the schedule."},
			opt("custom_resource_attributes", &t.OTelResourceAttributes).or(artifact.Object{}).as(TextTable),
			opt("gen_ai_provider", &t.GenAIProvider)),
		section("mlflow", "Results to an MLflow server.", opt("tracking_uri", &t.MLflowTrackingURI),
			preset("experiment", &t.MLflowExperiment), opt("run_name", &t.MLflowRunName), opt("tags", &t.MLflowTag),
			opt("parent_run_id", &t.MLflowParentRunID),
			opt("artifact_globs", &t.MLflowArtifactGlob)),
		section("wandb", "Results to Weights & Biases.", opt("project", &t.WandBProject),
			opt("entity", &t.WandBEntity), opt("run_name", &t.WandBRunName), opt("tags", &t.WandBTag)),
	}
}

func runtimeKeys(t *option.Tree) []Key {
	unused := func(name string, kind Kind, help, why string) Key {
		return Key{Name: name, Kind: kind, Help: help, Unused: why}
	}
	runtime := section("runtime", "The program itself.", opt("ui", &t.UI).or("dashboard"),
		opt("workers", &t.WorkersMax), opt("workers_min", &t.WorkersMin), opt("record_processors", &t.RecordProcessors),
		Key{Name: "service_run_type", Kind: Choice, Values: []string{"multiprocessing", "kubernetes"},
			Default: "multiprocessing", Help: "How the parts of the original are run.", Unused: oneProcess},
		unused("communication", Anything, "How the parts of the original talk to each other.", oneProcess),
		opt("api_port", &t.APIPort), opt("api_host", &t.APIHost),
		unused("dataset_api_base_url", Word, "Where pods get the dataset.", noCluster),
		unused("workers_per_pod", Whole, "Workers of a pod.", noCluster).within(option.Between(1, 100)),
		unused("record_processors_per_pod", Whole, "Record processors of a pod.", noCluster).
			within(option.Between(1, 100)),
		opt("stats_interval", &t.StatsInterval).within(option.Between(0, 1000)))
	runtime.Fields = append(runtime.Fields, ours(opt("metrics_listen", &t.MetricsListen),
		opt("web", &t.Web), opt("timestamp_source", &t.TimestampSource), opt("verbose", &t.Verbose),
		opt("report", &t.Report))...)
	accuracy := section("accuracy", "Whether answers are right.", opt("benchmark", &t.AccuracyBenchmark),
		opt("tasks", &t.AccuracyTasks), opt("n_shots", &t.AccuracyNShots), opt("enable_cot", &t.AccuracyEnableCoT),
		opt("grader", &t.AccuracyGrader),
		opt("system_prompt", &t.AccuracySystemPrompt), opt("verbose", &t.AccuracyVerbose))
	accuracy.Fields = append(accuracy.Fields, ours(opt("data", &t.AccuracyData),
		opt("download", &t.AccuracyDownload),
		opt("repeats", &t.AccuracyRepeats), opt("allow_code_execution", &t.AccuracyAllowCodeExecution))...)
	return []Key{
		runtime,
		section("logging", "The log.", preset("level", &t.LogLevel)),
		section("metrics", "Reserved."),
		accuracy,
	}
}
