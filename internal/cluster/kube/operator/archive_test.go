package operator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func epoch(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 10) }

var start = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string, o ArchiveOptions) *Store {
	t.Helper()
	s, err := OpenArchive(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestFilesComeBackAsTheyWereStored(t *testing.T) {
	for _, compress := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, dir, ArchiveOptions{Compress: compress, RetainRuns: 10})
		r := ArchivedRun{Namespace: "ns", Name: "job", Epoch: epoch(start)}
		if err := s.Begin(r, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("a line of a log\n", 100)
		if err := s.Put(r, "logs/aiperf.log", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(r); err != nil {
			t.Fatal(err)
		}
		got, err := s.ReadFile(r, "logs/aiperf.log", 1<<20)
		if err != nil || string(got) != text {
			t.Errorf("compress %v: read back %q, %v", compress, got, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ns/job", r.Epoch, "logs/aiperf.log.zst")); (err == nil) != compress {
			t.Errorf("compress %v: the compressed file: %v", compress, err)
		}
		if latest, err := s.Latest("ns", "job", false); err != nil || latest != r {
			t.Errorf("latest is %v, %v", latest, err)
		}
		files, err := s.Files(r)
		if err != nil || len(files) != 2 || files[1].Name != "logs/aiperf.log" {
			t.Errorf("files are %v, %v", files, err)
		}
	}
}

func TestNoNameLeadsOutOfTheVolume(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	volume := filepath.Join(dir, "data")
	if err := os.Mkdir(volume, 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, volume, ArchiveOptions{})
	r := ArchivedRun{Namespace: "ns", Name: "job", Epoch: epoch(start)}
	if err := s.Begin(r, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(volume, r.Dir(), "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../../../../secret", "link", "/etc/passwd", "a/../../x", "", "."} {
		if f, err := s.OpenFile(r, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q opened %v, %v", name, f, err)
		}
		if name != "link" {
			if err := s.Put(r, name, strings.NewReader("x")); err == nil {
				t.Errorf("%q was written", name)
			}
		}
	}
	for _, run := range []ArchivedRun{{"..", "data", r.Epoch, false}, {"ns", "../ns/job", r.Epoch, false}, {"ns", "job", "..", false}} {
		if _, err := s.Files(run); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: %v", run, err)
		}
	}
}

// Retention needs both clauses, count and age; the current run survives both.
func TestTrap10RetentionNeedsBothClauses(t *testing.T) {
	ages := []int{0, 1, 5, 20, 40} // days, the newest first
	var runs []ArchivedRun
	for _, a := range ages {
		runs = append(runs, ArchivedRun{Namespace: "n", Name: "j", Epoch: epoch(start.Add(-time.Duration(a) * day))})
	}
	none := ArchivedRun{}
	for _, c := range []struct {
		name      string
		runs      int
		days      float64
		protected ArchivedRun
		want      []ArchivedRun
	}{
		{"count alone, no age asked for", 2, 0, none, runs[2:]},
		{"outside the newest and older", 2, 10, none, runs[3:]},
		{"older, but among the newest", 5, 10, none, nil},
		{"outside the newest, but not older", 1, 100, none, nil},
		{"the current run stays", 0, 0, runs[4], runs[:4]},
	} {
		got := ArchiveOptions{RetainRuns: c.runs, RetainDays: c.days}.Expendable(runs, c.protected, start)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: removes %v, not %v", c.name, got, c.want)
		}
	}
}

func TestExpireRemovesOldRunsExceptProtectedOnes(t *testing.T) {
	s := open(t, t.TempDir(), ArchiveOptions{Now: func() time.Time { return start }})
	old := ArchivedRun{Namespace: "n", Name: "j", Epoch: epoch(start.Add(-31 * day))}
	kept := ArchivedRun{Namespace: "n", Name: "k", Epoch: epoch(start.Add(-31 * day))}
	sweep := ArchivedRun{Namespace: "n", Name: "s", Epoch: epoch(start.Add(-31 * day)), Sweep: true}
	young := ArchivedRun{Namespace: "n", Name: "j", Epoch: epoch(start.Add(-29 * day))}
	for _, r := range []ArchivedRun{old, kept, sweep, young} {
		if err := s.Begin(r, nil); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := s.Expire(func(ArchivedRun) int { return 30 }, func(r ArchivedRun) bool { return r == kept })
	if err != nil || !slices.Contains(removed, old) || !slices.Contains(removed, sweep) || len(removed) != 2 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if left, _ := s.All(); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
}

func TestTheIndexIsMadeAgainFromTheDirectories(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, ArchiveOptions{Compress: true})
	r := ArchivedRun{Namespace: "ns", Name: "job", Epoch: epoch(start)}
	if err := s.Begin(r, nil); err != nil {
		t.Fatal(err)
	}
	text := `{"schema_version":"1.0","request_throughput":{"unit":"requests/sec","avg":12.5}}`
	if err := s.Put(r, "profile_export_aiperf.json", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := s.Note(Entry{Namespace: "ns", Name: "job", Epoch: r.Epoch, Phase: "Completed", Model: "m", Started: start}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, IndexFile), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, ArchiveOptions{})
	e, ok := again.Entry(r)
	if !ok || e.Model != "m" || e.Phase != "Completed" || e.Metrics["request_throughput"].Stats["avg"] != 12.5 {
		t.Errorf("after the loss of the index the entry is %+v, %v", e, ok)
	}
}
