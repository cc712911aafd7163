package resolve

import (
	"fmt"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
)

// scenario decides the values that a scenario sets and that were not given.
type scenario struct {
	*asked
	endpoint *endpoint
	file     *datafile

	submission *config.Submission
	// mode is AgenticReplay where the scenario decides the timing mode, else empty.
	mode     config.Mode
	duration *float64
	// seed is the one that the scenario drew.
	seed      *uint64
	ignoreEOS bool
	// scenarioBust is the target of marks against caches.
	scenarioBust string
	// minStart and maxStart bound the start within a recording; systemIdle is the cap of a wait of all.
	minStart, maxStart, systemIdle float64
}

// scenarios are the names of all scenarios; the demands of each stand in a file of its own.
func scenarios() []string { return []string{agentX} }

// violation is an explicit value that the scenario does not allow.
type violation struct {
	flag, current, required string
	// locked reports that --unsafe-override changes nothing: the scenario cannot run at all.
	locked bool
}

func (v violation) String() string {
	return fmt.Sprintf("%s is %s, the scenario demands %s", v.flag, v.current, v.required)
}

// decide sets what the scenario demands and was not given, and finds what contradicts it.
func (sc *scenario) decide() {
	sc.minStart, sc.maxStart = sc.p.TrajectoryStartMinRatio.Get(), sc.p.TrajectoryStartMaxRatio.Get()
	sc.systemIdle = sc.p.SystemIdleGapCapSeconds.Get()
	sc.duration = sc.p.BenchmarkDuration.Pointer()
	if !sc.p.Scenario.Given() {
		if sc.p.UnsafeOverride.Get() {
			sc.warn("%s has no effect without --scenario", sc.p.UnsafeOverride.Flag())
		}
		return
	}
	name := sc.p.Scenario.Get()
	if !slices.Contains(scenarios(), name) {
		sc.fault("", "%s %s is unknown: want %s", sc.p.Scenario.Flag(), fault.Shorten(name), orList(scenarios()))
		return
	}
	sc.submission = &config.Submission{Scenario: name}
	violations := sc.agentX()
	for _, v := range violations {
		switch {
		case v.locked:
			sc.fault("scenario", "scenario %s: %v", name, v)
		case sc.p.UnsafeOverride.Get():
			sc.warn("scenario %s: %v", name, v)
		default:
			sc.fault("scenario", "scenario %s: %v; %s turns this into a warning", name, v, "--unsafe-override")
		}
	}
	if len(violations) > 0 {
		sc.submission.Reasons = []string{"unsafe_override"}
	}
}

// cacheBust is the target of the marks against caches, empty for none.
func (sc *scenario) cacheBust() string {
	if sc.scenarioBust != "" {
		return sc.scenarioBust
	}
	if target := sc.p.CacheBust.Get(); target != "none" {
		return target
	}
	return ""
}
