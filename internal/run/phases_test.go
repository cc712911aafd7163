package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
)

// manifest is what the tests read of phase_manifest.json.
type manifest struct {
	Version int              `json:"schema_version"`
	Phases  []map[string]any `json:"phases"`
}

func readManifest(t *testing.T, dir string) manifest {
	t.Helper()
	var m manifest
	if err := json.Unmarshal(fileOf(t, dir, "phase_manifest.json"), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func object(t *testing.T, dir, name string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(fileOf(t, dir, name), &out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// sortedKeys reports whether the members of all objects of a document stand in the order of their keys.
func sortedKeys(t *testing.T, text []byte) bool {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var again bytes.Buffer
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	e := json.NewEncoder(&again)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil { // which sorts them
		t.Fatal(err)
	}
	return bytes.Equal(again.Bytes(), text)
}

func exists(t *testing.T, elements ...string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(elements...))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestTrapEachOfSeveralPhasesHasFilesOfItsOwn(t *testing.T) {
	t.Parallel()
	gpuEnv(t)
	url := serve(t, mockserver.Options{TTFT: 5 * time.Millisecond, ITL: time.Millisecond,
		GPU: mockserver.GPUOptions{Load: &mockserver.LoadCurve{{Load: 0.5}}}})
	w := watch(t, url, Options{}, "--streaming", "--concurrency", "2", "--warmup-request-count", "7", "--request-count",
		"12",
		"--gpu-telemetry", url+"/dcgm1/metrics", "--profile-export-prefix", "sub/mine.json", "--export-level",
		"summary", "--slice-duration", "0.01")
	text := fileOf(t, w.dir, "phase_manifest.json")
	if !sortedKeys(t, text) {
		t.Errorf("not sorted by key and indented by 2:\n%s", text)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schemas",
		"phase_manifest.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(documents(t, "phase_manifest.json", text)[0]); err != nil {
		t.Error(err)
	}
	m := readManifest(t, w.dir)
	if m.Version != 1 || len(m.Phases) != 2 {
		t.Fatalf("%+v", m)
	}
	root := object(t, w.dir, "sub/mine.json")
	for i, want := range []struct {
		name      string
		profiling any
		requests  float64
	}{{"warmup", nil, 7}, {"profiling", 0.0, 12}} {
		p := m.Phases[i]
		for key, value := range map[string]any{
			"phase_index": float64(i), "profiling_index": want.profiling, "phase_name": want.name,
			"phase_kind": want.name, "was_cancelled": false,
			"successful_request_count": want.requests, "error_request_count": 0.0, "total_request_count": want.requests,
			"metrics_json": "phases/" + want.name + "/mine.json", "metrics_csv": "phases/" + want.name + "/mine.csv",
			"gpu_telemetry_json":  "phases/" + want.name + "/gpu_telemetry.json",
			"server_metrics_json": "phases/" + want.name + "/server_metrics.json",
		} {
			if got, has := p[key]; !has || got != value {
				t.Errorf("%s: %s is %v, want %v", want.name, key, got, value)
			}
		}
		if p["start_ns"].(float64) >= p["end_ns"].(float64) || len(p["error_summary"].([]any)) != 0 {
			t.Errorf("%v", p)
		}
		own := object(t, w.dir, p["metrics_json"].(string))
		if at(own, "request_count", "avg") != want.requests || own["telemetry_data"] != nil ||
			own["warmup_metrics"] != nil || own["total_gpu_power"] != nil {
			t.Errorf("%s: %v requests, or figures that are not of the requests", want.name,
				at(own, "request_count", "avg"))
		}
		if csv := string(fileOf(t, w.dir, p["metrics_csv"].(string))); strings.Contains(csv, "GPU") ||
			!strings.Contains(csv, "Request Latency (ms)") {
			t.Errorf("%s: CSV\n%s", want.name, csv)
		}
		for _, key := range []string{"gpu_telemetry_json", "server_metrics_json"} {
			text := fileOf(t, w.dir, p[key].(string))
			doc := object(t, w.dir, p[key].(string))
			if !sortedKeys(t, text) || doc["schema_version"] != 1.0 || len(doc["warnings"].([]any)) != 0 ||
				at(doc, "phase", "phase_name") != want.name ||
				at(doc, "phase", "start_ns") != p["start_ns"] || at(doc, "phase", "profiling_index") != want.profiling {
				t.Errorf("%s %s:\n%s", want.name, key, text)
			}
		}
		servers := object(t, w.dir, p["server_metrics_json"].(string))
		series := at(servers, "data", "endpoint_summaries", hostOf(url), "metrics", "vllm:e2e_request_latency_seconds",
			"series").([]any)
		if got := at(series[0], "stats", "count"); got != want.requests {
			t.Errorf("%s: the server finished %v requests", want.name, got)
		}
		if at(series[0], "timeslices") == nil {
			t.Errorf("%s: no time slices: %v", want.name, series[0])
		}
	}
	profiling := object(t, w.dir, "phases/profiling/mine.json")
	for key, value := range profiling {
		a, _ := json.Marshal(value)
		b, _ := json.Marshal(root[key])
		if !bytes.Equal(a, b) && key != "percentile_bounds" {
			t.Errorf("%s of the only profiling phase: %s, of the run: %s", key, a, b)
		}
	}
}

func TestTrapARunOfOnePhaseWritesNoFilesOfPhases(t *testing.T) {
	t.Parallel()
	w := watch(t, serve(t, mockserver.Options{}), Options{}, "--concurrency", "2", "--request-count", "4",
		"--server-metrics-formats", "json,jsonl")
	if exists(t, w.dir, "phase_manifest.json") || exists(t, w.dir, "phases") {
		t.Error("there are files of phases")
	}
	doc := object(t, w.dir, "server_metrics_export.json")
	if doc["metrics_phase"] != "profiling" || doc["warmup_metrics"] != nil {
		t.Errorf("phase %v, warm-up %v", doc["metrics_phase"], doc["warmup_metrics"])
	}
	ranges := at(doc, "summary", "phase_time_ranges").(map[string]any)
	if len(ranges) != 1 || ranges["profiling"] == nil {
		t.Errorf("ranges %v, want that of profiling alone", ranges)
	}
}

func TestWarmupAndProfilingShareNoIntervalBetweenScrapes(t *testing.T) {
	t.Parallel()
	// Only the scrapes at the ends of phases are there: the schedule's next one would come after the run.
	setScrapeEnv(t, map[string]string{"AIPERF_SERVER_METRICS_COLLECTION_INTERVAL": "300"})
	w := watch(t, serve(t, mockserver.Options{TTFT: time.Millisecond}), Options{}, "--concurrency", "3",
		"--warmup-request-count", "11", "--request-count", "5",
		"--server-metrics-formats", "json,jsonl")
	doc := object(t, w.dir, "server_metrics_export.json")
	for key, want := range map[string]float64{"warmup_metrics": 11, "metrics": 5} {
		total := 0.0
		list, _ := at(doc, key, "vllm:request_success", "series").([]any)
		for _, s := range list {
			total += at(s, "stats", "total").(float64)
		}
		if total != want {
			t.Errorf("%s: %v requests, want %v", key, total, want)
		}
	}
	ranges := at(doc, "summary", "phase_time_ranges")
	m := readManifest(t, w.dir)
	end, _ := at(ranges, "warmup", "end_ns").(float64)
	if at(ranges, "warmup", "start_ns") != m.Phases[0]["start_ns"] || end <= m.Phases[0]["end_ns"].(float64) ||
		end >= at(ranges, "profiling", "start_ns").(float64) {
		t.Errorf("ranges %v of phases %v: the warm-up lasts to the scrape at its end", ranges, m.Phases)
	}
	var tags []string
	for line := range bytes.Lines(fileOf(t, w.dir, "server_metrics_export.jsonl")) {
		var l struct {
			Phase, Name, Kind string
			Index, Profiling  *int
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(line, &all); err != nil {
			t.Fatal(err)
		}
		for key, into := range map[string]any{"benchmark_phase": &l.Phase, "phase_name": &l.Name, "phase_kind": &l.Kind,
			"phase_index": &l.Index, "profiling_index": &l.Profiling} {
			if text := all[key]; text != nil {
				if err := json.Unmarshal(text, into); err != nil {
					t.Fatal(err)
				}
			}
		}
		if l.Phase != l.Name || l.Name != l.Kind || (l.Index == nil) != (l.Phase == "") ||
			(l.Profiling != nil) != (l.Phase == "profiling") {
			t.Errorf("%s", line)
		}
		tags = append(tags, l.Phase)
	}
	if got := strings.Join(slices.Compact(tags), " "); got != " warmup profiling" {
		t.Errorf("phases of the scrapes: %q", got)
	}
}

func TestAFileOfAPhaseThatFailsIsAWarning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "phases"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := watchInto(t, dir, serve(t, mockserver.Options{}), Options{}, "--no-server-metrics", "--no-gpu-telemetry",
		"--warmup-request-count", "2", "--request-count", "3")
	if w.outcome.Problem != nil || w.warnings("Files of the phases could not be written") != 1 {
		t.Errorf("problem %v, log:\n%s", w.outcome.Problem, w.lines)
	}
	for _, p := range readManifest(t, dir).Phases {
		if p["metrics_json"] != nil || p["metrics_csv"] != nil || p["total_request_count"] == nil {
			t.Errorf("%v", p)
		}
	}
}

func TestARerunRemovesTheFilesOfPhases(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), serve(t, mockserver.Options{})
	few := []string{"--concurrency", "2", "--request-count", "4", "--no-gpu-telemetry"}
	watchInto(t, dir, url, Options{}, append([]string{"--warmup-request-count", "3"}, few...)...)
	if !exists(t, dir, "phases", "warmup", "server_metrics.json") {
		t.Fatal("nothing to remove")
	}
	if err := os.WriteFile(filepath.Join(dir, "phases", "profiling", "notes.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	watchInto(t, dir, url, Options{}, few...)
	if exists(t, dir, "phases", "warmup") || exists(t, dir, "phase_manifest.json") ||
		exists(t, dir, "phases", "profiling", "profile_export_aiperf.csv") {
		t.Error("files of the phases of an earlier run are left")
	}
	if !exists(t, dir, "phases", "profiling", "notes.txt") {
		t.Error("a file of the user was removed")
	}
}

func TestAnInterruptedRunHasTheFilesOfItsPhases(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	var once sync.Once
	observers := observed(func(s *progress.Snapshot) {
		if s.Records.Successes > 5 {
			once.Do(func() { close(stop) })
		}
	})
	w := watch(t, serve(t, mockserver.Options{TTFT: time.Millisecond}), Options{Stop: stop, Observers: observers},
		"--concurrency", "3", "--request-count", "100000", "--warmup-request-count", "5")
	m := readManifest(t, w.dir)
	if m.Phases[0]["was_cancelled"] != false || m.Phases[1]["was_cancelled"] != true ||
		m.Phases[1]["server_metrics_json"] == nil {
		t.Errorf("%v", m.Phases)
	}
	for i, want := range []bool{false, true} {
		if got := object(t, w.dir, m.Phases[i]["metrics_json"].(string))["was_cancelled"]; got != want {
			t.Errorf("phase %d: was_cancelled %v", i, got)
		}
	}
}

// Of the two warm-ups of a recording's replay each has its own figures.
func TestEachWarmupHasItsOwnFigures(t *testing.T) {
	t.Parallel()
	outcome, seen, _, err := agenticRun(t, mockserver.Options{}, "--concurrency", "2", "--num-sessions", "2",
		"--warmup-requests-per-lane", "1", "--allow-dataset-wrap")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(outcome.Console.Files.JSON)
	m := readManifest(t, dir)
	total := 0.0
	for i, name := range []string{"warmup", "cache_warmup", "profiling"} {
		p := m.Phases[i]
		total += p["total_request_count"].(float64)
		own := object(t, dir, "phases/"+name+"/profile_export_aiperf.json")
		if p["phase_name"] != name || at(own, "request_count", "avg") != p["successful_request_count"] ||
			p["successful_request_count"].(float64) < 1 {
			t.Errorf("%s: %v, in its own file %v", name, p, at(own, "request_count", "avg"))
		}
	}
	if len(m.Phases) != 3 || total != float64(len(seen)) {
		t.Errorf("%d phases with %v requests in all, the server saw %d", len(m.Phases), total, len(seen))
	}
}

func TestErrorsOfAPhaseAreItsOwn(t *testing.T) {
	t.Parallel()
	var count sync.Map
	f := before(t, serve(t, mockserver.Options{}),
		map[string]http.HandlerFunc{"/v1/chat/completions": func(w http.ResponseWriter, r *http.Request) {
			n, _ := count.LoadOrStore("n", new(int))
			*n.(*int)++
			if *n.(*int) <= 2 {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"object":"chat.completion","choices":[{"message":{"content":"yes"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`))
		}})
	w := watch(t, f.URL, Options{}, "--no-server-metrics", "--no-gpu-telemetry", "--concurrency", "1",
		"--warmup-request-count", "3", "--request-count", "4")
	m := readManifest(t, w.dir)
	if p := m.Phases[0]; p["error_request_count"] != 2.0 || p["successful_request_count"] != 1.0 ||
		p["total_request_count"] != 3.0 ||
		at(p["error_summary"].([]any)[0], "error_details", "code") != 418.0 ||
		at(p["error_summary"].([]any)[0], "count") != 2.0 {
		t.Errorf("warm-up %v", p)
	}
	if p := m.Phases[1]; p["error_request_count"] != 0.0 || len(p["error_summary"].([]any)) != 0 ||
		p["gpu_telemetry_json"] != nil || p["server_metrics_json"] != nil {
		t.Errorf("profiling %v", p)
	}
}

// A phase waits for the scrapes at its ends as long as they may take.
func TestScrapeTimeoutBoundsTheScrapesAtTheEndsOfPhases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ timeout, want time.Duration }{{0, load.DefaultGateTimeout}, {time.Minute, time.Minute},
		{time.Second, load.DefaultGateTimeout}} {
		cfg := &config.Run{}
		cfg.Env.ServerMetrics.ScrapeTimeout = c.timeout
		w := &serverWatch{content: &content{target: &target{base: &base{cfg: cfg}}}}
		if got := (parts{w, &gpuWatch{}}).gates().Timeout; got != c.want {
			t.Errorf("a scrape of at most %s: the phase waits %s, want %s", c.timeout, got, c.want)
		}
	}
}

func TestEnergyOfTheWarmupIsNotThatOfTheRun(t *testing.T) {
	t.Parallel()
	gpuEnv(t)
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond,
		GPU: mockserver.GPUOptions{Load: &mockserver.LoadCurve{{Load: 0.5}}}})
	w := watch(t, url, Options{}, "--no-server-metrics", "--gpu-telemetry", url+"/dcgm1/metrics", "--concurrency", "1",
		"--warmup-request-count", "3", "--request-count", "20")
	energy := map[string]float64{}
	for _, phase := range []string{"warmup", "profiling"} {
		gpu := at(object(t, w.dir, "phases/"+phase+"/gpu_telemetry.json"), "data", "endpoints", hostOf(url)+"/dcgm1",
			"gpus", "gpu_0", "metrics")
		energy[phase] = at(gpu, "energy_consumption", "avg").(float64) * 1e6
	}
	// What the counter grew by from before an instant to before another.
	growth := func(fromNS, toNS float64) float64 {
		var first, last float64
		for _, l := range w.gpuLines(t) {
			v, has := at(l, "telemetry_data", "energy_consumption").(float64)
			ns := l["timestamp_ns"].(float64)
			if l["gpu_index"] != 0.0 || !has || ns >= toNS {
				continue
			}
			if ns < fromNS || first == 0 {
				first = v
			}
			last = v
		}
		return (last - first) * 1e6
	}
	m := readManifest(t, w.dir)
	start, end, next := m.Phases[0]["start_ns"].(float64), m.Phases[0]["end_ns"].(float64),
		m.Phases[1]["start_ns"].(float64)
	if e := energy["warmup"]; e < growth(start, end)-1e-6 || e > growth(start, next)+1e-6 || e <= 0 {
		t.Errorf("%v J in the warm-up; up to its end %v J, up to the next phase %v J", e, growth(start, end),
			growth(start, next))
	}
	gpu := w.gpus(t).Telemetry.Endpoints[hostOf(url)+"/dcgm1"].GPUs["gpu_0"]
	of := gpu.Metrics["energy_consumption"]["avg"].(float64) * 1e6
	if math.Abs(of-energy["profiling"]) > 1e-9 {
		t.Errorf("energy of the profiling phase %v, of the run %v", energy["profiling"], of)
	}
}
