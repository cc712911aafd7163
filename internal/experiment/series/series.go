// Package series makes several runs of one benchmark and aggregates their results: repeats with confidence intervals,
// ended early when a metric is stable.
//
// Vocabulary: a [Plan] returns one [Step] after the other and gets the results of the earlier ones; [Execute] makes a
// [Run] of each step; a [Row] aggregates one statistic of one metric over all runs.
//
// Invariants: a failed run never ends the experiment, and only successful, complete runs are aggregated. The package
// never knows how a run works: the caller gives the function that makes one.
package series

import (
	"cmp"
	"context"
	"runtime/debug"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
)

// Plan decides which runs are made.
type Plan interface {
	// Next returns the run after those that are done; false when there is none. It is called once after each run.
	Next(done []Run) (Step, bool)
}

// Step is a planned run.
type Step struct {
	Config *config.Run
	// Info identifies the run within the experiment; its label is the run's name.
	Info summary.RunInfo
	// Pause is the wait before the run.
	Pause time.Duration
}

// Finished is how the process of a single benchmark would have ended.
type Finished struct {
	// Outcome is nil when the run had no results.
	Outcome *run.Outcome
	// Code is the exit status, Err the error when it is not 0.
	Code int
	Err  error
}

// Options configure an experiment.
type Options struct {
	// Execute makes a run and reports it to the user.
	Execute func(context.Context, *Step) Finished
	// Stop, when closed, ends the experiment: no further run begins. Execute must stop its run itself. nil never stops.
	Stop <-chan struct{}
	// Restore returns the result of a run that is complete from an earlier start; its error ends the experiment. nil
	// makes every run.
	Restore func(*Step) (r Run, done bool, err error)
	// Progress is called before each run; it may be nil.
	Progress func(number int, step *Step)
	// Failed is called with each run that does not count; it may be nil.
	Failed func(*Run)
	// Done is called with all runs so far after each of them; it may be nil.
	Done func([]Run)
	// Course tells observers where the series stands; nil tells nobody.
	Course *Course
}

// Execute makes the runs of a plan, one after the other. It reports whether the experiment was stopped before the end
// of its plan. The error is that of Restore.
func Execute(ctx context.Context, plan Plan, o Options) (runs []Run, stopped bool, err error) {
	o.Course.begin(plan)
	id := run.NewID()
	for {
		step, more := plan.Next(runs)
		if !more {
			o.Course.over()
			return runs, false, nil
		}
		step.Info.SweepID = id
		if o.Restore != nil {
			r, done, err := o.Restore(&step)
			if err != nil {
				return runs, false, err
			}
			if done {
				id = cmp.Or(r.Info.SweepID, id)
				runs = append(runs, r)
				o.Course.done(&step, &r, true)
				o.done(runs)
				continue
			}
		}
		if len(runs) > 0 {
			debug.FreeOSMemory() // the garbage of the last run is not collected during the next one
		}
		if !wait(ctx, step.Pause, o.Stop) {
			return runs, true, nil
		}
		if o.Progress != nil {
			o.Progress(len(runs)+1, &step)
		}
		o.Course.run(&step)
		r := judged(&step, o.Execute(ctx, &step), o.Stop)
		runs = append(runs, r)
		o.Course.done(&step, &r, false)
		if !r.Succeeded() && o.Failed != nil {
			o.Failed(&r)
		}
		if r.Cancelled {
			return runs, true, nil
		}
		o.done(runs)
	}
}

func (o *Options) done(runs []Run) {
	if o.Done != nil {
		o.Done(runs)
	}
}

// wait waits and reports whether the experiment continues.
func wait(ctx context.Context, pause time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-stop:
		return false
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	select { // both may have been ready
	case <-stop:
		return false
	default:
		return ctx.Err() == nil
	}
}

// Successes returns the runs that count.
func Successes(runs []Run) []Run {
	var list []Run
	for _, r := range runs {
		if r.Succeeded() {
			list = append(list, r)
		}
	}
	return list
}
