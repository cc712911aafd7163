package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMcNemarIsTheBinomialTest(t *testing.T) {
	for _, c := range []struct {
		lost, won int
		want      float64
	}{
		{0, 0, 1}, {5, 5, 1}, {1, 0, 1}, {12, 3, 2 * (1 + 15 + 105 + 455) / 32768.0}, {0, 10, 2 / 1024.0},
	} {
		if p := mcNemar(c.lost, c.won); math.Abs(p-c.want) > 1e-12 {
			t.Errorf("%d lost, %d won: p = %v, want %v", c.lost, c.won, p, c.want)
		}
		if p, q := mcNemar(c.lost, c.won), mcNemar(c.won, c.lost); p != q {
			t.Errorf("%d and %d: %v one way, %v the other", c.lost, c.won, p, q)
		}
	}
}

func TestIntervalOfPairedAnswers(t *testing.T) {
	for _, c := range [][3]int{{500, 12, 3}, {500, 3, 12}, {40, 0, 0}, {40, 9, 0}, {40, 0, 40}} {
		a := Answers{Problems: c[0], Lost: c[1], Won: c[2], Confidence: 0.95}
		a.judge()
		b := Answers{Problems: c[0], Lost: c[2], Won: c[1], Confidence: 0.95}
		b.judge()
		if a.Low > a.Difference || a.Difference > a.High || a.Low < -1 || a.High > 1 || a.Low == a.High {
			t.Errorf("%v: %v is not between %v and %v", c, a.Difference, a.Low, a.High)
		}
		if math.Abs(a.Low+b.High) > 1e-9 || math.Abs(a.High+b.Low) > 1e-9 {
			t.Errorf("%v: %v … %v, and with the runs exchanged %v … %v", c, a.Low, a.High, b.Low, b.High)
		}
	}
}

// The values are those of SciPy and statsmodels: testdata/paired.py says how they were made.
func TestPairedAnswersAgreeWithOtherPrograms(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "paired.json"))
	if err != nil {
		t.Fatal(err)
	}
	var frozen struct {
		Cases []struct {
			N, Lost, Won             int
			Confidence, P, Low, High float64
		}
	}
	if err := json.Unmarshal(text, &frozen); err != nil || len(frozen.Cases) < 30 {
		t.Fatalf("%d cases, %v", len(frozen.Cases), err)
	}
	for _, c := range frozen.Cases {
		a := Answers{Problems: c.N, Lost: c.Lost, Won: c.Won, Confidence: c.Confidence}
		a.judge()
		if math.Abs(a.P-c.P) > 1e-10 || math.Abs(a.Low-c.Low) > 1e-6 || math.Abs(a.High-c.High) > 1e-6 {
			t.Errorf("%+v: p = %v, %v … %v", c, a.P, a.Low, a.High)
		}
	}
}

func TestProblemsThatExpectOtherAnswersAreNotCompared(t *testing.T) {
	run := func(lines ...string) System {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "accuracy_export.jsonl"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return System{Name: "x", Runs: []Run{{Summary: filepath.Join(dir, "profile_export_aiperf.json")}}}
	}
	line := func(id, expected string, passed bool) string {
		return fmt.Sprintf(`{"conversation_id":%q,"expected":%q,"passed":%v}`, id, expected, passed)
	}
	base := run(line("a", "1", true), line("b", "2", true), line("c", "3", false), line("c", "3", true), line("c", "3", true))
	next := run(line("a", "1", false), line("b", "4", false), line("c", "3", true))
	a, err := answersOf(&base, &next, 0.95)
	if err != nil || a.Problems != 2 || a.Lost != 1 || a.Won != 0 || a.Others != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if want := "1 problem expects another answer and is left out"; !strings.Contains(a.String(), want) {
		t.Errorf("%s lacks %s", a, want)
	}
	others := run(line("a", "9", false), line("b", "4", false))
	a, err = answersOf(&base, &others, 0.95)
	if err != nil || a.Problems != 0 || a.Others != 2 || a.String() !=
		"accuracy: no problem can be compared: 2 problems expect another answer and are left out" {
		t.Errorf("%v, %v", a, err)
	}
	broken := run("{", line("a", "1", true))
	if _, err := answersOf(&base, &broken, 0.95); err == nil || !strings.Contains(err.Error(), "accuracy_export.jsonl:1") {
		t.Error(err)
	}
}

func TestAnswersArePairedByProblem(t *testing.T) {
	run := func(summary, answers string, passed map[string]bool) System {
		dir := t.TempDir()
		var text strings.Builder
		for id, right := range passed {
			fmt.Fprintf(&text, `{"conversation_id":%q,"passed":%v}`+"\n", id, right)
		}
		if err := os.WriteFile(filepath.Join(dir, answers), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return System{Name: "x", Runs: []Run{{Summary: filepath.Join(dir, summary)}}}
	}
	base := run("profile_export_aiperf.json", "accuracy_export.jsonl", map[string]bool{"a": true, "b": true, "c": false, "only base": true, "d": true})
	next := run("x.json", "x_accuracy.jsonl", map[string]bool{"a": false, "b": true, "c": true, "d": false, "only new": true})
	a, err := answersOf(&base, &next, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if a == nil || a.Problems != 4 || a.Lost != 2 || a.Won != 1 || a.Difference != -0.25 {
		t.Errorf("%+v", a)
	}
	without := System{Name: "y", Runs: []Run{{Summary: filepath.Join(t.TempDir(), "x.json")}}}
	if a, err := answersOf(&base, &without, 0.95); a != nil || err != nil {
		t.Errorf("a run without graded answers: %+v, %v", a, err)
	}
}
