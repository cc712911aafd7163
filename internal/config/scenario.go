package config

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

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
	return append(slices.Clone(wekaSets()[wekaAlone:]), agentXDatasets()...)
}

// Submission reports whether a run keeps its scenario.
type Submission struct {
	Scenario string
	// Reasons are why the run cannot be handed in; empty if it can.
	Reasons []string
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

// decideScenario sets what the scenario demands and was not given, and finds what contradicts it.
func (d *draft) decideScenario() {
	if !d.given("scenario") {
		if d.p.Bool("unsafe-override") {
			d.warn("%s has no effect without --scenario", d.flag("unsafe-override"))
		}
		return
	}
	name := d.p.Text("scenario")
	if !slices.Contains(scenarios(), name) {
		d.fault("", "%s %s is unknown: want %s", d.flag("scenario"), shorten(name), orList(scenarios()))
		return
	}
	d.submission = &Submission{Scenario: name}
	violations := d.agentX()
	for _, v := range violations {
		switch {
		case v.locked:
			d.fault("scenario", "scenario %s: %v", name, v)
		case d.p.Bool("unsafe-override"):
			d.warn("scenario %s: %v", name, v)
		default:
			d.fault("scenario", "scenario %s: %v; %s turns this into a warning", name, v, "--unsafe-override")
		}
	}
	if len(violations) > 0 {
		d.submission.Reasons = []string{"unsafe_override"}
	}
}

func (d *draft) agentX() (violations []violation) {
	add := func(name, required string) {
		violations = append(violations,
			violation{flag: d.flag(name), current: shorten(fmt.Sprint(d.p.Value(name))), required: required})
	}
	d.mode = AgenticReplay
	for _, name := range []string{"request-rate", "request-rate-series", "arrival-pattern", "user-centric-rate",
		"fixed-schedule"} {
		if d.active(name) {
			add(name, "agentic replay, which has no rate and no schedule")
			if name != "arrival-pattern" {
				d.mode = "" // the explicit mode wins where it is allowed at all
			}
		}
	}
	if value, given := d.p.Pairs("extra-inputs").Get("ignore_eos"); !given {
		d.ignoreEOS = true
		d.info("scenario %s: --extra-inputs ignore_eos:true", agentX)
	} else if value != true {
		violations = append(violations,
			violation{flag: "--extra-inputs ignore_eos", current: shorten(fmt.Sprint(value)), required: "true"})
	}
	switch {
	case d.given("streaming") && !d.p.Bool("streaming"):
		add("streaming", "true")
	case !d.canStream():
		violations = append(violations,
			violation{flag: d.flag("endpoint-type"), current: d.endpointType, required: "one that streams"})
	case !d.streaming:
		d.streaming = true
		d.info("scenario %s: --streaming", agentX)
	}
	for _, name := range []string{"synthesis-max-isl", "trace-idle-gap-cap-seconds", "inter-turn-delay-cap-seconds",
		"ignore-trace-delays"} {
		if d.active(name) {
			add(name, "none")
		}
	}
	violations = append(violations, d.agentXData()...)
	d.duration = d.p.Float("benchmark-duration")
	if d.duration == nil {
		seconds := float64(agentXSeconds)
		d.duration = &seconds
		d.info("scenario %s: --benchmark-duration %d", agentX, agentXSeconds)
	} else if *d.duration < agentXLeastSeconds {
		add("benchmark-duration", fmt.Sprintf("at least %d", agentXLeastSeconds))
	}
	if !d.given("cache-bust") {
		d.scenarioBust = agentXCacheBust
		d.info("scenario %s: --cache-bust %s", agentX, agentXCacheBust)
	} else if d.p.Text("cache-bust") != agentXCacheBust {
		add("cache-bust", agentXCacheBust)
	}
	if !d.given("system-idle-gap-cap-seconds") {
		d.systemIdle = agentXSystemIdle
		d.info("scenario %s: --system-idle-gap-cap-seconds %d", agentX, agentXSystemIdle)
	} else if d.systemIdle != agentXSystemIdle {
		add("system-idle-gap-cap-seconds", fmt.Sprint(agentXSystemIdle))
	}
	for _, start := range []struct {
		name  string
		value *float64
		unset float64
	}{{"trajectory-start-min-ratio", &d.minStart, 0}, {"trajectory-start-max-ratio", &d.maxStart, 1}} {
		if !d.given(start.name) {
			*start.value = start.unset
			d.info("scenario %s: --%s %.1f", agentX, start.name, start.unset)
		}
	}
	for _, o := range table().options {
		if d.p.Swept(o.Name) != nil {
			violations = append(violations,
				violation{flag: d.flag(o.Name), current: "a list", required: "one value: no parameter sweep"})
		}
	}
	if d.p.Int("random-seed") == nil && *d.p.Int("num-profile-runs") == 1 {
		seed := rand.Uint64N(1 << 53) // what every JSON reader can read
		d.seed = &seed
		d.info("scenario %s: --random-seed %d", agentX, seed)
	}
	return violations
}

// agentXData checks where the recorded sessions come from.
func (d *draft) agentXData() []violation {
	required := orList(agentXDatasets()) + ", or one of the semianalysis_cc_traces_weka sets with subagents"
	if public := d.p.Text("public-dataset"); public != "" {
		if slices.Contains(agentXPublic(), public) {
			return nil
		}
		return []violation{{flag: d.flag("public-dataset"), current: public, required: required}}
	}
	file := d.p.Text("input-file")
	if file == "" {
		return []violation{{flag: "the data set", current: "synthetic",
			required: required + ", given with --input-file or --public-dataset", locked: true}}
	}
	if format := d.datasetFormat(file); !slices.Contains(agentXDatasets(), format) {
		unknown := format == ""
		if unknown {
			format = "of an unknown format"
		}
		return []violation{{flag: d.flag("input-file"), current: format, required: required, locked: unknown}}
	}
	return nil
}
