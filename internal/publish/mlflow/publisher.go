package mlflow

import (
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

// Publisher tracks runs on a server, one after the other. It implements [progress.RecordObserver] and
// [progress.Uploader].
type Publisher struct {
	o Options
	// tracker is that of the run under way; nil before the first request of a run.
	tracker *tracker
}

// New returns a publisher.
func New(o Options) *Publisher { return &Publisher{o: o} }

// Begin implements progress.Observer.
func (p *Publisher) Begin(run *progress.Run) progress.Needs {
	p.tracker = newTracker(p.o, run)
	return progress.Needs{}
}

// Record implements progress.RecordObserver.
func (p *Publisher) Record(r *record.Record) { p.tracker.live.record(r) }

// Show implements progress.Observer.
func (p *Publisher) Show(s *progress.Snapshot) { p.tracker.live.show(s.Phases, s.Accuracy) }

// End implements progress.Observer.
func (p *Publisher) End(e *progress.Ending) { p.tracker.end(e) }

// Wait implements progress.Uploader. A run that failed before its first request has no upload.
func (p *Publisher) Wait(stop <-chan struct{}) {
	if p.tracker != nil {
		p.tracker.wait(stop)
		p.tracker = nil
	}
}
