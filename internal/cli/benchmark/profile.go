package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/cli/show"
	"aiperf/internal/config"
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/series"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/summary"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/trust"
)

// runProfile runs a benchmark.
func runProfile(env *command.Env, args []string) error {
	if words, asked := flags.HelpWords(args); asked {
		return env.Help(ProfileTable(), words)
	}
	env.HideSecrets(args)
	parsed, err := settings.Parse(args, env.LookupEnv)
	if err != nil {
		return err
	}
	e, err := readExperiment(env, parsed)
	if err != nil {
		return err
	}
	return newBench(env).prepared(e)
}

// prepared resolves and runs what the arguments ask for.
func (b *bench) prepared(e *experiment) error {
	own, loaded, err := loadFile(b.Env, e.base)
	if err != nil {
		return err
	}
	defer loaded.remove()
	if loaded.from != nil {
		e.input = own
	}
	cfg, warnings, err := resolveRun(b.Env, own)
	if err != nil {
		return err
	}
	if resolve.LacksModel(own) {
		e.models = cfg.Models
	}
	loaded.note(cfg)
	var cells []series.Cell
	if e.plan != nil {
		if cells, warnings, err = e.cells(); err != nil {
			return err
		}
		for i := range cells {
			loaded.note(cells[i].Config)
		}
	}
	return command.Exit(b.execute(e, cfg, cells, append(env.Unknown(os.Environ()), warnings...)))
}

// resolveRun makes the configuration of a run. Where no model is named the server is asked for its only one, after
// everything else has proved right.
func resolveRun(e *command.Env, parsed *settings.Settings) (*config.Run, []fault.Warning, error) {
	if !resolve.LacksModel(parsed) {
		return resolve.Resolve(parsed, run.Catalog{})
	}
	cfg, _, err := resolve.Resolve(parsed.WithModel("unnamed"), run.Catalog{})
	if err != nil {
		return resolve.Resolve(parsed, run.Catalog{}) // which says of the model too
	}
	models, note, err := findModels(e, parsed, cfg)
	if err != nil {
		return nil, nil, err
	}
	cfg, warnings, err := resolve.Resolve(parsed.WithModel(models...), run.Catalog{})
	return cfg, append([]fault.Warning{{Level: fault.LevelInfo, Text: note}}, warnings...), err
}

// findModels returns the models of a run whose user named none, and a line that says so: those of a recording with
// several of them, else the only one that the server offers, else that of the recording.
func findModels(e *command.Env, parsed *settings.Settings, cfg *config.Run) (models []string, note string, err error) {
	recorded := resolve.RecordedModels(parsed)
	note = "No --model is given: requests name the models of the recording, " + strings.Join(recorded, ", ")
	if len(recorded) > 1 {
		return recorded, note, nil
	}
	log := newLog(e.Terminal, cfg, view{}, false)
	defer log.Close()
	model, offered, err := run.FindModel(context.Background(), cfg, run.Options{Version: command.Version, Log: log})
	if err != nil && len(recorded) == 1 {
		return recorded, strings.Replace(note, "models", "model", 1), nil
	}
	return []string{model}, offered, err
}

// check returns an error for what cannot be asked for together.
func (e *experiment) check(cfg *config.Run) error {
	if cfg.Env.Cluster.Managed && (e.plan != nil || cfg.Several()) {
		return errors.New("a pod runs one benchmark: a sweep, or several runs, are an AIPerfSweep; " +
			"aiperf kube sweep --config FILE creates one")
	}
	if err := answerOfOneRun(cfg); err != nil && e.plan == nil {
		return err
	}
	return checkPlots(cfg.Asked)
}

// execute runs a resolved benchmark, or its cells, and reports it.
func (b *bench) execute(e *experiment, cfg *config.Run, cells []series.Cell, warnings []fault.Warning) int {
	t := b.Terminal
	b.Redactor = cfg.Redactor()
	if err := e.check(cfg); err != nil {
		return b.fail(err)
	}
	several := e.plan != nil || cfg.Several()
	var err error
	if several {
		if err = b.nothingListens(cfg, cells); err != nil {
			return b.fail(err)
		}
	}
	if b.earlier, err = run.ChooseFolder(cfg, several); err != nil {
		return b.fail(err)
	}
	view := newView(t, cfg, several)
	interrupts := watchInterrupts(t, view.logWriter(t.StyledErr), view.leave)
	defer interrupts.close()
	b.view, b.interrupts = view, interrupts
	t.Interrupt = interrupts.interrupt
	defer view.leave()
	log := newLog(t, cfg, view, false)
	defer log.Close()
	defer log.AdoptStandard()()
	logger := log.Logger("config")
	for _, w := range warnings {
		logger.Log(context.Background(), warningLevel(w), b.Shown(w.Text))
	}
	b.logEarlier(logger, cfg, several)
	if view.note != "" {
		logger.Info(view.note)
	}
	if cfg.Env.Dev.Mode {
		t.Panel("AIPerf Developer Mode", "Developer mode is on (AIPERF_DEV_MODE).")
	}
	options := run.Options{
		Version: command.Version, Log: log, Stop: interrupts.Stop, Capacity: measuredCapacity(logger),
		Ready: func() { b.announce("PROFILING") },
	}
	options.Observers = append(options.Observers, view.observers()...)
	options.LogInterval = view.logInterval(cfg)
	publishers, err := openPublishers(b.Env, cfg, log)
	defer publishers.end(interrupts)
	if err != nil {
		return b.fail(err)
	}
	options.Observers = append(options.Observers, publishers...)
	defer b.endServer(log.Logger("server"))
	ctx, release := withStop(context.Background(), interrupts.Stop)
	err = b.openFleet(ctx, cfg, log)
	release()
	if err != nil {
		return interrupts.exit(b.fail(err))
	}
	defer b.endFleet()
	if view.screen != nil {
		view.screen.Start(log.Logger("dashboard"))
	}
	var code int
	switch {
	case e.plan != nil:
		code = b.runSeveral(e, cfg, cells, options)
	case cfg.Several():
		code = b.runRepeats(cfg, options)
	default:
		code = b.runOne(context.Background(), cfg, options).Code
	}
	return b.autoPlot(e, cfg, code, log.Logger("plot"))
}

// nothingListens returns an error if no run of an experiment can reach a server: each would fail, after its own time. A
// server that is started or waited for may not listen yet, and that of agents elsewhere may be out of reach from here.
func (b *bench) nothingListens(cfg *config.Run, cells []series.Cell) error {
	all := []*config.Run{cfg}
	if len(cells) > 0 {
		all = nil
	}
	for i := range cells {
		all = append(all, cells[i].Config)
	}
	var first error
	asked := map[string]bool{}
	for _, own := range all {
		if own.Serve != nil || own.Endpoint.Ready != nil || own.Endpoint.Plugin != "" || !own.FailFast ||
			own.Fleet != nil && !own.Fleet.Local {
			return nil
		}
		urls := strings.Join(own.Endpoint.URLs, " ")
		if asked[urls] {
			continue
		}
		asked[urls] = true
		log := quietLog(b.Terminal, own)
		err := run.NothingListens(context.Background(), own, run.Options{Version: command.Version, Log: log})
		log.Close()
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

// logEarlier logs what becomes of the results of earlier runs. A single run says itself which it replaces, once it does.
func (b *bench) logEarlier(log *slog.Logger, cfg *config.Run, several bool) {
	level := slog.LevelInfo
	switch {
	case b.earlier.Text == "" || b.earlier.Replaced && !several:
		return
	case b.earlier.Replaced:
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "Earlier "+b.earlier.Text, "directory", cfg.Artifacts.Dir)
}

// runOne makes one run, reports it and says how it ended.
func (b *bench) runOne(ctx context.Context, cfg *config.Run, options run.Options) (f series.Finished) {
	b.announce("CONFIGURING")
	f.Outcome, f.Err = b.measure(ctx, cfg, options)
	if cfg.Series.Runs <= 1 && options.Info.RunLabel == "" {
		b.view.leave()
	}
	defer waitForUploads(options.Observers, b.interrupts) // the report comes first: it may be all that there is
	if f.Err != nil {
		f.Code = b.failRun(f.Err)
		if path := options.Log.Path(); path != "" {
			fmt.Fprintln(b.Terminal.Err, "Log File:", path)
		}
		f.Code = b.interrupts.exit(f.Code)
		return f
	}
	b.shown = ""
	f.Code = b.reportRun(f.Outcome, cfg)
	if list := faults(f.Outcome); len(list) > 0 {
		f.Err = errors.New(strings.Join(list, "\n"))
	} else if cfg.RequireValid && f.Outcome.Verdict != trust.Valid {
		f.Err = fmt.Errorf("the verdict on the client's own influence is %q", f.Outcome.Verdict)
	}
	if err := options.Log.Err(); err != nil && f.Code == command.ExitOK {
		f.Code, f.Err = b.fail(err), err
	}
	return f
}

// announce prints the line by which scripts know how far a run is. It is not a line of the log: it is printed whatever
// the level, and to the standard output.
func (b *bench) announce(state string) {
	if !b.brief {
		fmt.Fprintln(b.view.logWriter(b.Terminal.StyledOut), "AIPerf System is "+state)
	}
}

// newLog makes the log of a run. brief leaves to the console only what is at least a warning.
func newLog(t *command.Terminal, cfg *config.Run, view view, brief bool) *runlog.Log {
	level, _ := runlog.ParseLevel(cfg.LogLevel)
	return runlog.New(runlog.Options{
		Level: level, Brief: brief, Console: view.logWriter(t.StyledErr), Terminal: view.wraps(t), Color: t.Colour,
		Columns:  t.ErrWidth(),
		Redactor: cfg.Redactor(),
	})
}

func warningLevel(w fault.Warning) slog.Level {
	if w.Level == fault.LevelInfo {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// reportRun prints the final report and says how the run ended.
func (b *bench) reportRun(outcome *run.Outcome, cfg *config.Run) int {
	if !b.brief {
		part := outcome.Result.RunInfo.RunLabel != "" // whose tables are in its files: those of all runs follow
		show.Report(b.Env, &outcome.Result, outcome.Console, show.Rendering{Dir: cfg.Artifacts.Dir,
			Earlier: b.earlier.Text, Part: part, Full: cfg.UI.Full(part || b.Terminal.OutTTY),
			ExportWidth: cfg.Env.UI.ConsoleExportWidth})
	}
	code := command.ExitOK
	thresholds := failedThresholds(b.Env, outcome, cfg)
	if faults := faults(outcome); len(faults) > 0 {
		code = b.fail(errors.New(strings.Join(faults, "\n")))
	} else if outcome.Result.WasCancelled && len(cfg.FailIf) > 0 {
		code = b.fail(errors.New("--fail-if: the run was cancelled early, so that it cannot pass"))
	} else if cfg.RequireValid && outcome.Verdict != trust.Valid {
		b.fail(fmt.Errorf("--require-valid: the verdict on the client's own influence is %q; the reasons are above "+
			"and in client_health of the JSON summary", outcome.Verdict))
		code = command.ExitNotValid
	} else if thresholds > 0 {
		code = command.ExitThreshold
	}
	return b.interrupts.exit(code)
}

// failedThresholds prints a line for each condition of --fail-if, and counts those under which the result is a failure.
func failedThresholds(e *command.Env, outcome *run.Outcome, cfg *config.Run) int {
	figures := summary.FiguresOf(&outcome.Result)
	return show.Judgements(e.Terminal, compare.Judge(cfg.FailIf, cfg.Artifacts.Percentiles, &figures))
}

// faults are the reasons for which a run that has results is not a success.
func faults(outcome *run.Outcome) []string {
	var list []string
	if outcome.Aborted != nil {
		list = append(list, outcome.Aborted.Error())
	}
	if outcome.Problem != nil {
		list = append(list, "some files could not be written:", outcome.Problem.Error())
	}
	if outcome.PluginProblem != nil {
		list = append(list, "a plug-in failed, and AIPERF_RAISE_ON_CALLBACK_ERROR is set:",
			outcome.PluginProblem.Error())
	}
	if counts := &outcome.Result.Counts; counts.AllFailed() {
		failed := "The only request failed"
		if n := counts.Completed(); n > 1 {
			failed = fmt.Sprintf("All %d requests failed", n)
		}
		list = append(list, failed+". The errors are above and in the files")
		for _, h := range outcome.Hints {
			list = append(list, h.String())
		}
	}
	return list
}
