package wandb

import (
	"context"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
)

// Options configures where runs are uploaded, and how.
type Options struct {
	Environment *Environment
	// Entity owns the project; "" = the default of the key.
	Project, Entity string
	// RunName is the user's own name of a run, which the runs of a series share; "" where there is none.
	RunName string
	Tags    []string
	// Groups are those of the metrics that are uploaded.
	Groups []metrics.Group
	// Globs say which files of a run's folder are uploaded; Without are names that are not.
	Globs, Without []string
	// Timeout bounds the upload of a run.
	Timeout time.Duration
	// Redactor hides the secrets of the configuration.
	Redactor *artifact.Redactor
}

// Publisher uploads runs, one after the other. It implements [progress.Uploader].
type Publisher struct {
	o     Options
	bench *progress.Run
	start time.Time
	// cancel ends the upload that is under way, ended is closed after it; nil where there is none.
	cancel context.CancelFunc
	ended  chan struct{}
}

// New returns a publisher.
func New(o Options) *Publisher { return &Publisher{o: o} }

// Begin implements progress.Observer.
func (p *Publisher) Begin(run *progress.Run) progress.Needs {
	p.bench, p.start = run, time.Now()
	return progress.Needs{}
}

// Show implements progress.Observer.
func (p *Publisher) Show(*progress.Snapshot) {}

// End implements progress.Observer. It starts the upload of a run that has results.
func (p *Publisher) End(e *progress.Ending) {
	if !e.HasResults {
		return
	}
	var ctx context.Context
	ctx, p.cancel = context.WithTimeout(context.Background(), p.o.Timeout)
	ended := make(chan struct{})
	p.ended = ended
	u := newUpload(p.o, p.bench, e, p.start)
	go func() {
		defer close(ended)
		u.upload(ctx)
	}()
}

// Wait implements progress.Uploader.
func (p *Publisher) Wait(stop <-chan struct{}) {
	if p.ended == nil {
		return
	}
	defer func() {
		p.cancel()
		p.ended = nil
	}()
	select {
	case <-stop: // it stopped the run, not the upload
		stop = nil
	default:
	}
	select {
	case <-p.ended:
	case <-stop:
		p.cancel()
		<-p.ended
	}
}
