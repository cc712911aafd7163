package config

// traceFormats are the dataset formats whose rows may carry timestamps.
func traceFormats() []string {
	return []string{
		"mooncake_trace", "bailian_trace", "burst_gpt_trace", "sagemaker_data_capture", "baseten_trace", "weka_trace", "tracelab",
	}
}

func datasetFormats() []string {
	formats := []string{"single_turn", "multi_turn", "random_pool", "raw_payload", "inputs_json", "dag_jsonl", "dynamo_trace"}
	return append(append(formats, traceFormats()...), speedBenchFormats()...)
}

func speedBenchFormats() []string {
	var names []string
	for _, category := range []string{
		"coding", "humanities", "math", "multilingual", "qa", "rag", "reasoning", "roleplay", "stem", "summarization", "writing",
		"low_entropy", "mixed", "high_entropy",
	} {
		names = append(names, "speed_bench_"+category)
	}
	return names
}

// publicDatasets are the names that this release can read; internal/dataset/public has the same.
func publicDatasets() []string {
	names := []string{
		"sharegpt", "aimo", "aimo_aime", "aimo_numina_cot", "aimo_numina_1_5", "mmstar", "mmvu", "vision_arena", "llava_onevision",
		"spec_bench", "instruct_coder", "blazedit_5k", "blazedit_10k", "librispeech", "voxpopuli", "gigaspeech", "ami", "spgispeech",
		"spec_al_gsm8k", "spec_al_math500", "spec_al_humaneval", "spec_al_mbpp", "spec_al_mtbench",
		"semianalysis_cc_traces_weka", "semianalysis_cc_traces_weka_no_subagents", "semianalysis_cc_traces_weka_with_subagents",
		"semianalysis_cc_traces_weka_with_subagents_256k", wekaHub, "speed_bench_qualitative",
	}
	names = append(names, speedBenchFormats()[:speedBenchCategories]...)
	for _, length := range []string{"1k", "2k", "8k", "16k", "32k"} {
		for _, kind := range []string{"", "_low_entropy", "_mixed", "_high_entropy"} {
			names = append(names, "speed_bench_throughput_"+length+kind)
		}
	}
	return names
}

const (
	// wekaHub is the public data set whose repository the user names.
	wekaHub = "weka_hf"
	// speedBenchCategories of speedBenchFormats are subjects; the others are kinds of text.
	speedBenchCategories = 11
)

func inputOptions() []Option {
	return []Option{
		opt("extra-inputs", Pairs, "", 1, "Fields merged into every request body: key:value items or a JSON object.", multi, yaml("endpoint.extra")),
		opt("header -H", Headers, "", 1, "Further request headers: name:value items.", multi, yaml("endpoint.headers")),
		opt("input-file", Path, "", 1, "File or folder with the conversations to send, instead of generated ones.", mustExist, yaml("datasets.default.path")),
		opt("custom-dataset-type", Enum, "", 1, "Format of --input-file.", derived("detected from the file"), values(datasetFormats()...),
			builtOnly("single_turn", "multi_turn", "mooncake_trace", "bailian_trace", "burst_gpt_trace",
				"random_pool", "raw_payload", "inputs_json", "sagemaker_data_capture", "baseten_trace", "dag_jsonl", "weka_trace", "tracelab"), yaml("datasets.default.format")),
		opt("public-dataset", Enum, "", 2, "Send a published data set, from a copy on this machine or downloaded.",
			values(append(publicDatasets(), "exgentic", "exgentic_v2")...), builtOnly(publicDatasets()...), yaml("datasets.default.dataset")),
		opt("hf-subset", String, "", 3, "Subset of the public data set.", derived("the data set's own"), yaml("datasets.default.hf_subset")),
		opt("dataset-path", Path, "", 3, "File, folder or hub cache that holds the public data set.", derived("the caches, then a download"), mustExist),
		opt("dataset-sampling-strategy", Enum, "", 2, "Order in which sessions take conversations.", derived("shuffle for generated data, sequential for files"),
			values("sequential", "random", "shuffle"), yaml("datasets.default.sampling")),
		opt("random-seed", Int, "", 1, "Seed of everything random; the same seed gives the same data, order and arrivals.", limits(atLeast(0)), yaml("/random_seed")),
		opt("fixed-schedule", Bool, "false", 1, "Send each request at the time its row records; traces with timestamps turn this on by themselves."),
		opt("no-fixed-schedule", Bool, "false", 2, "Do not follow recorded times even if a trace has them."),
		opt("fixed-schedule-auto-offset", Bool, "false", 1, "Let the first recorded time be the start of the run.", yaml("phases.profiling.auto_offset")),
		opt("fixed-schedule-start-offset", Int, "", 1, "Leave out rows before this time, in milliseconds.", limits(atLeast(0)), yaml("phases.profiling.start_offset")),
		opt("fixed-schedule-end-offset", Int, "", 1, "Leave out rows after this time, in milliseconds.", limits(atLeast(0)), yaml("phases.profiling.end_offset")),
		opt("goodput", String, "", 1, `Service levels as "tag:value tag:value" in display units; goodput counts requests that keep them all.`, yaml("slos")),
		opt("config -f", Path, "", 1, "YAML file whose values flags override.", mustExist, missing("the YAML configuration")),
		opt("ignore-trace-delays", Bool, "false", 3, "Forget recorded times and delays when a trace is read."),
		opt("use-think-time-only", Bool, "false", 3, "Take only the think time of a weka trace as delay."),
		opt("max-context-length", Int, "", 3, "Leave out weka traces longer than this.", limits(atLeast(1))),
		opt("allow-dataset-wrap", Bool, "false", 3, "Let agentic replay play a trace in several lanes at once where there are more lanes than traces.", negated),
		opt("hf-weka-dataset", String, "", 3, "Hub repository in weka form; implies --public-dataset weka_hf.", yaml("datasets.default.hf_weka_dataset")),
		opt("dataset-filter", String, "", 3, "Keep only the rows of a public data set whose column has a value: column=value.", repeat, yaml("datasets.default.filters")),
		opt("trace-session-sample-ratio", Float, "", 3, "Share of the sessions of a baseten trace that is kept.", limits(aboveUpTo(0, 1))),
		opt("inter-turn-delay-cap-seconds", Float, "", 3, "Longest delay between turns of a trace in seconds.", limits(atLeast(0))),
		opt("max-idle-gap-cap-seconds", Float, "", 3, "Longest idle gap of a trace in seconds.", limits(above(0))),
		opt("replay-speedup", Float, "", 3, "Factor by which recorded times shrink.", limits(above(0))),
		opt("open-loop-replay", Bool, "true", 3, "Send recorded requests without waiting for earlier replies.", negated),
		opt("open-loop-strict", Bool, "false", 3, "Never wait for an earlier reply in open-loop replay."),
		opt("omit-kv-hints", Bool, "false", 3, "Leave cache hints of a trace out."),
		opt("force-min-tokens", Bool, "true", 3, "Ask for the recorded output length as a minimum.", negated),
		opt("cache-bust", Enum, "none", 3, "Put a unique mark into each conversation so that no cache helps.",
			values("none", "system_prefix", "system_suffix", "first_turn_prefix", "first_turn_suffix", "warmup_isolation_system", "warmup_isolation_first_turn"),
			yaml("datasets.default.prompts.cache_bust.target")),
		opt("system-prompt", String, "", 2, "System text sent word for word with every request."),
		opt("system-prompt-file", Path, "", 2, "File that holds the system text.", mustExist),
		opt("prompt-corpus", Enum, "sonnet", 2, "Text from which prompts are cut.", values("sonnet", "coding", "random"), yaml("datasets.default.prompts.corpus")),
		opt("random-corpus-style", Enum, "vllm", 3, "Whose way of making random prompts is followed.", values("vllm", "sglang")),
	}
}
