package mlflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
)

// batch is what one log-batch holds.
type batch struct {
	ID      string  `json:"run_id"`
	Metrics []point `json:"metrics"`
	Params  []Entry `json:"params"`
	Tags    []Entry `json:"tags"`
}

// fake is an MLflow server with one experiment and one run. Its answers follow those of the real one.
type fake struct {
	t  *testing.T
	mu sync.Mutex
	// before answers in the server's stead when it returns true.
	before func(w http.ResponseWriter, r *http.Request, n int) bool

	requests    []string
	created     map[string]any
	batches     []batch
	files       map[string]string
	order       []string
	ended       map[string]any
	deleted     bool
	artifactURI string
	auth        map[string]bool
}

func newFake(t *testing.T) (*fake, *url.URL) {
	f := &fake{t: t, files: map[string]string{}, auth: map[string]bool{},
		artifactURI: "mlflow-artifacts:/7/r1/artifacts"}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return f, u
}

func reject(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error_code": %q, "message": %q}`, code, message)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	n := 0
	for _, one := range f.requests {
		if one == r.URL.Path {
			n++
		}
	}
	f.requests = append(f.requests, r.URL.Path)
	f.auth[r.Header.Get("Authorization")] = true
	before := f.before
	f.mu.Unlock()
	if before != nil && before(w, r, n) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	method, isAPI := strings.CutPrefix(r.URL.Path, "/api/2.0/mlflow/")
	stage := map[bool]string{false: "active", true: "deleted"}[f.deleted]
	info := map[string]any{"run_id": "r1", "run_name": "n", "artifact_uri": f.artifactURI, "lifecycle_stage": stage}
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch {
	case !isAPI:
		name, ok := strings.CutPrefix(r.URL.Path, "/api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/")
		if !ok || r.Method != http.MethodPut || r.ContentLength != int64(len(body)) {
			reject(w, http.StatusNotFound, "", "no such place")
			return
		}
		f.files[name] = string(body)
		f.order = append(f.order, name)
	case method == "experiments/get-by-name":
		if r.URL.Query().Get("experiment_name") != "known" &&
			!slices.Contains(f.requests, "/api/2.0/mlflow/experiments/create") {
			reject(w, http.StatusNotFound, codeMissing, "Could not find experiment")
			return
		}
		answer(map[string]any{"experiment": map[string]any{"experiment_id": "7", "lifecycle_stage": "active"}})
	case method == "experiments/create":
		answer(map[string]any{"experiment_id": "7"})
	case method == "runs/get":
		if id := r.URL.Query().Get("run_id"); id != "r1" && id != "parent" {
			reject(w, http.StatusNotFound, codeMissing, "Run with id="+id+" not found")
			return
		}
		answer(map[string]any{"run": map[string]any{"info": info}})
	case method == "runs/create":
		_ = json.Unmarshal(body, &f.created)
		answer(map[string]any{"run": map[string]any{"info": info}})
	case f.deleted:
		reject(w, http.StatusBadRequest, "INVALID_PARAMETER_VALUE",
			"The run r1 must be in the 'active' state. Current state is deleted.")
	case method == "runs/log-batch":
		var b batch
		if err := json.Unmarshal(body, &b); err != nil || len(b.Metrics)+len(b.Params)+len(b.Tags) > 1000 ||
			len(b.Params) > 100 || len(b.Tags) > 100 {
			reject(w, http.StatusBadRequest, "INVALID_PARAMETER_VALUE", "too many")
			return
		}
		f.batches = append(f.batches, b)
		answer(map[string]any{})
	case method == "runs/update":
		_ = json.Unmarshal(body, &f.ended)
		answer(map[string]any{})
	default:
		reject(w, http.StatusNotFound, "ENDPOINT_NOT_FOUND", "no such method")
	}
}

// all joins the batches.
func (f *fake) all() (all batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.batches {
		all.Metrics = append(all.Metrics, b.Metrics...)
		all.Params = append(all.Params, b.Params...)
		all.Tags = append(all.Tags, b.Tags...)
	}
	return all
}

func (b *batch) history(key string) (list []float64) {
	for _, p := range b.Metrics {
		if p.Key == key {
			list = append(list, p.Value)
		}
	}
	return list
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) warnings() (list []string) {
	for line := range strings.Lines(l.String()) {
		if !strings.Contains(line, "level=INFO") {
			list = append(list, line)
		}
	}
	return list
}

func testSet(t *testing.T) *metrics.Set {
	t.Helper()
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	set, err := metrics.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// publication is what a test tracks, and how.
type publication struct {
	Options
	run *progress.Run
}

// testOptions are those of a run in a folder with a few files; its log takes what is told.
func testOptions(t *testing.T, u *url.URL) (publication, *lines) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"profile_export.jsonl": "{}\n", "profile_export_aiperf.json": "{}", "profile_export_aiperf.csv": "a,b",
		"profile_export_console.txt": "table",
		"report.html":                "<p>", "sub/plot.png": "p", "plots/a b.svg": "s", "logs/aiperf.log": "l",
		"empty.json": "", "mlflow_export.json": "old",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := new(lines)
	return publication{Options{
		URI: u, Environment: new(Environment), Experiment: "aiperf", User: "someone", Tags: []Entry{{"team", "perf"}},
		Globs: upload.Patterns(""), Export: "mlflow_export.json", Interval: 10 * time.Millisecond,
		Timeout:  5 * time.Second,
		Redactor: artifact.NewRedactor(),
	}, &progress.Run{
		BenchmarkID: "0123456789", Version: "1.2.3", EndpointType: "chat", Dir: dir, Metrics: testSet(t),
		Log: func(string) *slog.Logger { return slog.New(slog.NewTextHandler(log, nil)) },
	}}, log
}

func sampleRecord(latencyNS int64) *record.Record {
	r := &record.Record{Facts: record.NewFacts(), Identity: record.Identity{Phase: record.PhaseProfiling}}
	for field, v := range map[record.Field]int64{
		record.StartWall: 1, record.FirstContent: latencyNS / 2, record.FirstOutput: latencyNS / 2,
		record.LastContent: latencyNS, record.LastResponse: latencyNS,
		record.End: latencyNS, record.Ack: 1, record.Contents: 2, record.InputTokens: 50, record.OutputTokens: 2,
		record.UsagePrompt: 50,
		record.Sending:     1e5, record.Waiting: latencyNS / 2, record.Receiving: latencyNS / 2,
		record.TraceDuration: latencyNS,
	} {
		r.Facts[field] = v
	}
	return r
}

// results are a distribution, a count, a diagnostic figure and figures that do not exist.
func results(t *testing.T) *progress.Ending {
	engine := testSet(t).NewEngine()
	for i := range 10 {
		engine.Add(sampleRecord(int64(i+1) * 1e6))
	}
	engine.SetRunFacts(metrics.RunFacts{})
	e := &progress.Ending{HasResults: true, Metrics: engine.Results(), Completed: 10, Last: &progress.Snapshot{
		Phases: []progress.Phase{{Kind: record.PhaseProfiling, Name: "profiling", ExpectedRequests: 12}}}}
	if metrics.Find(e.Metrics, "request_latency") == nil {
		t.Fatal("the records have no latency")
	}
	return e
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if condition() {
			return
		}
	}
	t.Fatalf("no %s", what)
}

func newTLS(t *testing.T, f *fake) *url.URL {
	t.Helper()
	s := httptest.NewUnstartedServer(f)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
