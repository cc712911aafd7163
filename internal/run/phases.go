package run

import (
	"cmp"
	"context"
	"math"
	"sync"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// phaseEngines are engines of phases that share theirs with others of their kind, by index; nil for the others.
type phaseEngines []*metrics.Engine

func (p phaseEngines) add(r *record.Record) {
	if p[r.PhaseIndex] != nil {
		p[r.PhaseIndex].Add(r)
	}
}

// phaseMarks are what was known of what is collected alongside the load at the two ends of phases.
type phaseMarks struct {
	passive
	*base
	// servers and gpus are nil where nothing is collected of them.
	servers      *serverWatch
	gpus         *gpuWatch
	mu           sync.Mutex
	begun, ended map[int]phaseMark
}

// phaseMark is an instant, wall epoch ns, and the failures of collectors up to then.
type phaseMark struct {
	atNS          int64
	servers, gpus []gpu.Failure
}

func (m *phaseMarks) put(at map[int]phaseMark, phase int, mark phaseMark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at[phase] = mark
}

func (m *phaseMarks) of(phase int) (begun, ended phaseMark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.begun[phase], m.ended[phase]
}

// gates leave marks: before what comes before a phase, and after what comes after it.
func (m *phaseMarks) gates(next load.Gates) load.Gates {
	out := next
	out.BeforeFirstCredit = func(ctx context.Context, phase int) {
		m.put(m.begun, phase, m.now())
		if next.BeforeFirstCredit != nil {
			next.BeforeFirstCredit(ctx, phase)
		}
	}
	out.AfterLastReturn = func(ctx context.Context, phase int) {
		if next.AfterLastReturn != nil {
			next.AfterLastReturn(ctx, phase)
		}
		m.put(m.ended, phase, m.now())
	}
	return out
}

func (m *phaseMarks) now() phaseMark {
	return phaseMark{atNS: m.clock.WallNS(m.clock.NowNS()), servers: m.servers.failures(), gpus: m.gpus.failures()}
}

// since are the failures after others; both lists have them in the order of their first.
func since(before, now []gpu.Failure) []gpu.Failure {
	var list []gpu.Failure
	for i, f := range now {
		if i < len(before) {
			f.Count -= before[i].Count
		}
		if f.Count > 0 {
			list = append(list, f)
		}
	}
	return list
}

// untilNS is up to when what was collected belongs to a phase: the next one begins after it. What came after the last
// one belongs to it without a bound.
func (o *outcome) untilNS(i int) int64 {
	if i == len(o.ran)-1 {
		return math.MaxInt64
	}
	_, ended := o.marks.of(o.ran[i].Index)
	return max(o.ran[i].EndNS, min(ended.atNS, o.ran[i+1].StartNS-1))
}

// writePhases writes the files of the phases of a run that had several. What cannot be written is a warning: all of it
// is in other files too.
func (o *outcome) writePhases(state *summary.State) {
	o.ran = state.Ran()
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
		until := o.untilNS(i)
		f.SetGPUs(o.gpus.ofPhase(gpu.Window{StartNS: p.StartNS, EndNS: endNS}, until, since(begun.gpus, ended.gpus)))
		f.Servers = o.servers.ofPhase(ctx, &p, until, since(begun.servers, ended.servers))
		files.Phases = append(files.Phases, f)
	}
	if err := files.Write(); err != nil {
		o.log.Warn("Files of the phases could not be written", "error", err)
	}
}

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

// warmupWindow is from the start of the first warm-up to the scrape at the end of the last one before the profiling
// phases; zero without one.
func (o *outcome) warmupWindow(store *servermetrics.Store) servermetrics.Window {
	var w servermetrics.Window
	for i := range o.ran {
		p := &o.ran[i]
		if p.Profiling >= 0 {
			break
		}
		w.StartNS = cmp.Or(w.StartNS, p.StartNS)
		w.EndNS = closedEnd(p, o.untilNS(i), store)
	}
	return w
}

// closedEnd is the end of a phase, or of the last scrape of it.
func closedEnd(p *summary.Phase, untilNS int64, store *servermetrics.Store) int64 {
	return max(p.EndNS, store.LastScrape(untilNS))
}

// ofPhase writes the metrics of one phase to a path; it is nil where there are none.
func (w *serverWatch) ofPhase(
	ctx context.Context, p *summary.Phase, untilNS int64, failures []gpu.Failure,
) func(path string) error {
	if w == nil || w.run == nil {
		return nil
	}
	run, last := w.run, untilNS == math.MaxInt64
	window := servermetrics.Window{StartNS: p.StartNS, EndNS: closedEnd(p, untilNS, w.run.Store)}
	if run.Store.LastScrape(window.EndNS) < window.StartNS {
		return nil
	}
	phase := &export.PhaseMetrics{
		PhaseID: servermetrics.PhaseID{Index: p.Index, Profiling: p.Profiling, Name: p.Name, Kind: p.Kind},
		Object:  report.PhaseObject(p), Window: window, Errors: report.FailureList(failures),
	}
	switch {
	case last && window.StartNS == run.Info.Window.StartNS:
		phase.Results = run.Results
	case window == run.Info.Warmup:
		phase.Results = run.Warmup
	default:
		phase.Results = run.Within(window)
	}
	return func(path string) error { return export.WritePhase(ctx, path, run, phase) }
}

// failures are those of all scrapes so far.
func (w *serverWatch) failures() []gpu.Failure {
	if w == nil {
		return nil
	}
	var list []gpu.Failure
	for _, f := range w.collector.Errors() {
		list = append(list, gpu.Failure{Code: f.Code, Type: f.Type, Message: f.Message, Count: f.Count})
	}
	return list
}

// failures are those of all readings so far.
func (w *gpuWatch) failures() []gpu.Failure {
	if w == nil {
		return nil
	}
	return w.collector.Errors()
}

// ofPhase is what the GPUs did in a window; nil where nothing is known.
func (w *gpuWatch) ofPhase(window gpu.Window, untilNS int64, failures []gpu.Failure) *gpu.Telemetry {
	if w == nil || !w.enabled {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.store.TelemetryUntil(window, untilNS)
	t.SetSources(w.collector.Configured(), w.collector.Successful())
	t.Errors, t.EndNS = failures, window.EndNS
	return t
}
