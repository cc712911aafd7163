package benchmark

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/recipe"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/report/html"
	"aiperf/internal/run"
)

// several is an experiment of several cells under way.
type several struct {
	*bench
	asked   *experiment
	base    *config.Run
	layout  series.Layout
	whole   *aggregate.Sweep
	log     *slog.Logger
	options run.Options
	// conditions are those of --fail-if.
	conditions []compare.Condition
	// search is nil for a sweep, spec what it was asked to do.
	search *loop.Search
	spec   *loop.Spec
	judges *capacity.Judges
	// course tells observers where the cells stand.
	course *series.Course
	// idle asks the servers whether they have requests left, where the runs are isolated; nil else.
	idle  *run.IdleWatch
	begun time.Time
}

// runSeveral runs the cells of a sweep, or those that a search chooses, and reports what they say together.
func (b *bench) runSeveral(e *experiment, base *config.Run, cells []series.Cell, options run.Options) int {
	s := &several{bench: b, asked: e, base: base, options: options, log: options.Log.Logger("sweep"), begun: time.Now(),
		layout: series.Layout{Dir: base.Artifacts.Dir, Trials: base.Series.Runs, Independent: e.plan.Independent,
			Between: e.plan.Cooldown, Pause: base.Series.Cooldown}}
	plan, err := s.check(cells)
	if err != nil {
		return b.fail(err) // before anything of an earlier start is replaced
	}
	home, err := series.PrepareCells(base.Artifacts)
	if err != nil {
		return b.fail(err)
	}
	defer home.Release()
	if err := options.Log.OpenFile(base.Artifacts.Path(config.LogFile)); err != nil {
		return b.fail(fmt.Errorf("%w; choose another directory with --artifact-dir", err))
	}
	s.options.Tokenizers, s.options.Problems = new(run.Tokenizers), new(run.Problems)
	var runs []series.Run
	var stopped bool
	if study := s.asked.study; study != nil {
		fmt.Fprintln(s.Terminal.Out, study.Opening())
	} else {
		printBlock(s.Terminal, aggregate.Banner(plan))
	}
	if s.search != nil {
		runs, stopped, err = s.runSearch()
	} else {
		runs, stopped, err = s.runCells(cells)
	}
	if err != nil && len(runs) == 0 {
		return b.fail(err)
	}
	if home.Unused(runs) {
		return b.unused(home, options.Log, runs)
	}
	code := s.conclude(runs)
	missed := s.failedConditions()
	good := len(series.Successes(runs))
	switch {
	case err != nil:
		code = b.fail(err)
	case stopped:
		why := "cancelled"
		if n := len(runs); n > 0 && runs[n-1].Cancelled && runs[n-1].Err != series.CancelledRun {
			why = "ended early, because " + runs[len(runs)-1].Info.RunLabel + " could not be completed,"
		}
		code = b.fail(fmt.Errorf("%s with %d complete: the files of the experiment have only these runs; "+
			"--resume makes the others", why, good))
	case s.layout.Trials == 1 && s.search == nil && good < len(runs), good < min(2, len(runs)):
		code = b.fail(fmt.Errorf("%d of %d runs succeeded; the files of each run are in %s", good, len(runs),
			s.layout.Dir))
	case partial(base, runs) != command.ExitOK:
		code = partial(base, runs)
	case code == command.ExitOK && missed > 0:
		code = command.ExitThreshold
	}
	return b.interrupts.exit(code)
}

// check plans the experiment and makes its aggregate. The error names what cannot be, and nothing is changed then.
func (s *several) check(cells []series.Cell) (*aggregate.Plan, error) {
	plan := &aggregate.Plan{Cells: cells}
	if s.asked.plan.Type == sweep.AdaptiveSearch {
		if err := s.planSearch(plan); err != nil {
			return nil, err
		}
	} else if s.base.Series.Convergence != nil && !s.layout.Independent {
		return nil, fmt.Errorf("%s with a sweep needs --parameter-sweep-mode independent (iteration_order of a file): "+
			"the runs of one cell must follow each other", s.base.Asked.ConvergenceMetric.Flag())
	}
	canonical(s.asked.plan.Filters)
	plan.Trials, plan.Mode, plan.Level = s.layout.Trials, s.layout.Mode(), s.base.Series.Confidence
	plan.RunCooldown, plan.CellCooldown = s.layout.Pause, s.layout.Between
	plan.Convergence = s.base.Series.Convergence
	s.whole = aggregate.New(plan.Cells, aggregate.Options{Version: command.Version, Mode: s.layout.Mode(),
		Trials: s.layout.Trials, Level: s.base.Series.Confidence, RunCooldown: s.layout.Pause,
		Filters: s.asked.plan.Filters})
	swept := names(plan, s.whole)
	var err error
	if s.conditions, err = show.ParseConditions(s.base.FailIf, swept); err != nil {
		return nil, err
	}
	if s.whole.Axes, err = s.axes(swept); err != nil {
		return nil, err
	}
	if err := s.checkMetrics(cells); err != nil {
		return nil, err
	}
	return plan, s.checkResume(cells)
}

// canonical writes the tags of metrics for their short names.
func canonical(filters []search.Filter) {
	for i := range filters {
		filters[i].Metric = metrics.Canonical(filters[i].Metric)
	}
}

// checkMetrics returns an error if a condition or an objective is on a metric that no run can have: nothing would ever
// meet it.
func (s *several) checkMetrics(cells []series.Cell) error {
	var asked []string
	add := func(tag string) {
		if !slices.Contains(asked, tag) {
			asked = append(asked, tag)
		}
	}
	for _, f := range s.asked.plan.Filters {
		add(f.Metric)
	}
	if s.spec != nil {
		for _, o := range s.spec.Objectives {
			add(o.Metric)
		}
		for _, c := range s.spec.Constraints {
			add(c.Metric)
		}
		for _, t := range s.spec.Tiers {
			for _, f := range t.Filters {
				add(f.Metric)
			}
		}
	}
	var faults []error
	for _, tag := range asked {
		why := run.Lacks(s.base, tag)
		for i := 0; i < len(cells) && why != ""; i++ { // a cell may stream where the others do not
			why = run.Lacks(cells[i].Config, tag)
		}
		if why != "" {
			faults = append(faults, fmt.Errorf("the runs of this experiment cannot have the metric %s: %s", tag, why))
		}
	}
	return errors.Join(faults...)
}

// checkResume returns an error if --resume would meet a run of another configuration.
func (s *several) checkResume(cells []series.Cell) error {
	if !s.base.Asked.Resume.Get() || s.asked.study != nil {
		return nil
	}
	if s.search == nil {
		_, err := series.Complete(series.NewCells(cells, s.layout, nil))
		return err
	}
	// What is complete is taken over run by run, if the search would choose these points again for these runs.
	again, err := loop.New(s.spec, loop.Options{Dir: s.layout.Dir})
	if err == nil {
		_, err = again.Restore()
	}
	if err != nil {
		return err
	}
	if again, err = loop.New(s.spec, loop.Options{Dir: s.layout.Dir}); err != nil {
		return err
	}
	first, more := again.Ask()
	if !more {
		return nil
	}
	cell, err := s.point(s.spec, &first)
	if err != nil {
		return err
	}
	step := s.layout.Step(&cell, 0)
	_, _, err = series.Restored(&step)
	return err
}

// runCells makes the runs of a sweep.
func (s *several) runCells(cells []series.Cell) ([]series.Run, bool, error) {
	if d := s.asked.plan.Design; d != nil {
		if _, err := aggregate.WriteDesign(s.layout.Dir, d); err != nil {
			return nil, false, err
		}
	}
	plan := series.NewCells(cells, s.layout, s.log)
	s.course = series.NewCourse(progress.SweepKind, s.layout.Trials, s.options.Observers, nil)
	return s.runs(plan, plan.Total())
}

// runs makes the runs of a plan and shows the table of cells after each.
func (s *several) runs(plan series.Plan, total int) ([]series.Run, bool, error) {
	known := 0
	how := runAll{total: total, judges: s.judges, resume: s.base.Asked.Resume.Get(), course: s.course}
	how.done = func(all []series.Run) {
		s.whole.Add(all[known:]...)
		for ; known < len(all); known++ {
			if s.search == nil && s.base.Series.Convergence == nil {
				all[known].Metrics = nil // the aggregate has the figures
			}
		}
		_ = s.whole.WriteCells(s.layout.Dir) // the end writes what could not be written now, and reports it
		s.table()
	}
	return s.runAll(plan, how, s.options, s.log)
}

// table shows the cells so far.
func (s *several) table() {
	t := s.Terminal
	if s.asked.study != nil { // a line for each probe says it
		return
	}
	if !t.OutTTY || !s.tabled() {
		return
	}
	// A closed pipe must not end the experiment.
	_, _ = t.StyledOut.Write(s.whole.Table(consoleOptions(s.Env, s.base)))
}

// tabled reports whether the cells are shown as a table.
func (s *several) tabled() bool { return len(s.whole.Cells()) > 1 && !s.base.Asked.NoSweepTable.Get() }

// conclude writes the files about all cells and says what they amount to.
func (s *several) conclude(runs []series.Run) int {
	if s.whole == nil {
		return command.ExitOK
	}
	for _, r := range runs[len(s.whole.Runs()):] {
		s.whole.Add(r)
	}
	full := s.base.UI.Full(s.Terminal.OutTTY)
	if !s.brief && (full || s.whole.Empty()) {
		printBlock(s.Terminal, s.whole.Summary())
	}
	paths, err := s.whole.Write(s.layout.Dir)
	more, failed := s.after()
	shown, page, code := s.page(full)
	if page != "" {
		more = append(more, page)
	}
	if shown != nil {
		_ = console.RenderAccuracy(s.Terminal.StyledOut, shown, consoleOptions(s.Env, s.base))
	}
	if full || s.whole.Empty() {
		printAggregates(s.Env, append(paths, more...))
	}
	if shown != nil && shown.Cache != "" {
		failed = append(failed, "Prompt cache: "+shown.Cache)
	}
	for _, w := range failed {
		s.log.Warn(w)
	}
	if shown != nil {
		o := consoleOptions(s.Env, s.base)
		if !s.Terminal.OutTTY && s.asked.study == nil && s.tabled() { // a terminal has it after each run
			_, _ = s.Terminal.StyledOut.Write(s.whole.Table(o))
		}
		o.Dir, o.Earlier, o.Files.HTML, o.More = s.layout.Dir, s.earlier.Text, page, show.Views(s.layout.Dir)
		_ = console.RenderSweepShort(s.Terminal.StyledOut, shown, o)
	}
	if err != nil {
		return s.fail(err)
	}
	return code
}

// page writes the page of the experiment and prints the curve of aiperf capacity, in full with the answer.
func (s *several) page(full bool) (shown *answer.Sweep, path string, code int) {
	if s.whole.Empty() {
		return nil, "", command.ExitOK
	}
	shown = s.shown()
	if study := s.asked.study; study != nil {
		shown.Kind = "Capacity"
		shown.Capacity = study.Answer(shown, time.Since(s.begun), study.Command)
		s.search.Extra = study.Members(shown.Capacity)
		if err := s.search.Write(); err != nil {
			s.log.Warn("The history of the search does not have its whole answer", "error", err)
		}
		if o := consoleOptions(s.Env, s.base); full {
			_ = console.RenderCapacity(s.Terminal.StyledOut, shown.Capacity, o)
		} else {
			_ = console.RenderCurve(s.Terminal.StyledOut, &shown.Capacity.Curve, o)
		}
		if shown.Capacity.Outcome == answer.NotEvenSmallest {
			code = command.ExitThreshold
		}
	}
	to := config.Artifacts{Dir: aggregate.Dir(s.layout.Dir, s.layout.Mode(), s.layout.Trials)}
	path = to.Path(config.SweepHTML)
	var page bytes.Buffer
	err := html.Sweep(&page, shown)
	if err == nil {
		err = artifact.WriteFile(path, page.Bytes())
	}
	if err != nil {
		s.log.Warn("The page of the experiment cannot be made", "error", err)
		return shown, "", code
	}
	return shown, path, code
}

// shown are the cells as their page shows them.
func (s *several) shown() *answer.Sweep {
	to := config.Artifacts{Dir: aggregate.Dir(s.layout.Dir, s.layout.Mode(), s.layout.Trials)}
	shown := s.whole.Answer(filepath.Dir(to.Path(config.SweepHTML)))
	if s.search != nil {
		text, err := artifact.AppendJSON(nil, s.search.Document())
		if err == nil {
			err = shown.AddSearch(text)
		}
		if err != nil {
			s.log.Warn("The page of the experiment does not show the search", "error", err)
		}
	}
	shown.Title, shown.Version = strings.Join(s.base.Models, ", "), command.Version
	if len(s.base.Endpoint.URLs) > 0 {
		shown.Target = artifact.RedactURLs(s.base.Endpoint.URLs[0])
	}
	if shown.Command = settings.CommandLine("profile", s.base.Asked.Args); s.asked.study != nil {
		shown.Command = s.asked.study.Command
	}
	return shown
}

// after computes what the sweep asks for over all cells. What fails is a warning: the aggregates stay as they are.
func (s *several) after() (paths, warnings []string) {
	after := s.asked.plan.After
	if after == nil || s.whole.Empty() {
		return nil, nil
	}
	in := recipe.HandlerInput{Params: after.Params, Filters: s.asked.plan.Filters}
	for _, c := range s.whole.Cells() {
		if c.Succeeded() {
			in.Cells = append(in.Cells, recipe.PostProcessCell{Values: c.Values, Figure: c.Mean})
		}
	}
	dir := filepath.Join(aggregate.Dir(s.layout.Dir, s.layout.Mode(), s.layout.Trials), "sweep_aggregate")
	path, warnings, err := recipe.WriteDocument(dir, after.Handler, after.Output, in)
	if err != nil {
		return nil, append(warnings, err.Error())
	}
	return []string{path}, warnings
}
