package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/report"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/report/html"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
)

// finish turns what the load left into results and files.
func (e *execution) finish(phases []load.Stats) (*Outcome, error) {
	// The descriptors and ports of idle connections may be what the last probes and the reports lack.
	e.client.CloseIdle()
	unwritten := e.watches.stop()
	e.log.Info("Processing the records")
	e.drain(phases)
	defer e.flush()()
	problems := []error{e.inputsError, unwritten, e.tokenizersFailed()}
	for _, s := range e.sinks {
		if err := s.Close(); err != nil {
			problems = append(problems, err)
		}
	}
	if e.unprocessed == nil {
		e.sinks = nil // a record on its way may still look at them otherwise
	}
	seen := e.profiling.Snapshot()
	if seen.Requests() == 0 {
		e.writeOutputs()
		reason := emptyReason(phases)
		if early := e.aborted.Load(); early != nil {
			reason = (*early).Error()
		} else if e.unprocessed != nil {
			reason = e.unprocessed.Error()
		}
		return nil, &NoResultsError{Reason: reason}
	}
	e.setFacts(e.profiling, phaseOf(phases, load.Profiling))
	if e.warmup != nil {
		e.setFacts(e.warmup, phaseOf(phases, load.Warmup))
	}
	for _, w := range slices.Concat(e.intake.Oddities(), e.profiling.Warnings()) {
		e.log.Warn(w)
	}
	facts := e.facts(phases)
	result := summary.Build(facts, e.profiling, e.warmup)
	e.settleSubmission(&result)
	ran := summary.PhasesRun(e.phaseStates(phases), e.clock.WallNS(e.clock.NowNS()))
	out := &outcome{Outcome: Outcome{Result: result, Console: plan.Console(e.cfg, e.shownURLs()), Phases: phases}, ran: ran}
	problems = append(problems, e.watches.finish(out))
	e.noteSkipped(out)
	e.advise(out)
	if reason := e.aborted.Load(); reason != nil {
		out.Aborted = *reason
	} else if e.childFailed != nil {
		out.Aborted = e.childFailed
	} else if err := e.sinkError.Load(); err != nil {
		out.Aborted = fmt.Errorf("the run ended early: %w", *err)
	} else if !result.WasCancelled {
		out.Aborted = e.unprocessed
	}
	state := e.finalState(facts, out)
	state.Ledger = out.ledger
	problems = append(problems, e.writeState(state))
	out.Problem = errors.Join(append(problems, e.export(out, state)...)...)
	e.writePhases(out, state)
	if out.Problem == nil {
		e.log.Info("Results written", "directory", e.cfg.Artifacts.Dir)
	}
	return &out.Outcome, nil
}

// outcome is an Outcome in the making.
type outcome struct {
	Outcome
	// ran are the phases that were started.
	ran []summary.Phase
	// ledger is what the servers counted; nil where their counters were not scraped.
	ledger *summary.Ledger
}

// export writes the reports. What could not be written is an error, and not named in the footer.
func (e *execution) export(out *outcome, state *summary.State) []error {
	a, ctx := &e.cfg.Artifacts, context.Background()
	exporters := []report.Exporter{
		report.SummaryJSON{Path: a.Path(config.SummaryJSON)},
		report.SummaryCSV{Path: a.Path(config.SummaryCSV)},
		report.TimeslicesJSON{Path: a.Path(config.TimeslicesJSON)},
		report.TimeslicesCSV{Path: a.Path(config.TimeslicesCSV)},
	}
	if a.Outputs {
		exporters = append(exporters, e.outputsExporter())
	}
	if a.RecordsParquet {
		exporters = append(exporters, report.RecordsParquet{Lines: a.Path(config.RecordsJSONL), Path: a.Path(config.RecordsParquet)})
	}
	if a.HTMLReport {
		exporters = append(exporters, html.Export{Path: a.Path(config.HTMLReport), Run: e.page.run(&out.Result, state)})
	}
	tables := report.ExportAll(ctx, &out.Result, exporters...)
	f := &out.Console.Files
	for _, path := range []*string{
		&f.CSV, &f.JSON, &f.HTML, &f.Parquet, &f.Raw, &f.Outputs, &f.TimesliceCSV, &f.TimesliceJSON,
		&f.ServerMetricsCSV, &f.ServerMetricsJSON, &f.LogFile,
	} {
		if _, err := os.Stat(*path); err != nil {
			*path = ""
		}
	}
	plain := out.Console
	plain.Width = console.Width(false, 0, e.cfg.Env.UI.ConsoleExportWidth)
	text := report.ExportAll(ctx, &out.Result, console.Export{Path: a.Path(config.ConsoleText), Options: plain})
	for _, err := range []error{tables, text} {
		if err != nil {
			e.log.Error("Reports could not be written", "error", err)
		}
	}
	return []error{tables, text}
}

// setFacts tells an engine from when to when its phase ran, and over what network.
func (e *execution) setFacts(engine *metrics.Engine, phase *load.Stats) {
	engine.SetRunFacts(e.window(phase))
}

// drain waits until the finished requests have become records, or these stall.
func (e *execution) drain(phases []load.Stats) {
	limit := e.cfg.Env.Record.ProcessRecordsTimeout
	if cancelled(phases) {
		limit = e.cfg.Env.Service.ProfileCancelTimeout
	}
	e.dispatcher.close()
	ctx, cancel := context.WithTimeout(e.records.going, limit)
	defer cancel()
	defer e.records.end()
	if err := e.pool.Close(ctx); err != nil {
		e.sealed.Store(true)
		e.log.Warn("Some requests are missing from the results", "error", err)
		e.unprocessed = err
	}
}

func cancelled(phases []load.Stats) bool {
	for i := range phases {
		if phases[i].WasCancelled {
			return true
		}
	}
	return false
}

func emptyReason(phases []load.Stats) string {
	p := phaseOf(phases, load.Profiling)
	switch {
	case p == nil && cancelled(phases):
		return "the run was cancelled before the profiling phase"
	case p == nil:
		return "the profiling phase did not start"
	case p.RequestsSent == 0:
		return "no request was sent"
	case p.RequestsCancelled == p.RequestsSent:
		return fmt.Sprintf("all %d requests were cut off before they finished", p.RequestsSent)
	}
	return ""
}

// phaseOf is the first phase of a kind that has begun.
func phaseOf(phases []load.Stats, kind load.Kind) *load.Stats {
	for i := range phases {
		if phases[i].Kind == kind {
			return &phases[i]
		}
	}
	return nil
}

// facts are what the summary says of the run beside its metrics.
func (e *execution) facts(phases []load.Stats) summary.Run {
	run := summary.Run{
		AIPerfVersion: e.options.Version,
		BenchmarkID:   e.id,
		Info:          e.options.Info,
		InputConfig:   config.InputConfig(e.cfg),
		Provenance:    e.origin,
		WasCancelled:  cancelled(phases),
		EndpointTitle: e.descriptor.MetricsTitle,
	}
	run.Info.RandomSeed, run.Info.CLICommand = e.cfg.RandomSeed, e.cfg.CLICommand
	run.Info.VariationLabel = cmp.Or(run.Info.VariationLabel, "base")
	switch reason := e.aborted.Load(); {
	case reason != nil:
		run.Incomplete = (*reason).Error()
	case e.childFailed != nil:
		run.Incomplete = e.childFailed.Error()
	case e.unprocessed != nil:
		run.Incomplete = e.unprocessed.Error()
	}
	if err := e.sinkError.Load(); err != nil {
		run.Incomplete = (*err).Error()
	}
	run.Incomplete = e.redactor.Text(run.Incomplete)
	run.Submission = e.submission(&run)
	p := phaseOf(phases, load.Profiling)
	if p == nil {
		return run
	}
	run.StartNS = e.clock.WallNS(p.StartNS)
	run.Branches = e.branches(phases)
	run.Dataset, run.Source = e.prompts.summary(), plan.Source(e.cfg)
	run.Counts = summary.Counts{
		Sent: p.RequestsSent, CutOff: p.RequestsCancelled,
		SkippedArrivals: p.SkippedArrivals, DroppedByCatchup: p.DroppedByCatchup,
		TargetRate: p.TargetRate, DeliveredRate: p.DeliveredRate(e.clock.NowNS()),
	}
	return run
}
