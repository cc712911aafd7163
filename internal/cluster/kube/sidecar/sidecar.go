// Package sidecar serves the results of a run beside its coordinator, in the same pod: files while they grow, and, once
// the coordinator has ended, for as long as it takes somebody to fetch them.
//
// The coordinator holds the lock of the folder while it works there, so that the sidecar knows its end however it came.
// Every wait is bounded: by the start of the coordinator, and by the time for which results stay.
package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
)

// Options configures a sidecar.
type Options struct {
	// Dir is the folder of the results.
	Dir string
	// Address is where it listens, as HOST:PORT.
	Address string
	// Stay is how long results are served after the run.
	Stay time.Duration
	// Start is how long the coordinator may take to begin; 0 is ten minutes.
	Start time.Duration
	// Poll is the time between two looks at the folder; 0 is a second.
	Poll time.Duration
	// Log is told what happens.
	Log func(text string)
	// Listening is told the address; nil for nobody.
	Listening func(address string)
}

// State is how far the run beside the sidecar is.
type State string

// The states.
const (
	Waiting State = "waiting"
	Running State = "running"
	Ended   State = "ended"
)

// server is one sidecar.
type server struct {
	o    Options
	mu   sync.Mutex
	at   State
	stop context.CancelFunc
}

// Run serves results until the time after the run is over, somebody posts to /api/shutdown, or the context ends.
func Run(ctx context.Context, o Options) error {
	if o.Start == 0 {
		o.Start = 10 * time.Minute
	}
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return fmt.Errorf("the sidecar cannot listen on %s: %w", o.Address, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{o: o, at: Waiting, stop: cancel}
	h := &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	if o.Listening != nil {
		o.Listening(listener.Addr().String())
	}
	s.watch(ctx)
	end, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	err = h.Shutdown(end)
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// watch follows the run and returns when the sidecar is to end.
func (s *server) watch(ctx context.Context) {
	began := time.Now()
	var ended time.Time
	tick := time.NewTicker(s.o.Poll)
	defer tick.Stop()
	for {
		switch now := time.Now(); s.state() {
		case Waiting:
			if s.held() {
				s.enter(Running)
			} else if finished(s.o.Dir) || now.Sub(began) > s.o.Start {
				s.enter(Ended)
				ended = now
			}
		case Running:
			if !s.held() {
				s.enter(Ended)
				ended = now
			}
		case Ended:
			if now.Sub(ended) >= s.o.Stay {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// held reports whether the coordinator writes to the folder.
func (s *server) held() bool {
	if _, err := os.Stat(filepath.Join(s.o.Dir, artifact.LockName)); err != nil {
		return false
	}
	lock, err := artifact.LockFolder(s.o.Dir)
	if lock != nil {
		lock.Release()
	}
	var used *artifact.InUseError
	return errors.As(err, &used)
}

// finished reports whether a folder holds the results of a run that ended before anybody looked.
func finished(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "profile_export_aiperf.json"))
	return err == nil
}

func (s *server) state() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func (s *server) enter(state State) {
	s.mu.Lock()
	s.at = state
	s.mu.Unlock()
	s.o.Log("the run is " + string(state))
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	ok := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /readyz", ok)
	mux.HandleFunc("GET /api/results/list", s.list)
	mux.HandleFunc("GET /api/results/files/{path...}", s.file)
	mux.HandleFunc("POST /api/shutdown", func(w http.ResponseWriter, _ *http.Request) {
		if s.state() == Running {
			http.Error(w, "the run is under way; cancel it first", http.StatusConflict)
			return
		}
		answer(w, map[string]any{"status": "shutting_down"})
		s.stop()
	})
	return mux
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs none
}

// file is an entry of the list.
type file struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// list answers with the files below the folder; ready says that they will not change any more.
func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	files := []file{}
	err := filepath.WalkDir(s.o.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has just been removed
		}
		if strings.HasPrefix(d.Name(), ".") && path != s.o.Dir {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			name, _ := filepath.Rel(s.o.Dir, path)
			files = append(files, file{filepath.ToSlash(name), info.Size()})
		}
		return nil
	})
	if err != nil {
		http.Error(w, "the folder cannot be read", http.StatusInternalServerError)
		return
	}
	state := s.state()
	answer(w, map[string]any{"files": files, "ready": state == Ended, "state": state,
		"partial": state == Ended && !finished(s.o.Dir)})
}

// file answers with a file below the folder; ranges are served, what leads out of it is not found.
func (s *server) file(w http.ResponseWriter, r *http.Request) {
	root, err := os.OpenRoot(s.o.Dir)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(r.PathValue("path")))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, info.Name(), info.ModTime(), f)
}
