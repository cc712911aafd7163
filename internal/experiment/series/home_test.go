package series_test

import (
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/experiment/series"
)

// The folder of an experiment none of whose runs began goes with its own files; what is not its own stays.
func TestAnExperimentThatDidNotBeginLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		name         string
		before       bool // the folder is there already
		files        []string
		unused, gone bool
	}{
		{name: "nothing", unused: true, gone: true},
		{name: "its own files", files: []string{"logs/aiperf.log", "search_history.json"}, unused: true, gone: true},
		{name: "a file of another", files: []string{"server.log"}, unused: true},
		{name: "a folder that was there", before: true},
		{name: "a run", files: []string{"cell/profile_export.jsonl"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			a := config.Artifacts{Dir: filepath.Join(home, "artifacts", "sweep")}
			if c.before {
				if err := os.MkdirAll(a.Dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			h, err := series.PrepareCells(a)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Release()
			for _, name := range c.files {
				path := filepath.Join(a.Dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			runs := []series.Run{{Artifacts: config.Artifacts{Dir: filepath.Join(a.Dir, "cell")}}}
			if got := h.Unused(runs); got != c.unused {
				t.Fatalf("unused is %v", got)
			}
			if !c.unused {
				return
			}
			h.Discard("search_history.json")
			if _, err := os.Stat(filepath.Join(home, "artifacts")); (err != nil) != c.gone {
				t.Errorf("the folder: %v", err)
			}
		})
	}
}
