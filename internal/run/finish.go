package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/load"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/files"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/control"
)

// finish makes the results and the files after the load has ended.
func (e *execution) finish(phases []load.Stats) (*Outcome, error) {
	// The last probes and the reports may need the descriptors and ports of idle connections.
	e.client.CloseIdle()
	unwritten := e.parts.each(part.stop)
	e.log.Info("Processing the records")
	e.drain(phases)
	phases = e.remote.Settled(phases)
	defer e.followers.flush()()
	problems := []error{e.content.inputsError, unwritten, e.content.tokenizersFailed()}
	for _, s := range e.records.sinks {
		if err := s.Close(); err != nil {
			problems = append(problems, err)
		}
	}
	if e.ending.unprocessed == nil {
		e.records.sinks = nil // otherwise a record in processing may still read them
	}
	if never := e.reach.Never(); never != nil && e.folder.fresh() {
		e.folder.unused = true
		return nil, e.unreached(never)
	}
	if seen := e.records.profiling.Snapshot(); seen.Requests() == 0 {
		e.records.writeOutputs()
		if e.options.isShare() && e.ending.withoutResults() == nil {
			return &Outcome{Phases: phases, Problem: errors.Join(problems...), Verdict: trust.Valid}, nil
		}
		reason := emptyReason(phases)
		if err := e.ending.withoutResults(); err != nil {
			reason = err.Error()
		}
		return nil, &NoResultsError{Reason: reason}
	}
	o := &outcome{execution: e, ended: ended{Outcome: Outcome{Phases: phases}}}
	if e.options.WithoutFiles {
		o.Problem = errors.Join(append(problems, o.judge())...)
	} else {
		o.write(append(problems, o.compute()))
	}
	out := o.Outcome // without the execution, which callers must not keep
	return &out, nil
}

// unreached is the error of a run that never reached its server, and says what to try.
func (e *execution) unreached(first *record.Error) error {
	reason := "no request reached a server at " + strings.Join(e.target.urls, ", ")
	if aborted := reasonIn(&e.ending.aborted); aborted != nil {
		reason = aborted.Error()
	} else {
		reason += ": " + first.Message
	}
	for _, h := range hint.ForAll([]*record.Error{first}) {
		reason += "\n" + h.String()
	}
	return &NoResultsError{Reason: e.redactor.Text(reason)}
}

// write writes the files of the result.
func (o *outcome) write(problems []error) {
	o.measure()
	state := o.finalState()
	problems = append(problems, o.writeState(state))
	o.writePhases(state) // before the summary of the run, by which --resume takes the run for complete
	o.Problem = errors.Join(append(problems, o.export(state))...)
	o.exportOutside()
	if o.Problem == nil {
		o.Problem = o.markReady()
	}
	if o.Problem == nil {
		o.log.Info("Results written", "directory", o.cfg.Artifacts.Dir)
	}
}

// judge makes of the result only what the verdict on the client depends on: all figures with their bounds take as much
// processor time as some fifty streams. Its error is that of compute.
func (o *outcome) judge() error {
	o.setFacts(o.records.profiling, load.Profiling)
	for _, w := range o.intake.Oddities() {
		o.log.Warn(w)
	}
	o.Result = o.records.headlineResult(o.Phases, o.clock.NowNS(), o.records.profiling.ResultsOf(headlines...))
	o.Result.WasCancelled = cancelled(o.Phases)
	unwritten := o.parts.each(func(p part) error { return p.finish(&o.ended) })
	o.Aborted = o.ending.reason(o.Result.WasCancelled)
	return unwritten
}

// compute makes the result. Its error joins the failures to write the parts' own files.
func (o *outcome) compute() error {
	o.setFacts(o.records.profiling, load.Profiling)
	if o.records.warmup != nil {
		o.setFacts(o.records.warmup, load.Warmup)
	}
	if o.cfg.GPU.PricePerHour > 0 && o.runFacts().GPUs == 0 {
		o.log.Warn("--price-per-gpu-hour: no GPU was seen, so there is no cost; give --num-gpus")
	}
	for _, w := range slices.Concat(o.intake.Oddities(), o.records.profiling.Warnings()) {
		o.log.Warn(w)
	}
	o.Result = summary.Build(o.facts(), o.records.profiling, o.records.warmup)
	o.settleSubmission()
	o.setRan(summary.PhasesRun(o.phaseStates(), o.clock.WallNS(o.clock.NowNS())))
	o.resent = o.health.requestsResent()
	o.addParts()
	unwritten := o.parts.each(func(p part) error { return p.finish(&o.ended) })
	o.noteSkipped()
	o.advise()
	o.Aborted = o.ending.reason(o.Result.WasCancelled)
	return unwritten
}

// export writes the reports.
func (o *outcome) export(state *summary.State) error {
	a := &o.cfg.Artifacts
	to := files.Options{From: *a, To: *a, Parquet: a.RecordsParquet, Width: o.cfg.Env.UI.ConsoleExportWidth}
	if a.Outputs {
		outputs := o.records.outputsExporter()
		to.Outputs = &outputs
	}
	if a.HTMLReport {
		to.Page = o.page.run(o.servers, o.gpus)
	}
	var err error
	if o.Console, err = files.Write(context.Background(), &o.Result, state, to); err != nil {
		o.log.Error("Reports could not be written", "error", err)
	}
	return err
}

// noteSkipped reports skipped requests, which are in no other figure.
func (o *outcome) noteSkipped() {
	c := &o.Result.Counts
	if c.Skipped == 0 {
		return
	}
	note := fmt.Sprintf("%d of %d requests were skipped, as their context was too long for the server; "+
		"--max-context-length leaves such recordings out",
		c.Skipped, c.Completed())
	o.log.Warn(note)
	o.shown.Notes = append(o.shown.Notes, note)
}

// settleSubmission adds the reason that only the results have: too many requests with a too long context.
func (o *outcome) settleSubmission() {
	r := &o.Result
	total := r.Counts.Completed()
	if r.Submission == nil || total == 0 {
		return
	}
	if n, ok := r.Value("context_overflow_count"); ok && n/float64(total) > o.cfg.Env.ContextOverflow.RateLimit {
		r.Submission.Reasons = append(r.Submission.Reasons, "context_overflow_rate_exceeded")
	}
}

// advise logs what to try against the errors of the run, and requests the server's models where that helps.
func (o *outcome) advise() {
	var failures []*record.Error
	for i := range o.Result.Errors {
		failures = append(failures, &o.Result.Errors[i].Error)
	}
	list := hint.ForAll(failures)
	o.Hints = list
	for _, h := range list {
		o.log.Warn("Requests failed. " + h.String())
	}
	if !slices.ContainsFunc(list, func(h hint.Hint) bool { return h.Name == hint.UnknownModel }) ||
		o.cfg.Endpoint.GRPC {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), modelsTimeout)
	defer cancel()
	names, from, err := o.target.serverModels(ctx)
	if err != nil {
		return // the errors of the run suffice
	}
	note := o.redactor.Text(from + " offers " + control.Listed(names))
	o.log.Warn(note)
	o.shown.Notes = append(slices.Clip(o.shown.Notes), note)
}
