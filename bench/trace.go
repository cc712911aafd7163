//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// tracedRows is the length of the trace that is larger than what a run may keep of it.
const tracedRows = 10_000_000

// trace: a replay of 1.5 GB, of which only the first requests are sent: what remains is reading, checking, indexing.
func (b *bench) trace() error {
	path := filepath.Join(b.dir, "trace.jsonl")
	defer os.Remove(path)
	if err := writeTrace(path); err != nil {
		return err
	}
	server, err := b.server("--fast")
	if err != nil {
		return err
	}
	defer server.stop()
	began := time.Now()
	ours, err := b.profile(2, server.url, "--input-file", path, "--custom-dataset-type", "mooncake_trace",
		"--request-count", "20")
	if err != nil {
		return err
	}
	row("seconds for a trace of 10,000,000 rows", 2, time.Since(began).Seconds(), 0, 0, "%.1f")
	row("CPU seconds for it", 2, ours.cpu.Seconds(), 0, 0, "%.1f")
	row("MB resident", 2, ours.rssKB/1024, 0, 0, "%.0f")
	return nil
}

func writeTrace(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	for i := range tracedRows {
		fmt.Fprintf(w, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%d, %d, %d, %d, %d, %d, %d, %d, %d]}`+"\n",
			i/10, 4200+i%300, 10+i%500, i%17, i%170, i%1700, i, i+1, i+2, i+3, i+4, i+5)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}
