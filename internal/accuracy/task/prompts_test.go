package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/accuracy/task"
	"aiperf/internal/base/testkit"
	"aiperf/internal/workload/rows"
)

// sample returns the made-up rows of a benchmark in testdata/data.
func sample(b *task.Benchmark) task.Rows {
	return func(ctx context.Context, subset, split string, each func(int, rows.Row) error) error {
		path := filepath.Join("testdata", "data", b.Name, subset, split+".jsonl")
		if _, err := os.Stat(path); err != nil {
			return task.ErrNoRows
		}
		return rows.Each(ctx, path, each)
	}
}

// given returns rows of subsets and splits, "/" between them.
func given(parts map[string][]rows.Row) task.Rows {
	return func(_ context.Context, subset, split string, each func(int, rows.Row) error) error {
		list, ok := parts[subset+"/"+split]
		if !ok {
			return task.ErrNoRows
		}
		for i, row := range list {
			if err := each(i+1, row); err != nil {
				return err
			}
		}
		return nil
	}
}

func build(t *testing.T, name string, o task.Options) (*task.Set, error) {
	t.Helper()
	b, ok := task.Named(name)
	if !ok {
		t.Fatalf("there is no benchmark %s", name)
	}
	o.Benchmark = b
	if o.Rows == nil {
		o.Rows = sample(b)
	}
	if b.PerTask && o.Tasks == nil {
		for _, sub := range b.Tasks { // those in testdata
			if _, err := os.Stat(filepath.Join("testdata", "data", name, sub)); err == nil {
				o.Tasks = append(o.Tasks, sub)
			}
		}
	}
	return task.Build(context.Background(), o)
}

func mustBuild(t *testing.T, name string, o task.Options) *task.Set {
	t.Helper()
	set, err := build(t, name, o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return set
}

func at[T any](v T) *T { return &v }

// variant is a way to ask the problems of a benchmark.
type variant struct {
	name string
	o    task.Options
}

// Every prompt of the made-up data, for endpoints with messages and for those with one text, with and without reasoning
// and a system message.
func TestPrompts(t *testing.T) {
	for _, b := range task.Benchmarks() {
		t.Run(b.Name, func(t *testing.T) {
			var out strings.Builder
			variants := []variant{
				{"messages", task.Options{Chat: true}}, {"text", task.Options{}},
				{"messages with a system message", task.Options{Chat: true, System: at("Be brief.")}},
				{"text with a system message", task.Options{System: at("Be brief.")}},
			}
			if b.Choice {
				name := fmt.Sprintf("reasoning %t", !b.Reasons)
				variants = append(variants,
					variant{"messages, " + name, task.Options{Chat: true, Reasons: at(!b.Reasons)}},
					variant{"text, " + name, task.Options{Reasons: at(!b.Reasons)}})
			}
			if b.HasShots() {
				variants = append(variants,
					variant{"messages, no worked examples", task.Options{Chat: true, Shots: at(0)}})
			}
			for _, v := range variants {
				set := mustBuild(t, b.Name, v.o)
				fmt.Fprintf(&out, "##### %s; at most %d tokens, stop %q\n", v.name, set.MaxTokens, set.Stop)
				for _, p := range shownOf(set.Problems) {
					fmt.Fprintf(&out, "#### %s, task %s, gold %q\n", p.ID, p.Task, p.Gold)
					for _, m := range p.Messages {
						fmt.Fprintf(&out, "## %s\n%s⏎\n", m.Role, m.Text)
					}
				}
			}
			testkit.Golden(t, filepath.Join("testdata", "prompts", b.Name+".txt"), []byte(out.String()))
		})
	}
}

// shownOf are the first problem of each task: enough to see the form.
func shownOf(list []task.Problem) []task.Problem {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(p task.Problem) bool {
		before := seen[p.Task]
		seen[p.Task] = true
		return before
	})
}

// frozen is what testdata/frozen.py computed with Python's own generator.
type frozen struct {
	Subjects []struct {
		Name  string
		Rows  []rows.Row
		Shots map[string][]int
	}
	GPQA []struct {
		Question string
		Order    [4]int
	}
}

func readFrozen(t *testing.T) (f frozen) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "frozen.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWorkedExamplesOfMMLUAreThoseThatPythonDraws(t *testing.T) {
	f := readFrozen(t)
	if len(f.Subjects) != 3 {
		t.Fatalf("%d subjects", len(f.Subjects))
	}
	for _, s := range f.Subjects {
		for text, want := range s.Shots {
			var n int
			fmt.Sscan(text, &n)
			last := rows.Row{"question": "last", "choices": []any{"a", "b", "c", "d"}, "answer": "C"}
			set := mustBuild(t, "mmlu", task.Options{Tasks: []string{"anatomy"}, Chat: true, Shots: &n,
				Rows: given(map[string][]rows.Row{"anatomy/dev": s.Rows, "anatomy/test": {last}})})
			var got []int
			for _, m := range set.Problems[0].Messages {
				for i, row := range s.Rows {
					if strings.Contains(m.Text, fmt.Sprintf("Question: %s\n", row["question"])) {
						got = append(got, i)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d worked examples: rows %v, Python draws %v", s.Name, n, got, want)
			}
		}
	}
}

func TestTrap12LettersOfGPQAAreThoseOfPythonInEveryRun(t *testing.T) {
	f := readFrozen(t)
	if len(f.GPQA) < 30 {
		t.Fatalf("%d questions", len(f.GPQA))
	}
	const letters = "ABCD" // of the choices
	golds := map[string]int{}
	for _, q := range f.GPQA {
		row := rows.Row{"Question": q.Question, "Correct Answer": "answer 0", "Incorrect Answer 1": "answer 1",
			"Incorrect Answer 2": "answer 2", "Incorrect Answer 3": "answer 3"}
		set := mustBuild(t, "gpqa_diamond",
			task.Options{Rows: given(map[string][]rows.Row{"gpqa_diamond/train": {row}})})
		p := set.Problems[0]
		for i, of := range q.Order {
			if line := fmt.Sprintf("%s) answer %d", letters[i:i+1], of); !strings.Contains(p.Messages[0].Text, line) {
				t.Errorf("%q: no line %q in\n%s", q.Question, line, p.Messages[0].Text)
			}
		}
		if want := string(letters[slices.Index(q.Order[:], 0)]); p.Gold != want {
			t.Errorf("%q: gold %s, want %s", q.Question, p.Gold, want)
		}
		golds[p.Gold]++
	}
	if len(golds) != 4 {
		t.Errorf("gold letters %v", golds)
	}
}

func TestWorkedExamplesOfAIMEAreTheFirstRowsButTheProblemItself(t *testing.T) {
	for _, n := range []int{0, 1, 8} {
		set := mustBuild(t, "aime", task.Options{Chat: true, Shots: &n})
		if len(set.Problems) != 10 {
			t.Fatalf("%d problems of 10 rows", len(set.Problems))
		}
		for i, p := range set.Problems {
			text := p.Messages[len(p.Messages)-1].Text
			var want, got []int
			for k := range 10 {
				if k != i && len(want) < n {
					want = append(want, k)
				}
				if strings.Contains(text, fmt.Sprintf("**Problem**: Find %d + $%d^2$.\n**Solution**", k+1, k+1)) {
					got = append(got, k)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d examples, problem %d: rows %v, want %v", n, i, got, want)
			}
		}
	}
}

func TestChoicesThatAreNotApplicableAreDropped(t *testing.T) {
	row := rows.Row{"question": "Which?", "options": []any{"a", "N/A", "b", "N/A"}, "answer": "B", "category": "law"}
	set := mustBuild(t, "mmlu_pro",
		task.Options{Chat: true, Shots: at(0), Rows: given(map[string][]rows.Row{"/test": {row}})})
	text := set.Problems[0].Messages[0].Text
	if strings.Contains(text, "N/A") || !strings.Contains(text, "A. a\nB. b\nAnswer:") {
		t.Error(text)
	}
}

func TestLabelsOfHellaSwag(t *testing.T) {
	for _, c := range []struct {
		tasks []string
		want  []string
	}{
		{nil, []string{"Baking-00000", "Sailing-00001", "Rock_climbing-00003"}}, // row 2 has no label
		{[]string{"ROCK_CLIMBING", "baking"}, []string{"Rock_climbing-00003", "Baking-00000"}},
		{[]string{"sailing"}, []string{"Sailing-00001"}},
	} {
		b, _ := task.Named("hellaswag")
		tasks, err := b.Choose(c.tasks)
		if err != nil {
			t.Fatal(err)
		}
		set := mustBuild(t, "hellaswag", task.Options{Tasks: tasks, Chat: true})
		var got []string
		for _, p := range set.Problems {
			got = append(got, p.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.tasks, got, c.want)
		}
	}
	_, err := build(t, "hellaswag", task.Options{Tasks: []string{"bakin"}})
	if err == nil || !strings.Contains(err.Error(), `did you mean Baking? There are Baking, Sailing, Rock climbing`) {
		t.Error(err)
	}
	// The third worked example is the first of its label.
	text := mustBuild(t, "hellaswag", task.Options{Shots: at(3)}).Problems[0].Messages[0].Text
	if strings.Count(text, "\nAnswer: ") != 3 || strings.Contains(text, "A man mixes flour") {
		t.Error(text)
	}
}

func TestProgramsAreAskedForInBothForms(t *testing.T) {
	set := mustBuild(t, "lcb_codegeneration", task.Options{Rows: sampleOf("lcb_codegeneration")})
	if len(set.Problems) != 2 {
		t.Fatalf("%d problems", len(set.Problems))
	}
	reads, calls := set.Problems[0], set.Problems[1]
	if text := reads.Messages[0].Text; !strings.Contains(text, "standard input") || !strings.HasSuffix(text, "```python\n\n```") {
		t.Error(text)
	}
	if text := calls.Messages[0].Text; strings.Contains(text, "standard input") ||
		!strings.Contains(text, "```python\nclass Solution:\n") {
		t.Error(text)
	}
	for _, p := range set.Problems {
		var gold task.Code
		if err := json.Unmarshal([]byte(p.Gold), &gold); err != nil || gold.PublicTestCases == "" || gold.PrivateTestCases == "" {
			t.Errorf("gold %s: %v", p.Gold, err)
		}
	}
	// Tests and metadata may be lists and objects themselves.
	row := rows.Row{"question_content": "q", "starter_code": nil, "private_test_cases": "",
		"public_test_cases": []any{map[string]any{"input": "1", "output": "2"}}, "metadata": map[string]any{"func_name": "f"}}
	set = mustBuild(t, "lcb_codegeneration", task.Options{Rows: given(map[string][]rows.Row{"v4_v5/test": {row}})})
	var gold task.Code
	if err := json.Unmarshal([]byte(set.Problems[0].Gold), &gold); err != nil || gold.Metadata != `{"func_name":"f"}` ||
		gold.PublicTestCases != `[{"input":"1","output":"2"}]` {
		t.Errorf("%+v, %v", gold, err)
	}
}

func sampleOf(name string) task.Rows {
	b, _ := task.Named(name)
	return sample(b)
}

func TestLimitsOfAnswers(t *testing.T) {
	for _, c := range []struct {
		benchmark string
		reasons   *bool
		tokens    int
		stop      []string
	}{
		{"mmlu", nil, 5, []string{"\n"}}, {"mmlu", at(true), 4000, nil}, {"mmlu_pro", nil, 4000, nil},
		{"mmlu_pro", at(false), 4000, nil}, {"aime", nil, 32768, nil}, {"aime", at(false), 32768, nil},
		{"hellaswag", nil, 5, nil}, {"hellaswag", at(true), 5, nil}, {"bigbench", nil, 1024, nil},
		{"bigbench", at(false), 1024, nil}, {"aime24", nil, 32768, nil}, {"aime25", nil, 32768, nil},
		{"math_500", nil, 32768, nil}, {"gsm8k", at(true), 256, nil}, {"gpqa_diamond", nil, 32768, nil},
		{"lcb_codegeneration", nil, 32768, nil},
	} {
		set := mustBuild(t, c.benchmark, task.Options{Reasons: c.reasons})
		if set.MaxTokens != c.tokens || !slices.Equal(set.Stop, c.stop) {
			t.Errorf("%s: %d tokens, stop %q", c.benchmark, set.MaxTokens, set.Stop)
		}
	}
}

func TestSystemMessages(t *testing.T) {
	for _, b := range task.Benchmarks() {
		first := func(system *string, chat bool) task.Message {
			return mustBuild(t, b.Name, task.Options{System: system, Chat: chat}).Problems[0].Messages[0]
		}
		own := first(nil, true)
		if (own.Role == "system") != (b.Name == "aime") {
			t.Errorf("%s: %+v", b.Name, own)
		}
		if b.Name == "aime" && !strings.Contains(own.Text, `\boxed{}`) {
			t.Error(own.Text)
		}
		if m := first(at(""), true); m.Role != "user" {
			t.Errorf("%s with an empty one: %+v", b.Name, m)
		}
		if m := first(at("Hello"), true); m != (task.Message{"system", "Hello"}) {
			t.Errorf("%s with one given: %+v", b.Name, m)
		}
		if m := first(at("Hello"), false); m.Role != "user" || !strings.HasPrefix(m.Text, "Hello\n\n") {
			t.Errorf("%s as one text: %+v", b.Name, m)
		}
	}
}

func TestRowsThatCannotBeProblems(t *testing.T) {
	choices := []any{"a", "b", "c", "d"}
	for _, c := range []struct {
		benchmark string
		row       rows.Row
		want      string
	}{
		{"gsm8k", rows.Row{"question": "q", "solution": "s"}, `row 1 has no column "answer"; it has question, solution`},
		{"mmlu", rows.Row{"question": "q", "choices": "a, b", "answer": 1}, `anatomy: row 1: the column "choices" is not a list`},
		{"mmlu", rows.Row{"question": "q", "choices": choices, "answer": json.Number("4")},
			`the column "answer" is "4" and names none of the 4 choices`},
		{"mmlu", rows.Row{"question": "q", "choices": choices, "answer": "E"}, `is "E" and names none`},
		{"mmlu", rows.Row{"question": "q", "choices": choices, "answer": nil}, `is "" and names none`},
	} {
		_, err := build(t, c.benchmark, task.Options{Shots: at(0), Tasks: tasksOf(c.benchmark),
			Rows: given(map[string][]rows.Row{"anatomy/test": {c.row}, "main/test": {c.row}})})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.row, err, c.want)
		}
	}
	_, err := build(t, "mmlu", task.Options{Tasks: []string{"anatomy"}, Rows: given(map[string][]rows.Row{
		"anatomy/test": {{"question": "q", "choices": choices, "answer": 1}}})})
	if err == nil || !strings.Contains(err.Error(), "the data lack the split dev or validation of anatomy") ||
		!strings.Contains(err.Error(), "--accuracy-n-shots 0") {
		t.Error(err)
	}
	if _, err := build(t, "gsm8k", task.Options{Rows: given(map[string][]rows.Row{"main/test": nil})}); err == nil ||
		!strings.Contains(err.Error(), "gsm8k: the data have no problem") {
		t.Error(err)
	}
}

func tasksOf(name string) []string {
	if name == "mmlu" {
		return []string{"anatomy"}
	}
	return nil
}
