package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/collect"
	"aiperf/internal/watch/gpu"
)

// gpuWatch collects GPU telemetry alongside the load of one run.
type gpuWatch struct {
	passive
	*target
	catalog   *gpu.Catalog
	collector collect.GPUCollector
	enabled   bool
	// ended counts the phases that are over: a seamless one may end before the one ahead of it.
	ended atomic.Int32

	mu    sync.Mutex
	store *gpu.Store
	lines *artifact.Lines // nil when nothing is recorded
	line  []byte
	// unrecorded is why there is no recording though there should be one.
	unrecorded error
	// state is what there is to report, nil until the load is over.
	state *summary.GPUState
	// running is the state while the load goes on, runningAt when it was computed and runningCost how long that took.
	running     *summary.GPUState
	runningAt   time.Time
	runningCost time.Duration
}

// newGPUWatch finds out which exporters answer, or opens the driver, and takes the first reading. It returns nil when
// nothing is to be collected; only a setting that is wrong is an error.
func newGPUWatch(ctx context.Context, t *target) (*gpuWatch, error) {
	if !t.cfg.GPU.Enabled {
		return nil, nil
	}
	custom, err := t.customMetrics()
	if err != nil {
		return nil, err
	}
	catalog := gpu.NewCatalog(custom, t.cfg.Env.GPU.VendorScoped)
	w := &gpuWatch{target: t, catalog: catalog, store: gpu.NewStore(catalog)}
	if w.collector, err = w.newCollector(); err != nil {
		return nil, err
	}
	if w.enabled, err = w.collector.Probe(ctx); err != nil {
		return nil, errors.Join(err, w.collector.Close())
	}
	if !w.enabled {
		return w, nil
	}
	lines, err := artifact.CreateLines(t.cfg.Artifacts.Path(config.GPUTelemetryJSONL), artifact.LinesOptions{
		OnError: func(err error) { t.log.Error("GPU telemetry cannot be recorded any more", "error", err) },
	})
	if err != nil {
		lines, w.unrecorded = nil, fmt.Errorf("GPU telemetry cannot be recorded: %w", err)
		t.log.Error("GPU telemetry cannot be recorded; the run goes on without the recording", "error", err)
	}
	w.mu.Lock() // a program of a driver tells its readings already
	w.lines = lines
	w.mu.Unlock()
	w.collector.Baseline(ctx)
	w.collector.Start()
	return w, nil
}

// count returns the number of GPUs that were seen.
func (w *gpuWatch) count() int {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.store.GPUs()
}

// newest returns what each GPU said last as observers see it, with the figures since the start of the profiling phases;
// of a start of 0 there are none.
func (w *gpuWatch) newest(startNS int64) []progress.GPU {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []progress.GPU
	for _, d := range w.store.Newest(startNS) {
		list = append(list, GPUOf(&d))
	}
	return list
}

func (w *gpuWatch) newCollector() (collect.GPUCollector, error) {
	g, env, log := &w.cfg.GPU, &w.cfg.Env.GPU, w.options.Log.Logger("gpu_telemetry")
	fetch := w.fetchOptions()
	fetch.ReachabilityTimeout = env.ReachabilityTimeout
	if g.Collector != "" {
		return collect.NewLocalGPUs(collect.LocalGPUOptions{
			Vendor: g.Collector, Interval: env.CollectionInterval, OpenTimeout: env.ReachabilityTimeout,
			CloseTimeout: env.ShutdownTimeout,
			Catalog:      w.catalog, Sink: w, WallNS: fetch.WallNS, Log: log,
		}), nil
	}
	dialects := map[string]gpu.Dialect{"dcgm": gpu.DCGM, "amd_dme": gpu.DeviceMetricsExporter}
	var given []collect.GPUExporter
	for _, x := range g.Exporters {
		given = append(given, collect.GPUExporter{URL: x.URL, Dialect: dialects[x.Collector]})
	}
	return collect.NewGPUExporters(collect.GPUExporterOptions{
		Defaults: env.Endpoints, Given: given, Interval: env.CollectionInterval, Fetch: fetch, Catalog: w.catalog,
		Sink: w, Log: log,
	})
}

// customMetrics reads the metrics file that the user named.
func (b *base) customMetrics() ([]gpu.Custom, error) {
	path := b.cfg.GPU.MetricsFile
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("GPU Metrics Configuration Error: --gpu-telemetry: %w", err)
	}
	defer file.Close()
	custom, warnings, err := gpu.ParseCustom(path, file)
	if err != nil {
		return nil, fmt.Errorf("GPU Metrics Configuration Error: --gpu-telemetry: %w", err)
	}
	for _, text := range warnings {
		b.log.Warn("GPU metrics: " + text)
	}
	if len(custom) == 0 {
		b.log.Warn("GPU metrics: " + path + " contains no metric: a line is FIELD, type, help text")
	}
	b.log.Info(fmt.Sprintf("Validated %d custom metrics from %s", len(custom), path))
	return custom, nil
}

// Read implements collect.GPUSink.
func (w *gpuWatch) Read(readings []gpu.Reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range readings {
		w.store.Add(readings[i])
		if w.lines != nil {
			w.line = w.catalog.AppendLine(w.line[:0], &readings[i])
			_ = w.lines.Add(w.line) // told by OnError, once
		}
	}
}

// gates let the phases wait for the readings that stand at their ends.
func (w *gpuWatch) gates(next load.Gates) load.Gates {
	if !w.enabled {
		return next
	}
	return bothGates(next, load.Gates{
		BeforeFirstCredit: func(ctx context.Context, _ int) { w.collector.Boundary(ctx) },
		AfterLastReturn: func(ctx context.Context, _ int) {
			if int(w.ended.Add(1)) == len(w.cfg.Phases) {
				w.collector.Finish(ctx)
			} else {
				w.collector.Boundary(ctx)
			}
		},
	})
}

// close ends the collection of a run that has no results; its recording stays.
func (w *gpuWatch) close() {
	if err := w.end(); err != nil {
		w.log.Error("GPU telemetry could not be recorded", "error", err)
	}
}

// end stops the collection and closes the recording; a second call does nothing.
func (w *gpuWatch) end() error {
	if w.collector == nil {
		return nil
	}
	if err := w.collector.Close(); err != nil {
		w.log.Warn(err.Error())
	}
	w.mu.Lock()
	lines := w.lines
	w.lines = nil
	w.mu.Unlock()
	if lines == nil {
		return nil
	}
	return lines.Close()
}

// runningShare bounds the part of the time in which the state of a run that goes on is computed.
const runningShare = 100

// soFar is what the GPUs did since the start of the profiling phase, without the efficiency of requests that are not
// over; nil where there is nothing to tell. Of many readings it is as old as the computing must be seldom.
func (w *gpuWatch) soFar(startNS, nowNS int64) *summary.GPUState {
	if w == nil || !w.enabled || startNS == 0 {
		return nil
	}
	began := time.Now()
	if began.Sub(w.runningAt) < runningShare*w.runningCost {
		return w.running
	}
	w.mu.Lock()
	t := w.store.Telemetry(gpu.Window{StartNS: startNS, EndNS: nowNS})
	w.mu.Unlock()
	t.SetSources(w.collector.Configured(), w.collector.Successful())
	t.Errors, t.EndNS = w.collector.Errors(), nowNS
	w.running = &summary.GPUState{Telemetry: t, Shown: w.cfg.GPU.Given}
	w.runningAt, w.runningCost = began, time.Since(began)
	return w.running
}

// finish ends the collection, and puts what the GPUs did into the result: their figures, and the efficiency of the
// requests.
func (w *gpuWatch) finish(o *ended) error {
	result := &o.Result
	if w.enabled {
		w.collector.Finish(context.Background())
	}
	err := errors.Join(w.unrecorded, w.end())
	if err != nil {
		w.log.Error("GPU telemetry could not be recorded", "error", err)
	}
	window := gpu.Window{StartNS: result.StartNS, EndNS: result.EndNS, GraceNS: int64(w.cfg.Env.GPU.FinalGrace)}
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.store.Telemetry(window)
	t.SetSources(w.collector.Configured(), w.collector.Successful())
	t.Errors = w.collector.Errors()
	t.EndNS = time.Now().UnixNano()
	w.state = &summary.GPUState{Telemetry: t, Shown: w.cfg.GPU.Given}
	if len(t.Endpoints) == 0 {
		return err
	}
	for _, d := range w.store.Late(window, max(3*int64(w.cfg.Env.GPU.CollectionInterval), int64(time.Second))) {
		w.log.Warn(fmt.Sprintf("GPU telemetry: the last reading of GPU %d (%s) at %s came before the end of the "+
			"load; its energy is that up to then",
			d.Index, d.UUID, gpu.DisplaySource(d.Source)))
	}
	w.state.Efficiency = w.store.Efficiency(window, w.load(result))
	for _, f := range w.state.Efficiency {
		if f.Tag == "total_gpu_energy" && f.Value == 0 {
			w.log.Warn("GPU telemetry: the energy counters did not move during the run; an exporter that reads its " +
				"GPUs at intervals longer than the run cannot measure its energy (dcgm-exporter: " +
				"--collect-interval=1000)")
		}
	}
	result.AddGPUs(w.state)
	return err
}

// load is what the requests did, for the figures of efficiency.
func (w *gpuWatch) load(result *summary.Result) gpu.Load {
	l := result.GPULoad()
	var list []*float64
	for _, p := range w.cfg.PhasesOf(config.ProfilingPhase) {
		switch {
		case p.Concurrency != nil:
			list = append(list, new(float64(*p.Concurrency)))
		case p.Mode == config.Burst:
			list = append(list, new(1.0))
		default:
			list = append(list, nil)
		}
	}
	l.Concurrency = config.Common(list)
	return l
}

// GPUOf returns what a GPU said last as observers see it.
func GPUOf(d *gpu.DeviceNewest) progress.GPU {
	g := progress.GPU{Source: gpu.DisplaySource(d.Source), Model: d.Model, UUID: d.UUID, Host: d.Hostname, Index: d.Index,
		Memory: d.Memory}
	for i := range d.Fields {
		f := &d.Fields[i]
		none := math.NaN()
		v := progress.GPUValue{Tag: f.Name, Header: f.Display, Unit: f.Unit, Now: f.Now, Avg: none, Min: none, Max: none,
			P50: none, P90: none, P99: none, Std: none}
		if f.Known {
			v.Avg = f.Avg
		}
		if f.Known && f.Kind == gpu.Gauge {
			v.Min, v.Max, v.Std = f.Min, f.Max, f.Std
			v.P50, v.P90, v.P99 = f.Percentiles.At(50), f.Percentiles.At(90), f.Percentiles.At(99)
		}
		g.Values = append(g.Values, v)
	}
	return g
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
