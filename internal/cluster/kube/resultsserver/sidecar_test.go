package resultsserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/resultsserver"
)

var discard = slog.New(slog.DiscardHandler)

func sidecarOf(t *testing.T, o resultsserver.SidecarOptions) *resultsserver.Sidecar {
	t.Helper()
	o.Log = discard
	s, err := resultsserver.NewSidecar(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(s *resultsserver.Sidecar, method, path string) (int, string) {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(method, path, http.NoBody))
	body, _ := io.ReadAll(w.Body)
	return w.Code, string(body)
}

func TestFilesAreServedAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/secret", "s")
	write(t, dir, "results/logs/aiperf.log", "line\n")
	write(t, dir, "results/.aiperf.lock", "")
	s := sidecarOf(t, resultsserver.SidecarOptions{Dir: filepath.Join(dir, "results")})
	if code, body := get(s, "GET", "/api/results/files/logs/aiperf.log"); code != 200 || body != "line\n" {
		t.Errorf("the log: %d %q", code, body)
	}
	for _, path := range []string{"/api/results/files/..%2Fa%2Fsecret", "/api/results/files/logs", "/api/results/files/x"} {
		if code, body := get(s, "GET", path); code != 404 {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	_, body := get(s, "GET", "/api/results/list")
	var list struct {
		Files []struct {
			Name string
			Size int64
		}
		Ready bool
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Files) != 1 || list.Ready {
		t.Errorf("the list is %s, %v", body, err)
	}
}

// The results are complete when the run has finished and let its folder go, not before.
func TestTheJobIsMarkedWhenTheResultsAreComplete(t *testing.T) {
	dir := t.TempDir()
	lock, err := artifact.LockFolder(dir)
	if err != nil || lock == nil {
		t.Fatal("no lock: ", err)
	}
	write(t, dir, resultsserver.StateFile, `{"status":"finished"}`)
	synctest.Test(t, func(t *testing.T) {
		marks := map[string]string{}
		var mu sync.Mutex
		refuse := true
		s := sidecarOf(t, resultsserver.SidecarOptions{
			Dir: dir, Stay: 5 * time.Minute, Heartbeat: 10 * time.Second,
			Alive: func(context.Context) bool { return true },
			Mark: func(_ context.Context, annotations map[string]string) error {
				mu.Lock()
				defer mu.Unlock()
				if annotations[crd.AnnotationComplete] != "" && refuse {
					refuse = false
					return errors.New("the API does not answer")
				}
				for name, value := range annotations {
					marks[name] = value
				}
				return nil
			},
		})
		ended := make(chan error, 1)
		go func() { ended <- s.Follow(t.Context()) }()
		time.Sleep(5 * time.Second)
		mu.Lock()
		first := marks[crd.AnnotationHeartbeat]
		if first == "" || marks[crd.AnnotationComplete] != "" {
			t.Errorf("while the run holds the folder the marks are %v", marks)
		}
		mu.Unlock()
		if code, _ := get(s, "POST", "/api/shutdown"); code != http.StatusConflict {
			t.Errorf("a shutdown during the run answers %d", code)
		}
		lock.Release()
		time.Sleep(15 * time.Second)
		mu.Lock()
		if marks[crd.AnnotationComplete] == "" || marks[crd.AnnotationHeartbeat] == first {
			t.Errorf("after the run the marks are %v", marks)
		}
		mu.Unlock()
		if code, _ := get(s, "POST", "/api/shutdown"); code != http.StatusOK {
			t.Errorf("a shutdown after the run answers %d", code)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestASidecarEndsByItself(t *testing.T) {
	const (
		start   = 15 * time.Minute // how long a coordinator may take to show itself
		silence = time.Minute      // how long one that was there may be gone
	)
	for _, c := range []struct {
		name, state string
		alive       bool
		want        error
		at          time.Duration
	}{
		{"results that nobody fetches", `{"status":"finished"}`, false, nil, 31 * time.Second},
		{"a coordinator that never came", "", false, resultsserver.ErrIncomplete, start},
		{"a coordinator that was killed", `{"status":"running"}`, true, resultsserver.ErrIncomplete, silence},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.state != "" {
				write(t, dir, resultsserver.StateFile, c.state)
			}
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := sidecarOf(t, resultsserver.SidecarOptions{Dir: dir, Stay: 30 * time.Second, Heartbeat: time.Second,
					Alive: func(context.Context) bool { return c.alive && time.Since(began) < 2*time.Second }})
				err := s.Follow(t.Context())
				if took := time.Since(began); !errors.Is(err, c.want) || took < c.at || took > c.at+5*time.Second {
					t.Errorf("ended after %v with %v, not after %v with %v", took, err, c.at, c.want)
				}
			})
		})
	}
}
