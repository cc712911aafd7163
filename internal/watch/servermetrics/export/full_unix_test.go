//go:build unix

package export_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/watch/servermetrics/export"
)

// A limit on the size of files is what comes closest to a full disk without being root. It holds for a whole
// process, so the test runs itself again.
func TestFullDiskLeavesWholeFilesOnly(t *testing.T) {
	const role = "AIPERF_TEST_FULL_DISK"
	if dir := os.Getenv(role); dir != "" {
		fullDisk(t, dir)
		return
	}
	dir := t.TempDir()
	again := exec.Command(os.Args[0], "-test.run=^TestFullDiskLeavesWholeFilesOnly$")
	again.Env = append(os.Environ(), role+"="+dir)
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines, err := os.ReadFile(filepath.Join(dir, "server_metrics_export.jsonl"))
	if err != nil || len(lines) == 0 || lines[len(lines)-1] != '\n' ||
		!strings.HasPrefix(string(lines), `{"endpoint_url"`) {
		t.Errorf("recording ends with %q: %v", lines[max(0, len(lines)-20):], err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		switch f.Name() {
		case "server_metrics_export.jsonl", "server_metrics_recording.json", "server_metrics_export.csv",
			"server_metrics_export_legacy.json":
		default:
			t.Errorf("%s is left", f.Name())
		}
	}
}

func fullDisk(t *testing.T, dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	c := newCollection(t)
	path := filepath.Join(dir, "server_metrics_export.jsonl")
	var heard []error
	var err error
	if c.recorder, err = export.NewRecorder(path, export.SidecarPath(path), c.info,
		export.RecorderOptions{OnError: func(err error) { heard = append(heard, err) }}); err != nil {
		t.Fatal(err)
	}
	const room = 3500 // more than the sidecar, the CSV and the legacy JSON, less than the others
	limit := syscall.Rlimit{Cur: room, Max: room}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	for n := range 20 {
		c.page(url, time.Duration(n)*time.Second,
			strings.Replace(vllmBefore, "queue_depth 7", "queue_depth "+strings.Repeat("1", n+1), 1))
	}
	if err := c.recorder.Finish(c.info, c.store); err == nil || !strings.Contains(err.Error(), path) ||
		len(heard) != 1 {
		t.Errorf("the recording: %v, heard %v", err, heard)
	}
	err = export.All(t.Context(), exporters(dir, c.run()), func(export.Exporter) {}, func(m string) { t.Error(m) })
	for _, name := range []string{"server_metrics_export.json", "server_metrics_export.parquet"} {
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
}
