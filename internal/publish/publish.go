// Package publish is the seam between a run and those whom it tells how it goes: collectors of telemetry, pages that are
// scraped, trackers of experiments. Each has a room of its own below this one.
//
// A publisher never holds the load up and never decides how a run ends: what it cannot pass on in time it drops, counts
// and tells, and its failures are lines of the log.
package publish

import (
	"aiperf/internal/load"
	"aiperf/internal/record"
)

// Publisher hears of one run.
type Publisher interface {
	// Record takes each finished request of a warm-up and of profiling, from several goroutines at once. It returns at
	// once and changes nothing of the record.
	Record(*record.Record)
	// Finish is called once there are no more records. It passes on what is left, within a bound of its own, and ends
	// the publisher.
	Finish()
	// Close ends the publisher of a run without results at once; after Finish it does nothing.
	Close()
}

// Source is what a publisher may ask of a run, at any time and from any goroutine.
type Source struct {
	// Phases are the numbers of the phases that have begun, the running one last.
	Phases func() []load.Stats
	// NowNS is the run's clock, by which the phases tell their instants.
	NowNS func() int64
}
