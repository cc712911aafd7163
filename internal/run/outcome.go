package run

import (
	"cmp"
	"fmt"

	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
)

// outcome is an Outcome while it is made, at the end of a run or for a state during it.
type outcome struct {
	*execution
	ended
	// outside are the figures of plug-ins.
	outside []summary.OutsideMetric
	// warmupResults are the results of the warm-up during a run, when its engine had seen warmupSeen.
	warmupSeen    metrics.Snapshot
	warmupResults []metrics.Metric
}

// headlineResult is a result with the counts, and with those metrics that the verdict on the client depends on.
func (rs *recorder) headlineResult(phases []load.Stats, nowNS int64, headline []metrics.Metric) summary.Result {
	result := summary.Result{Metrics: headline}
	c, seen := &result.Counts, rs.profiling.Snapshot()
	*c = countsOf(phases, nowNS)
	c.Successes, c.Errors, c.Skipped = seen.Successes, seen.Errors, seen.Skipped
	return result
}

// setFacts sets the window of the phases of a kind, and the facts of the whole run, in their engine.
func (o *outcome) setFacts(engine *metrics.Engine, kind load.Kind) {
	engine.SetRunFacts(o.window(kind))
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
