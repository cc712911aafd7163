package run

import (
	"sync"

	"aiperf/internal/publish"
	"aiperf/internal/record"
)

// publishers are those who are told of the run while it goes on.
type publishers []publish.Publisher

// newPublishers starts those that the configuration asks for. Only a setting that is wrong is an error.
func (e *execution) newPublishers() (publishers, error) {
	return nil, nil
}

// source is what publishers may ask of this run.
func (e *execution) source() publish.Source {
	return publish.Source{Phases: e.engine.Snapshot, NowNS: e.clock.NowNS}
}

func (p publishers) record(r *record.Record) {
	for _, one := range p {
		one.Record(r)
	}
}

// finish lets all of them pass on what they have, at the same time; the returned function waits for them.
func (p publishers) finish() (wait func()) {
	var finishing sync.WaitGroup
	for _, one := range p {
		finishing.Go(one.Finish)
	}
	return finishing.Wait
}

func (p publishers) close() {
	for _, one := range p {
		one.Close()
	}
}
