package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/base/testkit"
	"aiperf/internal/watch/servermetrics/export"
)

// parquetText returns the file of a run.
func parquetText(t *testing.T, r *export.Collection) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := (export.Parquet{Run: r}).Write(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// footerOf returns a function that returns a value of the metadata of a run's file.
func footerOf(t *testing.T, r *export.Collection) func(key string) string {
	t.Helper()
	file := openParquet(t, parquetText(t, r))
	return func(key string) string {
		v, ok := file.Lookup(key)
		if !ok {
			t.Errorf("the footer lacks %s", key)
		}
		return v
	}
}

func openParquet(t *testing.T, data []byte) *parquet.File {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// parquetRows reads all rows back: by column, nil for null.
func parquetRows(t *testing.T, r *export.Collection) []map[string]any {
	t.Helper()
	file := openParquet(t, parquetText(t, r))
	var names []string
	for _, column := range file.Schema().Columns() {
		names = append(names, column[0])
	}
	var rows []map[string]any
	for _, group := range file.RowGroups() {
		reader := group.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := reader.ReadRows(buf)
			for _, row := range buf[:n] {
				cells := map[string]any{}
				for _, v := range row {
					cells[names[v.Column()]] = cell(v)
				}
				rows = append(rows, cells)
			}
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		reader.Close()
	}
	return rows
}

func cell(v parquet.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == parquet.Double:
		return v.Double()
	case v.Kind() == parquet.Int64:
		return v.Int64()
	}
	return string(v.ByteArray())
}

func text(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

func TestParquetColumnsAndMetadata(t *testing.T) {
	c := vllm(t)
	concurrency, rate := 4, 10.0
	c.info.Concurrency, c.info.RequestRate = &concurrency, &rate
	file := openParquet(t, parquetText(t, c.run()))
	var columns []string
	for _, f := range file.Schema().Fields() {
		kind := f.Type().Kind().String()
		if logical := f.Type().LogicalType(); logical != nil {
			kind = strings.ToLower(logical.String())
		}
		if f.Optional() {
			kind += "?"
		}
		columns = append(columns, f.Name()+" "+kind)
	}
	want := "endpoint_url string, metric_name string, metric_type string, unit string?, description string?, " +
		"timestamp_ns int(64,true), " +
		"block_size string?, enable_prefix_caching string?, engine string?, finished_reason string?, " +
		"model_name string?, " +
		"value DOUBLE?, sum DOUBLE?, count DOUBLE?, bucket_le string?, bucket_count DOUBLE?"
	if got := strings.Join(columns, ", "); got != want {
		t.Errorf("columns\n%s, want\n%s", got, want)
	}
	var metadata strings.Builder
	for _, pair := range file.Metadata().KeyValueMetadata {
		metadata.WriteString(pair.Key + " = " + pair.Value + "\n")
	}
	testkit.Golden(t, "testdata/metadata.txt", []byte(metadata.String()))
	for _, c := range file.Metadata().RowGroups[0].Columns {
		if codec := c.MetaData.Codec.String(); codec != "SNAPPY" {
			t.Errorf("%v is compressed by %s", c.MetaData.PathInSchema, codec)
		}
	}
}

func TestParquetRows(t *testing.T) {
	c := vllm(t)
	var out strings.Builder
	for _, row := range parquetRows(t, c.run()) {
		for _, name := range []string{"metric_name", "metric_type", "unit", "description", "timestamp_ns", "engine",
			"finished_reason", "value", "sum", "count", "bucket_le", "bucket_count"} {
			fmt.Fprintf(&out, "%s|", text(row[name]))
		}
		out.WriteByte('\n')
	}
	testkit.Golden(t, "testdata/rows.txt", []byte(out.String()))
}

// The file's window is that of the statistics: the final scrape counts when it changed anything.
func TestLastParquetRowOfACounterIsItsTotal(t *testing.T) {
	c := newCollection(t)
	for n, v := range []string{"5", "7", "2", "30"} {
		c.page(url, time.Duration(n-1)*5*time.Second+time.Second, "# TYPE c counter\nc_total "+v+"\n")
	}
	rows := parquetRows(t, c.run())
	total, _ := c.run().Results.Families[0].Series[0].Get("total")
	if last := rows[len(rows)-1]["value"]; last != total.Value || total.Value != 25 {
		t.Errorf("last row %v, total %v", last, total.Value)
	}
	if got := rows[1]["value"]; got != 0.0 {
		t.Errorf("below the reference: %v, want 0", got)
	}
}

func TestParquetRowGroupsAreBoundedAndInOrder(t *testing.T) {
	const rowGroupRows = 10_000 // the largest number of rows in a row group
	run := benchRun(1000, 30, 3)
	file := openParquet(t, parquetText(t, run))
	rows := int64(0)
	for i, g := range file.Metadata().RowGroups {
		if g.NumRows > rowGroupRows || i < len(file.RowGroups())-1 && g.NumRows != rowGroupRows || int(g.Ordinal) != i {
			t.Errorf("group %d: %d rows, ordinal %d", i, g.NumRows, g.Ordinal)
		}
		rows += g.NumRows
	}
	if want := int64(900 * 33); rows != want || file.NumRows() != want {
		t.Errorf("%d and %d rows, want %d", rows, file.NumRows(), want)
	}
	last, name := int64(0), ""
	for _, row := range parquetRows(t, run) {
		series := row["metric_name"].(string) + row["engine"].(string)
		at := row["timestamp_ns"].(int64)
		if series == name && at <= last {
			t.Fatalf("%s: %d after %d", series, at, last)
		}
		last, name = at, series
	}
}

func TestParquetDoesNotDependOnTheNumberOfCores(t *testing.T) {
	run := benchRun(1000, 30, 3)
	want := parquetText(t, run)
	for _, cores := range []int{1, 2, 3} {
		before := runtime.GOMAXPROCS(cores)
		got := parquetText(t, run)
		runtime.GOMAXPROCS(before)
		if !bytes.Equal(got, want) {
			t.Errorf("another file with %d cores", cores)
		}
	}
}

// Every group describes its columns in full: the library forgets names when a writer is used again.
func TestParquetGroupsDescribeTheirColumns(t *testing.T) {
	file := openParquet(t, parquetText(t, benchRun(1000, 30, 3)))
	first := file.Metadata().RowGroups[0].Columns
	for i, g := range file.Metadata().RowGroups {
		for k, c := range g.Columns {
			if want := file.Schema().Columns()[k][0]; c.MetaData.PathInSchema[0] != want {
				t.Errorf("group %d: column %d is called %q, want %q", i, k, c.MetaData.PathInSchema, want)
			}
			if !slices.Equal(c.MetaData.Encoding, first[k].MetaData.Encoding) {
				t.Errorf("group %d: column %d has the encodings %v, the first group %v", i, k, c.MetaData.Encoding,
					first[k].MetaData.Encoding)
			}
		}
	}
}

func TestCancelledExportLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	run := benchRun(1000, 30, 3)
	dir := t.TempDir()
	for _, e := range exporters(dir, run) {
		if err := e.Export(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
	empty(t, dir)
}
