package run

import (
	"context"
	"time"

	"aiperf/internal/load"
)

// generator makes the load of a run: load's engine here, or a [remote.Load] elsewhere.
type generator interface {
	Run(ctx context.Context) (load.Result, error)
	Stop()
	Abort(reason error)
	EndPhase(phase int, grace time.Duration)
	Snapshot() []load.Stats
	Searches() []load.AdaptiveResult
}

// recordMaker makes records of finished requests, or gets them made.
type recordMaker interface {
	// Progress returns how many finished requests have no record yet, and how many have.
	Progress() (waiting, done int64)
	// Close waits for the records that are missing until ctx is done.
	Close(ctx context.Context) error
}

// engine is the load generator. The parts of a run know it before it is made: their gates are part of it.
type engine struct{ generator }
