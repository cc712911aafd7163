package mlflow

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
)

func finish(tr *tracker, e *progress.Ending) {
	tr.end(e)
	tr.wait(nil)
}

func exported(t *testing.T, o *publication) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(o.run.Dir, o.Export))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestARunIsTracked(t *testing.T) {
	t.Parallel()
	f, u := newFake(t)
	o, log := testOptions(t, u)
	o.ParentRunID = "parent"
	tr := newTracker(o.Options, o.run)
	warmup := sampleRecord(1e9)
	warmup.Phase = record.PhaseWarmup
	tr.live.record(warmup)
	tr.live.record(sampleRecord(20e6))
	tr.live.record(sampleRecord(40e6))
	tr.live.show([]progress.Phase{{Kind: record.PhaseProfiling, Name: "profiling", RequestsSent: 3, Elapsed: 2e9}}, nil)
	all := batch{}
	eventually(t, "live scalar", func() bool {
		all = f.all()
		return len(all.history(
			"live.gen_ai.client.operation.duration")) > 0
	})
	e := results(t)
	e.Last.Phases[0].RequestsSent, e.Last.Phases[0].Elapsed = 3, 2e9
	finish(tr, e)

	all = f.all()
	if got := all.history("live.gen_ai.client.operation.duration"); len(got) != 1 || math.Abs(got[0]-0.03) > 1e-12 {
		t.Errorf("live latency %v", got)
	}
	for key, want := range map[string]float64{
		"live.aiperf.timing.requests.sent.profiling": 3, "live.aiperf.request_count": 2,
		"live.gen_ai.client.token.usage.input": 50,
		"request_latency":                      5.5, "request_latency.p50": 5.5, "request_latency.min": 1,
		"request_latency.max": 10, "request_latency.count": 10, "request_latency.sum": 55,
		"request_count": 10, "system/http_req_duration": 5.5, "system/usage_prompt_tokens": 50,
		"aiperf.completed_requests": 10, "aiperf.total_expected_requests": 12,
	} {
		if got := all.history(key); len(got) != 1 || math.Abs(got[0]-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	for _, p := range all.Metrics {
		if strings.HasPrefix(p.Key, "live.aiperf.timing.requests.errors") || p.Key == "request_count.count" {
			t.Errorf("%s is there", p.Key)
		}
	}
	if !slices.Equal(all.Params, []Entry{{"endpoint.type", "chat"}, {"output.artifact_directory", o.run.Dir}}) {
		t.Errorf("parameters %v", all.Params)
	}
	tags, _ := json.Marshal(f.created["tags"])
	for _, want := range []string{`"mlflow.parentRunId","value":"parent"`, `"mlflow.runName","value":"aiperf-01234567"`,
		`"team","value":"perf"`, `"benchmark_id","value":"0123456789"`} {
		if !strings.Contains(string(tags), want) {
			t.Errorf("no %s in %s", want, tags)
		}
	}
	want := []string{
		"exports/empty.json", "exports/profile_export_aiperf.json", "exports/profile_export_aiperf.csv",
		"exports/profile_export.jsonl",
		"plots/sub/plot.png", "plots/a b.svg", "plots/report.html", "exports/mlflow_export.json",
	}
	if !slices.Equal(f.order, want) {
		t.Errorf("files\n%q, want\n%q", f.order, want)
	}
	if f.ended["status"] != "FINISHED" || f.ended["end_time"] == nil {
		t.Errorf("ended %v", f.ended)
	}
	m := exported(t, &o)
	if m["reused_live_run"] != true || m["live_streaming"] != true || m["parent_run_id"] != "parent" ||
		len(m["uploaded_artifacts"].([]any)) != len(want) {
		t.Errorf("mlflow_export.json %v", m)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "..", "docs", "schemas",
		"mlflow_export.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(any(m)); err != nil {
		t.Error(err)
	}
	if w := log.warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
}

func TestBatchesKeepTheLimits(t *testing.T) {
	t.Parallel()
	f, u := newFake(t)
	o, _ := testOptions(t, u)
	s := newServer(u, o.Environment, "1", o.Redactor.Text)
	points, params, tags := make([]point, 2500), make([]Entry, 150), make([]Entry, 120)
	if p := s.logBatch(context.Background(), "r1", points, params, tags); p != nil {
		t.Fatal(p)
	}
	all := f.all()
	if len(f.batches) != 3 || len(all.Metrics) != 2500 || len(all.Params) != 150 || len(all.Tags) != 120 {
		t.Errorf("%d batches, %d, %d, %d", len(f.batches), len(all.Metrics), len(all.Params), len(all.Tags))
	}
}

func TestLongValuesAreCut(t *testing.T) {
	t.Parallel()
	list := []Entry{{"a", strings.Repeat("ü", 7000)}, {strings.Repeat("k", 251), "x"}, {"b", "short"}}
	got := fit(list, maxParamValue)
	if len(got) != 2 || len([]rune(got[0].Value)) != maxParamValue || !strings.HasSuffix(got[0].Value, "ü…") ||
		got[1].Value != "short" {
		t.Errorf("%d entries", len(got))
	}
}

func TestHowARunEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*progress.Ending)
		want   string
		files  bool
	}{
		"complete":            {func(*progress.Ending) {}, "FINISHED", true},
		"cancelled":           {func(e *progress.Ending) { e.Cancelled = true }, "KILLED", true},
		"failed with results": {func(e *progress.Ending) { e.Failed = true }, "FAILED", true},
		"without results":     {func(e *progress.Ending) { e.HasResults = false }, "FAILED", false},
		"cancelled, without results": {func(e *progress.Ending) { e.HasResults, e.Cancelled = false, true }, "KILLED",
			false},
	} {
		t.Run(name, func(t *testing.T) {
			f, u := newFake(t)
			o, log := testOptions(t, u)
			tr := newTracker(o.Options, o.run)
			eventually(t, "run", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.created != nil })
			e := results(t)
			c.change(e)
			finish(tr, e)
			if f.ended["status"] != c.want || (len(f.files) > 0) != c.files || len(log.warnings()) > 0 {
				t.Errorf("%v, %d files, %q", f.ended, len(f.files), log.warnings())
			}
		})
	}
}

// on answers requests whose path ends in a text.
func on(end string, answer http.HandlerFunc) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasSuffix(r.URL.Path, end) {
			return false
		}
		answer(w, r)
		return true
	}
}

func answerStatus(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { reject(w, code, "SOME_ERROR", "for a reason") }
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestEachFaultIsOneLine(t *testing.T) {
	t.Parallel()
	deadline := func(o *Options) { o.Timeout = 300 * time.Millisecond }
	distant := func(o *Options) { o.Timeout = time.Hour }
	for name, c := range map[string]struct {
		before func(http.ResponseWriter, *http.Request, int) bool
		change func(*fake)
		option func(*Options)
		// hangs is the end of the path of a request that is not answered; the time limit passes during the upload,
		// while such a request waits.
		hangs string
		want  string
		// uploaded reports that mlflow_export.json is new all the same.
		uploaded bool
	}{
		"no credentials": {before: on("", answerStatus(401)),
			want: "answered 401 Unauthorized: for a reason; check MLFLOW_TRACKING_USERNAME and " +
				"MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN; nothing is uploaded in this run"},
		"forbidden": {before: on("runs/create", answerStatus(403)),
			want: "answered 403 Forbidden: for a reason; check MLFLOW"},
		"broken": {before: on("", answerStatus(500)),
			want: "answered 500 Internal Server Error: for a reason; nothing was uploaded"},
		"hangs": {before: on("", hang), option: deadline,
			want: "took longer than 0.3 s (AIPERF_MLFLOW_EXPORT_TIMEOUT_SECONDS); nothing was uploaded"},
		"hangs at the end": {hangs: "runs/log-batch", option: distant,
			want: "took longer than 3600 s (AIPERF_MLFLOW_EXPORT_TIMEOUT_SECONDS); the results were not uploaded"},
		"no MLflow": {before: on("", func(w http.ResponseWriter, _ *http.Request) {
			_,
				_ = io.WriteString(w, "<html>")
		}),
			want: "answered without valid JSON of this API; check the address; nothing is uploaded"},
		"other JSON": {before: on("", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }),
			want: "is this an MLflow server?"},
		"redirect": {before: on("", answerStatus(302)),
			want: "redirects are not followed: use the address that it points to"},
		"deleted experiment": {before: on("get-by-name", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"experiment": {"experiment_id": "7", "lifecycle_stage": "deleted"}}`)
		}), want: "has deleted the experiment aiperf; restore it or use another --mlflow-experiment"},
		"deleted run": {change: func(f *fake) { f.deleted = true },
			want: "no longer has the run r1: it was deleted; nothing is uploaded in this run"},
		"one file refused": {before: on("profile_export.jsonl", answerStatus(507)), uploaded: true,
			want: "answered 507 Insufficient Storage: for a reason; 1 of 8 files were not uploaded, " +
				"profile_export.jsonl first; metrics, parameters and tags were"},
		"all files refused": {before: func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if r.Method == http.MethodPut {
				answerStatus(403)(w, r)
			}
			return r.Method == http.MethodPut
		}, uploaded: true, want: "8 of 8 files were not uploaded, empty.json first"},
		"files hang": {hangs: "profile_export.jsonl", option: distant, uploaded: true,
			want: "took longer than 3600 s (AIPERF_MLFLOW_EXPORT_TIMEOUT_SECONDS); 4 of 7 files were not uploaded"},
		"store of its own": {change: func(f *fake) { f.artifactURI = "s3://bucket/x" }, uploaded: true,
			want: "keeps files in a store of its own (s3) that only MLflow's client writes to; metrics, parameters " +
				"and tags were uploaded, files were not"},
		"cannot be ended": {before: on("runs/update", answerStatus(400)), uploaded: true,
			want: "answered 400 Bad Request: for a reason; the run was uploaded, but is not marked as ended"},
		"parent is missing": {option: func(o *Options) { o.ParentRunID = "nobody" }, uploaded: true,
			want: "has no run nobody; the run is created without a parent (--mlflow-parent-run-id)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, u := newFake(t)
			f.before = c.before
			if c.change != nil {
				c.change(f)
			}
			o, log := testOptions(t, u)
			o.URI.User = url.UserPassword("joe", "pw-5555-z")
			if c.option != nil {
				c.option(&o.Options)
			}
			reached := make(chan struct{}, 1)
			if c.hangs != "" {
				f.before = on(c.hangs, func(w http.ResponseWriter, r *http.Request) {
					select {
					case reached <- struct{}{}:
					default:
					}
					hang(w, r)
				})
			}
			tr := newTracker(o.Options, o.run)
			if c.hangs != "" {
				go func() {
					<-tr.finishing
					<-reached
					tr.cancel() // as the timer of the limit does
				}()
			}
			tr.live.record(sampleRecord(20e6))
			if strings.Contains(c.want, "is uploaded") { // by what the tracker does while the run goes on
				eventually(t, "warning", func() bool { return len(log.warnings()) > 0 })
			} else {
				time.Sleep(30 * time.Millisecond) // some ticks
			}
			finish(tr, results(t))
			w := log.warnings()
			if len(w) != 1 || !strings.Contains(w[0], c.want) || !strings.Contains(w[0], address(u)) {
				t.Errorf("warnings %q\nwant %s\nlog %s", w, c.want, log)
			}
			if strings.Contains(log.String(), "pw-5555-z") {
				t.Errorf("the password is in the log: %s", log)
			}
			data, _ := os.ReadFile(filepath.Join(o.run.Dir, o.Export))
			if (string(data) != "old") != c.uploaded || strings.Contains(string(data), "pw-5555-z") {
				t.Errorf("mlflow_export.json: %.60s", data)
			}
		})
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	u := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	o, log := testOptions(t, u)
	finish(newTracker(o.Options, o.run), results(t))
	if w := log.warnings(); len(w) != 1 ||
		!strings.Contains(w[0], "cannot be reached: connection refused; nothing was uploaded") {
		t.Errorf("warnings %q", w)
	}
}

func TestTLSWithoutAuthority(t *testing.T) {
	t.Parallel()
	f, _ := newFake(t)
	s := newTLS(t, f)
	o, log := testOptions(t, s)
	tr := newTracker(o.Options, o.run)
	eventually(t, "warning", func() bool { return len(log.warnings()) > 0 })
	finish(tr, results(t))
	if w := log.warnings(); len(w) != 1 ||
		!strings.Contains(w[0], "set MLFLOW_TRACKING_SERVER_CERT_PATH to the file of its certificate authority, "+
			"or MLFLOW_TRACKING_INSECURE_TLS to true") {
		t.Errorf("warnings %q", w)
	}
	var err error
	if o.Environment, err = ReadEnvironment(variables(map[string]string{"MLFLOW_TRACKING_INSECURE_TLS": "true",
		"MLFLOW_TRACKING_TOKEN": "tok-6666"})); err != nil {
		t.Fatal(err)
	}
	finish(newTracker(o.Options, o.run), results(t))
	if f.ended["status"] != "FINISHED" || !f.auth["Bearer tok-6666"] || len(f.auth) != 1 {
		t.Errorf("ended %v, asked as %v", f.ended, f.auth)
	}
}

func TestAServerThatComesBackGetsEverything(t *testing.T) {
	t.Parallel()
	f, u := newFake(t)
	down := make(chan struct{})
	f.before = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		select {
		case <-down:
			return false
		default:
			answerStatus(503)(w, r)
			return true
		}
	}
	o, log := testOptions(t, u)
	tr := newTracker(o.Options, o.run)
	eventually(t, "line", func() bool {
		return strings.Contains(log.String(), "answered 503 Service Unavailable: for a reason; retrying")
	})
	tr.live.record(sampleRecord(20e6))
	close(down)
	finish(tr, results(t))
	all := f.all()
	if got := all.history("live.gen_ai.client.operation.duration"); !slices.Equal(got, []float64{0.02}) ||
		f.ended["status"] != "FINISHED" || len(log.warnings()) > 0 {
		t.Errorf("live %v, ended %v, warnings %q", got, f.ended, log.warnings())
	}
	if n := strings.Count(log.String(), "retrying"); n != 1 {
		t.Errorf("told %d times:\n%s", n, log)
	}
}

func TestStoppingGivesTheUploadUp(t *testing.T) {
	t.Parallel()
	f, u := newFake(t)
	f.before = on("runs/log-batch", hang)
	o, log := testOptions(t, u)
	tr := newTracker(o.Options, o.run)
	tr.end(results(t))
	stop := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { close(stop) })
	tr.wait(stop)
	if w := log.warnings(); len(w) != 1 {
		t.Errorf("warnings %q", w)
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	plain, user := &url.URL{Scheme: "http", Host: "h"},
		&url.URL{Scheme: "http", Host: "h", User: url.UserPassword("u", "p")}
	for _, c := range []struct {
		variables map[string]string
		u         *url.URL
		want      string
	}{
		{nil, plain, ""},
		{map[string]string{"MLFLOW_TRACKING_TOKEN": "t"}, plain, "Bearer t"},
		{map[string]string{"MLFLOW_TRACKING_TOKEN": "t", "MLFLOW_TRACKING_USERNAME": "a",
			"MLFLOW_TRACKING_PASSWORD": "b"}, plain, "Basic YTpi"},
		{map[string]string{"MLFLOW_TRACKING_TOKEN": "t"}, user, "Basic dTpw"},
	} {
		e, err := ReadEnvironment(variables(c.variables))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.authorization(c.u); got != c.want {
			t.Errorf("%v: %q, want %q", c.variables, got, c.want)
		}
	}
}

func TestEnvironmentThatIsWrong(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, v := range []map[string]string{
		{"MLFLOW_TRACKING_INSECURE_TLS": "maybe"},
		{"MLFLOW_TRACKING_SERVER_CERT_PATH": empty},
		{"MLFLOW_TRACKING_SERVER_CERT_PATH": empty + ".none"},
		{"MLFLOW_TRACKING_CLIENT_CERT_PATH": empty},
		{"MLFLOW_TRACKING_SERVER_CERT_PATH": empty, "MLFLOW_TRACKING_INSECURE_TLS": "true"},
		{"MLFLOW_TRACKING_PASSWORD": "s3cret"},
		{"MLFLOW_TRACKING_TOKEN": "s3cret\nx"},
	} {
		_, err := ReadEnvironment(variables(v))
		if err == nil || !strings.Contains(err.Error(), "environment variable") ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: %v", v, err)
		}
	}
}

func TestWhereFilesGo(t *testing.T) {
	t.Parallel()
	s := &server{base: "http://h:1/x"}
	for uri, want := range map[string]string{
		"mlflow-artifacts:/7/r/artifacts":                                "http://h:1/x/api/2.0/mlflow-artifacts/artifacts/7/r/artifacts",
		"mlflow-artifacts://other:2/7/a b":                               "http://other:2/api/2.0/mlflow-artifacts/artifacts/7/a%20b",
		"https://o/api/2.0/mlflow-artifacts/artifacts/7/r/artifacts":     "https://o/api/2.0/mlflow-artifacts/artifacts/7/r/artifacts",
		"https://u:p@o/api/2.0/mlflow-artifacts/artifacts/7/r/artifacts": "https://o/api/2.0/mlflow-artifacts/artifacts/7/r/artifacts",
		"s3://bucket/7": "", "file:///x": "", "/x/mlruns": "", "https://elsewhere/x": "", "%zz": "",
	} {
		if got := s.artifactRoot(uri); got != want {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
}

func variables(m map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func TestFilesOfPhasesAreUploadedByDefault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"phase_manifest.json", "phases/warmup/server_metrics.json",
		"phases/profiling/mine.csv", "logs/aiperf.log", "deep/er/other.json"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := upload.Find(dir, upload.Patterns(""))
	if want := []string{"phase_manifest.json", "phases/warmup/server_metrics.json",
		"phases/profiling/mine.csv"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestParametersOfARun(t *testing.T) {
	t.Parallel()
	concurrency, requests, duration := 8, int64(1e6), 90*time.Second
	tr := &tracker{o: Options{Redactor: artifact.NewRedactor("key-1234")}, bench: &progress.Run{
		EndpointType: "chat", Models: []string{"a", "b"}, BaseURLs: []string{"http://h:1"}, Dir: t.TempDir(),
		Command: "aiperf profile --api-key key-1234",
		Phases: []progress.Plan{{Kind: record.PhaseWarmup, Type: "concurrency", Requests: new(int64)},
			{Kind: record.PhaseProfiling, Type: "poisson", Concurrency: &concurrency, Requests: &requests,
				Duration: &duration, Rate: 2.5}},
	}}
	got := tr.params()
	want := []Entry{{"endpoint.type", "chat"}, {"endpoint.models", "a,b"}, {"endpoint.urls", "http://h:1"},
		{"timing.mode", "poisson"}, {"output.artifact_directory", tr.bench.Dir}, {"loadgen.concurrency", "8"},
		{"loadgen.request_rate", "2.5"}, {"loadgen.request_count", "1000000"},
		{"loadgen.benchmark_duration", "90.0"}, {"aiperf.cli_command", "aiperf profile --api-key <redacted>"}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNamesOfRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ own, label, want string }{
		{"", "", "aiperf-01234567"}, {"", "run_0001", "aiperf-01234567"}, {"mine", "", "mine"},
		{"mine", "run_0001", "mine-run_0001"},
	} {
		if got := (&progress.Run{BenchmarkID: "0123456789", Label: c.label}).UploadName(c.own); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.own, c.label, got, c.want)
		}
	}
}

// The runs of a series are tracked one after the other; one that fails before its first request is not waited for.
func TestRunsOfASeries(t *testing.T) {
	t.Parallel()
	f, u := newFake(t)
	o, log := testOptions(t, u)
	p := New(o.Options)
	for _, label := range []string{"run_0001", "run_0002"} {
		o.run.Label = label
		p.Begin(o.run)
		p.Record(sampleRecord(20e6))
		p.Show(results(t).Last)
		p.End(results(t))
		p.Wait(nil)
		tags, _ := json.Marshal(f.created["tags"])
		if !strings.Contains(string(tags), `"aiperf.run_label","value":"`+label) || f.ended["status"] != "FINISHED" {
			t.Errorf("%s: tags %s, ended %v", label, tags, f.ended)
		}
	}
	p.Wait(nil)
	if w := log.warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
}
