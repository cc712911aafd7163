package config

import (
	"time"

	"aiperf/internal/load"
)

// profiling is the measured phase.
func (ti *timing) profiling() Phase {
	ph := Phase{
		Name: string(ProfilingPhase), Kind: ProfilingPhase, Mode: ti.mode,
		Concurrency: smallInt(ti.concurrency), Prefill: smallInt(ti.prefill),
		Requests: ti.requests, Sessions: ti.sessions, Duration: durationOf(ti.duration),
		Grace: secondsDuration(*ti.p.Float("benchmark-grace-period")),
	}
	if ti.mode == UserCentric && ti.duration != nil && !ti.given("benchmark-grace-period") {
		ph.Grace = Unlimited
	}
	switch ti.mode {
	case Rate:
		if ph.Series = ti.series; ph.Series == nil {
			ph.Rate = *ti.rate
		}
		ph.setArrivals(ph.Rate, ti.pattern, ti.smoothness)
	case UserCentric:
		ph.Rate, ph.Users = *ti.p.Float("user-centric-rate"), int(*ti.p.Int("num-users"))
	}
	ph.Simultaneous = ti.p.Bool("simultaneous-start")
	if ti.mode == FixedSchedule {
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
			Delay: secondsDuration(*ti.p.Float("request-cancellation-delay"))}
	}
	return ph
}

// warmup is the phase before: always by rate or as a burst, never cancelled, with the profiling
// values where it has none of its own.
func (ti *timing) warmup() Phase {
	p := ti.p
	ph := Phase{
		Name: string(WarmupPhase), Kind: WarmupPhase, Mode: Burst,
		Concurrency: smallInt(first(p.Int("warmup-concurrency"), p.Int("concurrency"))),
		Prefill:     smallInt(first(p.Int("warmup-prefill-concurrency"), p.Int("prefill-concurrency"))),
		Requests:    p.Int("warmup-request-count"), Sessions: p.Int("num-warmup-sessions"),
		Duration: durationOf(p.Float("warmup-duration")),
		Grace:    secondsDuration(*p.Float("warmup-grace-period")),
	}
	rate := first(p.Float("warmup-request-rate"), p.Float("request-rate"))
	switch {
	case ti.mode == FixedSchedule: // whose --request-rate has no effect
		rate = p.Float("warmup-request-rate")
	case rate == nil && ti.series != nil:
		rate = &ti.series[0].Rate
	}
	if rate != nil {
		pattern := p.Text("warmup-arrival-pattern")
		if pattern == "" {
			pattern = ti.pattern
		}
		if pattern == string(Burst) { // profiling has no rate, but the warm-up has one
			pattern = p.Text("arrival-pattern")
		}
		if pattern == string(Burst) {
			pattern = PatternPoisson
		}
		ph.Mode = Rate
		ph.setArrivals(*rate, pattern, ti.smoothness)
	}
	ramp := func(name string) time.Duration { return secondsOr0(first(p.Float("warmup-"+name), p.Float(name))) }
	ph.ConcurrencyRamp, ph.PrefillRamp = ramp("concurrency-ramp-duration"), ramp("prefill-concurrency-ramp-duration")
	if ph.Mode == Rate {
		ph.RateRamp = ramp("request-rate-ramp-duration")
	}
	if ph.Mode == Burst && ph.Concurrency == nil && ph.Prefill == nil {
		one := 1
		ph.Concurrency = &one
	}
	return ph
}

func (ti *timing) schedule() *Schedule {
	return &Schedule{
		AutoOffset: ti.p.Bool("fixed-schedule-auto-offset"),
		StartMS:    ti.p.Int("fixed-schedule-start-offset"), EndMS: ti.p.Int("fixed-schedule-end-offset"),
		Rows: ti.lines,
	}
}

// agentic makes the phases of agentic replay of the one that is measured.
func (ti *timing) agentic(profiling Phase) []Phase {
	p := ti.p
	lanes := Lanes{Wrap: p.Bool("allow-dataset-wrap"), Lanes: load.Lanes{
		Stage:    load.ReplayLanes,
		MinStart: ti.scenario.minStart, MaxStart: ti.scenario.maxStart,
		Together: p.Bool("burst-phase-starts"),
		TreeIdle: Unlimited, SystemIdle: secondsDuration(ti.scenario.systemIdle),
	}}
	if idle := p.Float("trace-idle-gap-cap-seconds"); idle != nil {
		lanes.TreeIdle = secondsDuration(*idle)
	}
	stage := func(name string, s load.LaneStage) Phase {
		own := lanes
		own.Stage = s
		ph := Phase{
			Name: name, Kind: WarmupPhase, Mode: AgenticReplay, Lanes: &own,
			Concurrency: profiling.Concurrency, Prefill: profiling.Prefill, Grace: Unlimited,
		}
		if p.Given("agentic-warmup-grace-period") {
			ph.Grace = secondsDuration(*p.Float("agentic-warmup-grace-period"))
		}
		return ph
	}
	phases := []Phase{stage(string(WarmupPhase), load.SeedLanes)}
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

func (ph *Phase) setArrivals(rate float64, pattern string, smoothness float64) {
	ph.Rate, ph.Pattern = rate, pattern
	if pattern == PatternGamma {
		ph.Smoothness = smoothness
	}
}
