package runlog

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		bar  bar
		want string
	}{
		{bar{stage: profiling, done: 40, total: 100, fraction: 0.4, elapsed: 12 * time.Second},
			"Profiling: 40/100 |████      | 40% [00:12<00:18]"},
		{bar{stage: profiling, fraction: 0.4, elapsed: 12 * time.Second}, "Profiling:  40% |████      | [00:12<00:18]"},
		{bar{stage: profiling, done: 40, total: 100, fraction: 0.4, elapsed: 12 * time.Second, phase: "peak"},
			"Profiling peak: 40/100 |████      | 40% [00:12<00:18]"},
		{bar{stage: warmup, total: 12345}, "Warmup: 0/12,345 |          | 0% [00:00<?]"},
		{bar{stage: profilingGrace, done: 7, total: 7, fraction: 1, elapsed: time.Hour + time.Minute},
			"Profiling Grace Period: 7/7 |██████████| 100% [1:01:00<00:00]"},
		{bar{stage: profiling, done: 40, total: 100, fraction: 0.4, elapsed: 12 * time.Second, errors: 1},
			"Profiling: 40/100 |████      | 40% [00:12<00:18] 1 error"},
		{bar{stage: profiling, fraction: 0.4, elapsed: 12 * time.Second, errors: 27000},
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
	s := NewSimple(&out, SimpleOptions{Terminal: true, MinPercent: 1})
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
	s := NewSimple(&out, SimpleOptions{MinPercent: 1})
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
	s := NewSimple(&out, SimpleOptions{Terminal: true, Colour: true, MinPercent: 1})
	s.draw(bar{stage: profiling, fraction: 0.4})
	s.draw(bar{stage: profiling, fraction: 0.4, errors: 3})
	if got := out.String(); strings.Count(got, "Profiling") != 2 ||
		!strings.HasSuffix(got, " · \x1b[1;31m3 errors\x1b[0m") {
		t.Errorf("%q", got)
	}
}

func TestBarOfASnapshot(t *testing.T) {
	done := progress.Phase{Kind: progress.WarmupKind, State: progress.PhaseComplete, Progress: 1, RequestsSent: 5,
		RequestsCompleted: 5}
	metric := func(tag string, avg, p50 float64) metrics.Metric {
		m := metrics.Metric{Tag: tag, Stats: metrics.Stats{Avg: avg}}
		m.Stats.Percentiles[slices.Index(metrics.PercentileRanks[:], 50)] = p50
		return m
	}
	tokens, latency, first := metric("output_token_throughput", 576, math.NaN()), metric("request_latency", 0, 1200),
		metric("time_to_first_token", 0, 82)
	for _, c := range []struct {
		name    string
		stage   progress.Stage
		phase   progress.Phase
		figures []metrics.Metric
		want    bar
		none    bool
	}{
		{"before the start", progress.Starting, progress.Phase{State: progress.PhaseCreated}, nil,
			bar{stage: warmup, done: 5, fraction: 1}, false},
		{"under way", progress.Profiling, progress.Phase{Kind: progress.ProfilingKind, State: progress.PhaseStarted,
			Elapsed: 2 * time.Second, RequestsSent: 6, RequestsCompleted: 4, ExpectedRequests: 10, Progress: 0.4,
			RequestErrors: 3, Remaining: 3 * time.Second}, []metrics.Metric{tokens, latency, first},
			bar{stage: profiling, done: 4, total: 10, fraction: 0.4, elapsed: 2 * time.Second, errors: 3, inFlight: 2,
				left: 3 * time.Second, live: live{0.5, 576, 82, "TTFT"}}, false},
		{"without streaming", progress.Profiling, progress.Phase{Kind: progress.ProfilingKind,
			State: progress.PhaseStarted, Elapsed: time.Second, RequestsSent: 4, RequestsCompleted: 4},
			[]metrics.Metric{latency}, bar{stage: profiling, done: 4, elapsed: time.Second, live: live{4, 0, 1200, "latency"}},
			false},
		{"without an end", progress.Profiling, progress.Phase{Kind: progress.ProfilingKind,
			State: progress.PhaseStarted, RequestsSent: 4, RequestsCompleted: 4, Progress: -1, Remaining: -1}, nil,
			bar{stage: profiling, done: 4, endless: true}, false},
		{"in the grace period", progress.Draining, progress.Phase{Kind: progress.ProfilingKind,
			State: progress.PhaseSendingComplete, TimeoutTriggered: true, Elapsed: time.Minute, Draining: time.Second,
			RequestsSent: 10, RequestsCompleted: 4, RequestsCancelled: 1, GraceLeft: 29 * time.Second},
			[]metrics.Metric{tokens}, bar{stage: profilingGrace, done: 5, total: 10, fraction: 0.5, elapsed: time.Second,
				inFlight: 5, left: 29 * time.Second}, false},
		{"over", progress.Draining, progress.Phase{Kind: progress.ProfilingKind, State: progress.PhaseComplete,
			Elapsed: time.Minute, RequestsSent: 8, RequestsCompleted: 8, Remaining: time.Second}, nil,
			bar{stage: processingRecords, done: 2, total: 8, fraction: 0.25, elapsed: time.Minute}, false},
		{"another phase follows", progress.Draining, progress.Phase{Kind: progress.ProfilingKind, Name: "steady",
			Index: -1, State: progress.PhaseComplete, RequestsSent: 8, RequestsCompleted: 8, Progress: 1}, nil,
			bar{stage: profiling, done: 8, fraction: 1, phase: "steady"}, false},
		{"exporting", progress.Exporting, progress.Phase{Kind: progress.ProfilingKind,
			State: progress.PhaseComplete}, nil, bar{}, true},
	} {
		s := &progress.Snapshot{Stage: c.stage, Phases: []progress.Phase{done, c.phase},
			Records: progress.Records{Successes: 1, Errors: 1}}
		if c.figures != nil {
			s.Figures = &progress.Figures{Metrics: c.figures}
		}
		if got, ok := barOf(s, 1); got != c.want || ok == c.none {
			t.Errorf("%s: %+v, %t, want %+v", c.name, got, ok, c.want)
		}
	}
}

// underWay is a bar with all figures.
var underWay = bar{stage: profiling, done: 201, total: 300, fraction: 0.67, left: 9 * time.Second, inFlight: 4,
	live: live{10.72, 576.3, 82.13, "TTFT"}}

func TestLineOfATerminal(t *testing.T) {
	failing := underWay
	failing.errors = 12345
	endless := bar{stage: profiling, done: 7, endless: true, inFlight: 1}
	for _, c := range []struct {
		bar    bar
		series string
		room   int
		want   string
	}{
		{underWay, "", 119, "Profiling |██████████▋     | 201/300 67% · 10.7 req/s · 576 tok/s · TTFT p50 82.1 ms · " +
			"4 in flight · 0 errors · ETA 9 s"},
		{underWay, "", 99, "Profiling |██████▋   | 201/300 67% · 10.7 req/s · 576 tok/s · TTFT p50 82.1 ms · 0 errors · ETA 9 s"},
		{underWay, "", 79, "Profiling |████████▋    | 201/300 67% · 10.7 req/s · TTFT p50 82.1 ms · ETA 9 s"},
		{failing, "", 79, "Profiling |██████████▋     | 201/300 67% · 10.7 req/s · 12,345 errors · ETA 9 s"},
		{underWay, "run 3 of 12", 139, "Profiling |██████████████▋       | 201/300 67% · run 3 of 12 · 10.7 req/s · " +
			"576 tok/s · TTFT p50 82.1 ms · 4 in flight · 0 errors · ETA 9 s"},
		{underWay, "", 39, "201/300 67% · 10.7 req/s · ETA 9 s"},
		{underWay, "", 19, "201/300 67%"},
		{underWay, "", 9, "67%"},
		{underWay, "", 2, "67"},
		{endless, "", 79, "Profiling 7 requests · 1 in flight · 0 errors"},
		{bar{stage: processingRecords, done: 2, total: 8, fraction: 0.25}, "", 60,
			"Processing Records |█████               | 2/8 25% · 0 errors"},
	} {
		got, width := c.bar.line(c.series, c.room, false)
		if got != c.want || width != utf8.RuneCountInString(got) {
			t.Errorf("%d columns: got %d\n%s\nwant\n%s", c.room, width, got, c.want)
		}
	}
}

func TestLineIsNeverWiderThanTheTerminal(t *testing.T) {
	all := underWay
	all.errors, all.search, all.phase = 12, " concurrency 31 is held", "名前\x1b[2J"
	for room := 1; room < 250; room++ {
		text, width := all.line("run 3 of 12", room, false)
		if width > room || columns(text) != width || strings.ContainsRune(text, '\x1b') {
			t.Fatalf("%d columns of %d: %q", width, room, text)
		}
	}
}

// A line that was drawn on a wider terminal takes several rows now, all of which are removed.
func TestResize(t *testing.T) {
	var out strings.Builder
	width := 120
	s := NewSimple(&out, SimpleOptions{Terminal: true, MinPercent: 1, Width: func() int { return width }})
	s.draw(underWay)
	out.Reset()
	width = 50
	next := underWay
	next.elapsed = time.Second
	s.draw(next)
	if got := out.String(); !strings.HasPrefix(got, "\x1b[2A\r\x1b[J\r\x1b[K") {
		t.Errorf("got %q", got)
	}
	out.Reset()
	s.LogWriter(&out).Write([]byte("log\n"))
	if got := out.String(); !strings.HasPrefix(got, "\r\x1b[Klog\n\r\x1b[KProf") || strings.Contains(got, "\x1b[J") {
		t.Errorf("got %q", got)
	}
}

func TestFiguresAreRedrawnEachSecond(t *testing.T) {
	var out strings.Builder
	s := NewSimple(&out, SimpleOptions{Terminal: true, MinPercent: 1})
	for i := range 50 {
		b := underWay
		b.elapsed = time.Duration(i) * 100 * time.Millisecond
		s.draw(b)
	}
	if n := strings.Count(out.String(), "201/300"); n != 5 {
		t.Errorf("drawn %d times in 5 s", n)
	}
}

func TestOnlyATerminalNeedsFigures(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		needs := NewSimple(io.Discard, SimpleOptions{Terminal: terminal}).Begin(&progress.Run{})
		if (needs.Every > 0) != terminal || (len(needs.Metrics) == 3) != terminal {
			t.Errorf("terminal %t: %+v", terminal, needs)
		}
	}
}

func TestRunOfASeries(t *testing.T) {
	for _, c := range []struct {
		series progress.Series
		want   string
	}{
		{progress.Series{Planned: 12, Cells: []progress.Cell{{State: progress.CellDone}, {State: progress.CellFailed},
			{State: progress.CellRunning}}}, "run 3 of 12"},
		{progress.Series{Cells: []progress.Cell{{State: progress.CellRunning}, {State: progress.CellWaiting}}},
			"run 1 of 2"},
		{progress.Series{Cells: []progress.Cell{{State: progress.CellRunning}}}, "run 1"},
		{progress.Series{Kind: progress.SearchKind, Cells: []progress.Cell{{State: progress.CellDone, Label: "concurrency=4"},
			{State: progress.CellRunning, Label: "concurrency=89"}}}, "run 2, concurrency=89"},
		{progress.Series{Planned: 3}, ""},
	} {
		var out strings.Builder
		s := NewSimple(&out, SimpleOptions{Terminal: true, Width: func() int { return 200 }})
		s.SeriesChanged(&c.series)
		s.draw(underWay)
		if got := strings.Contains(out.String(), " run "); got != (c.want != "") || !strings.Contains(out.String(), c.want) {
			t.Errorf("want %q in %q", c.want, out.String())
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
		s := NewSimple(&out, SimpleOptions{Terminal: terminal, MinPercent: 1})
		for _, text := range []string{" a", " a", " b"} {
			s.draw(bar{stage: profiling, fraction: 0.41, search: text})
		}
		if got := strings.Count(out.String(), "Profiling"); got != 2 {
			t.Errorf("terminal %t: drawn %d times, want once for each value: %q", terminal, got, out.String())
		}
	}
}
