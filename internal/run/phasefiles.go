package run

import (
	"context"

	"aiperf/internal/config"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
)

// writePhases writes the files of the phases of a run that had several. What cannot be written is a warning: all of it
// is in other files too.
func (o *outcome) writePhases(state *summary.State) {
	o.setRan(state.Ran())
	if len(o.ran) < 2 {
		return
	}
	ctx, a := context.Background(), &o.cfg.Artifacts
	files := report.Phases{Dir: a.Dir, Manifest: a.Path(config.PhaseManifest)}
	files.JSON, files.CSV = a.PhaseNames()
	for i, p := range o.ran {
		f := report.PhaseFiles{Phase: p}
		result := o.phaseResult(i)
		f.SetResult(ctx, &result)
		endNS := result.EndNS
		if f.JSON == nil {
			endNS = p.EndNS
		}
		begun, ended := o.marks.of(p.Index)
		if i == len(o.ran)-1 {
			ended = o.marks.now()
		}
		until := o.until[i]
		f.SetGPUs(o.gpus.ofPhase(gpu.Window{StartNS: p.StartNS, EndNS: endNS}, until, since(begun.gpus, ended.gpus)))
		f.Servers = o.servers.ofPhase(ctx, &p, until, since(begun.servers, ended.servers))
		files.Phases = append(files.Phases, f)
	}
	if err := files.Write(); err != nil {
		o.log.Warn("Files of the phases could not be written", "error", err)
	}
}

// setRan sets the phases that were started.
func (o *outcome) setRan(ran []summary.Phase) { o.ran, o.until = ran, o.marks.until(ran) }

// phaseResult is what the requests of a phase that ran did.
func (o *outcome) phaseResult(i int) summary.Result {
	p := &o.ran[i]
	if part := o.Result.Part(p.Index); part != nil {
		return *part
	}
	if p.Profiling >= 0 {
		return o.Result.PhaseAlone()
	}
	return o.resultApart(p)
}

// addParts adds the results of the profiling phases to that of the run, if there are several.
func (o *outcome) addParts() {
	if !summary.SeveralProfiling(o.ran) {
		return
	}
	for i := range o.ran {
		if p := &o.ran[i]; p.Profiling >= 0 {
			o.Result.Parts = append(o.Result.Parts, summary.Part{Phase: *p, Result: o.resultApart(p)})
		}
	}
}

// resultApart makes the result of a phase from its own engine.
func (o *outcome) resultApart(p *summary.Phase) summary.Result {
	engine := o.records.apart[p.Index]
	if engine == nil {
		engine = o.records.warmup
	} else {
		engine.SetRunFacts(p.Window(o.runFacts()))
	}
	return summary.BuildPhase(o.Result.Run, *p, engine)
}
