package report_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/report"
)

// streamed is a record with gaps.
func streamed() *record.Record {
	r := exchange()
	r.SessionNum, r.GapsNS = 9, []int64{10e6 + 2, 280e6 + 4}
	r.Facts[record.FirstContent], r.Facts[record.LastContent] = 10e6+1, 300e6+7
	r.Facts[record.Contents], r.Facts[record.InputTokens] = 3, 100
	return r
}

// writeLines writes a per-request file that ends in half a line.
func writeLines(t *testing.T, path string, records ...*record.Record) {
	t.Helper()
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	set, err := metrics.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	format := recordfile.Format{Metrics: set.AppendRecordMetrics, Facts: set.AppendRecordFacts}
	w, err := recordfile.Create(path, artifact.LinesOptions{}, format.AppendLine)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		w.Add(r)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, `{"metadata":{"half`...), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsParquet(t *testing.T) {
	dir := t.TempDir()
	lines, path := filepath.Join(dir, "p.jsonl"), filepath.Join(dir, "p.parquet")
	broken := failed()
	broken.WasCancelled = true
	writeLines(t, lines, streamed(), broken, streamed())
	if err := (report.RecordsParquet{Lines: lines, Path: path}).Export(context.Background(),
		result()); err != nil {
		t.Fatal(err)
	}
	type row struct {
		SessionNum int64     `parquet:"session_num,optional"`
		Start      int64     `parquet:"request_start_ns,optional"`
		Cancelled  bool      `parquet:"was_cancelled,optional"`
		Latency    *float64  `parquet:"request_latency,optional"`
		ISL        *int64    `parquet:"input_sequence_length,optional"`
		ICL        []float64 `parquet:"inter_chunk_latency,list,optional"`
		Code       *int64    `parquet:"error_code,optional"`
		Type       *string   `parquet:"error_type,optional"`
	}
	got, err := parquet.ReadFile[row](path)
	if err != nil {
		t.Fatal(err)
	}
	latency, isl, code, kind := 300.000007, int64(100), int64(500), "Internal Server Error"
	good := row{SessionNum: 9, Start: 1700000000001000000, Latency: &latency, ISL: &isl,
		ICL: []float64{10.000002, 280.000004}}
	bad := row{Start: 1700000000001000000, Cancelled: true, Code: &code, Type: &kind}
	if diff := cmp.Diff([]row{good, bad, good}, got); diff != "" {
		t.Error(diff)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, _ := file.Stat()
	p, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if name := p.Schema().Fields()[0].Name(); name != "session_num" {
		t.Errorf("the first column is %s", name)
	}
	if id, _ := p.Lookup("aiperf.benchmark_id"); id != result().BenchmarkID {
		t.Errorf("benchmark_id %q", id)
	}
	if units, _ := p.Lookup("aiperf.units"); len(units) < 10 {
		t.Errorf("units %q", units)
	}
}

func TestNoRecordsNoParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.parquet")
	if err := (report.RecordsParquet{Lines: path + ".absent", Path: path}).Export(context.Background(),
		result()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}
