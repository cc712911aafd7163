package sidecar

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
)

// start runs a sidecar; states get what it says, done its end.
func start(t *testing.T, o Options) (url string, states chan string, done chan error) {
	t.Helper()
	states, done = make(chan string, 10), make(chan error, 1)
	at := make(chan string, 1)
	o.Address, o.Poll = "127.0.0.1:0", time.Millisecond
	o.Log, o.Listening = func(text string) { states <- text }, func(a string) { at <- a }
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() { done <- Run(ctx, o) }()
	return "http://" + <-at, states, done
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(data)
}

func TestSidecarFollowsTheLockOfTheRun(t *testing.T) {
	dir := t.TempDir()
	lock, err := artifact.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if lock == nil {
		t.Skip("this file system has no locks")
	}
	url, states, done := start(t, Options{Dir: dir, Stay: time.Hour})
	if s := <-states; s != "the run is running" {
		t.Fatal(s)
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"profile_export_aiperf.json", "logs/aiperf.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, list := get(t, url+"/api/results/list"); !strings.Contains(list, `"ready":false`) ||
		!strings.Contains(list, `"logs/aiperf.log"`) || strings.Contains(list, artifact.LockName) {
		t.Errorf("%s", list)
	}
	if r, err := http.Post(url+"/api/shutdown", "", nil); err != nil || r.StatusCode != http.StatusConflict {
		t.Errorf("a shutdown during the run: %v, %v", r, err)
	}
	lock.Release()
	if s := <-states; s != "the run is ended" {
		t.Fatal(s)
	}
	if _, list := get(t, url+"/api/results/list"); !strings.Contains(list, `"ready":true`) ||
		!strings.Contains(list, `"partial":false`) {
		t.Errorf("%s", list)
	}
	if code, text := get(t, url+"/api/results/files/logs/aiperf.log"); code != 200 || text != "{}" {
		t.Errorf("%d %s", code, text)
	}
	for _, name := range []string{"logs", "none", "..%2f..%2fetc%2fpasswd"} {
		if code, _ := get(t, url+"/api/results/files/"+name); code != 404 {
			t.Errorf("%s: %d", name, code)
		}
	}
	if r, err := http.Post(url+"/api/shutdown", "", nil); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("a shutdown after the run: %v, %v", r, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSidecarEndsByItself(t *testing.T) {
	_, states, done := start(t, Options{Dir: t.TempDir(), Start: time.Millisecond, Stay: time.Millisecond})
	if s := <-states; s != "the run is ended" {
		t.Error(s)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
