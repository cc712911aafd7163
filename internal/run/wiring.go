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
		e.target.identify, e.content.loadTokenizers, e.openDirectory, e.content.build, e.clearDirectory, e.content.writeInputs,
		e.records.openSinks, e.openControls, e.watchNetwork, e.watchBeside, e.assemble,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watchBeside starts what is collected beside the load. Servers and GPUs are asked at the same time: either may take as
// long as its reachability timeout.
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
func (e *execution) assemble(context.Context) error {
	var err error
	e.origin, _ = e.redactor.Strings(e.provenance()).(artifact.Object)
	workers := e.cfg.LogicalWorkers(cpus())
	e.client, err = e.target.newTransport(e.target.clientOptions(workers))
	if err != nil {
		return err
	}
	keepRaw := e.cfg.Artifacts.ExportLevel == "raw"
	sessions := session.NewStore(session.Options{
		Dataset: e.content.data, Endpoint: e.target.endpoint, URLs: e.target.urls, Headers: plan.Headers(e.cfg, &e.target.descriptor, e.options.Version),
		KeepTrace: e.cfg.Artifacts.HTTPTrace, KeepRaw: keepRaw, CacheBust: e.content.cacheBust(),
	})
	e.intake = intake.New(intake.Options{
		Tokenizer: e.content.counter(), ByModel: e.content.counters, ServerTokens: e.cfg.Endpoint.UseServerTokenCount, ChunkUsage: e.cfg.Endpoint.ChunkUsage,
		CountsOutput: e.target.descriptor.ProducesTokens, CountsInput: e.target.descriptor.TokenizesInput,
		MakesImages: e.target.descriptor.ProducesImages && !e.target.descriptor.SupportsImage,
		KeepText:    e.cfg.Artifacts.Outputs,
		WallNS:      e.clock.WallNS, Redact: e.redactor.Text,
		Warn: func(_, message string) { e.log.Warn(message) },
	})
	e.pool = intake.NewPool(e.intake, plan.Processors(e.cfg, cpus()), recordQueue, e.records.deliver)
	sampler := e.content.data.Sampler
	if sampler == nil {
		var err error
		if sampler, err = dataset.NewSampler(e.content.data.Sampling, e.content.data.RootCount(), plan.Seed(e.cfg)); err != nil {
			return err
		}
	}
	e.health = &clientHealth{e: e, watch: trust.Start(e.clock)}
	e.records.health = e.health
	e.watches = append(e.watches, e.health)
	e.preflight(workers)
	phases := plan.Load(e.cfg, len(e.target.urls), float64(e.content.data.Turns())/float64(e.content.data.Len()))
	if err := e.content.checkLanes(); err != nil {
		return err
	}
	e.prompts.times = make([]uint32, e.content.data.Len())
	if e.cfg.FailFast && e.target.plugin == nil {
		e.reach = &reach{end: e.ending.abort, redact: e.redactor.Text}
	}
	source := schedule{e.content.data, sampler, newForest(e.content.data, plan.Seed(e.cfg))}
	e.dispatcher = &dispatcher{
		requests: newRequests(source, sessions, phaseNames(phases)), client: e.client, endpoint: e.target.endpoint,
		clock: e.clock, pool: e.pool, reach: e.reach, prompts: &e.prompts, hearsContent: plan.LimitsPrefill(phases),
		workers: newWorkers(workers), health: e.health,
	}
	e.dispatcher.senders = newSenders(e.dispatcher.prepareFirst, e.dispatcher.exchange)
	e.engine = load.New(phases, source, e.dispatcher, load.Options{
		Clock: e.clock, MaxCatchup: e.cfg.Env.Timing.MaxCatchup, CancelDrainTimeout: e.cfg.Env.Timing.CancelDrainTimeout,
		Observe: e.logPhase, Gates: e.watches.gates(),
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
