package run

import (
	"context"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/remote"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/trust"
	"aiperf/internal/workload/dataset"
)

// Options are what a run needs besides its configuration.
type Options struct {
	// Version stands in the User-Agent and in every export.
	Version string
	// Log takes the run's lines; Execute opens its file in the artifact directory.
	Log *runlog.Log
	// Info places the run in its series; a run without a label stands alone.
	Info summary.RunInfo
	// Ready is called once everything is prepared and the first request is about to be sent; nil for none.
	Ready func()
	// Observers follow the run: views and publishers.
	Observers []progress.Observer
	// LogInterval is the time between two blocks of figures in the log, 0 is for none; nil is that of the
	// configuration.
	LogInterval *time.Duration
	// Stop asks the run to end with the results so far: the first Ctrl-C. nil never asks.
	Stop <-chan struct{}
	// Ends end phases before their stop conditions are met; nil ends none.
	Ends <-chan End
	// ServerStart is how long the server took to be ready where it was started for the run, nil else.
	ServerStart *time.Duration
	// Tokenizers are shared by the runs of a series; nil where a run stands alone.
	Tokenizers *Tokenizers
	// Problems are those of an accuracy benchmark, shared likewise.
	Problems *Problems
	// Capacity is what this machine was measured to carry; a run that asks for more is told so. nil = not known.
	Capacity *trust.Capacity
	// ID is the id of the benchmark; empty for a new one. The shares of a run have that of the run.
	ID string
	// Clock is the clock of the run; nil for a new one. All its wall times are those of the clock.
	Clock *clock.Clock
	// Share is the part of the run that is made here; the zero value is the whole of it. The configuration is that of
	// the whole run, and has a random seed. A share does nothing but send and record: it asks nothing else of servers
	// but the inputs of their models where requests take their form from them, collects no metrics of them, calls no
	// exporters, and an error rate ends it only with the whole run.
	Share load.Share
	// Join is called before each phase but the first, once the phase before is complete here, or has sent its last
	// credit if this one is seamless. It gets what this share has used so far and returns the [load.Used.Max] of all
	// shares, which it has to wait for. A share of a run with several phases needs it.
	Join func(ctx context.Context, phase int, used load.Used) (load.Used, error)
	// Begin is called before each phase once everything is ready for its first request. The phase starts at the instant
	// that it returns, or at once if that is past; the arrivals are due from that instant on either way. nil starts at
	// once. An error ends the run.
	Begin func(ctx context.Context, phase int) (time.Time, error)
	// Records takes each record once the run is done with it, from several goroutines at once; nil for none. Those of
	// requests that were cut off come only where raw exchanges are exported (Raw.CutOff). A record of a remote share is
	// valid during the call.
	Records func(*record.Record)
	// Sent is called before each request leaves, with its phase, from one goroutine at a time; nil for none. It is on
	// the way of each request and must not wait.
	Sent func(phase int)
	// Phases takes the numbers of each phase, at each change of its state and some times a second meanwhile, from one
	// goroutine at a time; nil for none. Their instants are nanoseconds since the Unix epoch. The last ones come before
	// Execute returns.
	Phases func(load.Stats)
	// Content is what requests say where it is ready; nil has it built.
	Content *Content
	// WithoutFiles is for a share whose files nobody reads: it writes none, whatever the configuration asks for, and
	// its outcome has the verdict on the client, but no results.
	WithoutFiles bool
	// Remote makes the load elsewhere; nil makes it here.
	Remote remote.Shares
}

// isShare reports whether the run is a share of another one, which may have no further share.
func (o *Options) isShare() bool { return o.Share.Of > 0 }

// Outcome is what a run yielded.
type Outcome struct {
	Result summary.Result
	// Console are the options of the final report, which the caller prints for its own terminal.
	Console console.Options
	// Problem joins what went wrong with local files; nil when all of them were written.
	Problem error
	// PluginProblem joins the failures of exporters and metrics of plug-ins where these are to fail the run; else nil.
	PluginProblem error
	// Hints are what to try against the errors of the run.
	Hints []hint.Hint
	// Aborted is the reason for which the run ended itself early; nil otherwise.
	Aborted error
	// Verdict reports whether the client itself may have distorted the figures.
	Verdict trust.Verdict
	// Client is the report from which the verdict comes.
	Client *trust.Report
	// Phases are the load generator's numbers.
	Phases []load.Stats
}

// Failed reports that the run ended itself early, that files could not be written, that a plug-in failed that must not,
// or that all requests failed.
func (o *Outcome) Failed() bool {
	return o.Aborted != nil || o.Problem != nil || o.PluginProblem != nil || o.Result.Counts.AllFailed()
}

// NoResultsError reports that a run ended without a single record.
type NoResultsError struct{ Reason string }

func (e *NoResultsError) Error() string {
	if e.Reason == "" {
		return "No profile results to export"
	}
	return "No profile results to export: " + e.Reason
}

// Part returns what a share says of itself, under a name.
func (o *Outcome) Part(name string) remote.Part {
	p := remote.Part{Name: name, Verdict: o.Verdict}
	if o.Client != nil {
		p.Reasons, p.Bounds = o.Client.Reasons, o.Client.Bounds
	}
	return p
}

// End asks for the end of a phase as if its stop condition was met: nothing more is sent, the replies in flight are
// awaited, and the run goes on with what follows. The run is not cancelled, and its summary says why it is shorter than
// it was asked to be.
type End struct {
	// Phase is the index of the phase among those of the configuration.
	Phase int
	// Grace bounds the wait for the requests in flight, within the bounds of the phase; 0 keeps these.
	Grace time.Duration
	// Reason says why, for people; Confidence is how certain that is, between 0 and 1.
	Reason     string
	Confidence float64
}

// Content is what the requests of a run say, ready to be sent, and what counts their tokens.
type Content struct {
	Data *dataset.Dataset
	// Tokenizers are those that are not built in.
	Tokenizers []PackedTokenizer
}

// PackedTokenizer is a tokenizer as one file, under the name that the configuration has.
type PackedTokenizer struct {
	Name string
	Data []byte
}

// Stocker is a [remote.Shares] that brings to the shares what they need: it is called before Start, with what was built
// once.
type Stocker interface {
	Stock(ctx context.Context, cfg *config.Run, id string, c *Content) error
}
