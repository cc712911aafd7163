// Package web shows runs to browsers and programs while they go on: the live page, and the HTTP and WebSocket API.
//
// A [View] listens from before the first run of the process until after the last one, on one address or two. It
// follows the runs as an observer of progress, keeps the newest snapshot, a history of bounded length and the last
// lines of the log, and answers all requests from these.
//
// The page is one document; what changes comes as events of one stream (server-sent events), first everything so far,
// so that a page that is opened or loaded again during a run shows its whole course. The API has the routes and the
// messages of the original's.
//
// The invariants: a client that reads slowly, or not at all, loses its connection and delays nobody; what the view
// keeps does not grow with the number of requests; nothing is computed for clients that are not there. The package
// must never know the configuration or the load generator.
package web

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"aiperf/internal/base/webserver"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

const (
	// updateInterval is the time between two updates of the page, figuresInterval between two computations of figures.
	updateInterval  = 250 * time.Millisecond
	figuresInterval = time.Second
	// maxLog and maxRuns bound the lines of the log and the finished runs that are kept.
	maxLog  = 400
	maxRuns = 200
)

// Options configures a view.
type Options struct {
	// Version is that of this program.
	Version string
	// Addresses are where the view listens.
	Addresses []Address
	// Origins may read the API from their own pages.
	Origins []string
	// Sockets is the largest number of WebSocket clients; 0 stands for 100.
	Sockets int
	// ShutdownDelay is the time between the reply to a request to shut down and its effect.
	ShutdownDelay time.Duration
}

// Address is where a view listens.
type Address struct {
	// Flag is named in errors, Address is HOST:PORT. Open leaves out the key beyond loopback.
	Flag, Address string
	Open          bool
}

// View serves the runs of this process, one after the other. It implements [progress.RecordObserver],
// [progress.PhaseObserver] and [progress.SeriesObserver].
type View struct {
	o       Options
	servers []*webserver.Server
	page    []byte
	policy  string
	started time.Time

	events  hub
	sockets socketHub
	// shutdown is closed when a client asks for the end, closing when the view is about to end.
	shutdown, closing chan struct{}
	askShutdown       func()

	history history

	mu sync.Mutex
	state
}

// state is what is known of the runs; the view's lock guards it. What is pointed to never changes.
type state struct {
	// run is nil before the first one; ending is nil until the run has ended.
	run      *progress.Run
	snapshot *progress.Snapshot
	ending   *progress.Ending
	series   *progress.Series
	// number counts the runs; finished reports that there will be no further one.
	number   int
	finished bool
	// cancelled and failed are those of all runs so far.
	cancelled, failed bool
	starts            map[int]*phaseStart
	updated           time.Time
	sent              shown
	log               []LogLine
	runs              []finishedRun
	system            string
}

// phaseStart is when a phase began and when it stopped sending, wall ns; 0 is not yet.
type phaseStart struct{ startNS, sentEndNS, endNS int64 }

// finishedRun is a run that has ended.
type finishedRun struct {
	label, dir string
	report     string
	failed     bool
}

// Listen opens a view.
func Listen(o Options) (*View, error) {
	if o.Sockets == 0 {
		o.Sockets = 100
	}
	v := &View{o: o, started: time.Now(), shutdown: make(chan struct{}), closing: make(chan struct{})}
	v.askShutdown = sync.OnceFunc(func() { close(v.shutdown) })
	v.system = systemInitializing
	v.starts = map[int]*phaseStart{}
	var err error
	if v.page, v.policy, err = livePage(o.Version); err != nil {
		return nil, err
	}
	routes := v.routes()
	for _, a := range o.Addresses {
		s, err := webserver.Listen(webserver.Options{
			Flag: a.Flag, Address: a.Address, Open: a.Open, Origins: o.Origins, Handler: routes,
		})
		if err != nil {
			v.Close(0)
			return nil, err
		}
		v.servers = append(v.servers, s)
	}
	return v, nil
}

// URL returns the address of the live page at the given one of the view's addresses, with its key.
func (v *View) URL(i int) string { return v.servers[i].URL("/") }

// Everywhere reports whether other machines can reach an address of the view.
func (v *View) Everywhere(i int) bool { return v.servers[i].Everywhere() }

// Begin implements progress.Observer.
func (v *View) Begin(run *progress.Run) progress.Needs {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run, v.snapshot, v.ending = run, nil, nil
	v.number++
	v.starts = map[int]*phaseStart{}
	v.sent = shown{}
	v.history.begin(run.Metrics, time.Now())
	v.enter(systemConfiguring)
	v.events.broadcast(v.hello())
	needs := progress.Needs{Servers: true, Every: figuresInterval, Client: true, Errors: true, GPUs: true}
	for _, d := range run.Metrics.Definitions() {
		needs.Metrics = append(needs.Metrics, d.Tag)
	}
	return needs
}

// Record implements progress.RecordObserver.
func (v *View) Record(r *record.Record) { v.history.add(r) }

// Show implements progress.Observer.
func (v *View) Show(s *progress.Snapshot) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.take(s)
	if now := time.Now(); now.Sub(v.updated) >= updateInterval {
		v.update(now)
	}
}

// take keeps a snapshot; the view is locked.
func (v *View) take(s *progress.Snapshot) {
	v.snapshot = s
	for i := range s.Phases {
		p := &s.Phases[i]
		if p.State == progress.PhaseCreated {
			continue
		}
		at := v.starts[p.Index]
		if at == nil {
			at = &phaseStart{startNS: s.At.Add(-p.Elapsed).UnixNano()}
			v.starts[p.Index] = at
		}
		if at.sentEndNS == 0 && p.Draining > 0 {
			at.sentEndNS = s.At.Add(-p.Draining).UnixNano()
		}
		if at.endNS == 0 && p.State == progress.PhaseComplete {
			at.endNS = at.startNS + int64(p.Elapsed)
		}
	}
	v.enter(systemOf(s.Stage))
}

// update sends what has changed to the clients; the view is locked.
func (v *View) update(now time.Time) {
	v.updated = now
	rows, all := v.history.advance(now, v.snapshot)
	if v.events.any() {
		v.events.broadcast(v.changes(rows, all))
	}
	v.publishProgress(now)
}

// PhaseChanged implements progress.PhaseObserver.
func (v *View) PhaseChanged(p *progress.Phase) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.publishPhase(p)
}

// SeriesChanged implements progress.SeriesObserver.
func (v *View) SeriesChanged(s *progress.Series) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.series = s
	if v.events.any() {
		v.events.broadcast(event("series", seriesObject(s)))
	}
}

// End implements progress.Observer.
func (v *View) End(e *progress.Ending) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ending = e
	v.cancelled, v.failed = v.cancelled || e.Cancelled, v.failed || e.Failed
	v.take(e.Last)
	if len(v.runs) == maxRuns {
		v.runs = slices.Delete(v.runs, 0, 1)
	}
	v.runs = append(v.runs, finishedRun{label: v.run.Label, dir: v.run.Dir, report: v.run.Report, failed: e.Failed})
	v.history.close()
	v.update(time.Now())
	v.publishEnd()
}

// Finish reports that there will be no further run.
func (v *View) Finish() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.finished = true
	v.enter(systemShutdown)
	v.events.broadcast(event("finished", v.endObject()))
}

// Watched reports whether a page is open.
func (v *View) Watched() bool { return v.events.any() }

// Linger waits for a time after the last run, until a client asks for the end or stop is closed.
func (v *View) Linger(limit time.Duration, stop <-chan struct{}) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	case <-v.shutdown:
	}
}

// Close ends all connections, and waits at most a time for replies under way.
func (v *View) Close(limit time.Duration) {
	close(v.closing)
	v.events.close()
	v.sockets.close()
	var all sync.WaitGroup
	for _, s := range v.servers {
		all.Go(func() { s.Close(limit) })
	}
	all.Wait()
}

// LogLine is a line of the log.
type LogLine struct {
	At               time.Time
	Level, Component string
	Message          string
}

// Log takes a line of the log; it must have passed the redactor.
func (v *View) Log(l LogLine) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.log) == maxLog {
		v.log = slices.Delete(v.log, 0, maxLog/4)
	}
	v.log = append(v.log, l)
	if v.events.any() {
		v.events.broadcast(event("log", logObject([]LogLine{l})))
	}
}

// routes are those of the table, behind the headers of the page.
func (v *View) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range table {
		mux.HandleFunc(r.pattern(), func(w http.ResponseWriter, q *http.Request) { r.answer(v, w, q) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "Not Found") })
	return mux
}
