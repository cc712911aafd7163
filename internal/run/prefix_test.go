package run

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/mockserver"
)

// A recording's own count of known blocks comes back as a figure of the run that replays it.
func TestRunsOfRecordingsSayWhatACacheCouldHold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.json")
	if err := os.WriteFile(path, []byte(recordedAgent("one")), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := resolve(t, dir, serve(t, mockserver.Options{}), "--input-file", path, "--custom-dataset-type", "weka_trace",
		"--concurrency", "1", "--num-sessions", "2", "--export-level", "records")
	if _, err := execute(t, cfg, Options{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var figures map[string]json.RawMessage
	if err := json.Unmarshal(text, &figures); err != nil {
		t.Fatal(err)
	}
	var block bytes.Buffer
	if err := json.Compact(&block, figures["theoretical_prefix_cache_hit"]); err != nil {
		t.Fatal(err, string(figures["theoretical_prefix_cache_hit"]))
	}
	const want = `{"unit":"%","avg":60.0,"count":40,"sum":24.0}`
	if block.String() != want {
		t.Errorf("%s, want %s", &block, want)
	}
}
