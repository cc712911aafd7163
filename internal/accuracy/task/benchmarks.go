package task

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/suggest"
)

// Source is where a part of a benchmark's data lies on the hub. An empty Subset of a benchmark with tasks is that of
// the task.
type Source struct{ Repo, Subset, Split string }

// Benchmark is a row of the table of benchmarks.
type Benchmark struct {
	Name, About string
	// Data are the problems; Shots the splits of the worked examples, in the order in which they are looked for; nil:
	// they are rows of the problems.
	Data  Source
	Shots []string
	// Tasks are those that can be asked for; nil: the data name them, or there is none.
	Tasks []string
	// PerTask reports that the data of each task are a subset of their own.
	PerTask bool
	// Named reports that rows name their tasks, which can be asked for.
	Named bool
	// NShots is the number of worked examples, MostShots the largest that is possible; 0: the benchmark has none.
	NShots, MostShots int
	// Reasons reports that reasoning is asked for by default; Choice that the user can change that.
	Reasons, Choice bool
	// MaxTokens bounds an answer; with reasoning MaxReasoning, where it is not 0.
	MaxTokens, MaxReasoning int
	// Stop ends an answer without reasoning.
	Stop []string
	// Grader is the name of its grader.
	Grader string
	// System is the system message that it has by default.
	System string
	// Columns are those that its data must have.
	Columns []string

	problem func(m *maker, row record) ([]message, string, error)
	// task returns the task of a row; nil: that of its subset, or the benchmark's name.
	task func(row record) string
}

// HasShots reports whether the benchmark has worked examples.
func (b *Benchmark) HasShots() bool { return b.MostShots > 0 }

// maximum of worked examples of benchmarks that have no bound of their own.
const mostShots = 32

// aimeSystem asks for what the grader of results looks for.
const aimeSystem = `Think step by step, and give the final answer inside \boxed{}.`

// Benchmarks returns all benchmarks.
func Benchmarks() []*Benchmark {
	return []*Benchmark{
		{
			Name: "aime", About: "Problems of the AIME 2024, with worked examples.",
			Data: Source{Repo: "Maxwell-Jia/AIME_2024", Split: "train"}, NShots: 8, MostShots: 8, Reasons: true, Choice: true,
			MaxTokens: 32768, Grader: "math", System: aimeSystem, Columns: []string{"Problem", "Answer"},
			problem: (*maker).aime,
		},
		{
			Name: "aime24", About: "Problems of the AIME 2024.", Data: Source{Repo: "HuggingFaceH4/aime_2024", Split: "train"},
			MaxTokens: 32768, Grader: "lighteval_expr", Columns: []string{"problem", "answer"}, problem: (*maker).bare,
		},
		{
			Name: "aime25", About: "Problems of the AIME 2025.", Data: Source{Repo: "yentinglin/aime_2025", Split: "train"},
			MaxTokens: 32768, Grader: "lighteval_expr", Columns: []string{"problem", "answer"}, problem: (*maker).bare,
		},
		{
			Name: "bigbench", About: "Hard tasks of BIG-Bench.", Data: Source{Repo: "lukaemon/bbh", Split: "test"},
			Tasks: bbhTasks(), PerTask: true, NShots: 3, MostShots: 3, Reasons: true, Choice: true, MaxTokens: 1024,
			Grader: "exact_match", Columns: []string{"input", "target"}, problem: (*maker).bigbench,
		},
		{
			Name: "gpqa_diamond", About: "Questions of graduates in biology, chemistry and physics.",
			Data: Source{Repo: "Idavidrein/gpqa", Subset: "gpqa_diamond", Split: "train"}, MaxTokens: 32768,
			Grader: "lighteval_gpqa", problem: (*maker).gpqa,
			Columns: []string{"Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"},
		},
		{
			Name: "gsm8k", About: "Word problems of school mathematics.",
			Data: Source{Repo: "openai/gsm8k", Subset: "main", Split: "test"}, MaxTokens: 256, Grader: "lighteval_gsm8k",
			Columns: []string{"question", "answer"}, problem: (*maker).gsm8k,
		},
		{
			Name: "hellaswag", About: "Which of four endings follows.", Data: Source{Repo: "Rowan/hellaswag", Split: "validation"},
			Shots: []string{"train"}, Named: true, NShots: 10, MostShots: 15, MaxTokens: 5, Grader: "exact_match",
			Columns: []string{"ctx", "endings", "label", "activity_label"}, problem: (*maker).hellaswag,
			task: func(row record) string { return row.text("activity_label") },
		},
		{
			Name: "lcb_codegeneration", About: "Programs for problems of contests, which must pass all their tests.",
			Data: Source{Repo: "livecodebench/code_generation_lite", Subset: "v4_v5", Split: "test"}, MaxTokens: 32768,
			Grader: "code_execution", problem: (*maker).code,
			Columns: []string{"question_content", "starter_code", "public_test_cases", "private_test_cases", "metadata"},
		},
		{
			Name: "math_500", About: "Problems of mathematics contests.", Data: Source{Repo: "HuggingFaceH4/MATH-500", Split: "test"},
			Named: true, MaxTokens: 32768, Grader: "lighteval_latex", Columns: []string{"problem", "solution"},
			problem: (*maker).solution,
			task:    func(row record) string { return row.text("subject") },
		},
		{
			Name: "mmlu", About: "Multiple-choice questions of 57 subjects.", Data: Source{Repo: "lighteval/mmlu", Split: "test"},
			Shots: []string{"dev", "validation"}, Tasks: mmluTasks(), PerTask: true, NShots: 5, MostShots: mostShots,
			Choice: true, MaxTokens: 5, MaxReasoning: 4000, Stop: []string{"\n"}, Grader: "multiple_choice",
			Columns: []string{"question", "choices", "answer"}, problem: (*maker).mmlu,
		},
		{
			Name: "mmlu_pro", About: "Multiple-choice questions of 14 categories with up to ten choices.",
			Data: Source{Repo: "TIGER-Lab/MMLU-Pro", Split: "test"}, Shots: []string{"validation"}, Tasks: proTasks(), Named: true,
			NShots: 5, MostShots: mostShots, Reasons: true, Choice: true, MaxTokens: 4000, Grader: "mmlu_pro",
			Columns: []string{"question", "options", "answer", "category"}, problem: (*maker).mmluPro,
			task: func(row record) string { return row.text("category") },
		},
	}
}

// Named returns the benchmark of a name.
func Named(name string) (*Benchmark, bool) {
	all := Benchmarks()
	if i := slices.IndexFunc(all, func(b *Benchmark) bool { return b.Name == name }); i >= 0 {
		return all[i], true
	}
	return nil, false
}

// Names returns the names of all benchmarks.
func Names() []string {
	var names []string
	for _, b := range Benchmarks() {
		names = append(names, b.Name)
	}
	return names
}

// all is the name of all tasks of a benchmark.
const all = "all"

// Choose returns the tasks that names ask for, in the order given; nil: all. Of benchmarks whose data name the tasks the
// names are returned as they are. The word all stands for every task.
func (b *Benchmark) Choose(names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if !b.PerTask && !b.Named {
		return nil, fmt.Errorf("%s has no tasks to choose from", b.Name)
	}
	var chosen []string
	for _, name := range names {
		switch i := slices.IndexFunc(b.Tasks, func(t string) bool { return same(t, name) }); {
		case same(name, all):
			if len(names) > 1 && b.Name != "mmlu" && b.Name != "mmlu_pro" {
				return nil, fmt.Errorf("all stands for every task of %s and cannot be used with others", b.Name)
			}
			return nil, nil
		case i >= 0:
			name = b.Tasks[i]
		case b.Tasks != nil:
			return nil, b.unknown(name, b.Tasks)
		}
		if !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

// unknown returns the error of a task that is none of those known.
func (b *Benchmark) unknown(name string, known []string) error {
	meant := ""
	if near := suggest.Nearest(name, known); near != "" {
		meant = fmt.Sprintf("did you mean %s? ", near)
	}
	return fmt.Errorf("%s has no task %q: %sThere are %s", b.Name, name, meant, strings.Join(known, ", "))
}

// same compares names of tasks: case does not count, and blanks may be written as underscores.
func same(a, b string) bool {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(s)) }
	return plain(a) == plain(b)
}

func proTasks() []string {
	return []string{"biology", "business", "chemistry", "computer science", "economics", "engineering", "health", "history",
		"law", "math", "philosophy", "physics", "psychology", "other"}
}

func mmluTasks() []string {
	return strings.Fields(`abstract_algebra anatomy astronomy business_ethics clinical_knowledge college_biology
		college_chemistry college_computer_science college_mathematics college_medicine college_physics computer_security
		conceptual_physics econometrics electrical_engineering elementary_mathematics formal_logic global_facts
		high_school_biology high_school_chemistry high_school_computer_science high_school_european_history
		high_school_geography high_school_government_and_politics high_school_macroeconomics high_school_mathematics
		high_school_microeconomics high_school_physics high_school_psychology high_school_statistics high_school_us_history
		high_school_world_history human_aging human_sexuality international_law jurisprudence logical_fallacies
		machine_learning management marketing medical_genetics miscellaneous moral_disputes moral_scenarios nutrition
		philosophy prehistory professional_accounting professional_law professional_medicine professional_psychology
		public_relations security_studies sociology us_foreign_policy virology world_religions`)
}

func bbhTasks() []string {
	return strings.Fields(`boolean_expressions causal_judgement date_understanding disambiguation_qa dyck_languages
		formal_fallacies geometric_shapes hyperbaton logical_deduction_five_objects logical_deduction_seven_objects
		logical_deduction_three_objects movie_recommendation multistep_arithmetic_two navigate object_counting
		penguins_in_a_table reasoning_about_colored_objects ruin_names salient_translation_error_detection snarks
		sports_understanding temporal_sequences tracking_shuffled_objects_five_objects
		tracking_shuffled_objects_seven_objects tracking_shuffled_objects_three_objects web_of_lies word_sorting`)
}

// releases of LiveCodeBench: each brought one more file of problems.
const releases = 6

// ReleaseFiles returns the files that a release of the data of lcb_codegeneration consists of in its repository: all up to
// one (release_v5), one (v5) or a range (v4_v5). It returns nil for a name that is no release.
func ReleaseFiles(tag string) (files []string) {
	from, to := 1, releases
	switch name, ranged := strings.CutPrefix(tag, "release_"); {
	case ranged && name == "latest":
	case ranged:
		to = release(name)
	default:
		first, last, two := strings.Cut(tag, "_")
		from, to = release(first), release(first)
		if two {
			to = release(last)
		}
	}
	if from < 1 || to < from {
		return nil
	}
	for n := from; n <= to; n++ {
		name := "test.jsonl"
		if n > 1 {
			name = fmt.Sprintf("test%d.jsonl", n)
		}
		files = append(files, name)
	}
	return files
}

// release returns the number of a release such as v4, 0 if it is none.
func release(name string) int {
	if len(name) == 2 && name[0] == 'v' && '1' <= name[1] && name[1] <= '0'+releases {
		return int(name[1] - '0')
	}
	return 0
}
