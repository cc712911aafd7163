package export

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/base/bounded"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// ReadCurves reads the series of a Parquet file of server metrics over time. The samples of a series stand one after
// the other; of a histogram's buckets the first row of each sample is enough.
func ReadCurves(path string) ([]timeline.Curve, error) {
	file, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := curveReader{}
	if err := r.bind(f.Schema()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rows := make([]parquet.Row, 512)
	for _, group := range f.RowGroups() {
		in := group.Rows()
		for {
			n, err := in.ReadRows(rows)
			for _, row := range rows[:n] {
				if len(row) != len(r.labels) {
					in.Close()
					return nil, fmt.Errorf("%s: a row has %d values in %d columns", path, len(row), len(r.labels))
				}
				r.row(row)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				in.Close()
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		if err := in.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	r.end()
	return r.out, nil
}

// curveReader makes curves of rows.
type curveReader struct {
	columns map[string]int
	labels  []string // by column; "" for the others
	out     []timeline.Curve

	key            string
	kind           prom.Type
	now            timeline.Curve
	values, counts []float64
	scratch        strings.Builder
	set            []prom.Label
}

func (r *curveReader) bind(schema *parquet.Schema) error {
	fixed := fixedColumns()
	r.columns = map[string]int{}
	for i, path := range schema.Columns() {
		name := path[0]
		label := ""
		if !slices.Contains(fixed, name) {
			label = name
		}
		r.columns[name], r.labels = i, append(r.labels, label)
	}
	for _, name := range []string{"endpoint_url", "metric_name", "metric_type", "unit", "timestamp_ns", "value", "sum",
		"count"} {
		if _, ok := r.columns[name]; !ok {
			return fmt.Errorf("it has no column %s", name)
		}
	}
	return nil
}

// row adds a row to the curve of its series: rows of a series stand together, so that a change of the key begins the
// next one. Of a histogram, which has a row for each bucket, only the first row of an instant counts.
func (r *curveReader) row(row parquet.Row) {
	at := func(name string) parquet.Value { return row[r.columns[name]] }
	b := &r.scratch
	b.Reset()
	b.WriteString(at("endpoint_url").String())
	b.WriteByte(0)
	b.WriteString(at("metric_name").String())
	r.set = r.set[:0]
	for i, label := range r.labels {
		if label != "" && !row[i].IsNull() {
			r.set = append(r.set, prom.Label{Name: label, Value: row[i].String()})
		}
	}
	labels := servermetrics.LabelText(r.set)
	b.WriteString(labels)
	if key := b.String(); key != r.key {
		r.end()
		r.key = key
		r.kind, _ = ParseType(at("metric_type").String())
		unit := ""
		if v := at("unit"); !v.IsNull() {
			unit = v.String()
		}
		r.now = servermetrics.NewCurve(at("endpoint_url").String(), at("metric_name").String(), r.kind, unit)
		r.now.Labels = strings.Trim(labels, "{}")
	}
	ns := at("timestamp_ns").Int64()
	if n := len(r.now.TimeNS); n > 0 && r.now.TimeNS[n-1] == ns {
		return
	}
	value, count := at("value"), at("count")
	if r.kind == prom.Histogram {
		value = at("sum")
		r.counts = append(r.counts, count.Double())
	}
	r.now.TimeNS = append(r.now.TimeNS, ns)
	r.values = append(r.values, value.Double())
}

// end finishes a curve.
func (r *curveReader) end() {
	if len(r.now.TimeNS) > 0 {
		servermetrics.SetValues(&r.now, r.kind, r.values, r.counts)
		r.out = append(r.out, r.now)
	}
	r.now, r.values, r.counts, r.key = timeline.Curve{}, nil, nil, ""
}
