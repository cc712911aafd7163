package config

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// agentX is the scenario of recorded agents.
const agentX = "inferencex-agentx-mvp"

// The values that agentX demands.
const (
	agentXSeconds   = 900
	agentXIdleGap   = 60
	agentXCacheBust = "first_turn_prefix"
)

func scenarios() []string { return []string{agentX} }

// agentXDatasets are the data that agentX allows.
func agentXDatasets() []string { return []string{"weka_trace", "weka_hf"} }

// Submission says whether a run keeps its scenario.
type Submission struct {
	Scenario string
	// Reasons are why the run cannot be handed in; empty if it can.
	Reasons []string
}

// violation is an explicit value that the scenario does not allow.
type violation struct{ flag, current, required string }

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
		if d.p.Bool("unsafe-override") {
			d.warn("scenario %s: %v", name, v)
		} else {
			d.fault("scenario", "scenario %s: %v; %s turns this into a warning", name, v, "--unsafe-override")
		}
	}
	if len(violations) > 0 {
		d.submission.Reasons = []string{"unsafe_override"}
	}
}

func (d *draft) agentX() (violations []violation) {
	add := func(name, required string) {
		violations = append(violations, violation{d.flag(name), shorten(fmt.Sprint(d.p.Value(name))), required})
	}
	d.mode = AgenticReplay
	for _, name := range []string{"request-rate", "request-rate-series", "arrival-pattern", "user-centric-rate", "fixed-schedule"} {
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
		violations = append(violations, violation{"--extra-inputs ignore_eos", shorten(fmt.Sprint(value)), "true"})
	}
	if d.given("synthesis-max-isl") {
		add("synthesis-max-isl", "none")
	}
	violations = append(violations, d.agentXData()...)
	d.duration = d.p.Float("benchmark-duration")
	if d.duration == nil {
		least := float64(agentXSeconds)
		d.duration = &least
		d.info("scenario %s: --benchmark-duration %d", agentX, agentXSeconds)
	} else if *d.duration < agentXSeconds {
		add("benchmark-duration", fmt.Sprintf("at least %d", agentXSeconds))
	}
	if !d.given("cache-bust") {
		d.scenarioBust = agentXCacheBust
		d.info("scenario %s: --cache-bust %s", agentX, agentXCacheBust)
	} else if d.p.Text("cache-bust") != agentXCacheBust {
		add("cache-bust", agentXCacheBust)
	}
	if d.treeIdle = d.p.Float("trace-idle-gap-cap-seconds"); d.treeIdle == nil {
		gap := float64(agentXIdleGap)
		d.treeIdle = &gap
		d.info("scenario %s: --trace-idle-gap-cap-seconds %d", agentX, agentXIdleGap)
	} else if *d.treeIdle != agentXIdleGap {
		add("trace-idle-gap-cap-seconds", fmt.Sprint(agentXIdleGap))
	}
	for _, o := range table().options {
		if d.p.Swept(o.Name) != nil {
			violations = append(violations, violation{d.flag(o.Name), "a list", "one value: no parameter sweep"})
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
	required := orList(agentXDatasets()) + " or a semianalysis_cc_traces_weka_with_subagents set"
	if public := d.p.Text("public-dataset"); public != "" {
		if slices.Contains(agentXDatasets(), public) || strings.HasPrefix(public, "semianalysis_cc_traces_weka_with_subagents") {
			return nil
		}
		return []violation{{d.flag("public-dataset"), public, required}}
	}
	file := d.p.Text("input-file")
	if file == "" {
		return []violation{{"the data set", "synthetic", required}}
	}
	if format := d.datasetFormat(file); !slices.Contains(agentXDatasets(), format) {
		if format == "" {
			format = "of an unknown format"
		}
		return []violation{{d.flag("input-file"), format, required}}
	}
	return nil
}
