package summary_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/result/summary"
)

func TestMcNemarIsTheBinomialTest(t *testing.T) {
	pValue := func(lost, won int) float64 { return summary.NewDifference(100, lost, won, 0.95).P }
	for _, c := range []struct {
		lost, won int
		want      float64
	}{
		{0, 0, 1}, {5, 5, 1}, {1, 0, 1}, {12, 3, 2 * (1 + 15 + 105 + 455) / 32768.0}, {0, 10, 2 / 1024.0},
	} {
		if p := pValue(c.lost, c.won); math.Abs(p-c.want) > 1e-12 {
			t.Errorf("%d lost, %d won: p = %v, want %v", c.lost, c.won, p, c.want)
		}
		if p, q := pValue(c.lost, c.won), pValue(c.won, c.lost); p != q {
			t.Errorf("%d and %d: %v one way, %v the other", c.lost, c.won, p, q)
		}
	}
}

func TestIntervalOfPairedAnswers(t *testing.T) {
	for _, c := range [][3]int{{500, 12, 3}, {500, 3, 12}, {40, 0, 0}, {40, 9, 0}, {40, 0, 40}} {
		a, b := summary.NewDifference(c[0], c[1], c[2], 0.95), summary.NewDifference(c[0], c[2], c[1], 0.95)
		if a.Low > a.Difference || a.Difference > a.High || a.Low < -1 || a.High > 1 || a.Low == a.High {
			t.Errorf("%v: %v is not between %v and %v", c, a.Difference, a.Low, a.High)
		}
		if math.Abs(a.Low+b.High) > 1e-9 || math.Abs(a.High+b.Low) > 1e-9 {
			t.Errorf("%v: %v … %v, and with the runs exchanged %v … %v", c, a.Low, a.High, b.Low, b.High)
		}
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		problems, lost, won int
		want                string
	}{
		{500, 12, 3, "loses 1.8 points of accuracy, 95 %: 0.3–3.6 (12 of 500 problems lost, 3 won, McNemar p = 0.035)"},
		{500, 3, 12, "gains 1.8 points of accuracy, 95 %: 0.3–3.6 (3 of 500 problems lost, 12 won, McNemar p = 0.035)"},
		{500, 5, 4, "shows no certain difference of accuracy: −0.2 points, 95 %: −1.6 to +1.2 " +
			"(5 of 500 problems lost, 4 won, McNemar p = 1)"},
		{100, 0, 0, "shows no certain difference of accuracy: 0.0 points, 95 %: −3.7 to +3.7 " +
			"(0 of 100 problems lost, 0 won, McNemar p = 1)"},
		{200, 5, 0, "shows no certain difference of accuracy: −2.5 points, 95 %: −5.7 to −0.6 " +
			"(5 of 200 problems lost, 0 won, McNemar p = 0.062)"},
		{1000, 40, 0, "loses 4.0 points of accuracy, 95 %: 3.0–5.4 " +
			"(40 of 1000 problems lost, 0 won, McNemar p = 2e-12)"},
	} {
		if got := summary.NewDifference(c.problems, c.lost, c.won, 0.95).String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestAnswersArePairedByProblem(t *testing.T) {
	x := summary.NewAnswerIndex()
	read := func(lines ...string) *summary.Verdicts {
		path := filepath.Join(t.TempDir(), "accuracy_export.jsonl")
		var text strings.Builder
		for _, line := range lines {
			id, passed, _ := strings.Cut(line, " ")
			fmt.Fprintf(&text, `{"conversation_id":%q,"passed":%s}`+"\n", id, passed)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		v := x.Verdicts()
		if err := v.Read(path); err != nil {
			t.Fatal(err)
		}
		return v
	}
	base := read("a true", "b true", "c false", "base true", "d true", "d true", "d false")
	next := read("new true", "d false", "c true", "b true", "a false")
	d := summary.PairVerdicts(base, next, 0.95)
	if d == nil || d.Problems != 4 || d.Lost != 2 || d.Won != 1 || d.Difference != -0.25 {
		t.Errorf("%+v", d)
	}
	if s := base.Score(); s.Correct != 5 || s.Total != 7 || s.Problems != 5 {
		t.Errorf("the base's score is %+v", s)
	}
	if d := summary.PairVerdicts(base, x.Verdicts(), 0.95); d != nil {
		t.Errorf("without answers: %+v", d)
	}
	missing := x.Verdicts()
	if err := missing.Read(filepath.Join(t.TempDir(), "none.jsonl")); err != nil || missing.Score().Total != 0 {
		t.Errorf("a file that does not exist: %+v, %v", missing.Score(), err)
	}
}

func TestABrokenFileIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accuracy_export.jsonl")
	if err := os.WriteFile(path, []byte("{\"passed\":true}\n{\"passed\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := summary.NewAnswerIndex().Verdicts().Read(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v", err)
	}
}

func TestNotableAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accuracy_export.jsonl")
	var text strings.Builder
	line := func(session int, problem string, passed bool, actual, output string) {
		fmt.Fprintf(&text, `{"session_num":%d,"conversation_id":%q,"passed":%v,"actual":%q,"expected":"4","model_output":%q}`+"\n",
			session, problem, passed, actual, output)
	}
	line(3, "d", false, "9", strings.Repeat("é", 3000))
	line(0, "a", false, "7", "")
	line(1, "b", true, "4", "")
	line(2, "c", false, "8", "")
	line(5, "b", true, "4", "")
	line(6, "a", false, "8", "")
	line(9, "b", true, "4.0", "")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := summary.ReadNotable(path, 3)
	if err != nil {
		t.Fatal(err)
	}
	var asked []int64
	for _, a := range n.Wrong {
		asked = append(asked, a.SessionNum)
	}
	if n.WrongTotal != 4 || fmt.Sprint(asked) != "[0 2 3]" {
		t.Errorf("wrong: %d, of which %v", n.WrongTotal, asked)
	}
	if got := len([]rune(n.Wrong[2].Output)); got != 2000+1 { // the longest text that is kept, and …
		t.Errorf("the longest text has %d characters", got)
	}
	if n.VariedTotal != 2 || len(n.Varied) != 2 || n.Varied[0].Problem != "a" || n.Varied[1].Answers[0].Count != 2 ||
		n.Varied[1].Answers[1].Text != "4.0" {
		t.Errorf("varied: %+v", n.Varied)
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
		a := summary.NewDifference(c.N, c.Lost, c.Won, c.Confidence)
		if math.Abs(a.P-c.P) > 1e-10 || math.Abs(a.Low-c.Low) > 1e-6 || math.Abs(a.High-c.High) > 1e-6 {
			t.Errorf("%+v: p = %v, %v … %v", c, a.P, a.Low, a.High)
		}
	}
}

func TestProblemsThatExpectOtherAnswersAreNotCompared(t *testing.T) {
	x := summary.NewAnswerIndex()
	of := func(answers ...summary.Answer) *summary.Verdicts {
		v := x.Verdicts()
		for _, a := range answers {
			v.Add(&a)
		}
		return v
	}
	one := func(id, expected string, passed bool) summary.Answer {
		return summary.Answer{Problem: id, Expected: expected, Passed: passed}
	}
	base := of(one("a", "1", true), one("b", "2", true), one("c", "3", false), one("c", "3", true), one("c", "3", true))
	d := summary.PairVerdicts(base, of(one("a", "1", false), one("b", "4", false), one("c", "3", true)), 0.95)
	if d.Problems != 2 || d.Lost != 1 || d.Won != 0 || d.Others != 1 ||
		!strings.HasSuffix(d.String(), "; 1 problem expects another answer and is left out)") {
		t.Errorf("%+v: %s", d, d)
	}
	d = summary.PairVerdicts(base, of(one("a", "9", false), one("b", "4", false)), 0.95)
	if d.Problems != 0 || d.Others != 2 || d.Shown() ||
		d.String() != "cannot be compared in accuracy: 2 problems expect another answer and are left out" {
		t.Errorf("%+v: %s", d, d)
	}
}

// The last line of a run that was killed may not be whole.
func TestAnswersOfAKilledRun(t *testing.T) {
	const one = `{"conversation_id":"a","passed":true}` + "\n"
	for text, want := range map[string]int64{one + one: 2, one + one[:len(one)/2]: 1, one[:5]: 0, "": 0} {
		path := filepath.Join(t.TempDir(), "accuracy_export.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v := summary.NewAnswerIndex().Verdicts()
		if err := v.Read(path); err != nil || v.Score().Total != want {
			t.Errorf("%q: %+v, %v", text, v.Score(), err)
		}
	}
}
