package run

import (
	"fmt"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
)

// stateInterval is how often the state of a run is written: with the records, which reach the disk as
// often, it is what a run that is killed leaves.
const stateInterval = time.Second

// keepState writes the state of the run each second until done is closed. The returned channel is
// closed when it has ended.
func (e *execution) keepState(done <-chan struct{}) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(stateInterval)
		defer ticker.Stop()
		warned := false
		for {
			err := e.writeState(e.runningState())
			if err != nil && !warned {
				warned = true
				e.log.Warn("The state of the run cannot be written; aiperf report needs it should the run be killed", "error", err)
			}
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	}()
	return ended
}

func (e *execution) writeState(s *summary.State) error {
	text, err := s.Encode(report.Blocks)
	if err != nil {
		return fmt.Errorf("state of the run: %w", err)
	}
	return artifact.WriteFile(e.cfg.Artifacts.Path(config.RunState), text)
}

// runningState is the state of a run on its way.
func (e *execution) runningState() *summary.State {
	phases := e.engine.Snapshot()
	s := e.state(e.facts(phases), phases)
	s.Status = summary.StateRunning
	if warmup := phaseOf(phases, load.Warmup); warmup != nil && warmup.RequestsEndNS != 0 && e.warmup != nil {
		// Some of its last requests may not be records yet: a second later they are.
		if seen := e.warmup.Snapshot(); seen != e.warmupSeen {
			e.setFacts(e.warmup, warmup)
			e.warmupSeen, e.warmupResults = seen, e.warmup.Results()
		}
		s.Warmup, s.WarmupRecords = e.warmupResults, e.warmupRows.all()
	}
	if profiling := phaseOf(phases, load.Profiling); profiling != nil {
		s.GPU = e.gpus.soFar(s.Run.StartNS, s.UpdatedNS)
		s.ClientHealth = e.health.soFar(&s.Run, profiling, e.client.StampSource()).Object()
	}
	return s
}

// state is what is known beside the records.
func (e *execution) state(run summary.Run, phases []load.Stats) *summary.State {
	a := &e.cfg.Artifacts
	s := &summary.State{
		UpdatedNS: e.clock.WallNS(e.clock.NowNS()), ExportLevel: a.ExportLevel, Prefix: a.Prefix, FailIf: e.cfg.FailIf,
		Run: run, Config: plan.Metrics(e.cfg, &e.descriptor),
		Window:  e.window(phaseOf(phases, load.Profiling)),
		Console: summary.ConsoleState{ShowTrace: a.ShowTraceTiming, Groups: e.cfg.Env.UI.ConsoleGroups, URLs: e.shownURLs()},
	}
	for _, look := range e.health.watch.Looks() {
		look.AtNS = e.clock.WallNS(look.AtNS)
		s.Looks = append(s.Looks, look)
	}
	s.Phases = e.phaseStates(phases)
	return s
}

// phaseStates are the phases by the wall clock.
func (e *execution) phaseStates(phases []load.Stats) []summary.PhaseState {
	var list []summary.PhaseState
	wall := func(ns int64) int64 {
		if ns == 0 {
			return 0
		}
		return e.clock.WallNS(ns)
	}
	for i := range phases {
		p := &phases[i]
		kind := string(config.ProfilingPhase)
		if p.Kind == load.Warmup {
			kind = string(config.WarmupPhase)
		}
		list = append(list, summary.PhaseState{
			Name: p.Name, Kind: kind, StartNS: wall(p.StartNS), SentEndNS: wall(p.SentEndNS), RequestsEndNS: wall(p.RequestsEndNS),
			Sent: p.RequestsSent, Completed: p.RequestsCompleted, Cancelled: p.RequestsCancelled, Errors: p.RequestErrors,
			WasCancelled: p.WasCancelled,
		})
	}
	return list
}

// finalState is the state of a run that is over.
func (e *execution) finalState(run summary.Run, out *outcome) *summary.State {
	s := e.state(run, out.Phases)
	s.Status = summary.StateFinished
	s.Warmup, s.ClientHealth = out.Result.Warmup, out.Result.ClientHealth
	if s.Warmup != nil {
		s.WarmupRecords = e.warmupRows.all()
	}
	s.Console.Notes = out.Console.Notes
	if e.gpus != nil && (e.cfg.GPU.Given || out.Result.Telemetry != nil) {
		s.GPU = e.gpus.state
	}
	s.Console.ServerMetrics, s.Console.Speculation = out.Console.ServerMetrics, out.Console.Speculation
	return s
}

// window is when a phase ran, and over what network.
func (e *execution) window(phase *load.Stats) metrics.RunFacts {
	facts := metrics.RunFacts{NetworkRTT: e.rtt}
	if phase != nil && phase.StartNS != 0 && phase.RequestsEndNS != 0 {
		facts.WindowStartNS, facts.WindowEndNS = e.clock.WallNS(phase.StartNS), e.clock.WallNS(phase.RequestsEndNS)
	}
	return facts
}
