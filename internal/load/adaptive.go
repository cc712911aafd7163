package load

import (
	"errors"
	"fmt"
	"math"
	"time"

	"aiperf/internal/base/clock"
)

// Variable is what an adaptive phase changes.
type Variable uint8

// The variables.
const (
	ControlConcurrency Variable = iota
	ControlPrefill
	ControlRequestRate
	ControlUsers
)

// VariableNames returns the names of the variables as they stand in files, by their value.
func VariableNames() []string {
	return []string{"concurrency", "prefill_concurrency", "request_rate", "users"}
}

// String returns the variable as it stands in files.
func (v Variable) String() string { return VariableNames()[v] }

// StepPolicy is how large the steps of an adaptive phase are.
type StepPolicy uint8

// The policies: by the distance to the nearest limit, or by a share of the value.
const (
	SLAMargin StepPolicy = iota
	FixedPercentStep
)

// StepPolicyNames returns the names of the policies as they stand in files, by their value.
func StepPolicyNames() []string { return []string{"sla_margin", "fixed_percent_step"} }

// String returns the policy as it stands in files.
func (s StepPolicy) String() string { return StepPolicyNames()[s] }

// StrategyRampUntilFail is the only strategy.
const StrategyRampUntilFail = "ramp_until_fail"

// defaultAssessmentPeriod is the length of a window if none is given.
const defaultAssessmentPeriod = 30 * time.Second

// Adaptive searches the load at which the service begins to miss an SLA, and then holds the highest load at which it
// met all of them.
type Adaptive struct {
	Variable Variable
	// Min is where it begins, 0 = 1; Max is 0 for the value of the phase.
	Min, Max float64
	// Period is the length of a window, at least a second, 0 for the default; Sustain how long the load found is held.
	Period, Sustain time.Duration
	// MinCompleted successes make a window count; 0 means 1.
	MinCompleted int64
	Policy       StepPolicy
	// BaseStep and MaxMultiplier belong to SLAMargin, StepPercent to FixedPercentStep; 0 means 10, 4 and 25.
	BaseStep, MaxMultiplier, StepPercent float64
	// SLA must all hold in a window for it to pass.
	SLA []SLA
}

// WithDefaults fills in what is left out and does not depend on the phase.
func (a Adaptive) WithDefaults() Adaptive {
	for _, d := range []struct {
		value *float64
		def   float64
	}{{&a.Min, 1}, {&a.BaseStep, 10}, {&a.MaxMultiplier, 4}, {&a.StepPercent, 25}} {
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	orDefault(&a.Period, defaultAssessmentPeriod)
	a.MinCompleted = max(1, a.MinCompleted)
	return a
}

// withDefaults fills in what is left out.
func (a Adaptive) withDefaults(p Phase) Adaptive {
	if a.Max == 0 {
		a.Max = a.ofPhase(p)
	}
	return a.WithDefaults()
}

// ofPhase returns the value that the phase has for the variable, 0 = none.
func (a Adaptive) ofPhase(p Phase) float64 {
	switch a.Variable {
	case ControlPrefill:
		return float64(p.Prefill)
	case ControlRequestRate:
		return p.Arrivals.Rate
	case ControlUsers:
		if p.mode() == byUsers {
			return float64(p.Users.Count)
		}
		return 0
	}
	return float64(p.Concurrency)
}

// validate returns an error for a search without an end, or whose variable the phase does not have or changes by
// itself.
func (a Adaptive) validate(p Phase) error {
	ramps := [...]Ramp{p.ConcurrencyRamp, p.PrefillRamp, p.Arrivals.Ramp.Ramp, {}}
	d := a.withDefaults(p)
	whole := a.Variable != ControlRequestRate
	switch {
	case a.ofPhase(p) == 0:
		return fmt.Errorf("an adaptive phase needs its own value of %s", a.Variable)
	case p.Duration == 0:
		return errors.New("an adaptive phase needs a duration")
	case p.mode() == bySchedule:
		return errors.New("a phase with a schedule cannot be adaptive")
	case p.Barrier:
		return errors.New("an adaptive phase has no barrier")
	case ramps[a.Variable].Duration != 0 || a.Variable == ControlRequestRate && len(p.Arrivals.Series) > 0:
		return fmt.Errorf("%s is adapted and cannot be ramped as well", a.Variable)
	case !(d.Min > 0) || !(d.Max > d.Min) || math.IsInf(d.Max, 0) || whole &&
		(d.Min != math.Trunc(d.Min) || d.Max != math.Trunc(d.Max)):
		return fmt.Errorf("%s is adapted between %v and %v: the maximum must be above the minimum, and both above 0 "+
			"and whole but for a rate", a.Variable, d.Min, d.Max)
	case a.Variable == ControlPrefill && p.Concurrency > 0 && d.Max > float64(p.Concurrency):
		return fmt.Errorf("prefill_concurrency is adapted up to %v, which is more than the concurrency %d", d.Max,
			p.Concurrency)
	case d.Period < time.Second || a.Sustain <= 0:
		return fmt.Errorf("the assessment period must be at least 1 s and the sustain duration above 0, got %v and %v",
			a.Period, a.Sustain)
	case d.BaseStep < 0 || d.MaxMultiplier < 1 || d.StepPercent < 0:
		return errors.New("the steps of an adaptive phase must not be negative and its multiplier at least 1")
	}
	return validateSLA(a.SLA)
}

// WindowSource measures how the service performs.
type WindowSource interface {
	// TakeWindow returns what has come back since the call before and begins a new window. It is called from the loop
	// and must not block.
	TakeWindow(phase int) Window
}

// Window is what came back in a time.
type Window struct {
	Successes         []Sample
	Errors, Cancelled int64
}

// Sample is one success. Latencies are in milliseconds, NaN = none. IssuedNS is the wall clock time of its credit, 0 =
// not known.
type Sample struct {
	IssuedNS                 int64
	LatencyMS, TTFTMS, ITLMS float64
	OutputTokens             int64
}

// tally is what the loop knows of the phase.
type tally struct{ sent, inFlight int64 }

// controller is the search of one adaptive phase.
type controller struct {
	opt     Adaptive
	windows WindowSource
	clock   *clock.Clock
	phase   int
	// value is that of the variable; dueNS the end of the window that began at sinceNS.
	value          float64
	sinceNS, dueNS int64
	// changedNS is since when the value is applied.
	changedNS int64
	// sent is what the tally had at the start of the window.
	sent int64

	sustaining, recovering, over bool
	sustainNS                    int64
	lastPassing, firstFailing    *float64
	boundary                     *float64
	iteration                    int
	result                       AdaptiveResult
}

func newController(p Phase, windows WindowSource, c *clock.Clock, index int) *controller {
	opt := p.Adaptive.withDefaults(p)
	return &controller{
		opt: opt, windows: windows, clock: c, phase: index, value: opt.Min,
		result: AdaptiveResult{Phase: index, Summary: newAdaptiveSummary(opt, p, index)},
	}
}

// start begins the first window.
func (c *controller) start(nowNS int64) {
	c.windows.TakeWindow(c.phase)
	c.sinceNS, c.dueNS, c.changedNS = nowNS, addNS(nowNS, c.opt.Period), nowNS
	c.addEvent("adaptive_phase_started", nowNS, assessment{before: c.value}, "")
}

// assess measures the window that has ended and decides; done reports that the search is over.
func (c *controller) assess(nowNS int64, t tally) (done bool) {
	a := c.measureWindow(nowNS, t)
	c.addEvent("adaptive_window", nowNS, a, a.verdict.String())
	reason := c.decide(nowNS, &a)
	c.addCandidate(nowNS, a)
	switch {
	case a.discovered:
		c.addEvent("sustain_started", nowNS, a, reasonHolding)
		there := a
		there.before = c.value
		c.addEvent("boundary_discovered", nowNS, there, reason)
	case !c.over || reason == reasonSustained:
		c.addEvent("adaptive_decision", nowNS, a, reason)
	}
	c.sinceNS, c.dueNS, c.sent = nowNS, addNS(nowNS, c.opt.Period), t.sent
	if c.over {
		c.finish(nowNS, a, reason)
	}
	if c.value != a.before {
		c.changedNS = nowNS
	}
	c.iteration++
	return c.over
}

// end closes a search that the phase outlived.
func (c *controller) end(nowNS int64, t tally) {
	if c.over {
		return
	}
	c.over = true
	c.finish(nowNS, c.measureWindow(nowNS, t), reasonPhaseStopped)
}

// decide changes the value and returns the reason.
func (c *controller) decide(nowNS int64, a *assessment) (reason string) {
	if c.sustaining && a.verdict != inconclusive {
		c.result.Summary.SustainWindows++
	}
	switch {
	case a.verdict == inconclusive:
		return reasonInconclusive
	case c.sustaining && a.verdict == passed:
		return c.sustain(nowNS)
	case c.sustaining:
		return c.recoverSustain(a)
	case a.verdict == passed:
		return c.raise(a)
	default:
		return c.startSustain(nowNS, a)
	}
}

// The reasons for which a search ends, and those of single decisions.
const (
	reasonMaximum       = "max_control_value_reached_without_saturation"
	reasonNothingPasses = "no_sustainable_concurrency_found"
	reasonSustained     = "sustain_duration_completed"
	reasonNotRecovered  = "sustain_failed_after_recovery"
	reasonUnrecoverable = "sustain_failed_sla_unrecoverable"
	reasonPhaseStopped  = "phase_stopped"

	reasonInconclusive = "insufficient_samples"
	reasonStepUp       = "sla_passed"
	reasonBoundary     = "sla_failed"
	reasonHolding      = "sustaining"
	reasonRecovering   = "sustain_recovery_step"
)

// raise increases the value after a window that passed.
func (c *controller) raise(a *assessment) string {
	c.lastPassing = new(c.value)
	if c.value >= c.opt.Max {
		c.over = true
		return reasonMaximum
	}
	a.step = c.opt.step(c.value, a.margin)
	c.value = min(c.opt.Max, c.value+a.step)
	return reasonStepUp
}

// startSustain goes back to the last value that passed, and begins to hold it.
func (c *controller) startSustain(nowNS int64, a *assessment) string {
	c.firstFailing = new(c.value)
	if c.lastPassing == nil {
		c.over = true
		return reasonNothingPasses
	}
	a.discovered = true
	c.boundary = new(*c.lastPassing)
	c.value = *c.lastPassing
	c.sustaining, c.sustainNS = true, nowNS
	return reasonBoundary
}

// sustain goes on after a window that passed, until the value was held long enough.
func (c *controller) sustain(nowNS int64) string {
	c.recovering = false
	c.lastPassing = new(c.value)
	c.result.Summary.SustainPassedWindows++
	if nowNS-c.sustainNS < int64(c.opt.Sustain) {
		return reasonHolding
	}
	c.over = true
	return reasonSustained
}

// recoverSustain goes one step down after a window that failed, once.
func (c *controller) recoverSustain(a *assessment) string {
	switch {
	case c.value <= c.opt.Min:
		c.over = true
		return reasonUnrecoverable
	case c.recovering:
		c.over = true
		return reasonNotRecovered
	}
	c.recovering = true
	if *c.lastPassing < c.value {
		c.value = *c.lastPassing
		return reasonRecovering
	}
	a.step = c.opt.step(c.value, a.margin)
	c.value = max(c.opt.Min, c.value-a.step)
	return reasonRecovering
}

// step returns the distance to the next value: by how much the window was better than its nearest limit, or a
// percentage.
func (a Adaptive) step(current, margin float64) float64 {
	if a.Policy == FixedPercentStep {
		return max(1, math.Ceil(current*a.StepPercent/100))
	}
	return a.BaseStep * max(1, min(a.MaxMultiplier, math.Trunc(max(0, margin)*a.MaxMultiplier)))
}
