package load

import (
	"math"
	"time"
)

// AdaptiveSchema is the version of the files that are written of the events and the summary.
const AdaptiveSchema = 2

// AdaptiveResult is what an adaptive phase did and found, so far while it runs: what is written in the summary at the
// end is not in it before.
type AdaptiveResult struct {
	Phase   int
	Events  []AdaptiveEvent
	Summary AdaptiveSummary
}

// AdaptiveControl is the value of the variable: as it was set, and as it is applied.
type AdaptiveControl struct {
	Actual float64 `json:"actual_value"`
	Target float64 `json:"target_value"`
}

// AdaptiveEvent is one line of adaptive_scale_events.jsonl. Its keys are in order; what is not known is null.
type AdaptiveEvent struct {
	AcceptedValue      float64             `json:"accepted_value"`
	AdaptiveIteration  int                 `json:"adaptive_iteration"`
	BindingSLA         *string             `json:"binding_sla"`
	BoundaryValue      *float64            `json:"boundary_value"`
	Cancelled          int64               `json:"cancelled"`
	CandidateValue     float64             `json:"candidate_value"`
	Completed          int64               `json:"completed"`
	Control            AdaptiveControl     `json:"control"`
	ControlValue       float64             `json:"control_value"`
	ControlValueAfter  float64             `json:"control_value_after"`
	ControlValueBefore float64             `json:"control_value_before"`
	ControlVariable    string              `json:"control_variable"`
	ErrorCount         int64               `json:"error_count"`
	Errored            int64               `json:"errored"`
	Event              string              `json:"event"`
	FaultWindowID      *string             `json:"fault_window_id"`
	FirstFailingValue  *float64            `json:"first_failing_value"`
	InFlight           int64               `json:"in_flight"`
	LastPassingValue   *float64            `json:"last_passing_value"`
	Phase              string              `json:"phase"`
	PhaseEndTS         *int64              `json:"phase_end_ts"`
	PhaseID            string              `json:"phase_id"`
	PhaseIndex         int                 `json:"phase_index"`
	PhaseKind          string              `json:"phase_kind"`
	PhaseName          string              `json:"phase_name"`
	PhaseStartTS       *int64              `json:"phase_start_ts"`
	ProfilingIndex     *int                `json:"profiling_index"`
	Reason             *string             `json:"reason"`
	RunID              *string             `json:"run_id"`
	SampleCount        int64               `json:"sample_count"`
	SchemaVersion      int                 `json:"schema_version"`
	Sent               int64               `json:"sent"`
	SLABound           *float64            `json:"sla_bound"`
	SLAMetric          *string             `json:"sla_metric"`
	SLAOp              *string             `json:"sla_op"`
	SLAPassed          *bool               `json:"sla_passed"`
	SLAStat            *string             `json:"sla_stat"`
	SLAValue           *float64            `json:"sla_value"`
	SLAValues          map[string]*float64 `json:"sla_values"`
	StepPolicy         string              `json:"step_policy"`
	StepSize           *float64            `json:"step_size"`
	StrategyType       string              `json:"strategy_type"`
	Throughput         float64             `json:"throughput"`
	Timestamp          int64               `json:"timestamp"`
	TimestampNS        int64               `json:"timestamp_ns"`
	TimestampUTC       string              `json:"timestamp_utc"`
}

// AdaptiveBound is the SLA that a summary names.
type AdaptiveBound struct {
	Bound  *float64 `json:"bound"`
	Metric *string  `json:"metric"`
	Op     *string  `json:"op"`
	Stat   *string  `json:"stat"`
}

// AdaptiveFound are the values around the boundary.
type AdaptiveFound struct {
	BoundaryValue     *float64 `json:"boundary_value"`
	FirstFailingValue *float64 `json:"first_failing_value"`
	LastPassingValue  *float64 `json:"last_passing_value"`
}

// AdaptiveTotals count over all windows.
type AdaptiveTotals struct {
	Cancelled int64 `json:"cancelled"`
	Completed int64 `json:"completed"`
	Errored   int64 `json:"errored"`
	Sent      int64 `json:"sent"`
}

// AdaptiveSummary is adaptive_scale_summary.json. Its keys are in order.
type AdaptiveSummary struct {
	BaseStep               float64             `json:"base_step"`
	BoundaryValue          *float64            `json:"boundary_value"`
	Candidates             []AdaptiveCandidate `json:"candidates"`
	CompletedReason        string              `json:"completed_reason"`
	Control                AdaptiveControl     `json:"control"`
	ControlValue           float64             `json:"control_value"`
	ControlVariable        string              `json:"control_variable"`
	FirstFailingValue      *float64            `json:"first_failing_value"`
	LastPassingValue       *float64            `json:"last_passing_value"`
	MaxStepMultiplier      float64             `json:"max_step_multiplier"`
	PhaseIndex             int                 `json:"phase_index"`
	PhaseKind              string              `json:"phase_kind"`
	PhaseName              string              `json:"phase_name"`
	ProfilingIndex         *int                `json:"profiling_index"`
	Result                 AdaptiveFound       `json:"result"`
	SchemaVersion          int                 `json:"schema_version"`
	SLA                    AdaptiveBound       `json:"sla"`
	SLABound               *float64            `json:"sla_bound"`
	SLAMetric              *string             `json:"sla_metric"`
	SLAOp                  *string             `json:"sla_op"`
	SLAPassedDuringSustain bool                `json:"sla_passed_during_sustain"`
	SLAStat                *string             `json:"sla_stat"`
	Status                 string              `json:"status"`
	StepPercent            float64             `json:"step_percent"`
	StepPolicy             string              `json:"step_policy"`
	StrategyType           string              `json:"strategy_type"`
	SustainDurationSeconds float64             `json:"sustain_duration_seconds"`
	SustainPassedWindows   int                 `json:"sustain_passed_windows"`
	SustainStartedAt       *int64              `json:"sustain_started_at"`
	SustainWindows         int                 `json:"sustain_windows"`
	Throughput             float64             `json:"throughput"`
	Totals                 AdaptiveTotals      `json:"totals"`
}

// AdaptiveCandidate is one window and what became of its value.
type AdaptiveCandidate struct {
	Accepted          bool     `json:"accepted"`
	AdaptiveIteration int      `json:"adaptive_iteration"`
	Cancelled         int64    `json:"cancelled"`
	CandidateValue    float64  `json:"candidate_value"`
	ControlValue      float64  `json:"control_value"`
	DurationS         float64  `json:"duration_s"`
	EndTS             string   `json:"end_ts"`
	ErrorCount        int64    `json:"error_count"`
	ITLP50MS          *float64 `json:"itl_p50_ms"`
	ITLP95MS          *float64 `json:"itl_p95_ms"`
	ITLP99MS          *float64 `json:"itl_p99_ms"`
	LatencyAvgMS      *float64 `json:"latency_avg_ms"`
	LatencyP50MS      *float64 `json:"latency_p50_ms"`
	LatencyP95MS      *float64 `json:"latency_p95_ms"`
	LatencyP99MS      *float64 `json:"latency_p99_ms"`
	RejectionReason   *string  `json:"rejection_reason"`
	RequestCount      int64    `json:"request_count"`
	StartTS           string   `json:"start_ts"`
	SuccessCount      int64    `json:"success_count"`
	SuccessRate       float64  `json:"success_rate"`
	ThroughputRPS     float64  `json:"throughput_rps"`
	TTFTP50MS         *float64 `json:"ttft_p50_ms"`
	TTFTP95MS         *float64 `json:"ttft_p95_ms"`
	TTFTP99MS         *float64 `json:"ttft_p99_ms"`
}

func newAdaptiveSummary(opt Adaptive, p Phase, index int) AdaptiveSummary {
	return AdaptiveSummary{
		PhaseIndex: index, PhaseKind: p.Kind.String(), PhaseName: p.Name,
		SustainDurationSeconds: opt.Sustain.Seconds(),
		BaseStep:               opt.BaseStep, ControlVariable: opt.Variable.String(),
		MaxStepMultiplier: opt.MaxMultiplier,
		SchemaVersion:     AdaptiveSchema, StepPercent: opt.StepPercent, StepPolicy: opt.Policy.String(),
		StrategyType: StrategyRampUntilFail, Candidates: []AdaptiveCandidate{},
	}
}

// The outcomes of a search.
var adaptiveOutcomes = map[string]struct{ status, event string }{
	reasonSustained:     {"completed", "adaptive_complete"},
	reasonMaximum:       {"incomplete", "adaptive_incomplete"},
	reasonPhaseStopped:  {"incomplete", "adaptive_incomplete"},
	reasonNothingPasses: {"failed", "adaptive_failed"},
	reasonNotRecovered:  {"failed", "adaptive_failed"},
	reasonUnrecoverable: {"failed", "adaptive_failed"},
}

// finite returns what JSON can say of a number.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// bound returns the SLA that a window was nearest to, the first if there was no window.
func (c *controller) bound(a assessment) AdaptiveBound {
	sla := c.opt.SLA[max(0, a.binding)]
	return AdaptiveBound{Bound: &sla.Threshold, Metric: &sla.Metric, Op: &sla.Op, Stat: &sla.Stat}
}

// utc returns an instant as files have it.
func (c *controller) utc(ns int64) string {
	return time.Unix(0, c.clock.WallNS(ns)).UTC().Format("2006-01-02T15:04:05.000000Z")
}

func (c *controller) control() AdaptiveControl {
	return AdaptiveControl{Actual: c.value, Target: c.value}
}

// addEvent adds what happened at an instant to the list of events. Each repeats the state of the whole search, so that
// it can be read by itself.
func (c *controller) addEvent(name string, nowNS int64, a assessment, reason string) {
	wall := c.clock.WallNS(nowNS)
	bound := c.bound(a)
	of := &c.result.Summary
	e := AdaptiveEvent{
		AcceptedValue: c.value, AdaptiveIteration: c.iteration, CandidateValue: a.before,
		BoundaryValue: c.boundary, Cancelled: a.Cancelled, Completed: int64(len(a.Successes)) + a.Errors,
		Control: c.control(), ControlValue: c.value, ControlValueAfter: c.value, ControlValueBefore: a.before,
		ControlVariable: c.opt.Variable.String(), ErrorCount: a.Errors, Errored: a.Errors, Event: name,
		FirstFailingValue: c.firstFailing, InFlight: a.tally.inFlight, LastPassingValue: c.lastPassing,
		Phase: "discover", PhaseID: of.PhaseName, PhaseIndex: of.PhaseIndex, PhaseKind: of.PhaseKind,
		PhaseName: of.PhaseName, ProfilingIndex: of.ProfilingIndex, Reason: text(reason),
		SampleCount: int64(len(a.Successes)), SchemaVersion: AdaptiveSchema,
		Sent: a.sent, SLABound: bound.Bound, SLAMetric: bound.Metric, SLAOp: bound.Op, SLAStat: bound.Stat,
		SLAValues: map[string]*float64{}, StepPolicy: c.opt.Policy.String(),
		StrategyType: StrategyRampUntilFail, Throughput: a.throughput(),
		Timestamp: wall, TimestampNS: wall, TimestampUTC: c.utc(nowNS),
	}
	if a.step > 0 {
		e.StepSize = new(a.step)
	}
	switch {
	case c.over:
		e.Phase = "complete"
	case c.sustaining:
		e.Phase = "sustain"
	}
	if a.verdict != inconclusive {
		e.SLAPassed = new(a.verdict == passed)
	}
	for i, value := range a.values {
		e.SLAValues[c.opt.SLA[i].String()] = finite(value)
	}
	if len(a.values) > 0 {
		e.BindingSLA, e.SLAValue = new(c.opt.SLA[a.binding].String()), finite(a.values[a.binding])
	}
	c.result.Events = append(c.result.Events, e)
}

// addCandidate adds a window to the summary. Values that are not finite are left out, as JSON has none.
func (c *controller) addCandidate(nowNS int64, a assessment) {
	latency, ttft, itl := a.latencies("request_latency"), a.latencies("ttft"), a.latencies("itl")
	of := func(values []float64, stat string) *float64 { return finite(statistic(values, stat)) }
	entry := AdaptiveCandidate{
		Accepted: a.verdict == passed, AdaptiveIteration: c.iteration, Cancelled: a.Cancelled,
		CandidateValue: a.before, ControlValue: a.before,
		DurationS: a.seconds(), StartTS: c.utc(a.from), EndTS: c.utc(nowNS),
		ErrorCount: a.Errors, RequestCount: a.attempts(), SuccessCount: int64(len(a.Successes)),
		SuccessRate: a.successRate(), ThroughputRPS: a.throughput(),
		LatencyAvgMS: of(latency, "avg"), LatencyP50MS: of(latency, "p50"), LatencyP95MS: of(latency, "p95"),
		LatencyP99MS: of(latency, "p99"),
		TTFTP50MS:    of(ttft, "p50"), TTFTP95MS: of(ttft, "p95"), TTFTP99MS: of(ttft, "p99"),
		ITLP50MS: of(itl, "p50"), ITLP95MS: of(itl, "p95"), ITLP99MS: of(itl, "p99"),
	}
	switch {
	case a.verdict == inconclusive:
		entry.RejectionReason = new("insufficient_samples")
	case a.verdict == failedSLA && a.onlyFailures:
		entry.RejectionReason = new("error_threshold")
	case a.verdict == failedSLA:
		entry.RejectionReason = new("sla_miss")
	}
	s := &c.result.Summary
	s.Candidates = append(s.Candidates, entry)
	c.addTotals(a)
}

// addTotals adds a window to the totals.
func (c *controller) addTotals(a assessment) {
	s := &c.result.Summary
	s.Totals.Cancelled += a.Cancelled
	s.Totals.Errored += a.Errors
	s.Totals.Completed += int64(len(a.Successes)) + a.Errors
	s.Totals.Sent += a.sent
	s.Throughput = a.throughput()
}

// finish writes the summary.
func (c *controller) finish(nowNS int64, a assessment, reason string) {
	outcome := adaptiveOutcomes[reason]
	c.addEvent(outcome.event, nowNS, a, reason)
	if reason == reasonPhaseStopped {
		c.addTotals(a)
	}
	s := &c.result.Summary
	bound := c.bound(a)
	s.Status, s.CompletedReason = outcome.status, reason
	s.BoundaryValue, s.LastPassingValue, s.FirstFailingValue = c.boundary, c.lastPassing, c.firstFailing
	s.Control = c.control()
	s.ControlValue = c.value
	s.Result = AdaptiveFound{BoundaryValue: c.boundary, FirstFailingValue: c.firstFailing,
		LastPassingValue: c.lastPassing}
	s.SLA = bound
	s.SLABound, s.SLAMetric, s.SLAOp, s.SLAStat = bound.Bound, bound.Metric, bound.Op, bound.Stat
	s.SLAPassedDuringSustain = s.SustainWindows > 0 && s.SustainPassedWindows == s.SustainWindows
	if c.sustaining {
		s.SustainStartedAt = new(c.clock.WallNS(c.sustainNS))
	}
}
