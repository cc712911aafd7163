package export

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// CSV writes server_metrics_export.csv: up to five sections, an empty line between them.
type CSV struct {
	Path string
	Run  *Collection
	// Comments puts lines with # before the first section, as the original does; few readers stand them.
	Comments bool
}

// Name implements Exporter.
func (CSV) Name() string { return "Server Metrics CSV Export" }

// Target implements Exporter.
func (c CSV) Target() string { return c.Path }

// Export implements Exporter.
func (c CSV) Export(ctx context.Context) error {
	if c.Run.empty() {
		return nil
	}
	return artifact.WriteStream(c.Path, func(w *bufio.Writer) error { return c.Write(ctx, w) })
}

// section is one table of series.
type section struct {
	kind prom.Type
	// stats are the keys of its columns in their order.
	stats []string
}

// sections returns the tables in their order; the info table follows them.
func (c CSV) sections() []section {
	gauge := append([]string{"avg", "min", "max", "std"}, metrics.PercentileKeys[:]...)
	histogram := []string{"count", "count_rate", "sum", "sum_rate", "avg"}
	for _, p := range metrics.PercentileKeys {
		histogram = append(histogram, p+"_estimate")
	}
	if c.Run.Info.Bounds {
		for _, p := range metrics.PercentileKeys {
			histogram = append(histogram, p+"_lower", p+"_upper")
		}
	}
	return []section{
		{prom.Gauge, gauge},
		{prom.Counter, []string{"total", "rate", "rate_avg", "rate_min", "rate_max", "rate_std"}},
		{prom.Histogram, histogram},
		{prom.Unknown, gauge},
	}
}

// Write writes the file to w.
func (c CSV) Write(ctx context.Context, w io.Writer) error {
	if c.Comments {
		if _, err := w.Write(c.comments()); err != nil {
			return err
		}
	}
	t := &tables{ctx: ctx, to: w}
	for _, s := range c.sections() {
		s.rows(t, c.Run.Results)
	}
	infoRows(t, c.Run.Results)
	return t.end()
}

// tables writes the sections row by row, an empty line between them.
type tables struct {
	ctx  context.Context
	to   io.Writer
	rows []byte // not yet written
	some bool   // there was a section before
	err  error
}

// tableBuffer is the length of text that is written at once.
const tableBuffer = 64 << 10

// begin begins a section with its header.
func (t *tables) begin(header ...string) {
	if t.some {
		t.row()
	}
	t.some = true
	t.row(header...)
}

func (t *tables) row(cells ...string) {
	if t.rows = artifact.AppendCSVRow(t.rows, cells...); len(t.rows) >= tableBuffer {
		t.flush()
	}
}

func (t *tables) flush() {
	if t.err == nil {
		t.err = t.ctx.Err()
	}
	if t.err == nil {
		_, t.err = t.to.Write(t.rows)
	}
	t.rows = t.rows[:0]
}

func (t *tables) end() error {
	t.flush()
	return t.err
}

// comments returns the lines before the first section. They end with LF alone.
func (c CSV) comments() []byte {
	return []byte("# AIPerf Server Metrics Export (CSV)\n" +
		"# aiperf_version: " + c.Run.Info.AIPerfVersion + "\n" +
		"# schema_version: " + schemaVersion + "\n" +
		"# benchmark_id: " + c.Run.Info.BenchmarkID + "\n" +
		"# Note: sections are separated by empty lines; each begins with a header of its own\n" +
		"#\n")
}

// csvSeries is a series on its way to a row.
type csvSeries struct {
	family *servermetrics.FamilyStats
	stats  *servermetrics.SeriesStats
	filled string // for each label column whether the series fills it: 1 or 0
	text   string // its labels, for the order
}

// rows writes the header and a row for each series; nothing without series.
func (s section) rows(t *tables, r *servermetrics.Results) {
	var series []csvSeries
	for i := range r.Families {
		f := &r.Families[i]
		if f.Type != s.kind || isInfo(&f.Family) {
			continue
		}
		for k := range f.Series {
			series = append(series, csvSeries{family: f, stats: &f.Series[k],
				text: servermetrics.LabelText(f.Series[k].Labels)})
		}
	}
	if len(series) == 0 {
		return
	}
	columns := labelColumns(series)
	for i := range series {
		series[i].filled = filledColumns(columns, series[i].stats.Labels)
	}
	slices.SortStableFunc(series, func(a, b csvSeries) int {
		if c := cmp.Compare(a.filled, b.filled); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.family.Name, b.family.Name),
			cmp.Compare(a.stats.EndpointURL, b.stats.EndpointURL), cmp.Compare(a.text, b.text))
	})
	header := slices.Concat([]string{"Endpoint", "Type", "Metric", "Unit"}, s.stats, columns, []string{"Description"})
	if s.kind == prom.Histogram {
		header = append(header, "buckets")
	}
	t.begin(header...)
	cells := make([]string, 0, len(header))
	for i := range series {
		cells = s.cells(cells[:0], &series[i], columns)
		t.row(cells...)
	}
}

func (s section) cells(cells []string, row *csvSeries, columns []string) []string {
	f := row.family
	cells = append(cells, shortEndpoint(row.stats.EndpointURL), f.Type.String(), f.Name, prom.InferUnit(f.Name, f.Help))
	fields := row.stats.Fields()
	for _, key := range s.stats {
		i := slices.IndexFunc(fields, func(f metrics.Statistic) bool { return f.Key == key })
		if i < 0 {
			cells = append(cells, "")
		} else {
			cells = append(cells, csvNumber(fields[i]))
		}
	}
	for _, column := range columns {
		cells = append(cells, labelValue(row.stats.Labels, column))
	}
	cells = append(cells, f.Help)
	if s.kind == prom.Histogram {
		cells = append(cells, csvBuckets(row.stats))
	}
	return cells
}

func csvNumber(f metrics.Statistic) string {
	switch {
	case !artifact.Finite(f.Value):
		return ""
	case f.Integer:
		return strconv.FormatInt(int64(f.Value), 10)
	}
	return strconv.FormatFloat(f.Value, 'f', 4, 64)
}

func csvBuckets(s *servermetrics.SeriesStats) string {
	var out []byte
	for i, n := range s.Buckets {
		if i > 0 {
			out = append(out, ';')
		}
		out = append(append(out, s.Series.Bounds[i]...), '=')
		out = strconv.AppendInt(out, n, 10)
	}
	return string(out)
}

func labelValue(labels []prom.Label, name string) string {
	for _, l := range labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

func filledColumns(columns []string, labels []prom.Label) string {
	filled := make([]byte, len(columns))
	for i, column := range columns {
		filled[i] = '0'
		if labelValue(labels, column) != "" {
			filled[i] = '1'
		}
	}
	return string(filled)
}

// infoRows writes the messages that info families carry in their labels, one row for each label.
func infoRows(t *tables, r *servermetrics.Results) {
	type row struct{ metric, endpoint, key, value, description string }
	var rows []row
	for i := range r.Families {
		f := &r.Families[i]
		if !isInfo(&f.Family) {
			continue
		}
		for _, s := range f.Series {
			for _, l := range s.Labels {
				rows = append(rows, row{f.Name, shortEndpoint(s.EndpointURL), l.Name, l.Value, f.Help})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.metric, b.metric), strings.Compare(a.endpoint, b.endpoint),
			strings.Compare(a.key, b.key))
	})
	t.begin("Endpoint", "Metric", "Key", "Value", "Description")
	for _, r := range rows {
		t.row(r.endpoint, r.metric, r.key, r.value, r.description)
	}
}
