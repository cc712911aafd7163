package summary

import (
	"cmp"
	"slices"

	"aiperf/internal/measure/metrics"
)

// Phase is a phase of a run that ran.
type Phase struct {
	Index int
	// Profiling counts the profiling phases from 0; -1 is a warm-up.
	Profiling  int
	Name, Kind string
	// StartNS is its start, EndNS its last return, or where it has not Ended the time of the state, wall epoch ns.
	StartNS, EndNS int64
	Ended          bool
	WasCancelled   bool
	// Completed and Errors are the load generator's counts; failures are completed, too.
	Completed, Errors int64
	// Counts lack the outcomes of the requests.
	Counts Counts
}

// Window returns when the phase ran, if it has ended, with the facts of the whole run.
func (p *Phase) Window(run Window) Window {
	w := run.OfAllPhases()
	if p.Ended {
		w.WindowStartNS, w.WindowEndNS = p.StartNS, p.EndNS
	}
	return w
}

// Part is the result of one of several profiling phases.
type Part struct {
	Phase
	Result Result
}

// SeveralProfiling reports whether there is more than one profiling phase.
func SeveralProfiling(ran []Phase) bool {
	count := 0
	for i := range ran {
		if ran[i].Profiling >= 0 {
			count++
		}
	}
	return count > 1
}

// Part returns the result of a phase; nil unless there are several profiling phases and it is one of them.
func (r *Result) Part(index int) *Result {
	for i := range r.Parts {
		if r.Parts[i].Index == index {
			return &r.Parts[i].Result
		}
	}
	return nil
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
			StartNS: p.StartNS, EndNS: end, Ended: p.RequestsEndNS != 0, WasCancelled: p.WasCancelled,
			Completed: p.Completed, Errors: p.Errors,
			Counts: Counts{Sent: p.Sent, CutOff: p.Cancelled, SkippedArrivals: p.SkippedArrivals,
				DroppedByCatchup: p.DroppedByCatchup, TargetRate: p.TargetRate, DeliveredRate: p.DeliveredRate},
		})
	}
	return ran
}

// WindowOf returns when the phases of a kind ran, from the start of the first to the end of the last; as long as one of
// them goes on there is no window. The other facts are those of the whole run.
func WindowOf(phases []PhaseState, kind string, run Window) Window {
	w := run.OfAllPhases()
	for i := range phases {
		p := &phases[i]
		if p.Kind != kind || p.StartNS == 0 {
			continue
		}
		if p.RequestsEndNS == 0 {
			return run.OfAllPhases()
		}
		w.WindowStartNS = cmp.Or(w.WindowStartNS, p.StartNS)
		w.WindowEndNS = max(w.WindowEndNS, p.RequestsEndNS)
	}
	return w
}

// Ran returns the phases of the run that began.
func (s *State) Ran() []Phase { return PhasesRun(s.Phases, s.UpdatedNS) }

// BuildPhase makes the result of one phase of a run from the engine of its records, without what is known only of the
// whole run, such as the child sessions.
func BuildPhase(run Run, p Phase, engine *metrics.Engine) Result {
	run.StartNS, run.WasCancelled, run.Incomplete = p.StartNS, p.WasCancelled, ""
	run.EndedEarly, run.WarmupEndedEarly = nil, nil
	run.Counts = p.Counts
	run.Submission, run.Branches, run.Dataset, run.FinishReasons = nil, nil, nil, nil
	return Build(run, engine, nil)
}

// PhaseAlone returns the result of the only profiling phase without the warm-up and without the metrics of the GPUs and
// the server.
func (r *Result) PhaseAlone() Result {
	alone := *r
	alone.Warmup, alone.Telemetry, alone.Reconciliation = nil, nil, nil
	alone.Servers, alone.Stages = nil, nil
	alone.Metrics = slices.DeleteFunc(slices.Clone(r.Metrics), func(m metrics.Metric) bool { return ofGPUs(&m) >= 0 })
	return alone
}
