package mlflow

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/rest"
	"aiperf/internal/result/summary"
)

// Options say which run is tracked, and where.
type Options struct {
	// URI is the server's address; it may hold user information.
	URI         *url.URL
	Environment *Environment
	// Experiment is created where it does not exist; ParentRunID is that of a run that holds this one, "" = none.
	Experiment, RunName, ParentRunID string
	// User is who runs the benchmark.
	User string
	Tags []Entry
	// Params are known from the start.
	Params []Entry
	// Dir is the folder of the run; Globs say which of its files are uploaded; Export is the path of
	// mlflow_export.json.
	Dir    string
	Globs  []string
	Export string
	// Interval lies between two times that scalars are added while the load runs, Timeout bounds what comes after it.
	Interval, Timeout time.Duration

	BenchmarkID, Version string
	// Set are the metrics of the run.
	Set *metrics.Set
	Log *slog.Logger
	// Redact hides the run's secrets in foreign texts.
	Redact func(string) string
}

// Entry is a parameter or a tag.
type Entry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Ending is how a run ended.
type Ending struct {
	// Result is nil for a run without results.
	Result *summary.Result
	// Failed reports that it ended itself early or that all requests failed; Cancelled that it was stopped.
	Failed, Cancelled bool
	// Expected is the number of requests of profiling, 0 if it had no such limit.
	Expected int64
}

// Tracker tracks one run. Its methods but Wait return at once.
type Tracker struct {
	o      Options
	server *server
	live   *live
	start  time.Time

	ctx       context.Context
	cancel    context.CancelFunc
	finishing chan struct{}
	finish    sync.Once
	ending    Ending
	ended     chan struct{}

	tracked
}

// tracked is what the tracker's goroutine knows of the run on the server.
type tracked struct {
	run          runInfo
	experimentID string
	parent       string
	// created reports that there is a run; off that there will be none, or none any more, which has been told.
	created, off bool
	// streamed reports that scalars arrived while the load ran; failing that the last time none did.
	streamed, failing bool
	// backlog are scalars that did not arrive yet.
	backlog []point
}

// maxBacklog is how many scalars are kept for a server that fails.
const maxBacklog = 20_000

// New begins to track a run whose load is about to begin.
func New(o Options) *Tracker {
	t := &Tracker{
		o: o, server: newServer(o.URI, o.Environment, o.Version, o.Redact), live: newLive(o.Set), start: time.Now(),
		finishing: make(chan struct{}), ended: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.track()
	return t
}

// Record takes a finished request, from several goroutines at once.
func (t *Tracker) Record(r *record.Record) { t.live.record(r) }

// Show takes the numbers of the load.
func (t *Tracker) Show(phases []load.Stats, nowNS int64) { t.live.show(phases, nowNS) }

// Finish begins the upload; the run's files are written by now. A second call does nothing.
func (t *Tracker) Finish(e Ending) {
	t.finish.Do(func() {
		t.ending = e
		time.AfterFunc(t.o.Timeout, t.cancel)
		close(t.finishing)
	})
}

// Wait waits for the end of the upload, or gives it up when stop is closed meanwhile. It comes after Finish.
func (t *Tracker) Wait(stop <-chan struct{}) {
	select {
	case <-stop: // the run was asked to stop, not the upload
		stop = nil
	default:
	}
	select {
	case <-t.ended:
	case <-stop:
		t.cancel()
		<-t.ended
	}
}

// track is the tracker's goroutine.
func (t *Tracker) track() {
	defer close(t.ended)
	defer t.cancel()
	ticker := time.NewTicker(t.o.Interval)
	defer ticker.Stop()
	t.begin()
	for pause := 0; ; {
		select {
		case <-t.finishing:
			t.upload()
			return
		case <-ticker.C:
			if t.isFinishing() {
				continue
			}
			if pause > 0 {
				pause--
				continue
			}
			if t.tick(); t.failing {
				pause = 4 // a server that fails is asked less often
			}
		}
	}
}

// begin creates the run on the server. A server that may answer later is asked again.
func (t *Tracker) begin() *rest.Problem {
	p := t.create()
	switch {
	case p == nil:
		t.o.Log.Info(fmt.Sprintf("MLflow: tracking the run %s at %s", t.run.Name, t.page()))
	case t.isFinishing():
	case p.Later():
		if !t.failing {
			t.o.Log.Info(fmt.Sprintf("MLflow: %s %s; it is tried again", t.server.base, p.Text))
		}
		t.failing = true
	default:
		t.give(p)
	}
	return p
}

// give reports that there will be nothing more on the server.
func (t *Tracker) give(p *rest.Problem) {
	t.off = true
	t.o.Log.Warn(fmt.Sprintf("MLflow: %s %s; nothing is uploaded in this run", t.server.base, p.Text))
}

// create finds the experiment and the parent and creates the run.
func (t *Tracker) create() *rest.Problem {
	var p *rest.Problem
	if t.experimentID, p = t.server.experiment(t.ctx, t.o.Experiment); p != nil {
		return p
	}
	if t.o.ParentRunID != "" {
		parent, p := t.server.run(t.ctx, t.o.ParentRunID)
		switch {
		case p != nil && p.Code != codeMissing:
			return p
		case p != nil || parent.Stage != "" && parent.Stage != active:
			t.o.Log.Warn(fmt.Sprintf("MLflow: %s has no run %s; the run is created without a parent "+
				"(--mlflow-parent-run-id)", t.server.base, t.o.ParentRunID))
			t.o.ParentRunID = ""
		default:
			t.parent = t.o.ParentRunID
		}
	}
	tags := []Entry{{"mlflow.user", t.o.User}, {"mlflow.source.name", "aiperf"},
		{"mlflow.source.type", "LOCAL"}, {"mlflow.runName", t.o.RunName}}
	if t.parent != "" {
		tags = append(tags, Entry{"mlflow.parentRunId", t.parent})
	}
	tags = slices.Concat(tags, t.o.Tags, t.identity())
	t.run, p = t.server.createRun(t.ctx, t.experimentID, t.o.User, t.o.RunName, t.start, unique(fit(tags, maxTagValue)))
	t.created = p == nil
	if t.run.Name == "" {
		t.run.Name = t.o.RunName
	}
	return p
}

// identity are the tags that tell what was measured by what.
func (t *Tracker) identity() []Entry {
	return []Entry{{"benchmark_id", t.o.BenchmarkID}, {"aiperf.version", t.o.Version}}
}

// unique leaves of each key the last entry.
func unique(list []Entry) []Entry {
	var out []Entry
next:
	for _, e := range list {
		for i := range out {
			if out[i].Key == e.Key {
				out[i] = e
				continue next
			}
		}
		out = append(out, e)
	}
	return out
}

// tick adds the scalars of the time since the last one.
func (t *Tracker) tick() {
	if t.off {
		return
	}
	t.gather()
	if !t.created && t.begin() != nil {
		return
	}
	t.stream()
}

func (t *Tracker) gather() {
	t.backlog = append(t.backlog, t.live.points(time.Now())...)
	if n := len(t.backlog) - maxBacklog; n > 0 {
		t.backlog = t.backlog[n:]
	}
}

// stream passes the scalars on that wait.
func (t *Tracker) stream() *rest.Problem {
	if len(t.backlog) == 0 {
		return nil
	}
	p := t.server.logBatch(t.ctx, t.run.ID, t.backlog, nil, nil)
	switch {
	case p == nil:
		t.backlog, t.streamed = nil, true
		if t.failing {
			t.failing = false
			t.o.Log.Info(fmt.Sprintf("MLflow: %s takes figures again", t.server.base))
		}
	case t.isFinishing():
	case p.Later():
		if !t.failing {
			t.failing = true
			t.o.Log.Info(fmt.Sprintf("MLflow: %s %s; it is tried again", t.server.base, p.Text))
		}
	default:
		t.refused(p)
	}
	return p
}

// refused reports a run that takes nothing any more.
func (t *Tracker) refused(p *rest.Problem) {
	if info, problem := t.server.run(t.ctx, t.run.ID); problem != nil && problem.Code == codeMissing ||
		problem == nil && info.Stage != "" && info.Stage != active {
		p = &rest.Problem{Text: "has the run " + t.run.ID + " no more: it was deleted there", Kind: rest.Refused}
	}
	t.give(p)
}

func (t *Tracker) isFinishing() bool {
	select {
	case <-t.finishing:
		return true
	default:
		return false
	}
}

// page is where the run is shown.
func (t *Tracker) page() string {
	return t.server.base + "/#/experiments/" + t.experimentID + "/runs/" + t.run.ID
}
