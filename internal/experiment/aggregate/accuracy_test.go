package aggregate_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/report/console"
)

// gradedRun makes a run of a cell that answered the problems 0 to n−1, of which those in wrong are wrong.
func gradedRun(t *testing.T, c *series.Cell, trial, n int, wrong ...int) series.Run {
	t.Helper()
	right := map[int]bool{}
	for i := range n {
		right[i] = true
	}
	for _, i := range wrong {
		right[i] = false
	}
	r := runOf(c, trial, append(figuresOf(10, 20), metrics.AccuracyResult(metrics.AccuracyOverall, int64(n-len(wrong)),
		int64(n)), metrics.AccuracyResult("accuracy.task.gsm8k", int64(n-len(wrong)), int64(n)))...)
	r.Artifacts = config.Artifacts{Dir: filepath.Join(t.TempDir(), c.Dir, fmt.Sprint(trial))}
	if err := os.MkdirAll(r.Artifacts.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"conversation_id":"p%d","passed":%v}`+"\n", i, right[i])
	}
	if err := os.WriteFile(r.Artifacts.Path(config.AccuracyJSONL), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// gradedSweep has accuracies of 0.99, 0.98 and 0.87 at a concurrency of 1, 8 and 64, the first one twice.
func gradedSweep(t *testing.T) *aggregate.Sweep {
	cells := cellsOf(1, 8, 64)
	s := sweepOf(aggregate.Options{Trials: 2}, cells)
	s.Add(gradedRun(t, &cells[2], 0, 100, 3, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21),
		gradedRun(t, &cells[0], 0, 100, 3), gradedRun(t, &cells[0], 1, 100, 3), gradedRun(t, &cells[1], 0, 100, 3, 4))
	return s
}

func TestTrap16AccuraciesAreAggregatedLikeAnyMetric(t *testing.T) {
	doc := parsed(t, gradedSweep(t))
	for cell, want := range []string{"0.99", "0.98", "0.87"} {
		for _, key := range []string{"accuracy.overall_avg", "accuracy.task.gsm8k_avg"} {
			got := at(t, doc, "per_combination_metrics", cell, "metrics", key, "mean")
			if textOf(t, got) != want {
				t.Errorf("%s of cell %d is %v, want %s", key, cell, got, want)
			}
		}
	}
}

func TestCellsArePairedWithTheFirstOne(t *testing.T) {
	s := gradedSweep(t)
	doc := parsed(t, s)
	if first := textOf(t, at(t, doc, "accuracy", "first")); first != `{"concurrency":1}` {
		t.Errorf("the first cell is %s", first)
	}
	cell := at(t, doc, "accuracy", "cells", 0)
	if o := cell.(artifact.Object); textOf(t, at(t, o, "problems")) != "100" || textOf(t, at(t, o, "total")) != "200" {
		t.Errorf("the first cell is %v", o)
	}
	if _, has := cell.(artifact.Object).Get("against_first"); has {
		t.Error("the first cell is compared with itself")
	}
	against := at(t, doc, "accuracy", "cells", 2, "against_first")
	for key, want := range map[string]string{"problems": "100", "lost": "12", "won": "0", "difference": "-0.12"} {
		if got := textOf(t, at(t, against, key)); got != want {
			t.Errorf("%s of the last cell is %s, want %s", key, got, want)
		}
	}
	rows := rowsOf(t, s)
	if last := strings.Join(rows[len(rows)-1], ","); !strings.HasPrefix(last, "64,87,100,0,100,0.8700,") {
		t.Errorf("the last row of the CSV is %s", last)
	}
}

func TestAccuracyAgainstLoadInWords(t *testing.T) {
	s := gradedSweep(t).Answer("")
	findings := s.AccuracyFindings()
	want := "at concurrency 64 the server loses 12.0 points of accuracy, 95 %: 7.0–19.8 (12 of 100 problems lost, 0 won, " +
		"McNemar p = 0.00049)"
	if len(findings) != 1 || findings[0] != want {
		t.Errorf("the findings are\n%s\nwant\n%s", strings.Join(findings, "\n"), want)
	}
	var out bytes.Buffer
	if err := console.RenderAccuracy(&out, s, console.Options{Width: 140}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Accuracy against concurrency", "87.00 %", "−12.0", "12, 0", "198 of 200",
		"At concurrency 64 the server loses"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, out.String())
		}
	}
	s.Cells = s.Cells[:2]
	if findings := s.AccuracyFindings(); len(findings) != 1 ||
		!strings.HasPrefix(findings[0],
			"no cell shows a certain difference of accuracy from concurrency 1: at most −1.0 points") {
		t.Errorf("without the last cell the findings are %q", findings)
	}
}

// What is read back from the file says the same.
func TestAccuraciesAreReadBack(t *testing.T) {
	s := gradedSweep(t)
	text, err := artifact.AppendIndented(nil, s.Document())
	if err != nil {
		t.Fatal(err)
	}
	back, err := answer.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(back.AccuracyTable()), fmt.Sprint(s.Answer("").AccuracyTable()); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
	f, _ := back.Cells[2].Figure("accuracy.overall_avg")
	if f.Low > 0.8 || f.Low < 0.75 || f.High < 0.9 || f.High > 0.95 {
		t.Errorf("the interval of the figure is %v–%v, want that of Wilson", f.Low, f.High)
	}
}

func TestAnswersThatCannotBeReadAreNamed(t *testing.T) {
	cells := cellsOf(1)
	s := sweepOf(aggregate.Options{}, cells)
	r := gradedRun(t, &cells[0], 0, 3)
	path := r.Artifacts.Path(config.AccuracyJSONL)
	if err := os.WriteFile(path, []byte("{\"passed\":3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Add(r)
	if _, err := s.Write(t.TempDir()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v", err)
	}
}

func TestASweepWithoutGradedAnswersHasNoAccuracies(t *testing.T) {
	s := sweepOf(aggregate.Options{}, cellsOf(1, 2), figuresOf(1, 2), figuresOf(2, 3))
	if _, has := parsed(t, s).Get("accuracy"); has {
		t.Error("the document has accuracies")
	}
	if strings.Contains(string(s.CSV()), "Accuracy") || s.Answer("").Graded() || s.Answer("").AccuracyFindings() != nil {
		t.Error("the sweep has accuracies")
	}
}
