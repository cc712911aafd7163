package wandb

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
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

	parts parting // 0 = the official sizes
}

// Publisher uploads runs, one after the other. It implements [progress.Uploader].
type Publisher struct {
	o     Options
	bench *progress.Run
	start time.Time
	// cancel ends the upload that is under way, ended is closed after it; nil where there is none.
	// limit is closed when the upload must end.
	cancel context.CancelFunc
	ended  chan struct{}
	limit  <-chan struct{}
}

// New returns a publisher.
func New(o Options) *Publisher {
	if o.parts == (parting{}) {
		o.parts = official
	}
	return &Publisher{o: o}
}

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
	p.limit = ctx.Done()
	ended := make(chan struct{})
	p.ended = ended
	log, options, bench, start := p.bench.Log("wandb"), p.o, p.bench, p.start
	go func() {
		defer close(ended)
		defer func() {
			if fault := recover(); fault != nil {
				log.Warn("Weights & Biases: the upload failed by an error of this program; the local files are complete: " +
					upload.OneLine(fmt.Sprint(fault)))
				log.Debug(string(debug.Stack()))
			}
		}()
		newUpload(options, bench, e, start, log).upload(ctx)
	}()
}

// grace is the time that an upload has to end once it was told to.
const grace = 5 * time.Second

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
		return
	case <-stop:
		p.cancel()
	case <-p.limit:
	}
	select {
	case <-p.ended:
	case <-time.After(grace):
		// Nothing but a file system that hangs can hold it up. It is left alone: the program ends without it.
		p.bench.Log("wandb").Warn("Weights & Biases: the upload does not end; it was abandoned")
	}
}
