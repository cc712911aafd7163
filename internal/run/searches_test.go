package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
)

// searching makes the profiling phase of a configuration search its concurrency within a limit.
func searching(cfg *config.Run, a load.Adaptive, limit load.SLA) {
	a.Period = max(a.Period, time.Second)
	a.Sustain = max(a.Sustain, time.Nanosecond)
	a.SLA = append(a.SLA, limit)
	cfg.Profiling().Adaptive = &a
}

// latency limits the largest latency.
func latency(limit time.Duration) load.SLA {
	return load.SLA{Metric: "request_latency", Stat: "max", Op: "le", Threshold: limit.Seconds() * 1e3}
}

type searchEvent struct {
	Event, Phase string
	PhaseName    string  `json:"phase_name"`
	Value        float64 `json:"control_value"`
	Reason       *string
	Passed       *bool `json:"sla_passed"`
	Completed    int64
}

func searchEvents(t *testing.T, dir string) (all []searchEvent) {
	t.Helper()
	for line := range bytes.Lines(fileOf(t, dir, "phases/profiling/adaptive_scale_events.jsonl")) {
		var e searchEvent
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// stages keeps the stages of the search that it was shown.
type stages struct{ seen []string }

func (*stages) Begin(*progress.Run) progress.Needs { return progress.Needs{} }
func (*stages) End(*progress.Ending)               {}
func (s *stages) Show(now *progress.Snapshot) {
	if p := now.Current(); p != nil && p.Search != nil && !slices.Contains(s.seen, p.Search.Stage) {
		s.seen = append(s.seen, p.Search.Stage)
	}
}

// Requests are answered one after the other, 80 ms each: one alone takes a small part of the limit, the thirtieth of
// forty-one more than the limit. On a slow machine the search may get further before a window fails, and come back from
// there when what passed once fails as it is held: the boundary is what its windows said.
func TestSearchOfTheLoadFromEndToEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := serve(t, mockserver.Options{TTFT: 80 * time.Millisecond, MaxBatch: 1, MaxQueue: -1})
	cfg := resolve(t, dir, url, "--concurrency", "50", "--benchmark-duration", "60", "--isl", "5", "--osl", "1")
	searching(cfg, load.Adaptive{Period: 2500 * time.Millisecond, Policy: load.FixedPercentStep, StepPercent: 4000},
		latency(2*time.Second))
	var seen stages
	outcome, err := execute(t, cfg, Options{Observers: []progress.Observer{&seen}})
	if err != nil || outcome.Failed() {
		t.Fatal(err, outcome)
	}
	events := searchEvents(t, dir)
	var names []string
	completed := int64(0)
	var lastPassed, firstFailed float64 // loads of windows
	for _, e := range events {
		names = append(names, e.Event)
		if e.Event == "adaptive_window" {
			completed += e.Completed
			switch {
			case e.Passed == nil:
			case *e.Passed:
				lastPassed = e.Value
			case firstFailed == 0:
				firstFailed = e.Value
			}
		}
		if e.PhaseName != "profiling" {
			t.Errorf("event of the phase %q", e.PhaseName)
		}
	}
	for i, want := range []string{"adaptive_phase_started", "adaptive_window", "adaptive_decision", "adaptive_window",
		"sustain_started", "boundary_discovered", "adaptive_window", "adaptive_complete"} {
		if n := slices.Index(names, want); n < 0 {
			t.Errorf("event %d is not %s: %q", i, want, names)
		} else {
			names = names[n+1:]
		}
	}
	if len(names) > 0 {
		t.Errorf("events after the end: %q", names)
	}
	s := object(t, dir, "phases/profiling/adaptive_scale_summary.json")
	for key, want := range map[string]any{"status": "completed", "completed_reason": "sustain_duration_completed",
		"phase_name": "profiling", "profiling_index": 0.} {
		if s[key] != want {
			t.Errorf("%s is %v, want %v", key, s[key], want)
		}
	}
	passing, _ := s["last_passing_value"].(float64)
	failing, _ := s["first_failing_value"].(float64)
	if passing < 1 || failing <= passing || failing != 41 && failing != 50 || // steps of 4,000 %, up to 50
		passing != lastPassed || failing != firstFailed {
		t.Errorf("the boundary is between %v and %v, the windows have %v and %v", passing, failing, lastPassed,
			firstFailed)
	}
	if got := at(s, "totals", "completed"); got != float64(completed) || completed == 0 {
		t.Errorf("totals %v, the windows have %d", got, completed)
	}
	for _, name := range []string{"adaptive_scale_events.jsonl", "adaptive_scale_summary.json"} {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schemas",
			strings.TrimSuffix(strings.TrimSuffix(name, ".jsonl"), ".json")+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range documents(t, name, fileOf(t, dir, filepath.Join("phases", "profiling", name))) {
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if err := schemas(t)["run_state.json"].Validate(documents(t, "run_state.json",
		fileOf(t, dir, "run_state.json"))[0]); err != nil {
		t.Error(err)
	}
	if !sortedKeys(t, fileOf(t, dir, "phases/profiling/adaptive_scale_summary.json")) {
		t.Error("the summary is not sorted")
	}
	m := object(t, dir, "adaptive_scale_manifest.json")
	list, _ := m["adaptive_phases"].([]any)
	if len(list) != 1 || at(list[0], "summary_path") != "phases/profiling/adaptive_scale_summary.json" {
		t.Errorf("manifest %v", m)
	}
	for _, text := range []string{"Adaptive Scale: profiling", fmt.Sprintf("Concurrency %g, passing", passing),
		fmt.Sprintf("Concurrency %g, failing", failing)} {
		if !bytes.Contains(fileOf(t, dir, "profile_export_console.txt"), []byte(text)) {
			t.Errorf("the console does not show %q", text)
		}
	}
	if !slices.Contains(seen.seen, progress.SearchDiscovers) || !slices.Contains(seen.seen, progress.SearchHolds) {
		t.Errorf("stages shown: %q", seen.seen)
	}
	state := object(t, dir, "run_state.json")
	if searches, _ := at(state, "console", "searches").([]any); len(searches) != 1 ||
		at(searches[0], "last_passing_value") != passing {
		t.Errorf("state: %v", at(state, "console", "searches"))
	}
	if got := at(summaryOf(t, dir), "input_config", "phases"); got == nil {
		t.Error("no phases in the summary")
	}
}

func TestSearchThatFindsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := serve(t, mockserver.Options{TTFT: 600 * time.Millisecond})
	cfg := resolve(t, dir, url, "--concurrency", "5", "--benchmark-duration", "60", "--isl", "5", "--osl", "1")
	searching(cfg, load.Adaptive{}, latency(500*time.Millisecond))
	outcome, err := execute(t, cfg, Options{})
	if err != nil || outcome.Failed() {
		t.Fatal(err, outcome) // the run itself is fine
	}
	s := object(t, dir, "phases/profiling/adaptive_scale_summary.json")
	if s["status"] != "failed" || s["completed_reason"] != "no_sustainable_concurrency_found" {
		t.Errorf("%v: %v", s["status"], s["completed_reason"])
	}
}

// The first Ctrl-C ends the search as it ends the phase: what was found so far is in the files.
func TestSearchThatIsStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := serve(t, mockserver.Options{TTFT: 5 * time.Millisecond})
	cfg := resolve(t, dir, url, "--concurrency", "500", "--benchmark-duration", "60", "--isl", "5", "--osl", "1")
	searching(cfg, load.Adaptive{BaseStep: 1, MaxMultiplier: 1}, latency(time.Minute))
	stop := make(chan struct{})
	outcome, err := execute(t, cfg, Options{Stop: stop, Observers: []progress.Observer{&stopAfterAWindow{stop: stop}}})
	if err != nil || !outcome.Result.WasCancelled {
		t.Fatal(err, outcome)
	}
	s := object(t, dir, "phases/profiling/adaptive_scale_summary.json")
	if s["status"] != "incomplete" || s["completed_reason"] != "phase_stopped" || s["last_passing_value"] == nil {
		t.Errorf("%v: %v, %v", s["status"], s["completed_reason"], s["last_passing_value"])
	}
	if console := string(fileOf(t, dir, "profile_export_console.txt")); !strings.Contains(console,
		"the phase ended before the search") {
		t.Error(console)
	}
}

type stopAfterAWindow struct {
	stages
	stop chan struct{}
	done bool
}

func (s *stopAfterAWindow) Show(now *progress.Snapshot) {
	if p := now.Current(); !s.done && p != nil && p.Search != nil && p.Search.Windows > 0 {
		s.done = true
		close(s.stop)
	}
}
