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
		Grace: option.Seconds(ti.p.BenchmarkGracePeriod.Get()), Whole: ti.whole,
	}
	if ti.mode == config.UserCentric && ti.duration != nil && !ti.p.BenchmarkGracePeriod.Given() {
		ph.Grace = config.Unlimited
	}
	switch ti.mode {
	case config.Rate:
		if ph.Series = ti.series; ph.Series == nil {
			ph.Rate = *ti.rate
		}
		setArrivals(&ph, ph.Rate, ti.pattern, ti.smoothness)
	case config.UserCentric:
		ph.Rate, ph.Users = ti.p.UserCentricRate.Get(), int(ti.p.NumUsers.Get())
	}
	ph.Simultaneous = ti.p.SimultaneousStart.Get()
	if ti.mode == config.FixedSchedule {
		ph.Schedule = ti.schedule()
		if !ti.requestsGiven {
			ph.Requests = nil // the number of rows is only what is expected
		}
	}
	ph.ConcurrencyRamp = option.Seconds(ti.p.ConcurrencyRampDuration.Get())
	ph.PrefillRamp = option.Seconds(ti.p.PrefillConcurrencyRampDuration.Get())
	ph.RateRamp = option.Seconds(ti.p.RequestRateRampDuration.Get())
	if rate := ti.p.RequestCancellationRate.Pointer(); rate != nil {
		ph.Cancellation = &load.Cancellation{Percent: *rate,
			Delay: option.Seconds(ti.p.RequestCancellationDelay.Get())}
	}
	return ph
}

// warmup is the phase before: always by rate or as a burst, never cancelled, with the profiling
// values where it has none of its own.
func (ti *timing) warmup() config.Phase {
	p := ti.p
	ph := config.Phase{
		Name: string(config.WarmupPhase), Kind: config.WarmupPhase, Mode: config.Burst,
		Concurrency: smallInt(first(p.WarmupConcurrency.Pointer(), p.Concurrency.Pointer())),
		Prefill:     smallInt(first(p.WarmupPrefillConcurrency.Pointer(), p.PrefillConcurrency.Pointer())),
		Requests:    p.WarmupRequestCount.Pointer(), Sessions: p.NumWarmupSessions.Pointer(),
		Duration: durationOf(p.WarmupDuration.Pointer()),
		Grace:    option.Seconds(p.WarmupGracePeriod.Get()),
	}
	rate := first(p.WarmupRequestRate.Pointer(), p.RequestRate.Pointer())
	switch {
	case ti.mode == config.FixedSchedule: // whose --request-rate has no effect
		rate = p.WarmupRequestRate.Pointer()
	case rate == nil && ti.series != nil:
		rate = &ti.series[0].Rate
	}
	if rate != nil {
		pattern := p.WarmupArrivalPattern.Get()
		if pattern == "" {
			pattern = ti.pattern
		}
		if pattern == string(config.Burst) { // profiling has no rate, but the warm-up has one
			pattern = p.ArrivalPattern.Get()
		}
		if pattern == string(config.Burst) {
			pattern = config.PatternPoisson
		}
		ph.Mode = config.Rate
		setArrivals(&ph, *rate, pattern, ti.smoothness)
	}
	ramp := func(own, profiling *option.Opt[float64]) time.Duration {
		return option.Seconds(own.Or(profiling.Get()))
	}
	ph.ConcurrencyRamp = ramp(&p.WarmupConcurrencyRampDuration, &p.ConcurrencyRampDuration)
	ph.PrefillRamp = ramp(&p.WarmupPrefillConcurrencyRampDuration, &p.PrefillConcurrencyRampDuration)
	if ph.Mode == config.Rate {
		ph.RateRamp = ramp(&p.WarmupRequestRateRampDuration, &p.RequestRateRampDuration)
	}
	if ph.Mode == config.Burst && ph.Concurrency == nil && ph.Prefill == nil {
		one := 1
		ph.Concurrency = &one
	}
	return ph
}

func (ti *timing) schedule() *config.Schedule {
	return &config.Schedule{
		AutoOffset: ti.p.FixedScheduleAutoOffset.Get() ||
			ti.recorded() != nil && !ti.p.FixedScheduleStartOffset.Given(),
		StartMS: ti.p.FixedScheduleStartOffset.Pointer(), EndMS: ti.p.FixedScheduleEndOffset.Pointer(),
		Rows: ti.lines,
	}
}

// agentic makes the phases of agentic replay of the one that is measured.
func (ti *timing) agentic(profiling config.Phase) []config.Phase {
	p := ti.p
	lanes := config.Lanes{Wrap: p.AllowDatasetWrap.Get(), Lanes: load.Lanes{
		Stage:    load.ReplayLanes,
		MinStart: ti.scenario.minStart, MaxStart: ti.scenario.maxStart,
		Together: p.BurstPhaseStarts.Get(),
		TreeIdle: config.Unlimited, SystemIdle: option.Seconds(ti.scenario.systemIdle),
	}}
	if idle := p.TraceIdleGapCapSeconds.Pointer(); idle != nil {
		lanes.TreeIdle = option.Seconds(*idle)
	}
	stage := func(name string, s load.LaneStage) config.Phase {
		own := lanes
		own.Stage = s
		ph := config.Phase{
			Name: name, Kind: config.WarmupPhase, Mode: config.AgenticReplay, Lanes: &own,
			Concurrency: profiling.Concurrency, Prefill: profiling.Prefill, Grace: config.Unlimited,
		}
		if p.AgenticWarmupGracePeriod.Given() {
			ph.Grace = option.Seconds(p.AgenticWarmupGracePeriod.Get())
		}
		return ph
	}
	phases := []config.Phase{stage(string(config.WarmupPhase), load.SeedLanes)}
	seconds, perLane := p.AgenticCacheWarmupDuration.Pointer(), p.WarmupRequestsPerLane.Pointer()
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
