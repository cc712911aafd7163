package run

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/random"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
)

// recordQueue bounds the exchanges that wait to become records.
const recordQueue = 4096

func cpus() int { return runtime.GOMAXPROCS(0) }

// processors is the number of goroutines that make records.
func (e *execution) processors() int {
	if n := e.cfg.Workers.RecordProcessors; n != nil {
		return *n
	}
	return max(1, cpus()/2)
}

func newBenchmarkID() string {
	var b [16]byte
	crand.Read(b[:]) // never fails: crypto/rand ends the program if the system has no entropy
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func seed(cfg *config.Run) random.Seed {
	if cfg.RandomSeed == nil {
		return random.Seed{}
	}
	return random.Root(*cfg.RandomSeed)
}

// members turns the user's extra inputs into JSON text, in order.
func members(extra artifact.Object) ([]dataset.Field, error) {
	var list []dataset.Field
	for _, m := range extra {
		text, err := artifact.AppendJSON(nil, m.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Key, err)
		}
		list = append(list, dataset.Field{Name: m.Key, Value: text})
	}
	return list, nil
}

// openDirectory makes the artifact directory, keeps other runs out of it and opens the log file.
func (e *execution) openDirectory() error {
	a := &e.cfg.Artifacts
	if err := os.MkdirAll(filepath.Dir(a.Path(config.SummaryJSON)), 0o755); err != nil {
		return fmt.Errorf("the artifact directory cannot be made: %w; choose another with --artifact-dir", err)
	}
	var err error
	if e.folder, err = artifact.LockFolder(a.Dir); err != nil {
		return fmt.Errorf("%w with --artifact-dir", err)
	}
	if err := e.options.Log.OpenFile(a.Path(config.LogFile)); err != nil {
		return fmt.Errorf("%w; choose another directory with --artifact-dir", err)
	}
	return nil
}

// clearDirectory removes what an earlier run left under the same names. That is done when the dataset is known: a mistake
// in it must not cost older results, and it may be made of one of them.
func (e *execution) clearDirectory() error {
	a := &e.cfg.Artifacts
	replaced := replacedRun(a.Path(config.SummaryJSON))
	var stale []string
	for _, kind := range config.ArtifactKinds() {
		if kind != config.LogFile {
			stale = append(stale, a.Path(kind))
		}
	}
	json, csv := a.PhaseNames()
	ofPhases, folders := report.StalePhases(a.Dir, json, csv)
	if err := artifact.RemoveStale(append(stale, ofPhases...)...); err != nil {
		return fmt.Errorf("files of an earlier run cannot be replaced: %w; choose another directory with --artifact-dir", err)
	}
	for _, folder := range folders {
		_ = os.Remove(folder) // which fails, as it should, when it holds anything else
	}
	if replaced != "" {
		e.log.Warn("The results of an earlier run in the artifact directory are replaced; --artifact-dir keeps them apart",
			"directory", a.Dir, "benchmark_id", replaced)
	}
	return nil
}

// replacedRun is the id of the run whose summary stands at path; "" if there is none.
func replacedRun(path string) string {
	old, err := summary.ReadFigures(path)
	if err != nil {
		return ""
	}
	return old.BenchmarkID
}

// sessionLimit is the number of sessions that all phases start at most: each sends one request or more. 0 is no limit.
func sessionLimit(cfg *config.Run) int64 {
	sum := int64(0)
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		switch {
		case p.Schedule != nil || p.Lanes != nil || p.Users > 0:
			return 0
		case p.Sessions != nil:
			sum += *p.Sessions
		case p.Requests != nil:
			sum += *p.Requests
		default:
			return 0
		}
	}
	return sum
}

func (e *execution) buildDataset(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Env.Service.ProfileConfigureTimeout)
	defer cancel()
	d := &e.cfg.Dataset
	options := compose.Options{
		Path: d.Path, Format: d.Format, Reading: e.reading(), Entries: d.Entries, Sampling: dataset.Sampling(d.Sampling),
		ISL: d.ISL, OSL: d.OSL, SeqDist: d.SequenceDistribution, BatchSize: d.Batches.Text,
		Turns: d.Turns, DelayMS: d.TurnDelayMS, DelayRatio: d.TurnDelayRatio,
		PrefixPool: d.PrefixPoolSize, PrefixLength: d.PrefixLength,
		SharedSystemLength: d.SharedSystemPromptLength, SystemPrompt: d.SystemPrompt, UserContextLength: d.UserContextPromptLength,
		CacheBust: d.CacheBust, Models: e.cfg.Models, ModelSelection: e.cfg.ModelSelection, ModelWeights: e.cfg.ModelWeights, Seed: seed(e.cfg),
	}
	if t, ok := e.counter().(*templated); ok && e.descriptor.Name == "chat" {
		options.Template = t
	}
	options.Kind = compose.Synthetic
	switch d.Kind {
	case config.FileDataset:
		options.Kind = compose.File
	case config.PublicDataset:
		options.Kind, options.Published = compose.Public, e.published()
	}
	addMedia(&options, d)
	addReading(&options, d)
	addCorpus(&options, d)
	options.Sessions = sessionLimit(e.cfg)
	data, warnings, err := compose.Build(ctx, options, e.tokenizer)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the dataset was not ready within %s; raise AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT: %w", e.cfg.Env.Service.ProfileConfigureTimeout, err)
		}
		return err
	}
	warnings = append(append(warnings, unsentMedia(data, e.descriptor)...), verbatimWarnings(data, e.cfg)...)
	for _, w := range warnings {
		e.log.Warn(w)
	}
	for _, n := range data.Notes {
		e.log.Info(n)
	}
	e.announceRepeats(data)
	if err := checkCacheBust(data, d.CacheBust); err != nil {
		return err
	}
	if err := e.checkThreadedMessages(data); err != nil {
		return err
	}
	e.log.Info("Dataset ready", "conversations", data.Len(), "turns", data.Turns())
	e.data = data
	return nil
}

// openSinks creates the files that are written while the run goes on, so that a directory that
// cannot be written shows before the first request.
func (e *execution) openSinks() error {
	a, lines := &e.cfg.Artifacts, e.linesOptions()
	if a.HTMLReport {
		e.page = &pageData{e: e}
	}
	lines.OnError = e.sinkFailed
	if a.Outputs {
		if err := e.openOutputs(lines); err != nil {
			return err
		}
	}
	if a.ExportLevel == "summary" {
		return nil
	}
	format := recordfile.Format{
		Metrics: e.set.AppendRecordMetrics, Facts: e.set.AppendRecordFacts, Redactor: e.redactor,
	}
	if _, err := e.openSink(config.RecordsJSONL, lines, format.AppendLine); err != nil || a.ExportLevel != "raw" {
		return err
	}
	e.limit(&lines, e.cfg.Env.Record.RawMaxBytes, config.RawJSONL, "AIPERF_RECORD_RAW_MAX_BYTES")
	_, err := e.openSink(config.RawJSONL, lines, recordfile.RawFormat{Redactor: e.redactor}.AppendLine)
	return err
}

func (e *execution) linesOptions() artifact.LinesOptions {
	return artifact.LinesOptions{FlushInterval: e.cfg.Env.Metrics.ExportFlushInterval}
}

// sinkFailed ends the run: records that cannot be written are a run that is being lost. It is told
// before the first request at the earliest, once per file.
func (e *execution) sinkFailed(err error) {
	e.log.Error("Records cannot be written any more, the run ends here", "error", err)
	e.sinkError.CompareAndSwap(nil, &err)
	e.engine.Abort(err)
}

func (e *execution) clientOptions(workers int) client.Options {
	h, o := &e.cfg.Env.HTTP, client.DefaultOptions()
	o.Reuse = client.Reuse(e.cfg.Endpoint.ConnectionReuse)
	o.Workers, o.ConnectionLimit, o.ConnectLimit = workers, h.ConnectionLimit, h.ConnectLimit
	o.Sources = e.cfg.Endpoint.SourceAddresses
	o.Timeout = seconds(e.cfg.Endpoint.TimeoutSeconds)
	o.CancelSendTimeout = h.CancellationSendTimeout
	o.ConnectTimeout = h.ConnectTimeout
	o.KeepAliveTimeout, o.ForceClose = h.KeepaliveTimeout, h.ForceClose
	o.IPVersion, o.UseDNSCache, o.DNSCacheTTL = h.IPVersion, h.UseDNSCache, h.DNSCacheTTL
	o.RcvBuf, o.SndBuf = h.ReceiveBuffer, h.SendBuffer
	o.TCPKeepIdle, o.TCPKeepIntvl, o.TCPKeepCnt = h.TCPKeepIdle, h.TCPKeepInterval, h.TCPKeepCount
	o.TCPUserTimeout, o.SSLVerify = h.TCPUserTimeout, h.SSLVerify
	if h.TrustEnv {
		o.Proxy = client.ProxyFromEnvironment
	}
	o.MaxBody = int64(h.MaxResponseBytes)
	o.TimestampSource = client.TimestampSource(e.cfg.TimestampSource)
	o.Redact = e.redactor.Text
	o.HTTP2, o.UnixSocket = e.cfg.Endpoint.HTTP2, e.cfg.Endpoint.UnixSocket
	o.RootCAs, o.Certificates = e.identity.roots, e.identity.certificates
	if e.identity.signer != nil {
		o.Sign = e.identity.signer.Sign
	}
	return o
}

func (e *execution) headers() session.Headers {
	c, h := &e.cfg.Endpoint, &e.cfg.Env.HTTP
	s := session.Headers{
		Version: e.options.Version, APIKey: c.APIKey, KeyName: e.descriptor.KeyHeader, Usual: e.descriptor.Headers, SessionName: c.SessionHeader,
		SessionAffinity: h.XSessionAffinity, SessionID: h.XSessionID, SMGRoutingKey: h.XSMGRoutingKey, DynamoSessionID: h.XDynamoSessionID,
	}
	if m := c.SageMaker; m != nil {
		s.RequestIDNames = []string{"X-Amzn-SageMaker-Inference-Id"}
		for _, h := range []record.Header{
			{Name: "X-Amzn-SageMaker-Target-Model", Value: m.TargetModel},
			{Name: "X-Amzn-SageMaker-Inference-Component", Value: m.InferenceComponent},
			{Name: "X-Amzn-SageMaker-Target-Variant", Value: m.TargetVariant},
		} {
			if h.Value != "" {
				s.Fixed = append(s.Fixed, h)
			}
		}
	}
	for _, header := range c.Headers {
		s.Custom = append(s.Custom, record.Header{Name: header.Name, Value: header.Value})
	}
	return s
}

// plan brings the phases into load's terms.
func (e *execution) plan() load.Plan {
	plan := load.Plan{Seed: seed(e.cfg), URLs: len(e.urls), FailFast: e.cfg.Env.Timing.DAGFailFast}
	for _, p := range e.cfg.Phases {
		phase := load.Phase{Name: p.Name, Kind: load.Profiling, Grace: load.Infinite}
		if p.Kind == config.WarmupPhase {
			phase.Kind = load.Warmup
		}
		switch {
		case p.AtOnce(): // which load calls a burst
		case p.Mode == config.Rate:
			phase.Arrivals = load.Arrivals{Pattern: pattern(p.Pattern), Rate: p.Rate, Smoothness: p.Smoothness}
			phase.Arrivals.Ramp = load.RateRamp{Ramp: load.Ramp{Duration: p.RateRamp}, Interval: e.cfg.Env.Timing.RateRampUpdateInterval}
			for _, point := range p.Series {
				phase.Arrivals.Series = append(phase.Arrivals.Series, load.RatePoint{At: seconds(point.Seconds), Rate: point.Rate})
			}
		case p.Mode == config.FixedSchedule:
			phase.Schedule = e.loadSchedule(p.Schedule)
		case p.Mode == config.AgenticReplay:
			phase.Lanes, phase.Grace = &p.Lanes.Lanes, p.Grace
		case p.Mode == config.UserCentric:
			turns := float64(e.data.Turns()) / float64(e.data.Len())
			phase.Users = &load.Users{Count: p.Users, Rate: p.Rate, MeanTurns: turns}
		}
		phase.ConcurrencyRamp, phase.PrefillRamp = load.Ramp{Duration: p.ConcurrencyRamp}, load.Ramp{Duration: p.PrefillRamp}
		phase.Concurrency, phase.Prefill = number(p.Concurrency), number(p.Prefill)
		phase.Barrier = p.Simultaneous
		phase.Requests, phase.Sessions = number(p.Requests), number(p.Sessions)
		if p.Duration != nil {
			phase.Duration, phase.Grace = *p.Duration, p.Grace
		}
		if p.Cancellation != nil {
			phase.Cancellation = *p.Cancellation
		}
		plan.Phases = append(plan.Phases, phase)
	}
	return plan
}

func pattern(name string) load.Pattern {
	switch name {
	case config.PatternConstant:
		return load.Constant
	case config.PatternGamma:
		return load.Gamma
	default:
		return load.Poisson
	}
}

// number is what p points to, 0 for nil: no limit.
func number[T int | int64](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}

func limitsPrefill(plan load.Plan) bool {
	for _, p := range plan.Phases {
		if p.Prefill > 0 {
			return true
		}
	}
	return false
}
