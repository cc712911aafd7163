package summary

import (
	"slices"

	"aiperf/internal/measure/metrics"
)

// Phase is a phase of a run that ran.
type Phase struct {
	Index int
	// Profiling counts the profiling phases from 0; -1 is a warm-up.
	Profiling  int
	Name, Kind string
	// StartNS is its start, EndNS its last return, wall epoch ns.
	StartNS, EndNS int64
	WasCancelled   bool
	// Sent, Completed, CutOff and Errors are the load generator's counts; failures are completed, too.
	Sent, Completed, CutOff, Errors int64
}

// profilingKind is the kind of the phases that are measured.
const profilingKind = "profiling"

// PhasesRun returns the phases that began. The end of one that has not ended is nowNS.
func PhasesRun(phases []PhaseState, nowNS int64) []Phase {
	var ran []Phase
	profiling := 0
	for i := range phases {
		p := &phases[i]
		number := -1
		if p.Kind == profilingKind {
			number = profiling
			profiling++
		}
		if p.StartNS == 0 {
			continue
		}
		end := p.RequestsEndNS
		if end == 0 {
			end = max(nowNS, p.StartNS)
		}
		ran = append(ran, Phase{
			Index: i, Profiling: number, Name: p.Name, Kind: p.Kind,
			StartNS: p.StartNS, EndNS: end, WasCancelled: p.WasCancelled,
			Sent: p.Sent, Completed: p.Completed, CutOff: p.Cancelled, Errors: p.Errors,
		})
	}
	return ran
}

// Ran returns the phases of the run that began.
func (s *State) Ran() []Phase { return PhasesRun(s.Phases, s.UpdatedNS) }

// BuildPhase makes the result of one phase of a run from the engine of its records, without what is known only of the
// whole run, such as the child sessions.
func BuildPhase(run Run, p Phase, engine *metrics.Engine) Result {
	run.StartNS, run.WasCancelled, run.Incomplete = p.StartNS, p.WasCancelled, ""
	run.Counts = Counts{Sent: p.Sent, CutOff: p.CutOff}
	run.Submission, run.Branches, run.Dataset = nil, nil, nil
	return Build(run, engine, nil)
}

// PhaseAlone returns the result of the only profiling phase without the warm-up and without the metrics of the GPUs and
// the server.
func (r *Result) PhaseAlone() Result {
	alone := *r
	alone.Warmup, alone.Telemetry, alone.Reconciliation = nil, nil, nil
	alone.Metrics = slices.DeleteFunc(slices.Clone(r.Metrics), func(m metrics.Result) bool { return ofGPUs(&m) >= 0 })
	return alone
}
