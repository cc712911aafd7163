package resolve

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config/configtest"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/settings"
)

const graded = "-m m --accuracy-benchmark "

func TestTrap8WorkedExamplesHaveBounds(t *testing.T) {
	for line, want := range map[string]string{
		"aime --accuracy-n-shots 9":                                               "--accuracy-n-shots 9: aime has at most 8 worked examples",
		"bigbench --accuracy-n-shots 4":                                           "--accuracy-n-shots 4: bigbench has at most 3 worked examples",
		"hellaswag --accuracy-n-shots 16":                                         "--accuracy-n-shots 16: hellaswag has at most 15 worked examples",
		"lcb_codegeneration --accuracy-allow-code-execution --accuracy-n-shots 1": "lcb_codegeneration has no worked examples",
	} {
		configtest.WantText(t, line, resolveError(t, graded+line).Error(), want)
	}
	for line, want := range map[string]int{
		"aime --accuracy-n-shots 8": 8, "bigbench --accuracy-n-shots 0": 0, "hellaswag --accuracy-n-shots 15": 15,
		"mmlu --accuracy-n-shots 32": 32, "gsm8k --accuracy-n-shots 5": 5,
		"lcb_codegeneration --accuracy-allow-code-execution --accuracy-n-shots 0": 0,
	} {
		cfg, warnings := mustResolve(t, graded+line)
		if got := cfg.Accuracy.Shots; got == nil || *got != want {
			t.Errorf("%s: %v", line, got)
		}
		if said := warned(warnings, "has no effect: gsm8k has no worked examples"); said != strings.HasPrefix(line, "gsm8k") {
			t.Errorf("%s: %v", line, warnings)
		}
	}
}

func warned(list []fault.Warning, text string) bool {
	return slices.ContainsFunc(list, func(w fault.Warning) bool { return strings.Contains(w.Text, text) })
}

func TestTrap9TasksNeedABenchmarkWithTasks(t *testing.T) {
	configtest.WantText(t, "gsm8k", resolveError(t, graded+"gsm8k --accuracy-tasks anatomy").Error(),
		"--accuracy-tasks: gsm8k has no tasks to choose from")
	configtest.WantText(t, "mmlu", resolveError(t, graded+"mmlu --accuracy-tasks anatmy").Error(),
		`--accuracy-tasks: mmlu has no task "anatmy": did you mean anatomy? There are abstract_algebra, anatomy, `)
	cfg, _ := mustResolve(t, graded+"mmlu --accuracy-tasks anatomy,Virology --accuracy-tasks sociology")
	if want := []string{"anatomy", "virology", "sociology"}; !slices.Equal(cfg.Accuracy.Tasks, want) {
		t.Errorf("%v, want %v", cfg.Accuracy.Tasks, want)
	}
}

func TestTrap10WithoutACountAllProblemsAreAsked(t *testing.T) {
	for line, whole := range map[string]bool{
		"": true, "--concurrency 7": true, "--request-rate 5": true, "--request-rate 5 --concurrency 3": true,
		"--request-count 4": false, "--benchmark-duration 5": false, "--num-conversations 4": false,
	} {
		cfg, _ := mustResolve(t, graded+"mmlu "+line)
		if p := cfg.Phases[0]; p.Whole != whole || whole && p.Requests != nil {
			t.Errorf("%s: whole %t, requests %v", line, p.Whole, p.Requests)
		}
	}
}

func TestTrap17NoFixedSchedule(t *testing.T) {
	faults := resolveError(t, graded+"aime --fixed-schedule")
	if len(faults) != 1 {
		t.Error(faults)
	}
	configtest.WantText(t, "aime", faults.Error(), "--accuracy-benchmark aime cannot be used with a fixed schedule")
}

func TestBenchmarksRefuseWhatTheyReplace(t *testing.T) {
	file := configtest.WriteFile(t, "data.jsonl", `{"text":"x"}`+"\n")
	for line, want := range map[string]string{
		"--input-file " + file:                    "--accuracy-benchmark gsm8k and --input-file cannot be used together",
		"--public-dataset sharegpt":               "--accuracy-benchmark gsm8k and --public-dataset cannot be used together",
		"--isl 5":                                 "gsm8k and --isl cannot",
		"--system-prompt x":                       "gsm8k and --system-prompt cannot",
		"--endpoint-type embeddings":              "gsm8k needs an endpoint type that answers with text",
		"--accuracy-grader code_execution":        "allow that with --accuracy-allow-code-execution",
		"--accuracy-grader sympathetic":           "--accuracy-grader",
		"--accuracy-repeats 0":                    "--accuracy-repeats",
		"--accuracy-n-shots -1":                   "--accuracy-n-shots",
		"--accuracy-data " + file + ".nowhere":    "is not a valid file or directory",
		"--dataset-path " + file:                  "gsm8k and --dataset-path cannot",
		"--image-width-mean 5":                    "gsm8k and --image-width-mean cannot",
		"--conversation-turn-mean 3":              "gsm8k and --conversation-turn-mean cannot",
		"--custom-dataset-type single_turn":       "--custom-dataset-type",
		"--accuracy-tasks x --accuracy-n-shots 1": "gsm8k has no tasks",
	} {
		configtest.WantText(t, line, lineError(t, graded+"gsm8k "+line), want)
	}
	configtest.WantText(t, "lcb", lineError(t, graded+"lcb_codegeneration"),
		"--accuracy-benchmark lcb_codegeneration runs programs that the model writes: allow that with "+
			"--accuracy-allow-code-execution")
	configtest.WantText(t, "lcb", lineError(t, graded+"lcb_codegeneration --accuracy-allow-code-execution --accuracy-enable-cot"),
		"cannot ask for reasoning")
	configtest.WantText(t, "unknown", lineError(t, graded+"mml"), "--accuracy-benchmark mml: did you mean mmlu?")
	for _, line := range []string{"--accuracy-tasks a", "--accuracy-n-shots 1", "--accuracy-enable-cot",
		"--accuracy-grader math", "--accuracy-system-prompt x", "--accuracy-verbose", "--accuracy-data " + file,
		"--accuracy-download", "--accuracy-repeats 2", "--accuracy-allow-code-execution"} {
		configtest.WantText(t, line, lineError(t, "-m m "+line), "can only be used together with --accuracy-benchmark")
	}
}

func TestWarningsOfBenchmarks(t *testing.T) {
	const temperature = "The temperature is not 0"
	file := configtest.WriteFile(t, "data.jsonl", `{"text":"x"}`+"\n")
	for _, c := range []struct {
		line, text string
		said       bool
	}{
		{"", temperature, true}, {"--extra-inputs temperature:0.7", temperature, true}, {"--extra-inputs top_p:1", temperature, true},
		{"--extra-inputs temperature:0", temperature, false}, {"--extra-inputs temperature:0.0", temperature, false},
		{`--extra-inputs {"temperature":0}`, temperature, false},
		{"--accuracy-enable-cot", "--accuracy-enable-cot has no effect on gsm8k", true},
		{"--accuracy-data " + file + " --accuracy-download", "--accuracy-download has no effect with --accuracy-data", true},
		{"--num-dataset-entries 5", "--request-count asks the first problems only", true},
		{"--dataset-sampling-strategy random --request-count 5", "some may be asked twice", true},
	} {
		if _, warnings := mustResolve(t, graded+"gsm8k "+c.line); warned(warnings, c.text) != c.said {
			t.Errorf("%s: %v", c.line, warnings)
		}
	}
}

// lineError is what is wrong with a line, parsed or resolved.
func lineError(t *testing.T, line string) string {
	t.Helper()
	p, err := settings.Parse(configtest.Words(line), configtest.Environ())
	if err == nil {
		_, _, err = Resolve(p, fakeCatalog{})
	}
	return faultsOf(t, line, err).Error()
}
