package export

import (
	"bufio"
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// Parquet writes server_metrics_export.parquet: the samples within the window, a row for each, a histogram's for
// each bucket. Rows are made from the store while they are written, on all cores.
type Parquet struct {
	Path string
	Run  *Collection
}

// Name implements Exporter.
func (Parquet) Name() string { return "Server Metrics Parquet Export" }

// Target implements Exporter.
func (p Parquet) Target() string { return p.Path }

// Export implements Exporter. Without rows it fails with errNoRows.
func (p Parquet) Export(ctx context.Context) error {
	if p.Run.empty() {
		return nil
	}
	t := newTable(p.Run)
	if t.total == 0 {
		return errNoRows
	}
	return artifact.WriteStream(p.Path, func(w *bufio.Writer) error { return t.write(ctx, w, footer(p.Run, t)) })
}

// Write writes the file to w, one without rows too.
func (p Parquet) Write(ctx context.Context, w io.Writer) error {
	t := newTable(p.Run)
	return t.write(ctx, w, footer(p.Run, t))
}

// footer returns the file's key/value metadata.
func footer(r *Collection, t *table) map[string]string {
	i := &r.Info
	duration := i.Window.EndNS - i.Window.StartNS
	endpoints := make([]string, 0, len(t.endpoints))
	for _, e := range t.endpoints {
		endpoints = append(endpoints, e.URL())
	}
	slices.Sort(endpoints)
	labels := slices.Sorted(slices.Values(t.labels))
	counts := [4]int{}
	for _, f := range t.families {
		counts[f.Type]++
	}
	types := artifact.Object{}
	for _, kind := range [...]prom.Type{prom.Gauge, prom.Counter, prom.Histogram, prom.Unknown} {
		types = append(types, artifact.Member{Key: kind.String(), Value: counts[kind]})
	}
	m := map[string]string{
		"aiperf.schema_version":             schemaVersion,
		"aiperf.version":                    i.AIPerfVersion,
		"aiperf.benchmark_id":               i.BenchmarkID,
		"aiperf.hostname":                   i.Hostname,
		"aiperf.exporter":                   "ServerMetricsParquetExporter",
		"aiperf.export_timestamp_utc":       localTime(i.ExportTime.UnixNano(), time.UTC) + "+00:00",
		"aiperf.python_version":             i.runtimeVersion(),
		"aiperf.pyarrow_version":            i.parquetVersion(),
		"aiperf.time_filter_start_ns":       strconv.FormatInt(i.Window.StartNS, 10),
		"aiperf.time_filter_end_ns":         strconv.FormatInt(i.Window.EndNS, 10),
		"aiperf.profiling_duration_ns":      strconv.FormatInt(duration, 10),
		"aiperf.profiling_duration_seconds": string(artifact.AppendFloat(nil, float64(duration)/1e9)),
		"aiperf.endpoint_urls":              compact(endpoints),
		"aiperf.endpoint_count":             strconv.Itoa(len(endpoints)),
		"aiperf.label_columns":              compact(labels),
		"aiperf.label_count":                strconv.Itoa(len(labels)),
		"aiperf.metric_count":               strconv.Itoa(len(t.families)),
		"aiperf.metric_type_counts":         compact(types),
		"aiperf.model_names":                compact(i.Models),
		"aiperf.input_config":               compact(i.InputConfig),
		"aiperf.schema_note": "Label columns vary by endpoint/model. Use union_by_name=true for " +
			"cross-file queries.",
	}
	without := artifact.Object{}
	for _, e := range t.endpoints {
		if why := e.NoTotals(); why != "" {
			without = append(without, artifact.Member{Key: e.URL(), Value: why})
		}
	}
	if len(without) > 0 {
		m["aiperf.no_totals"] = compact(without)
	}
	if i.Concurrency != nil {
		m["aiperf.concurrency"] = strconv.Itoa(*i.Concurrency)
	}
	if i.RequestRate != nil {
		m["aiperf.request_rate"] = string(artifact.AppendFloat(nil, *i.RequestRate))
	}
	for _, key := range [...]string{"aiperf.benchmark_id", "aiperf.hostname"} {
		if m[key] == "" {
			delete(m, key)
		}
	}
	return m
}

// compact returns a value as JSON without white space. The values of a footer are all of kinds that can be written.
func compact(v any) string {
	out, err := artifact.AppendJSON(nil, v)
	if err != nil {
		return "null"
	}
	return string(out)
}

// rowGroupRows is the largest number of rows in a row group. A file that would need more row groups than the
// format can number gets larger ones.
const rowGroupRows = 10_000

// table is the plan of a Parquet file: which series give how many rows.
type table struct {
	endpoints []*servermetrics.EndpointStore
	families  []servermetrics.Family
	labels    []string // the label columns, sorted
	series    []tableSeries
	starts    []int64 // the number of the first row of each series
	total     int64
	groupRows int64
}

// tableSeries is a series that has rows.
type tableSeries struct {
	series *servermetrics.Series
	family *prom.Family // name, type and description for the whole file
	unit   string
	window servermetrics.Window
	rows   int64
}

// newTable finds the rows: endpoints in order of their first scrape, series in order of first appearance.
func newTable(r *Collection) *table {
	t := &table{endpoints: r.Store.ByFirstScrape()}
	t.families, _ = r.Store.Families()
	kept := map[*servermetrics.Series]*prom.Family{}
	labels := map[string]bool{}
	for i := range t.families {
		for _, s := range t.families[i].Series {
			kept[s] = &t.families[i].Family
			for _, l := range s.Labels {
				labels[l.Name] = true
			}
		}
	}
	for _, name := range fixedColumns() {
		delete(labels, name)
	}
	t.labels = slices.Sorted(maps.Keys(labels))
	units := map[*prom.Family]string{}
	for i := range t.families {
		f := &t.families[i].Family
		units[f] = prom.InferUnit(f.Name, f.Help)
	}
	for _, e := range t.endpoints {
		window := e.Window(r.Info.Window)
		_, mixed := e.InTurn()
		for _, s := range e.Series() {
			if f := kept[s]; f != nil && !(mixed && s.Grows()) {
				t.series = append(t.series, tableSeries{series: s, family: f, unit: units[f], window: window})
			}
		}
	}
	t.count()
	return t
}

// count finds out how many rows each series has, and drops those without.
func (t *table) count() {
	onAllCores(len(t.series), func() func(int) {
		var samples servermetrics.Samples
		return func(i int) { t.series[i].rows = t.series[i].countRows(&samples) }
	})
	t.series = slices.DeleteFunc(t.series, func(s tableSeries) bool { return s.rows == 0 })
	for _, s := range t.series {
		t.starts = append(t.starts, t.total)
		t.total += s.rows
	}
	t.groupRows = max(rowGroupRows, (t.total+parquet.MaxRowGroups-1)/parquet.MaxRowGroups)
}

func (s *tableSeries) countRows(samples *servermetrics.Samples) int64 {
	s.series.Read(samples, s.window)
	return int64(samples.Len()-samples.First()) * int64(s.perSample())
}

// perSample returns the number of rows that a sample gives.
func (s *tableSeries) perSample() int {
	if s.series.Family.Type == prom.Histogram {
		return len(s.series.Bounds)
	}
	return 1
}
