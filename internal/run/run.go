// Package run wires one benchmark together: it is the only place where the rooms meet. Execute builds
// the content, lets load decide and the client send, turns exchanges into records, records into
// results and results into files, and ends everything within bounds.
//
// Execute keeps no package state: it may be called many times in one process. Views and publishers are observers that
// get snapshots and cannot delay the run.
package run

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/summary"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/intake"
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
	// LogInterval is the time between two blocks of figures in the log, 0 is for none; nil is that of the configuration.
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
	// but the inputs of their models where requests take their form from them, collects no metrics of them, calls no exporters, and an error rate ends it only with the whole run.
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
	// requests that were cut off come only where raw exchanges are exported (Raw.CutOff). A record of a Remote is valid
	// during the call.
	Records func(*record.Record)
	// Sent is called before each request leaves, with its phase, from one goroutine at a time; nil for none. It is on the
	// way of each request and must not wait.
	Sent func(phase int)
	// Phases takes the numbers of each phase, at each change of its state and some times a second meanwhile, from one
	// goroutine at a time; nil for none. Their instants are nanoseconds since the Unix epoch. The last ones come before
	// Execute returns.
	Phases func(load.Stats)
	// Content is what requests say where it is ready; nil has it built.
	Content *Content
	// WithoutFiles is for a share whose files nobody reads: it writes none, whatever the configuration asks for, and its
	// outcome has the verdict on the client, but no results.
	WithoutFiles bool
	// Remote makes the load elsewhere; nil makes it here.
	Remote Remote
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

// Execute runs one benchmark. Its error means that there is no outcome: the run could not start or
// yielded no record.
func Execute(ctx context.Context, cfg *config.Run, o Options) (*Outcome, error) {
	c := o.Clock
	if c == nil {
		c = clock.New()
	}
	return executeBy(ctx, cfg, o, c)
}

// executeBy runs a benchmark by a clock.
func executeBy(ctx context.Context, cfg *config.Run, o Options, c *clock.Clock) (*Outcome, error) {
	if o.Remote != nil || o.isShare() {
		if err := CheckShares(cfg); err != nil {
			return nil, err
		}
	}
	e := newExecution(newBase(cfg, o, c))
	defer e.close()
	if err := untilStopped(ctx, e.options.Stop, e.prepare); err != nil {
		return nil, err
	}
	if e.options.Ready != nil {
		e.options.Ready()
	}
	e.followers.begin()
	defer e.followers.end(nil) // unless it has ended with an outcome
	phases, err := e.generate(ctx)
	if err != nil {
		return nil, err
	}
	out, err := e.finish(phases)
	e.followers.end(out)
	return out, err
}

// base is what all parts of a run know.
type base struct {
	cfg      *config.Run
	options  Options
	log      *slog.Logger
	clock    *clock.Clock
	id       string
	redactor *artifact.Redactor
}

func newBase(cfg *config.Run, o Options, c *clock.Clock) *base {
	if o.ID == "" {
		o.ID = NewID()
	}
	return &base{
		cfg: cfg, options: o, log: o.Log.Logger("run"), clock: c, id: o.ID, redactor: cfg.Redactor(),
	}
}

// NewID returns a random identifier (UUID, version 4) for a run or for several that belong together.
func NewID() string {
	var b [16]byte
	crand.Read(b[:]) // never fails: crypto/rand ends the program if the system has no entropy
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// engine is the load generator. The parts of a run know it before it is made: their gates are part of it.
type engine struct{ generator }

// execution is one run on its way: it connects its parts, has load run, and ends them.
type execution struct {
	*base
	target  *target
	content *content
	records *recorder
	ending  ending
	// parts are all that goes on alongside the load.
	parts  parts
	folder folder
	// origin is the provenance of the results.
	origin artifact.Object

	client transport
	intake *intake.Intake
	pool   recordMaker
	engine *engine
	// dispatcher is nil where the load is made elsewhere, remote where it is made here.
	dispatcher *dispatcher
	remote     *remoteLoad
	// reach is nil when the run goes on whether or not its servers can be reached.
	reach *reachability
	// prompts counts how often prompts were sent.
	prompts promptTally

	// servers is nil when no server metrics are collected, gpus when no GPU telemetry is.
	servers *serverWatch
	gpus    *gpuWatch
	// marks are what was known at the ends of phases.
	marks phaseMarks
	// searches is nil when no phase searches its load.
	searches *searches
	// grading is nil when no answers are graded.
	grading *grading
	health  *clientHealth
	// stall is the watch over the making of records.
	stall *recordWatch
	early earlyEnds
	// network is nil in a share, which does not ask for the round trip.
	network   *networkWatch
	followers followers
	// news is the part through which they hear of finished requests.
	news news
	// page is nil where no HTML report is written.
	page *pageData
	// reporting keeps the numbers of phases in order that Options.Phases gets.
	reporting sync.Mutex
}

func newExecution(b *base) *execution {
	t := &target{base: b}
	e := &execution{base: b, target: t, content: &content{target: t}, folder: folder{base: b}, engine: &engine{}}
	e.early.base, e.early.engine, e.ending.engine = b, e.engine, e.engine
	e.followers.execution = e
	e.records = &recorder{base: b, ending: &e.ending, parts: &e.parts}
	return e
}

// generate lets the load run from the first phase to the last.
func (e *execution) generate(ctx context.Context) ([]load.Stats, error) {
	done := make(chan struct{})
	e.stall = newRecordWatch(e.base, e.pool, e.ending.abort)
	e.parts = append(e.parts, e.stall)
	state := &outcome{execution: e}
	watched, kept := e.watch(done), state.keep(done)
	result, err := e.engine.Run(ctx)
	e.report()
	close(done)
	e.followers.settle()
	<-watched
	<-kept
	if errors.Is(err, load.ErrChildFailed) {
		e.ending.childFailed = fmt.Errorf("the run ended early: %w, and AIPERF_DAG_FAIL_FAST is set", err)
		return result.Phases, nil
	}
	if errors.Is(err, load.ErrLaneWarmup) {
		return nil, fmt.Errorf("%w: without it the server's cache is not what the recording had, so nothing was "+
			"measured; -v logs the failed request", err)
	}
	if err != nil && e.ending.lacking() == nil {
		return nil, err
	}
	return result.Phases, nil
}

// close releases what a run that could not finish may have left.
func (e *execution) close() {
	if e.dispatcher != nil {
		e.dispatcher.close()
	}
	if e.pool != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		e.pool.Close(ctx)
		cancel()
	}
	for _, w := range e.parts {
		w.close()
	}
	e.target.close()
	if e.client != nil {
		e.client.Close()
	}
	for _, s := range e.records.sinks {
		s.Close()
	}
	e.folder.lock.Release()
}

// drain waits until the finished requests have become records, or these stall.
func (e *execution) drain(phases []load.Stats) {
	limit := e.cfg.Env.Record.ProcessRecordsTimeout
	if cancelled(phases) {
		limit = e.cfg.Env.Service.ProfileCancelTimeout
	}
	if e.dispatcher != nil {
		e.dispatcher.close()
	}
	ctx, cancel := context.WithTimeout(e.stall.going, limit)
	defer cancel()
	defer e.stall.end()
	if err := e.pool.Close(ctx); err != nil {
		e.records.sealed.Store(true)
		e.log.Warn("Some requests are missing from the results", "error", err)
		e.ending.unprocessed = err
	}
	wait, end := context.WithTimeout(context.Background(), e.gradingLimit(phases))
	defer end()
	e.grading.drain(wait)
}
