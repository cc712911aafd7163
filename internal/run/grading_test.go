package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/mockserver"
)

// answersTo runs a benchmark of the replies to its problems and returns the lines of graded answers by problem.
func answersTo(t *testing.T, grader string, replies []string, args ...string) (byReply []map[string]any, outcome *Outcome) {
	t.Helper()
	dir := t.TempDir()
	var problems, script strings.Builder
	for i, reply := range replies {
		question := fmt.Sprintf("problem %d.", i)
		fmt.Fprintf(&problems, `{"question":%q,"answer":"#### 5"}`+"\n", question)
		if reply != "" {
			fmt.Fprintf(&script, `{"contains":%q,%s}`+"\n", question, reply)
		}
	}
	data, said := filepath.Join(dir, "problems.jsonl"), filepath.Join(dir, "replies.jsonl")
	if os.WriteFile(data, []byte(problems.String()), 0o600) != nil || os.WriteFile(said, []byte(script.String()), 0o600) != nil {
		t.Fatal("the files cannot be written")
	}
	o := mockserver.Options{Fast: true}
	if err := o.SetReplies(said); err != nil {
		t.Fatal(err)
	}
	cfg := resolve(t, dir, serve(t, o), append([]string{"--accuracy-benchmark", "gsm8k", "--accuracy-data", data,
		"--accuracy-grader", grader, "--concurrency", "1", "--request-count", fmt.Sprint(len(replies))}, args...)...)
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "accuracy_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	byReply = make([]map[string]any, len(replies))
	for line := range strings.Lines(string(text)) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		var n int
		id := row["conversation_id"].(string)
		if _, err := fmt.Sscan(id[strings.LastIndexByte(id, '-')+1:], &n); err != nil {
			t.Fatal(id, err)
		}
		byReply[n] = row
	}
	return byReply, outcome
}

func TestEmptyAnswersAreGradedAsWrong(t *testing.T) {
	t.Parallel()
	replies := []string{`"reply":"#### 5"`, `"reply":""`, `"reasoning":"#### 5"`, `"reply":"#### 6","reasoning":"#### 5"`,
		`"reply":"","reasoning":"#### 5"`}
	want := []struct{ passed, unparsed, output, thinking any }{
		{true, false, "#### 5", nil}, {false, true, "", nil}, {true, false, "#### 5", "#### 5"},
		{false, false, "#### 6", "#### 5"}, {true, false, "#### 5", "#### 5"},
	}
	for _, streaming := range [][]string{nil, {"--streaming"}} {
		rows, outcome := answersTo(t, "lighteval_gsm8k", replies, streaming...)
		for i, w := range want {
			r := rows[i]
			if r == nil || r["passed"] != w.passed || r["unparsed"] != w.unparsed || r["model_output"] != w.output ||
				r["model_thinking"] != w.thinking {
				t.Errorf("%v: reply %s: %v, want %v", streaming, replies[i], r, w)
			}
		}
		a := outcome.Result.Accuracy
		if a.Ungraded != 0 || len(a.Tasks) != 1 || a.Tasks[0].Total != 5 || a.Tasks[0].Correct != 3 || a.Tasks[0].Unparsed != 1 {
			t.Errorf("%v: %+v", streaming, a)
		}
	}
}
