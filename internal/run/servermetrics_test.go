package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/config"
	resolver "aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/report/console"
	"aiperf/internal/view/runlog"
)

// scrapeEnv makes scrapes frequent and nothing wait for them.
var scrapeEnv = map[string]string{
	"AIPERF_SERVER_METRICS_COLLECTION_INTERVAL":     "0.005",
	"AIPERF_SERVER_METRICS_COLLECTION_FLUSH_PERIOD": "0",
	"AIPERF_SERVER_METRICS_REACHABILITY_TIMEOUT":    "60",
	"AIPERF_HTTP_METRICS_SCRAPE_READ_TIMEOUT":       "60",
}

// ownEnv has the variables that a test sets beside [scrapeEnv], by its *testing.T.
var ownEnv sync.Map

// setScrapeEnv sets variables of the environment of the runs of one test.
func setScrapeEnv(t *testing.T, variables map[string]string) {
	t.Helper()
	ownEnv.Store(t, variables)
	t.Cleanup(func() { ownEnv.Delete(t) })
}

// watchedRun is a run beside which server metrics were to be collected.
type watchedRun struct {
	dir, lines string
	outcome    *Outcome
}

// watching is the configuration of a benchmark against url with server metrics on.
func watching(t *testing.T, dir, url string, args ...string) *config.Run {
	t.Helper()
	env := maps.Clone(scrapeEnv)
	if own, ok := ownEnv.Load(t); ok {
		maps.Copy(env, own.(map[string]string))
	}
	return watchingIn(t, env, dir, url, args...)
}

// watchingIn is watching with other variables of the environment, which tests that run at once need.
func watchingIn(t *testing.T, env map[string]string, dir, url string, args ...string) *config.Run {
	t.Helper()
	args = append([]string{"--model", "mock-model", "--tokenizer", "builtin", "--url", url, "--ui", "none",
		"--artifact-dir", dir,
		"--isl", "20", "--osl", "4", "--extra-inputs", "ignore_eos:true", "--use-server-token-count"}, args...)
	parsed, err := settings.Parse(args, func(name string) (string, bool) { v, set := env[name]; return v, set })
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := resolver.Resolve(parsed, Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// watch runs a benchmark against url with server metrics on.
func watch(t *testing.T, url string, o Options, args ...string) *watchedRun {
	t.Helper()
	w := watchInto(t, t.TempDir(), url, o, args...)
	w.whole(t)
	return w
}

// whole checks that the run had no problem.
func (w *watchedRun) whole(t *testing.T) {
	t.Helper()
	if w.outcome.Problem != nil || w.outcome.Aborted != nil {
		t.Errorf("problem %v, aborted %v", w.outcome.Problem, w.outcome.Aborted)
	}
}

// watchInto is watch with a directory, where the outcome may have a problem.
func watchInto(t *testing.T, dir, url string, o Options, args ...string) *watchedRun {
	t.Helper()
	return watchConfig(t, watching(t, dir, url, args...), o)
}

// watchConfig runs a benchmark as it is configured.
func watchConfig(t *testing.T, cfg *config.Run, o Options) *watchedRun {
	t.Helper()
	w := &watchedRun{dir: cfg.Artifacts.Dir}
	var lines bytes.Buffer
	var err error
	o.Version, o.Log = "test", runlog.New(runlog.Options{Console: &lines})
	w.outcome, err = Execute(context.Background(), cfg, o)
	o.Log.Close()
	w.lines = lines.String()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.lines)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// avg is the average of a metric of the client.
func (w *watchedRun) avg(t *testing.T, tag string) float64 {
	t.Helper()
	m, found := w.outcome.Result.Find(tag)
	if !found {
		t.Fatalf("no %s", tag)
	}
	return m.Stats.Avg
}

// warnings are the warnings in the log that hold a text.
func (w *watchedRun) warnings(text string) int {
	count := 0
	for line := range strings.Lines(w.lines) {
		if strings.Contains(line, "WARN") && strings.Contains(line, text) {
			count++
		}
	}
	return count
}

// files are the names of the files of the server metrics.
func (w *watchedRun) files(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(w.dir, func(_ string, d fs.DirEntry, err error) error {
		if strings.Contains(d.Name(), "server_metrics") {
			names = append(names, d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// serverExport is what the tests read of server_metrics_export.json.
type serverExport struct {
	Summary struct {
		Configured []string `json:"endpoints_configured"`
		Successful []string `json:"endpoints_successful"`
		Info       map[string]struct {
			Fetches int `json:"total_fetches"`
		} `json:"endpoint_info"`
	} `json:"summary"`
	Metrics map[string]struct {
		Type   string `json:"type"`
		Unit   string `json:"unit"`
		Series []struct {
			EndpointURL string             `json:"endpoint_url"`
			Labels      map[string]string  `json:"labels"`
			Stats       map[string]float64 `json:"stats"`
			Buckets     map[string]float64 `json:"buckets"`
			Timeslices  []map[string]any   `json:"timeslices"`
		} `json:"series"`
	} `json:"metrics"`
}

func (w *watchedRun) export(t *testing.T) *serverExport {
	t.Helper()
	var e serverExport
	if err := json.Unmarshal(fileOf(t, w.dir, "server_metrics_export.json"), &e); err != nil {
		t.Fatal(err)
	}
	return &e
}

// sum adds a statistic over the series of a family.
func (e *serverExport) sum(t *testing.T, family, stat string) float64 {
	t.Helper()
	if len(e.Metrics[family].Series) == 0 {
		t.Fatalf("no series of %s", family)
	}
	total := 0.0
	for _, s := range e.Metrics[family].Series {
		v, found := s.Stats[stat]
		if !found {
			t.Errorf("%s%v has no %s: %v", family, s.Labels, stat, s.Stats)
		}
		total += v
	}
	return total
}

// front stands before a server, counts the requests of each path and answers some of them itself.
type front struct {
	URL string

	mu    sync.Mutex
	count map[string]int
}

// before puts a front in front of a server, which may be "" if all paths are answered.
func before(t *testing.T, behind string, answers map[string]http.HandlerFunc) *front {
	t.Helper()
	target, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport, FlushInterval: -1,
	}
	f := &front{count: map[string]int{}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.count[r.URL.Path]++
		f.mu.Unlock()
		if answer := answers[r.URL.Path]; answer != nil {
			answer(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	f.URL = s.URL
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
	})
	return f
}

// scrapes are the requests of each path that is no inference.
func (f *front) scrapes() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := maps.Clone(f.count)
	maps.DeleteFunc(count, func(path string, _ int) bool { return !strings.HasSuffix(path, "/metrics") })
	return count
}

func page(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, text)
	}
}

func TestServerFiguresAgreeWithTheClients(t *testing.T) {
	t.Parallel()
	for _, warmup := range []int{0, 7} {
		t.Run(fmt.Sprintf("%d warm-up requests", warmup), func(t *testing.T) {
			args := []string{"--streaming", "--concurrency", "4", "--request-count", "40"}
			if warmup > 0 {
				args = append(args, "--warmup-request-count", strconv.Itoa(warmup))
			}
			w := watch(t, serve(t, mockserver.Options{TTFT: 4 * time.Millisecond}), Options{}, args...)
			e := w.export(t)
			requests := w.avg(t, "request_count")
			for _, c := range []struct {
				family, stat string
				want         float64
			}{
				{"vllm:request_success", "total", requests},
				{"vllm:prompt_tokens", "total", w.avg(t, "total_isl")},
				{"vllm:generation_tokens", "total", w.avg(t, "total_osl")},
				{"vllm:e2e_request_latency_seconds", "count", requests},
				{"vllm:time_to_first_token_seconds", "count", requests},
				{"vllm:request_prompt_tokens", "sum", w.avg(t, "total_isl")},
				{"vllm:request_generation_tokens", "sum", w.avg(t, "total_osl")},
				{"vllm:inter_token_latency_seconds", "count", w.avg(t, "total_osl") - requests},
			} {
				if got := e.sum(t, c.family, c.stat); got != c.want {
					t.Errorf("%s: %s %v, the client says %v", c.family, c.stat, got, c.want)
				}
			}
			if requests != 40 {
				t.Errorf("%v requests", requests)
			}
			compareLatencies(t, e, records(t, w.dir), "vllm:time_to_first_token_seconds", "time_to_first_token")
			compareLatencies(t, e, records(t, w.dir), "vllm:e2e_request_latency_seconds", "request_latency")
		})
	}
}

// compareLatencies holds that no more of the client's times than of the server's are within a bound: the client
// waits for each request at least as long as the server works on it.
func compareLatencies(t *testing.T, e *serverExport, records []map[string]any, family, tag string) {
	t.Helper()
	buckets := e.Metrics[family].Series[0].Buckets
	if len(buckets) < 10 {
		t.Fatalf("%s: buckets %v", family, buckets)
	}
	for le, atServer := range buckets {
		bound, err := strconv.ParseFloat(le, 64)
		if err != nil {
			t.Fatal(err)
		}
		atClient := 0.0
		for _, r := range records {
			if at(r, "metrics", tag, "value").(float64) <= bound*1000 {
				atClient++
			}
		}
		if atClient > atServer {
			t.Errorf("%s: %v of the client's requests took at most %s s, %v of the server's", family, atClient, le,
				atServer)
		}
	}
}

func TestServerMetricsOfAnInterruptedRun(t *testing.T) {
	t.Parallel()
	server := serve(t, mockserver.Options{TTFT: time.Millisecond})
	stop := make(chan struct{})
	var once sync.Once
	w := watch(t, server, Options{Stop: stop, Observers: observed(func(s *progress.Snapshot) {
		if s.Records.Successes > 10 {
			once.Do(func() { close(stop) })
		}
	})}, "--streaming", "--concurrency", "3", "--request-count", "100000", "--warmup-request-count", "5")
	if !w.outcome.Result.WasCancelled {
		t.Fatal("the run was not interrupted")
	}
	c := w.outcome.Result.Counts
	// A request that was cut off may have been finished at the server, or not have reached it.
	if got := int64(w.export(t).sum(t, "vllm:request_success", "total")); got < c.Successes || got > c.Sent {
		t.Errorf("%d requests at the server, the client has %d successes of %d sent", got, c.Successes, c.Sent)
	}
}

func TestMetricsEndpointThatDiesHurtsNobody(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	dying := before(t, "", map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter, r *http.Request) {
		if served.Add(1) > 4 {
			panic(http.ErrAbortHandler)
		}
		page("# TYPE dying gauge\ndying 1\n")(w, r)
	}})
	w := watch(t, serve(t, mockserver.Options{TTFT: time.Millisecond}), Options{}, "--concurrency", "2",
		"--request-count", "60", "--server-metrics", dying.URL)
	if c := w.outcome.Result.Counts; c.Successes != 60 || c.Errors != 0 {
		t.Errorf("counts %+v", c)
	}
	e := w.export(t)
	if got := e.sum(t, "vllm:request_success", "total"); got != 60 {
		t.Errorf("%v requests at the server, want 60", got)
	}
	if info := e.Summary.Info[dying.URL+"/metrics"]; info.Fetches != 3 { // the probe is none
		t.Errorf("%d fetches before the endpoint died, want 3: %v", info.Fetches, e.Summary.Info)
	}
	if len(e.Summary.Successful) != 2 {
		t.Errorf("endpoints_successful %v", e.Summary.Successful)
	}
	if got := w.warnings("scraping " + dying.URL + "/metrics failed"); got != 1 {
		t.Errorf("%d warnings of %s, want 1", got, dying.URL)
	}
}

func TestPageThatIsNoMetricsIsOneWarning(t *testing.T) {
	t.Parallel()
	f := before(t, serve(t, mockserver.Options{MetricsFault: "html"}), nil)
	w := watch(t, f.URL, Options{}, "--concurrency", "2", "--request-count", "20", "--server-metrics-formats",
		"json,csv,jsonl,parquet")
	if c := w.outcome.Result.Counts; c.Successes != 20 {
		t.Errorf("counts %+v", c)
	}
	if all, want := w.warnings("erver metrics"), w.warnings("pass --no-server-metrics"); all != 1 || want != 1 {
		t.Errorf("%d warnings of server metrics, %d that they are disabled; want 1", all, want)
	}
	if files := w.files(t); len(files) != 0 {
		t.Errorf("files %v, want none", files)
	}
}

func TestTrapJSONAtMetricsIsAskedForOnce(t *testing.T) {
	t.Parallel()
	f := before(t, serve(t, mockserver.Options{}), map[string]http.HandlerFunc{
		"/metrics": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "[]")
		},
		"/prometheus/metrics": http.NotFound,
	})
	w := watch(t, f.URL, Options{}, "--concurrency", "2", "--request-count", "20")
	if got := fmt.Sprint(f.scrapes()); got != "map[/metrics:2 /prometheus/metrics:1]" {
		t.Errorf("requests %s, want the probe and one to each path", got)
	}
	if all, want := w.warnings("erver metrics"), w.warnings("return_perf_metrics: true"); all != 1 || want != 1 {
		t.Errorf("%d warnings of server metrics, %d with the advice; want 1", all, want)
	}
	if files := w.files(t); len(files) != 0 {
		t.Errorf("files %v, want none", files)
	}
}

func TestFallbackPathOfTensorRTLLM(t *testing.T) {
	t.Parallel()
	server := serve(t, mockserver.Options{Backend: "trtllm"})
	w := watch(t, server, Options{}, "--streaming", "--concurrency", "2", "--request-count", "20",
		"--warmup-request-count", "3", "--server-metrics")
	e := w.export(t)
	if got := e.sum(t, "trtllm_request_success", "total"); got != 20 {
		t.Errorf("%v requests at the server, want 20", got)
	}
	for name, m := range e.Metrics {
		for _, s := range m.Series {
			if s.EndpointURL != server+"/prometheus/metrics" {
				t.Fatalf("%s is of %s", name, s.EndpointURL)
			}
		}
	}
	if got := e.Summary.Successful; !slices.Equal(got, []string{server + "/prometheus/metrics"}) {
		t.Errorf("endpoints_successful %v", got)
	}
	if got := e.Summary.Configured; !slices.Equal(got, []string{server + "/metrics"}) {
		t.Errorf("endpoints_configured %v", got)
	}
	if got := w.warnings("Disabling"); got != 0 {
		t.Errorf("%d warnings that server metrics are disabled", got)
	}
}

func TestNoServerMetricsAsksForNothing(t *testing.T) {
	t.Parallel()
	f := before(t, serve(t, mockserver.Options{}), nil)
	w := watch(t, f.URL, Options{}, "--concurrency", "2", "--request-count", "5", "--no-server-metrics")
	if got := f.scrapes(); len(got) != 0 {
		t.Errorf("requests %v", got)
	}
	if files := w.files(t); len(files) != 0 {
		t.Errorf("files %v", files)
	}
	if strings.Contains(strings.ToLower(w.lines), "server metrics") {
		t.Error("the log speaks of server metrics")
	}
}

func TestUnreachableMetricsWriteNothing(t *testing.T) {
	t.Parallel()
	f := before(t, serve(t, mockserver.Options{}), map[string]http.HandlerFunc{"/metrics": http.NotFound})
	w := watch(t, f.URL, Options{}, "--concurrency", "2", "--request-count", "5")
	if got := fmt.Sprint(f.scrapes()); got != "map[/metrics:1]" {
		t.Errorf("requests %s, want the probe", got)
	}
	if !strings.Contains(w.lines, "Server metrics disabled - no Prometheus endpoints reachable") {
		t.Error("the log does not say that server metrics are disabled")
	}
	if files := w.files(t); len(files) != 0 {
		t.Errorf("files %v", files)
	}
}

func TestKnownServerWithoutAPageIsAWarning(t *testing.T) {
	t.Parallel()
	for owner, remedy := range map[string]string{"sglang": "start it with --enable-metrics", "somebody": ""} {
		models := func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"object":"list","data":[{"id":"m","owned_by":%q}]}`, owner)
		}
		f := before(t, serve(t, mockserver.Options{}),
			map[string]http.HandlerFunc{"/metrics": http.NotFound, "/v1/models": models})
		w := watch(t, f.URL, Options{}, "--concurrency", "2", "--request-count", "5")
		if got := w.warnings("publishes metrics, but no page was found"); got != min(1, len(remedy)) {
			t.Errorf("%s: %d warnings", owner, got)
		}
		if !strings.Contains(w.lines, remedy) {
			t.Errorf("%s: no word of %q", owner, remedy)
		}
	}
}

func TestServerMetricsFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"default", nil, []string{"server_metrics_export.csv", "server_metrics_export.json",
			"server_metrics_export.parquet"}},
		{"one", []string{"--server-metrics-formats", "csv"}, []string{"server_metrics_export.csv"}},
		{"all", []string{"--server-metrics-formats", "json,JSONL", "csv", "parquet"},
			[]string{"server_metrics_export.csv", "server_metrics_export.json",
				"server_metrics_export.jsonl", "server_metrics_export.parquet", "server_metrics_recording.json"}},
		{"prefix", []string{"--profile-export-prefix", "mine.json", "--server-metrics-formats",
			"json,jsonl,csv,parquet"}, []string{"mine_server_metrics.csv",
			"mine_server_metrics.json", "mine_server_metrics.jsonl", "mine_server_metrics.parquet",
			"mine_server_metrics_recording.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := watch(t, serve(t, mockserver.Options{}), Options{},
				append([]string{"--concurrency", "2", "--request-count", "5"}, c.args...)...)
			files := w.files(t)
			slices.Sort(files)
			if !slices.Equal(files, c.want) {
				t.Errorf("files %v, want %v", files, c.want)
			}
		})
	}
}

func TestEveryScrapeStandsInTheRecording(t *testing.T) {
	t.Parallel()
	w := watch(t, serve(t, mockserver.Options{TTFT: time.Millisecond}), Options{}, "--concurrency", "2",
		"--request-count", "40", "--warmup-request-count", "20",
		"--server-metrics-formats", "json,jsonl", "--slice-duration", "0.02")
	lines := bytes.Count(fileOf(t, w.dir, "server_metrics_export.jsonl"), []byte("\n"))
	e := w.export(t)
	for _, info := range e.Summary.Info {
		if info.Fetches != lines || lines < 4 { // baseline, first of the schedule, boundary, final
			t.Errorf("%d lines, total_fetches %d", lines, info.Fetches)
		}
	}
	if s := e.Metrics["vllm:generation_tokens"].Series[0]; len(s.Timeslices) == 0 {
		t.Errorf("no timeslices: %+v", s)
	}
}

func TestRecordingThatCannotBeOpenedIsAProblemOfTheOutcome(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"server_metrics_export.jsonl", "server_metrics_recording.json"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			metrics := page("# TYPE temperature gauge\ntemperature 20\n")
			f := before(t, serve(t, mockserver.Options{}),
				map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter, r *http.Request) {
					// The first request is that of the probe, after the files of earlier runs were removed.
					if err := os.MkdirAll(filepath.Join(dir, name, "in the way"), 0o777); err != nil {
						t.Error(err)
					}
					metrics(w, r)
				}})
			w := watchInto(t, dir, f.URL, Options{}, "--concurrency", "2", "--request-count", "5",
				"--server-metrics-formats", "json,jsonl")
			if err := w.outcome.Problem; err == nil || !strings.Contains(err.Error(), name) ||
				w.outcome.Aborted != nil {
				t.Errorf("problem %v, aborted %v", err, w.outcome.Aborted)
			}
			if strings.Count(w.lines, "ERROR") != 1 || !strings.Contains(w.lines, "cannot be recorded") ||
				strings.Contains(w.lines, "JSONL export enabled") {
				t.Errorf("log:\n%s", w.lines)
			}
			if e, n := w.export(t), w.avg(t, "request_count"); e.Summary.Info[f.URL+"/metrics"].Fetches < 3 || n != 5 {
				t.Errorf("the run did not go on: %v requests, endpoints %v", n, e.Summary.Info)
			}
			if info, err := os.Stat(filepath.Join(dir, "server_metrics_export.jsonl")); err == nil && !info.IsDir() {
				t.Error("a file for lines that never come")
			}
		})
	}
}

func TestConsoleShowsServerMetricsWhenTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	server := serve(t, mockserver.Options{})
	for _, c := range []struct {
		args []string
		want bool
	}{{nil, false}, {[]string{"--server-metrics"}, true}} {
		w := watch(t, server, Options{}, append([]string{"--concurrency", "2", "--request-count", "5"}, c.args...)...)
		var screen bytes.Buffer
		if err := console.Render(&screen, &w.outcome.Result, w.outcome.Console); err != nil {
			t.Fatal(err)
		}
		file := string(fileOf(t, w.dir, "profile_export_console.txt"))
		for where, text := range map[string]string{"console": screen.String(), "file": file} {
			if got := strings.Contains(text, "num_requests_running"); got != c.want {
				t.Errorf("%v: table on the %s: %t, want %t", c.args, where, got, c.want)
			}
		}
	}
}

func TestConsoleNamesTheServerMetricsFiles(t *testing.T) {
	t.Parallel()
	w := watch(t, serve(t, mockserver.Options{}), Options{}, "--concurrency", "2", "--request-count", "5",
		"--server-metrics-formats", "json,csv,jsonl,parquet")
	var screen bytes.Buffer
	if err := console.Render(&screen, &w.outcome.Result, w.outcome.Console); err != nil {
		t.Fatal(err)
	}
	for text, where := range map[string]string{
		"Server Metrics JSON Export: ": screen.String(), "Server Metrics CSV Export: ": screen.String(),
		"Exported server metrics to Parquet: ": w.lines, "Server metrics JSONL export enabled: ": w.lines,
	} {
		if !strings.Contains(where, text) {
			t.Errorf("nowhere %q in:\n%s", text, where)
		}
	}
}

// The counter stands at 100 until the load comes, and then starts again from 0.
func TestTrapCounterResetDoesNotGoBelowZero(t *testing.T) {
	t.Parallel()
	server := serve(t, mockserver.Options{})
	var requests atomic.Int32
	count := func(w http.ResponseWriter, r *http.Request) {
		value := int32(100)
		if n := requests.Load(); n > 0 {
			value = n
		}
		page(fmt.Sprintf("# TYPE jobs_total counter\njobs_total %d\n# TYPE temperature gauge\ntemperature 20\n",
			value))(w, r)
	}
	behind, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }, Transport: transport}
	f := before(t, server, map[string]http.HandlerFunc{
		"/metrics":             count,
		"/v1/chat/completions": func(w http.ResponseWriter, r *http.Request) { requests.Add(1); proxy.ServeHTTP(w, r) },
	})
	w := watch(t, f.URL, Options{}, "--concurrency", "1", "--request-count", "10")
	e := w.export(t)
	if s := e.Metrics["jobs"].Series[0].Stats; s["total"] != 0 || s["rate"] != 0 {
		t.Errorf("stats %v", s)
	}
	if got := w.warnings("counter jobs at"); got != 1 {
		t.Errorf("%d warnings of the reset, want 1", got)
	}
	if s := e.Metrics["temperature"].Series[0].Stats; s["avg"] != 20 || s["std"] != 0 {
		t.Errorf("stats %v", s)
	}
}

func TestRunWithoutResultsKeepsTheRecordingOnly(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	var once sync.Once
	f := before(t, "", map[string]http.HandlerFunc{
		"/metrics":             page("# TYPE temperature gauge\ntemperature 20\n"),
		"/v1/chat/completions": func(http.ResponseWriter, *http.Request) { once.Do(func() { close(stop) }) },
	})
	dir := t.TempDir()
	_, err := execute(t, watching(t, dir, f.URL, "--warmup-duration", "100", "--concurrency", "2", "--request-count",
		"5",
		"--server-metrics-formats", "json,jsonl"), Options{Stop: stop})
	var none *NoResultsError
	if !errors.As(err, &none) {
		t.Fatalf("error %v, want a NoResultsError", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "server_metrics_export.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("server metrics of a run without a request: %v", err)
	}
	var recording struct{ Complete bool }
	if err := json.Unmarshal(fileOf(t, dir, "server_metrics_recording.json"), &recording); err != nil ||
		!recording.Complete {
		t.Errorf("the recording was not ended: %+v, %v", recording, err)
	}
	if lines := bytes.Count(fileOf(t, dir, "server_metrics_export.jsonl"),
		[]byte(`"temperature":[{"value":20.0}]`)); lines < 1 {
		t.Errorf("%d lines in the recording", lines)
	}
}

// The mock server knows nothing of SGLang: another exporter stands for one.
func TestConsoleShowsSpeculativeDecoding(t *testing.T) {
	t.Parallel()
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# TYPE sglang:spec_accept_rate "+
			"gauge\nsglang:spec_accept_rate{model_name=\"Mock-Model\",tp_rank=\"0\"} 0.625\n"+
			"# TYPE sglang:spec_accept_length "+
			"gauge\nsglang:spec_accept_length{model_name=\"Mock-Model\",tp_rank=\"0\"} 3.125\n"+
			"sglang:spec_accept_length{model_name=\"another\",tp_rank=\"0\"} 9\n")
	}))
	t.Cleanup(exporter.Close)
	w := watch(t, serve(t, mockserver.Options{}), Options{}, "--concurrency", "2", "--request-count", "5",
		"--server-metrics", exporter.URL)
	screen := string(fileOf(t, w.dir, "profile_export_console.txt"))
	for _, want := range []string{
		"AIPerf | Server Metrics: Speculative Decoding\n", "│ Accept Rate (%) │ 62.5 │ 62.5 │ 62.5 │ 62.5 │ 62.5 │\n",
		"│   Accept Length │ 3.12 │",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing in\n%s", want, screen)
		}
	}
	state := strings.Join(strings.Fields(string(fileOf(t, w.dir, "run_state.json"))), " ")
	if !strings.Contains(state, `"label": "Accept Length", "mean": 3.125`) {
		t.Error("the state lacks the table, so that no report can show it again")
	}
}
