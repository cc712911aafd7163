package resolve

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
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

// agentXDatasets are the formats and the data sets without a name of their own that agentX allows.
func agentXDatasets() []string { return []string{"weka_trace", "weka_hf"} }

// agentXPublic are the names of the published data sets that agentX allows.
func agentXPublic() []string {
	return append(slices.Clone(option.WekaSets()[option.WekaAlone:]), agentXDatasets()...)
}

// agentX sets what the scenario of recorded agents demands and was not given, and returns what contradicts it.
func (sc *scenario) agentX() (violations []violation) {
	p := &sc.p.Tree
	add := func(o option.Field, required string) {
		violations = append(violations,
			violation{flag: o.Flag(), current: fault.Shorten(fmt.Sprint(o.Value())), required: required})
	}
	sc.mode = config.AgenticReplay
	for _, o := range []option.Field{&p.RequestRate, &p.RequestRateSeries, &p.ArrivalPattern, &p.UserCentricRate,
		&p.FixedSchedule} {
		if active(o) {
			add(o, "agentic replay, which has no rate and no schedule")
			if o != &p.ArrivalPattern {
				sc.mode = "" // the explicit mode wins where it is allowed at all
			}
		}
	}
	if value, given := sc.p.ExtraInputs.Get().Get("ignore_eos"); !given {
		sc.ignoreEOS = true
		sc.info("scenario %s: --extra-inputs ignore_eos:true", agentX)
	} else if value != true {
		violations = append(violations,
			violation{flag: "--extra-inputs ignore_eos", current: fault.Shorten(fmt.Sprint(value)), required: "true"})
	}
	switch {
	case sc.p.Streaming.Given() && !sc.p.Streaming.Get():
		add(&p.Streaming, "true")
	case !sc.endpoint.canStream():
		violations = append(violations,
			violation{flag: sc.p.EndpointType.Flag(), current: sc.endpoint.endpointType, required: "one that streams"})
	case !sc.endpoint.streaming:
		sc.endpoint.streaming = true
		sc.info("scenario %s: --streaming", agentX)
	}
	for _, o := range []option.Field{&p.SynthesisMaxISL, &p.TraceIdleGapCapSeconds, &p.InterTurnDelayCapSeconds,
		&p.IgnoreTraceDelays} {
		if active(o) {
			add(o, "none")
		}
	}
	violations = append(violations, sc.agentXData()...)
	if sc.duration == nil {
		seconds := float64(agentXSeconds)
		sc.duration = &seconds
		sc.info("scenario %s: --benchmark-duration %d", agentX, agentXSeconds)
	} else if *sc.duration < agentXLeastSeconds {
		add(&p.BenchmarkDuration, fmt.Sprintf("at least %d", agentXLeastSeconds))
	}
	if !sc.p.CacheBust.Given() {
		sc.scenarioBust = agentXCacheBust
		sc.info("scenario %s: --cache-bust %s", agentX, agentXCacheBust)
	} else if sc.p.CacheBust.Get() != agentXCacheBust {
		add(&p.CacheBust, agentXCacheBust)
	}
	if !sc.p.SystemIdleGapCapSeconds.Given() {
		sc.systemIdle = agentXSystemIdle
		sc.info("scenario %s: --system-idle-gap-cap-seconds %d", agentX, agentXSystemIdle)
	} else if sc.systemIdle != agentXSystemIdle {
		add(&p.SystemIdleGapCapSeconds, fmt.Sprint(agentXSystemIdle))
	}
	for _, start := range []struct {
		option option.Field
		value  *float64
		unset  float64
	}{{&p.TrajectoryStartMinRatio, &sc.minStart, 0}, {&p.TrajectoryStartMaxRatio, &sc.maxStart, 1}} {
		if !start.option.Given() {
			*start.value = start.unset
			sc.info("scenario %s: --%s %.1f", agentX, start.option.Row().Name, start.unset)
		}
	}
	for f := range p.Fields() {
		if f.Swept() != nil {
			violations = append(violations,
				violation{flag: f.Flag(), current: "a list", required: "one value: no parameter sweep"})
		}
	}
	if sc.p.RandomSeed.Pointer() == nil && sc.p.NumProfileRuns.Get() == 1 {
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
		return []violation{{flag: sc.p.PublicDataset.Flag(), current: public, required: required}}
	}
	file := sc.p.InputFile.Get()
	if file == "" {
		return []violation{{flag: "the data set", current: "synthetic",
			required: required + ", given with --input-file or --public-dataset", locked: true}}
	}
	if format := sc.file.format(file); !slices.Contains(agentXDatasets(), format) {
		unknown := format == ""
		if unknown {
			format = "of an unknown format"
		}
		return []violation{{flag: sc.p.InputFile.Flag(), current: format, required: required, locked: unknown}}
	}
	return nil
}
