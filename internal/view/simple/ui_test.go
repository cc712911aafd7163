package simple

import (
	"strings"
	"testing"
	"time"

	"aiperf/internal/publish/progress"
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		bar  bar
		want string
	}{
		{bar{profiling, 40, 100, 0.4, 12 * time.Second, 0, "", ""},
			"Profiling: 40/100 |████      | 40% [00:12<00:18]"},
		{bar{profiling, 0, 0, 0.4, 12 * time.Second, 0, "", ""}, "Profiling:  40% |████      | [00:12<00:18]"},
		{bar{profiling, 40, 100, 0.4, 12 * time.Second, 0, "peak", ""},
			"Profiling peak: 40/100 |████      | 40% [00:12<00:18]"},
		{bar{warmup, 0, 12345, 0, 0, 0, "", ""}, "Warmup: 0/12,345 |          | 0% [00:00<?]"},
		{bar{profilingGrace, 7, 7, 1, time.Hour + time.Minute, 0, "", ""},
			"Profiling Grace Period: 7/7 |██████████| 100% [1:01:00<00:00]"},
		{bar{profiling, 40, 100, 0.4, 12 * time.Second, 1, "", ""},
			"Profiling: 40/100 |████      | 40% [00:12<00:18] 1 error"},
		{bar{profiling, 0, 0, 0.4, 12 * time.Second, 27000, "", ""},
			"Profiling:  40% |████      | [00:12<00:18] 27,000 errors"},
	} {
		text, failed := c.bar.text()
		if got := text + failed; got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestSimpleRedrawsOnlyAfterAStep(t *testing.T) {
	var out strings.Builder
	s := New(&out, true, false, 1)
	for i := range 1000 {
		s.draw(bar{stage: profiling, done: int64(i), total: 1000, fraction: float64(i) / 1000})
	}
	if n := strings.Count(out.String(), "\r"); n < 90 || n > 101 {
		t.Errorf("%d redraws of 1000 snapshots, want about one per percent", n)
	}
	s.Clear()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Error("the bar stays on the screen")
	}
}

func TestSimpleWithoutTerminalPrintsTenths(t *testing.T) {
	var out strings.Builder
	s := New(&out, false, false, 1)
	for i := range 1001 {
		s.draw(bar{stage: profiling, done: int64(i), total: 1000, fraction: float64(i) / 1000})
	}
	s.Clear()
	if n := strings.Count(out.String(), "\n"); n != 11 {
		t.Errorf("%d lines, want 11:\n%s", n, out.String())
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Error("control characters in a file")
	}
}

// A run that goes nowhere is not green: errors are redrawn without a step of the bar, in red.
func TestErrorsAreRed(t *testing.T) {
	var out strings.Builder
	s := New(&out, true, true, 1)
	s.draw(bar{stage: profiling, fraction: 0.4})
	s.draw(bar{stage: profiling, fraction: 0.4, errors: 3})
	if got := out.String(); strings.Count(got, "Profiling") != 2 ||
		!strings.HasSuffix(got, "\x1b[0m\x1b[31m 3 errors\x1b[0m") {
		t.Errorf("%q", got)
	}
}

func TestBarOfASnapshot(t *testing.T) {
	done := progress.Phase{Kind: progress.WarmupKind, State: progress.PhaseComplete, Progress: 1, RequestsCompleted: 5}
	for _, c := range []struct {
		name  string
		stage progress.Stage
		phase progress.Phase
		want  bar
		none  bool
	}{
		{"before the start", progress.Starting, progress.Phase{State: progress.PhaseCreated},
			bar{stage: warmup, done: 5, fraction: 1}, false},
		{"under way", progress.Profiling, progress.Phase{Kind: progress.ProfilingKind, State: progress.PhaseStarted,
			Elapsed: time.Second, RequestsCompleted: 4, ExpectedRequests: 10, Progress: 0.4, RequestErrors: 3},
			bar{profiling, 4, 10, 0.4, time.Second, 3, "", ""}, false},
		{"without an end", progress.Profiling, progress.Phase{Kind: progress.ProfilingKind,
			State: progress.PhaseStarted, RequestsCompleted: 4, Progress: -1}, bar{stage: profiling, done: 4}, false},
		{"in the grace period", progress.Draining, progress.Phase{Kind: progress.ProfilingKind,
			State: progress.PhaseSendingComplete, TimeoutTriggered: true, Elapsed: time.Minute, Draining: time.Second,
			RequestsSent: 10, RequestsCompleted: 4, RequestsCancelled: 1},
			bar{profilingGrace, 5, 10, 0.5, time.Second, 0, "", ""}, false},
		{"over", progress.Draining, progress.Phase{Kind: progress.ProfilingKind, State: progress.PhaseComplete,
			Elapsed: time.Minute, RequestsCompleted: 8},
			bar{processingRecords, 2, 8, 0.25, time.Minute, 0, "", ""}, false},
		{"another phase follows", progress.Draining, progress.Phase{Kind: progress.ProfilingKind, Name: "steady",
			Index: -1, State: progress.PhaseComplete, RequestsCompleted: 8, Progress: 1},
			bar{profiling, 8, 0, 1, 0, 0, "steady", ""}, false},
		{"exporting", progress.Exporting, progress.Phase{Kind: progress.ProfilingKind,
			State: progress.PhaseComplete}, bar{}, true},
	} {
		got, ok := barOf(&progress.Snapshot{Stage: c.stage, Phases: []progress.Phase{done, c.phase},
			Records: progress.Records{Successes: 1, Errors: 1}}, 1)
		if got != c.want || ok == c.none {
			t.Errorf("%s: %+v, %t, want %+v", c.name, got, ok, c.want)
		}
	}
}

func TestASearchIsOnTheLine(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	for want, search := range map[string]*progress.Search{
		" concurrency 1 is tried": {Stage: progress.SearchDiscovers, Variable: "concurrency", Value: 1},
		" request rate 12.5 is tried, 10 met all limits": {Stage: progress.SearchDiscovers, Variable: "request_rate",
			Value: 12.5, LastPassing: value(10)},
		" users 31 is held, 41 missed a limit": {Stage: progress.SearchHolds, Variable: "users", Value: 31,
			LastPassing: value(31), FirstFailing: value(41)},
		" users 31, search over": {Stage: progress.SearchIsOver, Variable: "users", Value: 31},
		"":                       nil,
	} {
		if got := searchText(search); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, terminal := range []bool{true, false} {
		var out strings.Builder
		s := New(&out, terminal, false, 1)
		for _, text := range []string{" a", " a", " b"} {
			s.draw(bar{stage: profiling, fraction: 0.41, search: text})
		}
		if got := strings.Count(out.String(), "Profiling"); got != 2 {
			t.Errorf("terminal %t: drawn %d times, want once for each value: %q", terminal, got, out.String())
		}
	}
}
