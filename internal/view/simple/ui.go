// Package simple shows a running benchmark as a progress bar on the last line of a terminal. On something that is not a
// terminal it prints a line at every tenth of the way instead.
//
// It follows the run as an observer of progress and knows nothing else of it. Log lines for the same terminal go
// through a writer of [Simple.LogWriter], so that the two do not overwrite each other.
package simple

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/progress"
)

// bar is a bar's content.
type bar struct {
	stage stage
	// done of total are counted where total is known (> 0).
	done, total int64
	// fraction is done, 0 to 1.
	fraction float64
	// elapsed is the time in this stage.
	elapsed time.Duration
	// errors are the failed requests of the phase so far.
	errors int64
	// phase is the name of the phase where it says more than the stage.
	phase string
	// search says where the search of the load stands; "" without one.
	search string
}

// stage selects the name and the colour of a bar.
type stage uint8

// The stages, in order. A grace period follows its phase.
const (
	warmup stage = iota
	warmupGrace
	profiling
	profilingGrace
	processingRecords
)

var stages = [...]struct{ name, colour string }{
	warmup:            {"Warmup", "\x1b[33m"},
	warmupGrace:       {"Warmup Grace Period", "\x1b[36m"},
	profiling:         {"Profiling", "\x1b[32m"},
	profilingGrace:    {"Profiling Grace Period", "\x1b[35m"},
	processingRecords: {"Processing Records", "\x1b[34m"},
}

// barOf returns the bar of the current phase of a run with a number of phases, and whether there is one.
func barOf(s *progress.Snapshot, phases int) (b bar, ok bool) {
	p := s.Current()
	if p == nil || s.Stage == progress.Exporting || s.Stage == progress.Done {
		return bar{}, false
	}
	b = bar{stage: profiling, elapsed: p.Elapsed, errors: p.RequestErrors, search: searchText(p.Search)}
	if p.Kind == progress.WarmupKind {
		b.stage = warmup
	}
	if p.Name != p.Kind {
		b.phase = p.Name
	}
	over := p.State == progress.PhaseComplete && (p.Index == phases-1 || p.WasCancelled)
	switch {
	case over && s.Measured() > 0:
		b.stage, b.phase = processingRecords, ""
		b.done, b.total = s.Records.Requests(), s.Measured()
	case p.State == progress.PhaseSendingComplete && p.TimeoutTriggered:
		b.stage++ // the grace period follows its phase
		b.done, b.total = p.RequestsCompleted+p.RequestsCancelled, p.RequestsSent
		b.elapsed = p.Draining
	default:
		b.done, b.total, b.fraction = p.RequestsCompleted, p.ExpectedRequests, max(0, p.Progress)
		return b, true
	}
	if b.total > 0 {
		b.fraction = float64(b.done) / float64(b.total)
	}
	return b, true
}

// Simple draws one bar at a time. It implements [progress.Observer].
type Simple struct {
	out        io.Writer
	terminal   bool
	colour     bool
	minPercent float64

	mu        sync.Mutex
	line      string // the bar on the terminal, "" without one
	shown     bool
	stage     stage
	phase     string
	percent   float64
	errors    int64
	search    string
	lastTenth int
	// phases is the number of phases of the run.
	phases int
}

// New returns a view that draws on out. minPercent is the smallest step that is redrawn.
func New(out io.Writer, terminal, colour bool, minPercent float64) *Simple {
	return &Simple{out: out, terminal: terminal, colour: colour, minPercent: minPercent, lastTenth: -1}
}

// Begin implements progress.Observer.
func (s *Simple) Begin(run *progress.Run) progress.Needs {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phases = len(run.Phases)
	return progress.Needs{}
}

// End implements progress.Observer. It removes the bar from the terminal.
func (s *Simple) End(*progress.Ending) { s.Clear() }

// Show implements progress.Observer.
func (s *Simple) Show(now *progress.Snapshot) {
	s.mu.Lock()
	phases := s.phases
	s.mu.Unlock()
	if b, ok := barOf(now, phases); ok {
		s.draw(b)
	}
}

// draw draws a bar if it has changed enough.
func (s *Simple) draw(b bar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	percent := 100 * min(max(b.fraction, 0), 1)
	fresh := !s.shown || b.stage != s.stage || b.phase != s.phase
	news := b.search != s.search || s.terminal && b.errors != s.errors
	if !fresh && percent-s.percent < s.minPercent && percent < 100 && !news {
		return
	}
	if fresh {
		s.lastTenth = -1
	}
	tenth := int(percent / 10)
	if !s.terminal && !fresh && tenth == s.lastTenth && b.search == s.search {
		return
	}
	s.shown, s.stage, s.phase, s.percent, s.lastTenth, s.errors = true, b.stage, b.phase, percent, tenth, b.errors
	s.search = b.search
	text, failed := b.text()
	line := text + failed
	if !s.terminal {
		fmt.Fprintln(s.out, line)
		return
	}
	if s.colour {
		line = stages[b.stage].colour + text + "\x1b[0m"
		if failed != "" {
			line += "\x1b[31m" + failed + "\x1b[0m"
		}
	}
	s.line = line
	s.redraw()
}

func (s *Simple) redraw() {
	if s.line != "" {
		fmt.Fprint(s.out, "\r\x1b[K"+s.line)
	}
}

func (s *Simple) erase() {
	if s.line != "" {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}

// Clear removes the bar from the terminal; it may be shown again.
func (s *Simple) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.line, s.shown = "", false
}

// LogWriter returns a writer for whole lines on the same terminal. It removes the bar before a line and redraws it
// after.
func (s *Simple) LogWriter(w io.Writer) io.Writer { return &logWriter{s, w} }

type logWriter struct {
	bar *Simple
	out io.Writer
}

func (b *logWriter) Write(p []byte) (int, error) {
	b.bar.mu.Lock()
	defer b.bar.mu.Unlock()
	b.bar.erase()
	n, err := b.out.Write(p)
	b.bar.redraw()
	return n, err
}

const barWidth = 10

// text returns the bar as text in two parts, the second of which are the errors if there are any:
//
//	Profiling: 40/100 |████      | 40% [00:12<00:18]
//	Profiling:  40% |████      | [00:12<00:18]
//	Profiling: 40/100 |████      | 40% [00:12<00:18] 3 errors
//	Profiling peak: 40/100 |████      | 40% [00:12<00:18]
//	Profiling:  40% |████      | [00:12<00:18] concurrency 31 is held, 41 missed a limit
func (b *bar) text() (text, failed string) {
	switch {
	case b.errors == 1:
		failed = " 1 error"
	case b.errors > 1:
		failed = " " + thousands(b.errors) + " errors"
	}
	fraction := min(max(b.fraction, 0), 1)
	full := int(fraction * barWidth)
	drawn := "|" + strings.Repeat("█", full) + strings.Repeat(" ", barWidth-full) + "|"
	times := fmt.Sprintf("[%s<%s]", minutes(b.elapsed), remaining(b.elapsed, fraction))
	times += b.search
	name := stages[b.stage].name
	if b.phase != "" {
		name += " " + b.phase
	}
	if b.total > 0 {
		return fmt.Sprintf("%s: %s/%s %s %.0f%% %s", name, thousands(b.done), thousands(b.total), drawn, 100*fraction,
			times), failed
	}
	return fmt.Sprintf("%s: %3.0f%% %s %s", name, 100*fraction, drawn, times), failed
}

// searchText says where a search stands, after a space; "" without one.
func searchText(s *progress.Search) string {
	if s == nil {
		return ""
	}
	text := " " + strings.ReplaceAll(s.Variable, "_", " ") + " " + number(s.Value)
	switch s.Stage {
	case progress.SearchDiscovers:
		text += " is tried"
		if s.LastPassing != nil {
			text += ", " + number(*s.LastPassing) + " met all limits"
		}
	case progress.SearchHolds:
		text += " is held"
		if s.FirstFailing != nil {
			text += ", " + number(*s.FirstFailing) + " missed a limit"
		}
	default:
		text += ", search over"
	}
	return text
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func remaining(elapsed time.Duration, fraction float64) string {
	if fraction <= 0 {
		return "?"
	}
	return minutes(time.Duration(float64(elapsed) * (1 - fraction) / fraction))
}

func minutes(d time.Duration) string {
	s := int64(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

func thousands(n int64) string { return artifact.GroupThousands(strconv.FormatInt(n, 10)) }
