package recompute_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/files"
	"aiperf/internal/result/report"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/report/html"
	"aiperf/internal/result/summary"
)

// inputs are a folder with some files of a run, and a result and a state for it.
func inputs(t *testing.T) (config.Artifacts, *summary.Result, *summary.State) {
	t.Helper()
	from := config.Artifacts{Dir: t.TempDir()}
	for kind, text := range map[config.Artifact]string{config.RawJSONL: "{}\n", config.OutputsJSON: "{}",
		config.HTMLReport: "x", config.RecordsParquet: "x"} {
		if err := os.WriteFile(from.Path(kind), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &summary.Result{Metrics: []metrics.Metric{{Tag: "request_count", Header: "Request Count", Unit: "requests",
		Group: metrics.GroupDefault, Stats: metrics.Stats{Avg: 7}}}}
	return from, r, &summary.State{FailIf: []string{"request_count:avg<9"}, Console: summary.ConsoleState{
		Notes: []string{"A note."}}}
}

func TestFooterNamesWhatWasWrittenAndWhatTheRunHas(t *testing.T) {
	from, r, s := inputs(t)
	to := config.Artifacts{Dir: t.TempDir()}
	options, err := files.Write(context.Background(), r, s, files.Options{From: from, To: to,
		Outputs: &report.OutputsJSON{Spool: from.Path(config.OutputsSpool), Path: to.Path(config.OutputsJSON)}})
	if err != nil {
		t.Fatal(err)
	}
	want := console.Files{CSV: to.Path(config.SummaryCSV), JSON: to.Path(config.SummaryJSON),
		Raw: from.Path(config.RawJSONL), Outputs: from.Path(config.OutputsJSON), Text: to.Path(config.ConsoleText)}
	if diff := cmp.Diff(want, options.Files); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(to.Path(config.ConsoleText))
	if err != nil || !strings.Contains(string(text), "A note.") {
		t.Errorf("%v: the console's text has not what the state says:\n%s", err, text)
	}
}

func TestThePageHasTheThresholdsOfTheState(t *testing.T) {
	from, r, s := inputs(t)
	to := config.Artifacts{Dir: t.TempDir()}
	options, err := files.Write(context.Background(), r, s, files.Options{From: from, To: to, Page: new(html.Run)})
	if err != nil || options.Files.HTML != to.Path(config.HTMLReport) {
		t.Fatalf("%v, page %q", err, options.Files.HTML)
	}
	if page, _ := os.ReadFile(options.Files.HTML); !strings.Contains(string(page), "request_count:avg") {
		t.Error("the page does not name the condition of --fail-if")
	}
}

func TestAFileThatCannotBeWrittenStopsNoOther(t *testing.T) {
	from, r, s := inputs(t)
	to := config.Artifacts{Dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(to.Path(config.SummaryJSON), "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	options, err := files.Write(context.Background(), r, s, files.Options{From: from, To: to})
	if err == nil || options.Files.CSV == "" {
		t.Errorf("error %v, files %+v", err, options.Files)
	}
	if _, err := os.Stat(to.Path(config.ConsoleText)); err != nil {
		t.Error(err)
	}
}
