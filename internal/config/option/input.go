package option

import (
	"slices"

	"aiperf/internal/base/artifact"
)

// The formats whose sessions branch.
const (
	DAGJSONL  = "dag_jsonl"
	WekaTrace = "weka_trace"
	TraceLab  = "tracelab"

	DynamoTrace = "dynamo_trace"
)

// Recording is the format of what aiperf record writes.
const Recording = "aiperf_recording"

// Table is the format of rows whose columns have any names.
const Table = "table"

// MultiTurn is the format of files that hold conversations turn by turn.
const MultiTurn = "multi_turn"

// TraceFormats are the dataset formats whose rows may carry timestamps.
func TraceFormats() []string {
	return append([]string{
		"mooncake_trace", "bailian_trace", "burst_gpt_trace", "sagemaker_data_capture", "baseten_trace", "weka_trace",
		TraceLab, DynamoTrace, Recording, Table,
	}, Exports()...)
}

// Exports are the formats of what other tools record of requests, all with times.
func Exports() []string { return []string{"otel_spans", "langfuse", "langsmith", "har", "access_log"} }

// datasetFormats are the formats of --input-file.
func datasetFormats() []string {
	formats := []string{"single_turn", "multi_turn", "random_pool", "raw_payload", "inputs_json", "dag_jsonl",
		"sharegpt", "text_lines", "text_csv", "openai_batch"}
	return append(append(formats, TraceFormats()...), SpeedBenchNames()...)
}

// SpeedBenchNames are the parts of SPEED-Bench, which are published data sets and formats of files.
func SpeedBenchNames() []string {
	names := []string{"speed_bench_qualitative"}
	for _, category := range []string{
		"coding", "humanities", "math", "multilingual", "qa", "rag", "reasoning", "roleplay", "stem", "summarization",
		"writing",
	} {
		names = append(names, "speed_bench_"+category)
	}
	for _, length := range []string{"1k", "2k", "8k", "16k", "32k"} {
		for _, kind := range []string{"", "_low_entropy", "_mixed", "_high_entropy"} {
			names = append(names, "speed_bench_throughput_"+length+kind)
		}
	}
	return names
}

// WekaAlone is the number of the first wekaSets, which have no sub-agents.
const WekaAlone = 2

// WekaSets are the published data sets of recorded agents.
func WekaSets() []string {
	const name = "semianalysis_cc_traces_weka"
	names := []string{name, name + "_no_subagents"}
	for _, part := range []string{
		"_with_subagents", "_with_subagents_060226", "_with_subagents_060526", "_with_subagents_060826", "_061326",
		"_061526", "_062126",
	} {
		names = append(names, name+part, name+part+"_256k")
	}
	return names
}

// publicDatasets are the names that this release can read; internal/workload/public has the same.
func publicDatasets() []string {
	names := []string{
		"sharegpt", "aimo", "aimo_aime", "aimo_numina_cot", "aimo_numina_1_5", "mmstar", "mmvu", "vision_arena",
		"llava_onevision",
		"spec_bench", "instruct_coder", "blazedit_5k", "blazedit_10k", "librispeech", "voxpopuli", "gigaspeech", "ami",
		"spgispeech",
		"spec_al_gsm8k", "spec_al_math500", "spec_al_humaneval", "spec_al_mbpp", "spec_al_mtbench", WekaHub,
	}
	return slices.Concat(names, AgentSets(), WekaSets(), SpeedBenchNames())
}

// AgentSets are the published sessions of agents, whose requests have times.
func AgentSets() []string { return []string{"exgentic", "exgentic_v2"} }

// WekaHub is the public data set whose repository the user names.
const WekaHub = "weka_hf"

// inputFields are the options of what is sent, and of the service levels.
type inputFields struct {
	InputFile, CustomDatasetType, PublicDataset, HFSubset, DatasetPath, DatasetSamplingStrategy, Goodput, Config,
	HFWekaDataset, CacheBust, SystemPrompt, SystemPromptFile, PromptCorpus, RandomCorpusStyle Opt[string]
	DatasetFilter, Map Opt[[]string]
	FixedSchedule, NoFixedSchedule, FixedScheduleAutoOffset, IgnoreTraceDelays, UseThinkTimeOnly, AllowDatasetWrap,
	OpenLoopReplay, OpenLoopStrict, OmitKVHints, ForceMinTokens Opt[bool]
	RandomSeed, FixedScheduleStartOffset, FixedScheduleEndOffset, MaxContextLength         Opt[int64]
	TraceSessionSampleRatio, InterTurnDelayCapSeconds, MaxIdleGapCapSeconds, ReplaySpeedup Opt[float64]
	ExtraInputs, Header                                                                    Opt[artifact.Object]
}

func (in *inputFields) rows() []Option {
	return []Option{
		opt(&in.ExtraInputs, "extra-inputs", "", 1,
			"Fields merged into every request body: key:value items or a JSON object; key:null removes one.", multi,
			yaml("endpoint.extra")),
		opt(&in.Header, "header -H", "", 1, "Further request headers: name:value items.", multi,
			yaml("endpoint.headers"), headers),
		opt(&in.InputFile, "input-file", "", 1,
			"File or folder with the conversations to send, instead of generated ones, such as a recording of aiperf record.",
			mustExist,
			yaml("datasets.default.path")),
		opt(&in.CustomDatasetType, "custom-dataset-type", "", 1,
			"Format of --input-file; a part of SPEED-Bench without --input-file selects the published dataset.",
			derived("detected from the file"), values(datasetFormats()...), extensible,
			yaml("datasets.default.format")),
		opt(&in.PublicDataset, "public-dataset", "", 2,
			"Send a published data set, from a copy on this machine or downloaded.", values(publicDatasets()...),
			builtOnly(publicDatasets()...), yaml("datasets.default.dataset")),
		opt(&in.HFSubset, "hf-subset", "", 3, "Subset of the public data set.", derived("the data set's own"),
			yaml("datasets.default.hf_subset")),
		opt(&in.DatasetPath, "dataset-path", "", 3, "File, folder or hub cache that holds the public data set.",
			derived("the caches, then a download"), mustExist),
		opt(&in.DatasetSamplingStrategy, "dataset-sampling-strategy", "", 2,
			"Order in which sessions use conversations.", derived("shuffle for generated data, sequential for files"),
			choices("sequential", "In the order of the data, again and again.", "random", "Drawn with replacement.",
				"shuffle", "In a random order that is drawn anew each time all were used."),
			yaml("datasets.default.sampling")),
		opt(&in.RandomSeed, "random-seed", "", 1,
			"Seed of all random choices; the same seed gives the same data, order and arrivals.", limits(AtLeast(0)),
			yaml("/random_seed")),
		opt(&in.FixedSchedule, "fixed-schedule", "false", 1,
			"Send each request at its recorded time. Traces with timestamps turn this on automatically."),
		opt(&in.NoFixedSchedule, "no-fixed-schedule", "false", 2,
			"Do not follow recorded times even if a trace has them."),
		opt(&in.FixedScheduleAutoOffset, "fixed-schedule-auto-offset", "false", 1,
			"Take the first recorded time as the start of the run.", yaml("phases.profiling.auto_offset")),
		opt(&in.FixedScheduleStartOffset, "fixed-schedule-start-offset", "", 1,
			"Skip rows before this time, in milliseconds.", milliseconds, limits(AtLeast(0)),
			yaml("phases.profiling.start_offset")),
		opt(&in.FixedScheduleEndOffset, "fixed-schedule-end-offset", "", 1,
			"Skip rows after this time, in milliseconds.", milliseconds, limits(AtLeast(0)),
			yaml("phases.profiling.end_offset")),
		opt(&in.Goodput, "goodput", "", 1,
			`Service levels as "tag:value tag:value" in display units; goodput counts the requests that meet `+
				"all of them. Of jobs, which are whole sessions or agents (job_latency:60s), it counts the jobs.",
			yaml("slos")),
		opt(&in.Config, "config -f", "", 1, "Configuration file in YAML or JSON, which other options override; - "+
			"reads the standard input. aiperf config init writes one.", path),
		opt(&in.IgnoreTraceDelays, "ignore-trace-delays", "false", 3,
			"Ignore the recorded times and delays of a trace."),
		opt(&in.UseThinkTimeOnly, "use-think-time-only", "false", 3,
			"Use only the think time of recorded agents (weka_trace, tracelab) as the delay."),
		opt(&in.MaxContextLength, "max-context-length", "", 3,
			"Skip recordings of agents (weka_trace, tracelab) whose context is longer than this, in tokens.",
			limits(AtLeast(1))),
		opt(&in.AllowDatasetWrap, "allow-dataset-wrap", "false", 3, "Allow agentic replay to use a trace in several "+
			"lanes at the same time if there are more lanes than traces.", negated),
		opt(&in.HFWekaDataset, "hf-weka-dataset", "", 3,
			"Hub repository in weka format; implies --public-dataset weka_hf.",
			yaml("datasets.default.hf_weka_dataset")),
		opt(&in.DatasetFilter, "dataset-filter", "", 3, "Use only the rows of a public dataset that have this value: "+
			"column=value. Columns of exgentic sessions are harness, source_model and benchmark.", multi,
			yaml("datasets.default.filters")),
		opt(&in.Map, "map", "", 1, "Columns of a table by what they mean: text, messages, input_length, "+
			"output_length, timestamp, session_id, delay or headers = the name of the column, or of a member of it as "+
			"body.prompt; nothing after = for none.", multi, derived("known by their usual names"),
			yaml("datasets.default.map")),
		opt(&in.TraceSessionSampleRatio, "trace-session-sample-ratio", "", 3,
			"Share of the sessions of a baseten trace that is kept.", limits(AboveUpTo(0, 1))),
		opt(&in.InterTurnDelayCapSeconds, "inter-turn-delay-cap-seconds", "", 3,
			"Longest delay between turns of a trace in seconds.", seconds, limits(AtLeast(0))),
		opt(&in.MaxIdleGapCapSeconds, "max-idle-gap-cap-seconds", "", 3, "Longest idle gap of a trace in seconds.",
			seconds, limits(Above(0))),
		opt(&in.ReplaySpeedup, "replay-speedup", "", 3, "Factor by which recorded times are shortened.",
			limits(Above(0))),
		opt(&in.OpenLoopReplay, "open-loop-replay", "true", 3,
			"Send recorded requests without waiting for earlier replies.", negated),
		opt(&in.OpenLoopStrict, "open-loop-strict", "false", 3, "Never wait for an earlier reply in open-loop replay."),
		opt(&in.OmitKVHints, "omit-kv-hints", "false", 3, "Omit the cache hints of a trace."),
		opt(&in.ForceMinTokens, "force-min-tokens", "true", 3, "Ask for the recorded output length as a minimum.",
			negated),
		opt(&in.CacheBust, "cache-bust", "none", 3,
			"Add a unique mark to each conversation so that no cached prefix matches.", values("none", "system_prefix",
				"system_suffix", "first_turn_prefix", "first_turn_suffix", "warmup_isolation_system",
				"warmup_isolation_first_turn"), yaml("datasets.default.prompts.cache_bust.target")),
		opt(&in.SystemPrompt, "system-prompt", "", 2, "System text sent word for word with every request."),
		opt(&in.SystemPromptFile, "system-prompt-file", "", 2, "File with the system text.", mustExist),
		opt(&in.PromptCorpus, "prompt-corpus", "sonnet", 2, "Source text of generated prompts.",
			values("sonnet", "coding", "random"), yaml("datasets.default.prompts.corpus")),
		opt(&in.RandomCorpusStyle, "random-corpus-style", "vllm", 3,
			"Whose method of generating random prompts is used, for the range of lengths and for the tokens.",
			values("vllm", "sglang")),
	}
}
