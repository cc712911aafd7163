package run

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/load"
	"aiperf/internal/run/plan"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/intake"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
)

// recordQueue bounds the exchanges that wait to become records.
const recordQueue = 4096

func cpus() int { return runtime.GOMAXPROCS(0) }

// prepareUntilStopped prepares the run unless it is asked to stop: a large dataset takes its time.
func (e *execution) prepareUntilStopped(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-e.options.Stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := e.prepare(ctx)
	if errors.Is(err, context.Canceled) {
		return &NoResultsError{Reason: "the run was cancelled before the first request"}
	}
	return err
}

// prepare does everything that happens before the first request. Nothing is written before the
// configuration has proved possible.
func (e *execution) prepare(ctx context.Context) error {
	if err := e.target.bind(ctx, e.content.encode); err != nil {
		return err
	}
	if err := e.records.measure(&e.target.descriptor); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		e.checkPlugins, e.target.identify, e.renderUserFiles, e.content.loadTokenizers, e.openDirectory,
		e.content.build, e.askAll, e.clearDirectory, e.writeUserFiles, e.content.writeInputs, e.records.openSinks,
		e.openGrading, e.openControls,
		e.watchNetwork,
		e.watchBeside, e.assemble,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watchBeside starts what is collected alongside the load. Servers and GPUs are asked at the same time: either may take
// as long as its reachability timeout.
func (e *execution) watchBeside(ctx context.Context) error {
	var gpus sync.WaitGroup
	var ofGPUs, ofServers error
	gpus.Go(func() { e.gpus, ofGPUs = e.watchGPUs(ctx) })
	e.servers, ofServers = e.watchServers(ctx)
	gpus.Wait()
	e.marks = phaseMarks{e: e, begun: map[int]phaseMark{}, ended: map[int]phaseMark{}}
	e.watches = append(e.watches, &e.marks)
	if e.servers != nil {
		e.watches = append(e.watches, e.servers)
	}
	if e.gpus != nil {
		e.watches = append(e.watches, e.gpus)
	}
	return errors.Join(ofServers, ofGPUs)
}

// assemble connects the rooms.
func (e *execution) assemble(context.Context) (err error) {
	t, data, workers := e.target, e.content.data, e.cfg.LogicalWorkers(cpus())
	e.origin, _ = e.redactor.Strings(e.content.provenance()).(artifact.Object)
	if e.client, err = t.newTransport(t.clientOptions(workers)); err != nil {
		return err
	}
	ofSessions := plan.Session(e.cfg, &t.descriptor, e.options.Version)
	ofSessions.Dataset, ofSessions.Endpoint, ofSessions.URLs = data, t.endpoint, t.urls
	ofSessions.CacheBust = e.content.cacheBust()
	ofIntake := plan.Intake(e.cfg, &t.descriptor)
	ofIntake.Tokenizer, ofIntake.ByModel = e.content.counter(), e.content.counters
	ofIntake.WallNS, ofIntake.Redact = e.clock.WallNS, e.redactor.Text
	if e.grading != nil {
		ofIntake.Answer = e.grading.take
	}
	ofIntake.Warn = func(_, message string) { e.log.Warn(message) }
	e.intake = intake.New(ofIntake)
	e.pool = intake.NewPool(e.intake, plan.Processors(e.cfg, cpus()), recordQueue, e.records.deliver)
	if data.Sampler == nil {
		data.Sampler, err = dataset.NewSampler(data.Sampling, data.RootCount(), plan.DatasetSeed(e.cfg))
		if err != nil {
			return err
		}
	}
	e.health = &clientHealth{e: e, watch: trust.Start(e.clock)}
	e.records.health = e.health
	e.watches = append(e.watches, e.health)
	if e.searches = newSearches(e); e.searches != nil {
		e.records.searches = e.searches
		e.watches = append(e.watches, e.searches)
	}
	e.preflight(workers)
	if err := e.content.checkLanes(); err != nil {
		return err
	}
	e.prompts.times = make([]uint32, data.Len())
	if e.cfg.FailFast && t.plugin == nil {
		e.reach = &reachability{end: e.ending.abort, redact: e.redactor.Text}
	}
	phases := plan.Load(e.cfg, len(t.urls), float64(data.Turns())/float64(data.Len()))
	if e.cfg.Accuracy != nil && data.Sampling == dataset.Sequential {
		for i := range phases.Phases {
			phases.Phases[i].Pass = data.RootCount()
		}
	}
	source := schedule{data, data.Sampler, newSessionTrees(data, phases.Seed)}
	e.dispatcher = &dispatcher{
		requests: newRequests(source, session.NewStore(ofSessions), phaseNames(e.cfg.Phases)),
		client:   e.client, endpoint: t.endpoint, clock: e.clock, pool: e.pool, workers: newWorkers(workers),
		health: e.health, reach: e.reach, prompts: &e.prompts, hearsContent: plan.LimitsPrefill(phases),
	}
	e.dispatcher.senders = newSenders(e.dispatcher.prepareFirst, e.dispatcher.exchange)
	e.engine = load.New(phases, source, e.dispatcher, load.Options{
		Clock: e.clock, MaxCatchup: e.cfg.Env.Timing.MaxCatchup,
		CancelDrainTimeout: e.cfg.Env.Timing.CancelDrainTimeout, Observe: e.phaseChanged, Gates: e.watches.gates(),
		Windows: e.searches.source(),
	})
	e.dispatcher.events, e.ending.engine = e.engine, e.engine
	e.logSetup(workers)
	return nil
}

// logSetup writes at debug level what the run is about to do.
func (e *execution) logSetup(workers int) {
	if !e.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	text, err := artifact.AppendJSON(nil, e.runConfig())
	if err != nil {
		text = []byte(err.Error())
	}
	e.log.Debug("Configuration: " + string(text))
	e.log.Debug("Requests go to " + strings.Join(e.target.urls, ", "))
	e.log.Debug("Ready", "workers", workers, "record_processors", plan.Processors(e.cfg, cpus()), "cores", cpus())
}
