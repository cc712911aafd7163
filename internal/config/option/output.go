package option

import "aiperf/internal/base/artifact"

func logLevels() []string {
	return []string{"TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "SUCCESS", "ERROR", "CRITICAL"}
}

// outputFields are the options of results, telemetry and the program itself.
type outputFields struct {
	ArtifactDir, ProfileExportPrefix, ExportLevel, RecordsCompress, Report, TimestampSource, MetricsListen,
	OTelURL, GenAIProvider, MLflowTrackingURI, MLflowExperiment, MLflowRunName, MLflowParentRunID,
	WandBProject, WandBEntity, WandBRunName, UI, LogLevel, Web, APIHost, ZMQHost, ZMQIPCPath,
	AccuracyBenchmark, AccuracyData, AccuracyGrader, AccuracySystemPrompt Opt[string]
	Percentiles, FailIf, GPUTelemetry, ServerMetrics, ServerMetricsFormats, Stream, OTelResourceAttributes,
	MLflowArtifactGlob, PluginDir, WandBTag, AccuracyTasks Opt[[]string]
	Overwrite, ExportRecordsParquet, HTMLReport, RequireValid, ExportHTTPTrace, ShowTraceTiming, ExportOutputsJSON,
	AutoPlot, PlotRequired, NoGPUTelemetry, NoServerMetrics, NetworkLatencyAutomatic, Verbose, ExtraVerbose,
	ZMQDualBind, AccuracyDownload, AccuracyEnableCoT, AccuracyVerbose, AccuracyAllowCodeExecution Opt[bool]
	NumGPUs, WorkersMin, WorkersMax, RecordProcessors, APIPort, AccuracyNShots, AccuracyRepeats   Opt[int64]
	SliceDuration, PricePerGPUHour, NetworkLatencyMean, NetworkLatencyPingInterval, StatsInterval Opt[float64]
	MLflowTag                                                                                     Opt[artifact.Object]
}

func (o *outputFields) rows() []Option {
	return []Option{
		opt(&o.ArtifactDir, "output-artifact-dir artifact-dir", "", 1,
			"Folder for all files of the run, used as given.", derived("artifacts/<model>-<kind>-<type>-<load>"),
			yaml("artifacts.dir"), path),
		opt(&o.Overwrite, "overwrite", "false", 2, "Use the default folder even if it contains results, and replace "+
			"them. Without this flag, -2, -3 and so on is appended to the folder's name."),
		opt(&o.ProfileExportPrefix, "profile-export-prefix profile-export-file", "", 1,
			"Prefix of the names of exported files, instead of profile_export.", yaml("artifacts.prefix")),
		opt(&o.ExportLevel, "export-level profile-export-level", "records", 1,
			"What is written: only summaries, also a record of each request, or also the raw requests and responses.",
			values("summary", "records", "raw"), yaml("artifacts.records")),
		opt(&o.SliceDuration, "slice-duration", "", 1,
			"Length of a time slice in seconds; metrics are then also computed per slice.", seconds, limits(Above(0)),
			yaml("artifacts.slice_duration")),
		opt(&o.Percentiles, "percentiles", "", 2,
			"Further percentiles of every distribution, for example 99.9,99.99; files list them after p99.", multi),
		opt(&o.RecordsCompress, "records-compress", "none", 2, "Compress the per-request file: "+
			"profile_export.jsonl.zst, which all commands read like profile_export.jsonl.", values("none", "zstd")),
		opt(&o.ExportRecordsParquet, "export-records-parquet", "false", 2,
			"Also write the records as Parquet, with a column for each metric."),
		opt(&o.HTMLReport, "html-report", "false", 2, "Also write the report as one HTML file with charts "+
			"(profile_export_aiperf.html); it needs no network connection."),
		opt(&o.Report, "report", "", 2, "What is printed at the end: the answer in about ten lines (short), or all "+
			"tables and then these lines (full).", derived("short on a terminal, else full"), values("short", "full"),
			yaml("runtime.report")),
		opt(&o.FailIf, "fail-if", "", 2, "End with exit code 3 if the result meets this condition or lacks the "+
			"figure, for example 'time_to_first_token:p99>250ms' (TAG[:STAT]OP NUMBER[UNIT]); may be repeated."),
		opt(&o.TimestampSource, "timestamp-source", "auto", 2, "Source of the time stamps of responses: the kernel, "+
			"where it supports receive time stamps, or this program, as in the original.",
			values("auto", "kernel", "user")),
		opt(&o.RequireValid, "require-valid", "false", 2,
			"End with exit code 4 unless the verdict on the client's own influence is \"valid\"."),
		opt(&o.ExportHTTPTrace, "export-http-trace", "false", 2,
			"Write the times of each step of a request into the per-request file.", yaml("artifacts.trace")),
		opt(&o.ShowTraceTiming, "show-trace-timing", "false", 2, "Show a table of these times at the end.",
			yaml("artifacts.show_trace_timing")),
		opt(&o.ExportOutputsJSON, "export-outputs-json", "", 3, "Write generated texts to outputs.json.",
			derived("on with --export-level raw"), negated, yaml("artifacts.export_outputs_json")),
		opt(&o.AutoPlot, "auto-plot", "", 3,
			"Draw plots of the results at the end, into the folder plots (aiperf plot).", negated,
			derived("on with a recipe of a curve, and with a section plot: in the configuration file"),
			yaml("artifacts.auto_plot")),
		opt(&o.PlotRequired, "plot-required", "false", 3, "Draw plots at the end, and fail if they cannot be drawn.",
			yaml("artifacts.plot_required")),
		opt(&o.GPUTelemetry, "gpu-telemetry", "", 1, "Show GPU tables, and also collect from these sources: exporter "+
			"URLs, a metrics CSV file, pynvml or amdsmi for the GPUs of this machine.", multi, address,
			yaml("gpu_telemetry"), begins(GroupTelemetry)),
		opt(&o.NoGPUTelemetry, "no-gpu-telemetry", "false", 1, "Do not collect GPU telemetry.",
			yaml("gpu_telemetry.enabled")),
		opt(&o.PricePerGPUHour, "price-per-gpu-hour", "", 2, "Price of one GPU for an hour, in any currency; the "+
			"report then has the cost of output tokens and of requests. The number of GPUs is that of --num-gpus, "+
			"else as many as GPU telemetry sees.", limits(Above(0)), yaml("gpu_telemetry.price_per_gpu_hour")),
		opt(&o.NumGPUs, "num-gpus", "", 2, "Number of GPUs that serve, for the cost and for jobs per hour and GPU.",
			derived("as many as GPU telemetry sees"), limits(AtLeast(1)), yaml("gpu_telemetry.num_gpus")),
		opt(&o.ServerMetrics, "server-metrics", "", 1, "Also collect server metrics from these URLs.", multi, address,
			yaml("server_metrics.urls")),
		opt(&o.NoServerMetrics, "no-server-metrics", "false", 1, "Do not collect server metrics.",
			yaml("server_metrics.enabled")),
		opt(&o.ServerMetricsFormats, "server-metrics-formats", "json,csv,parquet", 1,
			"Formats of the server metrics files.", multi, values("json", "csv", "jsonl", "parquet"),
			yaml("server_metrics.formats")),
		opt(&o.NetworkLatencyAutomatic, "network-latency-automatic", "false", 3, "Measure the network's round trip by "+
			"TCP handshakes alongside the load, and also report latencies without it.",
			yaml("network_latency.automatic")),
		opt(&o.NetworkLatencyMean, "network-latency-mean", "", 3,
			"Round trip in milliseconds, measured elsewhere; latencies are also reported without it.", milliseconds,
			limits(AtLeast(0)), yaml("network_latency.mean")),
		opt(&o.NetworkLatencyPingInterval, "network-latency-ping-interval", "1", 3,
			"Seconds between two handshakes of --network-latency-automatic.", seconds, limits(Above(0)),
			env("NETWORK_LATENCY_DEFAULT_PROBE_INTERVAL"), yaml("network_latency.ping_interval")),
		opt(&o.MetricsListen, "metrics-listen", "", 2, "Serve the run's own figures at this address while it runs, "+
			"for Prometheus to scrape at /metrics, and Grafana to show: HOST:PORT, :PORT for all addresses of "+
			"the machine, or PORT for "+
			"127.0.0.1 only; 0 selects a free port.", begins(GroupExport)),
		opt(&o.OTelURL, "otel-url", "", 3, "OpenTelemetry collector that receives the figures during the run: host, "+
			"host:port (4318), or a URL; grpc://host for OTLP over gRPC (4317).", address, yaml("otel.url")),
		opt(&o.Stream, "stream", "", 3,
			"What is streamed: the figures of requests (metrics), those of the load (timing), or both.", multi,
			values("metrics", "timing", "default"), derived("both"), yaml("otel.stream")),
		opt(&o.OTelResourceAttributes, "otel-resource-attributes", "", 3,
			"Attributes of the stream's resource as key=value.", multi, yaml("otel.resource_attributes")),
		opt(&o.GenAIProvider, "gen-ai-provider", "", 3, "Name of the provider in the stream (gen_ai.provider.name).",
			derived("found by the host of --url, else _OTHER"), yaml("otel.gen_ai_provider")),
		opt(&o.MLflowTrackingURI, "mlflow-tracking-uri", "", 3,
			"MLflow server that tracks the run and receives its results and files: http://host:port.", address,
			yaml("mlflow.tracking_uri")),
		opt(&o.MLflowExperiment, "mlflow-experiment", "aiperf", 3,
			"MLflow experiment; it is created if there is none of that name.", yaml("mlflow.experiment")),
		opt(&o.MLflowRunName, "mlflow-run-name", "", 3, "Name of the MLflow run.",
			derived("aiperf- and the first 8 characters of the benchmark's id"), yaml("mlflow.run_name")),
		opt(&o.MLflowTag, "mlflow-tag", "", 3, "Tags of the MLflow run: key:value items or a JSON object.", multi,
			yaml("mlflow.tags")),
		opt(&o.MLflowParentRunID, "mlflow-parent-run-id", "", 3, "Parent of the MLflow run.",
			yaml("mlflow.parent_run_id")),
		opt(&o.MLflowArtifactGlob, "mlflow-artifact-glob", "", 3, "Files to upload, instead of results, images and "+
			"HTML pages: patterns relative to the run's folder, with ** for any folders.", multi,
			yaml("mlflow.artifact_globs")),
		opt(&o.WandBProject, "wandb-project", "", 3, "Weights & Biases project that receives the results and files of "+
			"the run. The key is that of WANDB_API_KEY or of ~/.netrc, the server that of WANDB_BASE_URL; "+
			"WANDB_MODE=offline writes the run for wandb sync instead.", yaml("wandb.project")),
		opt(&o.WandBEntity, "wandb-entity", "", 3,
			"Weights & Biases entity: the user or the team that owns the project.",
			derived("WANDB_ENTITY, else the default of the key"), yaml("wandb.entity")),
		opt(&o.WandBRunName, "wandb-run-name", "", 3, "Name of the Weights & Biases run.",
			derived("aiperf- and the first 8 characters of the benchmark's id"), yaml("wandb.run_name")),
		opt(&o.WandBTag, "wandb-tag", "", 3, "Tags of the Weights & Biases run.", multi, yaml("wandb.tags")),
		opt(&o.UI, "ui-type ui", "", 1,
			"How progress is shown: on the whole terminal (dashboard), in bars (simple) or as log lines (none).",
			derived("dashboard on a terminal, simple there with -v or several runs, else none"), choices("dashboard",
				"The whole terminal: figures, servers, GPUs, errors and the log.", "simple",
				"Bars of progress and figures.", "none", "Lines of the log."), yaml("runtime.ui"), begins(GroupInterface)),
		opt(&o.PluginDir, "plugin-dir", "", 2, "Folder of a plug-in, or of several; their programs can be named as "+
			"endpoint types and dataset formats, and their exporters and metrics follow the run.", mustExist),
		opt(&o.LogLevel, "log-level", "INFO", 1, "Lowest level that is logged.", values(logLevels()...),
			yaml("logging.level")),
		opt(&o.Verbose, "verbose -v", "false", 1, "Log at DEBUG."),
		opt(&o.ExtraVerbose, "extra-verbose -vv", "false", 1, "Log at TRACE."),
		opt(&o.StatsInterval, "stats-interval", "", 2, "Seconds between realtime statistics; 0 switches them off.",
			seconds, derived("5 on the dashboard, else 30"), limits(Between(0, 1000)),
			env("UI_REALTIME_METRICS_INTERVAL")),
		opt(&o.WorkersMin, "workers-min", "", 3,
			"Minimum number of logical workers; it takes precedence over --workers-max and the concurrency.",
			limits(AtLeast(1)), yaml("runtime.workers_min")),
		opt(&o.WorkersMax, "workers-max max-workers", "", 2,
			"Number of logical workers, each with its own connection limit; never more than the concurrency.",
			derived("three quarters of the CPUs minus one, at most 32; more if the concurrency needs more connections"),
			limits(AtLeast(1)), yaml("runtime.workers")),
		opt(&o.RecordProcessors, "record-processor-service-count record-processors", "", 3,
			"Number of goroutines that make records.", derived("one per four workers"), limits(AtLeast(1)),
			yaml("runtime.record_processors")),
		opt(&o.Web, "web", "", 1, "Show the run on a page for browsers while it goes on, and print its address: "+
			"HOST:PORT, :PORT for all addresses of the machine, which asks for a key, or PORT for 127.0.0.1 only; "+
			"without a value, a free port.", bare("0")),
		opt(&o.APIPort, "api-port", "", 3, "Port of the HTTP and WebSocket API during a run.",
			limits(Between(1, 65535)), env("API_SERVER_PORT"), yaml("runtime.api_port")),
		opt(&o.APIHost, "api-host", "127.0.0.1", 3,
			"Address of the HTTP API; beyond 127.0.0.1 everybody who reaches it can read it.", env("API_SERVER_HOST"),
			yaml("runtime.api_host")),
		opt(&o.ZMQHost, "zmq-host", "127.0.0.1", 3, "Accepted without effect: this program has no message bus."),
		opt(&o.ZMQIPCPath, "zmq-ipc-path", "", 3, "Accepted without effect: this program has no message bus.", path),
		opt(&o.ZMQDualBind, "zmq-dual-bind", "false", 3, "Accepted without effect: this program has no message bus."),
		opt(&o.AccuracyBenchmark, "accuracy-benchmark", "", 2, "Send the problems of this benchmark and grade the "+
			"answers while the load runs; its data come from --accuracy-data or the hub's cache.", choices("mmlu",
			"57 subjects, four choices, five worked examples.", "aime", "AIME 2024 with worked examples.", "hellaswag",
			"Which of four endings follows.", "bigbench", "27 hard tasks of BIG-Bench.", "aime24", "AIME 2024.",
			"aime25", "AIME 2025.", "math_500", "500 problems of contests.", "gsm8k",
			"Word problems of school mathematics.", "gpqa_diamond", "Questions of graduates in natural sciences.",
			"lcb_codegeneration", "Programs that must pass tests; they are run in a sandbox.", "mmlu_pro",
			"14 categories, up to ten choices, with reasoning."), yaml("accuracy.benchmark"), begins(GroupAccuracy)),
		opt(&o.AccuracyData, "accuracy-data", "", 2, "The benchmark's data: a file (JSON Lines, JSON, Parquet, CSV), "+
			"or a folder with SUBSET/SPLIT files, or a copy of the repository; without this option they come from the "+
			"hub's cache.", mustExist, yaml("accuracy.data")),
		opt(&o.AccuracyDownload, "accuracy-download", "false", 2,
			"Fetch the benchmark's data from the hub if they are not on this machine.", yaml("accuracy.download")),
		opt(&o.AccuracyTasks, "accuracy-tasks", "", 2, "Tasks of the benchmark, separated by commas; may be repeated.",
			derived("all"), yaml("accuracy.tasks")),
		opt(&o.AccuracyNShots, "accuracy-n-shots", "", 2, "Worked examples in each question.",
			derived("the benchmark's own"), limits(Between(0, 32)), yaml("accuracy.n_shots")),
		opt(&o.AccuracyEnableCoT, "accuracy-enable-cot", "", 2, "Ask for reasoning step by step.",
			derived("the benchmark's own"), negation("accuracy-no-enable-cot"), yaml("accuracy.enable_cot")),
		opt(&o.AccuracyGrader, "accuracy-grader", "", 2, "How answers are graded.", derived("the benchmark's own"),
			values("code_execution", "exact_match", "lighteval_expr", "lighteval_gpqa", "lighteval_gsm8k",
				"lighteval_latex", "math", "mmlu_pro", "multiple_choice"), yaml("accuracy.grader")),
		opt(&o.AccuracySystemPrompt, "accuracy-system-prompt", "", 2, "System message of the questions; '' sends none.",
			derived("the benchmark's own"), mayBeEmpty, yaml("accuracy.system_prompt")),
		opt(&o.AccuracyRepeats, "accuracy-repeats", "1", 2, "How often each problem is asked; with more than one the "+
			"report says how often the same problem got another answer.", limits(AtLeast(1)), yaml("accuracy.repeats")),
		opt(&o.AccuracyVerbose, "accuracy-verbose", "false", 2, "Log each graded answer.", yaml("accuracy.verbose")),
		opt(&o.AccuracyAllowCodeExecution, "accuracy-allow-code-execution", "false", 2,
			"Allow lcb_codegeneration to run the programs that the model writes, in a sandbox.",
			yaml("accuracy.allow_code_execution")),
	}
}
