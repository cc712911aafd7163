package recompute

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/result/summary"
)

// A warm-up whose requests are not in the state has the files and the errors that the run gave it.
func TestWarmupWithoutItsRequestsKeepsTheFilesOfTheRun(t *testing.T) {
	from, to := config.Artifacts{Dir: t.TempDir()}, config.Artifacts{Dir: t.TempDir()}
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
	r := &recomputation{state: &summary.State{Phases: []summary.PhaseState{
		{Name: "warmup", Kind: "warmup", StartNS: 1, RequestsEndNS: 5, Sent: 9, Completed: 9, Errors: 2},
		{Name: "profiling", Kind: "profiling", StartNS: 6, RequestsEndNS: 9},
	}}}
	result := &summary.Result{Run: summary.Run{Counts: summary.Counts{Successes: 3}}}
	for _, selected := range []bool{false, true} {
		if selected {
			r.endNS = 8
		}
		if err := removeStalePhases(from, to); err != nil {
			t.Fatal(err)
		}
		files, err := r.phaseFiles(context.Background(), result, from, to)
		if err != nil {
			t.Fatal(err)
		}
		if err := files.Write(); err != nil {
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
	from := config.Artifacts{Dir: t.TempDir()}
	r := &recomputation{state: &summary.State{UpdatedNS: 7, Phases: []summary.PhaseState{
		{Name: "warmup", Kind: "warmup", StartNS: 1}, {Name: "profiling", Kind: "profiling"},
	}}}
	if files, err := r.phaseFiles(context.Background(), &summary.Result{}, from, from); files != nil || err != nil {
		t.Errorf("%+v, %v of a run that ended in its warm-up", files, err)
	}
	if p := r.state.Ran(); len(p) != 1 || p[0].EndNS != 7 || p[0].Profiling != -1 {
		t.Errorf("%+v", p)
	}
}
