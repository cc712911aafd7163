package recompute_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/recompute"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// stored makes the folder of a finished run: its state, and requests of the profiling phase, which begin at the times.
func stored(t *testing.T, state summary.State, startsNS ...int64) config.Artifacts {
	t.Helper()
	run := config.Artifacts{Dir: t.TempDir()}
	state.Status, state.Config = summary.StateFinished, metrics.DefaultConfig()
	state.Counts.Sent = int64(len(startsNS))
	text, err := state.Encode(report.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(run.Path(config.RunState), text, 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := metrics.NewSet(state.Config)
	if err != nil {
		t.Fatal(err)
	}
	format := recordfile.Format{Metrics: set.AppendRecordMetrics, Facts: set.AppendRecordFacts}
	w, err := recordfile.Create(run.Path(config.RecordsJSONL), artifact.LinesOptions{}, format.AppendLine)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range startsNS {
		r := &record.Record{Identity: record.Identity{Phase: record.PhaseProfiling, PhaseIndex: 1},
			Facts: record.NewFacts()}
		r.Facts[record.StartWall], r.Facts[record.LastContent] = at, 1
		r.Facts[record.LastResponse], r.Facts[record.End] = 1, 1
		w.Add(r)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return run
}

// A warm-up whose requests are not in the state has the files and the errors that the run gave it.
func TestWarmupWithoutItsRequestsKeepsTheFilesOfTheRun(t *testing.T) {
	from, to := stored(t, summary.State{
		UpdatedNS: 9, Run: summary.Run{StartNS: 6}, Window: summary.Window{WindowStartNS: 6, WindowEndNS: 9},
		Phases: []summary.PhaseState{
			{Name: "warmup", Kind: "warmup", StartNS: 1, RequestsEndNS: 5, Sent: 9, Completed: 9, Errors: 2},
			{Name: "profiling", Kind: "profiling", StartNS: 6, RequestsEndNS: 9},
		},
	}, 6, 7, 7), config.Artifacts{Dir: t.TempDir()}
	for name, text := range map[string]string{
		"phase_manifest.json":                         `{"schema_version":1,"phases":[{"phase_index":0,"error_summary":[{"count":2,"error_details":{"code":500,"type":"T"}}]}]}`,
		"phases/warmup/profile_export_aiperf.json":    "of the run",
		"phases/warmup/server_metrics.json":           "of the servers",
		"phases/profiling/profile_export_aiperf.json": "replaced",
		"phases/profiling/server_metrics.json":        "of the whole phase",
	} {
		path := filepath.Join(from.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, selected := range []bool{false, true} {
		o := recompute.ReportOptions{Dir: from.Dir, OutputDir: to.Dir}
		if until := 2 * time.Nanosecond; selected {
			o.To = &until
		}
		if _, _, err := recompute.Report(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		text := func(name string) string {
			data, err := os.ReadFile(filepath.Join(to.Dir, filepath.FromSlash(name)))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			return string(data)
		}
		if got := text("phases/warmup/profile_export_aiperf.json"); got != "of the run" {
			t.Errorf("summary of the warm-up %q", got)
		}
		if got := text("phases/profiling/server_metrics.json"); (got != "") == selected {
			t.Errorf("part of the requests %v: servers in the profiling phase %q", selected, got)
		}
		if got := text("phases/profiling/profile_export_aiperf.json"); !strings.HasPrefix(got, "{") {
			t.Errorf("summary of the profiling phase %q", got)
		}
		manifest := text("phase_manifest.json")
		for _, want := range []string{
			`"successful_request_count": 7`, `"error_request_count": 2`, `"code": 500`, `"successful_request_count": 3`,
			`"metrics_json": "phases/warmup/`,
		} {
			if !strings.Contains(manifest, want) {
				t.Errorf("the manifest lacks %s:\n%s", want, manifest)
			}
		}
		if strings.Contains(manifest, `"metrics_csv": "phases/warmup/`) || strings.Contains(manifest, "gpu_telemetry") {
			t.Errorf("files that are not there:\n%s", manifest)
		}
	}
}

func TestPhasesAreThoseThatBegan(t *testing.T) {
	state := summary.State{UpdatedNS: 7, Phases: []summary.PhaseState{
		{Name: "warmup", Kind: "warmup", StartNS: 1}, {Name: "profiling", Kind: "profiling"},
	}}
	// A run that ended in its warm-up has no request of another phase, and so no report: one is made up.
	from, to := stored(t, state, 2), config.Artifacts{Dir: t.TempDir()}
	if _, _, err := recompute.Report(t.Context(),
		recompute.ReportOptions{Dir: from.Dir, OutputDir: to.Dir}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{to.Path(config.PhaseManifest), filepath.Join(to.Dir, report.PhasesDir)} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s of a run that ended in its warm-up: %v", path, err)
		}
	}
	if p := state.Ran(); len(p) != 1 || p[0].EndNS != 7 || p[0].Profiling != -1 {
		t.Errorf("%+v", p)
	}
}
