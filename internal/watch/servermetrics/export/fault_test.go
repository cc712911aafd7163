package export_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aiperf/internal/watch/servermetrics/export"
)

func empty(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Errorf("%s is left", f.Name())
	}
}

// fullAfter is a disk with room for some bytes.
type fullAfter int

func (f *fullAfter) Write(p []byte) (int, error) {
	n := min(len(p), int(*f))
	*f -= fullAfter(n)
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func TestEveryWriterReportsAFullDisk(t *testing.T) {
	c := vllm(t)
	run := c.run()
	for name, write := range map[string]func(io.Writer) error{
		"JSON":   func(w io.Writer) error { return export.JSON{Run: run}.Write(context.Background(), w) },
		"legacy": func(w io.Writer) error { return export.LegacyJSON{Run: run}.Write(context.Background(), w) },
		"CSV": func(w io.Writer) error {
			return export.CSV{Run: run, Comments: true}.Write(context.Background(), w)
		},
		"Parquet": func(w io.Writer) error { return export.Parquet{Run: run}.Write(context.Background(), w) },
		"sidecar": (&export.Sidecar{Info: run.Info, Complete: true}).Write,
	} {
		var whole bytes.Buffer
		if err := write(&whole); err != nil {
			t.Fatal(err)
		}
		for room := 0; room < whole.Len(); room += 1 + whole.Len()/97 {
			disk := fullAfter(room)
			if err := write(&disk); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("%s with room for %d bytes of %d: %v", name, room, whole.Len(), err)
			}
		}
	}
}

// One file that cannot be written keeps no other from being written, and leaves nothing behind.
func TestFailedExportStopsNoOther(t *testing.T) {
	c := vllm(t)
	dir := t.TempDir()
	list := exporters(dir, c.run())
	taken := list[1].Target()
	if err := os.MkdirAll(filepath.Join(taken, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	var done []string
	err := export.All(t.Context(), list, func(e export.Exporter) { done = append(done, filepath.Base(e.Target())) },
		func(m string) { t.Error(m) })
	if err == nil || !strings.Contains(err.Error(), taken) || !strings.Contains(err.Error(), "CSV") {
		t.Errorf("error is %v", err)
	}
	if got := strings.Join(done, " "); got != "server_metrics_export.json server_metrics_export.parquet "+
		"server_metrics_export_legacy.json" {
		t.Errorf("written: %s", got)
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 4 {
		t.Errorf("directory holds %v", files)
	}
}

func TestRecorderFailsEarlyAndCleansUp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "server_metrics_export.jsonl")
	if err := os.Mkdir(export.SidecarPath(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(export.SidecarPath(path), "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := export.NewRecorder(path, export.SidecarPath(path), export.Info{},
		export.RecorderOptions{}); err == nil || !strings.Contains(err.Error(), export.SidecarPath(path)) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file of lines is left")
	}
	if _, err := export.NewRecorder(filepath.Join(dir, "no", "x.jsonl"), "y", export.Info{},
		export.RecorderOptions{}); err == nil {
		t.Error("a missing directory is no error")
	}
}

func TestRecordingWithoutLinesIsRemoved(t *testing.T) {
	c := newCollection(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "server_metrics_export.jsonl")
	r, err := export.NewRecorder(path, export.SidecarPath(path), c.info, export.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(c.info, c.store); err != nil {
		t.Fatal(err)
	}
	empty(t, dir)
}
