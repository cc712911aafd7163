// Package run wires one benchmark together: it is the only place where the rooms meet. Execute builds
// the content, lets load decide and the client send, turns exchanges into records, records into
// results and results into files, and ends everything within bounds.
//
// Execute keeps no package state: it may be called many times in one process. Views and publishers are observers that
// get snapshots and cannot delay the run.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
)

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
		e.folder.unused = true
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
		e.dispatcher.Close()
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
	e.folder.close()
}

// drain waits until the finished requests have become records, or these stall.
func (e *execution) drain(phases []load.Stats) {
	limit := e.cfg.Env.Record.ProcessRecordsTimeout
	if cancelled(phases) {
		limit = e.cfg.Env.Service.ProfileCancelTimeout
	}
	if e.dispatcher != nil {
		e.dispatcher.Close()
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
