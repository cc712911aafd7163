package export

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// JSON writes server_metrics_export.json.
type JSON struct {
	Path string
	Run  *Collection
}

// Name implements Exporter.
func (JSON) Name() string { return "Server Metrics JSON Export" }

// Target implements Exporter.
func (j JSON) Target() string { return j.Path }

// Export implements Exporter.
func (j JSON) Export(ctx context.Context) error {
	if j.Run.empty() {
		return nil
	}
	return artifact.WriteStream(j.Path, func(w *bufio.Writer) error { return j.Write(ctx, w) })
}

// Write writes the file to w.
func (j JSON) Write(ctx context.Context, w io.Writer) error {
	r := j.Run
	d := &document{ctx: ctx, w: w}
	d.open('{')
	d.text("schema_version", jsonVersion)
	d.text("aiperf_version", r.Info.AIPerfVersion)
	if r.Info.BenchmarkID != "" {
		d.text("benchmark_id", r.Info.BenchmarkID)
	}
	d.key("summary")
	d.open('{')
	d.texts("endpoints_configured", r.Info.Configured)
	d.texts("endpoints_successful", r.Info.Successful)
	d.phase(&r.Info)
	d.key("endpoint_info")
	d.open('{')
	for _, e := range byURL(r.Store) {
		d.key(e.URL())
		d.object()
		d.endpointInfo(e.Info())
		d.end()
	}
	d.close('}')
	d.ranges(&r.Info)
	d.close('}')
	d.text("metrics_phase", "profiling")
	d.families("metrics", r.Results)
	if r.Warmup != nil {
		d.families("warmup_metrics", r.Warmup)
	}
	d.value("input_config", r.Info.InputConfig)
	if r.Info.CLICommand != "" {
		d.key("run_info")
		d.open('{')
		if r.Info.BenchmarkID != "" {
			d.text("benchmark_id", r.Info.BenchmarkID)
		}
		d.text("cli_command", r.Info.CLICommand)
		d.close('}')
	}
	d.close('}')
	return d.finish()
}

// ranges says when the phases ran. An empty range is left out.
func (d *document) ranges(i *Info) {
	d.key("phase_time_ranges")
	d.open('{')
	for _, p := range [...]struct {
		kind string
		servermetrics.Window
	}{{"profiling", i.Window}, {"warmup", i.Warmup}} {
		if p.StartNS >= p.EndNS {
			continue
		}
		d.key(p.kind)
		d.open('{')
		d.integer("start_ns", p.StartNS)
		d.integer("end_ns", p.EndNS)
		d.close('}')
	}
	d.close('}')
}

func (d *document) families(key string, r *servermetrics.Results) {
	d.key(key)
	d.open('{')
	for i := range r.Families {
		d.family(&r.Families[i])
	}
	d.close('}')
}

func byURL(s *servermetrics.Store) []*servermetrics.EndpointStore {
	endpoints := s.Endpoints()
	slices.SortFunc(endpoints, func(a, b *servermetrics.EndpointStore) int { return strings.Compare(a.URL(), b.URL()) })
	return endpoints
}

func (d *document) phase(i *Info) {
	d.text("start_time", localTime(i.Window.StartNS, i.startLocation()))
	d.text("end_time", localTime(i.Window.EndNS, i.endLocation()))
}

// endpointInfo writes the members of what is known of an endpoint.
func (d *document) endpointInfo(i servermetrics.Info) {
	d.integer("total_fetches", i.TotalFetches)
	d.integer("first_fetch_ns", i.FirstFetchNS)
	d.integer("last_fetch_ns", i.LastFetchNS)
	d.float("avg_fetch_latency_ms", i.AvgFetchLatencyMS)
	d.integer("unique_updates", i.UniqueUpdates)
	d.integer("first_update_ns", i.FirstUpdateNS)
	d.integer("last_update_ns", i.LastUpdateNS)
	d.float("duration_seconds", i.DurationSeconds)
	d.float("avg_update_interval_ms", i.AvgUpdateIntervalMS)
	if i.MedianUpdateIntervalMS != nil {
		d.float("median_update_interval_ms", *i.MedianUpdateIntervalMS)
	}
	if i.NoTotals != "" {
		d.text("no_totals", i.NoTotals)
	}
}

func (d *document) family(f *servermetrics.FamilyStats) {
	d.key(f.Name)
	d.open('{')
	d.text("type", f.Type.String())
	d.text("description", f.Help)
	if unit := prom.InferUnit(f.Name, f.Help); unit != "" {
		d.text("unit", unit)
	}
	d.key("series")
	d.open('[')
	for i := range f.Series {
		s := &f.Series[i]
		d.item()
		d.object()
		d.text("endpoint_url", s.EndpointURL)
		d.series(s, f.Type)
		d.end()
	}
	d.close(']')
	d.close('}')
}

// series writes the members of a series.
func (d *document) series(s *servermetrics.SeriesStats, t prom.Type) {
	d.labels(s.Labels)
	d.key("stats")
	d.object()
	d.fields(s.Fields())
	d.end()
	// A histogram without buckets has them listed, as none; its timeslices do not repeat that.
	if s.Buckets != nil || t == prom.Histogram && len(s.Series.Bounds) == 0 {
		d.buckets(s.Series.Bounds, s.Buckets)
	}
	if s.SliceCount > 0 {
		d.key("timeslices")
		d.open('[')
		for slice := range s.Timeslices() {
			d.item()
			d.slice(&slice, s.Series.Bounds, t)
		}
		d.close(']')
	}
}

func (d *document) labels(labels []prom.Label) {
	if len(labels) == 0 {
		return
	}
	d.key("labels")
	d.object()
	for _, l := range labels {
		d.text(l.Name, l.Value)
	}
	d.end()
}

func (d *document) fields(fields []metrics.Statistic) {
	for _, f := range fields {
		if f.Integer {
			d.integer(f.Key, int64(f.Value))
		} else {
			d.float(f.Key, f.Value)
		}
	}
}

func (d *document) buckets(bounds []string, counts []int64) {
	d.key("buckets")
	d.object()
	for i, n := range counts {
		d.integer(bounds[i], n)
	}
	d.end()
}

func (d *document) slice(s *servermetrics.Slice, bounds []string, t prom.Type) {
	d.object()
	d.integer("start_ns", s.StartNS)
	d.integer("end_ns", s.EndNS)
	if s.Partial {
		d.key("is_complete")
		d.buf = append(d.buf, "false"...)
	}
	d.fields(s.Fields(t))
	if s.Buckets != nil {
		d.buckets(bounds, s.Buckets)
	}
	d.end()
}
