package run

import (
	"cmp"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
)

// stateInterval is the interval between writes of the state of a run. Together with the records, which are written as
// often, it is what remains of a run that is killed.
const stateInterval = time.Second

// keep writes the state of the run each second until done is closed. The returned channel is closed when it has ended.
func (o *outcome) keep(done <-chan struct{}) <-chan struct{} {
	ended := make(chan struct{})
	if o.options.WithoutFiles {
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		ticker := time.NewTicker(stateInterval)
		defer ticker.Stop()
		warned := false
		for {
			o.searches.write()
			err := o.writeState(o.runningState())
			if err != nil && !warned {
				warned = true
				o.log.Warn("The state of the run cannot be written; aiperf report needs it if the run is killed",
					"error", err)
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

// runningState returns the state during the run.
func (o *outcome) runningState() *summary.State {
	o.Phases = o.engine.Snapshot()
	s := o.state(o.facts())
	s.Status = summary.StateRunning
	if warmup := phaseOf(o.Phases, load.Warmup); warmup != nil && warmup.RequestsEndNS != 0 {
		// Some of its last requests may not be records yet: a second later they are.
		if seen := o.records.warmup.Snapshot(); seen != o.warmupSeen {
			o.setFacts(o.records.warmup, load.Warmup)
			o.warmupSeen, o.warmupResults = seen, o.records.warmup.Results()
		}
		s.Warmup, s.WarmupRecords = o.warmupResults, o.records.warmupRows.all()
	}
	if phaseOf(o.Phases, load.Profiling) != nil {
		s.GPU = o.gpus.soFar(s.Run.StartNS, s.UpdatedNS)
		s.ClientHealth = o.health.soFar(&s.Run, together(o.Phases)).Object()
	}
	return s
}

// state returns what is known apart from the records.
func (o *outcome) state(run summary.Run) *summary.State {
	a := &o.cfg.Artifacts
	s := &summary.State{
		UpdatedNS: o.clock.WallNS(o.clock.NowNS()), ExportLevel: a.ExportLevel, Prefix: a.Prefix, FailIf: o.cfg.FailIf,
		Run: run, Config: plan.Metrics(o.cfg, &o.target.descriptor),
		Window:  o.window(load.Profiling),
		Console: o.shown,
	}
	s.Console.ShowTrace, s.Console.Groups, s.Console.URLs = a.ShowTraceTiming, o.cfg.Env.UI.ConsoleGroups,
		o.target.shownURLs()
	looks := o.health.watch.Intervals()
	if o.remote != nil {
		looks = nil // of a process that sends nothing
	}
	for _, look := range looks {
		look.AtNS = o.clock.WallNS(look.AtNS)
		s.Looks = append(s.Looks, look)
	}
	s.Phases = o.phaseStates()
	return s
}

// phaseStates returns the phases with wall clock times.
func (o *outcome) phaseStates() []summary.PhaseState {
	var list []summary.PhaseState
	wall := func(ns int64) int64 {
		if ns == 0 {
			return 0
		}
		return o.clock.WallNS(ns)
	}
	for i := range o.Phases {
		p := &o.Phases[i]
		list = append(list, summary.PhaseState{
			Name: p.Name, Kind: p.Kind.String(), StartNS: wall(p.StartNS), SentEndNS: wall(p.SentEndNS),
			RequestsEndNS: wall(p.RequestsEndNS),
			Sent:          p.RequestsSent, Completed: p.RequestsCompleted, Cancelled: p.RequestsCancelled,
			Errors:          p.RequestErrors,
			WasCancelled:    p.WasCancelled,
			SkippedArrivals: p.SkippedArrivals, DroppedByCatchup: p.DroppedByCatchup,
			TargetRate: p.TargetRate, DeliveredRate: p.DeliveredRate(o.clock.NowNS()),
		})
	}
	return list
}

// finalState returns the state of a finished run.
func (o *outcome) finalState() *summary.State {
	s := o.state(o.Result.Run)
	s.Ledger, s.Outside = o.ledger, o.outside
	if o.twin != nil {
		s.Recorded = o.twin.facts
	}
	s.Servers, s.Stages = o.Result.Servers, o.Result.Stages
	s.Status = summary.StateFinished
	s.Warmup, s.ClientHealth = o.Result.Warmup, o.Result.ClientHealth
	if s.Warmup != nil {
		s.WarmupRecords = o.records.warmupRows.all()
	}
	if o.gpus != nil && (o.cfg.GPU.Given || o.Result.Telemetry != nil) {
		s.GPU = o.gpus.state
	}
	return s
}

// window returns when the phases of a kind ran, with the facts of the whole run.
func (o *outcome) window(kind load.Kind) summary.Window {
	w := summary.WindowOf(o.phaseStates(), kind.String(), o.runFacts())
	if kind == load.Profiling {
		w.ServerStart = o.options.ServerStart
	}
	return w
}

// runFacts are the facts that hold for all phases: the network's round trip, and the number of GPUs where it is known.
func (o *outcome) runFacts() summary.Window {
	return summary.Window{NetworkRTT: o.network.roundTrip(), GPUs: cmp.Or(o.cfg.GPU.Count, o.gpus.count())}
}
