// Package simple shows a running benchmark: a progress bar, or nothing. A view only watches: it gets
// snapshots of the run and can neither slow it down nor change it.
package simple

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
)

// Progress is one snapshot of what the run is doing.
type Progress struct {
	// Stage is what the bar is called.
	Stage Stage
	// Done of Total are counted where Total is known (> 0).
	Done, Total int64
	// Fraction is done, 0 to 1.
	Fraction float64
	// Elapsed is the time in this stage.
	Elapsed time.Duration
	// Errors are the failed requests of the phase so far.
	Errors int64
}

// Stage is one of the bars that follow one another.
type Stage uint8

// The stages of a run.
const (
	Warmup Stage = iota
	WarmupGrace
	Profiling
	ProfilingGrace
	ProcessingRecords
)

var stages = [...]struct{ name, colour string }{
	Warmup:            {"Warmup", "\x1b[33m"},
	WarmupGrace:       {"Warmup Grace Period", "\x1b[36m"},
	Profiling:         {"Profiling", "\x1b[32m"},
	ProfilingGrace:    {"Profiling Grace Period", "\x1b[35m"},
	ProcessingRecords: {"Processing Records", "\x1b[34m"},
}

// View is one way of showing a run.
type View interface {
	// Show draws a snapshot; it is called from one goroutine, a few times a second.
	Show(Progress)
	// Clear takes the view off the screen; it may be shown again.
	Clear()
}

// None shows nothing.
type None struct{}

// Show does nothing.
func (None) Show(Progress) {}

// Clear does nothing.
func (None) Clear() {}

// Simple draws one bar at a time on a terminal's last line. On something that is not a terminal it
// prints a line at every tenth of the way instead.
type Simple struct {
	out        io.Writer
	terminal   bool
	colour     bool
	minPercent float64

	mu        sync.Mutex
	line      string // what stands on the terminal, "" when nothing does
	shown     bool
	stage     Stage
	percent   float64
	errors    int64
	lastTenth int
}

// NewSimple draws on out. minPercent is the smallest step that is redrawn.
func NewSimple(out io.Writer, terminal, colour bool, minPercent float64) *Simple {
	return &Simple{out: out, terminal: terminal, colour: colour, minPercent: minPercent, lastTenth: -1}
}

// Show draws the bar if it moved far enough.
func (s *Simple) Show(p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	percent := 100 * min(max(p.Fraction, 0), 1)
	fresh := !s.shown || p.Stage != s.stage
	if !fresh && percent-s.percent < s.minPercent && percent < 100 && !(s.terminal && p.Errors != s.errors) {
		return
	}
	if fresh {
		s.lastTenth = -1
	}
	tenth := int(percent / 10)
	if !s.terminal && !fresh && tenth == s.lastTenth {
		return
	}
	s.shown, s.stage, s.percent, s.lastTenth, s.errors = true, p.Stage, percent, tenth, p.Errors
	line := Line(p)
	if !s.terminal {
		fmt.Fprintln(s.out, line)
		return
	}
	if s.colour {
		bar, failed := split(p)
		line = stages[p.Stage].colour + bar + "\x1b[0m"
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

// Clear takes the bar off the terminal.
func (s *Simple) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.line, s.shown = "", false
}

// Beside returns a writer for whole lines on the same terminal: the bar makes room for them.
func (s *Simple) Beside(w io.Writer) io.Writer { return &beside{s, w} }

type beside struct {
	bar *Simple
	out io.Writer
}

func (b *beside) Write(p []byte) (int, error) {
	b.bar.mu.Lock()
	defer b.bar.mu.Unlock()
	b.bar.erase()
	n, err := b.out.Write(p)
	b.bar.redraw()
	return n, err
}

const barWidth = 10

// Line is the bar of a snapshot as text:
//
//	Profiling: 40/100 |████      | 40% [00:12<00:18]
//	Profiling:  40% |████      | [00:12<00:18]
//	Profiling: 40/100 |████      | 40% [00:12<00:18] 3 errors
func Line(p Progress) string {
	bar, failed := split(p)
	return bar + failed
}

// split is Line in two parts: the bar, and the errors if there are any.
func split(p Progress) (bar, failed string) {
	switch {
	case p.Errors == 1:
		failed = " 1 error"
	case p.Errors > 1:
		failed = " " + thousands(p.Errors) + " errors"
	}
	return barOf(p), failed
}

func barOf(p Progress) string {
	fraction := min(max(p.Fraction, 0), 1)
	full := int(fraction * barWidth)
	bar := "|" + strings.Repeat("█", full) + strings.Repeat(" ", barWidth-full) + "|"
	times := fmt.Sprintf("[%s<%s]", minutes(p.Elapsed), remaining(p.Elapsed, fraction))
	name := stages[p.Stage].name
	if p.Total > 0 {
		return fmt.Sprintf("%s: %s/%s %s %.0f%% %s", name, thousands(p.Done), thousands(p.Total), bar, 100*fraction,
			times)
	}
	return fmt.Sprintf("%s: %3.0f%% %s %s", name, 100*fraction, bar, times)
}

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
