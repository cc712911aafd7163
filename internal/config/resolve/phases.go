package resolve

import (
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/load"
)

// profiling is the measured phase.
func (ti *timing) profiling() config.Phase {
	ph := config.Phase{
		Name: string(config.ProfilingPhase), Kind: config.ProfilingPhase, Mode: ti.mode,
		Concurrency: smallInt(ti.concurrency), Prefill: smallInt(ti.prefill),
		Requests: ti.requests, Sessions: ti.sessions, Duration: durationOf(ti.duration),
		Grace: option.Seconds(*ti.p.Float("benchmark-grace-period")), Whole: ti.whole,
	}
	if ti.mode == config.UserCentric && ti.duration != nil && !ti.given("benchmark-grace-period") {
		ph.Grace = config.Unlimited
	}
	switch ti.mode {
	case config.Rate:
		if ph.Series = ti.series; ph.Series == nil {
			ph.Rate = *ti.rate
		}
		setArrivals(&ph, ph.Rate, ti.pattern, ti.smoothness)
	case config.UserCentric:
		ph.Rate, ph.Users = *ti.p.Float("user-centric-rate"), int(*ti.p.Int("num-users"))
	}
	ph.Simultaneous = ti.p.Bool("simultaneous-start")
	if ti.mode == config.FixedSchedule {
		ph.Schedule = ti.schedule()
		if !ti.requestsGiven {
			ph.Requests = nil // the number of rows is only what is expected
		}
	}
	ph.ConcurrencyRamp = secondsOr0(ti.p.Float("concurrency-ramp-duration"))
	ph.PrefillRamp = secondsOr0(ti.p.Float("prefill-concurrency-ramp-duration"))
	ph.RateRamp = secondsOr0(ti.p.Float("request-rate-ramp-duration"))
	if rate := ti.p.Float("request-cancellation-rate"); rate != nil {
		ph.Cancellation = &load.Cancellation{Percent: *rate,
			Delay: option.Seconds(*ti.p.Float("request-cancellation-delay"))}
	}
	return ph
}

// warmup is the phase before: always by rate or as a burst, never cancelled, with the profiling
// values where it has none of its own.
func (ti *timing) warmup() config.Phase {
	p := ti.p
	ph := config.Phase{
		Name: string(config.WarmupPhase), Kind: config.WarmupPhase, Mode: config.Burst,
		Concurrency: smallInt(first(p.Int("warmup-concurrency"), p.Int("concurrency"))),
		Prefill:     smallInt(first(p.Int("warmup-prefill-concurrency"), p.Int("prefill-concurrency"))),
		Requests:    p.Int("warmup-request-count"), Sessions: p.Int("num-warmup-sessions"),
		Duration: durationOf(p.Float("warmup-duration")),
		Grace:    option.Seconds(*p.Float("warmup-grace-period")),
	}
	rate := first(p.Float("warmup-request-rate"), p.Float("request-rate"))
	switch {
	case ti.mode == config.FixedSchedule: // whose --request-rate has no effect
		rate = p.Float("warmup-request-rate")
	case rate == nil && ti.series != nil:
		rate = &ti.series[0].Rate
	}
	if rate != nil {
		pattern := p.Text("warmup-arrival-pattern")
		if pattern == "" {
			pattern = ti.pattern
		}
		if pattern == string(config.Burst) { // profiling has no rate, but the warm-up has one
			pattern = p.Text("arrival-pattern")
		}
		if pattern == string(config.Burst) {
			pattern = config.PatternPoisson
		}
		ph.Mode = config.Rate
		setArrivals(&ph, *rate, pattern, ti.smoothness)
	}
	ramp := func(name string) time.Duration { return secondsOr0(first(p.Float("warmup-"+name), p.Float(name))) }
	ph.ConcurrencyRamp, ph.PrefillRamp = ramp("concurrency-ramp-duration"), ramp("prefill-concurrency-ramp-duration")
	if ph.Mode == config.Rate {
		ph.RateRamp = ramp("request-rate-ramp-duration")
	}
	if ph.Mode == config.Burst && ph.Concurrency == nil && ph.Prefill == nil {
		one := 1
		ph.Concurrency = &one
	}
	return ph
}

func (ti *timing) schedule() *config.Schedule {
	return &config.Schedule{
		AutoOffset: ti.p.Bool("fixed-schedule-auto-offset"),
		StartMS:    ti.p.Int("fixed-schedule-start-offset"), EndMS: ti.p.Int("fixed-schedule-end-offset"),
		Rows: ti.lines,
	}
}

// agentic makes the phases of agentic replay of the one that is measured.
func (ti *timing) agentic(profiling config.Phase) []config.Phase {
	p := ti.p
	lanes := config.Lanes{Wrap: p.Bool("allow-dataset-wrap"), Lanes: load.Lanes{
		Stage:    load.ReplayLanes,
		MinStart: ti.scenario.minStart, MaxStart: ti.scenario.maxStart,
		Together: p.Bool("burst-phase-starts"),
		TreeIdle: config.Unlimited, SystemIdle: option.Seconds(ti.scenario.systemIdle),
	}}
	if idle := p.Float("trace-idle-gap-cap-seconds"); idle != nil {
		lanes.TreeIdle = option.Seconds(*idle)
	}
	stage := func(name string, s load.LaneStage) config.Phase {
		own := lanes
		own.Stage = s
		ph := config.Phase{
			Name: name, Kind: config.WarmupPhase, Mode: config.AgenticReplay, Lanes: &own,
			Concurrency: profiling.Concurrency, Prefill: profiling.Prefill, Grace: config.Unlimited,
		}
		if p.Given("agentic-warmup-grace-period") {
			ph.Grace = option.Seconds(*p.Float("agentic-warmup-grace-period"))
		}
		return ph
	}
	phases := []config.Phase{stage(string(config.WarmupPhase), load.SeedLanes)}
	seconds, perLane := p.Float("agentic-cache-warmup-duration"), p.Int("warmup-requests-per-lane")
	if seconds != nil || perLane != nil {
		fill := stage("cache_warmup", load.FillLanes)
		fill.Duration = durationOf(seconds)
		if perLane != nil {
			fill.Lanes.PerLane = *perLane
		}
		phases = append(phases, fill)
	}
	profiling.Lanes = &lanes
	return append(phases, profiling)
}

func setArrivals(ph *config.Phase, rate float64, pattern string, smoothness float64) {
	ph.Rate, ph.Pattern = rate, pattern
	if pattern == config.PatternGamma {
		ph.Smoothness = smoothness
	}
}
