package artifact_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"aiperf/internal/base/artifact"
)

func TestALockedFolderIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	l, err := artifact.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = artifact.LockFolder(dir)
	var used *artifact.InUseError
	if !errors.As(err, &used) || !strings.Contains(err.Error(),
		"the process "+strconv.Itoa(os.Getpid())+", started at 2") || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
	l.Release()
	l.Release()
	if _, err := os.Stat(filepath.Join(dir, artifact.LockName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file stays: %v", err)
	}
	l, err = artifact.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// TestALockFileWithoutItsHolderLocksNothing: it is what a killed process leaves.
func TestALockFileWithoutItsHolderLocksNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, artifact.LockName),
		[]byte("the process 1, started long ago and with a longer text than ours is,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := artifact.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, artifact.LockName)); strings.Contains(string(text), "long ago") ||
		strings.Count(string(text), "\n") != 1 {
		t.Errorf("the file says %q", text)
	}
	l.Release()
}

func TestWritingSeesWhoHoldsTheLock(t *testing.T) {
	dir := t.TempDir()
	if artifact.Writing(dir) {
		t.Error("a folder without a lock file")
	}
	l, err := artifact.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !artifact.Writing(dir) {
		t.Error("a folder that is written to")
	}
	l.Release()
	if err := os.WriteFile(filepath.Join(dir, artifact.LockName), []byte("killed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if artifact.Writing(dir) {
		t.Error("the lock file of a process that is gone")
	}
	if l, err = artifact.LockFolder(dir); err != nil {
		t.Errorf("the question kept the lock: %v", err)
	}
	l.Release()
}

// TestOneHolderAtATime: the file is removed and made again all the time, and never two hold it.
func TestOneHolderAtATime(t *testing.T) {
	dir := t.TempDir()
	var holders, had atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				l, err := artifact.LockFolder(dir)
				if err != nil {
					continue
				}
				if holders.Add(1) > 1 {
					t.Error("two hold the lock")
				}
				had.Add(1)
				holders.Add(-1)
				l.Release()
			}
		})
	}
	all.Wait()
	if had.Load() == 0 {
		t.Error("nobody had the lock")
	}
}

func TestNoLockIsReleasedToo(*testing.T) { (*artifact.Lock)(nil).Release() }
