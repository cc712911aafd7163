package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
	"aiperf/internal/watch/collect"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// serverWatch collects the servers' own metrics alongside the load of one run.
type serverWatch struct {
	passive
	*content
	engine    *engine
	prompts   *promptTally
	collector *collect.Collector
	recorder  *export.Recorder
	// unrecorded is why there is no recording though there should be one.
	unrecorded     error
	firstProfiling int
	// phases are those of the run; now is the one that goes on, the scrapes at its ends included.
	phases []servermetrics.PhaseID
	now    atomic.Pointer[servermetrics.PhaseID]
	// ended counts the phases that are over.
	ended atomic.Int32
	// run is what was collected, nil before the end.
	run *export.Collection
	// mark is the counters at the start of the profiling phase, for the figures in the log; nil before it, and where
	// the log has none.
	mark atomic.Pointer[servermetrics.Mark]
	// borderNS is when the scrape at the start of the profiling phase was asked for, inFlight how many requests of
	// earlier phases were out then.
	borderNS, inFlight atomic.Int64
}

// newServerWatch finds out which endpoints answer and takes the first scrape of each. It returns nil when
// nothing is to be collected; only a setting that is wrong is an error.
func newServerWatch(
	ctx context.Context, c *content, engine *engine, prompts *promptTally,
) (*serverWatch, error) {
	s := &c.cfg.ServerMetrics
	if !s.Enabled {
		return nil, nil
	}
	w := &serverWatch{content: c, engine: engine, prompts: prompts, firstProfiling: c.firstProfiling(),
		phases: serverPhases(c.cfg.Phases)}
	env := &c.cfg.Env.ServerMetrics
	var err error
	options := c.pages()
	options.Interval, options.FlushPeriod, options.Summaries = env.CollectionInterval, env.CollectionFlushPeriod, env.LegacyJSON
	options.Sink, options.Log = w, c.options.Log.Logger("server_metrics")
	if w.collector, err = collect.New(options); err != nil {
		return nil, err
	}
	w.collector.Discover(ctx)
	if !w.collector.Probe(ctx) {
		if w.collector.Answered() {
			c.remarkMissingPage(ctx)
		}
		return nil, w.collector.Close()
	}
	if slices.Contains(s.Formats, "jsonl") {
		path := c.cfg.Artifacts.Path(config.ServerMetricsJSONL)
		w.recorder, err = export.NewRecorder(path, c.cfg.Artifacts.Path(config.ServerMetricsRecording),
			w.info(servermetrics.Window{}), export.RecorderOptions{
				OnError: func(err error) { c.log.Error("Server metrics cannot be recorded any more", "error", err) },
			})
		if err == nil {
			c.log.Info("Server metrics JSONL export enabled: " + path)
		} else {
			w.recorder, w.unrecorded = nil, fmt.Errorf("server metrics cannot be recorded: %w", err)
			c.log.Error("Server metrics cannot be recorded; the run goes on without the recording", "error", err)
		}
	}
	w.collector.Baseline(ctx)
	w.collector.Start()
	if err := w.remarkWorkers(ctx); err != nil {
		c.log.Debug("The workers of Dynamo are not known", "error", err)
	}
	return w, nil
}

// remarkWorkers names the workers of a Dynamo of which no page is scraped: their queue and cache are not in the
// figures.
func (w *serverWatch) remarkWorkers(ctx context.Context) error {
	store := w.collector.Store()
	if !store.HasFamily("dynamo_frontend_") || w.cfg.Endpoint.GRPC {
		return nil
	}
	o, own, err := w.control()
	if err != nil {
		return err
	}
	defer own.Close()
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	known := store.LabelValues("worker_id")
	var missing []string
	all := o.Workers(ctx, w.cfg.Endpoint.URLs[0])
	for _, worker := range all {
		if !slices.Contains(known, worker.ID) {
			missing = append(missing, fmt.Sprintf("%s (requests at %s)", worker.ID, worker.Address))
		}
	}
	if len(missing) > 0 {
		w.log.Info(fmt.Sprintf("Workers of Dynamo without a page among the server metrics, %d of %d: %s; name each with "+
			"--server-metrics, at its DYN_SYSTEM_PORT, for its queue and KV cache", len(missing), len(all),
			listed(missing, mostWorkersNamed)))
	}
	return nil
}

// mostWorkersNamed is how many workers a line names.
const mostWorkersNamed = 8

// listed joins the first of some names.
func listed(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Scraped implements collect.Sink.
func (w *serverWatch) Scraped(s collect.Scrape) {
	if w.recorder != nil {
		s.Phase = w.now.Load()
		w.recorder.Scraped(s.URL, s.Scrape)
	}
}

// gates let each phase wait for the scrapes that stand at its ends: what a counter grows by between two scrapes is
// never that of two phases.
func (w *serverWatch) gates(next load.Gates) load.Gates {
	return bothGates(next, load.Gates{
		Timeout: max(load.DefaultGateTimeout, w.cfg.Env.ServerMetrics.ScrapeTimeout),
		BeforeFirstCredit: func(ctx context.Context, phase int) {
			w.markBorder(phase)
			w.now.Store(&w.phases[phase])
			w.collector.Boundary(ctx)
			if phase == w.firstProfiling && plan.StatsInterval(w.cfg) > 0 {
				w.mark.Store(w.collector.Store().Mark())
			}
		},
		AfterLastReturn: func(ctx context.Context, phase int) {
			if int(w.ended.Add(1)) == len(w.phases) { // a seamless phase may end before the one ahead of it
				w.collector.Final(ctx)
				return
			}
			w.collector.Boundary(ctx)
			w.now.CompareAndSwap(&w.phases[phase], nil)
		},
	})
}

// close ends the collection of a run that has no results; its recording stays.
func (w *serverWatch) close() {
	w.collector.Close()
	if err := w.closeRecording(w.info(servermetrics.Window{})); err != nil {
		w.log.Error("Server metrics could not be recorded", "error", err)
	}
}

// closeRecording ends the recording, once; the collection is over.
func (w *serverWatch) closeRecording(info export.Info) error {
	if w.recorder == nil {
		return nil
	}
	r := w.recorder
	w.recorder = nil
	return r.Finish(info, w.collector.Store())
}

// finish ends the collection, computes the statistics of the profiling phase and writes the files.
func (w *serverWatch) finish(o *ended) error {
	ctx, phase := context.Background(), servermetrics.Window{StartNS: o.Result.StartNS, EndNS: o.Result.EndNS}
	w.collector.Final(ctx)
	if !o.Result.WasCancelled && len(w.collector.Successful()) > 0 {
		w.collector.Settle(ctx, time.Unix(0, phase.EndNS), func() bool { return w.caughtUp(o) })
	}
	w.collector.Finish(ctx)
	if err := w.collector.Close(); err != nil {
		w.log.Warn(err.Error())
	}
	info := w.info(phase)
	info.Warmup = warmupWindow(o, w.collector.Store())
	run := export.NewRun(w.collector.Store(), info)
	w.run = run
	for _, text := range run.Results.Warnings {
		w.log.Warn(text)
	}
	for _, failure := range w.collector.Errors() {
		w.log.Debug("Server metrics: failed scrapes", "count", failure.Count, "error", failure.Message)
	}
	err := export.All(ctx, w.exporters(run), func(x export.Exporter) { w.log.Info(written(x)) },
		func(text string) { w.log.Warn(text) })
	err = errors.Join(err, w.closeRecording(info))
	if err != nil {
		w.log.Error("Server metrics could not be written", "error", err)
	}
	if o.ledger = w.ledger(&o.Result, o.Phases, o.resent); o.ledger != nil {
		if _, metric := o.ledger.Server.CachedShare(); metric != "" {
			o.ledger.Repeats = w.repeats(w.prompts, &o.Result)
		}
	}
	o.Result.Reconcile(o.ledger)
	o.Result.Servers = servermetrics.LoadOf(run.Results)
	o.Result.Stages = servermetrics.StagesOf(run.Results, w.cfg.Models)
	if w.cfg.ServerMetrics.Given {
		o.shown.ServerMetrics = servermetrics.Highlights(run.Results)
	}
	rows, warnings := servermetrics.Speculations(run.Results, w.cfg.Models)
	for _, text := range warnings {
		w.log.Warn(text)
	}
	o.shown.Speculation = rows
	return errors.Join(w.unrecorded, err)
}

// caughtUp reports whether the servers have counted all requests of the run, as far as the client can know. The store
// must not change meanwhile.
func (w *serverWatch) caughtUp(o *ended) bool {
	l := w.ledger(&o.Result, o.Phases, o.resent)
	if l == nil {
		return false
	}
	seen := o.Result // a copy: what the servers say is not final
	seen.Reconcile(l)
	return seen.Reconciliation.CaughtUp()
}

// written is the log line of a file.
func written(x export.Exporter) string {
	if _, parquet := x.(export.Parquet); parquet {
		return "Exported server metrics to Parquet: " + x.Target()
	}
	return x.Name() + ": " + x.Target()
}

func (w *serverWatch) exporters(run *export.Collection) []export.Exporter {
	a, env := &w.cfg.Artifacts, &w.cfg.Env.ServerMetrics
	var list []export.Exporter
	for _, format := range w.cfg.ServerMetrics.Formats {
		switch format {
		case "json":
			list = append(list, export.JSON{Path: a.Path(config.ServerMetricsJSON), Run: run})
		case "csv":
			list = append(list, export.CSV{Path: a.Path(config.ServerMetricsCSV), Run: run, Comments: env.CSVComments})
		case "parquet":
			list = append(list, export.Parquet{Path: a.Path(config.ServerMetricsParquet), Run: run})
		}
	}
	if env.LegacyJSON {
		list = append(list, export.LegacyJSON{Path: a.Path(config.ServerMetricsLegacyJSON), Run: run})
	}
	return list
}

// info is what the files say of the run.
func (w *serverWatch) info(phase servermetrics.Window) export.Info {
	cfg := w.cfg
	host, _ := os.Hostname() // a machine without a name has none in the files
	info := export.Info{
		AIPerfVersion: w.options.Version, BenchmarkID: w.id, CLICommand: cfg.CLICommand,
		Configured: w.collector.Configured(), Successful: w.collector.Successful(),
		Window: phase, InputConfig: w.inputConfig(), Models: cfg.Models,
		ExportTime: time.Now(), Hostname: host,
		SliceNS: int64(cfg.Artifacts.SliceDuration), Bounds: cfg.Env.ServerMetrics.Bounds,
	}
	var concurrencies []*int
	var rates []*float64
	for _, p := range cfg.PhasesOf(config.ProfilingPhase) {
		concurrencies, rates = append(concurrencies, p.Concurrency), append(rates, nil)
		if rate := p.PlannedRate(); rate > 0 {
			rates[len(rates)-1] = &rate
		}
	}
	info.Concurrency, info.RequestRate = config.Common(concurrencies), config.Common(rates)
	return info
}

// markBorder remembers what is out when the profiling phase begins.
func (w *serverWatch) markBorder(phase int) {
	if phase != w.firstProfiling {
		return
	}
	n := int64(0)
	phases := w.engine.Snapshot()
	for i := range phases {
		n += phases[i].RequestsSent - phases[i].RequestsCompleted - phases[i].RequestsCancelled
	}
	w.borderNS.Store(w.clock.WallNS(w.clock.NowNS()))
	w.inFlight.Store(n)
}

// ledger is what the server counted over the profiling phases; nil where its counters were not scraped, and where a
// warm-up ran between the phases, which they count, too. resent are the requests that were sent again.
func (w *serverWatch) ledger(r *summary.Result, phases []load.Stats, resent int64) *summary.Ledger {
	first := slices.IndexFunc(phases, func(p load.Stats) bool { return p.Kind == load.Profiling })
	if slices.ContainsFunc(phases[first+1:], func(p load.Stats) bool { return p.Kind == load.Warmup }) {
		return nil
	}
	window := servermetrics.Window{StartNS: r.StartNS, EndNS: r.EndNS}
	server := servermetrics.Totals(w.collector.Store(), window, w.cfg.Models)
	if server == nil {
		return nil
	}
	server.Silent = max(len(w.collector.Configured())-len(w.collector.Successful()), 0)
	l := &summary.Ledger{Server: *server, InFlight: w.inFlight.Load(), Resent: resent}
	for i := range phases {
		if phases[i].Kind == load.Warmup && server.FromNS != 0 && server.FromNS < w.borderNS.Load() {
			l.WarmUp += phases[i].RequestsSent // all of them: nobody knows how many had ended by then
		}
	}
	return l
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

// warmupWindow is from the start of the first warm-up to the scrape at the end of the last one before the profiling
// phases; zero without one.
func warmupWindow(o *ended, store *servermetrics.Store) servermetrics.Window {
	var w servermetrics.Window
	for i := range o.ran {
		p := &o.ran[i]
		if p.Profiling >= 0 {
			break
		}
		w.StartNS = cmp.Or(w.StartNS, p.StartNS)
		w.EndNS = closedEnd(p, o.until[i], store)
	}
	return w
}
