package recompute_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/result/recompute"
	"aiperf/internal/watch/servermetrics"
)

func TestPrefixedRecordingGivesPrefixedFiles(t *testing.T) {
	l := recorded(t, "P_server_metrics.jsonl")
	again := replayed(t, recompute.Options{Recordings: []string{filepath.Join(l.dir, "P_server_metrics.jsonl")}})
	for _, ending := range []string{".json", ".csv", ".parquet"} {
		want, _ := os.ReadFile(filepath.Join(l.dir, "server_metrics_export"+ending))
		got, err := os.ReadFile(filepath.Join(again, "P_server_metrics"+ending))
		if err != nil || string(got) != string(want) {
			t.Errorf("P_server_metrics%s differs: %v", ending, err)
		}
	}
}

// What a run would have said that began later and sliced otherwise is what the recording says with these options.
func TestOtherWindowAndSlicesAreThoseOfSuchARun(t *testing.T) {
	l := recorded(t, "server_metrics_export.jsonl")
	l.info.Window.StartNS += 3*second + 7
	l.info.Warmup = servermetrics.Window{}
	l.info.SliceNS = 0
	l.info.Bounds = true
	path := filepath.Join(l.dir, "server_metrics_export.jsonl")
	sidecar := filepath.Join(l.dir, "server_metrics_recording.json")
	before, err := os.ReadFile(sidecar)
	if err != nil {
		t.Fatal(err)
	}
	l.exports()
	if err := os.WriteFile(sidecar, before, 0o644); err != nil {
		t.Fatal(err)
	}
	from, to, none := l.info.Window.StartNS, l.info.Window.EndNS, 0.0
	again := replayed(t, recompute.Options{Recordings: []string{path}, FromNS: &from, ToNS: &to, SliceSeconds: &none,
		Bounds: true})
	sameFiles(t, l.dir, again, allFiles...)
}

// A line is what the recording of a run says about one scrape.
func line(url string, ns int64, metrics string) string {
	return fmt.Sprintf(`{"endpoint_url":%q,"timestamp_ns":%d,"endpoint_latency_ns":1,"metrics":%s}`+"\n", url, ns,
		metrics)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// result is what matters of the JSON.
type result struct {
	Summary struct {
		Configured []string                  `json:"endpoints_configured"`
		Endpoints  map[string]map[string]any `json:"endpoint_info"`
	}
	Metrics map[string]struct {
		Type   string
		Series []struct {
			Labels map[string]string
			Stats  map[string]float64
		}
	}
}

func read(t *testing.T, dir, name string) result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	var out result
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const bareLines = 5

func bare(t *testing.T) string {
	var b strings.Builder
	for n := range bareLines {
		b.WriteString(line("http://h/metrics", int64(n+1)*second, fmt.Sprintf(
			`{"g":[{"labels":{"b":"x","a":"y"},"value":%d.0}],"vllm:request_success":[{"value":%d}],"foo_total":[{"value":%d}],`+
				`"lat":[{"buckets":{"+Inf":%d,"0.5":%d},"sum":%d,"count":%d}]}`, n, n*n, n, 2*n, n, n, 2*n)))
	}
	return write(t, "x.jsonl", b.String())
}

func TestBareRecordingCountsAllSamplesAndGuessesTypes(t *testing.T) {
	path := bare(t)
	out := read(t, replayed(t, recompute.Options{Recordings: []string{path}}), "server_metrics_export.json")
	for name, want := range map[string]string{"g": "unknown", "vllm:request_success": "counter", "foo_total": "counter",
		"lat": "histogram"} {
		if got := out.Metrics[name].Type; got != want {
			t.Errorf("%s is a %s, want %s", name, got, want)
		}
	}
	if got := out.Metrics["vllm:request_success"].Series[0].Stats["total"]; got != 16 {
		t.Errorf("total %v, want 16", got)
	}
	if got := out.Metrics["lat"].Series[0].Stats; got["count"] != 8 || got["sum"] != 4 {
		t.Errorf("histogram %v", got)
	}
	if got := out.Summary.Endpoints["http://h/metrics"]["total_fetches"]; got != 5.0 {
		t.Errorf("%v fetches", got)
	}
	if len(out.Summary.Configured) != 1 {
		t.Errorf("configured: %v", out.Summary.Configured)
	}
}

func TestTypesAreTakenFromTheCommandLine(t *testing.T) {
	o := recompute.Options{Recordings: []string{bare(t)}}
	for _, list := range []string{"g=counter", "foo_total=gauge,vllm:request_success=unknown"} {
		if err := o.AddTypes(list); err != nil {
			t.Fatal(err)
		}
	}
	out := read(t, replayed(t, o), "server_metrics_export.json")
	for name, want := range map[string]string{"g": "counter", "foo_total": "gauge", "vllm:request_success": "unknown",
		"lat": "histogram"} {
		if got := out.Metrics[name].Type; got != want {
			t.Errorf("%s is a %s, want %s", name, got, want)
		}
	}
}

// The first scrape after the end of the window is the final one, as it would have been in a run.
func TestWindowCutsABareRecording(t *testing.T) {
	from, to := 2*second, 3*second+1
	out := read(t, replayed(t, recompute.Options{Recordings: []string{bare(t)}, FromNS: &from, ToNS: &to}),
		"server_metrics_export.json")
	if got := out.Metrics["vllm:request_success"].Series[0].Stats; got["total"] != 9 || got["rate"] != 3 {
		t.Errorf("counter from 1 s to 4 s: %v, want total 9 and rate 3", got)
	}
	if got := out.Summary.Endpoints["http://h/metrics"]["total_fetches"]; got != 4.0 {
		t.Errorf("%v fetches", got)
	}
}

func TestRecordingsAreMerged(t *testing.T) {
	a := write(t, "a.jsonl", line("http://a/metrics", second, `{"g":[{"value":1}]}`)+line("http://h/metrics", 2*second,
		`{"g":[{"value":2}]}`))
	b := write(t, "b.jsonl", line("http://h/metrics", second, `{"g":[{"value":1}]}`)+line("http://h/metrics", 3*second,
		`{"g":[{"value":9}]}`))
	out := read(t, replayed(t, recompute.Options{Recordings: []string{a, b}}), "server_metrics_export.json")
	if got := out.Summary.Endpoints["http://h/metrics"]["total_fetches"]; got != 3.0 {
		t.Errorf("%v fetches", got)
	}
	if got := out.Metrics["g"].Series; len(got) != 2 || got[1].Stats["avg"] != 4 || got[1].Stats["max"] != 9 {
		t.Errorf("series %v", got)
	}
}

// A killed run leaves a sidecar without window and perhaps half a line.
func TestKilledRunCanBeRead(t *testing.T) {
	l := newLive(t, "server_metrics_export.jsonl")
	for n := range 5 {
		l.scrape(urlA, fmt.Sprintf("# HELP c help\n# TYPE c counter\nc_total %d\n# TYPE i_info "+
			"gauge\ni_info{v=\"1\"} 1\n", 7*(n/2)), start+int64(n)*second)
	}
	path := filepath.Join(l.dir, "server_metrics_export.jsonl")
	sidecar, err := os.ReadFile(filepath.Join(l.dir, "server_metrics_recording.json"))
	if err != nil {
		t.Fatal(err)
	}
	l.exports()
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"server_metrics_recording.json": sidecar,
		"server_metrics_export.jsonl": append(lines, lines[:100]...)} {
		if err := os.WriteFile(filepath.Join(l.dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var warnings []string
	out := read(t, replayed(t, recompute.Options{Recordings: []string{path},
		Warn: func(m string) { warnings = append(warnings, m) }}), "server_metrics_export.json")
	if c := out.Metrics["c"]; c.Type != "counter" || c.Series[0].Stats["total"] != 14 {
		t.Errorf("counter: %+v", c)
	}
	if i := out.Metrics["i_info"]; i.Type != "gauge" || len(i.Series) != 1 {
		t.Errorf("info: %+v", i)
	}
	if got := out.Summary.Endpoints[urlA]; got["total_fetches"] != 5.0 || got["unique_updates"] != 3.0 {
		t.Errorf("endpoint: %v", got)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "not finished") ||
		!strings.Contains(warnings[1], ":6: the last line is incomplete") {
		t.Errorf("warnings: %q", warnings)
	}
}

func TestMistakesAreNamedByFileAndLine(t *testing.T) {
	good := line("http://h/metrics", second, `{"g":[{"value":1}]}`)
	for _, c := range []struct{ text, want string }{
		{good + "{\n", "x.jsonl:2: column 2"},
		{good + "\n" + good + "[1]\n", "x.jsonl:4: column 1: expected \"{\""},
		{good + strings.Replace(good, `"value":1`, `"value":"1"`, 1), "x.jsonl:2: column 111: expected a number"},
		{good + strings.Replace(good, `{"value":1}`, `{}`, 1), "x.jsonl:2: column "},
		{strings.Replace(good, "endpoint_url", "x", 1), "x.jsonl:1: no endpoint_url"},
		{strings.Replace(good, "timestamp_ns", "x", 1), "x.jsonl:1: no timestamp_ns"},
		{strings.Replace(good, "metrics\":{", "x\":{", 1), "x.jsonl:1: no metrics"},
		{line("u", 1, `{"h":[{"buckets":{"x":1},"sum":1,"count":1}]}`), "bucket \"x\" of h is not a number"},
		{line("u", 1, `{"g":[{"labels":{"a":1},"value":1}]}`), "labels {\"a\":1}"},
		{strings.TrimSuffix(good, "\n") + "x\n", "unexpected text after the object"},
		{strings.Repeat("[", 1<<20) + "\n", "x.jsonl:1: column 1"},
		{`{"a":` + strings.Repeat("[", 1<<20) + "\n", "x.jsonl:1: column "},
		{"", "no scrapes"},
	} {
		path := write(t, "x.jsonl", c.text)
		dir := filepath.Join(t.TempDir(), "out")
		err := recompute.ServerMetrics(context.Background(),
			recompute.Options{Recordings: []string{path}, OutputDir: dir, Formats: []string{"json", "jsonl"}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: error is %v, want %s", c.text, err, c.want)
		}
		if files, _ := os.ReadDir(dir); len(files) > 0 {
			t.Errorf("%.80q left %v", c.text, files)
		}
	}
}

func TestBrokenSidecarIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"{":                         "not the description of a recording",
		`{"recording_version":"9"}`: `version "9"`,
		`{"recording_version":"1.0","input_config":[]}`: "input_config: not an object",
	} {
		path := bare(t)
		sidecar := filepath.Join(filepath.Dir(path), "x_recording.json")
		if err := os.WriteFile(sidecar, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := recompute.ServerMetrics(context.Background(),
			recompute.Options{Recordings: []string{path}, OutputDir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), sidecar) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", text, err)
		}
	}
}

func TestRecordingIsNotOverwritten(t *testing.T) {
	l := recorded(t, "server_metrics_export.jsonl")
	path := filepath.Join(l.dir, "server_metrics_export.jsonl")
	err := recompute.ServerMetrics(context.Background(),
		recompute.Options{Recordings: []string{path}, OutputDir: l.dir, Formats: []string{"jsonl"}})
	if err == nil || !strings.Contains(err.Error(), "--output-dir") {
		t.Errorf("error is %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the recording is gone: %v", err)
	}
}

func TestFilesGoBesideTheRecordingUnlessTold(t *testing.T) {
	path := bare(t)
	var files []string
	err := recompute.ServerMetrics(context.Background(),
		recompute.Options{Recordings: []string{path},
			Written: func(name, path string) { files = append(files, filepath.Base(path)) }})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(files, " "); got != "server_metrics_export.json server_metrics_export.csv "+
		"server_metrics_export.parquet" {
		t.Errorf("written: %s", got)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "server_metrics_replay",
		"server_metrics_export.json")); err != nil {
		t.Error(err)
	}
}

func FuzzRecording(f *testing.F) {
	f.Add([]byte(line("u", 1, `{"g":[{"labels":{"a":"b\n"},"value":1.5}],"h":[{"buckets":{"+Inf":2,"1":1},"sum":3,"count":2}]}`)))
	f.Add([]byte(`{"endpoint_url":"u","timestamp_ns":1,"metrics":{"a":[{"value":null},{"value":1,"x":[{}]}]}}`))
	f.Add([]byte("{\"a\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		_ = recompute.ServerMetrics(context.Background(),
			recompute.Options{Recordings: []string{path}, OutputDir: t.TempDir()})
	})
}

// Two processes of one run recorded an endpoint each; the phase of the one ended later.
func TestRecordingsOfOneRunAreMergedWithTheirSidecars(t *testing.T) {
	var paths []string
	for i, url := range []string{urlA, urlB} {
		l := newLive(t, "server_metrics_export.jsonl")
		l.info.Configured, l.info.Successful = []string{url}, []string{url}
		l.info.Window.EndNS += int64(i) * second
		for n := range 30 {
			l.scrape(url, fmt.Sprintf("# HELP c help\n# TYPE c counter\nc_total %d\n", n), start+int64(n)*second)
		}
		l.exports()
		paths = append(paths, filepath.Join(l.dir, "server_metrics_export.jsonl"))
	}
	var warnings []string
	dir := replayed(t, recompute.Options{Recordings: paths, Warn: func(m string) { warnings = append(warnings, m) }})
	out := read(t, dir, "server_metrics_export.json")
	if got := strings.Join(out.Summary.Configured, " "); got != urlA+" "+urlB {
		t.Errorf("configured: %s", got)
	}
	if c := out.Metrics["c"]; c.Type != "counter" || len(c.Series) != 2 {
		t.Errorf("counter: %+v", c)
	}
	data, _ := os.ReadFile(filepath.Join(dir, "server_metrics_export.json"))
	if !strings.Contains(string(data), `"end_time": "2025-12-10T19:07:34.596361"`) {
		t.Errorf("the window does not end with the later phase:\n%.700s", data)
	}
	if len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
}
