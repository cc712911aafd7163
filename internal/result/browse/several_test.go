package browse

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/webserver"
)

// page asks until a page is ready, as the browser does.
func (s *served) page(path string) (int, string) {
	s.t.Helper()
	for {
		status, body, _ := s.get(path)
		if !strings.Contains(body, `http-equiv="refresh"`) {
			return status, body
		}
	}
}

// ids joins the ids of items for an address.
func (s *served) ids(names ...string) string {
	var out []string
	for _, name := range names {
		out = append(out, s.id(name))
	}
	return strings.Join(out, ",")
}

func TestRunsStandSideBySide(t *testing.T) {
	files := usual()
	for i := range 120 {
		files["art/a/profile_export.jsonl"] += recordLine(i, "")
		files["art/b/profile_export.jsonl"] += recordLine(3*i, "")
	}
	s := serve(t, folders(t, files))
	status, body := s.page("/compare?runs=" + s.ids("a", "b"))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	for _, want := range []string{"b against a", "/r/" + s.id("b"), "Over time", `"id":"line-request_latency"`, "Base:",
		"/compare?runs=" + s.ids("b", "a")} {
		if !strings.Contains(html.UnescapeString(body), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "<img src=x") {
		t.Error("a text of a run became markup")
	}
}

func TestSweepsStandSideBySide(t *testing.T) {
	files := usual()
	files["art/s2/sweep_aggregate/profile_export_aiperf_sweep.json"] = strings.ReplaceAll(
		files["art/s/sweep_aggregate/profile_export_aiperf_sweep.json"], "50.5", "99.5")
	s := serve(t, folders(t, files))
	if status, body := s.page("/compare?runs=" + s.ids("s", "s2")); status != http.StatusOK ||
		!strings.Contains(body, "concurrency 4") {
		t.Errorf("%d %s", status, body)
	}
}

func TestWhatCannotStandSideBySideIsSaid(t *testing.T) {
	s := serve(t, folders(t, usual()))
	for _, c := range []struct {
		runs   string
		status int
		says   string
	}{
		{"", http.StatusBadRequest, "choose 2 to 12 runs"},
		{s.id("a"), http.StatusBadRequest, "choose 2 to 12 runs"},
		{s.ids("a", "a"), http.StatusBadRequest, "choose 2 to 12 runs"},
		{s.id("a") + ",000000000000", http.StatusNotFound, "not there any more"},
		{s.ids("a", "damaged"), http.StatusUnprocessableEntity, "profile_export_aiperf.json"},
		{s.ids("a", "s"), http.StatusUnprocessableEntity, "one is a sweep and the other is not"},
	} {
		status, body := s.page("/compare?runs=" + c.runs)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%q: %d, want %d and %q:\n%s", c.runs, status, c.status, c.says, body)
		}
	}
}

// chartAnswer is what the script of the charts gets.
type chartAnswer struct {
	Runs    []charted
	Metrics []chartMetric
	Columns []string
	Left    []string
}

func (s *served) chartData(runs string) (a chartAnswer) {
	s.t.Helper()
	_, body, _ := s.get("/api/charts?runs=" + runs)
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		s.t.Fatal(err)
	}
	return a
}

func TestChartsHaveAPointForEachRun(t *testing.T) {
	files := usual()
	const a = "art/a/profile_export_aiperf.json"
	files[a] = strings.Replace(files[a], `"provenance":{}`,
		`"provenance":{},"telemetry_data":{"endpoints":{"e":{"gpus":{"g0":{},"g1":{}}}}}`, 1)
	s := serve(t, folders(t, files))
	all := s.chartData("")
	var names []string
	for _, r := range all.Runs {
		names = append(names, r.Name)
	}
	for _, want := range []string{"a", "b", "r", "s/c_2", "s/c_4"} {
		if !slices.Contains(names, want) {
			t.Errorf("%v lacks %s", names, want)
		}
	}
	if !slices.Contains(all.Left, "damaged") {
		t.Errorf("left out: %v", all.Left)
	}
	two := s.chartData(s.ids("a", "b"))
	if len(two.Runs) != 2 || two.Runs[0].Values["time_to_first_token"]["p99"] != 20 {
		t.Errorf("%+v", two.Runs)
	}
	if got := two.Runs[0].Values[perGPU]["avg"]; got != 40 {
		t.Errorf("throughput per GPU %v, want 1600/20 divided by 2 GPUs", got)
	}
	if !slices.Contains(two.Columns, "model") || !slices.Contains(two.Columns, "concurrency") ||
		slices.ContainsFunc(two.Columns, func(c string) bool { return strings.Contains(c, "url") }) {
		t.Errorf("columns %v", two.Columns)
	}
	if cells := s.chartData(s.id("s")); len(cells.Runs) != 2 {
		t.Errorf("a sweep has %d points, want its cells", len(cells.Runs))
	}
	if status, _, _ := s.get("/charts?runs=none"); status != http.StatusNotFound {
		t.Errorf("charts of nothing: %d", status)
	}
}

func TestConfigurationOfARunIsYAML(t *testing.T) {
	s := serve(t, folders(t, usual()))
	_, body, _ := s.get("/api/r/" + s.id("a") + "/configuration")
	var a struct{ Configuration string }
	if err := json.Unmarshal([]byte(body), &a); err != nil || !strings.Contains(a.Configuration, "streaming: true\n") {
		t.Errorf("%v %q", err, a.Configuration)
	}
}

// contents lists what is below a folder with sizes and times.
func contents(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		out = append(out, path+info.ModTime().Format(time.RFC3339Nano)+info.Mode().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNothingIsWrittenOrRemoved(t *testing.T) {
	files := usual()
	for i := range 20 {
		files["art/a/profile_export.jsonl"] += recordLine(i, "")
	}
	dir := folders(t, files)
	before := contents(t, dir)
	s := serve(t, dir)
	for _, path := range append(pagesOf(s), "/compare?runs="+s.ids("a", "b"), "/charts", "/api/charts",
		"/api/r/"+s.id("a")+"/timeline") {
		s.page(path)
	}
	for _, method := range []string{http.MethodDelete, http.MethodPut, http.MethodPost, http.MethodPatch} {
		for _, path := range []string{"/", "/r/" + s.id("a"), "/r/" + s.id("a") + "/files/profile_export.jsonl"} {
			reply := httptest.NewRecorder()
			s.Handler().ServeHTTP(reply, httptest.NewRequest(method, path, nil))
			if reply.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, reply.Code)
			}
		}
	}
	if after := contents(t, dir); !slices.Equal(before, after) {
		t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

// The server as aiperf serve opens it refuses what its handler alone would clean or redirect.
func TestTrapEncodedPathsAre400(t *testing.T) {
	s := serve(t, folders(t, usual()))
	server, err := webserver.Listen(webserver.Options{Flag: "--port", Address: "127.0.0.1:0", Handler: s.Handler()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(time.Second) })
	for _, path := range []string{"../../secret.txt", "..%2f..%2fsecret.txt", "%2e%2e/%2e%2e/secret.txt",
		"logs/..%2f..%2f..%2fsecret.txt", "..%5c..%5csecret.txt", "%252e%252e%252fsecret.txt", "%00"} {
		request, err := http.NewRequest(http.MethodGet, "http://"+server.Host()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.URL.Opaque = "//" + server.Host() + "/r/" + s.id("b") + "/files/" + path // as it stands
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", path, reply.StatusCode)
		}
	}
}

func BenchmarkListOf200Runs(b *testing.B) {
	files := map[string]string{}
	for i := range 200 {
		files["art/run_"+string(rune('a'+i%26))+"/"+strings.Repeat("x", 1+i/26)+"/profile_export_aiperf.json"] =
			summaryText("m", 1+i, 20)
	}
	dir := folders(b, files)
	for b.Loop() {
		s, err := New(Options{Paths: []string{filepath.Join(dir, "art")}})
		if err == nil {
			err = s.Search()
		}
		if err != nil || s.Runs() != 200 {
			b.Fatal(err)
		}
		reply := httptest.NewRecorder()
		s.Handler().ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/", nil))
		if reply.Code != http.StatusOK {
			b.Fatal(reply.Code)
		}
		s.Close()
	}
}
