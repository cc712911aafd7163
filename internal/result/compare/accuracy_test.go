package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnswersOfSystems(t *testing.T) {
	run := func(summary, answers string, passed map[string]bool) Run {
		dir := t.TempDir()
		var text strings.Builder
		for id, right := range passed {
			fmt.Fprintf(&text, `{"conversation_id":%q,"passed":%v}`+"\n", id, right)
		}
		if err := os.WriteFile(filepath.Join(dir, answers), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return Run{Summary: filepath.Join(dir, summary)}
	}
	first := run("profile_export_aiperf.json", "accuracy_export.jsonl",
		map[string]bool{"a": true, "b": true, "c": false, "only base": true, "d": true})
	second := run("x.json", "x_accuracy.jsonl", map[string]bool{"a": false, "b": true, "c": true, "d": false, "new": true})
	base, next := System{Name: "x", Runs: []Run{first}}, System{Name: "y", Runs: []Run{second}}
	a, err := answersOf(&base, &next, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if a == nil || a.Problems != 4 || a.Lost != 2 || a.Won != 1 || a.Difference != -0.25 {
		t.Errorf("%+v", a)
	}
	base.Runs = append(base.Runs, first, second) // most of its answers are those of the first
	if a, err := answersOf(&base, &next, 0.95); err != nil || a == nil || a.Problems != 5 || a.Lost != 2 || a.Won != 1 {
		t.Errorf("of three runs: %+v, %v", a, err)
	}
	without := System{Name: "z", Runs: []Run{{Summary: filepath.Join(t.TempDir(), "x.json")}}}
	if a, err := answersOf(&base, &without, 0.95); a != nil || err != nil {
		t.Errorf("a run without graded answers: %+v, %v", a, err)
	}
}
