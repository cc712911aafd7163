package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/page"
	"aiperf/internal/publish/progress"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
	"aiperf/internal/watch/trust"
)

// figuresOf reads the samples of a page, by name with labels.
func figuresOf(t *testing.T, url string) map[string]float64 {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	figures := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		if i := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			if figures[line[:i]], err = strconv.ParseFloat(strings.TrimSpace(line[i+1:]), 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return figures
}

// followed runs a benchmark against a mock server that fails now and then, with the page of --metrics-listen.
func followed(t *testing.T, args ...string) (*page.Page, *run.Outcome) {
	t.Helper()
	server, err := mockserver.New(mockserver.Options{TTFT: 60 * time.Millisecond, ITL: time.Millisecond,
		TTFTJitterCV: 0.5, ErrorRate: 20, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() { cancel(); <-ended })
	parsed, err := settings.Parse(append([]string{"--model", "mock-model", "--url",
		"http://" + listener.Addr().String(),
		"--tokenizer", "builtin", "--ui", "none", "--streaming",
		"--artifact-dir", t.TempDir(), "--no-server-metrics", "--no-gpu-telemetry", "--isl", "20", "--osl", "12",
		"--random-seed", "1", "--metrics-listen", "0"}, args...),
		func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := resolve.Resolve(parsed, run.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	log := runlog.New(runlog.Options{Console: io.Discard})
	defer log.Close()
	live, err := page.Listen(cfg.MetricsListen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(live.Close)
	out, err := run.Execute(context.Background(), cfg,
		run.Options{Version: "test", Log: log, Observers: []progress.Observer{live}})
	if err != nil {
		t.Fatal(err)
	}
	return live, out
}

func TestThePageEndsAsTheSummary(t *testing.T) {
	live, out := followed(t, "--request-rate", "150", "--benchmark-duration", "0.8", "--benchmark-grace-period", "0",
		"--warmup-request-count", "5", "--goodput", "time_to_first_token:60")
	shown := figuresOf(t, live.URL())
	expect := func(sample string, want float64) {
		t.Helper()
		got, found := shown[sample]
		if !found || math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s is %v (on the page: %v), the summary says %v", sample, got, found, want)
		}
	}
	value := func(tag string) metrics.Metric {
		t.Helper()
		m, found := out.Result.Find(tag)
		if !found {
			t.Fatalf("the summary has no %s", tag)
		}
		return m
	}
	const profiling = `{phase="profiling"}`
	for _, d := range []struct {
		family, tag string
		scale       float64
	}{
		{"aiperf_time_to_first_token_seconds", "time_to_first_token", 1e-3},
		{"aiperf_inter_chunk_latency_seconds", "inter_chunk_latency", 1e-3},
		{"aiperf_inter_token_latency_seconds", "inter_token_latency", 1e-3},
		{"aiperf_request_latency_seconds", "request_latency", 1e-3},
		{"aiperf_output_sequence_length_tokens", "output_sequence_length", 1},
		{"aiperf_input_sequence_length_tokens", "input_sequence_length", 1},
	} {
		m := value(d.tag)
		expect(d.family+"_count"+profiling, float64(m.Stats.Count))
		expect(d.family+"_sum"+profiling, m.Stats.Sum*d.scale)
		expect(d.family+`_bucket{phase="profiling",le="+Inf"}`, float64(m.Stats.Count))
	}
	counts := out.Result.Counts
	if counts.Successes == 0 || counts.Errors == 0 || counts.CutOff == 0 {
		t.Fatalf("the run has not everything: %+v", counts)
	}
	expect(`aiperf_requests_total{outcome="success",phase="profiling"}`, float64(counts.Successes))
	expect(`aiperf_requests_total{outcome="error",phase="profiling"}`, float64(counts.Errors))
	expect(`aiperf_requests_cut_off_total`+profiling, float64(counts.CutOff))
	expect(`aiperf_requests_sent_total`+profiling, float64(counts.Sent))
	expect(`aiperf_requests_in_flight`+profiling, 0)
	for _, e := range out.Result.Errors {
		code := ""
		if e.Error.HasCode {
			code = strconv.Itoa(e.Error.Code)
		}
		expect(fmt.Sprintf(`aiperf_request_errors_total{code=%q,phase="profiling",type=%q}`, code, e.Error.Type),
			float64(e.Count))
	}
	expect("aiperf_input_tokens_total"+profiling, value("total_isl").Stats.Avg)
	expect("aiperf_output_tokens_total"+profiling, value("total_output_tokens").Stats.Avg)
	expect("aiperf_good_requests_total"+profiling, value("good_request_count").Stats.Avg)
	expect(`aiperf_phase_state{phase="profiling",state="complete"}`, 1)
	expect(`aiperf_phase_state{phase="warmup",state="complete"}`, 1)
	expect(`aiperf_phase_progress_ratio`+profiling, 1)
	expect(`aiperf_requests_sent_total{phase="warmup"}`, 5)
	for _, v := range []trust.Verdict{trust.Valid, trust.ClientLimited, trust.Inconclusive} {
		want := 0.0
		if v == out.Verdict {
			want = 1
		}
		expect(fmt.Sprintf(`aiperf_client_verdict{verdict=%q}`, v), want)
	}
	for _, r := range out.Client.Reasons {
		expect(fmt.Sprintf(`aiperf_client_finding{code=%q,leads_to=%q}`, r.Code, r.Leads), 1)
	}
	for _, b := range out.Client.Bounds {
		if b.Unit == "ms" {
			expect(fmt.Sprintf(`aiperf_client_error_bound_seconds{metric=%q}`, b.Tag), b.Value/1e3)
		}
	}
	lag := out.Client.ToolLag
	expect("aiperf_client_send_lag_seconds_count"+profiling, float64(lag.Count))
	expect("aiperf_client_send_lag_seconds_sum"+profiling, lag.Avg*float64(lag.Count)/1e3)
	lag = out.Client.ScheduleLag
	expect("aiperf_client_schedule_lag_seconds_count"+profiling, float64(lag.Count))
	expect("aiperf_client_cpu_ratio", out.Client.Health.CPUShare)
	expect("aiperf_client_gc_cycles_total", float64(out.Client.Health.GC.Cycles))
}

// A port that somebody else has is one line, before anything is sent or written.
func TestAPortThatIsInUse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	dir := t.TempDir()
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	// The server would not answer: nothing is sent to it.
	code := Main([]string{"profile", "--model", "m", "--url", "http://127.0.0.1:1", "--concurrency", "1", "--tokenizer",
		"builtin", "--ui", "none", "--artifact-dir", filepath.Join(dir, "out"),
		"--metrics-listen", port}, said, said)
	text, err := os.ReadFile(said.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := "--metrics-listen: cannot listen on 127.0.0.1:" + port + ": "
	if code != command.ExitFailure || strings.Count(string(text), want) != 1 ||
		strings.Contains(string(text), "benchmark_id") {
		t.Errorf("code %d:\n%s", code, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("something was written")
	}
}
