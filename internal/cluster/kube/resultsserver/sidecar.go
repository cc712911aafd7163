package resultsserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cluster/kube/crd"
)

// SidecarOptions configures a sidecar.
type SidecarOptions struct {
	// Dir is the folder of the results.
	Dir string
	// Address is where files are served.
	Address string
	// Stay is how long the sidecar goes on after the results are complete, unless it is asked to end.
	Stay time.Duration
	// Mark sets annotations of the job; nil where there is no job.
	Mark func(ctx context.Context, annotations map[string]string) error
	// Alive reports whether the coordinator answers; nil for none.
	Alive func(ctx context.Context) bool
	// Marker is a file that says that the results are complete, instead of the state of a run; "" for a run.
	Marker string
	// Heartbeat is the pause between two reports that the coordinator lives.
	Heartbeat time.Duration
	Log       *slog.Logger
}

const (
	// look is the pause between two looks at the folder.
	look = time.Second
	// silence is how long a coordinator that was there may be gone, with the folder free, before its end is certain.
	silence = 60 * time.Second
	// start is how long a coordinator may take to show itself.
	start = 15 * time.Minute
	// StateFile is the file that a run writes its state into.
	StateFile = "run_state.json"
	// maxState bounds what is read of it, in bytes.
	maxState = 64 << 20
)

// ErrIncomplete is the end of a sidecar whose coordinator has ended without results.
var ErrIncomplete = errors.New("the coordinator has ended without results")

// Sidecar is a running sidecar.
type Sidecar struct {
	o    SidecarOptions
	root *os.Root
	stop chan struct{}
	once sync.Once

	mu sync.Mutex
	// done reports that the results are complete, seen that the run has begun, over that it has ended without them.
	done, seen, over bool
}

// NewSidecar returns a sidecar that neither listens nor watches the run yet: [Sidecar.Handler] answers requests,
// [Sidecar.Follow] watches. Its owner closes it.
func NewSidecar(o SidecarOptions) (*Sidecar, error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("the results: %w", err)
	}
	return &Sidecar{o: o, root: root, stop: make(chan struct{})}, nil
}

// Close lets the folder of the results go.
func (s *Sidecar) Close() error { return s.root.Close() }

// RunSidecar serves until the results were fetched, their time is over, or ctx ends.
func RunSidecar(ctx context.Context, o SidecarOptions) error {
	s, err := NewSidecar(o)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err = s.Follow(ctx)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = server.Shutdown(closing)
	<-served
	return err
}

// Follow watches the run until its results were fetched, their time is over, or ctx ends. [ErrIncomplete] reports a run
// that has ended without results.
func (s *Sidecar) Follow(ctx context.Context) error {
	marked := false
	began, alive, beat := time.Now(), time.Now(), time.Time{}
	var completed time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.stop:
			return nil
		case <-time.After(look):
		}
		lives, locked := s.o.Alive != nil && s.o.Alive(ctx), s.locked()
		if lives || locked {
			alive = time.Now()
			if lives && time.Since(beat) >= s.o.Heartbeat {
				beat = time.Now()
				s.mark(ctx, crd.AnnotationHeartbeat, beat.UTC().Format(time.RFC3339Nano))
			}
		}
		s.mu.Lock()
		s.seen = s.seen || lives || locked
		s.over = s.seen && !lives && !locked
		if !s.done && s.complete() {
			s.done, completed = true, time.Now()
		}
		done, seen := s.done, s.seen
		s.mu.Unlock()
		switch {
		case done && !marked:
			marked = s.mark(ctx, crd.AnnotationComplete, completed.UTC().Format(time.RFC3339Nano))
		case done && time.Since(completed) > s.o.Stay:
			return nil
		case !done && seen && time.Since(alive) > max(silence, s.o.Stay):
			return ErrIncomplete
		case !done && !seen && time.Since(began) > start:
			return ErrIncomplete
		}
	}
}

// mark sets an annotation and reports whether that succeeded.
func (s *Sidecar) mark(ctx context.Context, name, value string) bool {
	if s.o.Mark == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.o.Mark(ctx, map[string]string{name: value}); err != nil {
		s.o.Log.Warn("the job cannot be marked: " + err.Error())
		return false
	}
	return true
}

// complete reports whether the results are complete.
func (s *Sidecar) complete() bool {
	if s.o.Marker != "" {
		_, err := s.root.Stat(s.o.Marker)
		return err == nil
	}
	info, err := s.root.Stat(StateFile)
	if err != nil || info.Size() > maxState {
		return false
	}
	data, err := s.root.ReadFile(StateFile)
	if err != nil {
		return false
	}
	var state struct {
		Status string `json:"status"`
	}
	return json.Unmarshal(data, &state) == nil && state.Status == "finished" && !s.locked()
}

// locked reports whether a run holds the folder.
func (s *Sidecar) locked() bool {
	if _, err := s.root.Stat(artifact.LockName); err != nil {
		return false
	}
	lock, err := artifact.LockFolder(s.o.Dir)
	if err != nil {
		var inUse *artifact.InUseError
		return errors.As(err, &inUse)
	}
	if lock != nil {
		lock.Release()
	}
	return false
}

// Handler answers requests for the files.
func (s *Sidecar) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /api/results/list", s.list)
	mux.HandleFunc("GET /api/results/files/{path...}", s.file)
	mux.HandleFunc("POST /api/shutdown", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		done := s.done
		s.mu.Unlock()
		if s.o.Marker == "" && !done && s.locked() {
			http.Error(w, "the benchmark runs", http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"shutting_down"}`))
		s.once.Do(func() { close(s.stop) })
	})
	return mux
}

type listed struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// list answers the names and sizes of the files, of all folders. Ready says that they will not change any more, partial
// that the run has not completed them.
func (s *Sidecar) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	state, ready, partial := "waiting", s.done || s.over, !s.done
	switch {
	case ready:
		state = "ended"
	case s.seen:
		state = "running"
	}
	s.mu.Unlock()
	files := []listed{}
	err := fs.WalkDir(s.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it was replaced meanwhile
			}
			return err
		}
		hidden := strings.HasPrefix(path.Base(name), ".") && name != "."
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			files = append(files, listed{name, info.Size()})
		}
		return nil
	})
	if err != nil {
		http.Error(w, "the results cannot be listed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"files": files, "ready": ready, "state": state, "processing": !ready, "partial": partial,
		"failed_exporters": []string{},
	})
}

// file answers one file.
func (s *Sidecar) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	if !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	file, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("X-Aiperf-Size", strconv.FormatInt(info.Size(), 10))
	http.ServeContent(w, r, "", info.ModTime(), file)
}
