package artifact_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"aiperf/internal/base/artifact"
)

// keeperVariable makes the test program a process that makes a temporary folder, and waits to be killed.
const keeperVariable = "TEMPORARY_KEEPER"

func TestKeeper(t *testing.T) {
	if os.Getenv(keeperVariable) == "" {
		t.Skip("only within another test")
	}
	folder, err := artifact.NewTemporary("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder.Dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString(folder.Dir + "\n")
	select {}
}

func TestFoldersOfKilledProcessesAreRemoved(t *testing.T) {
	top := t.TempDir()
	t.Setenv("TMPDIR", top)
	t.Setenv("TMP", top)
	there := func(dir string) bool { _, err := os.Stat(dir); return err == nil }
	// Folders without a lock, with one that is not signed yet, of another name, and links stay.
	for _, name := range []string{"aiperf-old", "aiperf-fresh", "other"} {
		if err := os.Mkdir(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"aiperf-fresh": "", "other": "the process 1"} {
		if err := os.WriteFile(filepath.Join(top, name, artifact.LockName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink("other", filepath.Join(top, "aiperf-link"))
	own, err := artifact.NewTemporary("test")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKeeper$")
	cmd.Env = append(os.Environ(), keeperVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4096)
	n, err := out.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	theirs := string(text[:n-1])
	held := artifact.HoldTemporary(theirs, "agent/1")
	artifact.RemoveAbandoned()
	if !there(theirs) || !there(own.Dir) {
		t.Error("the folder of a process that lives is removed")
	}
	cmd.Process.Kill()
	_ = cmd.Wait()
	artifact.RemoveAbandoned()
	if held != nil && !there(theirs) {
		t.Error("a folder is removed that another process holds")
	}
	held.Release()
	artifact.RemoveAbandoned()
	if there(theirs) {
		t.Error("the folder of a killed process stays")
	}
	for _, name := range []string{"aiperf-old", "aiperf-fresh", "other"} {
		if !there(filepath.Join(top, name)) {
			t.Errorf("%s is removed", name)
		}
	}
	own.Leave()
	if there(own.Dir) {
		t.Error("an empty folder stays")
	}
	kept, err := artifact.NewTemporary("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kept.Dir, "journal"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	kept.Leave()
	artifact.RemoveAbandoned()
	if !there(kept.Dir) {
		t.Error("what was left on purpose is removed")
	}
	kept.Remove()
	if there(kept.Dir) {
		t.Error("a folder stays that its owner removed")
	}
}
