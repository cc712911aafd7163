package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/files"
	"aiperf/internal/result/report/html"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/control"
)

// outcome is an Outcome while it is made, at the end of a run or for a state during it.
type outcome struct {
	*execution
	Outcome
	// ran are the phases that were started.
	ran []summary.Phase
	// shown is what the console shows in addition to the result.
	shown summary.ConsoleState
	// ledger has the totals of the servers; nil if their counters were not scraped.
	ledger *summary.Ledger
	// outside are the figures of plug-ins.
	outside []summary.OutsideMetric
	// warmupResults are the results of the warm-up during a run, when its engine had seen warmupSeen.
	warmupSeen    metrics.Snapshot
	warmupResults []metrics.Result
}

// finish makes the results and the files after the load has ended.
func (e *execution) finish(phases []load.Stats) (*Outcome, error) {
	// The last probes and the reports may need the descriptors and ports of idle connections.
	e.client.CloseIdle()
	unwritten := e.parts.each(part.stop)
	e.log.Info("Processing the records")
	e.drain(phases)
	phases = e.remote.settled(phases)
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
	o := &outcome{execution: e, Outcome: Outcome{Phases: phases}}
	if e.options.WithoutFiles {
		o.Problem = errors.Join(append(problems, o.judge())...)
	} else {
		o.write(append(problems, o.compute()))
	}
	out := o.Outcome // without the execution, which callers must not keep
	return &out, nil
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

// markReady writes the mark that programs wait for: all files of the run are complete, those of a cancelled run too.
func (o *outcome) markReady() error {
	return writeReady(o.cfg.Artifacts, o.Result.WasCancelled, o.Result.Incomplete != "")
}

// readyDocument is the mark.
type readyDocument struct {
	Ready     bool `json:"ready"`
	Cancelled bool `json:"was_cancelled"`
	Partial   bool `json:"partial"`
}

func writeReady(to config.Artifacts, cancelled, partial bool) error {
	text, err := artifact.AppendJSON(nil, artifact.ObjectOf(readyDocument{true, cancelled, partial}))
	if err != nil {
		return err
	}
	return artifact.WriteFile(to.Path(config.ResultsReady), text)
}

// MarkComplete writes that mark for a complete run of an earlier start that lacks it: its process may have been killed
// right before, or be one of a version without it.
func MarkComplete(to config.Artifacts) error {
	if _, err := os.Lstat(to.Path(config.ResultsReady)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := artifact.RemoveStale(to.Path(config.ResultsReady)); err != nil { // what writing it had begun
		return err
	}
	return writeReady(to, false, false)
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
	unwritten := o.parts.each(func(p part) error { return p.finish(o) })
	o.Aborted = o.ending.reason(o.Result.WasCancelled)
	return unwritten
}

// headlineResult is a result with the counts, and with those metrics that the verdict on the client depends on.
func (rs *recorder) headlineResult(phases []load.Stats, nowNS int64, headline []metrics.Result) summary.Result {
	result := summary.Result{Metrics: headline}
	c, seen := &result.Counts, rs.profiling.Snapshot()
	*c = countsOf(phases, nowNS)
	c.Successes, c.Errors, c.Skipped = seen.Successes, seen.Errors, seen.Skipped
	return result
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
	o.ran = summary.PhasesRun(o.phaseStates(), o.clock.WallNS(o.clock.NowNS()))
	o.addParts()
	unwritten := o.parts.each(func(p part) error { return p.finish(o) })
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
		to.Page = o.page.run(o)
	}
	var err error
	if o.Console, err = files.Write(context.Background(), &o.Result, state, to); err != nil {
		o.log.Error("Reports could not be written", "error", err)
	}
	return err
}

// setFacts sets the window of the phases of a kind, and the facts of the whole run, in their engine.
func (o *outcome) setFacts(engine *metrics.Engine, kind load.Kind) {
	engine.SetRunFacts(o.window(kind))
}

func cancelled(phases []load.Stats) bool {
	return slices.ContainsFunc(phases, func(p load.Stats) bool { return p.WasCancelled })
}

func emptyReason(phases []load.Stats) string {
	begun, c := phaseOf(phases, load.Profiling) != nil, countsOf(phases, 0)
	switch {
	case !begun && cancelled(phases):
		return "the run was cancelled before the profiling phase"
	case !begun:
		return "the profiling phase did not start"
	case c.Sent == 0:
		return "no request was sent"
	case c.CutOff == c.Sent:
		return fmt.Sprintf("all %d requests were cut off before they finished", c.Sent)
	}
	return ""
}

// phaseOf returns the first phase of a kind that has begun; nil if there is none.
func phaseOf(phases []load.Stats, kind load.Kind) *load.Stats {
	for i := range phases {
		if phases[i].Kind == kind && phases[i].State != load.Created {
			return &phases[i]
		}
	}
	return nil
}

// facts returns what the summary has of the run apart from its metrics.
func (o *outcome) facts() summary.Run {
	run := summary.Run{
		AIPerfVersion: o.options.Version,
		BenchmarkID:   o.id,
		RunInfo:       o.options.Info,
		InputConfig:   o.inputConfig(),
		Provenance:    o.origin,
		WasCancelled:  cancelled(o.Phases),
		EndpointTitle: o.target.descriptor.MetricsTitle,
		EndedEarly:    o.early.of(o.Phases, load.Profiling), WarmupEndedEarly: o.early.of(o.Phases, load.Warmup),
	}
	run.RunInfo.RandomSeed, run.RunInfo.CLICommand = o.cfg.RandomSeed, o.cfg.CLICommand
	run.RunInfo.VariationLabel = cmp.Or(run.RunInfo.VariationLabel, "base")
	if lacking := o.ending.lacking(); lacking != nil {
		run.Incomplete = o.redactor.Text(lacking.Error())
	}
	run.Submission = o.submission(&run)
	run.Accuracy = o.grading.result()
	p := phaseOf(o.Phases, load.Profiling)
	if p == nil {
		return run
	}
	run.StartNS = o.clock.WallNS(p.StartNS)
	run.Branches = o.branches()
	run.Dataset, run.Source = o.prompts.summary(), plan.Source(o.cfg)
	run.FinishReasons = o.health.endings()
	run.Counts = countsOf(o.Phases, o.clock.NowNS())
	return run
}

// submission reports whether the run complies with its scenario; nil without one.
func (o *outcome) submission(run *summary.Run) *summary.Submission {
	asked := o.cfg.Submission
	if asked == nil {
		return nil
	}
	s := &summary.Submission{Scenario: asked.Scenario, Reasons: append([]string{}, asked.Reasons...)}
	if run.WasCancelled {
		s.Reasons = append(s.Reasons, "was_cancelled")
	}
	if run.Incomplete != "" {
		s.Reasons = append(s.Reasons, "incomplete")
	}
	return s
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

func hasLanes(p *config.Phase) bool { return p.Lanes != nil }

// branches sums up the sessions of the profiling phases; nil if none may branch and none was recorded as a tree.
func (o *outcome) branches() *summary.Branches {
	if !o.content.data.Branches() && !o.cfg.AnyProfiling(hasLanes) {
		return nil
	}
	var sum summary.Branches
	for i := range o.Phases {
		if b := &o.Phases[i].Branches; o.Phases[i].Kind == load.Profiling {
			sum.GraphsAdmitted += o.Phases[i].SentSessions
			sum.GraphsCompleted += o.Phases[i].CompletedSessions
			sum.ChildrenSpawned += b.ChildrenSpawned
			sum.ChildrenCompleted += b.ChildrenCompleted
			sum.ChildrenErrored += b.ChildrenErrored
			sum.ChildrenTruncated += b.ChildrenTruncated
			sum.ChildrenDelayed += b.ChildrenDelayed
			sum.ParentsSuspended += b.ParentsSuspended
			sum.ParentsResumed += b.ParentsResumed
			sum.ParentsFailed += b.ParentsFailed
			sum.JoinsSuppressed += b.JoinsSuppressed
		}
	}
	return &sum
}

// course returns what the run observed of its own course.
func (o *outcome) course() trust.Course {
	r := &o.Result
	away := o.reach.outage()
	c := trust.Course{Unreached: away.Failures, Outage: away.Longest, UnreachedBefore: away.Before,
		UnreachedAfter: away.After,
		First:          o.health.firstRequests(o.cfg.Endpoint.Streaming)}
	if r.Reconciliation != nil {
		if message, advice, found := r.Reconciliation.Finding(); found {
			c.Totals = &trust.Totals{Message: message, Advice: advice, Quiet: r.Reconciliation.Quiet()}
		}
	}
	if cached := r.Cached; cached.Warm() {
		c.WarmCache = &trust.WarmCache{Share: cached.Share, Repeats: cached.Repeats, Remedy: o.content.freshCache(),
			Quiet: o.options.Info.RunLabel != ""}
	}
	if o.content.repeatsMatter(o.content.data) {
		p := &o.prompts
		p.mu.Lock()
		c.Prompts = &trust.Prompts{Distinct: p.distinct, Sent: p.sent, Max: p.max,
			Remedy: o.content.uniquePrompts(p.sent), Announced: o.content.repeatsAnnounced}
		p.mu.Unlock()
	}
	return c
}

// modelsTimeout bounds the request for the models of a server, after requests for one failed.
const modelsTimeout = 5 * time.Second

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

// pageData collects the requests for the HTML report during the run, so that no file has to be read again.
type pageData struct {
	passive
	startNS  func() int64
	once     sync.Once
	requests *timeline.Recorder
}

// record adds a request of the profiling phases.
func (p *pageData) record(r *record.Record) {
	if r.Phase == record.PhaseWarmup || r.ContextOverflowSkip {
		return
	}
	p.once.Do(func() { p.requests = timeline.New(p.startNS()) })
	p.requests.Add(r)
}

// run returns the collected data of the page.
func (p *pageData) run(o *outcome) *html.Run {
	run := &html.Run{Requests: p.requests}
	if s := o.servers; s != nil {
		run.Servers = servermetrics.Curves(s.collector.Store())
	}
	if g := o.gpus; g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		run.GPUs = g.store.Curves()
	}
	return run
}
