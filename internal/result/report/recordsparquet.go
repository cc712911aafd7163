package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/summary"
)

// RecordsParquet writes profile_export.parquet from the lines of the per-request file: one row for each
// request, a column for each metric of the run, in display units, and lists as lists. Absent values are
// null. Units and the run's id are in the file's metadata. It reads the lines twice and keeps none.
type RecordsParquet struct {
	// Lines is the per-request file, Path what is written.
	Lines, Path string
}

// Name implements Exporter.
func (RecordsParquet) Name() string { return "records Parquet" }

// Export implements Exporter. Without records there is no file.
func (p RecordsParquet) Export(ctx context.Context, r *summary.Result) error {
	columns, units, err := recordColumns(ctx, p.Lines)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	file, err := artifact.CreateAtomic(p.Path)
	if err != nil {
		return err
	}
	defer file.Abort()
	w := parquet.NewGenericWriter[any](file, recordSchema(columns), parquet.Compression(&parquet.Snappy),
		parquet.MaxRowsPerRowGroup(rowGroupRecords))
	w.SetKeyValueMetadata("aiperf.benchmark_id", r.BenchmarkID)
	w.SetKeyValueMetadata("aiperf.version", r.AIPerfVersion)
	w.SetKeyValueMetadata("aiperf.schema_version", "1.0")
	w.SetKeyValueMetadata("aiperf.units", string(units))
	var row parquet.Row
	for line, err := range recordfile.ReadCells(p.Lines) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if row, err = appendParquetRow(row[:0], columns, line); err != nil {
			return err
		}
		if _, err = w.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("cannot write %s: %w", p.Path, err)
	}
	return file.Commit()
}

// rowGroupRecords is the number of rows of a row group, which the writer holds in memory.
const rowGroupRecords = 50_000

// columnKind is what a column holds.
type columnKind uint8

const (
	integerColumn columnKind = iota
	floatColumn
	listColumn
	textColumn
	boolColumn
)

// recordColumn is one column; find takes its value from a line, nil for none.
type recordColumn struct {
	name string
	kind columnKind
	find func(*recordfile.Cells) json.RawMessage
}

// The columns around those of the metrics, all of which may be null.
var (
	metadataColumns = []recordColumn{
		{name: "session_num", kind: integerColumn}, {name: "x_request_id", kind: textColumn},
		{name: "x_correlation_id", kind: textColumn},
		{name: "conversation_id", kind: textColumn}, {name: "turn_index", kind: integerColumn},
		{name: "credit_issued_ns", kind: integerColumn},
		{name: "intended_send_ns", kind: integerColumn}, {name: "request_start_ns", kind: integerColumn},
		{name: "request_ack_ns", kind: integerColumn},
		{name: "request_end_ns", kind: integerColumn}, {name: "worker_id", kind: textColumn},
		{name: "benchmark_phase", kind: textColumn},
		{name: "was_cancelled", kind: boolColumn}, {name: "cancellation_time_ns", kind: integerColumn},
		{name: "agent_depth", kind: integerColumn}, {name: "root_correlation_id", kind: textColumn},
	}
	errorColumns = []recordColumn{{name: "code", kind: integerColumn}, {name: "type", kind: textColumn},
		{name: "message", kind: textColumn}}
)

// recordColumns finds the columns of a file, and the units of its metrics as a JSON object.
func recordColumns(ctx context.Context, path string) (columns []recordColumn, units []byte, err error) {
	kinds, unitOf := map[string]columnKind{}, map[string]string{}
	for line, err := range recordfile.ReadCells(path) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		for tag, m := range line.Metrics {
			k := floatColumn
			if len(m.Value) > 0 && m.Value[0] == '[' {
				k = listColumn
			} else if _, err := strconv.ParseInt(string(m.Value), 10, 64); err == nil {
				k = integerColumn
			}
			kinds[tag] = max(kinds[tag], k)
			unitOf[tag] = m.Unit
		}
	}
	for _, c := range metadataColumns {
		c.find = func(line *recordfile.Cells) json.RawMessage { return line.Metadata[c.name] }
		columns = append(columns, c)
	}
	for _, tag := range slices.Sorted(maps.Keys(kinds)) {
		find := func(line *recordfile.Cells) json.RawMessage { return line.Metrics[tag].Value }
		columns = append(columns, recordColumn{tag, kinds[tag], find})
	}
	for _, c := range errorColumns {
		name := c.name
		c.name = "error_" + name
		c.find = func(line *recordfile.Cells) json.RawMessage { return line.Error[name] }
		columns = append(columns, c)
	}
	units, err = artifact.AppendJSON(nil, unitOf)
	return columns, units, err
}

// orderedColumns is a group whose fields have the given order, not the alphabetical one.
type orderedColumns struct {
	parquet.Group
	order []recordColumn
}

// Fields overrides that of the group.
func (g orderedColumns) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range g.Group.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]parquet.Field, len(g.order))
	for i, c := range g.order {
		fields[i] = byName[c.name]
	}
	return fields
}

func recordSchema(columns []recordColumn) *parquet.Schema {
	nodes := map[columnKind]parquet.Node{
		integerColumn: parquet.Leaf(parquet.Int64Type), floatColumn: parquet.Leaf(parquet.DoubleType),
		listColumn: parquet.List(parquet.Leaf(parquet.DoubleType)), textColumn: parquet.String(),
		boolColumn: parquet.Leaf(parquet.BooleanType),
	}
	g := orderedColumns{Group: parquet.Group{}, order: columns}
	for _, c := range columns {
		g.Group[c.name] = parquet.Optional(nodes[c.kind])
	}
	return parquet.NewSchema("record", g)
}

// appendParquetRow appends the values of a line, column by column.
func appendParquetRow(row parquet.Row, columns []recordColumn, line *recordfile.Cells) (parquet.Row, error) {
	for i := range columns {
		text := columns[i].find(line)
		if len(text) == 0 || string(text) == "null" {
			row = append(row, parquet.NullValue().Level(0, 0, i))
			continue
		}
		var err error
		if row, err = appendParquetValues(row, columns[i].kind, text, i); err != nil {
			return row, fmt.Errorf("%s: %w", columns[i].name, err)
		}
	}
	return row, nil
}

func appendParquetValues(row parquet.Row, k columnKind, text []byte, column int) (parquet.Row, error) {
	switch k {
	case integerColumn:
		v, err := strconv.ParseInt(string(text), 10, 64)
		return append(row, parquet.Int64Value(v).Level(0, 1, column)), err
	case floatColumn:
		v, err := strconv.ParseFloat(string(text), 64)
		return append(row, parquet.DoubleValue(v).Level(0, 1, column)), err
	case boolColumn:
		return append(row, parquet.BooleanValue(string(text) == "true").Level(0, 1, column)), nil
	case textColumn:
		var v string
		err := json.Unmarshal(text, &v)
		return append(row, parquet.ByteArrayValue([]byte(v)).Level(0, 1, column)), err
	}
	var list []float64
	if err := json.Unmarshal(text, &list); err != nil {
		return row, err
	}
	if len(list) == 0 {
		return append(row, parquet.NullValue().Level(0, 1, column)), nil
	}
	for i, v := range list {
		row = append(row, parquet.DoubleValue(v).Level(min(i, 1), 2, column))
	}
	return row, nil
}
