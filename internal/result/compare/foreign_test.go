package compare_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/result/compare"
)

// TestRunsOfOtherToolsAreRunsRepeatsAndSweeps: one load is a run or its repeats, several are cells.
func TestRunsOfOtherToolsAreRunsRepeatsAndSweeps(t *testing.T) {
	const from = "../foreign/testdata/"
	for _, of := range []struct {
		path        string
		runs, cells int
	}{
		{"vllm/vllm.json", 1, 0},
		{"vllm-sweep/BENCH--max_concurrency=4", 2, 0},
		{"vllm-sweep", 0, 2},
		{"sglang/sglang.jsonl", 0, 2},
		{"sglang/sglang.jsonl#2", 1, 0},
		{"guidellm", 0, 2},
		{"inference-perf", 0, 2},
		{"genai-perf", 1, 0},
	} {
		sweep, err := compare.LoadSweep(from + of.path)
		if err != nil {
			t.Fatal(err)
		}
		if cells := 0; sweep != nil {
			if cells = len(sweep.Cells); cells != of.cells {
				t.Errorf("%s has %d cells, want %d", of.path, cells, of.cells)
			}
			continue
		}
		s, err := compare.Load(from + of.path)
		if err != nil || of.cells > 0 || len(s.Runs) != of.runs {
			t.Errorf("%s: %d runs (%v), want %d, or %d cells", of.path, len(s.Runs), err, of.runs, of.cells)
		}
	}
}

// TestWhatAToolDoesNotMeasureIsNotWorse: a note names it, and that the definitions differ.
func TestWhatAToolDoesNotMeasureIsNotWorse(t *testing.T) {
	base, err := compare.Load("../foreign/testdata/vllm/vllm.json")
	if err != nil {
		t.Fatal(err)
	}
	next, err := compare.Load("../foreign/testdata/guidellm/benchmarks.json#2")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.Compare(&base, &next, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(c.Notes, "\n")
	if len(c.Missing) > 0 || !strings.Contains(notes, "has no goodput") ||
		!strings.Contains(notes, "was measured by vllm bench serve") {
		t.Errorf("missing %v, notes:\n%s", c.Missing, notes)
	}
	for _, d := range c.Configuration {
		if d.Base == "" || d.New == "" {
			t.Errorf("%v is a difference that only one of the tools knows of", d)
		}
	}
	c, err = compare.Compare(&base, &next, compare.Options{Tags: []string{"goodput", "request_latency"}})
	if err != nil || len(c.Missing) != 1 {
		t.Errorf("a metric that was asked for by its name is missing: %v, %v", c, err)
	}
}

// TestAFolderWithABrokenResultIsNamed, rather than called empty.
func TestAFolderWithABrokenResultIsNamed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cut.json")
	if err := os.WriteFile(path, []byte(`{"date": "x", "model_id": "m", "num_prompts": 1, "dur`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := compare.Load(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v does not name %s", err, path)
	}
}
