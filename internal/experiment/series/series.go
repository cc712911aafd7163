// Package series makes several runs of one benchmark and says what they tell together: repeats with
// confidence intervals, ended early when a metric is stable.
//
// Its vocabulary: a Plan gives one Step after the other and sees what the earlier ones yielded; Execute makes
// a Run of each step; a Row is what all runs say of one statistic of one metric. The invariant: a failed run
// never ends the experiment, and only successful, complete runs are counted in it.
package series

import (
	"context"
	"runtime/debug"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
)

// Plan says which runs there are.
type Plan interface {
	// Next is the run after those that are done; false when there is none. It is asked once after each run.
	Next(done []Run) (Step, bool)
}

// Step is a run that is to be made.
type Step struct {
	Config *config.Run
	// Info places the run; its label names it.
	Info summary.RunInfo
	// Pause is the wait before the run.
	Pause time.Duration
}

// Finished is how the process of a single benchmark would have ended.
type Finished struct {
	// Outcome is nil when the run yielded nothing.
	Outcome *run.Outcome
	// Code is the exit status, Err what was said when it is not 0.
	Code int
	Err  error
}

// Options are what an experiment needs besides its plan.
type Options struct {
	// Execute makes a run and tells the user about it.
	Execute func(context.Context, *Step) Finished
	// Stop ends the experiment: no further run begins. The run under way has to hear it, too. nil never stops.
	Stop <-chan struct{}
	// Progress is told before each run but those that are not made; nil for nobody.
	Progress func(number int, step *Step)
	// Failed is told of each run that does not count; nil for nobody.
	Failed func(*Run)
}

// Execute makes the runs of a plan, one after the other. It reports whether the experiment was stopped before
// its plan was through.
func Execute(ctx context.Context, plan Plan, o Options) (runs []Run, stopped bool) {
	for {
		step, more := plan.Next(runs)
		if !more {
			return runs, false
		}
		if len(runs) > 0 {
			debug.FreeOSMemory() // what the last run left is not collected beside the next one's load
		}
		if !wait(ctx, step.Pause, o.Stop) {
			return runs, true
		}
		if o.Progress != nil {
			o.Progress(len(runs)+1, &step)
		}
		r := judge(&step, o.Execute(ctx, &step), o.Stop)
		runs = append(runs, r)
		if !r.Succeeded() && o.Failed != nil {
			o.Failed(&r)
		}
		if r.Cancelled {
			return runs, true
		}
	}
}

// wait reports whether the experiment goes on after a pause.
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

// Successes are the runs that count.
func Successes(runs []Run) []Run {
	var list []Run
	for _, r := range runs {
		if r.Succeeded() {
			list = append(list, r)
		}
	}
	return list
}
