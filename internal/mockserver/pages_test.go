package mockserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/prom"
)

// shown is a page that was read: its samples by name and labels.
type shown map[string]prom.Sample

// page gets and parses a page.
func (s *testServer) page(path string) shown {
	s.t.Helper()
	a := s.get(path)
	if a.status != 200 || a.err != nil {
		s.t.Fatalf("GET %s: %d %v", path, a.status, a.err)
	}
	return parsePage(s.t, a.body, strings.HasPrefix(a.header.Get("Content-Type"), openMetricsType))
}

func parsePage(t *testing.T, text string, open bool) shown {
	t.Helper()
	samples, err := prom.NewParser(prom.Options{}).Parse([]byte(text), open)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	page := shown{}
	for _, s := range samples {
		key := s.Series.Family.Name
		for _, l := range s.Series.Labels {
			if !strings.Contains(commonLabels, " "+l.Name+" ") {
				key += " " + l.Value
			}
		}
		page[key] = s
	}
	return page
}

// commonLabels are left out of the names of samples.
const commonLabels = " model_name engine engine_type model version dynamo_namespace dynamo_component dynamo_endpoint worker_id " +
	"tp_rank pp_rank moe_ep_rank "

func (p shown) want(t *testing.T, values map[string]float64) {
	t.Helper()
	for name, want := range values {
		name, part, _ := strings.Cut(name, "|")
		s, ok := p[name]
		got := s.Value
		switch {
		case !ok:
			t.Errorf("%s is missing", name)
			continue
		case part == "count":
			got = s.Count
		case part == "sum":
			got = s.Sum
		}
		if got != want {
			t.Errorf("%s %s = %v, want %v", name, part, got, want)
		}
	}
}

func TestPagesTellWhatTheClientsGot(t *testing.T) {
	s := serve(t, Options{Fast: true})
	var mu sync.Mutex
	var replies, streams, prompt, completion, gaps, wholeStops int
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := range 5 {
				stream := i%2 == 0
				body := chat(text(1+client*7+i), stream, `"stream_options":{"include_usage":true}`)
				path := chatPath
				if i == 3 {
					path = completionPath
					body = fmt.Sprintf(`{"prompt":%q,"max_tokens":%d,"ignore_eos":true}`, text(5+client), 1+client*3)
				}
				a, err := s.try(path, body)
				if err != nil {
					t.Error(err)
					return
				}
				r := assemble(t, a)
				mu.Lock()
				replies++
				prompt += r.usage.Prompt
				completion += r.usage.Completion
				gaps += r.usage.Completion - 1
				if stream {
					streams++
				}
				if r.finish == "stop" {
					wholeStops++
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	n, in, out := float64(replies), float64(prompt), float64(completion)
	stops, unary := float64(wholeStops), float64(replies-streams)
	for path, want := range map[string]map[string]float64{
		"/vllm/metrics": {
			"vllm:request_success stop": stops, "vllm:request_success length": n - stops, "vllm:request_success abort": 0,
			"vllm:prompt_tokens": in, "vllm:generation_tokens": out, "vllm:num_preemptions": 0,
			"vllm:prefix_cache_queries": in, "vllm:prefix_cache_hits": float64(prompt * 3 / 10),
			"vllm:request_prompt_tokens|sum": in, "vllm:request_generation_tokens|sum": out, "vllm:request_generation_tokens|count": n,
			"vllm:iteration_tokens_total|sum": in + out, "vllm:iteration_tokens_total|count": out,
			"vllm:e2e_request_latency_seconds|count": n, "vllm:time_to_first_token_seconds|count": n,
			"vllm:inter_token_latency_seconds|count": float64(gaps), "vllm:request_queue_time_seconds|sum": 0,
			"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0,
		},
		"/sglang/metrics": {"sglang:prompt_tokens": in, "sglang:generation_tokens": out, "sglang:num_requests": n,
			"sglang:e2e_request_latency_seconds|count": n, "sglang:cache_hit_rate": 0.3, "sglang:num_used_tokens": 0},
		"/trtllm/metrics": {"trtllm:request_success stop": stops, "trtllm:prompt_tokens": in,
			"trtllm:time_per_output_token_seconds|count": float64(gaps)},
		"/dynamo_frontend/metrics": {"dynamo_frontend_requests chat_completions  stream success": float64(streams),
			"dynamo_frontend_requests chat_completions  unary success": unary - 8,
			"dynamo_frontend_requests completions  unary success":      8,
			"dynamo_frontend_output_tokens":                            out, "dynamo_frontend_input_sequence_tokens|sum": in,
			"dynamo_frontend_model_context_length": 8192, "dynamo_frontend_disconnected_clients": 0},
		"/dynamo_component/prefill/metrics": {"dynamo_component_requests": n, "dynamo_component_inflight_requests": 0},
		"/dynamo_component/decode/metrics":  {"dynamo_component_requests": n, "dynamo_component_total_blocks": 1024},
		"/triton/metrics":                   {"nv_inference_request_success": n, "nv_inference_first_response_histogram_ms|count": n},
		"/metrics": {"vllm:prompt_tokens": in, "aiperf_mock_completion_tokens": out, "aiperf_mock_requests_by_model": n,
			"aiperf_mock_requests /v1/chat/completions POST 200": n - 8, "aiperf_mock_streaming_requests": float64(streams)},
	} {
		if path == "/metrics" {
			delete(want, "aiperf_mock_requests_by_model") // two models share the name that leaves labels out
		}
		s.page(path).want(t, want)
	}
}

func TestPagesTellOfSpoiltRequests(t *testing.T) {
	s := serve(t, Options{Fast: true})
	s.post(chatPath, "{")
	s.post(chatPath, chat(text(4), false, tenTokens), "X-Mock-Fault", "status=503")
	s.post(chatPath, chat(text(4), false, tenTokens), "X-Mock-Fault", "error_200")
	s.post(chatPath, chat(text(4), true, tenTokens), "X-Mock-Fault", "cut_after_events=3")
	s.post(chatPath, chat(text(4), true, tenTokens), "X-Mock-Fault", "drop_after_bytes=300")
	if a := s.post(chatPath, chat(text(4), true, tenTokens)); a.status != 200 {
		t.Fatal(a.status)
	}
	s.stop()
	sum := s.srv.tally.collect()
	if sum.count[cLength] != 1 || sum.count[cError] != 3 || sum.count[cStarted] != 5 || sum.succeeded() != 1 {
		t.Errorf("length %d, error %d, started %d", sum.count[cLength], sum.count[cError], sum.count[cStarted])
	}
	if sum.level != [levels]int64{} {
		t.Errorf("levels %v after all", sum.level)
	}
	statuses := map[int]int64{}
	for f, n := range sum.failures {
		statuses[f.status] += n
	}
	if fmt.Sprint(statuses) != "map[0:3 400:1 503:1]" {
		t.Errorf("failures %v", statuses)
	}
}

func TestGaugesAndHistogramsFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 100 * time.Millisecond, ITL: 10 * time.Millisecond, MaxBatch: 1, MaxQueue: -1})
		var clients sync.WaitGroup
		for i := range 2 {
			clients.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				s.post(chatPath, chat(text(20), true, tenTokens))
			})
		}
		time.Sleep(50 * time.Millisecond)
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:num_requests_running": 1, "vllm:num_requests_waiting": 1,
			"vllm:num_requests_waiting_by_reason capacity": 1, "vllm:kv_cache_usage_perc": 20. / (kvBlocks * blockTokens)})
		s.page("/dynamo_frontend/metrics").want(t, map[string]float64{"dynamo_frontend_queued_requests": 2, "dynamo_frontend_active_requests": 2})
		time.Sleep(75 * time.Millisecond) // 125 ms: three tokens
		s.page("/dynamo_component/decode/metrics").want(t, map[string]float64{"dynamo_component_inflight_requests": 1,
			"dynamo_component_kvstats_active_blocks": 10})
		s.page("/sglang/metrics").want(t, map[string]float64{"sglang:num_used_tokens": 23, "sglang:generation_tokens": 3, "sglang:num_queue_reqs": 1})
		clients.Wait()
		// The second request waits from 1 ms to the end of the first one at 190 ms.
		page := s.page("/vllm/metrics")
		page.want(t, map[string]float64{"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0,
			"vllm:request_queue_time_seconds|sum": 0.189, "vllm:e2e_request_latency_seconds|sum": 0.19 + 0.379,
			"vllm:time_to_first_token_seconds|sum": 0.1 + 0.289, "vllm:request_prefill_time_seconds|sum": 0.2,
			"vllm:request_decode_time_seconds|sum": 0.18, "vllm:inter_token_latency_seconds|sum": 0.18})
		// Each gap is 10 ms, which is within the bucket that ends there.
		if gaps := page["vllm:inter_token_latency_seconds"]; gaps.Buckets[0] != 18 || gaps.Count != 18 {
			t.Errorf("gaps %v", gaps.Buckets)
		}
		if first := page["vllm:time_to_first_token_seconds"]; first.Buckets[6] != 0 || first.Buckets[7] != 1 || first.Buckets[9] != 2 {
			t.Errorf("first tokens %v", first.Buckets)
		}
	})
}

func TestPlainReplyHasItsFirstTokenEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 100 * time.Millisecond, ITL: 10 * time.Millisecond})
		s.post(chatPath, chat(text(20), false, tenTokens))
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:time_to_first_token_seconds|sum": 0.1,
			"vllm:inter_token_latency_seconds|sum": 0.09, "vllm:inter_token_latency_seconds|count": 9,
			"vllm:e2e_request_latency_seconds|sum": 0.2, "vllm:request_time_per_output_token_seconds|sum": 0.01,
			"vllm:generation_tokens": 10})
	})
}

func TestClientThatLeavesIsAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: time.Second, ITL: 10 * time.Millisecond})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "POST", s.url+chatPath, strings.NewReader(chat(text(20), true, tenTokens)))
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := s.client.Do(req); err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if err == nil {
				t.Error("the reply came in time")
			}
		}
		time.Sleep(2 * time.Second)
		s.page("/vllm/metrics").want(t, map[string]float64{"vllm:request_success abort": 1, "vllm:num_requests_running": 0,
			"vllm:generation_tokens": 0, "vllm:kv_cache_usage_perc": 0})
		s.page("/dynamo_frontend/metrics").want(t, map[string]float64{"dynamo_frontend_disconnected_clients": 1})
	})
}

func TestThroughputIsOfLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{ITL: 10 * time.Millisecond})
		var client sync.WaitGroup
		client.Go(func() { s.post(chatPath, chat(text(20), true, `"max_tokens":1000,"ignore_eos":true`)) })
		for range 5 {
			time.Sleep(time.Second)
			if got := s.page("/sglang/metrics")["sglang:gen_throughput"].Value; got < 99 || got > 102 {
				t.Errorf("throughput %v, want 100 tokens/s", got)
			}
		}
		client.Wait()
		time.Sleep(time.Second)
		s.page("/sglang/metrics")
		time.Sleep(time.Second)
		s.page("/sglang/metrics").want(t, map[string]float64{"sglang:gen_throughput": 0})
	})
}

func TestCatalogueLayouts(t *testing.T) {
	s := serve(t, Options{Fast: true})
	page := s.page("/vllm/metrics")
	for name, want := range map[string]string{
		"vllm:e2e_request_latency_seconds": "0.3 0.5 0.8 1.0 1.5 2.0 2.5 5.0 10.0 15.0 20.0 30.0 40.0 50.0 60.0 120.0 240.0 480.0 960.0 1920.0 7680.0 +Inf",
		"vllm:time_to_first_token_seconds": "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0 160.0 640.0 2560.0 +Inf",
		"vllm:iteration_tokens_total":      "1.0 8.0 16.0 32.0 64.0 128.0 256.0 512.0 1024.0 2048.0 4096.0 8192.0 16384.0 +Inf",
	} {
		if got := strings.Join(page[name].Series.Bounds, " "); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := strings.Join(s.page("/dynamo_frontend/metrics")["dynamo_frontend_request_duration_seconds"].Series.Bounds, " "); got != "0 2 4 8 16 32 64 130 260 510 +Inf" {
		t.Errorf("dynamo: %s", got)
	}
}

func TestMetricsRoutesOfBackends(t *testing.T) {
	for _, c := range []struct{ backend, path, want string }{
		{"", "/metrics", "vllm:prompt_tokens_total{"}, {"", "/metrics", "aiperf_mock_requests_total{"},
		{"sglang", "/metrics", "sglang:gen_throughput{"}, {"dynamo", "/metrics", "dynamo_frontend_requests_total{"},
		{"triton", "/metrics", "nv_inference_request_success{"}, {"trtllm", "/prometheus/metrics", "trtllm_request_success_total{"},
		{"trtllm", "/metrics", `[{"iter":`}, {"sglang", "/vllm/metrics", "vllm:prompt_tokens_total{"},
	} {
		s := serve(t, Options{Fast: true, Backend: c.backend})
		a := s.get(c.path)
		if a.status != 200 || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %s: %d, no %s", c.backend, c.path, a.status, c.want)
		}
		if json := a.header.Get("Content-Type") == jsonType; json != strings.HasPrefix(c.want, "[") {
			t.Errorf("%s %s: type %q", c.backend, c.path, a.header.Get("Content-Type"))
		}
	}
	s := serve(t, Options{Fast: true, APIKey: "k"})
	if a := s.get("/prometheus/metrics"); a.status != 404 {
		t.Errorf("vllm /prometheus/metrics: %d", a.status)
	}
	if a := s.post("/metrics", ""); a.status != 405 || a.header.Get("Allow") != "GET" {
		t.Errorf("POST /metrics: %d %q", a.status, a.header.Get("Allow"))
	}
}

func TestEveryPageInBothFormats(t *testing.T) {
	for _, open := range []bool{false, true} {
		s := serve(t, Options{Fast: true, Backend: "trtllm", OpenMetrics: open})
		s.post(chatPath, chat(text(5), false, tenTokens))
		for _, path := range append(routes(s.srv.exporter.pages), prometheusPath) {
			a := s.get(path)
			if strings.HasPrefix(a.header.Get("Content-Type"), openMetricsType) != open || strings.HasSuffix(a.body, "# EOF\n") != open {
				t.Errorf("%s: type %q", path, a.header.Get("Content-Type"))
			}
			checkLines(t, path, a.body)
			if len(parsePage(t, a.body, open)) < 10 {
				t.Errorf("%s: hardly any series", path)
			}
		}
	}
}

var sampleLine = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-z_]+="[^"]*",?)*\})? [-+.0-9eNaInf]+$`)

// checkLines demands the plainest form of the format: a HELP and a TYPE line above each family, once.
func checkLines(t *testing.T, path, text string) {
	t.Helper()
	declared, last := map[string]bool{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.SplitN(line, " ", 4)
		switch {
		case line == "# EOF":
		case strings.HasPrefix(line, "# HELP "):
			last = words[2]
		case strings.HasPrefix(line, "# TYPE "):
			if words[2] != last || declared[last] {
				t.Errorf("%s: %s", path, line)
			}
			declared[last] = true
		case !sampleLine.MatchString(line) || !strings.HasPrefix(line, last):
			t.Errorf("%s: %q below %s", path, line, last)
		}
	}
}

func TestOpenMetricsByRequest(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for accept, want := range map[string]bool{"application/openmetrics-text;version=1.0.0,text/plain;q=0.5": true, "text/plain;version=0.0.4, */*": false} {
		got := s.raw("GET /vllm/metrics HTTP/1.1\r\nHost: x\r\nAccept: " + accept + "\r\nConnection: close\r\n\r\n")
		if strings.Contains(got, "# EOF\n") != want || strings.Contains(got, "# TYPE vllm:prompt_tokens counter") != want ||
			strings.Contains(got, "# TYPE vllm:prompt_tokens_created gauge") == want || !strings.Contains(got, "vllm:prompt_tokens_total{") ||
			!strings.Contains(got, "vllm:prompt_tokens_created{") {
			t.Errorf("%s: %.300s", accept, got)
		}
	}
}

func TestMetricsSeriesFillThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain := servePipe(t, Options{Fast: true})
		padded := servePipe(t, Options{Fast: true, MetricsSeries: 1000})
		before := padded.page("/vllm/metrics")
		if more := len(before) - len(plain.page("/vllm/metrics")); more != 1000 {
			t.Errorf("%d further series", more)
		}
		time.Sleep(333 * time.Millisecond)
		moved := 0
		for key, s := range padded.page("/vllm/metrics") {
			if strings.HasPrefix(key, "aiperf_mock_padding") && s.Value != before[key].Value {
				moved++
			}
		}
		if moved != 200 {
			t.Errorf("%d series moved", moved)
		}
	})
}

func TestModelIsTheLabelOfPages(t *testing.T) {
	s := serve(t, Options{Fast: true, Models: []string{`a"b\c`, "d"}})
	s.post(chatPath, strings.Replace(chat(text(4), false), `"m"`, `"x\u0041"`, 1))
	body := s.get("/metrics").body
	for _, want := range []string{`vllm:prompt_tokens_total{engine="0",model_name="a\"b\\c"} 4.0`, `aiperf_mock_requests_by_model_total{model="xA"} 1.0`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestPortsOfTheirOwn(t *testing.T) {
	for backend, want := range map[string]string{"dynamo": "prefill decode", "triton": "triton", "vllm": "vllm"} {
		lines := make(chan string, 8)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- Run(ctx, Options{Host: "127.0.0.1", Fast: true, NoTokenizer: true, Backend: backend, MetricsPorts: []int{0}}, lineWriter(lines))
		}()
		main := strings.TrimPrefix(<-lines, "listening on ")
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		fetch := func(url string) (int, string) {
			resp, err := client.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return resp.StatusCode, string(body)
		}
		for _, name := range strings.Fields(want) {
			line := <-lines
			url, ok := strings.CutPrefix(line, "metrics "+name+" on ")
			if !ok {
				t.Fatalf("%s: %q", backend, line)
			}
			i := strings.LastIndex(url, metricsPath)
			_, atMain := fetch(main + newExporterPath(t, name))
			if status, body := fetch(url); status != 200 || firstLine(body) != firstLine(atMain) || strings.Contains(body, "aiperf_mock_requests") {
				t.Errorf("%s: %d %.80s", url, status, body)
			}
			for _, path := range []string{"/", "/health", "/v1/models", chatPath} {
				if status, _ := fetch(url[:i] + path); status != 404 {
					t.Errorf("%s%s: %d", url[:i], path, status)
				}
			}
		}
		if status, _ := fetch(main + "/metrics"); (status == 404) != (backend == "triton") {
			t.Errorf("%s: /metrics beside inference: %d", backend, status)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	err := Run(t.Context(), Options{Host: "127.0.0.1", NoTokenizer: true, Backend: "dynamo", MetricsPorts: []int{1}}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "2 pages") {
		t.Errorf("one port for two pages: %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	err = Run(t.Context(), Options{Host: "127.0.0.1", NoTokenizer: true, Backend: "dynamo", MetricsPorts: []int{0, port}}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "--metrics-ports") {
		t.Errorf("a taken port: %v", err)
	}
}

func newExporterPath(t *testing.T, name string) string {
	t.Helper()
	for _, p := range newPages() {
		if p.name == name {
			return p.path
		}
	}
	t.Fatalf("no page %s", name)
	return ""
}

func firstLine(text string) string { return text[:strings.IndexByte(text, '\n')] }

// lineWriter sends each line that is written.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		w <- strings.TrimSpace(string(line))
	}
	return len(p), nil
}

func TestAccountsAllocateNothing(t *testing.T) {
	s, err := New(Options{Fast: true, NoTokenizer: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &conn{srv: s, shard: s.tally.shard()}
	c.req.model = []byte(defaultModel)
	allocs := testing.AllocsPerRun(100, func() {
		c.x = exchange{fault: noFault(), books: books{inference: true}, parsed: true, status: 200, arrival: 1,
			plan: plan{promptTokens: 10, content: 3, finish: "stop"}}
		c.admit(100)
		for range 3 {
			c.x.output++
			c.account(1000, 50, false)
		}
		c.x.closing = true
		c.account(2000, 50, true)
	})
	if allocs != 0 || s.tally.collect().count[cStop] == 0 {
		t.Errorf("%v allocations for each request", allocs)
	}
}

func BenchmarkAccount(b *testing.B) {
	s, err := New(Options{Fast: true, NoTokenizer: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c := &conn{srv: s, shard: s.tally.shard()}
	c.req.model = []byte(defaultModel)
	b.ReportAllocs()
	for b.Loop() {
		c.x = exchange{fault: noFault(), books: books{inference: true}, parsed: true, status: 200, arrival: 1,
			plan: plan{promptTokens: 10, content: 1, finish: "stop"}}
		c.admit(100)
		c.x.output, c.x.closing = 1, true
		c.account(2000, 50, true)
	}
}

func BenchmarkPage(b *testing.B) {
	for _, series := range []int{0, 5000} {
		b.Run(fmt.Sprint(series), func(b *testing.B) {
			s, err := New(Options{Fast: true, NoTokenizer: true, MetricsSeries: series})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			at, _ := s.exporter.find([]byte(metricsPath), "")
			f := noMetricsFault()
			var body []byte
			for b.Loop() {
				body, _ = s.exporter.body(body[:0], at, false, &f)
			}
			b.SetBytes(int64(len(body)))
		})
	}
}
