package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/accuracy/grade"
	"aiperf/internal/accuracy/sandbox"
	"aiperf/internal/accuracy/task"
	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/config"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/recompute"
	"aiperf/internal/result/summary"
	"aiperf/internal/workload/rows"
)

// sampleData are the made-up rows of all benchmarks.
func sampleData(benchmark string) string {
	return filepath.Join("..", "accuracy", "task", "testdata", "data", benchmark)
}

// onlyTasks are the tasks of the made-up rows.
var onlyTasks = map[string]string{"mmlu": "anatomy,world_religions", "bigbench": "boolean_expressions,word_sorting"}

// problemsOf makes the problems of the made-up rows.
func problemsOf(t *testing.T, benchmark string, chat bool) []task.Problem {
	t.Helper()
	b, _ := task.Named(benchmark)
	var tasks []string
	if only := onlyTasks[benchmark]; only != "" {
		tasks = strings.Split(only, ",")
	}
	set, err := task.Build(context.Background(), task.Options{Benchmark: b, Tasks: tasks, Chat: chat,
		Rows: func(ctx context.Context, subset, split string, each func(int, rows.Row) error) error {
			path := filepath.Join(sampleData(benchmark), subset, split+".jsonl")
			if _, err := os.Stat(path); err != nil {
				return task.ErrNoRows
			}
			return rows.Each(ctx, path, each)
		}})
	if err != nil {
		t.Fatal(err)
	}
	return set.Problems
}

// rightAnswer is an answer that a benchmark's grader finds right.
func rightAnswer(benchmark string, p *task.Problem) string {
	switch benchmark {
	case "mmlu", "hellaswag", "bigbench":
		return strings.TrimSpace(p.Gold)
	case "mmlu_pro":
		return "The answer is (" + p.Gold + ")."
	case "aime", "aime24", "aime25":
		return `So it is \boxed{` + p.Gold + "}."
	case "gpqa_diamond":
		return "I think.\nAnswer: " + p.Gold
	case "lcb_codegeneration":
		if strings.HasSuffix(p.ID, "0") {
			return "```python\nprint(sum(map(int, input().split())))\n```"
		}
		return "```python\nclass Solution:\n    def twice(self, n: int) -> int:\n        return 2 * n\n```"
	}
	return p.Gold
}

// answering starts a mock server that answers prompts from a list.
func answering(t *testing.T, o mockserver.Options, replies ...map[string]string) string {
	t.Helper()
	var text bytes.Buffer
	for _, r := range replies {
		line, _ := json.Marshal(r) // texts
		text.Write(append(line, '\n'))
	}
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.SetReplies(path); err != nil {
		t.Fatal(err)
	}
	o.Fast = true
	return serve(t, o)
}

// graded runs a benchmark on its made-up rows.
func graded(t *testing.T, url, benchmark string, args ...string) (*summary.Accuracy, *Outcome, string) {
	t.Helper()
	dir := t.TempDir()
	cfg := gradedConfig(t, dir, url, benchmark, args...)
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatalf("%s %v: %v", benchmark, args, err)
	}
	return outcome.Result.Accuracy, outcome, dir
}

func gradedConfig(t *testing.T, dir, url, benchmark string, args ...string) *config.Run {
	t.Helper()
	args = append([]string{"--no-gpu-telemetry", "--accuracy-benchmark", benchmark, "--accuracy-data", sampleData(benchmark),
		"--extra-inputs", "temperature:0"}, args...)
	if only := onlyTasks[benchmark]; only != "" {
		args = append(args, "--accuracy-tasks", only)
	}
	if benchmark == "lcb_codegeneration" {
		args = append(args, "--accuracy-allow-code-execution")
	}
	return resolve(t, dir, url, args...)
}

// needSandbox skips a test where programs cannot be run.
func needSandbox(t *testing.T) {
	t.Helper()
	b, err := sandbox.New(t.Context(), time.Minute)
	if err != nil {
		t.Skipf("this system has no sandbox: %v", err)
	}
	b.Close()
}

// answersIn are the lines of graded answers of a folder.
func answersIn(t *testing.T, path string) (list []map[string]any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var one map[string]any
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, one)
	}
	return list
}

// Each benchmark on each endpoint that takes texts, streamed and not: every second answer is right.
func TestEveryBenchmarkFromTheRowToTheVerdict(t *testing.T) {
	t.Parallel()
	for _, b := range task.Benchmarks() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			if b.Grader == grade.CodeExecution {
				needSandbox(t)
			}
			var replies []map[string]string
			right := map[string]bool{}
			for _, chat := range []bool{true, false} {
				for i, p := range problemsOf(t, b.Name, chat) {
					answer := "It is unclear"
					if right[p.ID] = i%2 == 0; right[p.ID] {
						answer = rightAnswer(b.Name, &p)
					}
					replies = append(replies, map[string]string{"prompt": p.Messages[len(p.Messages)-1].Text, "reply": answer})
				}
			}
			url := answering(t, mockserver.Options{}, replies...)
			correct := int64(len(right)+1) / 2
			for i, endpoint := range []string{"chat", "completions", "responses"} {
				for k, how := range []string{"--streaming", "--streaming=false"} {
					if !testkit.Full() && i != k {
						continue // streamed chat and completions in one piece
					}
					a, outcome, dir := graded(t, url, b.Name, "--endpoint-type", endpoint, how, "--concurrency", "3")
					all := a.Overall()
					if all.Total != int64(len(right)) || all.Correct != correct || a.Ungraded != 0 || a.Asked != all.Total ||
						a.Problems != all.Total || a.Grader != b.Grader {
						t.Errorf("%s %s: %+v, want %d of %d right", endpoint, how, a, correct, len(right))
					}
					for _, one := range answersIn(t, filepath.Join(dir, "accuracy_export.jsonl")) {
						if id := one["conversation_id"].(string); one["passed"] != right[id] {
							t.Errorf("%s %s: %s is right: %t: %v", endpoint, how, id, right[id], one)
						}
					}
					if n := len(records(t, dir)); n != len(right) || outcome.Result.Counts.Errors != 0 {
						t.Errorf("%s %s: %d requests", endpoint, how, n)
					}
				}
			}
		})
	}
}

// What the server gets: messages or one text, the bound and the end of answers, and what the user adds.
func TestRequestsOfBenchmarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		args      []string
		benchmark string
		want      map[string]string
	}{
		{"chat", nil, "mmlu", map[string]string{"stop": `["\n"]`, "max_completion_tokens": "5", "temperature": "0", "roles": "user assistant user assistant user assistant user assistant user assistant user"}},
		{"completions", []string{"--endpoint-type", "completions"}, "mmlu",
			map[string]string{"stop": `["\n"]`, "max_tokens": "5", "roles": ""}},
		{"responses", []string{"--endpoint-type", "responses"}, "mmlu", map[string]string{"stop": "", "max_output_tokens": "5"}},
		{"reasoning", []string{"--accuracy-enable-cot"}, "mmlu", map[string]string{"stop": "", "max_completion_tokens": "4000"}},
		{"the user's stop wins", []string{"--extra-inputs", `{"stop":["END"]}`}, "mmlu", map[string]string{"stop": `["END"]`}},
		{"the user's bound wins", []string{"--osl", "77"}, "mmlu", map[string]string{"max_completion_tokens": "77"}},
		{"system message", nil, "aime", map[string]string{"roles": "system user", "max_completion_tokens": "32768", "stop": ""}},
		{"no system message", []string{"--accuracy-system-prompt", ""}, "aime", map[string]string{"roles": "user"}},
		{"another system message", []string{"--accuracy-system-prompt", "Hi"}, "gsm8k", map[string]string{"roles": "system user"}},
		{"no examples", []string{"--accuracy-n-shots", "0"}, "mmlu", map[string]string{"roles": "user"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seen := filepath.Join(t.TempDir(), "seen.jsonl")
			url, stop := serveUntil(t, mockserver.Options{Fast: true, RecordRequests: seen, RecordBodies: true})
			graded(t, url, c.benchmark, append(c.args, "--request-count", "1")...)
			stop()
			body := bodyOf(t, seen)
			got := map[string]string{"roles": ""}
			for name, value := range body {
				text, _ := json.Marshal(value) // came from JSON
				got[name] = string(text)
			}
			for _, m := range messagesOf(body) {
				got["roles"] = strings.TrimSpace(got["roles"] + " " + m["role"].(string))
			}
			for name, want := range c.want {
				if got[name] != want {
					t.Errorf("%s is %s, want %s", name, got[name], want)
				}
			}
		})
	}
}

func messagesOf(body map[string]any) (list []map[string]any) {
	of, _ := body["messages"].([]any)
	for _, m := range of {
		list = append(list, m.(map[string]any))
	}
	return list
}

// bodyOf is the body of the first request with one that a mock server noted.
func bodyOf(t *testing.T, path string) (body map[string]any) {
	t.Helper()
	for _, line := range answersIn(t, path) {
		if text, _ := line["body"].(string); json.Unmarshal([]byte(text), &body) == nil && body["model"] != nil {
			return body
		}
	}
	t.Fatalf("%s has no body", path)
	return nil
}

// The same rows in every form in which data may be given.
func TestFormsOfBenchmarkData(t *testing.T) {
	type word struct {
		Question string `json:"question" parquet:"question"`
		Answer   string `json:"answer" parquet:"answer"`
	}
	list := []word{{"One, \"two\"?", "#### 3"}, {"A\nB?", "#### 4"}, {"ü?", "x\n#### 5"}}
	var jsonl, csv bytes.Buffer
	csv.WriteString("answer,question\n")
	for _, w := range list {
		line, _ := json.Marshal(w) // texts
		jsonl.Write(append(line, '\n'))
		fmt.Fprintf(&csv, "\"%s\",\"%s\"\n", w.Answer, strings.ReplaceAll(w.Question, `"`, `""`))
	}
	array, _ := json.Marshal(list) // texts
	var table bytes.Buffer
	writer := parquet.NewGenericWriter[word](&table)
	if _, err := writer.Write(list); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	url := answering(t, mockserver.Options{}, map[string]string{"contains": "ü?", "reply": "#### 5"},
		map[string]string{"contains": "?", "reply": "#### 3"})
	for name, text := range map[string][]byte{"rows.jsonl": jsonl.Bytes(), "rows.json": array, "rows.csv": csv.Bytes(),
		"rows.parquet": table.Bytes(), "main/test.jsonl": jsonl.Bytes(), "main/test.parquet": table.Bytes(),
		"main/test-00000-of-00001.parquet": table.Bytes(), "test.csv": csv.Bytes(), "hub": table.Bytes()} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, filepath.FromSlash(name))
			args := []string{"--accuracy-benchmark", "gsm8k", "--no-gpu-telemetry"}
			switch {
			case name == "hub":
				t.Setenv("HF_HUB_CACHE", home)
				path = filepath.Join(home, "datasets--openai--gsm8k", "snapshots", "0123456789abcdef0123456789abcdef01234567", "main",
					"test-00000-of-00001.parquet")
			case strings.HasPrefix(name, "rows"):
				args = append(args, "--accuracy-data", path)
			default:
				args = append(args, "--accuracy-data", home)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			outcome, err := execute(t, resolve(t, dir, url, args...), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if all := outcome.Result.Accuracy.Overall(); all.Total != 3 || all.Correct != 2 || all.Unparsed != 0 {
				t.Errorf("%+v", all)
			}
		})
	}
}

func TestTrap11ReasoningIsNoAnswerWhereThereIsContent(t *testing.T) {
	t.Parallel()
	url := answering(t, mockserver.Options{},
		map[string]string{"contains": "has 2 apples", "reply": "#### 4", "reasoning": "#### 5"},
		map[string]string{"contains": "has 7 apples", "reply": "I cannot say", "reasoning": "#### 14"},
		map[string]string{"contains": "has 600 apples", "reasoning": "#### 1200"})
	for _, how := range []string{"--streaming", "--streaming=false"} {
		_, _, dir := graded(t, url, "gsm8k", how)
		got := map[string]string{}
		for _, one := range answersIn(t, filepath.Join(dir, "accuracy_export.jsonl")) {
			got[one["conversation_id"].(string)] = fmt.Sprint(one["passed"], "|", one["model_output"], "|", one["model_thinking"])
		}
		for id, want := range map[string]string{"gsm8k-00000": "true|#### 4|#### 5", "gsm8k-00001": "false|I cannot say|#### 14",
			"gsm8k-00002": "true|#### 1200|#### 1200"} {
			if got[id] != want {
				t.Errorf("%s %s: %s, want %s", how, id, got[id], want)
			}
		}
	}
}

func TestTrap13AnswersThatAreCutOffAreUnparsed(t *testing.T) {
	t.Parallel()
	url := answering(t, mockserver.Options{},
		map[string]string{"contains": "?", "reply": "Okay, so the question is about organs and I need to think about it: B"})
	a, _, _ := graded(t, url, "mmlu")
	if all := a.Overall(); all.Total != 4 || all.Unparsed != 4 || all.Correct != 0 {
		t.Errorf("%+v", a)
	}
}

func TestTrap14AnEndlessProgramIsWrongAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	url := answering(t, mockserver.Options{},
		map[string]string{"contains": "print their sum", "reply": "```python\nwhile True: pass\n```"},
		map[string]string{"contains": "twice the number", "reply": "```python\ndef twice(n): return n + n\n```"})
	a, _, dir := graded(t, url, "lcb_codegeneration")
	if all := a.Overall(); all.Total != 2 || all.Correct != 1 || a.Late != 0 {
		t.Errorf("%+v", a)
	}
	for _, one := range answersIn(t, filepath.Join(dir, "accuracy_export.jsonl")) {
		if one["passed"] == false && !strings.Contains(one["explanation"].(string), "too long") {
			t.Error(one)
		}
	}
}

func TestTrap15FailedRequestsHaveNoAnswer(t *testing.T) {
	t.Parallel()
	url := answering(t, mockserver.Options{Fault: "status=500;rate=0.5"}, map[string]string{"contains": "apples", "reply": "#### 4"})
	a, outcome, dir := graded(t, url, "gsm8k", "--request-count", "60")
	c := outcome.Result.Counts
	if all := a.Overall(); c.Errors == 0 || c.Successes == 0 || all.Total != c.Successes || a.Ungraded != c.Errors {
		t.Errorf("%+v, %+v", a, c)
	}
	if n := len(answersIn(t, filepath.Join(dir, "accuracy_export.jsonl"))); int64(n) != c.Successes {
		t.Errorf("%d lines", n)
	}
}

func TestTrap18WarmupAnswersDoNotCount(t *testing.T) {
	t.Parallel()
	url := answering(t, mockserver.Options{}, map[string]string{"contains": "apples", "reply": "#### 4"})
	for _, n := range []string{"2", "3"} {
		a, outcome, dir := graded(t, url, "gsm8k", "--warmup-request-count", "2", "--request-count", n)
		if all := a.Overall(); fmt.Sprint(all.Total) != n || all.Correct != 1 || a.Repeats != nil || outcome.Result.Warmup == nil {
			t.Errorf("%+v", a)
		}
		for i, one := range answersIn(t, filepath.Join(dir, "accuracy_export.jsonl")) {
			if one["benchmark_phase"] != "profiling" || one["conversation_id"] != fmt.Sprintf("gsm8k-%05d", i) {
				t.Error(one)
			}
		}
	}
}

// A second pass over the problems counts every answer, and says how alike they were.
func TestProblemsThatAreAskedAgain(t *testing.T) {
	t.Parallel()
	replies := []map[string]string{{"contains": "has 2 apples", "reply": "#### 4"}, {"contains": "has 7 apples", "reply": "#### 14"},
		{"contains": "has 7 apples", "reply": "#### 15"}, {"contains": "has 600 apples", "reply": "#### 1"},
		{"contains": "has 600 apples", "reply": "#### 2"}}
	for _, c := range []struct {
		args  []string
		total int64
		want  summary.Repeats
	}{
		{[]string{"--accuracy-repeats", "2"}, 6, summary.Repeats{Problems: 3, Varied: 2, Flipped: 1}},
		{[]string{"--request-count", "5"}, 5, summary.Repeats{Problems: 2, Varied: 1, Flipped: 1}},
	} {
		a, _, _ := graded(t, answering(t, mockserver.Options{}, replies...), "gsm8k", c.args...)
		if all := a.Overall(); all.Total != c.total || a.Asked != 3 || a.Problems != 3 || a.Repeats == nil || *a.Repeats != c.want {
			t.Errorf("%v: %+v, %+v", c.args, a, a.Repeats)
		}
	}
}

// TestAnswersOfSharesAreGradedTogether: shares send the answers to the run, which finds the same as one process.
func TestAnswersOfSharesAreGradedTogether(t *testing.T) {
	t.Parallel()
	replies := []map[string]string{{"contains": "has 2 apples", "reply": "#### 4"}, {"contains": "has 7 apples", "reply": ""},
		{"contains": "has 600 apples", "reply": "#### 2"}}
	args := []string{"--accuracy-repeats", "2", "--warmup-request-count", "2", "--random-seed", "1", "--export-level", "raw"}
	url := answering(t, mockserver.Options{}, replies...)
	want, _, dir := graded(t, url, "gsm8k", args...)
	lines := func(dir string) (list []string) {
		for _, one := range answersIn(t, filepath.Join(dir, "accuracy_export.jsonl")) {
			list = append(list, fmt.Sprint(one["conversation_id"], one["expected"], one["actual"], one["passed"],
				one["model_output"], one["model_thinking"]))
		}
		slices.Sort(list)
		return list
	}
	for _, of := range []int{1, 2, 5} {
		h := newSharesHere(t, of, url)
		folders := t.TempDir()
		h.cfg = func(share int) *config.Run {
			return gradedConfig(t, filepath.Join(folders, fmt.Sprint(share)), url, "gsm8k", args...)
		}
		out, folder, err := h.run(t, Options{})
		if err != nil {
			t.Fatalf("%d shares: %v", of, err)
		}
		if got := out.Result.Accuracy; !reflect.DeepEqual(got, want) {
			t.Errorf("%d shares: %+v, want %+v", of, got, want)
		}
		if got, want := lines(folder), lines(dir); len(want) != 6 || !slices.Equal(got, want) {
			t.Errorf("%d shares: %q, want %q", of, got, want)
		}
	}
}

func TestRunsOfATimeGradeWhatWasAnswered(t *testing.T) {
	t.Parallel()
	url := answering(t, mockserver.Options{}, map[string]string{"contains": "apples", "reply": "#### 4"})
	a, outcome, dir := graded(t, url, "gsm8k", "--benchmark-duration", "0.3", "--concurrency", "2")
	all := a.Overall()
	if all.Total == 0 || all.Total != outcome.Result.Counts.Successes {
		t.Errorf("%+v, %+v", a, outcome.Result.Counts)
	}
	if n := len(answersIn(t, filepath.Join(dir, "accuracy_export.jsonl"))); int64(n) != all.Total {
		t.Errorf("%d lines of %d answers", n, all.Total)
	}
}

func TestPhasesGradeTogether(t *testing.T) {
	t.Parallel()
	url := answering(t, mockserver.Options{}, map[string]string{"contains": "apples", "reply": "#### 4"})
	dir := t.TempDir()
	cfg := gradedConfig(t, dir, url, "gsm8k")
	cfg.Phases = []config.Phase{burst("warm", config.WarmupPhase, 1, 2), burst("low", config.ProfilingPhase, 1, 3),
		burst("high", config.ProfilingPhase, 2, 4)}
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := outcome.Result.Accuracy
	if all := a.Overall(); all.Total != 7 || a.Asked != 3 {
		t.Errorf("%+v", a)
	}
	asked := map[string]int{}
	for _, one := range answersIn(t, filepath.Join(dir, "accuracy_export.jsonl")) {
		asked[one["conversation_id"].(string)]++
	}
	// Each phase begins with the first problem.
	if want := map[string]int{"gsm8k-00000": 3, "gsm8k-00001": 2, "gsm8k-00002": 2}; !maps.Equal(asked, want) {
		t.Errorf("%v, want %v", asked, want)
	}
}

// An interrupt keeps what was graded, and leaves out what could not be graded in the time that it allows.
func TestAnInterruptWaitsForGrades(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		benchmark string
		wait      time.Duration
	}{{"lcb_codegeneration", 0}, {"gsm8k", time.Minute}} {
		if c.benchmark == "lcb_codegeneration" {
			needSandbox(t)
		}
		url := answering(t, mockserver.Options{}, map[string]string{"contains": "apples", "reply": "#### 4"},
			map[string]string{"contains": "n", "reply": "```python\nwhile True: pass\n```"})
		dir := t.TempDir()
		cfg := gradedConfig(t, dir, url, c.benchmark, "--request-count", "100000")
		cfg.Env.Accuracy.CancelWait = c.wait
		stop := make(chan struct{})
		once := sync.OnceFunc(func() { close(stop) })
		outcome, err := execute(t, cfg, Options{Stop: stop, Observers: observed(func(s *progress.Snapshot) {
			if s.Records.Successes >= 2 {
				once()
			}
		})})
		if err != nil {
			t.Fatal(err)
		}
		a, n := outcome.Result.Accuracy, outcome.Result.Counts.Successes
		all := a.Overall()
		if all.Total+a.Late != n || !outcome.Result.WasCancelled || (c.wait == 0) != (a.Late > 0) {
			t.Errorf("%s: %+v of %d answers", c.benchmark, a, n)
		}
		if all.Total > 0 {
			if n := len(answersIn(t, filepath.Join(dir, "accuracy_export.jsonl"))); int64(n) != all.Total {
				t.Errorf("%s: %d lines of %d", c.benchmark, n, all.Total)
			}
		}
	}
}

func TestAnswersWaitInAFileWhereTheyAreMany(t *testing.T) {
	t.Parallel()
	q := newQueue(10)
	texts := []string{"short", strings.Repeat("long", 5), "", "abc", "ü"}
	for i, text := range texts {
		q.put(answer{content: text, thinking: fmt.Sprint(i), atNS: int64(i)})
	}
	if q.file == nil || q.bytes > 10 {
		t.Errorf("%d bytes in memory", q.bytes)
	}
	name := q.file.Name()
	q.close()
	var got []string
	for one, ok, err := q.next(); ok; one, ok, err = q.next() {
		if err != nil || one.thinking != fmt.Sprint(one.atNS) {
			t.Errorf("%+v: %v", one, err)
		}
		got = append(got, one.content)
	}
	if !slices.Equal(got, texts) || q.bytes != 0 {
		t.Errorf("%q, want %q; %d bytes", got, texts, q.bytes)
	}
	if n := q.drop(); n != 0 {
		t.Errorf("%d answers left", n)
	}
	q.put(answer{content: "late"})
	if n := q.drop(); n != 1 {
		t.Errorf("%d answers dropped, want 1", n)
	}
	q.remove()
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("%s: %v", name, err)
	}
}

// A report of a part of a run has the accuracy of that part, computed from the graded answers.
func TestReportsOfAPartCountItsAnswers(t *testing.T) {
	t.Parallel()
	url := answering(t, mockserver.Options{Fault: "status=500;rate=0.3"}, map[string]string{"contains": "has 2", "reply": "#### 4"},
		map[string]string{"contains": "has 7", "reply": "fourteen, 14"}, map[string]string{"contains": "has 600", "reply": "#### 5"})
	whole, outcome, dir := graded(t, url, "gsm8k", "--request-rate", "300", "--request-count", "60")
	report := func(o recompute.ReportOptions) *summary.Result {
		t.Helper()
		o.Dir, o.OutputDir = dir, filepath.Join(t.TempDir(), "again")
		result, _, err := recompute.Report(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	if again := report(recompute.ReportOptions{}).Accuracy; !reflect.DeepEqual(again, whole) {
		t.Errorf("unchanged: %+v, want %+v", again, whole)
	}
	for _, name := range []string{"accuracy_results.csv", "profile_export_aiperf.json"} {
		o := recompute.ReportOptions{Dir: dir, OutputDir: t.TempDir(), Version: "test"}
		if _, _, err := recompute.Report(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		a, errA := os.ReadFile(filepath.Join(dir, name))
		b, errB := os.ReadFile(filepath.Join(o.OutputDir, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v, %v", name, errA, errB)
		}
	}
	// The part is from before the 16th request to before the 46th.
	start := outcome.Result.StartNS
	var sent []time.Duration
	for _, r := range records(t, dir) {
		sent = append(sent, time.Duration(int64(at(r, "metadata", "request_start_ns").(float64))-start))
	}
	slices.Sort(sent)
	from, to := (sent[14]+sent[15])/2, (sent[44]+sent[45])/2
	inside := func(ns float64) bool { return int64(ns) >= start+int64(from) && int64(ns) < start+int64(to) }
	want, failed := summary.TaskAccuracy{Task: summary.OverallTask}, int64(0)
	for _, one := range answersIn(t, filepath.Join(dir, "accuracy_export.jsonl")) {
		if inside(one["timestamp_ns"].(float64)) {
			want.Total++
			if one["passed"] == true {
				want.Correct++
			}
			if one["unparsed"] == true {
				want.Unparsed++
			}
		}
	}
	for _, r := range records(t, dir) {
		if r["error"] != nil && inside(at(r, "metadata", "request_start_ns").(float64)) {
			failed++
		}
	}
	low, high := from, to
	part := report(recompute.ReportOptions{From: &low, To: &high})
	want.Problems = 3
	if got := part.Accuracy.Overall(); got != want || want.Total == 0 || want.Total == whole.Overall().Total ||
		part.Accuracy.Ungraded != failed || part.Accuracy.Late != 0 {
		t.Errorf("%+v, %+v, want %+v and %d failed", part.Accuracy, got, want, failed)
	}
	if m, ok := part.Find("accuracy.overall"); !ok || m.Stats.Count != want.Total {
		t.Errorf("accuracy.overall: %+v", m)
	}
	without := report(recompute.ReportOptions{ExcludeErrors: []string{"all"}})
	if got := without.Accuracy; got.Ungraded != 0 || got.Overall() != whole.Overall() {
		t.Errorf("without errors: %+v", got)
	}
	if err := os.Remove(filepath.Join(dir, "accuracy_export.jsonl")); err != nil {
		t.Fatal(err)
	}
	lost := report(recompute.ReportOptions{From: &low})
	text, err := artifact.AppendJSON(nil, lost.Recomputed)
	if err != nil || lost.Accuracy != nil || !strings.Contains(string(text), `"without_accuracy":true`) {
		t.Errorf("without the graded answers: %+v, %s", lost.Accuracy, text)
	}
}
