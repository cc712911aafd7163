package page

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protodelim"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = int64(1e6)

func chatMetrics(t testing.TB) *metrics.Set {
	t.Helper()
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	c.SLOs = []metrics.SLO{{Tag: "time_to_first_token", Value: 50}}
	set, err := metrics.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// streamed is a request whose chunks came at these milliseconds.
func streamed(phase string, chunks ...int64) *record.Record {
	r := &record.Record{Identity: record.Identity{Phase: phase}, Facts: record.NewFacts()}
	f := &r.Facts
	f[record.FirstContent], f[record.LastContent] = chunks[0]*ms, chunks[len(chunks)-1]*ms
	f[record.Contents], f[record.OutputTokens], f[record.InputTokens] = int64(len(chunks)), int64(len(chunks)), 7
	f[record.CreditIssued], f[record.ReadLag] = -ms/4, ms/8
	for i := 1; i < len(chunks); i++ {
		r.GapsNS = append(r.GapsNS, (chunks[i]-chunks[i-1])*ms)
	}
	return r
}

func failed(kind string, code int) *record.Record {
	r := &record.Record{Identity: record.Identity{Phase: record.PhaseProfiling}, Facts: record.NewFacts(),
		Err: &record.Error{Type: kind, Code: code, HasCode: code != 0}}
	r.Facts[record.Failed] = 1
	return r
}

func runOf(t testing.TB, label string) *progress.Run {
	ten := 10
	return &progress.Run{
		Label: label, BenchmarkID: "id-" + label, Version: "1", Models: []string{"b", "a"}, EndpointType: "chat",
		Streaming: true, Metrics: chatMetrics(t),
		Phases: []progress.Plan{{Kind: progress.WarmupKind, Concurrency: &ten},
			{Kind: progress.ProfilingKind, Rate: 2.5}},
	}
}

// open listens on a free port until the test ends.
func open(t testing.TB) *Page {
	t.Helper()
	p, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// get reads the page; accept may ask for another format.
func get(t testing.TB, p *Page, accept string) (string, http.Header) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, p.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, err)
	}
	return string(body), response.Header
}

// contains looks for whole lines.
func contains(t *testing.T, page string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+page, "\n"+line+"\n") {
			name, _, _ := strings.Cut(line, "{")
			var near []string
			for l := range strings.Lines(page) {
				if strings.HasPrefix(l, name) {
					near = append(near, l)
				}
			}
			t.Errorf("the page lacks %s, but has\n%s", line, strings.Join(near[:min(len(near), 40)], ""))
		}
	}
}

func TestFiguresOfRequests(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, ""))
	good := streamed(record.PhaseProfiling, 20, 25, 45)
	good.Facts[record.Good] = 1
	late := streamed(record.PhaseProfiling, 80, 80)
	late.Facts[record.Good] = 0
	late.Facts[record.ReasoningTokens] = 3
	late.Facts[record.IntendedSend] = -2 * ms
	for _, rec := range []*record.Record{streamed(record.PhaseWarmup, 500), good, late, failed("Timeout", 0),
		failed("HTTPError", 503), failed("HTTPError", 503)} {
		p.Record(rec)
	}
	page, header := get(t, p, "text/plain")
	if got := header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", got)
	}
	contains(t, page,
		`aiperf_info{benchmark_id="id-",endpoint_type="chat",model="a,b",request_rate="2.5",streaming="true",version="1"} 1`,
		`aiperf_configured_concurrency{phase="warmup"} 10`,
		`aiperf_configured_request_rate{phase="profiling"} 2.5`,
		`aiperf_requests_total{outcome="success",phase="profiling"} 2`,
		`aiperf_requests_total{outcome="error",phase="profiling"} 3`,
		`aiperf_requests_total{outcome="success",phase="warmup"} 1`,
		`aiperf_requests_total{outcome="error",phase="warmup"} 0`,
		`aiperf_request_errors_total{code="",phase="profiling",type="Timeout"} 1`,
		`aiperf_request_errors_total{code="503",phase="profiling",type="HTTPError"} 2`,
		`aiperf_good_requests_total{phase="profiling"} 1`,
		`aiperf_time_to_first_token_seconds_count{phase="profiling"} 2`,
		`aiperf_time_to_first_token_seconds_sum{phase="profiling"} 0.1`,
		`aiperf_time_to_first_token_seconds_bucket{phase="profiling",le="0.02"} 1`,
		`aiperf_time_to_first_token_seconds_bucket{phase="profiling",le="0.075"} 1`,
		`aiperf_time_to_first_token_seconds_bucket{phase="profiling",le="0.1"} 2`,
		`aiperf_time_to_first_token_seconds_count{phase="warmup"} 1`,
		`aiperf_inter_chunk_latency_seconds_count{phase="profiling"} 3`,
		`aiperf_inter_chunk_latency_seconds_bucket{phase="profiling",le="0.0001"} 1`,
		`aiperf_inter_chunk_latency_seconds_bucket{phase="profiling",le="0.005"} 2`,
		`aiperf_inter_chunk_latency_seconds_bucket{phase="profiling",le="0.02"} 3`,
		`aiperf_inter_token_latency_seconds_count{phase="profiling"} 2`,
		`aiperf_request_latency_seconds_sum{phase="profiling"} 0.125`,
		`aiperf_output_sequence_length_tokens_sum{phase="profiling"} 8`,
		`aiperf_output_tokens_total{phase="profiling"} 5`,
		`aiperf_reasoning_tokens_total{phase="profiling"} 3`,
		`aiperf_input_tokens_total{phase="profiling"} 14`,
		`aiperf_client_send_lag_seconds_count{phase="profiling"} 2`,
		`aiperf_client_send_lag_seconds_sum{phase="profiling"} 0.0005`,
		`aiperf_client_schedule_lag_seconds_sum{phase="profiling"} 0.002`,
		`aiperf_client_read_lag_seconds_sum{phase="profiling"} 0.00025`,
	)
	if strings.Contains(page, `run="`) {
		t.Error("a run that stands alone has a label")
	}
}

// A gap that is negative spoils the request's list, as in the summary.
func TestContradictoryGapsAreLeftOut(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, ""))
	p.Record(streamed(record.PhaseProfiling, 20, 15, 45))
	page, _ := get(t, p, "")
	contains(t, page, `aiperf_inter_chunk_latency_seconds_count{phase="profiling"} 0`,
		`aiperf_requests_total{outcome="success",phase="profiling"} 1`)
}

// What an endpoint does not have is absent, not zero.
func TestFiguresThatTheRunCannotHaveAreAbsent(t *testing.T) {
	set, err := metrics.NewSet(metrics.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	p := open(t)
	p.Begin(&progress.Run{Metrics: set, Phases: []progress.Plan{{Kind: record.PhaseProfiling}}})
	p.Record(streamed(record.PhaseProfiling, 20, 25))
	page, _ := get(t, p, "")
	contains(t, page, `aiperf_request_latency_seconds_count{phase="profiling"} 1`)
	for _, name := range []string{"aiperf_time_to_first_token", "aiperf_inter_chunk", "aiperf_output_tokens",
		"aiperf_good", `phase="warmup"`} {
		if strings.Contains(page, name) {
			t.Errorf("the page has %s", name)
		}
	}
}

// halfDone is a snapshot of a run half done, with everything that one can say.
func halfDone() *progress.Snapshot {
	return &progress.Snapshot{
		Phases: []progress.Phase{
			{Name: "warmup", Kind: record.PhaseWarmup, State: progress.PhaseComplete, Elapsed: 2 * time.Second,
				Progress: 1, RequestsSent: 5, RequestsCompleted: 5, ExpectedRequests: 5},
			{Name: "lanes", Kind: record.PhaseWarmup, State: progress.PhaseComplete, Elapsed: 6 * time.Second,
				Progress: 1, RequestsSent: 2, RequestsCompleted: 1, RequestsCancelled: 1},
			{Name: "profiling", Kind: record.PhaseProfiling, State: progress.PhaseStarted, Elapsed: 10 * time.Second,
				Progress: 0.25, RequestsSent: 40, RequestsCompleted: 25, RequestsCancelled: 1,
				SentSessions: 30, CompletedSessions: 20, CancelledSessions: 1, SkippedArrivals: 4, DroppedArrivals: 2,
				TargetRate: 2.5},
		},
		Client: &progress.Client{
			Verdict:  "client_limited",
			Findings: []progress.Finding{{Code: "tool_lag", LeadsTo: "client_limited"}},
			Figures: []progress.Figure{
				{Name: "client_cpu_ratio", Value: 0.25}, {Name: "client_gc_cycles_total", Value: 5},
				{Name: "host_network_received_bytes_total", Labels: []string{"eth0"}, Value: 1000},
				{Name: "host_pressure_ratio", Labels: []string{"cpu", "some"}, Value: 0.25},
				{Name: "client_figure_of_another_page", Value: 1},
			},
		},
	}
}

func TestStateOfTheRun(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, ""))
	p.Show(halfDone())
	page, _ := get(t, p, "")
	contains(t, page,
		`aiperf_phase_state{phase="profiling",state="started"} 1`,
		`aiperf_phase_state{phase="profiling",state="complete"} 0`,
		`aiperf_phase_state{phase="warmup",state="complete"} 1`,
		`aiperf_phase_progress_ratio{phase="profiling"} 0.25`, `aiperf_phase_elapsed_seconds{phase="profiling"} 10`,
		`aiperf_phase_elapsed_seconds{phase="warmup"} 6`,
		`aiperf_requests_sent_total{phase="profiling"} 40`, `aiperf_requests_in_flight{phase="profiling"} 14`,
		`aiperf_requests_cut_off_total{phase="profiling"} 1`,
		`aiperf_requests_sent_total{phase="warmup"} 7`, `aiperf_requests_cut_off_total{phase="warmup"} 1`,
		`aiperf_requests_in_flight{phase="warmup"} 0`,
		`aiperf_sessions_started_total{phase="profiling"} 30`, `aiperf_sessions_in_flight{phase="profiling"} 9`,
		`aiperf_arrivals_skipped_total{phase="profiling"} 4`, `aiperf_arrivals_dropped_total{phase="profiling"} 2`,
		`aiperf_target_request_rate{phase="profiling"} 2.5`,
		`aiperf_client_verdict{verdict="client_limited"} 1`, `aiperf_client_verdict{verdict="valid"} 0`,
		`aiperf_client_finding{code="tool_lag",leads_to="client_limited"} 1`,
		`aiperf_client_cpu_ratio 0.25`, `aiperf_client_gc_cycles_total 5`,
		`aiperf_host_network_received_bytes_total{device="eth0"} 1000`,
		`aiperf_host_pressure_ratio{kind="some",resource="cpu"} 0.25`,
	)
	if strings.Contains(page, "another_page") {
		t.Error("a figure without a family is on the page")
	}
}

// The progress is that of the phase under way, whatever those before it did.
func TestProgressOfTheSecondOfTwoPhases(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, ""))
	p.Show(&progress.Snapshot{Phases: []progress.Phase{
		{Index: 0, Kind: record.PhaseWarmup, State: progress.PhaseComplete, Elapsed: 2 * time.Second, Progress: 1,
			RequestsSent: 40, RequestsCompleted: 40},
		{Index: 1, Kind: record.PhaseWarmup, State: progress.PhaseStarted, Elapsed: 3 * time.Second, Progress: 0.1,
			RequestsSent: 10, RequestsCompleted: 5},
	}})
	page, _ := get(t, p, "")
	contains(t, page, `aiperf_phase_progress_ratio{phase="warmup"} 0.1`,
		`aiperf_requests_sent_total{phase="warmup"} 50`, `aiperf_phase_elapsed_seconds{phase="warmup"} 3`)
}

func TestNoVerdictIsNotOnThePage(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, ""))
	s := halfDone()
	s.Client.Verdict = ""
	p.Show(s)
	page, _ := get(t, p, "")
	contains(t, page, `aiperf_client_cpu_ratio 0.25`)
	if strings.Contains(page, "aiperf_client_verdict{") {
		t.Error("a verdict before there was anything to judge")
	}
	p.End(&progress.Ending{Last: halfDone()})
	page, _ = get(t, p, "")
	contains(t, page, `aiperf_client_verdict{verdict="client_limited"} 1`)
}

func TestErrorsOfAServerAreBounded(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, ""))
	for i := range 3 * errorKinds {
		p.Record(failed(fmt.Sprintf("kind %d\xff%s", i, strings.Repeat("x", 300)), 500))
	}
	p.Record(failed("kind 0\xff"+strings.Repeat("x", 300), 500))
	page, _ := get(t, p, "")
	if n := strings.Count(page, "\naiperf_request_errors_total{"); n != errorKinds+1 {
		t.Errorf("%d series of errors, want %d", n, errorKinds+1)
	}
	contains(t, page, fmt.Sprintf(`aiperf_request_errors_total{code="",phase="profiling",type="other"} %d`,
		2*errorKinds))
	if !strings.Contains(page, `type="kind 0xxx`) {
		t.Error("the bytes that are no text are still there")
	}
}

// Two kinds whose labels are cut to the same text are one series.
func TestErrorsThatAreCutAlikeAreOne(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, ""))
	long := strings.Repeat("x", labelLength)
	p.Record(failed(long+"a", 500))
	p.Record(failed(long+"b", 500))
	page, _ := get(t, p, "")
	contains(t, page, `aiperf_request_errors_total{code="500",phase="profiling",type="`+long+`"} 2`)
}

// A scraper that asks for the protobuf format gets exponential buckets beside the classic ones.
func TestNativeHistograms(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, ""))
	for i := range int64(1000) {
		p.Record(streamed(record.PhaseProfiling, 1+i, 2+i))
	}
	page, header := get(t, p, "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;q=0.5")
	if got := header.Get("Content-Type"); !strings.HasPrefix(got, "application/vnd.google.protobuf") {
		t.Fatalf("content type %q", got)
	}
	in := bytes.NewReader([]byte(page))
	for {
		var f dto.MetricFamily
		if err := protodelim.UnmarshalFrom(in, &f); err != nil {
			t.Fatal("no family of the TTFT:", err)
		}
		if f.GetName() != "aiperf_time_to_first_token_seconds" {
			continue
		}
		for _, m := range f.Metric {
			h := m.Histogram
			if m.Label[0].GetValue() != record.PhaseProfiling {
				continue
			}
			var n, total int64
			for _, d := range h.PositiveDelta {
				n += d
				total += n
			}
			if h.GetSchema() != 3 || total != 1000 || h.GetSampleCount() != 1000 || len(h.PositiveDelta) > nativeMost {
				t.Errorf("schema %d, %d in %d buckets, count %d", h.GetSchema(), total, len(h.PositiveDelta),
					h.GetSampleCount())
			}
			if len(h.Bucket) != len(latencyBounds) {
				t.Errorf("%d classic buckets", len(h.Bucket))
			}
		}
		return
	}
}

// The run under way and the one before it are shown.
func TestRunsOfASeries(t *testing.T) {
	p := open(t)
	page, _ := get(t, p, "")
	if strings.Contains(page, "aiperf_") {
		t.Error("figures before the first run")
	}
	for i := 1; i <= 3; i++ {
		p.Begin(runOf(t, fmt.Sprintf("run_%04d", i)))
		p.Show(halfDone())
		for range i {
			p.Record(streamed(record.PhaseProfiling, 20, 25))
		}
	}
	page, _ = get(t, p, "")
	contains(t, page, `aiperf_requests_total{outcome="success",phase="profiling",run="run_0002"} 2`,
		`aiperf_requests_total{outcome="success",phase="profiling",run="run_0003"} 3`,
		`aiperf_requests_in_flight{phase="profiling",run="run_0002"} 14`)
	if strings.Contains(page, "run_0001") {
		t.Error("the first of three runs is still there")
	}
}

func TestAPageThatCannotBeHad(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := l.Addr().String()
	if _, err = Listen(address); err == nil || !strings.HasPrefix(err.Error(), "cannot listen on "+address+": ") ||
		strings.Count(err.Error(), address) != 1 {
		t.Errorf("got %v", err)
	}
}

// The page answers nothing else, and does not outlive its end.
func TestOnlyThePageIsServed(t *testing.T) {
	p := open(t)
	base := strings.TrimSuffix(p.URL(), Path)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, c := range []struct {
		method, path string
		want         int
	}{{"GET", "/", 200}, {"GET", "/other", 404}, {"POST", Path, 405}, {"GET", "/debug/pprof/", 404}} {
		request, _ := http.NewRequest(c.method, base+c.path, nil)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, response.StatusCode, c.want)
		}
	}
	p.Close()
	if response, err := client.Get(base); err == nil {
		response.Body.Close()
		t.Error("the page answers after its end")
	}
}

// All figures of a request appear together.
func TestAPageHasWholeRequests(t *testing.T) {
	p := &Page{}
	p.Begin(runOf(t, ""))
	var all sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		all.Go(func() {
			rec := streamed(record.PhaseProfiling, 20, 25, 45)
			for {
				select {
				case <-done:
					return
				default:
					p.Record(rec)
				}
			}
		})
	}
	defer all.Wait()
	defer close(done)
	for range 100 {
		families, err := p.Gather()
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]float64{}
		for _, f := range families {
			for _, m := range f.Metric {
				if !slices.ContainsFunc(m.Label,
					func(l *dto.LabelPair) bool { return l.GetValue() == record.PhaseProfiling }) {
					continue
				}
				if h := m.Histogram; h != nil {
					counts[f.GetName()] = float64(h.GetSampleCount())
				} else if m.Counter != nil {
					counts[f.GetName()] += m.Counter.GetValue()
				}
			}
		}
		n := counts["aiperf_requests_total"]
		if counts["aiperf_request_latency_seconds"] != n || counts["aiperf_inter_chunk_latency_seconds"] != 2*n ||
			counts["aiperf_output_tokens_total"] != 3*n {
			t.Fatalf("figures of half a request: %v", counts)
		}
	}
}

// promtool's rules.
func TestThePageKeepsTheRulesOfPrometheus(t *testing.T) {
	p := open(t)
	p.Begin(runOf(t, "run_0001"))
	p.Record(streamed(record.PhaseProfiling, 20, 25))
	p.Record(failed("with \"quotes\"\nand lines\\", 500))
	p.Show(halfDone())
	page, _ := get(t, p, "")
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// scrape is one of a program that comes again.
func scrape(p *Page) {
	request := httptest.NewRequest("GET", Path, nil)
	request.Header.Set(timeoutHeader, "10")
	p.scraped(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), request)
}

// waited is how long Linger took after scrapes at these seconds and the end of the run at another, with scrapes after
// it.
func waited(t *testing.T, before []int, end int, after ...int) (took, said time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		p, start := &Page{}, time.Now()
		at := func(second int) { time.Sleep(time.Until(start.Add(time.Duration(second) * time.Second))) }
		for _, second := range before {
			at(second)
			scrape(p)
		}
		at(end)
		ended := time.Now()
		var later sync.WaitGroup
		later.Go(func() {
			for _, second := range after {
				at(second)
				scrape(p)
			}
		})
		p.Linger(time.Minute, nil, func(d time.Duration) { said = d })
		took = time.Since(ended)
		later.Wait()
	})
	return took, said
}

func TestTheLastScrapeIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name       string
		before     []int
		end        int
		after      []int
		took, said time.Duration
	}{
		{"it comes", []int{0, 15, 30}, 35, []int{45, 60}, 10 * time.Second, 17500 * time.Millisecond},
		{"it does not come", []int{0, 15, 30}, 35, nil, 17500 * time.Millisecond, 17500 * time.Millisecond},
		{"nobody scrapes", nil, 35, nil, 0, 0},
		{"somebody has looked once", []int{10}, 35, []int{45}, 0, 0},
		{"the scraper has gone away", []int{0, 15}, 100, nil, 0, 0},
		{"a scraper that is slow", []int{0, 300}, 310, nil, time.Minute, time.Minute},
	} {
		if took, said := waited(t, c.before, c.end, c.after...); took != c.took || said != c.said {
			t.Errorf("%s: took %s after saying %s, want %s and %s", c.name, took, said, c.took, c.said)
		}
	}
}

func TestAUserDoesNotWaitForTheLastScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, start := &Page{}, time.Now()
		scrape(p)
		time.Sleep(10 * time.Second)
		scrape(p)
		stop := make(chan struct{})
		go func() {
			time.Sleep(2 * time.Second)
			close(stop)
		}()
		p.Linger(time.Minute, stop, func(time.Duration) {})
		if took := time.Since(start); took != 12*time.Second {
			t.Errorf("it took until %s", took)
		}
		p.Linger(time.Minute, stop, func(time.Duration) { t.Error("it waits though the user wants to go") })
	})
}

func BenchmarkRecord(b *testing.B) {
	p := &Page{}
	p.Begin(runOf(b, ""))
	chunks := make([]int64, 100)
	for i := range chunks {
		chunks[i] = 20 + 5*int64(i) + int64(i%3)
	}
	rec := streamed(record.PhaseProfiling, chunks...)
	for b.Loop() {
		p.Record(rec)
	}
}

func BenchmarkScrape(b *testing.B) {
	p := open(b)
	p.Begin(runOf(b, ""))
	p.Show(halfDone())
	for i := range int64(5000) {
		p.Record(streamed(record.PhaseProfiling, 20+i%50, 25+i%70, 45+i%300))
	}
	for b.Loop() {
		get(b, p, "")
	}
}

func TestTrapSeveralPhasesOfAKindAreOneSeries(t *testing.T) {
	p := open(t)
	two, four := 2, 4
	run := runOf(t, "")
	run.Phases = []progress.Plan{{Name: "steady", Kind: progress.ProfilingKind, Concurrency: &two, Rate: 2},
		{Name: "peak", Kind: progress.ProfilingKind, Concurrency: &four, Rate: 2}}
	p.Begin(run)
	page, _ := get(t, p, "text/plain")
	contains(t, page, `aiperf_configured_concurrency{phase="profiling"} 2`,
		`aiperf_info{benchmark_id="id-",endpoint_type="chat",model="a,b",request_rate="2",streaming="true",version="1"} 1`)
	p.Show(&progress.Snapshot{Phases: []progress.Phase{
		{Index: 0, Kind: progress.ProfilingKind, State: progress.PhaseComplete, RequestsSent: 7},
		{Index: 1, Kind: progress.ProfilingKind, State: progress.PhaseStarted, RequestsSent: 5},
	}})
	page, _ = get(t, p, "text/plain")
	contains(t, page, `aiperf_configured_concurrency{phase="profiling"} 4`,
		`aiperf_requests_sent_total{phase="profiling"} 12`)
}
