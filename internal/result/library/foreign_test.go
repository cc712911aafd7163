package library_test

import (
	"path/filepath"
	"testing"

	"aiperf/internal/result/library"
)

// TestResultsOfOtherToolsAreFound: in folders and as files, each run once, with what a list shows.
func TestResultsOfOtherToolsAreFound(t *testing.T) {
	const from = "../foreign/testdata"
	for _, of := range []struct {
		path string
		runs int
	}{{from, 18}, {from + "/sglang/sglang.jsonl", 2}, {from + "/guidellm/benchmarks.json#2", 1}} {
		found, err := library.Find(filepath.FromSlash(of.path))
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Folders) != of.runs || len(found.Plotted()) != of.runs || len(found.Faults) > 0 ||
			len(found.Empty()) > 0 {
			t.Errorf("%s: %d runs, %d plotted, %v, empty %v; want %d", of.path, len(found.Folders),
				len(found.Plotted()), found.Faults, found.Empty(), of.runs)
		}
		for i, f := range library.ReadAll(found.Folders) {
			if f.Fault != "" || f.Origin == "" || f.Original || f.Version != "" || len(f.Figures) < 3 {
				t.Errorf("%s: %+v", found.Folders[i].File, f)
			}
		}
	}
}
