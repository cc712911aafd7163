// Package run wires one benchmark together: it is the only place where the rooms meet. Execute builds
// the content, lets load decide and the client send, turns exchanges into records, records into
// results and results into files, and ends everything within bounds.
//
// Execute keeps no package state: it may be called many times in one process. Every live view is an
// observer that gets snapshots and cannot hold the run up.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/summary"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/capacity"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/api"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/intake"
	"aiperf/internal/wire/plugin"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/tokenizer"
)

// Options are what a run needs beside its configuration.
type Options struct {
	// Version stands in the User-Agent and in every export.
	Version string
	// Log takes the run's lines; Execute opens its file in the artifact directory.
	Log *runlog.Log
	// Info places the run in its series; a run without a label stands alone.
	Info summary.RunInfo
	// Observe gets a snapshot a few times a second, on one goroutine; nil for none.
	Observe func(Snapshot)
	// Ready is called once everything is prepared and the first request is about to be sent; nil for none.
	Ready func()
	// Observers follow the run beside Observe.
	Observers []Observer
	// WatchClient has their snapshots tell how the client itself does, which may take a hundredth of a processor.
	WatchClient bool
	// Stop asks the run to end with the results so far: the first Ctrl-C. nil never asks.
	Stop <-chan struct{}
	// Tokenizers are shared by the runs of a series; nil where a run stands alone.
	Tokenizers *Tokenizers
	// Capacity is what this machine was measured to carry; a run that asks for more is told so. nil = not known.
	Capacity *capacity.Capacity
}

// Outcome is what a run yielded.
type Outcome struct {
	Result summary.Result
	// Console are the options of the final report, which the caller prints for its own terminal.
	Console console.Options
	// Problem joins what went wrong with local files; nil when all of them were written.
	Problem error
	// Hints are what to try against the errors of the run.
	Hints []hint.Hint
	// Aborted is the reason for which the run ended itself early; nil otherwise.
	Aborted error
	// Verdict says whether the client itself may have bent the figures.
	Verdict trust.Verdict
	// Client is the report from which the verdict comes.
	Client *trust.Report
	// Phases are the load generator's numbers.
	Phases []load.Stats
}

// NoResultsError tells that a run ended without a single record.
type NoResultsError struct{ Reason string }

func (e *NoResultsError) Error() string {
	if e.Reason == "" {
		return "No profile results to export"
	}
	return "No profile results to export: " + e.Reason
}

// Execute runs one benchmark. Its error means that there is no outcome: the run could not start or
// yielded no record.
func Execute(ctx context.Context, cfg *config.Run, o Options) (*Outcome, error) {
	return executeBy(ctx, cfg, o, clock.New())
}

// executeBy runs a benchmark by a clock.
func executeBy(ctx context.Context, cfg *config.Run, o Options, c *clock.Clock) (*Outcome, error) {
	e := &execution{cfg: cfg, options: o, log: o.Log.Logger("run"), clock: c, id: newBenchmarkID()}
	defer e.close()
	if err := e.prepareUntilStopped(ctx); err != nil {
		return nil, err
	}
	if e.options.Ready != nil {
		e.options.Ready()
	}
	e.begin()
	defer e.end(nil) // unless it has ended with an outcome
	phases, err := e.generate(ctx)
	if err != nil {
		return nil, err
	}
	out, err := e.finish(phases)
	e.end(out)
	return out, err
}

// execution is one run on its way.
type execution struct {
	cfg     *config.Run
	options Options
	log     *slog.Logger
	clock   *clock.Clock
	id      string

	redactor   *artifact.Redactor
	tokenizer  tokenizer.Tokenizer         // of the primary model
	tokenizers []tokenizer.Tokenizer       // of all models
	counters   map[string]endpoint.Counter // by model, where there are several
	data       *dataset.Dataset
	// folder keeps other runs out of the artifact directory.
	folder *artifact.Lock
	// indexFrom is the size from which a file of conversations stays on disk; 0: the reader's own.
	indexFrom  int64
	descriptor endpoint.Descriptor
	endpoint   endpoint.Endpoint
	urls       []string
	identity   identity
	// plugin is the program that is the endpoint; nil if none is.
	plugin    *plugin.Host
	unencoded sync.Once

	set               *metrics.Set
	profiling, warmup *metrics.Engine
	apart             phaseEngines
	slicing           sync.Once // before the first profiling record
	client            transport
	sessions          *session.Store
	intake            *intake.Intake
	pool              *intake.Pool
	engine            *load.Engine
	dispatcher        *dispatcher
	sinks             []*recordfile.Writer
	// page gathers what the HTML report shows; nil where none is asked for.
	page *pageData
	// outputs is nil when generated texts are not exported.
	outputs *recordfile.Writer
	// servers is nil when no server metrics are collected.
	servers  *serverWatch
	realtime realtime
	// gpus is nil when no GPU telemetry is collected.
	gpus *gpuWatch
	// marks are what was known at the ends of phases.
	marks phaseMarks
	// network is nil when the network's round trip is nobody's concern.
	network *networkWatch
	// rtt is that round trip, nil as long as it is not known.
	rtt *time.Duration
	// controls is nil when nothing is asked of the servers beside the load.
	controls *controls
	health   *clientHealth
	// observed is true from begin to end; seen is what the observers saw of the client.
	observed bool
	seen     clientView

	// profilingRecords and profilingFailures arm the failure threshold.
	profilingRecords, profilingFailures atomic.Int64
	aborted                             atomic.Pointer[error]
	// reach is nil when the run goes on whether or not its servers can be reached.
	reach *reach
	// prompts counts how often prompts were sent; that they repeat may have been announced before the load.
	prompts          promptTally
	repeatsAnnounced bool
	// sinkError is why records could not be written.
	sinkError atomic.Pointer[error]
	// childFailed is why a run that fails fast ended.
	childFailed error
	// inputsError is why inputs.json could not be written.
	inputsError error
	// origin is the provenance of the results.
	origin artifact.Object
	// warmupResults are those of the warm-up when its engine had seen warmupSeen; the state keeper's own.
	warmupSeen    metrics.Snapshot
	warmupResults []metrics.Result
	warmupRows    warmupRows
	// records is the watch over their making.
	records recordWatch
	// unprocessed is why some finished requests have no record; sealed has further ones left out, as the results are made.
	unprocessed error
	sealed      atomic.Bool
}

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
	if err := e.bind(ctx); err != nil {
		return err
	}
	for _, a := range e.cfg.Endpoint.SourceAddresses {
		if err := client.CheckSource(a); err != nil {
			return fmt.Errorf("--source-address: %w", err)
		}
	}
	if err := e.identify(ctx); err != nil {
		return err
	}
	if err := e.loadTokenizers(ctx); err != nil {
		return err
	}
	if err := e.openDirectory(); err != nil {
		return err
	}
	e.log.Info("Starting the benchmark", "version", e.options.Version, "benchmark_id", e.id)
	if e.data == nil {
		if err := e.buildDataset(ctx); err != nil {
			return err
		}
	}
	if err := e.tokenizersFailed(); err != nil {
		return err
	}
	if err := e.fitDataset(ctx); err != nil {
		return err
	}
	if err := e.clearDirectory(); err != nil {
		return err
	}
	if e.options.Info.RunLabel != "" {
		if err := artifact.WriteObject(e.cfg.Artifacts.Path(config.RunConfigJSON), e.runConfig()); err != nil {
			return err
		}
	}
	if err := e.writeInputs(); err != nil {
		return err
	}
	if err := e.openSinks(); err != nil {
		return err
	}
	var err error
	if e.controls, err = e.newControls(); err != nil {
		return err
	}
	if err := e.controls.prepare(ctx); err != nil {
		return err
	}
	if e.network, err = e.watchNetwork(); err != nil {
		return err
	}
	if err := e.watchBeside(ctx); err != nil {
		return err
	}
	e.origin, _ = e.redactor.Strings(e.provenance()).(artifact.Object)
	return e.assemble()
}

// watchBeside starts what is collected beside the load. Servers and GPUs are asked at the same time: either may take as
// long as its reachability timeout.
func (e *execution) watchBeside(ctx context.Context) error {
	var gpus sync.WaitGroup
	var ofGPUs, ofServers error
	gpus.Go(func() { e.gpus, ofGPUs = e.watchGPUs(ctx) })
	e.servers, ofServers = e.watchServers(ctx)
	gpus.Wait()
	return errors.Join(ofServers, ofGPUs)
}

// bind finds the endpoint and the metrics that the configuration asks for.
func (e *execution) bind(ctx context.Context) error {
	c := &e.cfg.Endpoint
	e.redactor = e.cfg.Redactor()
	extra, err := members(c.Extra)
	if err != nil {
		return fmt.Errorf("--extra-inputs: %w", err)
	}
	descriptor, _ := api.Lookup(c.Type)
	options := endpoint.Options{
		ServerTokens: c.UseServerTokenCount, ChunkUsage: c.ChunkUsage, Form: c.Form, PollInterval: e.cfg.Env.HTTP.VideoPollInterval, DownloadVideo: c.DownloadVideo,
		Warn: func(message string) { e.log.Warn(message) }, Encode: e.encoder(descriptor),
		Model: e.cfg.Models[0], Streaming: c.Streaming, UseLegacyMaxTokens: c.UseLegacyMaxTokens,
		GRPC: c.GRPC, ForceContentParts: e.cfg.Env.Endpoint.ForceContentParts, Extra: extra,
	}
	if c.Plugin != "" {
		err = e.startPlugin(ctx, options)
	} else {
		e.endpoint, err = endpoint.New(c.Type, options)
	}
	if err != nil {
		return err
	}
	e.descriptor = e.endpoint.Descriptor()
	if err := e.nameModelInPath(); err != nil {
		return err
	}
	if e.urls, err = session.URLs(e.descriptor, c.URLs, c.Streaming, c.CustomPath); err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	e.set, err = metrics.NewSet(e.metricsConfig())
	if err != nil {
		return fmt.Errorf("--goodput: %s", strings.TrimPrefix(err.Error(), "goodput: "))
	}
	e.profiling = e.set.NewEngine()
	if e.cfg.Warmup() != nil {
		if e.warmup, err = e.warmupEngine(); err != nil {
			return err
		}
	}
	e.apart, err = e.newPhaseEngines()
	return err
}

// warmupEngine has no slices: they are those of the profiling phase.
func (e *execution) warmupEngine() (*metrics.Engine, error) {
	c := e.metricsConfig()
	c.SliceNS = 0
	set, err := metrics.NewSet(c)
	if err != nil {
		return nil, err
	}
	return set.NewEngine(), nil
}

func (e *execution) metricsConfig() metrics.Config {
	d, c, env := &e.descriptor, metrics.DefaultConfig(), &e.cfg.Env
	c.Streaming = e.cfg.Endpoint.Streaming
	endpoint.Capabilities(d, &c)
	c.UseServerTokens = e.cfg.Endpoint.UseServerTokenCount
	c.ShowInternal, c.ShowExperimental = env.Dev.ShowInternalMetrics, env.Dev.ShowExperimentalMetrics
	for _, slo := range e.cfg.SLOs {
		c.SLOs = append(c.SLOs, metrics.SLO{Tag: slo.Tag, Value: slo.Value})
	}
	c.UsageDiffPercent = env.Metrics.UsagePctDiffThreshold
	c.OSLMismatchPercent = env.Metrics.OSLMismatchPctThreshold
	c.OSLMismatchTokens = int64(env.Metrics.OSLMismatchMaxTokenThreshold)
	c.SliceNS = int64(e.cfg.Artifacts.SliceDuration)
	c.ContextOverflow = env.ContextOverflow.Substrings
	c.SkipContextOverflow = e.cfg.Profiling().Mode == config.AgenticReplay
	c.Percentiles = e.cfg.Artifacts.Percentiles
	c.FixedSchedule = e.cfg.Profiling().Schedule != nil
	mode := e.cfg.Profiling().Mode
	c.OpenLoop = mode != config.Burst && mode != config.AgenticReplay && !e.cfg.Profiling().AtOnce()
	return c
}

// assemble connects the rooms.
func (e *execution) assemble() error {
	var err error
	workers := e.cfg.LogicalWorkers(cpus())
	e.client, err = e.newTransport(e.clientOptions(workers))
	if err != nil {
		return err
	}
	keepRaw := e.cfg.Artifacts.ExportLevel == "raw"
	e.sessions = session.NewStore(session.Options{
		Dataset: e.data, Endpoint: e.endpoint, URLs: e.urls, Headers: e.headers(),
		KeepTrace: e.cfg.Artifacts.HTTPTrace, KeepRaw: keepRaw, CacheBust: e.cacheBust(),
	})
	e.intake = intake.New(intake.Options{
		Tokenizer: e.counter(), ByModel: e.counters, ServerTokens: e.cfg.Endpoint.UseServerTokenCount, ChunkUsage: e.cfg.Endpoint.ChunkUsage,
		CountsOutput: e.descriptor.ProducesTokens, CountsInput: e.descriptor.TokenizesInput,
		MakesImages: e.descriptor.ProducesImages && !e.descriptor.SupportsImage,
		KeepText:    e.cfg.Artifacts.Outputs,
		WallNS:      e.clock.WallNS, Redact: e.redactor.Text,
		Warn: func(_, message string) { e.log.Warn(message) },
	})
	e.pool = intake.NewPool(e.intake, e.processors(), recordQueue, e.deliver)
	sampler := e.data.Sampler
	if sampler == nil {
		var err error
		if sampler, err = dataset.NewSampler(e.data.Sampling, e.data.RootCount(), seed(e.cfg)); err != nil {
			return err
		}
	}
	e.health = &clientHealth{watch: trust.Start(e.clock)}
	e.preflight(workers)
	plan := e.plan()
	if err := e.checkLanes(); err != nil {
		return err
	}
	e.prompts.times = make([]uint32, e.data.Len())
	if e.cfg.FailFast && e.plugin == nil {
		e.reach = &reach{end: e.abort, redact: e.redactor.Text}
	}
	e.dispatcher = newDispatcher(wiring{
		schedule: schedule{e.data, sampler, newForest(e.data, seed(e.cfg))}, sessions: e.sessions, client: e.client, endpoint: e.endpoint,
		clock: e.clock, pool: e.pool, reach: e.reach, prompts: &e.prompts, hearsContent: limitsPrefill(plan), workers: newWorkers(workers), health: e.health, phases: phaseNames(plan),
	})
	e.engine = load.New(plan, e.dispatcher.schedule, e.dispatcher, load.Options{
		Clock: e.clock, MaxCatchup: e.cfg.Env.Timing.MaxCatchup, CancelDrainTimeout: e.cfg.Env.Timing.CancelDrainTimeout,
		Observe: e.logPhase, Gates: e.controls.gates(e.marked(bothGates(e.servers.gates(), e.gpus.gates()))),
	})
	e.dispatcher.events = e.engine
	e.logSetup(workers)
	return nil
}

// generate lets the load run from the first phase to the last.
func (e *execution) generate(ctx context.Context) ([]load.Stats, error) {
	done := make(chan struct{})
	e.records = e.watchRecords()
	watched, kept := e.watch(done), e.keepState(done)
	result, err := e.engine.Run(ctx)
	close(done)
	<-watched
	<-kept
	e.controls.finish()
	if errors.Is(err, load.ErrChildFailed) {
		e.childFailed = fmt.Errorf("the run ended early: %w, and AIPERF_DAG_FAIL_FAST is set", err)
		return result.Phases, nil
	}
	if errors.Is(err, load.ErrLaneWarmup) {
		return nil, fmt.Errorf("%w: without it the server's cache is not what the recording had, so nothing was measured; -v logs the failed request", err)
	}
	if err != nil && !e.endedItself() {
		return nil, err
	}
	return result.Phases, nil
}

// endedItself tells that the run ended early for a reason of its own: what it has is reported.
func (e *execution) endedItself() bool { return e.aborted.Load() != nil || e.sinkError.Load() != nil }

// profilingStartNS is when the profiling phase began, wall epoch ns: it has, where there are records of it.
func (e *execution) profilingStartNS() int64 {
	if p := phaseOf(e.engine.Snapshot(), load.Profiling); p != nil {
		return e.clock.WallNS(p.StartNS)
	}
	return 0
}

// deliver takes each record, from several goroutines at once.
func (e *execution) deliver(r *record.Record) {
	if e.sealed.Load() {
		return
	}
	if r.Raw == nil || !r.Raw.CutOff {
		e.logRecord(r)
		e.set.Judge(r)
		r.ContextOverflowSkip = e.set.Skips(r)
		e.apart.add(r)
		if r.Phase == record.PhaseWarmup {
			e.warmup.Add(r)
			e.warmupRows.add(r)
		} else {
			e.slicing.Do(func() { e.profiling.SliceFrom(e.profilingStartNS()) })
			e.profiling.Add(r)
			e.health.record(r)
		}
		if !r.ContextOverflowSkip {
			e.follow(r)
		}
	}
	for _, s := range e.sinks {
		s.Add(r)
	}
}

// follow hands on a request that succeeded or failed.
func (e *execution) follow(r *record.Record) {
	if r.Phase != record.PhaseWarmup {
		e.page.add(r)
		e.checkThreshold(r)
	}
	for _, o := range e.options.Observers {
		o.Record(r)
	}
}

// close releases what a run that could not finish may have left.
func (e *execution) close() {
	if e.dispatcher != nil {
		e.dispatcher.close()
	}
	if e.pool != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		e.pool.Close(ctx)
		cancel()
	}
	if e.records.end != nil {
		e.records.end()
	}
	e.controls.close()
	if e.plugin != nil {
		e.plugin.Close()
	}
	if e.client != nil {
		e.client.Close()
	}
	for _, s := range e.sinks {
		s.Close()
	}
	e.servers.close()
	e.gpus.close()
	e.network.close()
	if e.health != nil {
		e.health.watch.Stop()
	}
	e.folder.Release()
}
