package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/mockserver"
	"aiperf/internal/result/recompute"
	"aiperf/internal/watch/servermetrics"
)

// compared is a run of 40 requests whose tokens the client counts too.
func compared(t *testing.T, url string, args ...string) *watchedRun {
	t.Helper()
	cfg := watching(t, t.TempDir(), url, append([]string{"--streaming", "--request-count", "40"}, args...)...)
	cfg.Endpoint.UseServerTokenCount = false
	w := watchConfig(t, cfg, Options{})
	if w.outcome.Problem != nil || w.outcome.Aborted != nil {
		t.Errorf("problem %v, aborted %v", w.outcome.Problem, w.outcome.Aborted)
	}
	return w
}

// reconciled is the comparison of a run with its findings; it fails the test where there is none.
func (w *watchedRun) reconciled(t *testing.T) *servermetrics.Reconciliation {
	t.Helper()
	r := w.outcome.Result.Reconciliation
	if r == nil {
		t.Fatal("there is no comparison with the server's totals")
	}
	return r
}

// shown is how often the report has a line with the comparison, and whether that is a finding.
func (w *watchedRun) shown() (lines int, finding bool) {
	for _, note := range w.outcome.Console.Notes {
		if strings.HasPrefix(note, "Server: ") || strings.HasPrefix(note, "Run: the server") {
			lines++
		}
	}
	for _, r := range w.outcome.Client.Reasons {
		finding = finding || r.Code == "totals_differ"
	}
	return lines, finding
}

// inference passes requests to a server and lets change the bodies and the replies' writers; pages go through.
func inference(t *testing.T, behind string,
	handle func(w http.ResponseWriter, r *http.Request, next http.Handler)) string {
	t.Helper()
	target, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") {
			handle(w, r, proxy)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// without takes the usage out of what is asked for.
func without(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`"include_usage":true`), []byte(`"include_usage":false`))
}

func setBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", fmt.Sprint(len(body)))
}

// Every kind of server counts what the client counts.
func TestServerTotalsAgreeWithTheRuns(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"vllm", "sglang", "trtllm", "dynamo", "triton"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			o := mockserver.Options{Backend: backend, TTFT: 2 * time.Millisecond}
			url := serve(t, o)
			args := []string{"--concurrency", "4", "--warmup-request-count", "5"}
			if backend == "triton" {
				args = append(args, "--server-metrics", url+"/triton/metrics")
			}
			w := compared(t, url, args...)
			r := w.reconciled(t)
			if r.Verdict != servermetrics.VerdictAgree || r.Row(servermetrics.Requests).Server != 40 {
				t.Errorf("%s: %s\n%+v", r.Verdict, r.Sentence(), r.Rows)
			}
			if lines, finding := w.shown(); lines != 1 || finding {
				t.Errorf("%d lines, finding %t: %q", lines, finding, w.outcome.Console.Notes)
			}
			if row := r.Row(servermetrics.TTFT); row.Status != servermetrics.Informative || row.PerRequest > 0 {
				t.Errorf("%+v", row)
			}
			for _, q := range []servermetrics.Quantity{servermetrics.PromptTokens, servermetrics.GeneratedTokens} {
				if row := r.Row(q); (row.Status == servermetrics.Absent) != (backend == "triton") ||
					row.Status == servermetrics.Agrees && row.ClientMetric[:5] != "usage" {
					t.Errorf("%+v", row)
				}
			}
		})
	}
}

// Causes that are made on purpose are found.
func TestCausesOfServerTotalsThatDiffer(t *testing.T) {
	t.Parallel()
	chat := func(at string) {
		body := `{"model":"mock-model","messages":[{"role":"user","content":"hello there"}],"max_tokens":3}`
		reply, err := http.Post(at+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err == nil {
			io.Copy(io.Discard, reply.Body)
			reply.Body.Close()
		}
	}
	for _, c := range []struct {
		name    string
		cause   servermetrics.Cause
		verdict string
		warned  int
		at      func(t *testing.T) string
		args    []string
		check   func(r *servermetrics.Reconciliation) bool
	}{
		{name: "other clients", cause: servermetrics.OtherClients, verdict: servermetrics.VerdictDiffer, warned: 1,
			at: func(t *testing.T) string {
				behind := serve(t, mockserver.Options{})
				return inference(t, behind, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					next.ServeHTTP(w, r)
					chat(behind)
				})
			}},
		{name: "chat template", cause: servermetrics.Template, verdict: servermetrics.VerdictExplained,
			at: func(t *testing.T) string {
				return inference(t, serve(t, mockserver.Options{}),
					func(w http.ResponseWriter, r *http.Request, next http.Handler) {
						body, _ := io.ReadAll(r.Body)
						setBody(r, bytes.Replace(without(body), []byte(`"content":"`),
							[]byte(`"content":"You are a helpful assistant indeed. `), 1))
						next.ServeHTTP(w, r)
					})
			},
			check: func(r *servermetrics.Reconciliation) bool {
				return strings.Contains(r.Sentence(), "a request: its chat template") &&
					r.Row(servermetrics.PromptTokens).Tokenized
			}},
		{name: "one replica of two", cause: servermetrics.Replicas, verdict: servermetrics.VerdictDiffer, warned: 1,
			at: func(t *testing.T) string {
				second, _ := url.Parse(serve(t, mockserver.Options{}))
				other := httputil.NewSingleHostReverseProxy(second)
				var asked atomic.Int64
				return inference(t, serve(t, mockserver.Options{}),
					func(w http.ResponseWriter, r *http.Request, next http.Handler) {
						if asked.Add(1)%2 == 0 {
							next = other
						}
						next.ServeHTTP(w, r)
					})
			},
			check: func(r *servermetrics.Reconciliation) bool { return r.Row(servermetrics.Requests).Server == 20 }},
		{name: "requests that the client cancelled on purpose", cause: servermetrics.Cancelled,
			verdict: servermetrics.VerdictExplained,
			args: []string{"--request-cancellation-rate", "50", "--request-cancellation-delay", "0", "--random-seed",
				"1"},
			at: func(t *testing.T) string {
				return inference(t, serve(t, mockserver.Options{}),
					func(w http.ResponseWriter, r *http.Request, next http.Handler) {
						next.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context()))) // a server that goes on
					})
			}},
		{name: "a restarted server", verdict: servermetrics.VerdictNotCompared,
			at: restarted,
			check: func(r *servermetrics.Reconciliation) bool {
				return strings.Contains(r.Sentence(), "counters decreased") &&
					r.Row(servermetrics.Requests).Status == servermetrics.Absent
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := compared(t, c.at(t), c.args...)
			r := w.reconciled(t)
			if r.Verdict != c.verdict || c.cause != "" && (len(r.Causes) == 0 || r.Causes[0] != c.cause) ||
				c.check != nil && !c.check(r) {
				t.Errorf("%s %v: %s\n%+v\n%+v", r.Verdict, r.Causes, r.Sentence(), r.Rows, r.Client)
			}
			if lines, finding := w.shown(); lines != 1 || finding != (c.cause != "") {
				t.Errorf("%d lines, finding %t: %q", lines, finding, w.outcome.Console.Notes)
			}
			if got := w.warnings("the server counted"); got != c.warned {
				t.Errorf("%d warnings, want %d", got, c.warned)
			}
		})
	}
}

// restarted is a server that starts anew when its page has shown 25 requests, and goes on to the run's last requests
// when its new page has been read three times.
func restarted(t *testing.T) string {
	t.Helper()
	const before, last = 25, 40
	servers := make([]http.Handler, 2)
	for i := range servers {
		target, err := url.Parse(serve(t, mockserver.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		proxy := httputil.NewSingleHostReverseProxy(target)
		proxy.FlushInterval = -1
		servers[i] = proxy
	}
	var mu sync.Mutex
	read := sync.NewCond(&mu)
	answered, current, reads := 0, 0, 0 // reads are those of the current page that show what the run waits for
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		completion := strings.HasSuffix(r.URL.Path, "/completions")
		mu.Lock()
		if completion && answered == before {
			for current == 0 && reads < 1 {
				read.Wait()
			}
			if current == 0 {
				current, reads = 1, 0
			}
		}
		for completion && answered == last-1 && reads < 3 {
			read.Wait()
		}
		counted := current == 1 || answered == before
		server := current
		mu.Unlock()
		servers[server].ServeHTTP(w, r)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case completion:
			answered++
		case counted && server == current && strings.HasSuffix(r.URL.Path, "/metrics"):
			reads++
			read.Broadcast()
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A request that is sent again, because its connection ended after the server had begun, counts twice there.
func TestRequestsSentAgainAreFoundInTheServersTotals(t *testing.T) {
	t.Parallel()
	behind := serve(t, mockserver.Options{})
	var mu sync.Mutex
	served := map[string]int{} // by connection
	killed := 0
	at := inference(t, behind, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		mu.Lock()
		served[r.RemoteAddr]++
		kill := served[r.RemoteAddr] == 3 && killed < 2
		if kill {
			killed++
		}
		mu.Unlock()
		if !kill {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r) // the server answers, and the connection ends without a byte
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			connection.Close()
		}
	})
	w := compared(t, at, "--concurrency", "4")
	r := w.reconciled(t)
	if r.Client.Resent != 2 || r.Verdict != servermetrics.VerdictExplained ||
		!slices.Equal(r.Causes, []servermetrics.Cause{servermetrics.Resent}) || r.Row(servermetrics.Requests).Server != 42 {
		t.Errorf("%s %v: %s\n%+v", r.Verdict, r.Causes, r.Sentence(), r.Client)
	}
}

// Where the page does not answer between the warm-up and the profiling phase, the warm-up is in the server's count.
func TestWarmUpIsInTheServersTotalsWithoutAScrapeAfterIt(t *testing.T) {
	t.Parallel()
	const warmup = 5
	var scrapes sync.Mutex // the page of a scrape is made before the next request is counted
	asked := 0
	target, _ := url.Parse(serve(t, mockserver.Options{}))
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/completions"):
			scrapes.Lock()
			asked++
			scrapes.Unlock()
		case strings.HasSuffix(r.URL.Path, "/metrics"):
			scrapes.Lock()
			defer scrapes.Unlock()
			if asked > 0 && asked <= warmup {
				http.Error(w, "busy", http.StatusServiceUnavailable)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	defer at.Close()
	r := compared(t, at.URL, "--concurrency", "2", "--warmup-request-count", fmt.Sprint(warmup)).reconciled(t)
	if r.Client.WarmUp != warmup || !slices.Equal(r.Causes, []servermetrics.Cause{servermetrics.WarmUp}) ||
		r.Row(servermetrics.Requests).Difference != warmup {
		t.Errorf("%s %v: %s\n%+v", r.Verdict, r.Causes, r.Sentence(), r.Client)
	}
}

// A server of an unknown kind, one without a page, and a run without server metrics have no comparison.
func TestNoComparisonWithoutCounters(t *testing.T) {
	t.Parallel()
	unknown := before(t, serve(t, mockserver.Options{}),
		map[string]http.HandlerFunc{"/metrics": page("# TYPE acme_requests_total counter\nacme_requests_total 1\n")})
	for name, c := range map[string]struct {
		at   string
		args []string
	}{
		"unknown counters":       {unknown.URL, nil},
		"server metrics are off": {serve(t, mockserver.Options{}), []string{"--no-server-metrics"}},
	} {
		w := compared(t, c.at, c.args...)
		if r := w.outcome.Result.Reconciliation; r != nil {
			t.Errorf("%s: %+v", name, r)
		}
		if lines, finding := w.shown(); lines != 0 || finding {
			t.Errorf("%s: %q", name, w.outcome.Console.Notes)
		}
		if text := fileOf(t, w.dir, "profile_export_aiperf.json"); bytes.Contains(text, []byte(`"reconciliation"`)) {
			t.Errorf("%s: the file has the block", name)
		}
	}
}

// aiperf report compares anew what it reads, and leaves the block out where only some requests count.
func TestComparisonIsComputedAnew(t *testing.T) {
	t.Parallel()
	w := compared(t, serve(t, mockserver.Options{}), "--concurrency", "4")
	for _, exclude := range [][]string{nil, {"all"}} {
		out := filepath.Join(t.TempDir(), "again")
		if _, _, err := recompute.Report(context.Background(),
			recompute.ReportOptions{Dir: w.dir, OutputDir: out, ExcludeErrors: exclude}); err != nil {
			t.Fatal(err)
		}
		block := func(dir string) json.RawMessage {
			var doc map[string]json.RawMessage
			text, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
			if err == nil {
				err = json.Unmarshal(text, &doc)
			}
			if err != nil {
				t.Fatal(err)
			}
			return doc["reconciliation"]
		}
		live, again := block(w.dir), block(out)
		if exclude == nil && (len(live) == 0 || !bytes.Equal(live, again)) || exclude != nil && again != nil {
			t.Errorf("excluding %v: %s\nlive: %s", exclude, again, live)
		}
	}
}
