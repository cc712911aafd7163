package public

import (
	"slices"
	"strings"

	"aiperf/internal/workload/dataset"
)

const shareGPT = "sharegpt"

// set is one published data set.
type set struct {
	name string
	// A repository of the hub, its subset and split; or a single file under a URL, and its name in the cache.
	repo, subset, split string
	url, file           string
	// revision is the only one that is read; empty: the newest.
	revision string
	// streamed: reading ends when there are as many conversations as the run asks for.
	streamed bool
	// weka: traces with a reader of their own.
	weka bool
	// agents: rows are recorded sessions of agents; nil: they are not.
	agents *agentSet
	// convert makes the turns of a row; none if the row is empty.
	convert func(*converter) ([]dataset.Turn, error)
	// table is set for rows that are read as they are; original, that its files are as the repository has them.
	table    *Table
	original bool
}

// sets returns the published data sets by the names of --public-dataset, which are the original's: where each is, and
// what makes a conversation of a row.
func sets() []set {
	all := []set{
		{name: shareGPT, convert: (*converter).shareGPT, file: "ShareGPT_V3_unfiltered_cleaned_split.json",
			url: "https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered/resolve/main/ShareGPT_V3_unfiltered_cleaned_split.json"},
		{name: "aimo", repo: "AI-MO/NuminaMath-TIR", split: "train", convert: column("problem")},
		{name: "aimo_aime", repo: "AI-MO/aimo-validation-aime", split: "train", convert: column("problem")},
		{name: "aimo_numina_cot", repo: "AI-MO/NuminaMath-CoT", split: "train", convert: column("problem")},
		{name: "aimo_numina_1_5", repo: "AI-MO/NuminaMath-1.5", split: "train", convert: column("problem")},
		{name: "mmstar", repo: "Lin-Chen/MMStar", split: "val", convert: (*converter).mmStar},
		{name: "mmvu", repo: "yale-nlp/MMVU", split: "validation", convert: (*converter).mmvu},
		{name: "vision_arena", repo: "lmarena-ai/VisionArena-Chat", split: "train", streamed: true,
			convert: (*converter).visionArena},
		{name: "llava_onevision", repo: "lmms-lab/LLaVA-OneVision-Data", subset: "sharegpt4o", split: "train",
			streamed: true, convert: (*converter).llava},
		{name: "spec_bench", convert: (*converter).firstTurn, file: "spec_bench.jsonl",
			url: "https://raw.githubusercontent.com/hemingkx/Spec-Bench/main/data/spec_bench/question.jsonl"},
		{name: "instruct_coder", repo: "likaixin/InstructCoder", split: "train", convert: column("instruction")},
		{name: "blazedit_5k", repo: "vdaita/edit_5k_char", split: "train", convert: (*converter).edit},
		{name: "blazedit_10k", repo: "vdaita/edit_10k_char", split: "train", convert: (*converter).edit},
		{name: "librispeech", repo: "openslr/librispeech_asr", subset: "clean", split: "test", streamed: true,
			convert: (*converter).speech},
		{name: "voxpopuli", repo: "facebook/voxpopuli", subset: "en", split: "test", streamed: true,
			convert: (*converter).speech},
		{name: "gigaspeech", repo: "speechcolab/gigaspeech", subset: "xs", split: "test", streamed: true,
			convert: (*converter).speech},
		{name: "ami", repo: "edinburghcstr/ami", subset: "ihm", split: "test", streamed: true,
			convert: (*converter).speech},
		{name: "spgispeech", repo: "kensho/spgispeech", subset: "test", split: "test", streamed: true,
			convert: (*converter).speech},
		{name: "spec_al_gsm8k", repo: "openai/gsm8k", subset: "main", split: "test", convert: column("question")},
		{name: "spec_al_math500", repo: "HuggingFaceH4/MATH-500", split: "test", convert: column("problem")},
		{name: "spec_al_humaneval", repo: "openai/openai_humaneval", split: "test", convert: column("prompt")},
		{name: "spec_al_mbpp", repo: "google-research-datasets/mbpp", subset: "full", split: "test",
			convert: column("text")},
		{name: "spec_al_mtbench", repo: "HuggingFaceH4/mt_bench_prompts", split: "train",
			convert: (*converter).allTurns},
		{name: "weka_hf", split: "train", weka: true},
	}
	return slices.Concat(all, agentSets(), wekaSets(), speedBench())
}

// wekaSets returns the recordings of agents: without sub-agents, the newest with them, and those of each date. Each of
// those with sub-agents exists cut to contexts of 256k tokens too.
func wekaSets() []set {
	const name, owner = "semianalysis_cc_traces_weka", "semianalysisai/cc-traces-weka-"
	part := func(name, repo string) set { return set{name: name, repo: owner + repo, split: "train", weka: true} }
	all := []set{part(name, "no-subagents-051826"), part(name+"_no_subagents", "no-subagents-051826")}
	for _, x := range []struct{ name, repo string }{
		{"_with_subagents", "062126"},
		{"_with_subagents_060226", "with-subagents-060226"}, {"_with_subagents_060526", "with-subagents-060526"},
		{"_with_subagents_060826", "with-subagents-060826"},
		{"_061326", "061326"}, {"_061526", "061526"}, {"_062126", "062126"},
	} {
		all = append(all, part(name+x.name, x.repo), part(name+x.name+"_256k", x.repo+"-256k"))
	}
	return all
}

// speedBench returns the parts of one repository: the qualitative rows, whole or of one category, and the rows of one
// length, whole or of one kind of text.
func speedBench() []set {
	part := func(name, subset, category string) set {
		return set{name: "speed_bench_" + name, repo: "nvidia/SPEED-Bench", subset: subset, split: "test",
			convert: speedCategory(category)}
	}
	all := []set{part("qualitative", "qualitative", "")}
	for category := range strings.FieldsSeq("coding humanities math multilingual qa rag reasoning roleplay stem " +
		"summarization writing") {
		all = append(all, part(category, "qualitative", category))
	}
	for length := range strings.FieldsSeq("1k 2k 8k 16k 32k") {
		subset := "throughput_" + length
		all = append(all, part(subset, subset, ""))
		for kind := range strings.FieldsSeq("low_entropy mixed high_entropy") {
			all = append(all, part(subset+"_"+kind, subset, kind))
		}
	}
	return all
}
