package artifact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
)

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestWriteFileReplacesAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	for _, text := range []string{"first", "second"} {
		if err := artifact.WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("file holds %q, want %q", got, text)
		}
	}
	if got := names(t, dir); got != "out.json" {
		t.Errorf("directory holds %q", got)
	}
}

func TestAbortKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := artifact.CreateAtomic(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("before Commit the file holds %q", got)
	}
	a.Abort()
	a.Abort()
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("after Abort the file holds %q", got)
	}
	if got := names(t, dir); got != "out.json" {
		t.Errorf("directory holds %q", got)
	}
}

func TestWriteErrorsNameTheTarget(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "no", "out.json")
	err := artifact.WriteFile(missing, nil)
	if err == nil || !strings.Contains(err.Error(), missing) || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("error is %v", err)
	}
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := artifact.WriteFile(taken, nil); err == nil || !strings.Contains(err.Error(), taken) ||
		strings.Contains(err.Error(), ".tmp") {
		t.Errorf("error is %v", err)
	}
	if got := names(t, dir); got != "taken" {
		t.Errorf("directory holds %q", got)
	}
}

func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	if err := os.WriteFile(a, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := artifact.RemoveStale("", a, filepath.Join(dir, "missing")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "" {
		t.Errorf("directory holds %q", got)
	}
	full := filepath.Join(dir, "full", "x")
	if err := os.MkdirAll(full, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := artifact.RemoveStale(filepath.Dir(full), a, filepath.Dir(full)); err == nil ||
		!strings.Contains(err.Error(), filepath.Dir(full)+" and 1 more files left by an earlier run") {
		t.Errorf("what cannot be removed is counted: %v", err)
	}
	if err := artifact.RemoveStale(filepath.Dir(full)); err == nil {
		t.Error("a directory with contents was removed")
	}
}

// What a killed process left of a file that is removed goes as well; other files stay.
func TestTemporaryFilesOfStaleOnesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", ".a.json.0123456789ab.tmp", ".b.json.0123456789ab.tmp", ".a.json.mine.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := artifact.RemoveStale("", filepath.Join(dir, "a.json"), filepath.Join(dir, "none", "a.json")); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if err != nil || strings.Join(left, " ") != ".a.json.mine.tmp .b.json.0123456789ab.tmp" {
		t.Errorf("left: %q, %v", left, err)
	}
}
