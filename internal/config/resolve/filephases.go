package resolve

import (
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
)

// filePhase is a phase of a configuration file: a timing of its own over the settings of the phase.
type filePhase struct {
	settings.Phase
	*timing
}

type filePhases []filePhase

// measured are the settings of the first measured phase of a file: what is not a phase's own is the same in all of
// them. Without a file they are the settings themselves.
func measured(p *settings.Settings) *settings.Settings {
	i := slices.IndexFunc(p.Phases, func(ph settings.Phase) bool { return ph.Kind == string(config.ProfilingPhase) })
	if i < 0 {
		return p
	}
	return p.Phases[i].Settings
}

// ofFile makes a timing for each phase of a file; that of the first measured one is the resolution's.
func (r *resolution) ofFile(p *settings.Settings) filePhases {
	var all filePhases
	warms := slices.ContainsFunc(p.Phases,
		func(ph settings.Phase) bool { return ph.Kind == string(config.WarmupPhase) })
	for _, ph := range p.Phases {
		ti := &timing{asked: r.of(ph.Settings), endpoint: &r.endpoint, file: &r.file, scenario: &r.scenario}
		if ph.Settings == r.p {
			ti = &r.timing
		}
		ti.inFile, ti.fileWarmsUp = true, warms
		all = append(all, filePhase{ph, ti})
	}
	return all
}

// decide decides what the resolution does not decide itself.
func (f filePhases) decide() {
	for _, ph := range f {
		if ph.timing.asked.p != ph.timing.endpoint.p {
			ph.decideMode()
			ph.timing.decide()
		}
	}
}

// check holds the rules of timing for each phase, and those of a search.
func (f filePhases) check() {
	for _, ph := range f {
		ti := ph.timing
		if ti.asked.p != ti.endpoint.p {
			for _, rule := range []func(){ti.checkSchedule, ti.checkSimultaneousStart, ti.checkConcurrency,
				ti.checkPrefill,
				ti.checkUsers, ti.checkUsersFile, ti.checkArrivals, ti.checkStop, ti.checkRoots, ti.checkAgentic} {
				rule()
			}
		}
		if len(ti.faults) > 0 {
			continue
		}
		built := ph.build()
		parse.CheckAdaptive(nil, "", &built, ti.endpoint.streaming,
			func(_ *document.Node, path, format string, args ...any) {
				ti.fault("", "%s: "+path+": "+format, append([]any{ph.Place}, args...)...)
			})
	}
}

// build makes the phases of the run.
func (f filePhases) build() (phases []config.Phase) {
	for _, ph := range f {
		phases = append(phases, ph.build())
	}
	return phases
}

func (f filePhase) build() config.Phase {
	p := f.timing.p
	ph := f.profiling()
	ph.Name, ph.Kind, ph.Seamless = f.Name, config.PhaseKind(f.Kind), p.PhaseSeamless.Get()
	ph.ConcurrencyRampShape = p.ConcurrencyRampShape.Get()
	ph.PrefillRampShape = p.PrefillConcurrencyRampShape.Get()
	ph.RateRampShape = p.RequestRateRampShape.Get()
	ph.FailedRequestThreshold = p.FailedRequestThreshold.Pointer()
	ph.Adaptive = p.PhaseAdaptive.Get()
	if ph.Kind == config.WarmupPhase && !p.BenchmarkGracePeriod.Given() {
		ph.Grace = config.Unlimited
	}
	return ph
}

// distinct drops faults that several phases share.
func distinct(all fault.List) (once fault.List) {
	seen := map[string]bool{}
	for _, f := range all {
		if !seen[f.Message] {
			once, seen[f.Message] = append(once, f), true
		}
	}
	return once
}
