package runlog

import (
	"fmt"
	"io"
	"strconv"
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
	// fraction is done, 0 to 1; endless reports that nobody knows how much there is to do.
	fraction float64
	endless  bool
	// elapsed is the time in this stage, left the estimated time to its end, 0 where it is not known.
	elapsed, left time.Duration
	// errors are the failed requests of the phase so far, inFlight those that have not returned.
	errors, inFlight int64
	// phase is the name of the phase where it says more than the stage.
	phase string
	// search says where the search of the load stands; "" without one.
	search string
	live
	// accuracy is the share of right answers among those graded.
	accuracy float64
	graded   int64
}

// live are current figures; 0 is not known.
type live struct {
	// requests are successes per second, tokens generated tokens per second.
	requests, tokens float64
	// median is that of the metric named, in milliseconds.
	median float64
	of     string
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
	processingRecords: {"Processing Records", "\x1b[94m"},
}

// barOf returns the bar of the current phase of a run with a number of phases, and whether there is one.
func barOf(s *progress.Snapshot, phases int) (b bar, ok bool) {
	p := s.Current()
	if p == nil || s.Stage == progress.Exporting || s.Stage == progress.Done {
		return bar{}, false
	}
	b = bar{stage: profiling, elapsed: p.Elapsed, errors: p.RequestErrors, inFlight: p.RequestsInFlight(),
		search: searchText(p.Search), left: max(0, p.Remaining), live: liveOf(s, p)}
	if p.Kind == progress.WarmupKind {
		b.stage = warmup
	} else if s.Accuracy != nil {
		b.accuracy, b.graded = s.Accuracy.Rate(), s.Accuracy.Total
	}
	if p.Name != p.Kind {
		b.phase = p.Name
	}
	over := p.State == progress.PhaseComplete && (p.Index == phases-1 || p.WasCancelled)
	switch {
	case over && s.Measured() > 0:
		b.stage, b.phase, b.left, b.live = processingRecords, "", 0, live{}
		b.done, b.total = s.Records.Requests(), s.Measured()
	case p.State == progress.PhaseSendingComplete && p.TimeoutTriggered:
		b.stage++ // the grace period follows its phase
		b.done, b.total = p.RequestsCompleted+p.RequestsCancelled, p.RequestsSent
		b.elapsed, b.left, b.live = p.Draining, p.GraceLeft, live{}
	default:
		b.done, b.total, b.fraction = p.RequestsCompleted, p.ExpectedRequests, max(0, p.Progress)
		b.endless = p.Progress < 0
		return b, true
	}
	if b.total > 0 {
		b.fraction = float64(b.done) / float64(b.total)
	}
	return b, true
}

// liveOf returns the current figures of a phase. Those of metrics are of all profiling phases so far.
func liveOf(s *progress.Snapshot, p *progress.Phase) (l live) {
	if seconds := p.Elapsed.Seconds(); seconds > 0 {
		l.requests = float64(p.RequestsCompleted-p.RequestErrors) / seconds
	}
	if s.Figures == nil || p.Kind != progress.ProfilingKind {
		return l
	}
	if m := s.Figures.Metric("output_token_throughput"); m != nil && artifact.Finite(m.Stats.Avg) {
		l.tokens = m.Stats.Avg
	}
	for _, of := range medians {
		if m := s.Figures.Metric(of.tag); m != nil && artifact.Finite(m.Percentile(50)) {
			l.median, l.of = m.Percentile(50), of.name
			break
		}
	}
	return l
}

// medians are the metrics of which the line has the median: the first that the run measures.
var medians = [...]struct{ tag, name string }{{"time_to_first_token", "TTFT"}, {"request_latency", "latency"}}

// figuresInterval is the time between two computations of the figures.
const figuresInterval = time.Second

// SimpleOptions configures the view.
type SimpleOptions struct {
	// Terminal reports that the output is a terminal on which a line can be drawn again; Colour asks for colours there.
	Terminal, Colour bool
	// Width returns the columns of the terminal, 0 if they are not known; nil is never known.
	Width func() int
	// MinPercent is the smallest step that is redrawn.
	MinPercent float64
}

// Simple draws one bar at a time. It implements [progress.SeriesObserver].
type Simple struct {
	out io.Writer
	o   SimpleOptions

	mu sync.Mutex
	// line is what is on the terminal, "" for nothing, drawn its width in columns.
	line  string
	drawn int
	shown bool
	// last is the bar that was shown last, percent how far it was.
	last      bar
	percent   float64
	lastTenth int
	// phases is the number of phases of the run.
	phases int
	// series says which run of several this is; "" for a run that stands alone.
	series string
}

// NewSimple returns a view that draws on out.
func NewSimple(out io.Writer, o SimpleOptions) *Simple {
	if o.Width == nil {
		o.Width = func() int { return 0 }
	}
	return &Simple{out: out, o: o, lastTenth: -1}
}

// Begin implements progress.Observer.
func (s *Simple) Begin(run *progress.Run) progress.Needs {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phases = len(run.Phases)
	if !s.o.Terminal {
		return progress.Needs{}
	}
	needs := progress.Needs{Metrics: []string{"output_token_throughput"}, Every: figuresInterval}
	for _, of := range medians {
		needs.Metrics = append(needs.Metrics, of.tag)
	}
	return needs
}

// SeriesChanged implements progress.SeriesObserver.
func (s *Simple) SeriesChanged(all *progress.Series) {
	begun, running := 0, ""
	for i := range all.Cells {
		if all.Cells[i].State != progress.CellWaiting {
			begun++
		}
		if all.Cells[i].State == progress.CellRunning {
			running = all.Cells[i].Label
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.series = ""
	if begun > 0 {
		s.series = "run " + strconv.Itoa(begun)
		if all.Kind == progress.SearchKind { // which does not know how many runs there will be
			if running != "" {
				s.series += ", " + running
			}
			return
		}
		if n := max(all.Planned, len(all.Cells)); n > 1 {
			s.series += " of " + strconv.Itoa(n)
		}
	}
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

// draw draws a bar if it has changed enough: by a step, by an error, or by a second on a terminal.
func (s *Simple) draw(b bar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	percent := 100 * min(max(b.fraction, 0), 1)
	tenth := int(percent / 10)
	fresh := !s.shown || b.stage != s.last.stage || b.phase != s.last.phase
	if fresh {
		s.lastTenth = -1
	}
	step := percent-s.percent >= s.o.MinPercent || percent >= 100
	switch {
	case fresh || b.search != s.last.search:
	case s.o.Terminal:
		second := b.elapsed/time.Second != s.last.elapsed/time.Second
		if !step && !second && b.errors == s.last.errors {
			return
		}
	case !step || tenth == s.lastTenth:
		return
	}
	s.shown, s.last, s.percent, s.lastTenth = true, b, percent, tenth
	if !s.o.Terminal {
		text, failed := b.text()
		fmt.Fprintln(s.out, text+failed)
		return
	}
	if s.drawn > s.width() {
		s.erase()
	}
	s.compose()
	s.redraw()
}

// defaultWidth is the width of a terminal that does not tell its own.
const defaultWidth = 80

// spare columns stay free behind the line: the terminal writes ^C there, and some begin another line in the last one.
const spare = 3

func (s *Simple) width() int {
	if n := s.o.Width(); n > 0 {
		return n
	}
	return defaultWidth
}

// compose makes the line of the bar that was shown last.
func (s *Simple) compose() {
	s.line, s.drawn = s.last.line(s.series, s.width()-spare, s.o.Colour)
}

// redraw writes the line. The cursor stays behind it.
func (s *Simple) redraw() {
	if s.line == "" {
		return
	}
	if s.drawn >= s.width() { // the terminal has become narrower
		s.compose()
	}
	fmt.Fprint(s.out, "\r\x1b[K"+s.line)
}

// erase removes the line, which takes several rows on a terminal that has become narrower since.
func (s *Simple) erase() {
	if s.line == "" {
		return
	}
	if rows := (s.drawn - 1) / s.width(); rows > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\r\x1b[J", rows)
		return
	}
	fmt.Fprint(s.out, "\r\x1b[K")
}

// Clear removes the bar from the terminal; it may be shown again.
func (s *Simple) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.line, s.drawn, s.shown = "", 0, false
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
