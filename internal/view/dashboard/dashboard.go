package dashboard

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

// The least size of a terminal for a dashboard.
const (
	LeastWidth  = 80
	LeastHeight = 24
)

// Options configure a dashboard.
type Options struct {
	// Out is the terminal, In where keys come from; nil for none.
	Out io.Writer
	In  io.Reader
	// Environment has the variables that describe the terminal, as NAME=VALUE.
	Environment []string
	// Colour allows colours.
	Colour bool
	// Title is in the middle of the header.
	Title string
	// Every is the time between two computations of live metrics; 0 is for none of them.
	Every time.Duration
	// Frame is the time between two frames, Notice how long a notice stays; 0 is the default.
	Frame, Notice time.Duration
	// Groups are the groups of metrics that are shown.
	Groups []string
	// GPUs shows the pane of the GPUs from the start.
	GPUs bool
	// Watch shows servers and GPUs without a run: [Dashboard.Observe] has what there is to show, and q quits too.
	Watch bool
	// Traffic shows a recording, in place of servers and GPUs: [Dashboard.Recorded] has what there is to show. It is a
	// watch, too.
	Traffic bool
	// Interrupt is called by Ctrl-C; it must return at once.
	Interrupt func()
	// Dir is where screenshots go while no run says so.
	Dir string
}

// The defaults, and the most frames in a time: frames compete with the load for the processor.
const (
	defaultNotice = 3 * time.Second
	leastFrame    = 250 * time.Millisecond
)

// Dashboard follows runs and shows them. It implements [progress.RecordObserver] and [progress.SeriesObserver].
type Dashboard struct {
	options Options
	log     logLines
	held    held
	live    live
	// up reports that the screen is on the terminal.
	up atomic.Bool

	mu    sync.Mutex
	state state
	// sampled is the state of the run at the last point of the sparklines.
	sampled struct {
		at        time.Duration
		completed int64
	}

	program *tea.Program
	ended   chan struct{}
	leave   sync.Once
	logger  *slog.Logger
}

// state is what is newest. Its values are never changed in place, but for the trends.
type state struct {
	run    *progress.Run
	snap   *progress.Snapshot
	series *progress.Series
	// figures are the newest live metrics, shown are the definitions of their rows.
	figures *progress.Figures
	rows    []metrics.Definition
	trends  trends
	// figuresOf is the cell of a series whose figures these are.
	figuresOf string
	// earlier are the last figures of the run before, of the cell earlierRun: they are shown until there are newer ones.
	earlier    *progress.Figures
	earlierRun string
	// observed is what there is without a run, servers the courses of the servers' figures by the address of each; "" is
	// for those of a run.
	observed *progress.Observed
	servers  map[string]serverCourses
	// traffic is what a recorder has seen, recorded the courses of its figures.
	traffic  *progress.Traffic
	recorded trafficCourses
	// runs is the number of runs that have begun; ending is how the last one ended, nil while it goes on.
	runs   int
	ending *progress.Ending
	// begun is when the run began, moving reports that some phase of the first run has begun.
	begun  time.Time
	moving bool
}

// New returns a dashboard, which is not on the screen yet.
func New(o Options) *Dashboard {
	if o.Notice == 0 {
		o.Notice = defaultNotice
	}
	o.Frame = max(o.Frame, leastFrame)
	o.Watch = o.Watch || o.Traffic
	return &Dashboard{options: o, ended: make(chan struct{})}
}

// Start puts the dashboard on the screen. What ends it is [Dashboard.Leave], or a fault of its own: then log is told, and
// runs go on without it.
func (d *Dashboard) Start(log *slog.Logger) {
	d.logger = log
	d.up.Store(true)
	options := []tea.ProgramOption{tea.WithOutput(d.options.Out), tea.WithInput(d.options.In),
		tea.WithoutSignalHandler(), tea.WithFPS(30)}
	if d.options.Environment != nil {
		options = append(options, tea.WithEnvironment(d.options.Environment))
	}
	d.program = tea.NewProgram(newModel(d), options...)
	go func() {
		_, err := d.program.Run()
		d.up.Store(false)
		if err != nil {
			log.LogAttrs(context.Background(), slog.LevelWarn, "The dashboard has ended; the run goes on without it",
				slog.String("error", err.Error()))
		}
		d.held.flush()
		close(d.ended)
	}()
}

// patience bounds the wait for the terminal to be as it was.
const patience = time.Second

// Leave removes the dashboard from the screen, and writes the output that had to wait. A second call does nothing.
func (d *Dashboard) Leave() {
	d.leave.Do(func() {
		if d.program == nil {
			return
		}
		go d.program.Quit()
		select {
		case <-d.ended:
			return
		case <-time.After(patience):
		}
		go d.program.Kill()
		select {
		case <-d.ended:
		case <-time.After(patience):
			d.up.Store(false)
			d.held.flush()
		}
	})
}

// LogWriter returns a writer for lines of the log. While the screen is up they are in its pane, and go to out only if
// that leads elsewhere than to the terminal.
func (d *Dashboard) LogWriter(out io.Writer, elsewhere bool) io.Writer {
	return &logWriter{d, out, elsewhere}
}

// Hold returns a writer to the terminal whose output waits while the screen is up.
func (d *Dashboard) Hold(out io.Writer) io.Writer { return &holdWriter{d, out} }

// Begin implements progress.Observer.
func (d *Dashboard) Begin(run *progress.Run) progress.Needs {
	d.live.begin(run.Metrics)
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.state
	if s.figures != nil {
		s.earlier, s.earlierRun = s.figures, s.figuresOf
	}
	s.figuresOf = ""
	if c := s.runningCell(); c != nil {
		s.figuresOf = cellName(c)
	}
	s.run, s.snap, s.figures, s.ending, s.trends, s.servers = run, nil, nil, nil, trends{}, nil
	s.runs++
	s.begun = time.Now()
	d.sampled.at, d.sampled.completed = 0, 0
	needs := progress.Needs{Client: true, Errors: true, GPUs: true}
	if s.rows = nil; d.options.Every > 0 && run.Metrics != nil {
		s.rows = shownMetrics(run.Metrics, d.options.Groups)
		needs.Every, needs.Servers = d.options.Every, true
		for i := range s.rows {
			needs.Metrics = append(needs.Metrics, s.rows[i].Tag)
		}
	}
	return needs
}

// Record implements progress.RecordObserver.
func (d *Dashboard) Record(r *record.Record) {
	if r.Phase != record.PhaseWarmup {
		d.live.record(r)
	}
}

// Show implements progress.Observer.
func (d *Dashboard) Show(snap *progress.Snapshot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.snap = snap
	if f := snap.Figures; f != nil && d.options.Every > 0 && f != d.state.figures {
		d.state.figures = f
		d.state.follow("", f.Servers)
	}
	now := snap.Current()
	d.state.moving = d.state.moving || now != nil
	if now == nil {
		return
	}
	completed := int64(0)
	for i := range snap.Phases {
		completed += snap.Phases[i].RequestsCompleted
	}
	passed := snap.Elapsed - d.sampled.at
	if passed < period {
		return
	}
	t := &d.state.trends
	if d.sampled.at > 0 {
		t.requests.add(float64(completed-d.sampled.completed) / passed.Seconds())
		t.inFlight.add(float64(now.RequestsInFlight()))
		d.live.take(t, passed)
	}
	d.sampled.at, d.sampled.completed = snap.Elapsed, completed
}

// Observe shows what servers and GPUs say without a run.
func (d *Dashboard) Observe(o *progress.Observed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.observed = o
	for i := range o.Servers {
		d.state.follow(o.Servers[i].URL, o.Servers[i].Figures)
	}
}

// End implements progress.Observer.
func (d *Dashboard) End(e *progress.Ending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.ending, d.state.snap = e, e.Last
	if e.HasResults && d.options.Every > 0 {
		figures := progress.Figures{Metrics: e.Metrics}
		if d.state.figures != nil {
			figures.Servers = d.state.figures.Servers
		}
		d.state.figures = &figures
	}
}

// SeriesChanged implements progress.SeriesObserver.
func (d *Dashboard) SeriesChanged(s *progress.Series) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.series = s
	if c := d.state.runningCell(); c != nil && d.state.ending == nil {
		d.state.figuresOf = cellName(c)
	}
}

// frame is what a frame shows.
func (d *Dashboard) frame(spinner int, notice string, now time.Time) *frame {
	f := &frame{state: d.newest(), options: &d.options, workers: d.live.list(), spinner: spinner, notice: notice, now: now}
	f.log, f.logBefore = d.log.newest()
	return f
}

// newest returns what is newest, for a frame.
func (d *Dashboard) newest() *state {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.state
	s.trends, s.recorded = s.trends.clone(), s.recorded.clone()
	s.servers = make(map[string]serverCourses, len(d.state.servers))
	for url, courses := range d.state.servers {
		s.servers[url] = courses.clone()
	}
	return &s
}
