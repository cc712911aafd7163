package artifact_test

import (
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/base/artifact"
)

// write makes files with their folders; those whose text is "" are empty.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFoldersWithResultsAreNumbered(t *testing.T) {
	taken := map[string]bool{}
	for _, want := range [][2]string{{"a", ""}, {"a-2", "a"}, {"a-3", "a-2"}} {
		free, before, err := artifact.Numbered("a", func(dir string) bool { return taken[dir] })
		if err != nil || free != want[0] || before != want[1] {
			t.Errorf("%q after %q, %v, want %q", free, before, err, want)
		}
		taken[free] = true
	}
	if _, _, err := artifact.Numbered("a", func(string) bool { return true }); err == nil {
		t.Error("there is no end to the numbers")
	}
}

func TestAFolderHoldsWhatIsWorthKeeping(t *testing.T) {
	home := t.TempDir()
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"missing": {}, "a log": {files: map[string]string{"logs/run.log": "x", artifact.LockName: "x"}},
		"an empty file": {files: map[string]string{"records.jsonl": ""}},
		"inputs":        {files: map[string]string{"run_1/inputs.json": "{}"}},
		"a file":        {files: map[string]string{"summary.json": "{}"}, want: true},
		"a file below":  {files: map[string]string{"cell_1/run_1/summary.json": "{}"}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(home, name)
			files := map[string]string{}
			for file, text := range c.files {
				files[filepath.Join(dir, file)] = text
			}
			write(t, files)
			if got := artifact.Holds(dir, "logs", "inputs.json"); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	dir := t.TempDir()
	lock, err := artifact.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !artifact.Holds(dir) {
		t.Error("a process writes to it")
	}
	lock.Release()
	if artifact.Holds(dir) {
		t.Error("it is empty")
	}
}

func TestAFolderThatWasMadeForNothingGoes(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "artifacts", "run")
	log := filepath.Join(dir, "logs", "run.log")
	m, err := artifact.MakeFolder(dir)
	if err != nil || !m.New() {
		t.Fatal(err)
	}
	write(t, map[string]string{log: "x"})
	m.Undo(log, filepath.Join(dir, "none"))
	if _, err := os.Stat(filepath.Join(home, "artifacts")); err == nil {
		t.Error("the parent stays")
	}

	m, err = artifact.MakeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, map[string]string{log: "x", filepath.Join(dir, "mine"): "x"})
	m.Undo(log)
	if _, err := os.Stat(filepath.Join(dir, "mine")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("the log stays")
	}

	m, err = artifact.MakeFolder(dir) // which is there
	if err != nil || m.New() {
		t.Fatal(err)
	}
	write(t, map[string]string{log: "x"})
	m.Undo(log)
	if _, err := os.Stat(log); err != nil {
		t.Error("a folder that was there is as it was left:", err)
	}
}
