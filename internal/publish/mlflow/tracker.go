package mlflow

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
)

// Options configures where runs are tracked, and how.
type Options struct {
	// URI is the server's address; it may hold user information.
	URI         *url.URL
	Environment *Environment
	// Experiment is created where it does not exist; ParentRunID is that of a run that holds this one, "" = none.
	Experiment, ParentRunID string
	// RunName is the user's own name of a run, which the runs of a series share; "" where there is none.
	RunName string
	// User is the value of mlflow.user.
	User string
	Tags []Entry
	// Globs say which files of a run's folder are uploaded; Export is the name of mlflow_export.json in it.
	Globs  []string
	Export string
	// Interval is the time between two batches of scalars while the load runs, Timeout bounds the upload after it.
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

// tracked is the state of the run on the server. The tracker's goroutine uses it.
type tracked struct {
	run          runInfo
	experimentID string
	parent       string
	// created reports that the run exists on the server; off that there will be nothing more of it there.
	created, off bool
	// streamed reports that scalars arrived while the load ran; failing that the last attempt failed.
	streamed, failing bool
	// backlog holds scalars that did not arrive yet.
	backlog []point
}

// maxBacklog is the number of scalars that are kept for a server that fails.
const maxBacklog = 20_000

// newTracker starts to track a run before its first request.
func newTracker(o Options, bench *progress.Run) *tracker {
	t := &tracker{
		o: o, bench: bench, log: bench.Log("mlflow"), name: bench.UploadName(o.RunName), start: time.Now(),
		server: newServer(o.URI, o.Environment, bench.Version, o.Redactor.Text), live: newLive(bench.Metrics),
		finishing: make(chan struct{}), ended: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.track()
	return t
}

// end starts the upload. The run's files must be written.
func (t *tracker) end(e *progress.Ending) {
	t.live.show(e.Last.Phases, e.Last.Accuracy)
	t.ending = e
	time.AfterFunc(t.o.Timeout, t.cancel)
	close(t.finishing)
}

// wait waits for the end of the upload, or cancels it when stop is closed meanwhile. It must follow end.
func (t *tracker) wait(stop <-chan struct{}) {
	select {
	case <-stop: // it stopped the run, not the upload
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
				pause = 4 // fewer requests to a server that fails
			}
		}
	}
}

// begin creates the run on the server. It is repeated for a server that may answer later.
func (t *tracker) begin() *upload.Problem {
	p := t.create()
	switch {
	case p == nil:
		t.log.Info(fmt.Sprintf("MLflow: tracking the run %s at %s", t.run.Name, t.page()))
	case t.isFinishing():
	case p.Later():
		if !t.failing {
			t.log.Info(fmt.Sprintf("MLflow: %s %s; retrying", t.server.base, p.Text))
		}
		t.failing = true
	default:
		t.giveUp(p)
	}
	return p
}

// giveUp ends the tracking of the run.
func (t *tracker) giveUp(p *upload.Problem) {
	t.off = true
	t.log.Warn(fmt.Sprintf("MLflow: %s %s; nothing is uploaded in this run", t.server.base, p.Text))
}

// create finds the experiment and the parent and creates the run.
func (t *tracker) create() *upload.Problem {
	var p *upload.Problem
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

// identity returns the tags of the benchmark and of this program.
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

// unique keeps the last entry of each key.
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

// tick sends the scalars since the last one.
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

// stream sends the scalars of the backlog.
func (t *tracker) stream() *upload.Problem {
	if len(t.backlog) == 0 {
		return nil
	}
	p := t.server.logBatch(t.ctx, t.run.ID, t.backlog, nil, nil)
	switch {
	case p == nil:
		t.backlog, t.streamed = nil, true
		if t.failing {
			t.failing = false
			t.log.Info(fmt.Sprintf("MLflow: %s accepts metrics again", t.server.base))
		}
	case t.isFinishing():
	case p.Later():
		if !t.failing {
			t.failing = true
			t.log.Info(fmt.Sprintf("MLflow: %s %s; retrying", t.server.base, p.Text))
		}
	default:
		t.refused(p)
	}
	return p
}

// refused ends the tracking of a run that the server does not accept any more.
func (t *tracker) refused(p *upload.Problem) {
	if info, problem := t.server.run(t.ctx, t.run.ID); problem != nil && problem.Code == codeMissing ||
		problem == nil && info.Stage != "" && info.Stage != active {
		p = &upload.Problem{Text: "no longer has the run " + t.run.ID + ": it was deleted", Kind: upload.Refused}
	}
	t.giveUp(p)
}

func (t *tracker) isFinishing() bool {
	select {
	case <-t.finishing:
		return true
	default:
		return false
	}
}

// page returns the address of the run's page.
func (t *tracker) page() string {
	return t.server.base + "/#/experiments/" + t.experimentID + "/runs/" + t.run.ID
}
