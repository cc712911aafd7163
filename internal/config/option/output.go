package option

func logLevels() []string {
	return []string{"TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "SUCCESS", "ERROR", "CRITICAL"}
}

func outputOptions() []Option {
	return []Option{
		opt("output-artifact-dir artifact-dir", Path, "", 1, "Folder for all files of the run, used as given.",
			derived("artifacts/<model>-<kind>-<type>-<load>"), yaml("artifacts.dir")),
		opt("overwrite", Bool, "false", 2,
			"Use the default folder even if it contains results of another configuration or server, and replace "+
				"them. Without this flag, -2, -3 and so on is appended to the folder's name."),
		opt("profile-export-prefix profile-export-file", String, "", 1,
			"Prefix of the names of exported files, instead of profile_export.", yaml("artifacts.prefix")),
		opt("export-level profile-export-level", Enum, "records", 1,
			"What is written: only summaries, also a record of each request, or also the raw requests and responses.",
			values("summary", "records", "raw"), yaml("artifacts.records")),
		opt("slice-duration", Float, "", 1,
			"Length of a time slice in seconds; metrics are then also computed per slice.", seconds, limits(Above(0)),
			yaml("artifacts.slice_duration")),
		opt("percentiles", String, "", 2,
			"Further percentiles of every distribution, for example 99.9,99.99; files list them after p99.", multi),
		opt("records-compress", Enum, "none", 2,
			"Compress the per-request file: profile_export.jsonl.zst, which all commands read like profile_export.jsonl.",
			values("none", "zstd")),
		opt("export-records-parquet", Bool, "false", 2,
			"Also write the records as Parquet, with a column for each metric."),
		opt("html-report", Bool, "false", 2,
			"Also write the report as one HTML file with charts (profile_export_aiperf.html); it needs no network "+
				"connection."),
		opt("report", Enum, "", 2, "What is printed at the end: the answer in about ten lines (short), or all tables and "+
			"then these lines (full).", derived("short on a terminal, else full"), values("short", "full"),
			yaml("runtime.report")),
		opt("fail-if", String, "", 2, "End with exit code 3 if the result meets this condition or lacks the figure, "+
			"for example 'time_to_first_token:p99>250ms' (TAG[:STAT]OP NUMBER[UNIT]); may be repeated.",
			repeat),
		opt("timestamp-source", Enum, "auto", 2,
			"Source of the time stamps of responses: the kernel, where it supports receive time stamps, or this "+
				"program, as in the original.", values("auto", "kernel", "user")),
		opt("require-valid", Bool, "false", 2,
			"End with exit code 4 unless the verdict on the client's own influence is \"valid\"."),
		opt("export-http-trace", Bool, "false", 2,
			"Write the times of each step of a request into the per-request file.", yaml("artifacts.trace")),
		opt("show-trace-timing", Bool, "false", 2, "Show a table of these times at the end.",
			yaml("artifacts.show_trace_timing")),
		opt("export-outputs-json", Bool, "", 3, "Write generated texts to outputs.json.",
			derived("on with --export-level raw"), negated, yaml("artifacts.export_outputs_json")),
		opt("auto-plot", Bool, "", 3, "Draw plots of the results at the end, into the folder plots (aiperf plot).",
			negated, derived("on with a recipe of a curve, and with a section plot: in the configuration file"),
			yaml("artifacts.auto_plot")),
		opt("plot-required", Bool, "false", 3, "Draw plots at the end, and fail if they cannot be drawn.",
			yaml("artifacts.plot_required")),
		opt("gpu-telemetry", String, "", 1,
			"Show GPU tables, and also collect from these sources: exporter URLs, a metrics CSV file, pynvml or "+
				"amdsmi "+
				"for the GPUs of this machine.", multi, address, yaml("gpu_telemetry")),
		opt("no-gpu-telemetry", Bool, "false", 1, "Do not collect GPU telemetry.", yaml("gpu_telemetry.enabled")),
		opt("price-per-gpu-hour", Float, "", 2,
			"Price of one GPU for an hour, in any currency; the report then has the cost of output tokens and of "+
				"requests. The number of GPUs is that of --num-gpus, else as many as GPU telemetry sees.",
			limits(Above(0)), yaml("gpu_telemetry.price_per_gpu_hour")),
		opt("num-gpus", Int, "", 2, "Number of GPUs that serve, for the cost.",
			derived("as many as GPU telemetry sees"), limits(AtLeast(1)), yaml("gpu_telemetry.num_gpus")),
		opt("server-metrics", String, "", 1, "Also collect server metrics from these URLs.", multi, address,
			yaml("server_metrics.urls")),
		opt("no-server-metrics", Bool, "false", 1, "Do not collect server metrics.", yaml("server_metrics.enabled")),
		opt("server-metrics-formats", Enum, "json,csv,parquet", 1, "Formats of the server metrics files.", multi,
			values("json", "csv", "jsonl", "parquet"), yaml("server_metrics.formats")),
		opt("network-latency-automatic", Bool, "false", 3,
			"Measure the network's round trip by TCP handshakes alongside the load, and also report latencies "+
				"without it.",
			yaml("network_latency.automatic")),
		opt("network-latency-mean", Float, "", 3,
			"Round trip in milliseconds, measured elsewhere; latencies are also reported without it.", milliseconds,
			limits(AtLeast(0)), yaml("network_latency.mean")),
		opt("network-latency-ping-interval", Float, "1", 3,
			"Seconds between two handshakes of --network-latency-automatic.", seconds, limits(Above(0)),
			env("NETWORK_LATENCY_DEFAULT_PROBE_INTERVAL"), yaml("network_latency.ping_interval")),
		opt("metrics-listen", String, "", 2,
			"Serve the run's own figures at this address while it runs, for Prometheus to scrape at /metrics: "+
				"HOST:PORT, :PORT for all addresses of the machine, or PORT for 127.0.0.1 only; 0 selects a free "+
				"port."),
		opt("otel-url", String, "", 3, "OpenTelemetry collector that receives the figures during the run: host, "+
			"host:port (4318), or a URL; grpc://host for OTLP over gRPC (4317).", address, yaml("otel.url")),
		opt("stream", Enum, "", 3, "What is streamed: the figures of requests (metrics), those of the load (timing), "+
			"or both.", multi, values("metrics", "timing", "default"), derived("both"), yaml("otel.stream")),
		opt("otel-resource-attributes", String, "", 3, "Attributes of the stream's resource as key=value.", multi,
			yaml("otel.resource_attributes")),
		opt("gen-ai-provider", String, "", 3, "Name of the provider in the stream (gen_ai.provider.name).",
			derived("found by the host of --url, else _OTHER"), yaml("otel.gen_ai_provider")),
		opt("mlflow-tracking-uri", String, "", 3,
			"MLflow server that tracks the run and receives its results and files: http://host:port.",
			address, yaml("mlflow.tracking_uri")),
		opt("mlflow-experiment", String, "aiperf", 3, "MLflow experiment; it is created if there is none of that name.",
			yaml("mlflow.experiment")),
		opt("mlflow-run-name", String, "", 3, "Name of the MLflow run.",
			derived("aiperf- and the first 8 characters of the benchmark's id"), yaml("mlflow.run_name")),
		opt("mlflow-tag", Pairs, "", 3, "Tags of the MLflow run: key:value items or a JSON object.", multi,
			yaml("mlflow.tags")),
		opt("mlflow-parent-run-id", String, "", 3, "Parent of the MLflow run.",
			yaml("mlflow.parent_run_id")),
		opt("mlflow-artifact-glob", String, "", 3,
			"Files to upload, instead of results, images and HTML pages: patterns relative to the run's folder, with "+
				"** for any folders.", multi, yaml("mlflow.artifact_globs")),
		opt("plugin-dir", Path, "", 2,
			"Folder of a plug-in, or of several; their programs can be named as endpoint types and dataset formats, "+
				"and their exporters and metrics follow the run.", repeat, mustExist),
		opt("wandb-project", String, "", 3,
			"Weights & Biases project that receives the results and files of the run. The key is that of WANDB_API_KEY "+
				"or of ~/.netrc, the server that of WANDB_BASE_URL; WANDB_MODE=offline writes the run for wandb sync "+
				"instead.",
			yaml("wandb.project")),
		opt("wandb-entity", String, "", 3, "Weights & Biases entity: the user or the team that owns the project.",
			derived("WANDB_ENTITY, else the default of the key"), yaml("wandb.entity")),
		opt("wandb-run-name", String, "", 3, "Name of the Weights & Biases run.",
			derived("aiperf- and the first 8 characters of the benchmark's id"), yaml("wandb.run_name")),
		opt("wandb-tag", String, "", 3, "Tags of the Weights & Biases run.", multi, yaml("wandb.tags")),
		opt("ui-type ui", Enum, "", 1, "How progress is shown: on the whole terminal (dashboard), in bars (simple) "+
			"or as log lines (none).", derived("dashboard on a terminal, simple there with -v or several runs, else none"),
			choices("dashboard", "The whole terminal: figures, servers, GPUs, errors and the log.",
				"simple", "Bars of progress and figures.",
				"none", "Lines of the log."), yaml("runtime.ui")),
		opt("log-level", Enum, "INFO", 1, "Lowest level that is logged.", values(logLevels()...),
			yaml("logging.level")),
		opt("verbose -v", Bool, "false", 1, "Log at DEBUG."),
		opt("extra-verbose -vv", Bool, "false", 1, "Log at TRACE."),
		opt("stats-interval", Float, "", 2, "Seconds between realtime statistics; 0 switches them off.", seconds,
			derived("5 on the dashboard, else 30"), limits(Between(0, 1000)), env("UI_REALTIME_METRICS_INTERVAL")),
		opt("workers-min", Int, "", 3, "Minimum number of logical workers; it takes precedence over --workers-max "+
			"and the concurrency.", limits(AtLeast(1)), yaml("runtime.workers_min")),
		opt("workers-max max-workers", Int, "", 2,
			"Number of logical workers, each with its own connection limit; never more than the concurrency.",
			derived("three quarters of the CPUs minus one, at most 32; more if the concurrency needs more connections"),
			limits(AtLeast(1)), yaml("runtime.workers")),
		opt("record-processor-service-count record-processors", Int, "", 3, "Number of goroutines that make records.",
			derived("one per four workers"), limits(AtLeast(1)), yaml("runtime.record_processors")),
		opt("web", String, "", 1, "Show the run on a page for browsers while it goes on, and print its address: "+
			"HOST:PORT, :PORT for all addresses of the machine, which asks for a key, or PORT for 127.0.0.1 only; "+
			"without a value, a free port.", bare("0")),
		opt("api-port", Int, "", 3, "Port of the HTTP and WebSocket API during a run.", limits(Between(1, 65535)),
			env("API_SERVER_PORT"), yaml("runtime.api_port")),
		opt("api-host", String, "127.0.0.1", 3, "Address of the HTTP API; beyond 127.0.0.1 everybody who reaches it "+
			"can read it.", env("API_SERVER_HOST"), yaml("runtime.api_host")),
		opt("zmq-host", String, "127.0.0.1", 3, "Accepted without effect: this program has no message bus."),
		opt("zmq-ipc-path", Path, "", 3, "Accepted without effect: this program has no message bus."),
		opt("zmq-dual-bind", Bool, "false", 3, "Accepted without effect: this program has no message bus."),
		opt("accuracy-benchmark", Enum, "", 2, "Send the problems of this benchmark and grade the answers while the load "+
			"runs; its data come from --accuracy-data or the hub's cache.",
			choices("mmlu", "57 subjects, four choices, five worked examples.",
				"aime", "AIME 2024 with worked examples.", "hellaswag", "Which of four endings follows.",
				"bigbench", "27 hard tasks of BIG-Bench.", "aime24", "AIME 2024.", "aime25", "AIME 2025.",
				"math_500", "500 problems of contests.", "gsm8k", "Word problems of school mathematics.",
				"gpqa_diamond", "Questions of graduates in natural sciences.",
				"lcb_codegeneration", "Programs that must pass tests; they are run in a sandbox.",
				"mmlu_pro", "14 categories, up to ten choices, with reasoning."), yaml("accuracy.benchmark")),
		opt("accuracy-data", Path, "", 2, "The benchmark's data: a file (JSON Lines, JSON, Parquet, CSV), or a folder with "+
			"SUBSET/SPLIT files, or a copy of the repository; without this option they come from the hub's cache.", mustExist, yaml("accuracy.data")),
		opt("accuracy-download", Bool, "false", 2, "Fetch the benchmark's data from the hub if they are not on this machine.",
			yaml("accuracy.download")),
		opt("accuracy-tasks", String, "", 2, "Tasks of the benchmark, separated by commas; may be repeated.", repeat,
			derived("all"), yaml("accuracy.tasks")),
		opt("accuracy-n-shots", Int, "", 2, "Worked examples in each question.", derived("the benchmark's own"),
			limits(Between(0, 32)), yaml("accuracy.n_shots")),
		opt("accuracy-enable-cot", Bool, "", 2, "Ask for reasoning step by step.", derived("the benchmark's own"),
			negation("accuracy-no-enable-cot"), yaml("accuracy.enable_cot")),
		opt("accuracy-grader", Enum, "", 2, "How answers are graded.", derived("the benchmark's own"),
			values("code_execution", "exact_match", "lighteval_expr", "lighteval_gpqa", "lighteval_gsm8k", "lighteval_latex",
				"math", "mmlu_pro", "multiple_choice"), yaml("accuracy.grader")),
		opt("accuracy-system-prompt", String, "", 2, "System message of the questions; '' sends none.",
			derived("the benchmark's own"), mayBeEmpty, yaml("accuracy.system_prompt")),
		opt("accuracy-repeats", Int, "1", 2, "How often each problem is asked; with more than one the report says how often "+
			"the same problem got another answer.", limits(AtLeast(1)), yaml("accuracy.repeats")),
		opt("accuracy-verbose", Bool, "false", 2, "Log each graded answer.", yaml("accuracy.verbose")),
		opt("accuracy-allow-code-execution", Bool, "false", 2, "Allow lcb_codegeneration to run the programs that the model "+
			"writes, in a sandbox.", yaml("accuracy.allow_code_execution")),
	}
}
