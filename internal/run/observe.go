package run

import (
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
	"aiperf/internal/run/plan"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/trust"
)

const (
	// clientInterval is the time between two reports on the client for observers, gpuInterval between two readings of
	// the GPUs.
	clientInterval = time.Second
	gpuInterval    = time.Second
	// firstFigures is when the first figures for observers are computed, unless they are wanted sooner.
	firstFigures = time.Second
	// figuresCost is the part of the time, as a divisor, that computing figures for observers may take.
	figuresCost = 100
)

// followers are the observers of a run. One goroutine uses them at a time.
type followers struct {
	*base
	engine  *engine
	content *content
	records *recorder
	health  *clientHealth
	// grading is nil where no answers are graded, servers and gpus where nothing is collected of them.
	grading *grading
	servers *serverWatch
	gpus    *gpuWatch
	// news is the part through which they hear of finished requests.
	news *news

	list []*progress.Follower
	// needs are those of all observers together.
	needs   progress.Needs
	startNS int64
	// stage is what the run does after the load.
	stage progress.Stage

	// The newest figures and the newest report, and when the next ones are due.
	figures                                             *progress.Figures
	client                                              *progress.Client
	gpuValues                                           []progress.GPU
	figuresDueNS, clientDueNS, headlineDueNS, gpusDueNS int64
	// headline are the metrics by which the client is judged, judged those by which the run is, of countedRecords.
	headline, judged []metrics.Metric
	countedRecords   int64
	judgement        *progress.Judgement
	// input is the configuration as files have it.
	input artifact.Object
}

// begin has the observers begin, the log of the run among them.
func (f *followers) begin() {
	f.startNS, f.input = f.clock.NowNS(), f.inputConfig()
	run := f.described()
	every := plan.StatsInterval(f.cfg)
	if own := f.options.LogInterval; own != nil {
		every = *own
	}
	observers := append([]progress.Observer{runlog.NewProgress(f.options.Log, every)},
		f.options.Observers...)
	for _, o := range observers {
		follower := progress.Follow(o, run)
		f.list = append(f.list, follower)
		f.needs = f.needs.And(follower.Needs())
	}
	f.figuresDueNS = f.startNS + min(int64(firstFigures), int64(f.needs.Every))
	f.news.kinds.wanted.Store(f.needs.Errors)
	f.news.followers = f.list
}

// settle waits until the observers have heard of all that happened so far.
func (f *followers) settle() {
	for _, o := range f.list {
		o.Settle()
	}
}

// flush lets the observers pass on what they have, all at the same time; the returned function waits for them.
func (f *followers) flush() (wait func()) {
	f.stage = progress.Exporting
	last := f.snapshot(f.engine.Snapshot())
	var waits []func()
	for _, o := range f.list {
		o.Show(last)
		waits = append(waits, o.Flush(last))
	}
	return func() {
		for _, wait := range waits {
			wait()
		}
	}
}

// end reports the end to the observers; a second call does nothing.
func (f *followers) end(out *Outcome) {
	if f.stage == progress.Done {
		return
	}
	f.stage = progress.Done
	phases := f.engine.Snapshot()
	e := &progress.Ending{Cancelled: cancelled(phases)}
	if out != nil && out.Client != nil { // a share may have nothing to send
		phases = out.Phases
		judged := out.Result.Judge()
		f.client, f.judgement = clientOf(out.Client, true), judgementOf(&judged)
		e.HasResults, e.Metrics, e.Completed = true, out.Result.Metrics, out.Result.Counts.Completed()
		e.Failed, e.Cancelled = out.Failed(), out.Result.WasCancelled
	}
	e.Last = f.snapshot(phases)
	for _, o := range f.list {
		o.End(e)
	}
}

// show gives a snapshot to all observers.
func (f *followers) show() {
	phases, nowNS := f.engine.Snapshot(), f.clock.NowNS()
	f.computeFigures(nowNS)
	f.judgeClient(phases, nowNS)
	f.readGPUs(phases, nowNS)
	s := f.snapshot(phases)
	for _, o := range f.list {
		o.Show(s)
	}
}

// snapshot returns where the run stands.
func (f *followers) snapshot(phases []load.Stats) *progress.Snapshot {
	nowNS := f.clock.NowNS()
	s := &progress.Snapshot{
		At: f.wall(nowNS), Elapsed: time.Duration(nowNS - f.startNS), Stage: f.stage,
		Records: recordsOf(f.records.profiling.Snapshot()), Figures: f.figures, Client: f.client,
		Judgement: f.judgement,
		GPUs:      f.gpuValues, Warnings: f.options.Log.Warnings(), Accuracy: accuracyOf(f.grading.result()),
	}
	if f.needs.Errors {
		s.Errors = f.news.kinds.newest()
	}
	searches := f.engine.Searches()
	for i := range phases {
		p := phaseProgress(&phases[i], nowNS)
		p.Search = searchOf(searches, p.Index)
		s.Phases = append(s.Phases, p)
	}
	if s.Stage == "" {
		s.Stage = stageOf(s.Current())
	}
	return s
}

// computeFigures makes the figures that the observers need, when they are due.
func (f *followers) computeFigures(nowNS int64) {
	every := int64(f.needs.Every)
	if every == 0 || nowNS < f.figuresDueNS {
		return
	}
	f.figuresDueNS += untilFigures(f.figuresDueNS-f.startNS, every)
	seen := f.records.profiling.Snapshot()
	if seen.Requests() == 0 {
		return
	}
	f.figures = &progress.Figures{
		At: f.wall(nowNS), Elapsed: time.Duration(max(0, f.clock.WallNS(nowNS)-seen.StartNS)), Records: recordsOf(seen),
		Metrics: f.records.profiling.ResultsOf(f.needs.Metrics...),
	}
	f.figures.Metrics = append(f.figures.Metrics, f.grading.result().Metrics()...)
	if f.needs.Servers && f.servers != nil {
		f.figures.Servers = ServerFigures(f.servers.collector.Store().Live(f.servers.mark.Load()))
	}
	f.figuresDueNS = max(f.figuresDueNS, f.affordable(nowNS))
}

// untilFigures returns the time to the next figures of a run that has gone on for a while: the first ones come soon, so that
// short runs show some, then the time doubles up to what was asked for, whose multiples are then met.
func untilFigures(passed, every int64) int64 {
	if passed < every {
		return min(passed, every-passed)
	}
	return every
}

// affordable returns when something may be computed again whose computation began at an instant and ends now.
func (f *followers) affordable(beganNS int64) int64 {
	return beganNS + figuresCost*(f.clock.NowNS()-beganNS)
}

// judgeClient judges the client by what is known so far, when that is due.
func (f *followers) judgeClient(phases []load.Stats, nowNS int64) {
	if !f.needs.Client || nowNS < f.clientDueNS {
		return
	}
	f.clientDueNS = nowNS + int64(clientInterval)
	seen := f.records.profiling.Snapshot()
	if records := seen.Requests(); nowNS >= f.headlineDueNS && records != f.countedRecords {
		f.headline, f.countedRecords = f.records.profiling.ResultsOf(headlines...), records
		f.judged = f.records.profiling.ResultsOf(judgedMetrics...)
		f.headlineDueNS = f.affordable(nowNS)
	}
	result := f.records.headlineResult(phases, nowNS, f.headline)
	report := f.health.judge(f.health.watch.SoFar(), &result, together(phases), trust.Course{})
	f.client, f.judgement = clientOf(report, false), f.judgementSoFar(&result, f.judged, report)
}

// readGPUs takes the newest values of the GPUs, when that is due.
func (f *followers) readGPUs(phases []load.Stats, nowNS int64) {
	if !f.needs.GPUs || nowNS < f.gpusDueNS {
		return
	}
	startNS := int64(0)
	if p := phaseOf(phases, load.Profiling); p != nil && p.StartNS > 0 {
		startNS = f.clock.WallNS(p.StartNS)
	}
	f.gpuValues = f.gpus.newest(startNS)
	f.gpusDueNS = max(nowNS+int64(gpuInterval), f.affordable(nowNS))
}
