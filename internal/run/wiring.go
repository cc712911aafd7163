package run

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/dispatch"
	"aiperf/internal/run/plan"
	"aiperf/internal/run/remote"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/intake"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
)

// recordQueue bounds the exchanges that wait to become records.
const recordQueue = 4096

func cpus() int { return runtime.GOMAXPROCS(0) }

// untilStopped prepares a run unless it is asked to stop: a large dataset takes its time.
func untilStopped(ctx context.Context, stop <-chan struct{}, prepare func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := prepare(ctx)
	if errors.Is(err, context.Canceled) {
		return &NoResultsError{Reason: "the run was cancelled before the first request"}
	}
	return err
}

// prepare does everything that happens before the first request. Nothing is written before the
// configuration has proved possible.
func (e *execution) prepare(ctx context.Context) error {
	if c := e.options.Content; c != nil {
		e.content.data = c.Data
	}
	if err := e.target.bind(ctx, e.content.encode); err != nil {
		return err
	}
	if err := e.records.measure(&e.target.descriptor); err != nil {
		return err
	}
	steps := []func(context.Context) error{
		e.checkPlugins, e.target.identify, e.folder.renderUserFiles, e.content.loadTokenizers, e.folder.open,
		e.content.build, e.content.askAll, e.folder.clear, e.folder.writeUserFiles, e.content.writeKnownInputs,
		e.records.openSinks, e.openParts, e.assemble,
	}
	if e.options.isShare() {
		steps = []func(context.Context) error{
			e.target.identify, e.content.loadTokenizers, e.folder.open, e.content.build, e.content.askAll, e.folder.clear,
			e.content.writeKnownInputs, e.records.openSinks, e.content.describeModels,
			e.markPhases, e.assemble,
		}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// openParts starts what goes on alongside the load, in the order in which it surrounds it.
func (e *execution) openParts(ctx context.Context) (err error) {
	if e.grading, err = newGrading(ctx, e.content, e.ending.cannotWrite); err != nil {
		return err
	}
	if e.grading != nil {
		e.parts = append(e.parts, e.grading)
	}
	k, err := newControls(e.content, e.engine)
	if err != nil {
		return err
	}
	if k != nil {
		e.parts = append(e.parts, k)
		if err := k.prepare(ctx); err != nil {
			return err
		}
	}
	if err := e.content.describeModels(ctx); err != nil {
		return err
	}
	if e.network, err = newNetworkWatch(e.target); err != nil {
		return err
	}
	e.parts = append(e.parts, e.network)
	return e.watchBeside(ctx)
}

// watchBeside starts what is collected of servers and GPUs. They are asked at the same time: either may take as long as
// its reachability timeout.
func (e *execution) watchBeside(ctx context.Context) error {
	var gpus sync.WaitGroup
	var ofGPUs, ofServers error
	gpus.Go(func() { e.gpus, ofGPUs = newGPUWatch(ctx, e.target) })
	e.servers, ofServers = newServerWatch(ctx, e.content, e.engine, &e.prompts)
	gpus.Wait()
	_ = e.markPhases(ctx)
	return errors.Join(ofServers, ofGPUs)
}

// assemble connects the rooms.
func (e *execution) assemble(ctx context.Context) (err error) {
	t, data, workers := e.target, e.content.data, e.cfg.LogicalWorkers(cpus())
	if !e.options.WithoutFiles { // hashes what is sent
		e.origin, _ = e.redactor.Strings(e.content.provenance()).(artifact.Object)
	}
	if e.client, err = t.newTransport(t.clientOptions(workers)); err != nil {
		return err
	}
	ofSessions := plan.Session(e.cfg, &t.descriptor, e.options.Version)
	ofSessions.Dataset, ofSessions.Endpoint, ofSessions.URLs = data, t.endpoint, t.urls
	ofSessions.CacheBust = e.content.cacheBust()
	ofIntake := plan.Intake(e.cfg, &t.descriptor)
	ofIntake.Tokenizer, ofIntake.ByModel = e.content.counter(), e.content.counters
	ofIntake.WallNS, ofIntake.Redact = e.clock.WallNS, e.redactor.Text
	switch {
	case e.grading != nil:
		ofIntake.Answer = e.grading.take
	case e.cfg.Accuracy != nil: // graded by the run of which this is a share
		ofIntake.Answer = keepAnswer
	}
	ofIntake.Warn = func(_, message string) { e.log.Warn(message) }
	e.intake = intake.New(ofIntake)
	if data.Sampler == nil {
		data.Sampler, err = dataset.NewSampler(data.Sampling, data.RootCount(), plan.DatasetSeed(e.cfg))
		if err != nil {
			return err
		}
	}
	e.health = &clientHealth{base: e.base, stamps: e.client.StampSource, watch: trust.Start(e.clock),
		course: func(r *summary.Result) trust.Course {
			return e.content.course(r, e.health.firstRequests(e.cfg.Endpoint.Streaming), e.reach.Outage(), &e.prompts)
		}}
	e.parts = append(e.parts, e.health)
	if e.searches = newSearches(e.base, e.engine, e.records.set); e.searches != nil {
		e.parts = append(e.parts, e.searches)
	}
	e.followRecords()
	if err := e.content.checkLanes(); err != nil {
		return err
	}
	e.prompts.times = make([]uint32, data.Len())
	phases := plan.Load(e.cfg, len(t.urls), float64(data.Turns())/float64(data.Len()))
	if e.cfg.Accuracy != nil && data.Sampling == dataset.Sequential {
		for i := range phases.Phases {
			phases.Phases[i].Pass = data.RootCount()
		}
	}
	if e.options.Remote != nil {
		if err := e.content.stock(ctx); err != nil {
			return err
		}
		e.assembleRemote(phases)
		return nil
	}
	e.target.preflight(workers)
	phases.Share = e.options.Share
	pool := intake.NewPool(e.intake, plan.Processors(e.cfg, cpus()), recordQueue, e.records.deliver)
	e.pool = pool
	if e.cfg.FailFast && t.plugin == nil {
		e.reach = dispatch.NewReachability(e.ending.abort, e.redactor.Text)
	}
	e.dispatcher = dispatch.New(dispatch.Options{
		Phases: dispatchedPhases(e.cfg.Phases), Data: data, Seed: phases.Seed, Sessions: session.NewStore(ofSessions),
		Client: e.client, Endpoint: t.endpoint, Clock: e.clock, Pool: pool, Workers: workers, Share: e.options.Share,
		Sent: e.options.Sent, Prompts: &e.prompts, Finished: e.health.exchange, Reach: e.reach,
		HearsContent: plan.LimitsPrefill(phases), Jobs: plan.JudgesJobs(e.cfg),
	})
	engine := load.New(phases, e.dispatcher.Source(), e.dispatcher, load.Options{
		Clock: e.clock, MaxCatchup: e.cfg.Env.Timing.MaxCatchup,
		CancelDrainTimeout: e.cfg.Env.Timing.CancelDrainTimeout, Observe: e.phaseChanged, Gates: e.parts.gates(),
		Windows: e.searches.source(), Join: e.options.Join, Begin: e.beginPhase(),
	})
	e.engine.generator = engine
	e.dispatcher.ReportTo(engine)
	t.logSetup(workers)
	return nil
}

// markPhases has the ends of phases noted, around the gates of what is collected.
func (e *execution) markPhases(context.Context) error {
	e.marks = phaseMarks{base: e.base, servers: e.servers.failures, gpus: e.gpus.failures, begun: map[int]phaseMark{},
		ended: map[int]phaseMark{}}
	e.parts = append(e.parts, &e.marks)
	if e.servers != nil {
		e.parts = append(e.parts, e.servers)
	}
	if e.gpus != nil {
		e.parts = append(e.parts, e.gpus)
	}
	return nil
}

// followRecords adds the parts that do nothing but take finished requests, and hands the observers what they look at.
func (e *execution) followRecords() {
	if !e.options.isShare() { // whose failures count with those of the other shares
		e.parts = append(e.parts, &failureLimits{thresholds: newThresholds(e.cfg), abort: e.ending.abort})
	}
	if e.cfg.Artifacts.HTMLReport && !e.options.WithoutFiles {
		e.page = &pageData{startNS: e.records.profilingStartNS}
		e.parts = append(e.parts, e.page)
	}
	if !e.options.isShare() {
		if e.twin = newTwinWatch(e.content); e.twin != nil {
			e.parts = append(e.parts, e.twin)
		}
	}
	e.parts = append(e.parts, &e.news)
	e.followers = followers{base: e.base, engine: e.engine, content: e.content, records: e.records, health: e.health,
		grading: e.grading, servers: e.servers, gpus: e.gpus, news: &e.news}
}

// assembleRemote connects the rooms to a load that is made elsewhere.
func (e *execution) assembleRemote(phases load.Plan) {
	r := remote.New(remote.Options{
		Shares: e.options.Remote, Plan: phases, Clock: e.clock, Gates: e.parts.gates(), Observe: e.phaseChanged,
		Deliver: e.takeRecord, Abort: e.ending.abort, DrainTimeout: e.cfg.Env.Timing.CancelDrainTimeout,
		Lost: func(share int, reason error) {
			e.log.Error("A share of the run is lost, its requests in flight count as cut off", "share", share,
				"reason", reason)
		},
	})
	e.remote, e.pool, e.engine.generator = r, r, r
	if e.cfg.FailFast && e.target.plugin == nil {
		e.reach = dispatch.NewReachability(e.ending.abort, e.redactor.Text)
	}
	e.ending.remote, e.health.remote = r, r
}

// takeRecord takes a record that was made elsewhere: what is known of a request here before its record, is learnt from
// the record.
func (e *execution) takeRecord(r *record.Record) {
	e.reach.Take(r)
	if r.Answer != nil {
		e.grading.take(r, r.Answer.Content, r.Answer.Thinking)
	}
	first := r.TurnIndex == 0 && r.AgentDepth == 0
	switch {
	case r.Raw != nil && r.Raw.CutOff:
	case r.Phase == record.PhaseWarmup:
		if first {
			e.prompts.warmNamed(r.ConversationID)
		}
	default:
		e.health.fact(r)
		if first {
			e.prompts.addNamed(r.ConversationID)
		}
	}
	e.records.deliver(r)
}

// beginPhase returns what load asks for the start of a phase, nil if phases start when they are ready.
func (b *base) beginPhase() func(ctx context.Context, phase int) (int64, error) {
	begin := b.options.Begin
	if begin == nil {
		return nil
	}
	return func(ctx context.Context, phase int) (int64, error) {
		at, err := begin(ctx, phase)
		return at.UnixNano() - b.clock.WallNS(0), err
	}
}

// logSetup writes at debug level what the run is about to do.
func (t *target) logSetup(workers int) {
	if !t.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	text, err := artifact.AppendJSON(nil, t.runConfig())
	if err != nil {
		text = []byte(err.Error())
	}
	t.log.Debug("Configuration: " + string(text))
	t.log.Debug("Requests go to " + strings.Join(t.urls, ", "))
	t.log.Debug("Ready", "workers", workers, "record_processors", plan.Processors(t.cfg, cpus()), "cores", cpus())
}

// dispatchedPhases are the phases of a run as their requests are made and named.
func dispatchedPhases(phases []config.Phase) []dispatch.Phase {
	var list []dispatch.Phase
	for i, p := range serverPhases(phases) {
		from := &phases[i]
		play := session.Play{OneToken: from.Lanes != nil && from.Lanes.Stage == load.FillLanes}
		list = append(list, dispatch.Phase{PhaseID: p, Scheduled: from.Schedule != nil, Play: play})
	}
	return list
}
