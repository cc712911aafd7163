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
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
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
	// Flag is named in errors, Address is HOST:PORT. Open leaves out the key beyond loopback; Numbered says that the
	// flag takes no port 0.
	Flag, Address  string
	Open, Numbered bool
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
	// shutdown is closed when a client asks for the end.
	shutdown    chan struct{}
	askShutdown func()

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
	starts   map[int]*phaseStart
	// due is when the page gets its next update.
	due  time.Time
	sent shown
	// log are the newest lines, of which the last unsent ones wait for the page.
	log    []LogLine
	unsent int
	// reports are the reports of the runs that have ended, the newest last.
	reports []finishedRun
	system  string
}

// phaseStart is when a phase began and when it stopped sending, wall ns; 0 is not yet.
type phaseStart struct{ startNS, sentEndNS, endNS int64 }

// finishedRun is the report of a run that has ended: the number of the run, its folder and the file's name.
type finishedRun struct {
	number    int
	dir, name string
}

// link returns the address of the report, relative to the page.
func (f *finishedRun) link() string {
	return "report/" + strconv.Itoa(f.number) + "/" + url.PathEscape(f.name)
}

// Listen opens a view.
func Listen(o Options) (*View, error) {
	if o.Sockets == 0 {
		o.Sockets = 100
	}
	v := &View{o: o, started: time.Now(), shutdown: make(chan struct{})}
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
			Flag: a.Flag, Address: a.Address, Open: a.Open, Numbered: a.Numbered,
			Refuse: refuse, Origins: o.Origins, Handler: routes,
			Connections: maxPages + o.Sockets + maxFarewells + maxOthers,
		})
		if err != nil {
			v.Close(0)
			return nil, err
		}
		v.servers = append(v.servers, s)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.enter(systemConfiguring)
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
	if v.events.any() {
		v.events.broadcast(v.hello())
	}
	v.enter(systemReady)
	v.publishBegin()
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
	if s.Stage == progress.Exporting {
		v.history.close() // there are no more requests
	}
	if now := time.Now(); !now.Before(v.due) || s.Stage == progress.Exporting {
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
		v.date(p, s.At)
	}
	v.enter(systemOf(s.Stage))
}

// date notes when a phase began and ended, of what is known of it at an instant; the view is locked.
func (v *View) date(p *progress.Phase, at time.Time) {
	d := v.starts[p.Index]
	if d == nil {
		d = &phaseStart{startNS: at.Add(-p.Elapsed).UnixNano()}
		v.starts[p.Index] = d
	}
	if d.sentEndNS == 0 && p.Draining > 0 {
		d.sentEndNS = at.Add(-p.Draining).UnixNano()
	}
	if p.State == progress.PhaseComplete && d.endNS == 0 {
		d.endNS = d.startNS + int64(p.Elapsed)
	}
	if p.State == progress.PhaseSendingComplete && d.sentEndNS == 0 {
		d.sentEndNS = at.UnixNano()
	}
}

// update sends what has changed to the clients; the view is locked.
func (v *View) update(now time.Time) {
	if v.due = v.due.Add(updateInterval); v.due.Before(now) {
		v.due = now.Add(updateInterval)
	}
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
	if v.ending != nil && slices.ContainsFunc(s.Cells,
		func(c progress.Cell) bool { return c.State == progress.CellRunning }) {
		v.enter(systemConfiguring) // the next run is prepared
	}
	if v.events.any() {
		v.events.broadcast(event("series", v.seriesObject()))
	}
}

// End implements progress.Observer.
func (v *View) End(e *progress.Ending) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ending = e
	v.take(e.Last)
	if v.run.Report != "" && e.HasResults {
		if len(v.reports) == maxRuns {
			v.reports = slices.Delete(v.reports, 0, 1)
		}
		v.reports = append(v.reports, finishedRun{number: v.number, dir: v.run.Dir, name: v.run.Report})
	}
	v.history.close()
	v.update(time.Now())
	v.publishEnd()
}

// Finish reports that there will be no further run.
func (v *View) Finish() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.finished = true
	v.sendLog()
	v.enter(systemShutdown)
	v.events.broadcast(event("finished", v.endObject()))
}

// Watched reports whether a page is open or a client is connected.
func (v *View) Watched() bool { return v.events.any() || v.sockets.any() }

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

// Close ends all connections once they have their messages, and waits at most a time for that and for replies under
// way.
func (v *View) Close(limit time.Duration) {
	v.events.close()
	v.sockets.close()
	var all sync.WaitGroup
	for _, s := range v.servers {
		all.Go(func() { s.Close(limit) })
	}
	all.Go(func() { v.sockets.wait(limit) })
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
	// Lines come in bursts, which would fill the mailboxes: all of a while are one message.
	if v.unsent = min(v.unsent+1, len(v.log)); v.unsent == 1 {
		time.AfterFunc(updateInterval, func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.sendLog()
		})
	}
}

// sendLog sends the lines of the log that wait; the view is locked.
func (v *View) sendLog() {
	if v.unsent > 0 && v.events.any() {
		v.events.broadcast(event("log", artifact.Object{member("lines", logLines(v.log[len(v.log)-v.unsent:]))}))
	}
	v.unsent = 0
}

// routes are those of the table. A path of the table answers other methods with 405.
func (v *View) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range table {
		mux.HandleFunc(r.pattern(), func(w http.ResponseWriter, q *http.Request) { r.answer(v, w, q) })
	}
	for _, r := range table {
		mux.HandleFunc(r.place(), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", r.allow())
			refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed: use "+r.allow())
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "Not Found") })
	return mux
}
