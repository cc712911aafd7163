package run

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/mockserver"
	"aiperf/internal/watch/servermetrics"
)

// counting puts a front before the mock server whose metrics page is made of the number of requests so far and of the
// number of the page.
func counting(t *testing.T, metrics func(requests, number int32) string) *front {
	t.Helper()
	server := serve(t, mockserver.Options{})
	behind, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }, Transport: transport}
	var requests, pages atomic.Int32
	return before(t, server, map[string]http.HandlerFunc{
		"/metrics": func(w http.ResponseWriter, r *http.Request) {
			page(metrics(requests.Load(), pages.Add(1)))(w, r)
		},
		"/v1/chat/completions": func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			proxy.ServeHTTP(w, r)
		},
	})
}

// A server may make its counters with the first request: all requests are in the totals of the files, as in those that
// are compared with the run's.
func TestCountersThatBeginWithTheFirstRequest(t *testing.T) {
	t.Parallel()
	f := counting(t, func(requests, _ int32) string {
		text := "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 0\n"
		if requests > 0 {
			text += fmt.Sprintf("# TYPE vllm:request_success_total counter\n"+
				"vllm:request_success_total{finished_reason=\"length\"} %d\n", requests)
		}
		return text
	})
	w := watch(t, f.URL, Options{}, "--concurrency", "2", "--request-count", "10")
	if total := w.export(t).sum(t, "vllm:request_success", "total"); total != 10 {
		t.Errorf("%g requests in the file, want 10", total)
	}
	if row := w.outcome.Result.Reconciliation.Row(servermetrics.Requests); row.Server != 10 {
		t.Errorf("%g requests are compared, want 10", row.Server)
	}
}

// Of an address at which two servers answer in turn there are no totals, and one line that says what to do.
func TestPageThatServersAnswerInTurn(t *testing.T) {
	t.Parallel()
	f := counting(t, func(requests, number int32) string {
		server := number % 2
		done := 1000*server + requests
		return fmt.Sprintf("# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n"+
			"# TYPE vllm:request_success_total counter\nvllm:request_success_total{finished_reason=\"length\"} %d\n"+
			"# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total %d\n"+
			"# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting %d\n",
			1_700_000_000+100*server, done, 4*done, 9*server)
	})
	w := watch(t, f.URL, Options{}, "--concurrency", "2", "--request-count", "10")
	e := w.export(t)
	if len(e.Metrics["vllm:request_success"].Series) > 0 || len(e.Metrics["vllm:num_requests_waiting"].Series) == 0 {
		t.Errorf("the file has %v", e.Metrics)
	}
	if n, resets := w.warnings("is answered by 2 servers in turn"), w.warnings("was reset"); n != 1 || resets != 0 {
		t.Errorf("%d warnings, %d of resets", n, resets)
	}
	r := w.outcome.Result.Reconciliation
	if r.Verdict != servermetrics.VerdictNotCompared || !strings.Contains(r.Sentence(), "in turn: name the page of each") {
		t.Errorf("%s: %s", r.Verdict, r.Sentence())
	}
	if s := w.outcome.Result.Servers; s != nil && s.Waiting != nil {
		t.Errorf("%g requests waited, which one server says", *s.Waiting)
	}
}
