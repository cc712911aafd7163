package benchmark

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config"
	"aiperf/internal/config/file"
	"aiperf/internal/experiment/series"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/report/console"
	"aiperf/internal/run"
)

// runRepeats makes the runs of a series and reports what they say together.
func (b *bench) runRepeats(cfg *config.Run, options run.Options) int {
	log := options.Log.Logger("series")
	plan := series.NewRepeats(cfg, log)
	var kept []string
	if cfg.Asked.Resume.Get() {
		var err error
		if kept, err = series.Complete(plan); err != nil {
			return b.fail(err)
		}
	}
	home, err := series.Prepare(cfg.Artifacts, cfg.Dataset.Path, kept...)
	if err != nil {
		return b.fail(err)
	}
	defer home.Release()
	if err := options.Log.OpenFile(cfg.Artifacts.Path(config.LogFile)); err != nil {
		return b.fail(fmt.Errorf("%w; choose another directory with --artifact-dir", err))
	}
	printBlock(b.Terminal, announcement(&cfg.Series))
	options.Tokenizers, options.Problems = new(run.Tokenizers), new(run.Problems)
	course := series.NewCourse(progress.RepeatsKind, cfg.Series.Runs, options.Observers, nil)
	runs, stopped, err := b.runAll(plan, runAll{total: cfg.Series.Runs, resume: cfg.Asked.Resume.Get(),
		course: course}, options, log)
	if err != nil {
		return b.fail(err)
	}
	printBlock(b.Terminal, conclusion(runs, plan.Converged))
	if home.Unused(runs) {
		return b.unused(home, options.Log, runs)
	}
	good := len(series.Successes(runs))
	code := partial(cfg, runs)
	if good >= 2 || !stopped {
		if own := b.aggregateRuns(cfg, runs, log); own != command.ExitOK {
			code = own
		}
	}
	if stopped {
		code = b.fail(fmt.Errorf("the series was cancelled: %d of %d runs are complete; an aggregate has only those, "+
			"and takes 2", good, cfg.Series.Runs))
	}
	return b.interrupts.exit(code)
}

// aggregateRuns writes and prints what the successful runs say together.
func (b *bench) aggregateRuns(cfg *config.Run, runs []series.Run, log *slog.Logger) int {
	if good := len(series.Successes(runs)); good < 2 {
		message := fmt.Sprintf("%d of %d runs succeeded: confidence intervals need at least 2, so there is no "+
			"aggregate; the files of each run are in %s",
			good, len(runs), filepath.Join(cfg.Artifacts.Dir, series.RunsDir))
		log.Warn(message)
		return b.fail(fmt.Errorf("%s", message))
	}
	whole := series.NewAggregate(command.Version, runs, cfg.Series.Confidence, cfg.Series.Cooldown)
	collated := cfg.Series.Convergence != nil && cfg.Artifacts.ExportLevel != "summary"
	paths, warnings, err := whole.Write(cfg.Artifacts, collated)
	cache := series.WarmNote(runs)
	if cache != "" {
		warnings = append(warnings, "Prompt cache: "+cache)
	}
	for _, w := range warnings {
		log.Warn(w)
	}
	t := b.Terminal
	// A closed pipe must not cost the files.
	o, full := consoleOptions(b.Env, cfg), cfg.UI.Full(t.OutTTY)
	rows := tableRows(whole.Rows)
	if full {
		_ = console.RenderSeries(t.StyledOut, rows, whole.Level, o)
		printAggregates(b.Env, paths)
	}
	o.Dir, o.Earlier, o.More = cfg.Artifacts.Dir, b.earlier.Text, show.Views(cfg.Artifacts.Dir)
	short := console.Repeats{Input: file.Exported(cfg), Runs: len(runs), Good: len(series.Successes(runs)),
		Level: whole.Level, Rows: rows, Cache: cache}
	for _, r := range runs {
		if !r.Succeeded() {
			short.Failed = append(short.Failed, r.Info.RunLabel+": "+command.FirstLine(r.Err))
		}
	}
	_ = console.RenderRepeatsShort(t.StyledOut, &short, o)
	if err != nil {
		log.Error("The aggregate could not be written", "error", err)
		return b.fail(fmt.Errorf("some files could not be written:\n%w", err))
	}
	return command.ExitOK
}

// tableRows are those of the metrics that the report of one run shows: their averages, and the slowest percent.
func tableRows(rows []series.Row) (list []console.SeriesRow) {
	for _, r := range rows {
		if r.Shown() && (r.Stat == "avg" || r.Stat == "p99") {
			row := console.SeriesRow{Tag: r.Tag, Header: r.Header, Unit: r.Unit, Stat: r.Stat, Order: r.Order, Estimate: r.Estimate}
			list = append(list, row)
		}
	}
	return list
}

// announcement says what the series is about to do.
func announcement(s *config.Series) []string {
	lines := []string{
		"Multi-run benchmark",
		fmt.Sprintf("  Runs: %d", s.Runs),
		"  Confidence level: " + console.Percent(s.Confidence),
		fmt.Sprintf("  Cooldown between runs: %g s", s.Cooldown.Seconds()),
	}
	if c := s.Convergence; c != nil {
		lines[1] = fmt.Sprintf("  Runs: %d at most, fewer on convergence", s.Runs)
		metric := c.Metric
		if c.Mode != config.ConvergeDistribution {
			metric += " " + c.Stat
		}
		lines = append(lines, "  Convergence mode: "+c.Mode, "  Convergence metric: "+metric,
			fmt.Sprintf("  Convergence threshold: %g", c.Threshold))
		if c.Mode == config.ConvergeDistribution {
			lines = append(lines, "  A higher threshold is stricter: the p-value of the comparison must exceed it")
		}
	}
	return lines
}

// conclusion says how the runs went.
func conclusion(runs []series.Run, converged string) []string {
	good := series.Successes(runs)
	lines := []string{fmt.Sprintf("All runs complete: %d/%d successful", len(good), len(runs))}
	for _, r := range runs {
		if !r.Succeeded() {
			lines = append(lines, fmt.Sprintf("  Failed: %s (%s)", r.Info.RunLabel, command.FirstLine(r.Err)))
		}
	}
	if converged != "" {
		lines = append(lines, converged)
	}
	return lines
}
