package browse

import (
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
)

// hostile is a name that runs, if a page does not escape it.
const hostile = `</script><img src=x onerror=alert(1)>"'<b>` + "\x1b[31m\u0085\x7f"

// summaryText is the summary of a run as the program writes it.
func summaryText(model string, concurrency int, ttft float64) string {
	name, _ := json.Marshal(model)
	return fmt.Sprintf(`{"schema_version":"1.5","aiperf_version":"0.1.0","benchmark_id":"b",
"request_throughput":{"unit":"requests/sec","avg":%g},"output_token_throughput":{"unit":"tokens/sec","avg":%g},
"request_latency":{"unit":"ms","avg":60,"p50":65,"p90":70,"p99":92},
"time_to_first_token":{"unit":"ms","avg":%[4]g,"p50":%[4]g,"p99":%[4]g},"request_count":{"unit":"requests","avg":60},
"input_config":{"models":{"items":[{"name":%[3]s}]},"endpoint":{"urls":["http://h"],"type":"chat","streaming":true},
"phases":[{"kind":"profiling","type":"concurrency","concurrency":%[5]d}]},"run_info":{"run_label":%[3]s},
"error_summary":[{"error_details":{"code":503,"type":"T","message":%[3]s},"count":2}],
"provenance":{},"client_health":{"verdict":"valid"},"was_cancelled":false,
"start_time":"2026-11-24T04:08:04.076239","end_time":"2026-11-24T04:08:05.623674"}`, 100/ttft, 1600/ttft, name, ttft,
		concurrency)
}

// folders makes folders with runs, and returns where they are.
func folders(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// usual are two runs, a sweep, a damaged run and one that was killed.
func usual() map[string]string {
	return map[string]string{
		"secret.txt":                             "outside",
		"art/a/profile_export_aiperf.json":       summaryText("m", 4, 20),
		"art/b/profile_export_aiperf.json":       summaryText(hostile, 8, 40),
		"art/b/logs/aiperf.log":                  "log\n",
		"art/b/profile_export_aiperf.html":       "<script>alert(1)</script>",
		"art/damaged/profile_export_aiperf.json": `{"input_config":`,
		"art/s/c_2/profile_export_aiperf.json":   summaryText("m", 2, 10),
		"art/s/c_4/profile_export_aiperf.json":   summaryText("m", 4, 10),
		"art/r/aggregate/profile_export_aiperf_aggregate.json": `{"metadata":{"num_profile_runs":2,` +
			`"num_successful_runs":2,"model":"m"},"metrics":{"request_throughput_avg":{"mean":30.5,"unit":"requests/sec"}}}`,
		"art/s/sweep_aggregate/profile_export_aiperf_sweep.json": `{"aggregation_type":"sweep","metadata":` +
			`{"sweep_parameters":[{"name":"concurrency"}]},"per_combination_metrics":[{"parameters":{"concurrency":2},` +
			`"metrics":{"request_throughput_avg":{"mean":30.5,"unit":"requests/sec"}}},{"parameters":{"concurrency":4},` +
			`"metrics":{"request_throughput_avg":{"mean":50.5,"unit":"requests/sec"}}}],"best_configurations":{},` +
			`"pareto_optimal":[]}`,
	}
}

// served is a server of folders in a test.
type served struct {
	*Server
	t   testing.TB
	web *httptest.Server
}

func serve(t testing.TB, dir string) *served {
	t.Helper()
	s, err := New(Options{Paths: []string{filepath.Join(dir, "art")}, Version: "test"})
	if err == nil {
		err = s.Search()
	}
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() { web.Close(); s.Close() })
	return &served{s, t, web}
}

// get returns a reply.
func (s *served) get(path string) (status int, body string, head http.Header) {
	s.t.Helper()
	reply, err := http.Get(s.web.URL + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply.StatusCode, string(text), reply.Header
}

// id returns the id of the item with a name.
func (s *served) id(name string) string {
	s.t.Helper()
	for _, it := range s.current().items {
		if it.name == name {
			return it.id
		}
	}
	s.t.Fatalf("there is no %s", name)
	return ""
}

// A run is first what went wrong with it, whatever the verdict on its client.
func TestStateOfAnItem(t *testing.T) {
	failed := judge.Judge(&judge.Facts{Successes: 95, Failed: 5, Failures: []judge.Failure{{Name: "503", Code: 503, Count: 5}}})
	whole := judge.Judge(&judge.Facts{Successes: 100})
	for _, c := range []struct {
		of         library.Facts
		title, why string
		level      judge.Level
	}{
		{library.Facts{State: whole.State, Finding: whole.First()}, "Complete", "", judge.Good},
		{library.Facts{State: failed.State, Finding: failed.First()}, "5 % failed",
			"5 of 100 requests failed (5 %), most with 5 × 503.", judge.Bad},
		{library.Facts{State: failed.State, Finding: failed.First(), Fault: "torn"}, "Damaged", "torn", judge.Bad},
		{library.Facts{Incomplete: "the search did not end"}, "Incomplete", "the search did not end", judge.Warn},
	} {
		got, why := state(&c.of)
		if got.Title != c.title || got.Level != c.level || why != c.why {
			t.Errorf("%+v, %q, want %s %s, %q", got, why, c.title, c.level, c.why)
		}
		if list := statusOf(&c.of); len(list) != 1 || list[0].Level != string(c.level) {
			t.Errorf("%+v, want one of level %s", list, c.level)
		}
	}
}

func TestListHasAllFolders(t *testing.T) {
	s := serve(t, folders(t, usual()))
	_, body, _ := s.get("/api/runs")
	var got listData
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	byName := map[string]listed{}
	for _, i := range got.Items {
		byName[i.Name] = i
	}
	if len(byName) != 7 {
		t.Errorf("%d items: %v", len(byName), body)
	}
	if a := byName["a"]; a.Kind != "run" || a.Model != "m" || a.Load != "concurrency 4" || a.State != "Complete" ||
		a.Figures["time_to_first_token_p50"] != 20 {
		t.Errorf("%+v", a)
	}
	if d := byName["damaged"]; d.State != "Damaged" || !strings.Contains(d.Why, "profile_export_aiperf.json is damaged") {
		t.Errorf("%+v", d)
	}
	if sweep := byName["s"]; sweep.Kind != "sweep" || sweep.Ranges["request_throughput_avg"] != [2]float64{30.5, 50.5} ||
		byName["s/c_2"].Parent != sweep.ID {
		t.Errorf("%+v", sweep)
	}
}

// pagesOf are the addresses of all pages of a server.
func pagesOf(s *served) []string {
	out := []string{"/"}
	for _, it := range s.current().items {
		for _, tab := range tabs(&it) {
			out = append(out, tab.Path)
		}
		out = append(out, "/r/"+it.id)
	}
	return out
}

func TestTextsOfRunsAreEscaped(t *testing.T) {
	s := serve(t, folders(t, usual()))
	for _, path := range pagesOf(s) {
		status, body, head := s.get(path)
		if status != http.StatusOK {
			t.Errorf("%s: status %d", path, status)
		}
		if strings.Contains(body, "<img src=x") || strings.Contains(body, "</script><img") {
			t.Errorf("%s contains a text of a run as markup", path)
		}
		testkit.Page(t, path, body, head.Get("Content-Security-Policy"))
	}
	status, body, head := s.get("/r/nothing/figures")
	if status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
	testkit.Page(t, "the page of an error", body, head.Get("Content-Security-Policy"))
}

func TestTrapPathsThatLeadOutAreRefused(t *testing.T) {
	s := serve(t, folders(t, usual()))
	at := s.web.Listener.Addr().String()
	for _, path := range []string{"../../secret.txt", "..%2f..%2fsecret.txt", "%2e%2e/%2e%2e/secret.txt",
		"logs/..%2f..%2f..%2fsecret.txt", "..%5c..%5csecret.txt", "%252e%252e%252fsecret.txt"} {
		request := httptest.NewRequest(http.MethodGet, "http://"+at+"/r/"+s.id("b")+"/files/"+path, nil)
		reply := httptest.NewRecorder()
		s.Handler().ServeHTTP(reply, request)
		if reply.Code == http.StatusOK || strings.Contains(reply.Body.String(), "outside") {
			t.Errorf("%s: %d %s", path, reply.Code, reply.Body)
		}
	}
}

func TestFilesAreDownloads(t *testing.T) {
	s := serve(t, folders(t, usual()))
	at := "/r/" + s.id("b")
	status, body, head := s.get(at + "/files/logs/aiperf.log")
	if status != http.StatusOK || body != "log\n" || !strings.HasPrefix(head.Get("Content-Disposition"), "attachment") {
		t.Errorf("%d %q %v", status, body, head)
	}
	if _, _, head := s.get(at + "/files/profile_export_aiperf.html"); !strings.HasPrefix(
		head.Get("Content-Disposition"), "attachment") {
		t.Error("a page that a run left is shown within the origin of the server")
	}
	if _, _, head := s.get(at + "/saved"); !strings.Contains(head.Get("Content-Security-Policy"), "sandbox") {
		t.Error("the page that a run left is not in a sandbox")
	}
}

func TestWhatIsNotThere(t *testing.T) {
	s := serve(t, folders(t, usual()))
	for _, path := range []string{"/r/000000000000", "/r/x/figures", "/r/" + s.id("a") + "/files/none", "/nothing"} {
		if status, _, _ := s.get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
	dir := t.TempDir()
	empty, err := New(Options{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	for path, want := range map[string]int{"/": http.StatusOK, "/r/x": http.StatusOK,
		"/api/runs": http.StatusServiceUnavailable} {
		reply := httptest.NewRecorder()
		empty.Handler().ServeHTTP(reply, httptest.NewRequest(http.MethodGet, path, nil))
		if reply.Code != want || !strings.Contains(reply.Body.String(), "being searched") {
			t.Errorf("%s before the search: %d %s", path, reply.Code, reply.Body)
		}
	}
	if err := empty.Search(); err != nil || len(empty.Notes()) != 1 || !strings.Contains(empty.Notes()[0], dir) {
		t.Errorf("a folder without runs: %v, %q", err, empty.Notes())
	}
	reply := httptest.NewRecorder()
	empty.Handler().ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/", nil))
	if reply.Code != http.StatusOK || !strings.Contains(reply.Body.String(), `http-equiv="refresh"`) {
		t.Errorf("the page of a folder without runs does not wait: %d", reply.Code)
	}
	if _, err := New(Options{Paths: []string{filepath.Join(dir, "gone")}}); err == nil {
		t.Error("there is no folder")
	}
}

func TestSweepsLinkToTheirCells(t *testing.T) {
	files := usual()
	for _, c := range []string{"2", "4"} {
		files["art/s/c_"+c+"/profile_export_aiperf.json"] = strings.Replace(summaryText("m", 2, 10), `"run_info":{`,
			`"run_info":{"variation_values":{"phases.profiling.concurrency":`+c+`},`, 1)
	}
	s := serve(t, folders(t, files))
	_, body, _ := s.get("/r/" + s.id("s"))
	for _, name := range []string{"s/c_2", "s/c_4"} {
		if !strings.Contains(body, s.id(name)+`"`) {
			t.Errorf("there is no link to %s", name)
		}
	}
}

func TestChangedFoldersAreSeen(t *testing.T) {
	dir := folders(t, usual())
	s := serve(t, dir)
	id := s.id("a")
	next := summaryText("other", 4, 5)
	if err := os.WriteFile(filepath.Join(dir, "art", "a", "profile_export_aiperf.json"), []byte(next), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.scan(); err != nil {
		t.Fatal(err)
	}
	if it, ok := s.shelf.get(id); !ok || it.facts.Model != "other" {
		t.Error("the change was not seen")
	}
}

// recordLine is a line of the per-request file.
func recordLine(i int, failure string) string {
	rest := `"metrics":{"request_latency":{"value":` + fmt.Sprint(10+i) + `,"unit":"ms"}}}`
	if failure != "" {
		text, _ := json.Marshal(failure)
		rest = `"metrics":{},"error":{"code":503,"type":"T","message":` + string(text) + `}}`
	}
	return fmt.Sprintf(`{"metadata":{"session_num":%d,"x_request_id":"r-%[1]d","x_correlation_id":"c-%[1]d",`+
		`"conversation_id":"s-%[1]d","turn_index":0,"request_start_ns":%d,"request_end_ns":%d,"worker_id":"w",`+
		`"record_processor_id":"p","benchmark_phase":"profiling"},`, i, 1_700_000_000_000_000_000+i*1_000_000,
		1_700_000_000_010_000_000+i*2_000_000) + rest + "\n"
}

func TestRequestsAreFound(t *testing.T) {
	files := usual()
	for i := range 250 {
		failure := ""
		if i == 17 {
			failure = hostile
		}
		files["art/a/profile_export.jsonl"] += recordLine(i, failure)
	}
	files["art/a/profile_export_raw.jsonl"] = `{"metadata":{"x_request_id":"r-17"},"payload":{"text":"asked"},"responses":[]}` +
		"\n"
	s := serve(t, folders(t, files))
	at := "/api/r/" + s.id("a")
	type answer struct {
		Pending    bool
		Total, All int
		Rows       []requestRow
		Error      string
	}
	ask := func(query string) (a answer) {
		for {
			_, body, _ := s.get(at + "/requests?" + query)
			a = answer{}
			if err := json.Unmarshal([]byte(body), &a); err != nil {
				t.Fatal(err)
			}
			if !a.Pending {
				return a
			}
		}
	}
	if a := ask(""); a.Total != 250 || len(a.Rows) != 100 || a.Rows[0].ID != "r-0" {
		t.Errorf("all: %+v", a)
	}
	if a := ask("q=r-17"); a.Total != 1 || a.Rows[0].Number != 18 || a.Rows[0].Error != hostile {
		t.Errorf("by id: %+v", a)
	}
	if a := ask("failed=1&error=onerror"); a.Total != 1 || a.All != 250 {
		t.Errorf("by error: %+v", a)
	}
	if a := ask("sort=request_latency&down=1&limit=1"); len(a.Rows) != 1 || a.Rows[0].ID != "r-249" {
		t.Errorf("slowest: %+v", a)
	}
	if status, _, _ := s.get(at + "/requests?sort=nothing"); status != http.StatusBadRequest {
		t.Errorf("sorted by nothing: %d", status)
	}
	for _, number := range []string{"0", "251", "x", "-1"} {
		if status, _, _ := s.get(at + "/requests/" + number); status != http.StatusNotFound {
			t.Errorf("request %s: %d", number, status)
		}
	}
	_, body, _ := s.get(at + "/requests/18")
	if !strings.Contains(body, `x_request_id`) || !strings.Contains(body, `asked`) {
		t.Errorf("one request: %s", body)
	}
	const second = "2023-11-14T22:13:20."
	for query, want := range map[string]int{
		"request_latency=20..25": 5, "request_latency=..12": 2, "request_latency=250..&request_latency=..252": 2,
		"sent=" + second + "010Z.." + second + "013Z": 3, "ended=" + second + "021Z.." + second + "023Z": 1,
		"in_flight=" + second + "000Z.." + second + "001Z": 1, "failed=1&sent=" + second + "017Z..": 1,
	} {
		if a := ask(query); a.Total != want {
			t.Errorf("%s: %d requests, want %d", query, a.Total, want)
		}
	}
	for _, query := range []string{"request_latency=5", "request_latency=x..7", "sent=1..2"} {
		if status, _, _ := s.get(at + "/requests?" + query); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, status)
		}
	}
	page := "/r/" + s.id("a") + "/requests/18"
	status, body, head := s.get(page)
	if status != http.StatusOK || !strings.Contains(body, "requests/17") || !strings.Contains(body, "in_flight=") ||
		strings.Contains(body, "<img src=x") {
		t.Errorf("the page of a request: %d %s", status, body)
	}
	testkit.Page(t, page, body, head.Get("Content-Security-Policy"))
	if status, _, _ := s.get("/r/" + s.id("a") + "/requests/251"); status != http.StatusNotFound {
		t.Errorf("the page of a request that is not there: %d", status)
	}
	if _, body, _ := s.get(at + "/timeline"); !strings.Contains(body, "request_throughput") {
		t.Errorf("timeline: %s", body)
	}
}
