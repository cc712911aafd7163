package resolve

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
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

// agentX is the scenario of recorded agents.
const agentX = "inferencex-agentx-mvp"

// The values that agentX demands.
const (
	agentXLeastSeconds = 900
	agentXSeconds      = 1800 // unless given
	agentXSystemIdle   = 10
	agentXCacheBust    = "first_turn_prefix"
)

func scenarios() []string { return []string{agentX} }

// agentXDatasets are the formats and the data sets without a name of their own that agentX allows.
func agentXDatasets() []string { return []string{"weka_trace", "weka_hf"} }

// agentXPublic are the names of the published data sets that agentX allows.
func agentXPublic() []string {
	return append(slices.Clone(option.WekaSets()[option.WekaAlone:]), agentXDatasets()...)
}

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
	sc.minStart, sc.maxStart = *sc.p.Float("trajectory-start-min-ratio"), *sc.p.Float("trajectory-start-max-ratio")
	sc.systemIdle = *sc.p.Float("system-idle-gap-cap-seconds")
	sc.duration = sc.p.Float("benchmark-duration")
	if !sc.given("scenario") {
		if sc.p.Bool("unsafe-override") {
			sc.warn("%s has no effect without --scenario", sc.flag("unsafe-override"))
		}
		return
	}
	name := sc.p.Text("scenario")
	if !slices.Contains(scenarios(), name) {
		sc.fault("", "%s %s is unknown: want %s", sc.flag("scenario"), fault.Shorten(name), orList(scenarios()))
		return
	}
	sc.submission = &config.Submission{Scenario: name}
	violations := sc.agentX()
	for _, v := range violations {
		switch {
		case v.locked:
			sc.fault("scenario", "scenario %s: %v", name, v)
		case sc.p.Bool("unsafe-override"):
			sc.warn("scenario %s: %v", name, v)
		default:
			sc.fault("scenario", "scenario %s: %v; %s turns this into a warning", name, v, "--unsafe-override")
		}
	}
	if len(violations) > 0 {
		sc.submission.Reasons = []string{"unsafe_override"}
	}
}

func (sc *scenario) agentX() (violations []violation) {
	add := func(name, required string) {
		violations = append(violations,
			violation{flag: sc.flag(name), current: fault.Shorten(fmt.Sprint(sc.p.Value(name))), required: required})
	}
	sc.mode = config.AgenticReplay
	for _, name := range []string{"request-rate", "request-rate-series", "arrival-pattern", "user-centric-rate",
		"fixed-schedule"} {
		if sc.active(name) {
			add(name, "agentic replay, which has no rate and no schedule")
			if name != "arrival-pattern" {
				sc.mode = "" // the explicit mode wins where it is allowed at all
			}
		}
	}
	if value, given := sc.p.Pairs("extra-inputs").Get("ignore_eos"); !given {
		sc.ignoreEOS = true
		sc.info("scenario %s: --extra-inputs ignore_eos:true", agentX)
	} else if value != true {
		violations = append(violations,
			violation{flag: "--extra-inputs ignore_eos", current: fault.Shorten(fmt.Sprint(value)), required: "true"})
	}
	switch {
	case sc.given("streaming") && !sc.p.Bool("streaming"):
		add("streaming", "true")
	case !sc.endpoint.canStream():
		violations = append(violations,
			violation{flag: sc.flag("endpoint-type"), current: sc.endpoint.endpointType, required: "one that streams"})
	case !sc.endpoint.streaming:
		sc.endpoint.streaming = true
		sc.info("scenario %s: --streaming", agentX)
	}
	for _, name := range []string{"synthesis-max-isl", "trace-idle-gap-cap-seconds", "inter-turn-delay-cap-seconds",
		"ignore-trace-delays"} {
		if sc.active(name) {
			add(name, "none")
		}
	}
	violations = append(violations, sc.agentXData()...)
	if sc.duration == nil {
		seconds := float64(agentXSeconds)
		sc.duration = &seconds
		sc.info("scenario %s: --benchmark-duration %d", agentX, agentXSeconds)
	} else if *sc.duration < agentXLeastSeconds {
		add("benchmark-duration", fmt.Sprintf("at least %d", agentXLeastSeconds))
	}
	if !sc.given("cache-bust") {
		sc.scenarioBust = agentXCacheBust
		sc.info("scenario %s: --cache-bust %s", agentX, agentXCacheBust)
	} else if sc.p.Text("cache-bust") != agentXCacheBust {
		add("cache-bust", agentXCacheBust)
	}
	if !sc.given("system-idle-gap-cap-seconds") {
		sc.systemIdle = agentXSystemIdle
		sc.info("scenario %s: --system-idle-gap-cap-seconds %d", agentX, agentXSystemIdle)
	} else if sc.systemIdle != agentXSystemIdle {
		add("system-idle-gap-cap-seconds", fmt.Sprint(agentXSystemIdle))
	}
	for _, start := range []struct {
		name  string
		value *float64
		unset float64
	}{{"trajectory-start-min-ratio", &sc.minStart, 0}, {"trajectory-start-max-ratio", &sc.maxStart, 1}} {
		if !sc.given(start.name) {
			*start.value = start.unset
			sc.info("scenario %s: --%s %.1f", agentX, start.name, start.unset)
		}
	}
	for _, o := range option.All() {
		if sc.p.Swept(o.Name) != nil {
			violations = append(violations,
				violation{flag: sc.flag(o.Name), current: "a list", required: "one value: no parameter sweep"})
		}
	}
	if sc.p.Int("random-seed") == nil && *sc.p.Int("num-profile-runs") == 1 {
		seed := rand.Uint64N(1 << 53) // what every JSON reader can read
		sc.seed = &seed
		sc.info("scenario %s: --random-seed %d", agentX, seed)
	}
	return violations
}

// agentXData checks where the recorded sessions come from.
func (sc *scenario) agentXData() []violation {
	required := orList(agentXDatasets()) + ", or one of the semianalysis_cc_traces_weka sets with subagents"
	if public := sc.file.published.name(); public != "" {
		if slices.Contains(agentXPublic(), public) {
			return nil
		}
		return []violation{{flag: sc.flag("public-dataset"), current: public, required: required}}
	}
	file := sc.p.Text("input-file")
	if file == "" {
		return []violation{{flag: "the data set", current: "synthetic",
			required: required + ", given with --input-file or --public-dataset", locked: true}}
	}
	if format := sc.file.format(file); !slices.Contains(agentXDatasets(), format) {
		unknown := format == ""
		if unknown {
			format = "of an unknown format"
		}
		return []violation{{flag: sc.flag("input-file"), current: format, required: required, locked: unknown}}
	}
	return nil
}

// cacheBust is the target of the marks against caches, empty for none.
func (sc *scenario) cacheBust() string {
	if sc.scenarioBust != "" {
		return sc.scenarioBust
	}
	if target := sc.p.Text("cache-bust"); target != "none" {
		return target
	}
	return ""
}
