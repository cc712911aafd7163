package run

import (
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/wire/session"
)

// serverPhases are the phases of a run as recordings name them.
func serverPhases(phases []config.Phase) []servermetrics.Phase {
	var list []servermetrics.Phase
	profiling := 0
	for i, p := range phases {
		phase := servermetrics.Phase{Index: i, Profiling: -1, Name: p.Name, Kind: string(p.Kind)}
		if isProfiling(p) {
			phase.Profiling = profiling
			profiling++
		}
		list = append(list, phase)
	}
	return list
}

// phaseName is what records say of a phase.
type phaseName struct {
	servermetrics.Phase
	scheduled bool
	play      session.Play
}

func phaseNames(phases []config.Phase) []phaseName {
	var list []phaseName
	for i, p := range serverPhases(phases) {
		from := &phases[i]
		play := session.Play{OneToken: from.Lanes != nil && from.Lanes.Stage == load.FillLanes}
		list = append(list, phaseName{p, from.Schedule != nil, play})
	}
	return list
}
