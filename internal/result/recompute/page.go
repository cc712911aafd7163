package recompute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"aiperf/internal/config"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/report/html"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// page is what the HTML report shows of what was collected alongside the load, as far as the run has files of it. The
// error is why one could not be read.
func (r *recomputation) page(ctx context.Context, from config.Artifacts) (*html.Run, error) {
	run := &html.Run{Requests: r.requests}
	var ofServers, ofGPUs error
	run.Servers, ofServers = serverCurves(ctx, from)
	run.GPUs, ofGPUs = gpu.ReadCurves(from.Path(config.GPUTelemetryJSONL))
	if errors.Is(ofGPUs, fs.ErrNotExist) {
		ofGPUs = nil
	}
	if err := errors.Join(ofServers, ofGPUs); err != nil {
		return run, fmt.Errorf("HTML report: a part is missing: %w", err)
	}
	return run, nil
}

// serverCurves reads the server metrics of a run: from its recording where there is one, else from the Parquet file,
// which has those of the profiling phase.
func serverCurves(ctx context.Context, from config.Artifacts) ([]timeline.Curve, error) {
	path := from.Path(config.ServerMetricsJSONL)
	if _, err := os.Stat(path); err != nil {
		curves, err := export.ReadCurves(from.Path(config.ServerMetricsParquet))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return curves, err
	}
	recording, err := OpenRecording(path, &Options{Warn: func(string) {}}, true)
	if err != nil {
		return nil, err
	}
	store := servermetrics.NewStore(servermetrics.Options{})
	err = recording.Read(ctx, func(url string, s servermetrics.Scrape) { store.Endpoint(url).Add(s) })
	return servermetrics.Curves(store), err
}
