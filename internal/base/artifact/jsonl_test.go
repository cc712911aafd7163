package artifact_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/artifact"
)

// limitedFile takes so many bytes, then the disk is full.
type limitedFile struct {
	mu    sync.Mutex
	data  []byte
	limit int
}

func (f *limitedFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	room := f.limit - len(f.data)
	if len(p) <= room {
		f.data = append(f.data, p...)
		return len(p), nil
	}
	f.data = append(f.data, p[:room]...)
	return room, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
}

func (f *limitedFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.data = f.data[:size]
	return nil
}

func (f *limitedFile) Close() error { return nil }

func (f *limitedFile) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.data)
}

func TestDiskFullKeepsWholeLinesAndReportsOnce(t *testing.T) {
	var reports []error
	file := &limitedFile{limit: 8 + 4 + 3}
	l := artifact.NewLines("records.jsonl", file, artifact.LinesOptions{
		OnError: func(err error) { reports = append(reports, err) },
	})
	for _, line := range []string{"one", "two"} {
		if err := l.Add([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"abc", "broken", "lost"} {
		if err := l.Add([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	err := l.Flush()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "records.jsonl") {
		t.Errorf("error is %v", err)
	}
	if got, want := file.text(), "one\ntwo\nabc\n"; got != want {
		t.Errorf("file holds %q, want %q", got, want)
	}
	if err := l.Add([]byte("later")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a later line gave %v", err)
	}
	if lines, dropped := l.Count(); lines != 3 || dropped != 3 {
		t.Errorf("%d lines and %d dropped, want 3 and 3", lines, dropped)
	}
	if err := l.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close gave %v", err)
	}
	if len(reports) != 1 || !errors.Is(reports[0], syscall.ENOSPC) {
		t.Errorf("reports: %v", reports)
	}
}

func TestLinesAreFlushedEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &limitedFile{limit: 1 << 20}
		l := artifact.NewLines("x", file, artifact.LinesOptions{FlushInterval: 50 * time.Millisecond})
		if err := l.Add([]byte("{}")); err != nil {
			t.Fatal(err)
		}
		if got := file.text(); got != "" {
			t.Errorf("written at once: %q", got)
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if got := file.text(); got != "{}\n" {
			t.Errorf("after the interval the file holds %q", got)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTrapFileWithoutLinesIsRemoved(t *testing.T) {
	dir := t.TempDir()
	l, err := artifact.CreateLines(filepath.Join(dir, "a.jsonl"), artifact.LinesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "a.jsonl" {
		t.Errorf("while open the directory holds %q", got)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, dir); got != "" {
		t.Errorf("directory holds %q", got)
	}
}

func TestCreateLinesFailsEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "a.jsonl")
	_, err := artifact.CreateLines(path, artifact.LinesOptions{})
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
}

func TestConcurrentLinesStayWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	l, err := artifact.CreateLines(path, artifact.LinesOptions{FlushInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 500
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				_ = l.Add(fmt.Appendf(nil, `{"w":%d,"i":%d,"pad":%q}`, w, i, strings.Repeat("x", i)))
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	next := make([]int, writers)
	for line := range bytes.Lines(data) {
		var w, i int
		if _, err := fmt.Sscanf(string(line), `{"w":%d,"i":%d,`, &w, &i); err != nil ||
			!bytes.HasSuffix(line, []byte("x\"}\n")) && i > 0 {
			t.Fatalf("broken line %q", line)
		}
		if i != next[w] {
			t.Fatalf("writer %d: line %d came when %d was due", w, i, next[w])
		}
		next[w]++
	}
	for w, n := range next {
		if n != each {
			t.Errorf("writer %d: %d lines", w, n)
		}
	}
	if err := l.Add(nil); err == nil {
		t.Error("a closed file took a line")
	}
}
