package collect

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/prom"
)

// GPUSink takes readings, one call at a time.
type GPUSink interface {
	Read(readings []gpu.Reading)
}

// GPUCollector collects from all sources of a run.
type GPUCollector interface {
	// Probe finds out whether there is anything to collect. Its error is one of the configuration.
	Probe(ctx context.Context) (enabled bool, err error)
	// Baseline reads before the load, Boundary at the ends of phases, Finish after the last one.
	Baseline(ctx context.Context)
	Start()
	Boundary(ctx context.Context)
	Finish(ctx context.Context)
	Close() error
	// Configured and Successful are the sources as exports name them.
	Configured() []string
	Successful() []string
	Errors() []gpu.Failure
}

// GPUExporter is an address of an exporter.
type GPUExporter struct {
	URL     string
	Dialect gpu.Dialect
}

// GPUExporterOptions shape the collection over HTTP.
type GPUExporterOptions struct {
	// Defaults are tried although they were not requested, and not named unless they answer.
	Defaults []string
	// Given are those that the user named.
	Given    []GPUExporter
	Interval time.Duration
	Fetch    prom.FetchOptions
	Catalog  *gpu.Catalog
	Sink     GPUSink
	Log      *slog.Logger
}

// gpuExporters collects over HTTP.
type gpuExporters struct {
	*Collector
	options  GPUExporterOptions
	dialects map[string]gpu.Dialect
	// unasked are the defaults that the user did not name.
	unasked []string
}

// NewGPUExporters returns a collector of exporters, each once. It fails on a value that is not an address.
func NewGPUExporters(o GPUExporterOptions) (GPUCollector, error) {
	x := &gpuExporters{options: o, dialects: map[string]gpu.Dialect{}}
	var given, addresses []string
	for _, e := range o.Given {
		shown, err := showAddress(e.URL)
		if err != nil {
			return nil, fmt.Errorf("--gpu-telemetry: %w", err)
		}
		given = append(given, shown)
		x.dialects[shown] = e.Dialect
	}
	for _, d := range o.Defaults {
		shown, err := showAddress(d)
		if err != nil {
			return nil, fmt.Errorf("AIPERF_GPU_DEFAULT_DCGM_ENDPOINTS: %w", err)
		}
		if !slices.Contains(given, shown) {
			x.unasked = append(x.unasked, shown)
			addresses = append(addresses, d)
		}
	}
	for _, e := range o.Given {
		addresses = append(addresses, e.URL)
	}
	var err error
	x.Collector, err = New(Options{
		Extra: addresses, Discovery: Discovery{Mode: Disabled},
		Interval: o.Interval, Fetch: o.Fetch, Sink: x, SinkOnly: true, Exporters: true, Log: o.Log,
		Words: Words{Title: "GPU Telemetry", Subject: "GPU telemetry", Flag: "--no-gpu-telemetry"},
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// showAddress returns an address as exports show it.
func showAddress(raw string) (string, error) {
	normal, err := prom.NormalizeURL(raw)
	return prom.RedactURL(normal), err
}

// Scraped implements [Sink]: a page that says nothing new is no reading, but for those that stand at the ends
// of a phase.
func (x *gpuExporters) Scraped(s Scrape) {
	if s.Duplicate && !s.Step {
		return
	}
	if readings := x.options.Catalog.FromPage(s.URL, s.TimestampNS, s.Samples, x.dialects[s.URL]); len(readings) > 0 {
		x.options.Sink.Read(readings)
	}
}

// Probe implements [GPUCollector].
func (x *gpuExporters) Probe(ctx context.Context) (bool, error) {
	x.Collector.Probe(ctx)
	configured, successful := x.Configured(), x.Successful()
	if len(successful) == 0 {
		x.options.Log.Info("GPU telemetry disabled - no DCGM endpoints reachable")
	} else {
		x.options.Log.Info(fmt.Sprintf("GPU telemetry enabled - %d/%d endpoint(s) reachable", len(successful),
			len(configured)))
	}
	var lost []string
	for _, c := range configured {
		if !slices.Contains(successful, c) {
			if reason := x.Refusal(c); reason != "" {
				c += " (" + reason + ")"
			}
			lost = append(lost, c)
		}
	}
	if len(lost) > 0 {
		x.options.Log.Warn(fmt.Sprintf("GPU telemetry: no metrics from %s; the run continues without", joinAnd(lost)))
	}
	return len(successful) > 0, nil
}

// Configured implements [GPUCollector]: what the user named, then the defaults that answer.
func (x *gpuExporters) Configured() []string {
	var list, found []string
	reachable := x.Collector.Successful()
	for _, shown := range x.Collector.Configured() {
		switch {
		case !slices.Contains(x.unasked, shown):
			list = append(list, shown)
		case slices.Contains(reachable, shown):
			found = append(found, shown)
		}
	}
	return append(list, found...)
}

// Successful implements [GPUCollector], in the order of Configured.
func (x *gpuExporters) Successful() []string {
	reachable := x.Collector.Successful()
	return slices.DeleteFunc(x.Configured(), func(c string) bool { return !slices.Contains(reachable, c) })
}

// Errors implements [GPUCollector].
func (x *gpuExporters) Errors() []gpu.Failure {
	var list []gpu.Failure
	for _, e := range x.Collector.Errors() {
		list = append(list, gpu.Failure{Code: e.Code, Type: e.Type, Message: e.Message, Count: e.Count})
	}
	return list
}

func joinAnd(list []string) string {
	text := ""
	for i, s := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			text += " and "
		default:
			text += ", "
		}
		text += s
	}
	return text
}
