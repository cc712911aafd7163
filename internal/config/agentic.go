package config

import (
	"strings"

	"aiperf/internal/load"
)

// Lanes says how recorded sessions are replayed; the concurrency is the number of lanes.
type Lanes struct {
	load.Lanes
	// Wrap lets a recording be in several lanes at once.
	Wrap bool
}

// Seeding reports whether a phase only brings its lanes to where they begin; l may be nil.
func (l *Lanes) Seeding() bool { return l != nil && l.Stage == load.SeedLanes }

// agenticOnly are the options that only agentic replay knows.
func agenticOnly() []string {
	return []string{
		"trajectory-start-min-ratio", "trajectory-start-max-ratio", "burst-phase-starts", "trace-idle-gap-cap-seconds",
		"system-idle-gap-cap-seconds", "agentic-cache-warmup-duration", "agentic-warmup-grace-period",
		"warmup-requests-per-lane", "allow-dataset-wrap",
	}
}

func (d *draft) checkAgentic() {
	if d.mode != AgenticReplay {
		if flags := d.activeOf(agenticOnly()...); len(flags) > 0 {
			d.fault("", "%s can only be used with agentic replay: give --scenario %s", strings.Join(flags, ", "),
				agentX)
		}
		return
	}
	if low, high := d.minStart, d.maxStart; low > high {
		d.fault("", "%s %v must be at most %s %v", d.flag("trajectory-start-min-ratio"), low,
			d.flag("trajectory-start-max-ratio"), high)
	}
	if d.given("warmup-requests-per-lane") && d.given("agentic-cache-warmup-duration") {
		d.fault("", "%s and %s cannot be used together: the caches are filled for a time or with a number of requests",
			d.flag("warmup-requests-per-lane"), d.flag("agentic-cache-warmup-duration"))
	}
	warmups := d.activeOf("warmup-request-count", "warmup-duration", "num-warmup-sessions", "warmup-concurrency",
		"warmup-prefill-concurrency", "warmup-request-rate", "warmup-arrival-pattern", "warmup-grace-period",
		"warmup-concurrency-ramp-duration", "warmup-prefill-concurrency-ramp-duration",
		"warmup-request-rate-ramp-duration")
	if len(warmups) > 0 {
		d.fault("", "%s cannot be used with agentic replay, whose warm-up is that of its lanes: see "+
			"--agentic-cache-warmup-duration", strings.Join(warmups, ", "))
	}
	if target := d.cacheBust(); strings.HasPrefix(target, "warmup_isolation_") {
		d.fault("", "--cache-bust %s cannot be used with agentic replay, whose warm-up is to fill the caches", target)
	}
	if d.p.Text("dataset-sampling-strategy") == "random" {
		d.fault("", "%s random cannot be used with agentic replay, which plays every recording in turn: use "+
			"sequential or shuffle", d.flag("dataset-sampling-strategy"))
	}
	if flags := d.activeOf("concurrency-ramp-duration", "simultaneous-start", "session-turns-mean"); len(flags) > 0 {
		d.fault("", "%s cannot be used with agentic replay, whose lanes play recorded sessions",
			strings.Join(flags, ", "))
	}
}

// activeOf lists those options that were given and ask for something.
func (d *draft) activeOf(names ...string) (flags []string) {
	for _, name := range names {
		if d.active(name) {
			flags = append(flags, d.flag(name))
		}
	}
	return flags
}

// agentic makes the phases of agentic replay of the one that is measured.
func (d *draft) agentic(profiling Phase) []Phase {
	p := d.p
	lanes := Lanes{Wrap: p.Bool("allow-dataset-wrap"), Lanes: load.Lanes{
		Stage:    load.ReplayLanes,
		MinStart: d.minStart, MaxStart: d.maxStart,
		Together: p.Bool("burst-phase-starts"),
		TreeIdle: Unlimited, SystemIdle: secondsDuration(d.systemIdle),
	}}
	if d.treeIdle != nil {
		lanes.TreeIdle = secondsDuration(*d.treeIdle)
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
