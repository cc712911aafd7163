package otlp

import (
	"fmt"

	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

// Publisher streams runs to a collector, one after the other. It implements [progress.RecordObserver] and
// [progress.Flusher].
type Publisher struct {
	o Options
	// stream is that of the run under way; nil where none could be started.
	stream *stream
}

// New returns a publisher.
func New(o Options) *Publisher { return &Publisher{o: o} }

// Begin implements progress.Observer.
func (p *Publisher) Begin(run *progress.Run) progress.Needs {
	var err error
	if p.stream, err = newStream(p.o, run); err != nil {
		run.Log("otel").Warn(fmt.Sprintf("--otel-url %v; nothing is streamed in this run", err))
	}
	return progress.Needs{}
}

// Record implements progress.RecordObserver.
func (p *Publisher) Record(r *record.Record) {
	if p.stream != nil {
		p.stream.record(r)
	}
}

// Show implements progress.Observer.
func (p *Publisher) Show(s *progress.Snapshot) {
	if p.stream != nil {
		p.stream.newest.Store(s)
	}
}

// Flush implements progress.Flusher.
func (p *Publisher) Flush(s *progress.Snapshot) {
	p.Show(s)
	if p.stream != nil {
		p.stream.flush()
	}
}

// End implements progress.Observer.
func (p *Publisher) End(*progress.Ending) {
	if p.stream != nil {
		p.stream.close()
	}
}
