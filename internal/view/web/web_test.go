package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = int64(1e6)

// open listens on a free port until the test ends.
func open(t testing.TB, change ...func(*Options)) *View {
	t.Helper()
	o := Options{Version: "1.2.3", Addresses: []Address{{Flag: "--web", Address: "127.0.0.1:0"}}}
	for _, c := range change {
		c(&o)
	}
	v, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close(time.Second) })
	return v
}

// chat is a run of chat requests, its measurements and a clock of its phases.
type chat struct {
	run    *progress.Run
	engine *metrics.Engine
}

func newChat(t testing.TB) *chat {
	t.Helper()
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput = true, true, true
	set, err := metrics.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	ten, hundred := 10, int64(100)
	return &chat{engine: set.NewEngine(), run: &progress.Run{
		BenchmarkID: "id-1", Version: "1.2.3", Command: "aiperf profile", Models: []string{"b", "a", "b"},
		EndpointType: "chat", Streaming: true, BaseURLs: []string{"http://127.0.0.1:8000"}, Dir: t.TempDir(),
		Report: "profile_export_aiperf.html", Metrics: set, Conversations: 7,
		Config:  artifact.Object{member("endpoint", artifact.Object{member("type", "chat")})},
		Info:    artifact.Object{member("benchmark_id", "id-1")},
		Servers: progress.Sources{Configured: []string{"http://a/metrics"}, Reachable: []string{"http://a/metrics"}},
		Phases: []progress.Plan{{Name: "warmup", Kind: progress.WarmupKind, Type: "concurrency", Concurrency: &ten},
			{Name: "profiling", Kind: progress.ProfilingKind, Type: "concurrency", Concurrency: &ten,
				Requests: &hundred}},
	}}
}

// streamed is a request whose chunks came at these milliseconds.
func streamed(chunks ...int64) *record.Record {
	r := &record.Record{Identity: record.Identity{Phase: record.PhaseProfiling}, Facts: record.NewFacts()}
	f := &r.Facts
	f[record.FirstContent], f[record.LastContent] = chunks[0]*ms, chunks[len(chunks)-1]*ms
	f[record.Contents], f[record.OutputTokens], f[record.InputTokens] = int64(len(chunks)), int64(len(chunks)), 7
	for i := 1; i < len(chunks); i++ {
		r.GapsNS = append(r.GapsNS, (chunks[i]-chunks[i-1])*ms)
	}
	return r
}

// send hands finished requests to the view and to the measurements.
func (c *chat) send(v *View, n int) {
	for i := range n {
		r := streamed(int64(20+i%10), int64(30+i%10), int64(45+i%10))
		c.engine.Add(r)
		v.Record(r)
	}
}

// snapshot is where the run stands after some of its 100 requests.
func (c *chat) snapshot(completed int64, stage progress.Stage, state progress.PhaseState) *progress.Snapshot {
	now := time.Now()
	return &progress.Snapshot{
		At: now, Stage: stage, Elapsed: 5 * time.Second, Records: progress.Records{Successes: completed},
		Phases: []progress.Phase{
			{Index: 0, Name: "warmup", Kind: progress.WarmupKind, State: progress.PhaseComplete, Elapsed: time.Second,
				Progress: 1, RequestsSent: 5, RequestsCompleted: 5, ExpectedRequests: 5},
			{Index: 1, Name: "profiling", Kind: progress.ProfilingKind, State: state, Elapsed: 4 * time.Second,
				Progress: float64(completed) / 100, Remaining: 6 * time.Second, ExpectedRequests: 100,
				RequestsSent: completed + 10, RequestsCompleted: completed, CompletedRate: float64(completed) / 4},
		},
		Figures: &progress.Figures{At: now, Metrics: c.engine.Results(), Servers: []progress.Figure{
			{Name: "server_requests_running", Value: 3}}},
		Client: &progress.Client{Verdict: "valid", Figures: []progress.Figure{{Name: "client_cpu_ratio", Value: 0.1}}},
		Errors: []progress.ErrorKind{{Code: 503, Type: "HTTPError", Message: "busy", Count: 2}},
		GPUs: []progress.GPU{{Source: "http://g", Model: "H200",
			Values: []progress.GPUValue{{Tag: "gpu_utilization", Unit: "%", Now: 50}}}},
	}
}

// running is a view of a run half done.
func running(t testing.TB, change ...func(*Options)) (*View, *chat) {
	t.Helper()
	v, c := open(t, change...), newChat(t)
	v.Begin(c.run)
	c.send(v, 40)
	v.Show(c.snapshot(40, progress.Profiling, progress.PhaseStarted))
	return v, c
}

// end ends the run.
func (c *chat) end(v *View, cancelled, failed bool) {
	last := c.snapshot(40, progress.Done, progress.PhaseComplete)
	v.End(&progress.Ending{Last: last, HasResults: true, Metrics: c.engine.Results(), Completed: 40,
		Cancelled: cancelled, Failed: failed})
}

// ask sends a request whose path is sent as it is, and returns the reply with its body read.
func ask(t testing.TB, v *View, method, path string, change ...func(*http.Request)) (*http.Response, string) {
	t.Helper()
	at := &url.URL{Scheme: "http", Host: v.servers[0].Host(), Opaque: path}
	r := &http.Request{Method: method, URL: at, Header: http.Header{}}
	for _, c := range change {
		c(r)
	}
	reply, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(body)
}

// document reads a JSON reply.
func documentOf(t testing.TB, v *View, path string) map[string]any {
	t.Helper()
	reply, body := ask(t, v, "GET", path)
	var o map[string]any
	if err := json.Unmarshal([]byte(body), &o); err != nil || reply.StatusCode != 200 {
		t.Fatalf("%s: %s %v %s", path, reply.Status, err, body)
	}
	return o
}

// at returns what stands in a document at a path of keys; the test fails where there is nothing.
func at(t testing.TB, o any, path ...string) any {
	t.Helper()
	for _, key := range path {
		m, ok := o.(map[string]any)
		if _, has := m[key]; !ok || !has {
			t.Fatalf("there is no %s of %v in %v", key, path, o)
		}
		o = m[key]
	}
	return o
}

// sse reads the events of the live page.
type sse struct {
	t    testing.TB
	body io.Closer
	in   *bufio.Scanner
}

// follow opens the stream of the live page.
func follow(t testing.TB, v *View) *sse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+v.servers[0].Host()+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reply.Body.Close() })
	if reply.StatusCode != 200 || !strings.HasPrefix(reply.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatal(reply.Status, reply.Header)
	}
	in := bufio.NewScanner(reply.Body)
	in.Buffer(nil, 16<<20)
	return &sse{t: t, body: reply.Body, in: in}
}

// next returns the next event; an empty name is the end of the stream.
func (s *sse) next() (name string, data map[string]any) {
	s.t.Helper()
	for s.in.Scan() {
		line := s.in.Text()
		if v, ok := strings.CutPrefix(line, "event: "); ok {
			name = v
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(v), &data); err != nil {
				s.t.Fatalf("%s: %v", name, err)
			}
		}
		if line == "" && name != "" {
			return name, data
		}
	}
	return "", nil
}

// until reads events until one of a name comes.
func (s *sse) until(name string) map[string]any {
	s.t.Helper()
	for {
		got, data := s.next()
		if got == name {
			return data
		}
		if got == "" {
			s.t.Fatalf("the stream ended before %s: %v", name, s.in.Err())
		}
	}
}

func TestEveryRouteAnswersBeforeARunWithinItAndAfterIt(t *testing.T) {
	v, c := open(t), newChat(t)
	failing := map[string]int{"/api/dataset/data": 503, "/api/dataset/index": 503, "/ws": 426,
		"/api/tokenizer/{name}/bundle": 404, "/report/{run}/{name}": 404, "/api/results/files/{path}": 404}
	check := func(when string, ready int) {
		t.Helper()
		for _, r := range table {
			if r.Method != "GET" || r.Path == "/live" {
				continue
			}
			path := strings.NewReplacer("{name}", "x", "{path}", "x", "{run}", "9").Replace(r.Path)
			want := 200
			if n := failing[r.Path]; n != 0 {
				want = n
			}
			if r.Path == "/readyz" {
				want = ready
			}
			reply, body := ask(t, v, "GET", path)
			media := reply.Header.Get("Content-Type")
			if reply.StatusCode != want || want == 200 && (!strings.HasPrefix(media, strings.Split(r.Media, ";")[0]) ||
				r.Media == jsonMedia && !json.Valid([]byte(body))) {
				t.Errorf("%s: %s answers %s %s, want %d %s: %.200s", when, r.Path, reply.Status, media, want, r.Media,
					body)
			}
			if want != 200 && want != 503 && r.Path != "/readyz" && !slices.Contains(r.Errors, want) {
				t.Errorf("%s: status %d is not in the table", r.Path, want)
			}
		}
	}
	check("before", 503)
	v.Begin(c.run)
	check("begun", 200)
	c.send(v, 10)
	v.Show(c.snapshot(10, progress.Profiling, progress.PhaseStarted))
	check("within", 200)
	c.end(v, false, false)
	check("ended", 200)
	v.Finish()
	check("after", 503)
}

func TestOtherMethodsAndPathsAreRefused(t *testing.T) {
	v := open(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/api/config", 405, "GET, HEAD"}, {"DELETE", "/", 405, "GET, HEAD"},
		{"GET", "/api/shutdown", 405, "POST"},
		{"HEAD", "/healthz", 200, ""}, {"GET", "/nothing", 404, ""}, {"GET", "/api", 404, ""},
		{"GET", "/dashboard/x", 404, ""}, {"GET", "/dashboard-v2/x", 404, ""},
	} {
		reply, _ := ask(t, v, c.method, c.path)
		if reply.StatusCode != c.status || reply.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %s, allow %q", c.method, c.path, reply.Status, reply.Header.Get("Allow"))
		}
	}
}

func TestStatesOfTheSystem(t *testing.T) {
	v, c := open(t), newChat(t)
	state := func(want string) {
		t.Helper()
		if got := at(t, documentOf(t, v, "/api/progress"), "system_state"); got != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	state("configuring")
	v.Begin(c.run)
	state("ready")
	for _, s := range []struct {
		stage progress.Stage
		want  string
	}{{progress.Starting, "ready"}, {progress.WarmingUp, "profiling"}, {progress.Profiling, "profiling"},
		{progress.Draining, "profiling"}, {progress.Exporting, "processing"}} {
		v.Show(c.snapshot(1, s.stage, progress.PhaseStarted))
		state(s.want)
	}
	if documentOf(t, v, "/api/results/list")["processing"] != true {
		t.Error("the files are not being written")
	}
	c.end(v, false, false)
	state("stopping")
	v.SeriesChanged(&progress.Series{Kind: progress.SweepKind, Cells: []progress.Cell{
		{State: progress.CellDone}, {State: progress.CellRunning}}})
	state("configuring")
	v.Finish()
	state("shutdown")
}

func TestProgressHasTheNumbersOfAPhase(t *testing.T) {
	v, c := running(t)
	doc := documentOf(t, v, "/api/progress")
	p := at(t, doc, "phases", "profiling").(map[string]any)
	for key, want := range map[string]any{
		"phase": "profiling", "phase_index": 1.0, "profiling_index": 0.0, "phase_kind": "profiling",
		"total_expected_requests": 100.0, "requests_sent": 50.0, "requests_completed": 40.0, "in_flight_requests": 10.0,
		"requests_progress_percent": 40.0, "requests_per_second": 10.0, "requests_eta_sec": 6.0, "records_eta_sec": 6.0,
		"success_records": 40.0, "records_progress_percent": 40.0, "final_requests_sent": nil, "requests_end_ns": nil,
	} {
		if got := at(t, p, key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	if at(t, doc, "results_exported") != false || at(t, doc, "workers", "ready") != 1.0 {
		t.Errorf("%v", doc)
	}
	// Without progress there is no estimate.
	v.Show(&progress.Snapshot{At: time.Now(), Phases: []progress.Phase{{Index: 1, Name: "profiling",
		Kind:  progress.ProfilingKind,
		State: progress.PhaseStarted, Progress: -1, Remaining: -1, Elapsed: time.Second}}})
	p = at(t, documentOf(t, v, "/api/progress"), "phases", "profiling").(map[string]any)
	if p["requests_eta_sec"] != nil || p["requests_per_second"] != nil || p["requests_progress_percent"] != nil {
		t.Errorf("%v", p)
	}
	c.end(v, false, false)
	p = at(t, documentOf(t, v, "/api/progress"), "phases", "profiling").(map[string]any)
	if p["final_requests_completed"] != 40.0 || p["requests_eta_sec"] != 0.0 || p["requests_end_ns"] == nil {
		t.Errorf("%v", p)
	}
}

func TestMetricsAreTheSameEverywhere(t *testing.T) {
	v, _ := running(t)
	doc := documentOf(t, v, "/api/metrics")
	for key, want := range map[string]any{"aiperf_version": "1.2.3", "benchmark_id": "id-1", "model": "a,b",
		"endpoint_type": "chat", "streaming": true, "concurrency": 10.0, "request_rate": nil} {
		if got := at(t, doc, key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	p99 := at(t, doc, "metrics", "time_to_first_token", "p99").(float64)
	if at(t, doc, "metrics", "time_to_first_token", "count") != 40.0 || p99 < 28 || p99 > 29 {
		t.Errorf("%v", at(t, doc, "metrics", "time_to_first_token"))
	}
	_, text := ask(t, v, "GET", "/metrics")
	want := fmt.Sprintf("aiperf_time_to_first_token_ms{benchmark_id=\"id-1\",model=\"a,b\",endpoint_type=\"chat\","+
		"streaming=\"true\",concurrency=\"10\",quantile=\"0.99\"} %v\n", p99)
	if !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
	_, hello := follow(t, v).next()
	for _, m := range hello["metrics"].([]any) {
		if at(t, m, "tag") == "time_to_first_token" && at(t, m, "p99") != p99 {
			t.Errorf("the page has %v", m)
		}
	}
}

func TestFilesOfTheRun(t *testing.T) {
	v, c := open(t), newChat(t)
	if list := documentOf(t, v, "/api/results/list"); len(at(t, list, "files").([]any)) != 0 || list["ready"] != false {
		t.Errorf("%v", list)
	}
	v.Begin(c.run)
	write(t, c.run.Dir, "b.csv", "x,y\n")
	write(t, c.run.Dir, "a.json", "{}")
	write(t, c.run.Dir, ".aiperf.lock", "lock")
	write(t, c.run.Dir, "logs/aiperf.log", "line")
	write(t, c.run.Dir, "profile_export_aiperf.html", "<h1>report</h1>")
	c.end(v, false, false)
	list := documentOf(t, v, "/api/results/list")
	var names []string
	for _, f := range at(t, list, "files").([]any) {
		names = append(names, fmt.Sprint(at(t, f, "name"), " ", at(t, f, "size")))
	}
	if want := []string{"a.json 2", "b.csv 4", "profile_export_aiperf.html 15"}; !slices.Equal(names, want) ||
		list["ready"] != true {
		t.Errorf("%v, want %v", list, want)
	}
	reply, body := ask(t, v, "GET", "/api/results/files/logs/aiperf.log")
	if reply.StatusCode != 200 || body != "line" || reply.Header.Get("X-Filename") != "aiperf.log" ||
		reply.Header.Get("Content-Disposition") != "attachment; filename=aiperf.log" {
		t.Errorf("%s %v", reply.Status, reply.Header)
	}
	// A report is shown within a sandbox, and as a file it is a download.
	reply, body = ask(t, v, "GET", "/report/1/profile_export_aiperf.html")
	if reply.StatusCode != 200 || body != "<h1>report</h1>" ||
		!strings.HasPrefix(reply.Header.Get("Content-Security-Policy"), "sandbox ") {
		t.Errorf("%s %v", reply.Status, reply.Header)
	}
	reply, _ = ask(t, v, "GET", "/api/results/files/profile_export_aiperf.html")
	if !strings.HasPrefix(reply.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%v", reply.Header)
	}
}

func TestTrapPathsThatLeadOutAre400(t *testing.T) {
	v, _ := running(t)
	for _, path := range []string{"/api/results/files/../x", "/api/results/files/%2e%2e/x", "/api/results/files/..%2fx",
		"/api/results/files/a/..%5c..%5cx", "/api/results/files/%252e%252e%252fx", "/report/1/..",
		"/report/1/%2e%2e%2fx", "/../etc/passwd"} {
		if reply, body := ask(t, v, "GET", path); reply.StatusCode != 400 || !strings.HasPrefix(body, `{"detail":"`) {
			t.Errorf("%s: %s %s", path, reply.Status, body)
		}
	}
}

func TestTrapResultsAfterCtrlCAreCancelledAndOfADegradedRunIncomplete(t *testing.T) {
	for _, c := range []struct {
		status            string
		cancelled, failed bool
	}{{"complete", false, false}, {"cancelled", true, false}, {"cancelled", true, true}, {"incomplete", false, true}} {
		v, run := running(t)
		if r := documentOf(t, v, "/api/results"); r["status"] != "running" || r["results"] != nil {
			t.Errorf("in the run: %v", r)
		}
		run.end(v, c.cancelled, c.failed)
		r := documentOf(t, v, "/api/results")
		if r["status"] != c.status {
			t.Errorf("%v, want %s", r["status"], c.status)
		}
		if at(t, r, "results", "completed") != 40.0 || at(t, r, "results", "was_cancelled") != c.cancelled ||
			len(at(t, r, "results", "records").([]any)) < 5 {
			t.Errorf("%v", r["results"])
		}
		if partial := documentOf(t, v, "/api/results/list")["partial"]; partial != (c.cancelled || c.failed) {
			t.Errorf("%s: partial %v", c.status, partial)
		}
	}
	v, run := running(t)
	v.End(&progress.Ending{Last: run.snapshot(0, progress.Done, progress.PhaseComplete)})
	if r := documentOf(t, v, "/api/results"); r["status"] != "incomplete" || r["results"] != nil {
		t.Errorf("a run without results: %v", r)
	}
}

func TestTrapShutdownDuringARunIsRefused(t *testing.T) {
	v, c := running(t)
	stop := make(chan struct{})
	shut := func() (int, string) {
		reply, body := ask(t, v, "POST", "/api/shutdown")
		return reply.StatusCode, body
	}
	if status, body := shut(); status != 409 || !strings.Contains(body, "still running") {
		t.Errorf("%d %s", status, body)
	}
	v.Show(c.snapshot(50, progress.Profiling, progress.PhaseStarted))
	if p := at(t, documentOf(t, v, "/api/progress"), "phases", "profiling", "requests_completed"); p != 50.0 {
		t.Errorf("the run does not go on: %v", p)
	}
	c.end(v, false, false)
	if status, _ := shut(); status != 409 {
		t.Errorf("%d between two runs", status)
	}
	v.Finish()
	lingered := make(chan struct{})
	go func() {
		defer close(lingered)
		v.Linger(time.Hour, stop)
	}()
	status, body := shut()
	if status != 200 || body != `{"status":"shutting_down"}` {
		t.Errorf("%d %s", status, body)
	}
	<-lingered
	if status, _ := shut(); status != 200 {
		t.Errorf("%d for a second request", status)
	}
}

func TestLingeringEndsWhenTheUserWantsIt(t *testing.T) {
	v := open(t)
	stop := make(chan struct{})
	close(stop)
	v.Linger(time.Hour, stop)
	v.Linger(time.Nanosecond, nil)
}

func TestTrapUploads(t *testing.T) {
	v := open(t)
	for _, c := range []struct {
		path   string
		status int
	}{
		{"x.json", 400}, {"raw_records_1.json", 400}, {"raw_records_..jsonl", 400}, {"..%2fraw_records_1.jsonl", 400},
		{"raw_records_%2e%2e%2f1.jsonl", 400}, {"raw_records_1.jsonl", 409},
	} {
		reply, body := ask(t, v, "POST", "/api/results/upload/"+c.path, func(r *http.Request) {
			r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n{}\r\n--b--\r\n"
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(form)), int64(len(form))
		})
		if reply.StatusCode != c.status {
			t.Errorf("%s: %s %s", c.path, reply.Status, body)
		}
	}
}

// What is longer than a form for nothing is refused before it has come.
func TestLongUploadsAreNotRead(t *testing.T) {
	v := open(t)
	reader := &endless{head: "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"}
	at := "http://" + v.servers[0].Host() + "/api/results/upload/raw_records_1.jsonl"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, reader)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	r.ContentLength = 1 << 30
	// The server closes the connection, which the client may see before it sees the reply.
	if reply, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r); err == nil {
		reply.Body.Close()
		if reply.StatusCode != http.StatusConflict {
			t.Error(reply.Status)
		}
	}
	if n := reader.read.Load(); n > 64<<20 { // what lies in sockets, and some
		t.Errorf("%d bytes were taken", n)
	}
}

// endless is a body that goes on.
type endless struct {
	head string
	read atomic.Int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	for i := range p[n:] {
		p[n+i] = 'x'
	}
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestAnOpenedPageGetsEverythingSoFarAndThenWhatIsNew(t *testing.T) {
	v, c := running(t)
	v.Log(LogLine{At: time.Now(), Level: "INFO", Component: "x", Message: "before"})
	s := follow(t, v)
	hello := s.until("hello")
	if at(t, hello, "run", "id") != "id-1" || len(at(t, hello, "log").([]any)) != 1 ||
		len(at(t, hello, "phases").([]any)) != 2 || at(t, hello, "stage") != "profiling" {
		t.Errorf("%v", hello)
	}
	for _, key := range []string{"columns", "rows", "metrics", "servers", "client", "errors", "gpus"} {
		at(t, hello, key)
	}
	v.Log(LogLine{At: time.Now(), Level: "WARNING", Component: "x", Message: "one"})
	v.Log(LogLine{At: time.Now(), Level: "WARNING", Component: "x", Message: "two"})
	lines := at(t, s.until("log"), "lines").([]any)
	if len(lines) != 2 || lines[1].([]any)[3] != "two" {
		t.Errorf("%v", lines)
	}
	v.SeriesChanged(&progress.Series{Kind: progress.SweepKind, Planned: 2,
		Cells: []progress.Cell{{Label: "concurrency=1",
			State: progress.CellRunning, Dir: c.run.Dir, Values: []progress.CellValue{{Name: "concurrency", Text: "1",
				Number: 1}}}}})
	if at(t, s.until("series"), "kind") != "sweep" {
		t.Error("no series")
	}
	c.end(v, false, false)
	update := s.until("update")
	if at(t, update, "end", "status") != "complete" ||
		at(t, update, "end", "report") != "report/1/profile_export_aiperf.html" {
		t.Errorf("%v", update["end"])
	}
	// The next run of the series begins from nothing; the report of the last one stays within reach.
	next := newChat(t)
	v.Begin(next.run)
	hello = s.until("hello")
	if hello["number"] != 2.0 || hello["end"] != nil || hello["phases"] != nil {
		t.Errorf("%v", hello)
	}
	cell := at(t, hello, "series", "cells").([]any)[0]
	if at(t, cell, "report") != "report/1/profile_export_aiperf.html" {
		t.Errorf("%v", cell)
	}
	next.end(v, false, false)
	v.Finish()
	if at(t, s.until("finished"), "finished") != true {
		t.Error("not finished")
	}
	v.Close(10 * time.Second)
	if name, _ := s.next(); name != "" {
		t.Errorf("%s after the end", name)
	}
}

func TestALogThatFloodsDropsNoPage(t *testing.T) {
	v, _ := running(t)
	s := follow(t, v)
	s.until("hello")
	for i := range 50 * mailbox {
		v.Log(LogLine{At: time.Now(), Level: "DEBUG", Message: fmt.Sprint(i)})
	}
	for {
		lines := at(t, s.until("log"), "lines").([]any)
		if len(lines) > maxLog {
			t.Fatalf("%d lines at once", len(lines))
		}
		if lines[len(lines)-1].([]any)[3] == fmt.Sprint(50*mailbox-1) {
			break
		}
	}
}

func TestHostileTextsNeverBecomeMarkup(t *testing.T) {
	v, c := open(t), newChat(t)
	const evil = "</script><img src=x onerror=alert(1)>\u2028\r\ndata: x\r\n\r\nevent: hello"
	c.run.Models, c.run.Report = []string{evil}, "a?b#c/../%22<x>.html"
	v.Begin(c.run)
	snapshot := c.snapshot(1, progress.Profiling, progress.PhaseStarted)
	snapshot.Errors[0].Message, snapshot.GPUs[0].Model = evil, evil
	v.Show(snapshot)
	v.Log(LogLine{At: time.Now(), Level: "ERROR", Message: evil})
	s := follow(t, v)
	name, hello := s.next()
	if name != "hello" || at(t, at(t, hello, "errors").([]any)[0], "message") != evil {
		t.Errorf("%s %v", name, hello)
	}
	c.end(v, false, false)
	link := at(t, s.until("update"), "end", "report").(string)
	if strings.ContainsAny(link, "?#<\"") || !strings.HasPrefix(link, "report/1/") || strings.Count(link, "/") != 2 {
		t.Errorf("the link is %s", link)
	}
	reply, page := ask(t, v, "GET", "/")
	if strings.Contains(page, "alert(1)") {
		t.Error("a text of the run stands in the page")
	}
	policy := reply.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'",
		"base-uri 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %s lacks %s", policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
	_, text := ask(t, v, "GET", "/metrics")
	for line := range strings.Lines(text) {
		if strings.Contains(line, "\r") && !strings.Contains(line, `\n`) || strings.HasPrefix(line, "data:") {
			t.Errorf("%q", line)
		}
	}
}

func TestThePageAsksNobodyElse(t *testing.T) {
	v := open(t)
	for _, path := range []string{"/", "/docs"} {
		reply, page := ask(t, v, "GET", path)
		testkit.Page(t, path, page, reply.Header.Get("Content-Security-Policy"))
		for _, mark := range []string{"src=\"http", "href=\"http", "url(http", "@import", "//cdn"} {
			if strings.Contains(page, mark) {
				t.Errorf("%s has %s", path, mark)
			}
		}
	}
}

func TestOriginsMayReadTheAPI(t *testing.T) {
	v := open(t, func(o *Options) { o.Origins = []string{"https://a.example"} })
	for origin, allow := range map[string]string{"https://a.example": "https://a.example", "https://b.example": ""} {
		reply, _ := ask(t, v, "GET", "/api/config", func(r *http.Request) { r.Header.Set("Origin", origin) })
		if got := reply.Header.Get("Access-Control-Allow-Origin"); got != allow {
			t.Errorf("%s: %q", origin, got)
		}
	}
	if reply, _ := ask(t, v, "POST", "/api/shutdown", func(r *http.Request) {
		r.Header.Set("Origin", "https://b.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}); reply.StatusCode != 403 {
		t.Errorf("another origin ends the program: %s", reply.Status)
	}
}

func TestTheTableOfRoutesAndTheOpenAPIDocumentAgree(t *testing.T) {
	v := open(t)
	doc := documentOf(t, v, "/openapi.json")
	paths := at(t, doc, "paths").(map[string]any)
	if len(paths) != len(table) {
		t.Errorf("%d paths of %d", len(paths), len(table))
	}
	for _, r := range table {
		operation := at(t, paths, r.Path, strings.ToLower(r.Method))
		if n := strings.Count(r.Path, "{"); n > 0 && len(at(t, operation, "parameters").([]any)) != n {
			t.Errorf("%s: %v", r.Path, operation)
		}
	}
}

func TestATakenPortIsNamed(t *testing.T) {
	v := open(t)
	_, err := Listen(Options{Addresses: []Address{{Flag: "--api-port", Address: v.servers[0].Host(), Open: true}}})
	if err == nil || !strings.HasPrefix(err.Error(), "--api-port: cannot listen on "+v.servers[0].Host()) {
		t.Errorf("%v", err)
	}
}

func TestHistoryStaysBoundedAndKeepsItsSums(t *testing.T) {
	c := newChat(t)
	var h history
	start := time.Now()
	h.begin(c.run.Metrics, start)
	s := c.snapshot(1, progress.Profiling, progress.PhaseStarted)
	sent := 5 * mostRows
	for i := range sent {
		h.add(streamed(20, 30))
		h.advance(start.Add(time.Duration(i+1)*firstRow), s)
	}
	h.close()
	h.advance(start.Add(time.Duration(sent+1)*firstRow), s)
	if len(h.rows) > mostRows {
		t.Errorf("%d rows", len(h.rows))
	}
	var rows [][]float64
	if err := json.Unmarshal(bytes.ReplaceAll(h.text(), []byte("null"), []byte("-1")), &rows); err != nil {
		t.Fatal(err)
	}
	done, from, flight := 0.0, 0.0, slices.Index(columns, "in_flight")
	for _, r := range rows {
		if r[0] <= from || len(r) != len(columns) {
			t.Fatalf("a row at %v after %v, %d of %d figures", r[0], from, len(r), len(columns))
		}
		done += r[1] * (r[0] - from)
		from = r[0]
		if r[flight] != 10 {
			t.Errorf("in flight %v", r[flight])
		}
	}
	if int(done+0.5) != sent {
		t.Errorf("%v requests of %d", done, sent)
	}
}
