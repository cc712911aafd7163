package mlflow

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/rest"
)

// Options say where runs are tracked, and how.
type Options struct {
	// URI is the server's address; it may hold user information.
	URI         *url.URL
	Environment *Environment
	// Experiment is created where it does not exist; ParentRunID is that of a run that holds this one, "" = none.
	Experiment, ParentRunID string
	// RunName is the user's own name of a run, which the runs of a series share; "" where there is none.
	RunName string
	// User is who runs the benchmark.
	User string
	Tags []Entry
	// Globs say which files of a run's folder are uploaded; Export is the name of mlflow_export.json in it.
	Globs  []string
	Export string
	// Interval lies between two times that scalars are added while the load runs, Timeout bounds what comes after it.
	Interval, Timeout time.Duration
	// Redactor hides the secrets of the configuration.
	Redactor *artifact.Redactor
}

// Entry is a parameter or a tag.
type Entry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// tracker tracks one run. Its methods but wait return at once.
type tracker struct {
	o      Options
	bench  *progress.Run
	log    *slog.Logger
	name   string
	server *server
	live   *live
	start  time.Time

	ctx       context.Context
	cancel    context.CancelFunc
	finishing chan struct{}
	ending    *progress.Ending
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

// newTracker begins to track a run whose load is about to begin.
func newTracker(o Options, bench *progress.Run) *tracker {
	t := &tracker{
		o: o, bench: bench, log: bench.Log("mlflow"), name: runName(o.RunName, bench), start: time.Now(),
		server: newServer(o.URI, o.Environment, bench.Version, o.Redactor.Text), live: newLive(bench.Metrics),
		finishing: make(chan struct{}), ended: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.track()
	return t
}

// shortID is how much of a benchmark's id stands in names.
const shortID = 8

// runName is the name of a run on the server: the user's own, which the runs of a series share and are told apart by
// their labels.
func runName(own string, bench *progress.Run) string {
	if own != "" && bench.Label != "" {
		return own + "-" + bench.Label
	}
	return cmp.Or(own, "aiperf-"+bench.BenchmarkID[:min(shortID, len(bench.BenchmarkID))])
}

// end begins the upload; the run's files are written by now.
func (t *tracker) end(e *progress.Ending) {
	t.live.show(e.Last.Phases)
	t.ending = e
	time.AfterFunc(t.o.Timeout, t.cancel)
	close(t.finishing)
}

// wait waits for the end of the upload, or gives it up when stop is closed meanwhile. It comes after end.
func (t *tracker) wait(stop <-chan struct{}) {
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
func (t *tracker) track() {
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
func (t *tracker) begin() *rest.Problem {
	p := t.create()
	switch {
	case p == nil:
		t.log.Info(fmt.Sprintf("MLflow: tracking the run %s at %s", t.run.Name, t.page()))
	case t.isFinishing():
	case p.Later():
		if !t.failing {
			t.log.Info(fmt.Sprintf("MLflow: %s %s; it is tried again", t.server.base, p.Text))
		}
		t.failing = true
	default:
		t.give(p)
	}
	return p
}

// give reports that there will be nothing more on the server.
func (t *tracker) give(p *rest.Problem) {
	t.off = true
	t.log.Warn(fmt.Sprintf("MLflow: %s %s; nothing is uploaded in this run", t.server.base, p.Text))
}

// create finds the experiment and the parent and creates the run.
func (t *tracker) create() *rest.Problem {
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
			t.log.Warn(fmt.Sprintf("MLflow: %s has no run %s; the run is created without a parent "+
				"(--mlflow-parent-run-id)", t.server.base, t.o.ParentRunID))
			t.o.ParentRunID = ""
		default:
			t.parent = t.o.ParentRunID
		}
	}
	tags := []Entry{{"mlflow.user", t.o.User}, {"mlflow.source.name", "aiperf"},
		{"mlflow.source.type", "LOCAL"}, {"mlflow.runName", t.name}}
	if t.parent != "" {
		tags = append(tags, Entry{"mlflow.parentRunId", t.parent})
	}
	tags = slices.Concat(tags, t.tags(), t.identity())
	t.run, p = t.server.createRun(t.ctx, t.experimentID, t.o.User, t.name, t.start, unique(fit(tags, maxTagValue)))
	t.created = p == nil
	if t.run.Name == "" {
		t.run.Name = t.name
	}
	return p
}

// identity are the tags that tell what was measured by what.
func (t *tracker) identity() []Entry {
	return []Entry{{"benchmark_id", t.bench.BenchmarkID}, {"aiperf.version", t.bench.Version}}
}

// tags are the user's own and the label of the run in its series.
func (t *tracker) tags() []Entry {
	if t.bench.Label == "" {
		return t.o.Tags
	}
	return append(slices.Clip(t.o.Tags), Entry{"aiperf.run_label", t.bench.Label})
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
func (t *tracker) tick() {
	if t.off {
		return
	}
	t.gather()
	if !t.created && t.begin() != nil {
		return
	}
	t.stream()
}

func (t *tracker) gather() {
	t.backlog = append(t.backlog, t.live.points(time.Now())...)
	if n := len(t.backlog) - maxBacklog; n > 0 {
		t.backlog = t.backlog[n:]
	}
}

// stream passes the scalars on that wait.
func (t *tracker) stream() *rest.Problem {
	if len(t.backlog) == 0 {
		return nil
	}
	p := t.server.logBatch(t.ctx, t.run.ID, t.backlog, nil, nil)
	switch {
	case p == nil:
		t.backlog, t.streamed = nil, true
		if t.failing {
			t.failing = false
			t.log.Info(fmt.Sprintf("MLflow: %s takes figures again", t.server.base))
		}
	case t.isFinishing():
	case p.Later():
		if !t.failing {
			t.failing = true
			t.log.Info(fmt.Sprintf("MLflow: %s %s; it is tried again", t.server.base, p.Text))
		}
	default:
		t.refused(p)
	}
	return p
}

// refused reports a run that takes nothing any more.
func (t *tracker) refused(p *rest.Problem) {
	if info, problem := t.server.run(t.ctx, t.run.ID); problem != nil && problem.Code == codeMissing ||
		problem == nil && info.Stage != "" && info.Stage != active {
		p = &rest.Problem{Text: "has the run " + t.run.ID + " no more: it was deleted there", Kind: rest.Refused}
	}
	t.give(p)
}

func (t *tracker) isFinishing() bool {
	select {
	case <-t.finishing:
		return true
	default:
		return false
	}
}

// page is where the run is shown.
func (t *tracker) page() string {
	return t.server.base + "/#/experiments/" + t.experimentID + "/runs/" + t.run.ID
}
