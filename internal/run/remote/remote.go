// Package remote makes the load of one run in several shares, usually in other processes, and puts together what they
// report: the states of phases, their numbers, the records.
package remote

import (
	"context"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/watch/trust"
)

// Shares make the load of a run elsewhere: each is a run of its own with a [load.Share], usually in another process.
// The run that has them sends nothing itself; everything else it does as always, with the records of the shares as if
// they were its own.
//
// All instants that pass through it are nanoseconds since the Unix epoch on the clock of the run that has the shares:
// whoever implements it converts theirs. The run calls one method at a time, but Stop and EndPhase.
type Shares interface {
	// Start makes the shares ready for the plan and returns their number. From then on, and until Close has returned,
	// the sink gets what they report.
	Start(ctx context.Context, plan load.Plan, sink Sink) (shares int, err error)
	// Begin lets a phase begin in all shares at the same instant, which it returns, as soon as all of them are ready
	// for it. It may return before that instant.
	Begin(ctx context.Context, phase int) (start time.Time, err error)
	// EndPhase has all shares end the sending of a phase as [load.Engine.EndPhase] does. It must not block.
	EndPhase(phase int, grace time.Duration)
	// Stop has all shares end early: nothing more is sent, what is in flight is cut off. It must not block. The reason
	// is nil if the user asked for it.
	Stop(reason error)
	// Close is called once all phases are complete and all records have come, or are not waited for any longer. It
	// ends the shares and returns what those that ended in order say of themselves.
	Close(ctx context.Context) []Part
}

// Sink takes what the shares of a run report, from any goroutine. Shares are numbered from 0. Of one share, what it
// reports of a phase comes in order.
type Sink interface {
	// Phase takes the numbers of a phase of a share: at each change of its state, and some times a second meanwhile.
	Phase(share int, s load.Stats)
	// Record takes a record of a share. It may block for a moment, as records are written to files. The record is valid
	// during the call, what it points to stays.
	Record(share int, r *record.Record)
	// Lost reports that nothing more will come of a share. Its requests in flight count as cut off; the run goes on
	// without it and is reported as incomplete. Records of what it sent before may still come, and the numbers of
	// phases that it has completed.
	Lost(share int, reason error)
	// Abort ends the run with the results so far, for a reason that its outcome names.
	Abort(reason error)
}

// Part is what a share of a run says of itself at its end: the judgement on its process as a client. The verdict on the
// run is the worst of those on its parts and on the run itself, with the findings that led to it.
type Part struct {
	// Name is how reports name the share.
	Name    string
	Verdict trust.Verdict
	Reasons []trust.Reason
	// Bounds are how far the process may have distorted the figures of its share.
	Bounds []trust.Bound
}
