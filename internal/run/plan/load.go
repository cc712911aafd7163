// Package plan decides what each room gets in one run: a pure function of the resolved configuration, and of facts
// about the endpoint, for each of them. It opens nothing and keeps nothing.
package plan

import (
	"cmp"
	"slices"
	"time"

	"aiperf/internal/base/random"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/watch/trust"
)

// seed returns the root of all random streams of a run.
func seed(cfg *config.Run) random.Seed {
	if cfg.RandomSeed == nil {
		return random.Seed{}
	}
	return random.Root(*cfg.RandomSeed)
}

// Load returns the phases in load's terms, for requests to a number of URLs whose sessions have meanTurns turns.
func Load(cfg *config.Run, urls int, meanTurns float64) load.Plan {
	plan := load.Plan{Seed: seed(cfg), URLs: urls, FailFast: cfg.Env.Timing.DAGFailFast}
	for _, p := range cfg.Phases {
		phase := load.Phase{Name: p.Name, Kind: load.Profiling, Grace: load.Infinite, Seamless: p.Seamless}
		if p.Kind == config.WarmupPhase {
			phase.Kind = load.Warmup
		}
		switch {
		case p.AtOnce(): // which load calls a burst
		case p.Mode == config.Rate:
			phase.Arrivals = load.Arrivals{Pattern: cmp.Or(patterns[p.Pattern], load.Poisson), Rate: p.Rate,
				Smoothness: p.Smoothness}
			phase.Arrivals.Ramp = load.RateRamp{Ramp: ramp(p.RateRamp, p.RateRampShape),
				Interval: cfg.Env.Timing.RateRampUpdateInterval}
			for _, point := range p.Series {
				phase.Arrivals.Series = append(phase.Arrivals.Series,
					load.RatePoint{At: seconds(point.Seconds), Rate: point.Rate})
			}
		case p.Mode == config.FixedSchedule:
			phase.Schedule = scheduleOf(cfg, p.Schedule)
		case p.Mode == config.AgenticReplay:
			phase.Lanes, phase.Grace = &p.Lanes.Lanes, p.Grace
		case p.Mode == config.UserCentric:
			phase.Users = &load.Users{Count: p.Users, Rate: p.Rate, MeanTurns: meanTurns}
		}
		phase.ConcurrencyRamp = ramp(p.ConcurrencyRamp, p.ConcurrencyRampShape)
		phase.PrefillRamp = ramp(p.PrefillRamp, p.PrefillRampShape)
		phase.Concurrency, phase.Prefill = Limit(p.Concurrency), Limit(p.Prefill)
		phase.Barrier = p.Simultaneous
		phase.Requests, phase.Sessions = Limit(p.Requests), Limit(p.Sessions)
		if p.Duration != nil {
			phase.Duration, phase.Grace = *p.Duration, p.Grace
		}
		if p.Cancellation != nil {
			phase.Cancellation = *p.Cancellation
		}
		search(&phase, p.Adaptive)
		plan.Phases = append(plan.Phases, phase)
	}
	return plan
}

// scheduleOf returns the part of a recording that a phase replays. Its times are those of a trace that may be sped up.
func scheduleOf(cfg *config.Run, s *config.Schedule) *load.Schedule {
	out := &load.Schedule{AutoOffset: s.AutoOffset}
	at := func(ms int64) time.Duration { return time.Duration(reshape(cfg).Zero(ms * int64(time.Millisecond))) }
	if s.StartMS != nil {
		out.StartOffset = time.Duration(reshape(cfg).Zero(*s.StartMS)) * time.Millisecond
	}
	all := recorded(cfg) // which the dataset has
	if s.StartMS != nil && (all.StartMS == nil || *all.StartMS < *s.StartMS) {
		out.From = new(at(*s.StartMS))
	}
	if s.EndMS != nil && (all.EndMS == nil || *all.EndMS > *s.EndMS) {
		out.Until = new(at(*s.EndMS) + 1) // recorded times are rounded
	}
	return out
}

// ramp returns a ramp of a shape as it is written; empty is linear.
func ramp(d time.Duration, shape string) load.Ramp {
	for s := load.Linear; s <= load.RandomSteps; s++ {
		if shape == s.String() {
			return load.Ramp{Duration: d, Strategy: s}
		}
	}
	return load.Ramp{Duration: d}
}

// search lets a phase search its load. The largest value is that of the phase where it has none of its own.
func search(phase *load.Phase, a *load.Adaptive) {
	phase.Adaptive = a
	switch {
	case a == nil:
	case a.Variable == load.ControlConcurrency && phase.Concurrency == 0:
		phase.Concurrency = int(a.Max)
	case a.Variable == load.ControlPrefill && phase.Prefill == 0:
		phase.Prefill = int(a.Max)
	}
}

var patterns = map[string]load.Pattern{
	config.PatternConstant: load.Constant, config.PatternGamma: load.Gamma,
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Limit returns what p points to, 0 for nil: no limit.
func Limit[T int | int64](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}

// LimitsPrefill reports whether some phase bounds the requests without a first content.
func LimitsPrefill(plan load.Plan) bool {
	return slices.ContainsFunc(plan.Phases, func(p load.Phase) bool { return p.Prefill > 0 })
}

// sessionLimit is the number of sessions that all phases start at most, since each sends a request or more; 0 means no
// limit.
func sessionLimit(cfg *config.Run) int64 {
	sum := int64(0)
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		n := sessionsOf(p)
		if n == 0 || p.Schedule != nil || p.Lanes != nil || p.Users > 0 {
			return 0
		}
		sum += n
	}
	return sum
}

// sessionsOf is the number of sessions that the limits of a phase allow: each sends a request or more. 0 means no limit.
func sessionsOf(p *config.Phase) int64 {
	n := Limit(p.Requests)
	if sessions := Limit(p.Sessions); sessions > 0 && (n == 0 || sessions < n) {
		return sessions
	}
	return n
}

// MeasuredSessions returns how many sessions the profiling phases start as far as that is known, at most one for each
// request, without those of recordings that are replayed; given reports whether a number of sessions was asked for.
func MeasuredSessions(cfg *config.Run) (sum int64, given bool) {
	for _, p := range cfg.PhasesOf(config.ProfilingPhase) {
		if p.Schedule != nil || p.Lanes != nil {
			continue
		}
		sum, given = sum+sessionsOf(p), given || p.Sessions != nil
	}
	return sum, given
}

// Demands returns what the phases ask of the client.
func Demands(cfg *config.Run) []trust.Demand {
	var list []trust.Demand
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		d := trust.Demand{Phase: p.Name, Rate: p.PlannedRate()}
		if cfg.Endpoint.Streaming {
			d.Streams = Limit(p.Concurrency)
			if a := p.Adaptive; a != nil && a.Variable == load.ControlConcurrency {
				d.Streams = max(d.Streams, int(a.Max))
			}
			if p.AtOnce() && p.Concurrency == nil {
				d.Streams = int(max(Limit(p.Requests), Limit(p.Sessions)))
			}
			if osl := cfg.Dataset.OSL; osl != nil && len(cfg.Dataset.SequenceDistribution) == 0 {
				d.OutputTokens = osl.Expected()
			}
		}
		list = append(list, d)
	}
	return list
}
