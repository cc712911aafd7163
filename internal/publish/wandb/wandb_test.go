package wandb

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
)

const testKey = "0123456789abcdef0123456789abcdef01234567"

// fake is the service. It stores files apart from the API and accepts no credentials there.
type fake struct {
	mu sync.Mutex
	// before answers in the service's stead when it returns true; step is the operation, or the path.
	before  func(w http.ResponseWriter, step string) bool
	url     string
	steps   []string
	run     map[string]any
	stored  map[string]string
	stream  map[string]any
	commits int
	faults  []string
}

func newFake(t *testing.T) *fake {
	f := &fake{stored: map[string]string{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct {
		OperationName string
		Variables     map[string]any
	}
	step := r.URL.Path
	if step == "/graphql" {
		_ = json.Unmarshal(body, &q)
		step = q.OperationName
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps = append(f.steps, step)
	if f.before != nil && f.before(w, step) {
		return
	}
	stores := strings.HasPrefix(step, "/store/")
	if _, password, ok := r.BasicAuth(); ok == stores || !stores && password != testKey {
		f.faults = append(f.faults, "credentials of "+step)
	}
	place := func(name string) map[string]any {
		return map[string]any{"name": name, "uploadUrl": f.url + "/store/" + name, "uploadHeaders": []string{"X-Put: a:b"}}
	}
	answer := func(name string, v any) {
		_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{name: v}})
	}
	switch {
	case stores:
		if strings.HasPrefix(step, "/store/art/") && r.Header.Get("X-Put") != "a:b" || r.Header["Content-Type"] != nil {
			f.faults = append(f.faults, "headers of "+step)
		}
		f.stored[strings.TrimPrefix(step, "/store/")] = string(body)
	case strings.HasSuffix(step, "/file_stream"):
		_ = json.Unmarshal(body, &f.stream)
		fmt.Fprint(w, "{}")
	case step == "UpsertBucket":
		f.run = q.Variables
		answer("upsertBucket", map[string]any{"bucket": map[string]any{"id": "x", "name": q.Variables["name"],
			"project": map[string]any{"name": q.Variables["project"], "entity": map[string]any{"name": "me"}}}})
	case step == "CreateArtifact":
		in := q.Variables["input"].(map[string]any)
		answer("createArtifact", map[string]any{"artifact": map[string]any{"id": in["artifactTypeName"], "state": "PENDING"}})
	case step == "CreateArtifactManifest":
		m := place("manifest-" + q.Variables["artifactID"].(string))
		answer("createArtifactManifest", map[string]any{"artifactManifest": map[string]any{"id": "m1", "file": m}})
	case step == "CreateArtifactFiles":
		var edges []any
		for _, one := range q.Variables["input"].(map[string]any)["artifactFiles"].([]any) {
			edges = append(edges, map[string]any{"node": place("art/" + one.(map[string]any)["name"].(string))})
		}
		answer("createArtifactFiles", map[string]any{"files": map[string]any{"edges": edges}})
	case step == "CommitArtifact":
		f.commits++
		answer("commitArtifact", map[string]any{"artifact": map[string]any{"id": "a"}})
	case step == "CreateRunFiles":
		var files []any
		for _, name := range q.Variables["files"].([]any) {
			files = append(files, place("run/"+name.(string)))
			files[len(files)-1].(map[string]any)["name"] = name
		}
		answer("createRunFiles", map[string]any{"files": files, "uploadHeaders": []string{}})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// publish uploads a run with two metrics and a few files, and returns the log.
func publish(t *testing.T, f *fake, timeout time.Duration) string {
	t.Helper()
	environment, err := ReadEnvironment(lookup(map[string]string{variableURL: f.url, variableKey: testKey}))
	if err != nil {
		t.Fatal(err)
	}
	return publishFrom(t, t.TempDir(), Options{Environment: environment, Timeout: timeout})
}

// publishFrom uploads a run whose files it writes to a folder.
func publishFrom(t *testing.T, dir string, o Options) string {
	t.Helper()
	for _, name := range []string{"a.json", "b.jsonl", "plots/p q.png", "wandb/x.png", "mlflow_export.json", "run.log"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.Project, o.Tags, o.Groups = "bench", []string{"team", "aiperf-1.2.3"}, []metrics.Group{metrics.GroupDefault}
	o.Globs, o.Without = upload.Patterns(""), []string{"mlflow_export.json"}
	o.Redactor = artifact.NewRedactor("s3cret-value")
	var log bytes.Buffer
	p := New(o)
	p.Begin(&progress.Run{BenchmarkID: "0123456789", Version: "1.2.3", Dir: dir,
		Command: "aiperf profile --api-key s3cret-value",
		Config:  artifact.Object{{Key: "models", Value: []any{"m"}}, {Key: "none", Value: nil}},
		Log:     func(string) *slog.Logger { return slog.New(slog.NewTextHandler(&log, nil)) }})
	p.End(&progress.Ending{HasResults: true, Metrics: []metrics.Metric{
		{Tag: "request_count", Short: "Requests", ShortHidesUnit: true, Unit: "requests", Group: metrics.GroupDefault,
			Order: 2, Stats: metrics.Stats{Avg: 10}},
		{Tag: "request_latency", Short: "Req Latency", Unit: "ms", Group: metrics.GroupDefault, Order: 1,
			Distribution: true, Stats: metrics.Stats{Avg: 1.23456, Min: 1, Max: 2, Std: 0.005}},
		{Tag: "hidden", Short: "Hidden", Group: metrics.GroupDefault, Flags: metrics.Internal},
		{Tag: "usage", Short: "Usage", Group: metrics.GroupUsage},
	}})
	p.Wait(nil)
	return log.String()
}

func lookup(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

func TestARunIsUploaded(t *testing.T) {
	f := newFake(t)
	log := publish(t, f, time.Minute)
	if strings.Contains(log, "level=WARN") || !strings.Contains(log, "3 files to "+f.url+"/me/bench/runs/") {
		t.Errorf("log %s", log)
	}
	if len(f.faults) > 0 {
		t.Error(f.faults)
	}
	tags, _ := json.Marshal(f.run["tags"])
	if string(tags) != `["aiperf-1.2.3","benchmark-01234567","team"]` || f.run["displayName"] != "aiperf-01234567" {
		t.Errorf("run %v", f.run)
	}
	if got := f.run["config"]; got !=
		`{"models":{"value":["m"]},"aiperf.cli_command":{"value":"aiperf profile --api-key <redacted>"}}` {
		t.Errorf("configuration %s", got)
	}
	var table map[string]any
	if err := json.Unmarshal([]byte(f.stored["art/summary_metrics.table.json"]), &table); err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(table["data"])
	if string(data) != `[["Req Latency (ms)",1.23,1,2,0,0,0,0.01],["Requests",10,null,null,null,null,null,null]]` {
		t.Errorf("table %s", data)
	}
	var manifest struct {
		Contents map[string]struct {
			Digest string
			Size   int
		}
	}
	if err := json.Unmarshal([]byte(f.stored["manifest-aiperf-run"]), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.json", "b.jsonl", "plots/p q.png"} {
		want := md5.Sum([]byte("of " + name))
		if f.stored["art/"+name] != "of "+name ||
			manifest.Contents[name].Digest != base64.StdEncoding.EncodeToString(want[:]) {
			t.Errorf("%s: %q, %v", name, f.stored["art/"+name], manifest.Contents[name])
		}
	}
	if len(manifest.Contents) != 3 || f.commits != 2 || f.stream["complete"] != true || f.stream["exitcode"] != 0.0 {
		t.Errorf("%v, %d commits, stream %v", manifest.Contents, f.commits, f.stream)
	}
	if s := f.stored["run/wandb-summary.json"]; !strings.Contains(s, `"request_latency":{"avg":1.23456,`) ||
		!strings.Contains(s, `"_type":"table-file"`) {
		t.Errorf("summary %s", s)
	}
}

// The sums were observed in requests of the service's own client.
func TestDigestIsThatOfTheOfficialClient(t *testing.T) {
	a := bundled{files: []content{{name: "plots/b c.png", md5: "v/E5+gWsWD9oWlI6s9EQoA=="},
		{name: "a.json", md5: "u2y1xo30ZSlByvZSo2by2A=="}}}
	if got := a.digest(); got != "ead129b08fb56ba0db5c57977dd60ee3" {
		t.Error(got)
	}
}

func TestFaultsCostOneLine(t *testing.T) {
	status := func(step string, code int, body string) func(http.ResponseWriter, string) bool {
		return func(w http.ResponseWriter, at string) bool {
			if strings.Contains(at, step) {
				w.WriteHeader(code)
				fmt.Fprint(w, body)
				return true
			}
			return false
		}
	}
	for name, c := range map[string]struct {
		before func(http.ResponseWriter, string) bool
		want   string
		ended  bool
	}{
		"key":      {status("UpsertBucket", 401, `{"errors":[{"message":"bad key"}]}`), "bad key; check WANDB_API_KEY; nothing", false},
		"refusal":  {status("UpsertBucket", 200, `{"errors":[{"message":"no `+testKey+`"}]}`), "refused UpsertBucket: no <redacted>", false},
		"not it":   {status("UpsertBucket", 200, `<html>`), "without valid JSON", false},
		"empty":    {status("UpsertBucket", 200, `{"data":null}`), "is this Weights & Biases?", false},
		"table":    {status("art/summary", 403, ""), "the results were not uploaded", false},
		"files":    {status("art/a.json", 403, ""), "the files were not uploaded; the results were", true},
		"commit":   {status("CommitArtifact", 200, `{"data":{}}`), "the results were not uploaded", false},
		"redirect": {status("UpsertBucket", 302, ""), "redirects are not followed", false},
		"ending":   {status("file_stream", 400, ""), "the results were not uploaded", false},
	} {
		f := newFake(t)
		f.before = c.before
		log := publish(t, f, time.Minute)
		if strings.Count(log, "\n") != 1 || !strings.Contains(log, "level=WARN") || !strings.Contains(log, c.want) ||
			strings.Contains(log, testKey) || (f.stream != nil) != c.ended {
			t.Errorf("%s: ended %v, log %s", name, f.stream != nil, log)
		}
	}
}

func TestASlowServiceEndsAtTheLimit(t *testing.T) {
	f := newFake(t)
	held := make(chan struct{})
	f.before = func(http.ResponseWriter, string) bool { <-held; return true }
	log := publish(t, f, 20*time.Millisecond)
	close(held)
	if !strings.Contains(log, "took longer than 0.02 s ("+variableTimeout+"); nothing was uploaded") {
		t.Error(log)
	}
}

// An upload that panics costs one line of the log.
func TestAnErrorOfThisProgramDoesNotEndIt(t *testing.T) {
	log := publishFrom(t, t.TempDir(), Options{Timeout: time.Minute}) // no Environment
	if strings.Count(log, "\n") != 1 || !strings.Contains(log, "level=WARN") ||
		!strings.Contains(log, "the local files are complete: runtime error: invalid memory address") {
		t.Error(log)
	}
}

// An upload that nothing ends, such as one that reads from a file system that hangs, is left behind after a grace
// period.
func TestAnUploadThatDoesNotEndIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		hangs := make(chan struct{})
		p := New(Options{})
		p.bench = &progress.Run{Log: func(string) *slog.Logger { return slog.New(slog.NewTextHandler(&log, nil)) }}
		p.cancel, p.limit, p.ended = cancel, ctx.Done(), hangs
		begun := time.Now()
		p.Wait(nil)
		if took := time.Since(begun); took != 30*time.Second+grace || !strings.Contains(log.String(), "it was abandoned") {
			t.Errorf("waited for %s, log %s", took, log.String())
		}
	})
}

func TestEnvironment(t *testing.T) {
	netrc := filepath.Join(t.TempDir(), "netrc")
	text := "# keys\nmachine other login user password no\nmachine api.wandb.ai\n  login user\n  password from-file\n"
	if err := os.WriteFile(netrc, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := ReadEnvironment(lookup(map[string]string{variableNetrc: netrc}))
	if err != nil || e.key != "from-file" || e.app() != hostedApp {
		t.Errorf("%+v %v", e, err)
	}
	if e, err = ReadEnvironment(lookup(map[string]string{variableMode: "disabled"})); err != nil || !e.Disabled {
		t.Errorf("%+v %v", e, err)
	}
	if e, err = ReadEnvironment(lookup(map[string]string{variableMode: "offline"})); err != nil || !e.Offline {
		t.Errorf("%+v %v", e, err)
	}
	for want, values := range map[string]map[string]string{
		"set WANDB_API_KEY":         {variableNetrc: netrc, variableURL: "http://elsewhere"},
		"is not online":             {variableMode: "later", variableKey: testKey},
		"WANDB_BASE_URL h:1":        {variableURL: "h:1", variableKey: testKey},
		"WANDB_API_KEY contains":    {variableKey: "a b"},
		"cannot read the key":       {variableNetrc: filepath.Dir(netrc)},
		"write the address as http": {variableURL: "http://u:pw-9999@h", variableKey: testKey},
	} {
		_, err := ReadEnvironment(lookup(values))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pw-9999") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestNothingIsUploadedWithoutResults(t *testing.T) {
	p := New(Options{})
	p.Begin(&progress.Run{})
	p.End(&progress.Ending{})
	p.Wait(nil)
	if p.ended != nil || !slices.Contains(tags(&progress.Run{Version: "1"}, nil), "aiperf-1") {
		t.Error("an upload began")
	}
}
