package loader

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// BenchmarkIndex reads, checks and indexes a trace of 1,000,000 rows; kept-B/row is what stays in memory of a row.
func BenchmarkIndex(b *testing.B) {
	const rows = 1_000_000
	path := filepath.Join(b.TempDir(), "trace.jsonl")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	for i := range rows {
		fmt.Fprintf(w, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%d, %d, %d, %d]}`+"\n",
			i/10, 1700+i%300, 10+i%500, i%17, i%170, i%1700, i)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	size, err := file.Seek(0, 1)
	if err != nil {
		b.Fatal(err)
	}
	file.Close()
	b.SetBytes(size)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var r *Result
	for b.Loop() {
		if r, err = LoadWith(b.Context(), path, mooncakeTrace, Options{Scheduled: true}); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/rows, "kept-B/row")
	runtime.KeepAlive(r)
}

// BenchmarkLoadTrace reads a trace of 20,000 rows into memory.
func BenchmarkLoadTrace(b *testing.B) {
	path := filepath.Join(b.TempDir(), "trace.jsonl")
	var text []byte
	for i := range 20_000 {
		text = fmt.Appendf(text, `{"session_id": "s%d", "timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%d, %d]}`+"\n",
			i/3, i/10, 600+i%300, 10+i%500, i%17, i)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := LoadWith(b.Context(), path, mooncakeTrace, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
