package benchmark

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/result/report/console"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
)

// runAll says how the runs of a plan are made.
type runAll struct {
	// total is the number of runs, 0 if it is not known.
	total int
	// resume takes over what is complete from an earlier start.
	resume bool
	// done is called with all runs so far after each of them; it may be nil.
	done func([]series.Run)
	// judges judge the runs while they go on; nil where none does.
	judges *capacity.Judges
	// course tells observers where the runs stand; nil tells nobody.
	course *series.Course
}

// runAll makes the runs of a plan. The error is that of a run that cannot be taken over from an earlier start.
func (b *bench) runAll(plan series.Plan, r runAll, options run.Options, log *slog.Logger) (
	runs []series.Run, stopped bool, err error) {
	judges := r.judges
	o := series.Options{
		Stop: b.interrupts.Stop, Done: r.done, Course: r.course,
		Progress: func(number int, step *series.Step) {
			of := ""
			if r.total > 0 {
				of = fmt.Sprintf(" of %d", r.total)
			}
			if !b.brief {
				command.WriteLines(b.Terminal.Out, []string{"", fmt.Sprintf("Run %d%s: %s", number, of, step.Info.RunLabel)})
			}
		},
		Execute: func(ctx context.Context, step *series.Step) series.Finished {
			own := options
			own.Info, own.Log = step.Info, newLog(b.Terminal, step.Config, b.view, b.brief)
			defer own.Log.Close()
			own.Log.Follow(options.Log.Follower())
			if r.judges != nil {
				r.judges.Observe(step, &own)
			}
			f := b.runOne(ctx, step.Config, own)
			if r.judges != nil {
				r.judges.Done(step, &f)
			}
			if f.Err == nil && b.interrupts.code.Load() != 0 {
				f.Code = command.ExitOK // a signal to the series makes no run that was complete by then a failure
			}
			return f
		},
		Failed: func(r *series.Run) {
			if !judges.Decided(r) {
				log.Error("The run does not count", "label", r.Info.RunLabel, "error", command.FirstLine(r.Err))
			}
		},
	}
	if r.resume {
		o.Restore = func(step *series.Step) (series.Run, bool, error) {
			own, done, err := series.Restored(step)
			if done {
				log.Info("The run is complete from an earlier start", "label", step.Info.RunLabel)
				err = errors.Join(err, run.MarkComplete(step.Config.Artifacts))
			}
			return own, done, err
		}
	}
	defer b.view.leave() // what the runs amount to follows
	return series.Execute(context.Background(), plan, o)
}

// unused ends an experiment none of whose runs has begun: it leaves nothing, and each has said why.
func (b *bench) unused(home *series.Home, log *runlog.Log, runs []series.Run) int {
	log.Discard()
	home.Discard(experimentFiles()...)
	if len(runs) == 0 {
		return b.interrupts.exit(b.fail(errors.New("cancelled before the first run; nothing was written")))
	}
	first := command.FirstLine(runs[0].Err)
	if len(runs) == 1 {
		return b.interrupts.exit(b.fail(fmt.Errorf("the first run did not begin, and nothing was written: %s", first)))
	}
	return b.interrupts.exit(b.fail(fmt.Errorf("none of %d runs began, and nothing was written. The first one: %s",
		len(runs), first)))
}

// experimentFiles are those that an experiment may have written before its first run is over.
func experimentFiles() []string {
	var names config.Artifacts
	return []string{loop.HistoryFile, loop.CheckpointFile, names.Name(config.SamplingDesign), names.Name(config.SweepJSON),
		names.Name(config.SweepCSV)}
}

// partial is the exit code of an experiment of which some runs may have failed.
func partial(base *config.Run, runs []series.Run) int {
	if base.Asked.FailOnPartial.Get() && len(series.Successes(runs)) < len(runs) {
		return command.ExitFailure
	}
	return command.ExitOK
}

// consoleOptions are how the results of an experiment are shown.
func consoleOptions(e *command.Env, base *config.Run) console.Options {
	t := e.Terminal
	return console.Options{Width: console.Width(t.OutTTY, t.Width(), base.Env.UI.ConsoleExportWidth),
		Whole:  console.Whole(base.Endpoint.Type, base.Endpoint.Streaming),
		Styles: t.OutTTY && t.Colour, Screen: t.OutTTY, ASCII: !console.Braille(os.Getenv)}
}

// printAggregates prints where the files of an experiment are.
func printAggregates(e *command.Env, paths []string) {
	for _, path := range paths {
		if absolute, err := filepath.Abs(path); err == nil {
			path = absolute
		}
		fmt.Fprintln(e.Terminal.Out, "Aggregate:", path)
	}
}

// bannerWidth is the width of the lines that frame what is said about the series as a whole.
const bannerWidth = 80

// printBlock prints lines between two rules.
func printBlock(t *command.Terminal, lines []string) {
	width := bannerWidth
	if n := t.Width(); n > 0 {
		width = min(width, n)
	}
	rule := strings.Repeat("=", width)
	command.WriteLines(t.Out, append(append([]string{"", rule}, lines...), rule))
}
