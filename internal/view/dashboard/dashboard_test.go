package dashboard

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"aiperf/internal/base/terminal"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

func TestScreens(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		for screen, text := range map[string]string{
			"run":    drawn(running(t, Options{}), size[0], size[1]),
			"gpus":   drawn(withGPUs(running(t, Options{GPUs: true}), 2), size[0], size[1]),
			"series": drawn(inSeries(running(t, Options{})), size[0], size[1]),
			"watch":  drawn(watching(t), size[0], size[1]),
		} {
			testkit.Golden(t, filepath.Join("testdata", screen+"_"+name+".txt"), []byte(text))
			for y, row := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
				if terminal.Width(row) > size[0] || y >= size[1] {
					t.Errorf("%s at %s: row %d is beyond the terminal: %q", screen, name, y, row)
				}
			}
		}
	}
}

// inSeries makes a dashboard's run the second of a sweep.
func inSeries(d *Dashboard) *Dashboard {
	s := &progress.Series{Kind: progress.SweepKind, Planned: 3, Answer: "highest throughput so far: 503.7 tokens/sec with " +
		"concurrency 4"}
	for i, state := range []progress.CellState{progress.CellDone, progress.CellRunning, progress.CellWaiting} {
		c := progress.Cell{Label: "phases.profiling.concurrency=4", Trial: 1, Trials: 1, State: state,
			Values: []progress.CellValue{{Name: "phases.profiling.concurrency", Text: fmt.Sprint(4 << i),
				Number: float64(int(4) << i)}}}
		if state == progress.CellDone {
			c.Took = 8 * time.Second
			c.Metrics = []progress.CellMetric{{Tag: "request_throughput", Stat: "avg", Value: 16.8},
				{Tag: "output_token_throughput", Stat: "avg", Unit: "tokens/sec", Value: 503.7},
				{Tag: "time_to_first_token", Stat: "p50", Unit: "ms", Value: 61}}
		}
		s.Cells = append(s.Cells, c)
	}
	d.SeriesChanged(s)
	return d
}

// watching returns a dashboard that watches two servers, one of which is not there, and a GPU.
func watching(t testing.TB) *Dashboard {
	t.Helper()
	d := New(Options{Title: "aiperf top · every 1s", Watch: true})
	gpus := withGPUs(running(t, Options{}), 1).state.snap.GPUs
	for i := range 30 {
		d.Observe(&progress.Observed{At: noon, Searched: true, GPUs: gpus, Servers: []progress.Server{
			{URL: "http://127.0.0.1:8000/metrics", Kind: "vLLM", Figures: []progress.Figure{
				{Name: "server_requests_running", Value: float64(i % 8)}, {Name: "server_kv_cache_usage_percent", Value: 42},
				{Name: "server_requests_per_second", Value: 12.5}, {Name: "server_ttft_p50_seconds", Value: 0.08},
				{Name: "server_ttft_p99_seconds", Value: 1.9}}},
			{URL: "http://127.0.0.1:30000/metrics", Error: "cannot connect to 127.0.0.1:30000 [connection refused]"}}})
	}
	return d
}

// has fails unless a text has all of some parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not on the screen:\n%s", p, text)
		}
	}
}

// hasNone fails if a text has one of some parts.
func hasNone(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%q is on the screen:\n%s", p, text)
		}
	}
}

// A server that is known may have no figures before its first request; a remark stands with the figures that there are.
func TestServersWithoutRequestsAndWithARemark(t *testing.T) {
	const turns = "answered by 2 servers in turn: no totals; name the page of each"
	d := New(Options{Title: "aiperf top", Watch: true})
	d.Observe(&progress.Observed{At: noon, Servers: []progress.Server{
		{URL: "http://127.0.0.1:8000/metrics", Kind: "Dynamo"},
		{URL: "http://127.0.0.1:8001/metrics"},
		{URL: "http://127.0.0.1:8002/metrics", Kind: "vLLM", Remark: turns,
			Figures: []progress.Figure{{Name: "server_kv_cache_usage_percent", Value: 42}}}}})
	has(t, drawn(d, 100, 30), "No figures yet", "none that aiperf reads", turns, "KV cache")
	lines := strings.Join(Lines(d.state.observed), "\n")
	has(t, lines, "Dynamo  no figures yet", "8001/metrics  no metrics that aiperf reads", "vLLM  "+turns+"  KV cache 42 %")
}

func TestTheLogFillsTheScreenUntilTheFirstProgress(t *testing.T) {
	d := begun(t, Options{Every: time.Second})
	fmt.Fprintln(d.LogWriter(io.Discard, true), "12:00:00.000 INFO     Dataset ready")
	text := drawn(d, 80, 24)
	has(t, text, "Logs", "Dataset ready")
	hasNone(t, text, "Real-Time Metrics")
	has(t, drawn(d, 80, 24, "1"), "Real-Time Metrics", "No metrics available yet. Please wait...",
		"Waiting for profile data...")
}

func TestKeys(t *testing.T) {
	titles := map[string]string{"2": "Profile Progress", "3": "Real-Time Metrics", "4": "Workers", "5": "GPU Telemetry",
		"6": "Logs", "7": "Server Metrics", "8": "Errors"}
	for key, title := range titles {
		one := drawn(running(t, Options{}), 140, 40, key)
		has(t, one, "╭─ "+title)
		if n := strings.Count(one, "╭"); n != 1 {
			t.Errorf("key %s shows %d panes:\n%s", key, n, one)
		}
		if back := drawn(running(t, Options{}), 140, 40, key, key); back != drawn(running(t, Options{}), 140, 40) {
			t.Errorf("key %s twice does not restore the layout", key)
		}
		if back := drawn(running(t, Options{}), 140, 40, "l", key, "esc"); back != drawn(running(t, Options{}), 140, 40) {
			t.Errorf("Esc after l and %s does not restore the layout", key)
		}
	}
	hasNone(t, drawn(running(t, Options{}), 140, 40, "l"), "╭─ Logs")
	has(t, drawn(running(t, Options{}), 140, 40, "l", "l"), "╭─ Logs")
}

func TestScrolling(t *testing.T) {
	d := running(t, Options{})
	top := drawn(d, 80, 24, "3")
	has(t, top, "1–17 of ")
	has(t, drawn(d, 80, 24, "3", "end"), fmt.Sprintf("of %d ", len(d.state.rows)+1))
	if drawn(d, 80, 24, "3", "down", "down", "up", "up") != top || drawn(d, 80, 24, "3", "pgdown", "home") != top {
		t.Error("scrolling back does not lead to the start")
	}
	// The log follows its end, until somebody scrolls.
	has(t, drawn(d, 80, 24, "6"), "line 19 of")
	hasNone(t, drawn(d, 80, 24, "6", "home"), "line 19 of")
}

func TestMouse(t *testing.T) {
	m := modelOf(running(t, Options{}), 140, 40)
	rows := strings.Split(m.screen.canvas.text(), "\n")
	footer := rows[39]
	if got := m.screen.click(strings.Index(footer, "Servers"), 39); got != "7" {
		t.Errorf("a click on the hint of the servers is key %q", got)
	}
	for _, p := range m.screen.drawn {
		if got := m.screen.click(p.x+5, p.y); got != string(p.id) {
			t.Errorf("a click on the title of pane %s is key %q", p.id, got)
		}
		if got := m.screen.click(p.x+5, p.y+1); got != "" {
			t.Errorf("a click within pane %s is key %q", p.id, got)
		}
	}
	log := m.screen.drawn[len(m.screen.drawn)-1]
	for _, p := range m.screen.drawn {
		if p.id == logPane {
			log = p
		}
	}
	m.Update(tea.MouseWheelMsg{X: log.x + 2, Y: log.y + 2, Button: tea.MouseWheelUp})
	if m.screen.scroll[logPane] != 3 {
		t.Errorf("the wheel over the log scrolled it by %d lines", m.screen.scroll[logPane])
	}
}

func TestCopyingTheLog(t *testing.T) {
	m := newModel(begun(t, Options{}))
	if m.key("c"); m.notice != "No logs to copy" {
		t.Errorf("notice %q", m.notice)
	}
	d := begun(t, Options{})
	fmt.Fprintln(d.LogWriter(io.Discard, true), "12 chars é x")
	m = newModel(d)
	if cmd := m.key("c"); cmd == nil || m.notice != "Copied 12 characters to clipboard" {
		t.Errorf("notice %q", m.notice)
	}
}

func TestScreenshot(t *testing.T) {
	dir := t.TempDir()
	d := running(t, Options{})
	d.state.run.Dir = dir
	m := modelOf(d, 100, 30, "ctrl+s")
	files, err := filepath.Glob(filepath.Join(dir, "dashboard_*.svg"))
	if err != nil || len(files) != 1 || !strings.Contains(m.notice, files[0]) {
		t.Fatalf("files %v, notice %q, %v", files, m.notice, err)
	}
	svg, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(svg), "<svg ", "Real-Time Metrics", "no memory left", "</svg>")
	d.state.run.Dir = filepath.Join(files[0], "below")
	has(t, modelOf(d, 100, 30, "ctrl+s").notice, "No screenshot: ")
}

// Resizing loses nothing: what was there in a size is there again.
func TestResizing(t *testing.T) {
	d := running(t, Options{})
	m := modelOf(d, 140, 40)
	before := m.screen.canvas.text()
	for _, size := range [][2]int{{20, 5}, {1, 1}, {0, 0}, {60, 20}, {500, 200}, {140, 40}} {
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		m.screen.draw(d.frame(0, "", noon))
	}
	if after := m.screen.canvas.text(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestNarrowTerminal(t *testing.T) {
	text := drawn(running(t, Options{}), 20, 10)
	has(t, text, "Profiling", "60%", "16 in flight", "9 errors")
	has(t, drawn(watching(t), 20, 10), "Running")
}

// No text of a server, of a log line or of a name reaches the terminal as a control character.
func TestHostileTexts(t *testing.T) {
	const hostile = "\x1b[2J\x1b]0;x\x07\r\n\x9b31m\u202e漢字\u0085\t"
	for _, size := range sizes {
		d := withGPUs(inSeries(running(t, Options{GPUs: true, Title: hostile})), 1)
		d.state.run.Models = []string{hostile}
		snap := d.state.snap
		snap.Errors = []progress.ErrorKind{{Type: hostile, Message: hostile, Count: 1}}
		snap.GPUs[0].Model, snap.GPUs[0].Source = hostile, hostile
		snap.GPUs[0].Values[0].Header, snap.GPUs[0].Values[0].Unit = hostile, hostile
		snap.Client.Findings = []progress.Finding{{Message: hostile}}
		snap.Phases[0].Name = hostile
		d.state.series.Answer, d.state.series.Cells[0].Values[0].Text = hostile, hostile
		fmt.Fprintln(d.LogWriter(io.Discard, true), "12:00:00.000 ERROR    "+hostile)
		for _, key := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
			checkSafe(t, drawn(d, size[0], size[1], key))
		}
		w := watching(t)
		w.Observe(&progress.Observed{Servers: []progress.Server{{URL: hostile, Kind: hostile, Error: hostile},
			{URL: "http://127.0.0.1:8000/metrics", Remark: hostile}}})
		checkSafe(t, drawn(w, size[0], size[1]))
		for _, line := range Lines(w.state.observed) {
			checkSafe(t, line)
		}
	}
}

func checkSafe(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e) {
			t.Fatalf("the control character %q is on the screen:\n%q", r, text)
		}
	}
}

// With --stats-interval 0 the pane of the metrics stays empty; progress works.
func TestTrap12StatsInterval0(t *testing.T) {
	d := begun(t, Options{})
	needs := d.Begin(d.state.run)
	if needs.Every != 0 || len(needs.Metrics) > 0 || needs.Servers {
		t.Errorf("figures are asked for: %+v", needs)
	}
	full := running(t, Options{})
	d.Show(full.state.snap)
	text := drawn(d, 140, 40)
	has(t, text, "Live metrics are off (--stats-interval 0).", "1,200/2,000 (60%)")
	hasNone(t, text, "TTFT (ms)")
}

// Key 5 without a GPU says so in its pane.
func TestTrap13Key5WithoutGPU(t *testing.T) {
	has(t, drawn(running(t, Options{}), 100, 30, "5"), "GPU Telemetry", "No GPU telemetry: no exporter or driver answered.",
		"--gpu-telemetry URL")
	has(t, drawn(begun(t, Options{}), 100, 30, "5"), "Enabling live GPU telemetry...")
}

// In a terminal that is narrower than the table numbers stay whole, and the column of the metrics shrinks.
func TestTrap14NumbersStayWhole(t *testing.T) {
	rows := []statRow{{label: "A rather long name of a metric", unit: " (tokens/sec/user)", cells: [...]string{"1,234,567.89",
		"1.00", "9,999,999.99", "1,234,567.80", "1,234,567.81", "1,234,567.82", "3.00"}}}
	shown := map[string]bool{}
	for columns := 140; columns >= 12; columns-- {
		for _, l := range statTable("Metric", rows, columns)[1:] {
			text := ""
			for i, sp := range l {
				text += sp.text
				if number := strings.TrimSpace(sp.text); i > 0 {
					shown[number] = true
					if !slices.Contains(rows[0].cells[:], number) {
						t.Errorf("in %d columns there is %q", columns, number)
					}
				}
			}
			if terminal.Width(text) > columns && columns >= 14 {
				t.Errorf("in %d columns the row has %d: %q", columns, terminal.Width(text), text)
			}
		}
	}
	if len(shown) != len(rows[0].cells) {
		t.Errorf("only %v were ever shown", shown)
	}
}

// Ctrl-C is one interrupt and leaves the screen; the second one is then a signal of the terminal.
func TestTrap15CtrlC(t *testing.T) {
	interrupts := 0
	d := running(t, Options{Interrupt: func() { interrupts++ }})
	cmd := newModel(d).key("ctrl+c")
	if cmd == nil || interrupts != 1 {
		t.Fatalf("%d interrupts", interrupts)
	}
	if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("the screen stays")
	}
}

// With 60 GPUs their pane scrolls; header and footer stay.
func TestTrap16SixtyGPUs(t *testing.T) {
	d := withGPUs(running(t, Options{GPUs: true}), 60)
	top, end := drawn(d, 100, 30, "5"), drawn(d, 100, 30, "5", "end")
	for _, text := range []string{top, end} {
		rows := strings.Split(text, "\n")
		has(t, rows[0], "Profiling", "AIPerf", "60%")
		has(t, rows[29], "1 Overview", "^C Quit")
		has(t, text, "60 GPUs")
	}
	has(t, top, "60 GPUs now")
	hasNone(t, top, "GPU 59 |")
	has(t, end, "GPU 59 |")
}

// q ends a watch and nothing else; keys of panes that only a run has do nothing there.
func TestKeysOfAWatch(t *testing.T) {
	ended := 0
	d := watching(t)
	d.options.Interrupt = func() { ended++ }
	if newModel(d).key("q"); ended != 1 {
		t.Error("q does not end the watch")
	}
	if drawn(d, 100, 30, "2", "3", "4", "8", "9") != drawn(d, 100, 30) {
		t.Error("a pane without a run is shown")
	}
	run := running(t, Options{Interrupt: func() { ended++ }})
	if newModel(run).key("q"); ended != 1 {
		t.Error("q ends a run")
	}
}

// terminalText is a terminal whose output can be read while a program writes it.
type terminalText struct {
	mu     sync.Mutex
	text   bytes.Buffer
	wanted string
	seen   chan struct{}
}

func (b *terminalText) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p)
	if b.wanted != "" && strings.Contains(b.text.String(), b.wanted) {
		b.wanted = ""
		close(b.seen)
	}
	return len(p), nil
}

// What is written while the screen is up comes after the normal screen is back, in its order.
func TestOutputWaitsForTheNormalScreen(t *testing.T) {
	const enter, leave = "\x1b[?1049h", "\x1b[?1049l"
	out := &terminalText{wanted: enter, seen: make(chan struct{})}
	d := running(t, Options{Out: out, Environment: []string{"TERM=xterm-256color"}})
	d.Start(slog.New(slog.DiscardHandler))
	<-out.seen
	held, log := d.Hold(out), d.LogWriter(out, false)
	fmt.Fprintln(held, "the report")
	fmt.Fprintln(log, "a line of the log")
	fmt.Fprintln(held, "its end")
	d.Leave()
	d.Leave()
	fmt.Fprintln(held, "after it")
	fmt.Fprintln(log, "a later line")
	text := out.text.String()
	_, after, left := strings.Cut(text, leave)
	if !left {
		t.Fatalf("the normal screen is not restored: %q", text)
	}
	if after = after[strings.Index(after, "the report"):]; after != "the report\nits end\nafter it\na later line\n" {
		t.Errorf("after the screen: %q", after)
	}
}

// A panic of a frame ends the dashboard, restores the screen and is a warning; the run goes on.
func TestAPanicRestoresTheScreen(t *testing.T) {
	out := &terminalText{}
	var log bytes.Buffer
	d := running(t, Options{Out: out, Environment: []string{"TERM=xterm-256color"}})
	d.state.series = &progress.Series{}
	panes[runsPane].lines, panes[runsPane].title = func(*frame, int, int) []line { panic("a fault of a pane") }, runsTitle
	t.Cleanup(func() { panes[runsPane].lines = runLines })
	d.Start(slog.New(slog.NewTextHandler(&log, nil)))
	<-d.ended
	d.Leave()
	text := out.text.String()
	if strings.Count(text, "\x1b[?1049l") < strings.Count(text, "\x1b[?1049h") {
		t.Errorf("the normal screen is not restored: %q", text)
	}
	if d.up.Load() {
		t.Error("output still waits")
	}
	has(t, log.String(), "The dashboard has ended; the run goes on without it")
}

// A line of the log is broken once, and the rows of lines that are gone go too.
func TestRowsOfTheLog(t *testing.T) {
	var l logLines
	var r brokenLog
	for i := range 3 * keptLines {
		l.write([]byte(fmt.Sprintf("12:00:00.000 INFO     line %d with some words that need a second row\n", i)))
		if i%97 != 0 && i < 3*keptLines-1 {
			continue
		}
		lines, before := l.newest()
		var want []line
		for _, text := range lines {
			want = append(want, logLine(text, 40)...)
		}
		if got := r.of(lines, before, 40); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("after line %d: %d rows instead of %d", i, len(got), len(want))
		}
	}
	lines, before := l.newest()
	if got := r.of(lines, before, 200); len(got) != len(lines) {
		t.Errorf("%d rows of %d lines in a wide pane", len(got), len(lines))
	}
}

// BenchmarkFrame is a frame in the usual sizes: drawing, and making it text for the terminal.
func BenchmarkFrame(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			d := withGPUs(inSeries(running(b, Options{GPUs: true})), 8)
			for i := range keptLines {
				fmt.Fprintf(d.LogWriter(io.Discard, true), "12:00:00.000 INFO     line %d of a long log, with more words\n", i)
			}
			m := newModel(d)
			m.screen.resize(size[0], size[1])
			b.ReportAllocs()
			for b.Loop() {
				m.draw()
				_ = m.screen.canvas.String()
			}
		})
	}
}

// The page of the documentation has the keys of the program, and every hint of the footer is among them.
func TestKeysOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), KeysTable()) {
		t.Errorf("docs/dashboard.md lacks this table:\n%s", KeysTable())
	}
	for _, h := range hints {
		name := strings.Replace(h.key, "ctrl+s", "Ctrl-S", 1)
		name = strings.Replace(name, "ctrl+c", "Ctrl-C", 1)
		if !slices.ContainsFunc(keyRows, func(k keyRow) bool { return k.keys == name }) {
			t.Errorf("the key %s is not documented", h.key)
		}
	}
	for _, k := range keyRows {
		if _, pane := panes[paneID(k.keys)]; pane && k.watch == slices.Contains(runKeys, k.keys) {
			t.Errorf("key %s: the documentation says %v of a watch", k.keys, k.watch)
		}
	}
}

// Until a run of a series has figures, those of the run before stand in their pane, with its name.
func TestFiguresOfTheRunBefore(t *testing.T) {
	d := inSeries(running(t, Options{}))
	d.Begin(d.state.run)
	d.Show(&progress.Snapshot{Stage: progress.Profiling, Phases: []progress.Phase{{Kind: progress.ProfilingKind,
		State: progress.PhaseStarted}}})
	text := drawn(d, 120, 40)
	has(t, text, "Metrics of concurrency 8", "123.46", "run 2 of 3: concurrency 8")
	hasNone(t, text, "No metrics available yet", "Real-Time Metrics")

	var figures progress.Figures
	for _, row := range d.state.rows[:2] {
		r := metrics.Metric{Tag: row.Tag, Unit: string(row.Display), Distribution: true}
		r.Stats.Avg = 77.5
		figures.Metrics = append(figures.Metrics, r)
	}
	d.Show(&progress.Snapshot{Stage: progress.Profiling, Figures: &figures, Phases: []progress.Phase{
		{Kind: progress.ProfilingKind, State: progress.PhaseStarted}}})
	text = drawn(d, 120, 40)
	has(t, text, "Real-Time Metrics", "77.50")
	// Two metrics with the same figures are one row.
	if n := strings.Count(text, "77.50"); n != 1 {
		t.Errorf("%d rows with the same figures", n)
	}
}

// A constant is no full bar; what comes down to 0 uses the whole height.
func TestSparklines(t *testing.T) {
	for _, c := range []struct {
		values course
		want   string
	}{{course{5, 5, 5}, "▄▄▄"}, {course{0, 4, 8}, "▁▄█"}, {course{0, 0}, "▁▁"}, {course{math.NaN(), 3}, " ▄"}} {
		if got := sparkline(c.values, len(c.values), 1)[0]; got != c.want {
			t.Errorf("%v is drawn as %q, want %q", c.values, got, c.want)
		}
	}
}

// The line on the client has whole parts only.
func TestTheLineOnTheClientIsNotCut(t *testing.T) {
	d := running(t, Options{})
	for width := LeastWidth; width < 140; width++ {
		rows := strings.Split(drawn(d, width, 30), "\n")
		line := rows[28]
		if !strings.HasPrefix(line, " Client valid · error at most 1.20 ms") || strings.Contains(line, "…") {
			t.Errorf("in %d columns: %q", width, line)
		}
		if last := line[strings.LastIndex(line, " · "):]; !strings.ContainsAny(last, "0123456789") {
			t.Errorf("in %d columns a part is cut: %q", width, line)
		}
	}
}
