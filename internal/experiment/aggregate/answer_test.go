package aggregate_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/search"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/report/html"
)

// The values of the cells are those of their document, cells without a successful run come in addition.
func TestAnswerIsThatOfTheDocument(t *testing.T) {
	root := t.TempDir()
	cells := cellsOf(30, 10, 20, 40)
	filter := search.Filter{Metric: "time_to_first_token", Stat: "p99", Op: "lt", Threshold: 200}
	s := sweepOf(aggregate.Options{Filters: []search.Filter{filter}}, cells, figuresOf(240, 250),
		figuresOf(96, 120), figuresOf(180, 140))
	failed := runOf(&cells[3], 0)
	failed.Metrics, failed.Err = nil, "All 80 requests failed"
	s.Add(failed)
	got := s.Answer(filepath.Join(root, "sweep_aggregate"))
	text, err := artifact.AppendJSON(nil, s.Document())
	if err != nil {
		t.Fatal(err)
	}
	want, err := answer.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Cells) != 4 || len(want.Cells) != 3 {
		t.Fatalf("%d and %d cells", len(got.Cells), len(want.Cells))
	}
	for i := range want.Cells {
		a, b := &got.Cells[i], &want.Cells[i]
		if a.Label != b.Label || a.Verdict != b.Verdict || a.Why != b.Why || a.Pareto != b.Pareto ||
			len(a.Figures) != len(b.Figures) || a.Runs != b.Runs {
			t.Errorf("%+v\nof the document %+v", a, b)
		}
	}
	last := got.Cells[3]
	if last.Verdict != answer.Failed || len(last.Failures) != 1 || last.Failures[0].Error != "All 80 requests failed" {
		t.Errorf("%+v", last)
	}
	if len(got.Best) != 2 || got.Best[0].Cell != 2 || got.Best[1].Cell != 1 || got.Best[1].Title != "Best TTFT p99" {
		t.Errorf("%+v", got.Best)
	}
	if len(got.Metrics) != len(want.Metrics) || got.Front == nil || *got.Front != *want.Front {
		t.Errorf("%+v, %+v; of the document %+v, %+v", got.Metrics, got.Front, want.Metrics, want.Front)
	}
}

func TestAnswerLinksThePagesOfRuns(t *testing.T) {
	root := t.TempDir()
	cells := cellsOf(10, 20, 30)
	s := aggregate.New(cells, aggregate.Options{Trials: 1, Level: 0.95})
	for i, file := range []string{"profile_export_aiperf.html", "profile_export_console.txt", ""} {
		r := runOf(&cells[i], 0, figuresOf(100, 100)...)
		r.Artifacts = config.Artifacts{Dir: filepath.Join(root, cells[i].Dir)}
		if file != "" {
			if err := os.MkdirAll(r.Artifacts.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(r.Artifacts.Dir, file), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s.Add(r)
	}
	got := s.Answer(filepath.Join(root, "sweep_aggregate"))
	for i, want := range []string{"../concurrency_10/profile_export_aiperf.html",
		"../concurrency_20/profile_export_console.txt", ""} {
		if got.Cells[i].Page != want {
			t.Errorf("%q, want %q", got.Cells[i].Page, want)
		}
	}
	var page bytes.Buffer
	err := html.Sweep(&page, got)
	if err != nil || !strings.Contains(page.String(), `href="../concurrency_10/profile_export_aiperf.html"`) {
		t.Errorf("the page has no link to the cell: %v", err)
	}
}

// A front over a swept parameter has it as a figure of each cell.
func TestAnswerHasParametersAsAxes(t *testing.T) {
	axes, err := aggregate.ParseAxes("time_to_first_token:p99:min,concurrency:avg:max", []string{"concurrency"})
	if err != nil {
		t.Fatal(err)
	}
	s := sweepOf(aggregate.Options{Axes: axes}, cellsOf(10, 20), figuresOf(96, 120), figuresOf(180, 140))
	got := s.Answer(".")
	if f, ok := got.Cells[1].Figure("concurrency_avg"); !ok || f.Mean != 20 || got.Front.Y.Tag != "concurrency" {
		t.Errorf("%+v %+v", f, got.Front)
	}
}
