package mockserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/mockserver/page"
	"aiperf/internal/watch/prom"
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
	return parsePage(s.t, a.body, strings.HasPrefix(a.header.Get("Content-Type"), page.OpenMetricsType))
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

func TestCatalogueLayouts(t *testing.T) {
	s := serve(t, Options{Fast: true})
	page := s.page("/vllm/metrics")
	for name, want := range map[string]string{
		"vllm:e2e_request_latency_seconds": "0.3 0.5 0.8 1.0 1.5 2.0 2.5 5.0 10.0 15.0 20.0 30.0 40.0 50.0 60.0 " +
			"120.0 240.0 480.0 960.0 1920.0 7680.0 +Inf",
		"vllm:time_to_first_token_seconds": "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 " +
			"10.0 20.0 40.0 80.0 160.0 640.0 2560.0 +Inf",
		"vllm:iteration_tokens_total": "1.0 8.0 16.0 32.0 64.0 128.0 256.0 512.0 1024.0 2048.0 4096.0 8192.0 16384.0 +Inf",
	} {
		if got := strings.Join(page[name].Series.Bounds, " "); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := strings.Join(s.page("/dynamo_frontend/metrics")["dynamo_frontend_request_duration_seconds"].Series.Bounds,
		" "); got != "0 2 4 8 16 32 64 130 260 510 +Inf" {
		t.Errorf("dynamo: %s", got)
	}
}

func TestMetricsRoutesOfBackends(t *testing.T) {
	for _, c := range []struct{ backend, path, want string }{
		{"", "/metrics", "vllm:prompt_tokens_total{"}, {"", "/metrics", "aiperf_mock_requests_total{"},
		{"sglang", "/metrics", "sglang:gen_throughput{"}, {"dynamo", "/metrics", "dynamo_frontend_requests_total{"},
		{"triton", "/metrics", "nv_inference_request_success{"},
		{"trtllm", "/prometheus/metrics", "trtllm_request_success_total{"},
		{"trtllm", "/metrics", `[{"iter":`}, {"sglang", "/vllm/metrics", "vllm:prompt_tokens_total{"},
	} {
		s := serve(t, Options{Fast: true, Backend: c.backend})
		a := s.get(c.path)
		if a.status != 200 || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %s: %d, no %s", c.backend, c.path, a.status, c.want)
		}
		if json := a.header.Get("Content-Type") == "application/json"; json != strings.HasPrefix(c.want, "[") {
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

func TestOpenMetricsByRequest(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for accept, want := range map[string]bool{"application/openmetrics-text;version=1.0.0,text/plain;q=0.5": true,
		"text/plain;version=0.0.4, */*": false} {
		got := s.raw("GET /vllm/metrics HTTP/1.1\r\nHost: x\r\nAccept: " + accept + "\r\nConnection: close\r\n\r\n")
		if strings.Contains(got, "# EOF\n") != want ||
			strings.Contains(got, "# TYPE vllm:prompt_tokens counter") != want ||
			strings.Contains(got, "# TYPE vllm:prompt_tokens_created gauge") == want ||
			!strings.Contains(got, "vllm:prompt_tokens_total{") ||
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
	for _, want := range []string{`vllm:prompt_tokens_total{engine="0",model_name="a\"b\\c"} 4.0`,
		`aiperf_mock_requests_by_model_total{model="xA"} 1.0`} {
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
			done <- Run(ctx, Options{Host: "127.0.0.1", Fast: true, NoTokenizer: true, Backend: backend,
				MetricsPorts: []int{0}}, lineWriter(lines))
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
			i := strings.LastIndex(url, page.Path)
			_, atMain := fetch(main + pathOf(t, name))
			if status, body := fetch(url); status != 200 || firstLine(body) != firstLine(atMain) ||
				strings.Contains(body, "aiperf_mock_requests") {
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
	err := Run(t.Context(), Options{Host: "127.0.0.1", NoTokenizer: true, Backend: "dynamo", MetricsPorts: []int{1}},
		io.Discard)
	if err == nil || !strings.Contains(err.Error(), "2 pages") {
		t.Errorf("one port for two pages: %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	err = Run(t.Context(), Options{Host: "127.0.0.1", NoTokenizer: true, Backend: "dynamo",
		MetricsPorts: []int{0, port}}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "--metrics-ports") {
		t.Errorf("a taken port: %v", err)
	}
}

// pathOf returns the path at which a page can always be read.
func pathOf(t *testing.T, name string) string {
	t.Helper()
	path := map[string]string{
		"vllm": "/vllm/metrics", "sglang": "/sglang/metrics", "trtllm": "/prometheus/metrics",
		"prefill": "/dynamo_component/prefill/metrics", "decode": "/dynamo_component/decode/metrics",
		"triton": "/triton/metrics",
	}[name]
	if path == "" {
		t.Fatalf("no page %s", name)
	}
	return path
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

// The prompts of APIs that generate no tokens count, too.
func TestPromptsOfEmbeddingsCount(t *testing.T) {
	s := serve(t, Options{Fast: true})
	answer := s.post("/v1/embeddings", `{"model":"m","input":["one two three","four"]}`).body
	usage := regexp.MustCompile(`"prompt_tokens": ?(\d+)`).FindStringSubmatch(answer)
	if usage == nil || usage[1] == "0" {
		t.Fatalf("no prompt tokens in %s", answer)
	}
	want := `vllm:prompt_tokens_total{engine="0",model_name="mock-model"} ` + usage[1] + ".0"
	if page := s.get("/metrics").body; !strings.Contains(page, want) {
		t.Errorf("no %s", want)
	}
}
