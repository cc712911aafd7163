package cli

import (
	"context"
	"fmt"
	"log/slog"

	"aiperf/internal/config"
	"aiperf/internal/experiment/series"
	"aiperf/internal/run"
)

// sweep runs the cells of a sweep and reports what they say together.
func (a *app) sweep(e *experiment, base *config.Run, cells []series.Cell, options run.Options, view view,
	interrupts *interrupts) int {
	layout := series.Layout{Dir: base.Artifacts.Dir, Trials: base.Series.Runs, Independent: e.plan.Independent,
		Between: e.plan.Cooldown, Pause: base.Series.Cooldown}
	resume := e.base.Bool("resume")
	lock, err := series.PrepareCells(base.Artifacts)
	if err != nil {
		return a.fail(err)
	}
	defer lock.Release()
	if err := options.Log.OpenFile(base.Artifacts.Path(config.LogFile)); err != nil {
		return a.fail(fmt.Errorf("%w; choose another directory with --artifact-dir", err))
	}
	log := options.Log.Logger("sweep")
	plan := series.NewCells(cells, layout, log)
	options.Tokenizers = new(run.Tokenizers)
	runs, stopped, err := a.runAll(plan, runAll{total: plan.Total(), resume: resume}, options, view, interrupts, log)
	if err != nil {
		return a.fail(err)
	}
	good := len(series.Successes(runs))
	code := partial(base, runs)
	switch {
	case stopped:
		code = a.fail(fmt.Errorf("the sweep was cancelled: %d of %d runs are complete; the aggregate has only those", good,
			plan.Total()))
	case layout.Trials == 1 && good < len(runs), layout.Trials > 1 && good < 2:
		code = a.fail(fmt.Errorf("%d of %d runs succeeded; the files of each run are in %s", good, len(runs), layout.Dir))
	}
	return interrupts.exit(code)
}

// runAll says how the runs of a plan are made.
type runAll struct {
	// total is the number of runs, 0 if it is not known.
	total int
	// resume takes over what is complete from an earlier start.
	resume bool
	// done is called with all runs so far after each of them; it may be nil.
	done func([]series.Run)
}

// runAll makes the runs of a plan. The error is that of a run that cannot be taken over from an earlier start.
func (a *app) runAll(plan series.Plan, r runAll, options run.Options, view view, interrupts *interrupts,
	log *slog.Logger) (runs []series.Run, stopped bool, err error) {
	o := series.Options{
		Stop: interrupts.Stop, Done: r.done,
		Progress: func(number int, step *series.Step) {
			of := ""
			if r.total > 0 {
				of = fmt.Sprintf(" of %d", r.total)
			}
			writeLines(a.terminal.out, []string{"", fmt.Sprintf("Run %d%s: %s", number, of, step.Info.RunLabel)})
		},
		Execute: func(ctx context.Context, step *series.Step) series.Finished {
			own := options
			own.Info, own.Log = step.Info, newLog(a.terminal, step.Config, view)
			defer own.Log.Close()
			f := a.single(ctx, step.Config, own, view, interrupts)
			if f.Err == nil && interrupts.code.Load() != 0 {
				f.Code = ExitOK // a signal to the series makes no run that was complete by then a failure
			}
			return f
		},
		Failed: func(r *series.Run) { log.Error("The run does not count", "label", r.Info.RunLabel, "error", r.Err) },
	}
	if r.resume {
		o.Restore = func(step *series.Step) (series.Run, bool, error) {
			own, done, err := series.Restored(step)
			if done {
				log.Info("The run is complete from an earlier start", "label", step.Info.RunLabel)
			}
			return own, done, err
		}
	}
	return series.Execute(context.Background(), plan, o)
}

// partial is the exit code of an experiment of which some runs may have failed.
func partial(base *config.Run, runs []series.Run) int {
	if base.Asked.Bool("fail-on-partial") && len(series.Successes(runs)) < len(runs) {
		return ExitFailure
	}
	return ExitOK
}
