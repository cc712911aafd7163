package run

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/view/runlog"

	"aiperf/internal/mockserver"
	"aiperf/internal/result/report/console"
)

// gpuVariables make readings frequent and keep the run away from exporters of this machine.
func gpuVariables(defaults ...string) map[string]string {
	list := strings.Join(defaults, ",")
	if list == "" {
		list = "http://127.0.0.1:1/metrics"
	}
	return map[string]string{
		"AIPERF_GPU_COLLECTION_INTERVAL": "0.02", "AIPERF_GPU_REACHABILITY_TIMEOUT": "60",
		"AIPERF_GPU_DEFAULT_DCGM_ENDPOINTS": list,
	}
}

// gpuEnv sets [gpuVariables] until the end of the test.
func gpuEnv(t *testing.T, defaults ...string) {
	t.Helper()
	setScrapeEnv(t, gpuVariables(defaults...))
}

// gpuExport is what the tests read of the JSON summary.
type gpuExport struct {
	Telemetry *struct {
		Summary struct {
			Configured []string `json:"endpoints_configured"`
			Successful []string `json:"endpoints_successful"`
		} `json:"summary"`
		Endpoints map[string]struct {
			GPUs map[string]struct {
				Metrics map[string]map[string]any `json:"metrics"`
			} `json:"gpus"`
		} `json:"endpoints"`
		Errors []struct {
			Count int `json:"count"`
		} `json:"error_summary"`
	} `json:"telemetry_data"`
	Start float64
}

func (w *watchedRun) gpus(t *testing.T) gpuExport {
	t.Helper()
	var e gpuExport
	if err := json.Unmarshal(fileOf(t, w.dir, "profile_export_aiperf.json"), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// console is the final report as text.
func (w *watchedRun) console(t *testing.T) string {
	t.Helper()
	var text bytes.Buffer
	o := w.outcome.Console
	o.Width = 200
	if err := console.Render(&text, &w.outcome.Result, o); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// lines are the records of gpu_telemetry_export.jsonl; none if there is no such file.
func (w *watchedRun) gpuLines(t *testing.T) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "gpu_telemetry_export.jsonl"))
	if os.IsNotExist(err) {
		return nil
	}
	var list []map[string]any
	for line := range bytes.Lines(data) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

func hostOf(url string) string { return strings.TrimPrefix(url, "http://") }

// The curve gives each GPU 70 W + 630 W × load; with a level load of one half that is 385 W, so the energy of the
// run is its duration times that.
func TestPowerAndEnergyOfAKnownCurve(t *testing.T) {
	t.Parallel()
	gpuEnv(t)
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond, ITL: 2 * time.Millisecond,
		GPU: mockserver.GPUOptions{Load: &mockserver.LoadCurve{{Load: 0.5}}}})
	w := watch(t, url, Options{}, "--no-server-metrics", "--gpu-telemetry", url+"/dcgm1/metrics", "--concurrency", "2",
		"--request-count", "20", "--streaming")
	e := w.gpus(t)
	gpus := e.Telemetry.Endpoints[hostOf(url)+"/dcgm1"].GPUs
	for _, key := range []string{"gpu_0", "gpu_1"} {
		m := gpus[key].Metrics
		if m["gpu_power_usage"]["avg"] != 385.0 || m["gpu_power_usage"]["std"] != 0.0 ||
			m["sm_utilization"]["avg"] != 50.0 {
			t.Errorf("%s: %v", key, m)
		}
		if len(m["energy_consumption"]) != 2 {
			t.Errorf("a counter has more than unit and avg: %v", m["energy_consumption"])
		}
	}
	if got := w.avg(t, "total_gpu_power"); math.Abs(got-770) > 1e-9 {
		t.Errorf("power %v, want 770", got)
	}
	joules := w.avg(t, "total_gpu_energy")
	seconds := float64(w.outcome.Result.EndNS-w.outcome.Result.StartNS) / 1e9
	// From the reading before the first request to the one after the last, which come a little earlier and later.
	if joules < 770*seconds-1 || joules > 770*(seconds+1) {
		t.Errorf("%v J in %v s at 770 W", joules, seconds)
	}
	if got, want := w.avg(t, "output_tokens_per_joule"),
		w.avg(t, "total_output_tokens")/joules; math.Abs(got-want) > 1e-9 {
		t.Errorf("tokens per joule %v, want %v", got, want)
	}
	if got := w.avg(t, "energy_per_user"); math.Abs(got-joules/2) > 1e-9 {
		t.Errorf("energy per user %v, want %v", got, joules/2)
	}
	if got := w.avg(t, "nvidia_energy_per_request"); math.Abs(got-joules/20) > 1e-9 {
		t.Errorf("energy per request %v, want %v", got, joules/20)
	}
	text := w.console(t)
	for _, want := range []string{"AIPerf | GPU Telemetry Summary", "1/1 telemetry sources reachable", "dcgm1 ✔",
		"| GPU 1 | NVIDIA H200", "GPU Power Efficiency", "Total GPU Power (2 GPUs) (W)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	csv := string(fileOf(t, w.dir, "profile_export_aiperf.csv"))
	if !strings.Contains(csv, "\r\n\r\n\r\nEndpoint,GPU_Index,GPU_Name,GPU_UUID,Platform,Metric,avg,min,max,p1,") ||
		!strings.Contains(csv, ",GPU Power Usage (W),385.00,385.00,385.00,") {
		t.Errorf("CSV:\n%s", csv)
	}
	lines := w.gpuLines(t)
	if len(lines) < 6 || lines[0]["dcgm_url"] != url+"/dcgm1/metrics" {
		t.Errorf("%d lines, first %v", len(lines), lines[0])
	}
}

func TestTrapDefaultsAreExportedWithoutATable(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	gpuEnv(t, "http://127.0.0.1:1/metrics", url+"/dcgm1")
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "4")
	e := w.gpus(t)
	if want := []string{url + "/dcgm1/metrics"}; e.Telemetry == nil ||
		!slices.Equal(e.Telemetry.Summary.Configured, want) || !slices.Equal(e.Telemetry.Summary.Successful, want) {
		t.Errorf("got %+v", e.Telemetry)
	}
	if text := w.console(t); strings.Contains(text, "GPU") {
		t.Errorf("a table though nobody asked:\n%s", text)
	}
	if len(w.gpuLines(t)) == 0 {
		t.Error("no lines")
	}
	if w.warnings("http://127.0.0.1:1/") != 0 {
		t.Error("a default that does not answer is told")
	}
}

func TestTrapNoItemIsNotNoFlag(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	gpuEnv(t, url+"/dcgm1")
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "4", "--gpu-telemetry")
	if text := w.console(t); !strings.Contains(text, "GPU Telemetry Summary") ||
		!strings.Contains(text, "1/1 telemetry sources reachable") {
		t.Errorf("no table:\n%s", text)
	}
}

func TestTrapAnExporterIsScrapedAndListedOnce(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	f := before(t, url, nil)
	gpuEnv(t, f.URL+"/dcgm1/metrics")
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "4", "--gpu-telemetry",
		hostOf(f.URL)+"/dcgm1/", "127.0.0.1:1")
	e := w.gpus(t)
	if want := []string{f.URL + "/dcgm1/metrics",
		"http://127.0.0.1:1/metrics"}; !slices.Equal(e.Telemetry.Summary.Configured, want) ||
		len(e.Telemetry.Summary.Successful) != 1 {
		t.Errorf("got %+v", e.Telemetry.Summary)
	}
	if w.warnings("no metrics from http://127.0.0.1:1/metrics (") != 1 {
		t.Error("the exporter that is down is not told once")
	}
	if text := w.console(t); !strings.Contains(text, "1/2 telemetry sources reachable") ||
		!strings.Contains(text, "127.0.0.1:1 ✘ (unreachable)") {
		t.Errorf("got:\n%s", text)
	}
}

func TestTrapADefaultThatIsDownIsNeverMentioned(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	gpuEnv(t, "http://127.0.0.1:1/metrics", url+"/dcgm1/metrics")
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "4", "--gpu-telemetry", "127.0.0.1:2")
	s := w.gpus(t).Telemetry.Summary
	if want := []string{"http://127.0.0.1:2/metrics", url + "/dcgm1/metrics"}; !slices.Equal(s.Configured, want) ||
		!slices.Equal(s.Successful, want[1:]) {
		t.Errorf("got %+v", s)
	}
	if !strings.Contains(w.lines, "GPU telemetry enabled - 1/2 endpoint(s) reachable") ||
		strings.Contains(w.lines, "127.0.0.1:1/") {
		t.Error("the log is wrong")
	}
}

func TestWithoutExportersNothingIsWritten(t *testing.T) {
	t.Parallel()
	gpuEnv(t)
	url := serve(t, mockserver.Options{Fast: true})
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "4", "--gpu-telemetry", "127.0.0.1:1")
	if w.gpus(t).Telemetry != nil || w.gpuLines(t) != nil {
		t.Error("something was written of no GPU")
	}
	if !strings.Contains(w.lines, "GPU telemetry disabled - no DCGM endpoints reachable") {
		t.Error("nothing is said")
	}
	if text := w.console(t); !strings.Contains(text, "No GPU telemetry data collected during the benchmarking run.") ||
		!strings.Contains(text, "Unreachable endpoints:") {
		t.Errorf("got:\n%s", text)
	}
}

func TestNoGPUTelemetryAsksNobody(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	f := before(t, url, nil)
	gpuEnv(t, f.URL+"/dcgm1/metrics")
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "4", "--no-gpu-telemetry")
	if f.asked("/dcgm1/metrics") != 0 || w.gpus(t).Telemetry != nil {
		t.Error("an exporter was asked")
	}
}

// smiScript stands in for nvidia-smi: a line of one GPU, again and again with -lms.
const smiScript = `#!/bin/sh
PATH=/bin:/usr/bin
line="0, GPU-local, NVIDIA H200, 00000000:02:00.0, 250.50, 66, 33, 16384, 55, 1, 2, 3"
for a in "$@"; do case "$a" in -lms*) again=1 ;; esac; done
echo "$line"
while [ -n "$again" ]; do sleep 0.02; echo "$line" || exit; done
`

func TestTrapLocalCollectorsAskNoExporter(t *testing.T) {
	url := serve(t, mockserver.Options{TTFT: 30 * time.Millisecond})
	f := before(t, url, nil)
	gpuEnv(t, f.URL+"/dcgm1/metrics")
	if runtime.GOOS != "windows" {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(smiScript), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "6", "--concurrency", "1",
			"--gpu-telemetry", "pynvml")
		lines := w.gpuLines(t)
		if f.asked("/dcgm1/metrics") != 0 || len(lines) == 0 || lines[0]["dcgm_url"] != "pynvml://localhost" {
			t.Errorf("an exporter was asked %d times; %d lines", f.asked("/dcgm1/metrics"), len(lines))
		}
		if e := w.gpus(t); e.Telemetry == nil ||
			!slices.Equal(e.Telemetry.Summary.Configured, []string{"pynvml://localhost"}) {
			t.Fatalf("telemetry %+v", e.Telemetry)
		}
		if got := w.avg(t, "total_gpu_power"); got != 250.5 {
			t.Errorf("power %v", got)
		}
	}
	t.Setenv("PATH", t.TempDir())
	cfg := watching(t, t.TempDir(), url, "--no-server-metrics", "--gpu-telemetry", "pynvml")
	_, err := executeQuietly(t, cfg)
	if err == nil || !strings.Contains(err.Error(), "--gpu-telemetry pynvml") ||
		!strings.Contains(err.Error(), "nvidia-smi") {
		t.Errorf("got %v", err)
	}
	if f.asked("/dcgm1/metrics") != 0 {
		t.Error("an exporter was asked")
	}
}

// Pages that do not change are one reading between the boundaries; server metrics keep all of them.
func TestTrapUnchangedPagesAreNoReadings(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond, GPU: mockserver.GPUOptions{Fault: "constant"}})
	gpuEnv(t, url+"/dcgm1/metrics")
	w := watch(t, url, Options{}, "--server-metrics", url+"/dcgm1/metrics", "--concurrency", "1", "--request-count",
		"15")
	lines := 0
	for _, l := range w.gpuLines(t) {
		if l["gpu_index"] == 0.0 {
			lines++
		}
	}
	// The baseline, the one before the first request, and the final one.
	if lines != 3 {
		t.Errorf("%d readings of a GPU that never changed, want 3", lines)
	}
	if n := w.export(t).Summary.Info[url+"/dcgm1/metrics"].Fetches; n <= 10 {
		t.Errorf("server metrics kept %d scrapes", n)
	}
	if got := w.avg(t, "total_gpu_energy"); got != 0 {
		t.Errorf("energy %v", got)
	}
}

// Exporters that misbehave cost readings, never the run.
func TestFaultsOfExporters(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, fault string
		check       func(*testing.T, *watchedRun)
	}{
		{"a sensor without a value", "nan", func(t *testing.T, w *watchedRun) {
			gpus := only(t, w)
			if _, has := gpus["gpu_0"].Metrics["gpu_power_usage"]; has ||
				gpus["gpu_1"].Metrics["gpu_power_usage"] == nil || gpus["gpu_0"].Metrics["gpu_temperature"] == nil {
				t.Errorf("got %v", gpus)
			}
			m, _ := w.outcome.Result.Find("total_gpu_power")
			if m.Header != "Total GPU Power (1 GPU)" {
				t.Errorf("got %+v", m)
			}
		}},
		{"no energy counter", "no_energy", func(t *testing.T, w *watchedRun) {
			m, _ := w.outcome.Result.Find("total_gpu_energy")
			want := 770 * float64(w.outcome.Result.EndNS-w.outcome.Result.StartNS) / 1e9
			if m.Header != "Total GPU Energy (2 GPUs) (integrated)" || math.Abs(m.Stats.Avg-want) > 1e-6 {
				t.Errorf("got %+v, want %v", m, want)
			}
		}},
		{"half a page now and then", "truncated;rate=0.5", func(t *testing.T, w *watchedRun) {
			if len(only(t, w)) != 2 || w.warnings("Disabling") != 0 {
				t.Error("a malformed page ended the collection")
			}
		}},
		{"pages that never come", "never;rate=0.3", func(*testing.T, *watchedRun) {}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, mockserver.Options{TTFT: 30 * time.Millisecond,
				GPU: mockserver.GPUOptions{Fault: x.fault, Load: &mockserver.LoadCurve{{Load: 0.5}}}})
			env := maps.Clone(scrapeEnv)
			maps.Copy(env, gpuVariables(url+"/dcgm1/metrics"))
			if strings.Contains(x.fault, "never") {
				env["AIPERF_GPU_REACHABILITY_TIMEOUT"], env["AIPERF_HTTP_METRICS_SCRAPE_READ_TIMEOUT"] = "1", "1"
			}
			began := time.Now()
			w := watchConfig(t, watchingIn(t, env, t.TempDir(), url, "--no-server-metrics", "--concurrency", "1",
				"--request-count", "12"), Options{})
			w.whole(t)
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("the run took %s", took)
			}
			if w.outcome.Result.Counts.Successes != 12 {
				t.Errorf("counts %+v", w.outcome.Result.Counts)
			}
			x.check(t, w)
		})
	}
}

// Exporters change while the load goes on: the number of requests so far says what their page is.
func TestExportersThatChangeDuringTheLoad(t *testing.T) {
	t.Parallel()
	exporter := func(gpus int) http.Handler {
		at, err := url.Parse(serve(t, mockserver.Options{
			GPU: mockserver.GPUOptions{Count: gpus, Load: &mockserver.LoadCurve{{Load: 0.5}}}}))
		if err != nil {
			t.Fatal(err)
		}
		return httputil.NewSingleHostReverseProxy(at)
	}
	both, one := exporter(2), exporter(1)
	dead := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for _, x := range []struct {
		name  string
		page  func(requests int) http.Handler
		check func(*testing.T, *watchedRun)
	}{
		{"a GPU that disappears", func(requests int) http.Handler {
			if requests > 30 {
				return one
			}
			return both
		}, func(t *testing.T, w *watchedRun) {
			gpus := only(t, w)
			readings := func(gpu string) float64 { return gpus[gpu].Metrics["gpu_power_usage"]["count"].(float64) }
			if len(gpus) != 2 || readings("gpu_0") <= readings("gpu_1") {
				t.Errorf("got %v", gpus)
			}
		}},
		{"an exporter that dies and comes back", func(requests int) http.Handler {
			if requests > 20 && requests < 40 {
				return dead
			}
			return both
		}, func(t *testing.T, w *watchedRun) {
			if e := w.gpus(t); e.Telemetry == nil || len(e.Telemetry.Errors) == 0 ||
				w.warnings("GPU telemetry: scraping") != 1 {
				t.Errorf("telemetry %+v", e.Telemetry)
			}
			if len(only(t, w)) != 2 {
				t.Error("what was read is lost")
			}
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			const path = "/v1/chat/completions"
			var f *front
			f = before(t, serve(t, mockserver.Options{TTFT: 30 * time.Millisecond}), map[string]http.HandlerFunc{
				"/dcgm1/metrics": func(w http.ResponseWriter, r *http.Request) { x.page(f.asked(path)).ServeHTTP(w, r) }})
			gpuEnv(t, f.URL+"/dcgm1/metrics")
			w := watch(t, f.URL, Options{}, "--no-server-metrics", "--concurrency", "1", "--request-count", "60")
			if w.outcome.Result.Counts.Successes != 60 {
				t.Errorf("counts %+v", w.outcome.Result.Counts)
			}
			x.check(t, w)
		})
	}
}

// only is the GPUs of the only endpoint.
func only(t *testing.T, w *watchedRun) map[string]struct {
	Metrics map[string]map[string]any `json:"metrics"`
} {
	t.Helper()
	e := w.gpus(t)
	if e.Telemetry == nil || len(e.Telemetry.Endpoints) != 1 {
		t.Fatalf("got %+v", e.Telemetry)
	}
	for _, x := range e.Telemetry.Endpoints {
		return x.GPUs
	}
	return nil
}

// An exporter that dies for good costs the readings from then on, the final one included, and nothing else.
func TestAnExporterThatDiesForGoodKeepsWhatItSaid(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	pages := 0
	exporter := before(t, "", map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if pages++; pages > 10 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(powerLine("DCGM_FI_DEV_POWER_USAGE",
			385) + powerLine("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 1e6*float64(pages))))
	}})
	gpuEnv(t, exporter.URL)
	url := serve(t, mockserver.Options{TTFT: 40 * time.Millisecond})
	w := watch(t, url, Options{}, "--no-server-metrics", "--concurrency", "1", "--request-count", "15")
	e := w.gpus(t)
	if e.Telemetry == nil || len(e.Telemetry.Errors) != 1 || w.warnings("GPU telemetry: scraping") != 1 {
		t.Fatalf("telemetry %+v", e.Telemetry)
	}
	if w.avg(t, "total_gpu_power") != 385 || w.avg(t, "total_gpu_energy") <= 0 ||
		w.outcome.Result.Counts.Successes != 15 {
		t.Error("what was read before is lost")
	}
}

// An exporter that refuses is one line with its reason, and no failure.
func TestExportersThatRefuseAreToldWithTheirReason(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	refused := before(t, "", map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}})
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	gpuEnv(t)
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "2", "--gpu-telemetry", refused.URL,
		secure.URL, "127.0.0.1:1")
	for _, part := range []string{
		refused.URL + "/metrics (answered with status 401 Unauthorized)",
		secure.URL + "/metrics (cannot connect to " + strings.TrimPrefix(secure.URL, "https://") + " [",
		"http://127.0.0.1:1/metrics (cannot connect to 127.0.0.1:1 [",
	} {
		if w.warnings(part) != 1 {
			t.Errorf("the log does not say once: %s", part)
		}
	}
	if w.warnings("GPU telemetry") != 1 || w.outcome.Result.Counts.Successes != 2 {
		t.Errorf("%d lines, counts %+v", w.warnings("GPU telemetry"), w.outcome.Result.Counts)
	}
}

func TestTrapEnergyRestartIsNotNegative(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	energy := 9e9
	exporter := before(t, "", map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if energy -= 1e8; energy < 0 {
			energy = 0
		}
		_, _ = w.Write([]byte(powerLine("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", energy)))
	}})
	gpuEnv(t, exporter.URL)
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond})
	w := watch(t, url, Options{}, "--no-server-metrics", "--concurrency", "1", "--request-count", "5")
	if got := w.avg(t, "total_gpu_energy"); got != 0 {
		t.Errorf("energy %v", got)
	}
}

func TestAnExporterThatAnswersJSONIsLeftAlone(t *testing.T) {
	t.Parallel()
	exporter := before(t, "", map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}})
	gpuEnv(t, exporter.URL)
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond})
	w := watch(t, url, Options{}, "--no-server-metrics", "--concurrency", "1", "--request-count", "10")
	if n := exporter.asked("/metrics"); n > 3 || w.warnings("Disabling GPU telemetry collection for") != 1 {
		t.Errorf("asked %d times", n)
	}
	if exporter.asked("/prometheus/metrics") != 0 || w.gpuLines(t) != nil {
		t.Error("a fallback was tried, or lines were written")
	}
}

func TestCustomMetricsFile(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	gpuEnv(t, url+"/dcgm1/metrics")
	file := filepath.Join(t.TempDir(), "m.csv")
	if err := os.WriteFile(file, []byte("DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz)\nnonsense\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "4", "--gpu-telemetry", file)
	if m := only(t, w)["gpu_0"].Metrics["sm_clock"]; m["unit"] != "MHz" {
		t.Errorf("got %v", m)
	}
	if w.warnings("m.csv:2: ") != 1 || !strings.Contains(w.lines, "Validated 1 custom metrics from "+file) {
		t.Error("the log does not tell")
	}
	if !strings.Contains(w.console(t), "SM Clock Frequency (MHz)") {
		t.Error("not in the table")
	}
}

func TestCustomMetricsFileWithoutAMetric(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	gpuEnv(t, url+"/dcgm1/metrics")
	file := filepath.Join(t.TempDir(), "empty.csv")
	if err := os.WriteFile(file, []byte("# nothing\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "2", "--gpu-telemetry", file)
	if w.warnings("empty.csv contains no metric") != 1 {
		t.Error("the log does not tell")
	}
}

func TestAMDExporterIsKnownByItsPage(t *testing.T) {
	t.Parallel()
	gpuEnv(t)
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond,
		GPU: mockserver.GPUOptions{Load: &mockserver.LoadCurve{{Load: 1}}}})
	for _, prefix := range []string{"", "amd_dme:"} {
		w := watch(t, url, Options{}, "--no-server-metrics", "--concurrency", "1", "--request-count", "5",
			"--gpu-telemetry", prefix+url+"/amd/metrics")
		if got := only(t, w)["gpu_0"].Metrics["amd_power"]["avg"]; got != 750.0 {
			t.Errorf("power %v", got)
		}
		if w.avg(t, "amd_total_gpu_power") != 1500 || w.avg(t, "total_gpu_power") != 1500 {
			t.Error("the fleet's power is wrong")
		}
	}
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "2", "--gpu-telemetry",
		"dcgm:"+url+"/amd/metrics")
	if w.gpus(t).Telemetry != nil {
		t.Error("DCGM was asked for")
	}
}

func TestTrapEnergyPerUser(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond})
	gpuEnv(t, url+"/dcgm1/metrics")
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "5")
	if got, want := w.avg(t, "energy_per_user"), w.avg(t, "total_gpu_energy"); got != want || got <= 0 {
		t.Errorf("one user used %v J, all GPUs %v J", got, want)
	}
	w = watch(t, url, Options{}, "--no-server-metrics", "--request-count", "5", "--request-rate", "50")
	if _, found := w.outcome.Result.Find("energy_per_user"); found {
		t.Error("a pure rate has no users")
	}
}

func TestGPUFilesFollowThePrefix(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	gpuEnv(t, url+"/dcgm1/metrics")
	w := watch(t, url, Options{}, "--no-server-metrics", "--request-count", "2", "--profile-export-prefix", "mine")
	found := false
	_ = filepath.WalkDir(w.dir, func(_ string, d fs.DirEntry, _ error) error {
		found = found || d.Name() == "mine_gpu_telemetry.jsonl"
		return nil
	})
	if !found {
		t.Error("no mine_gpu_telemetry.jsonl")
	}
}

// asked is how often a path was.
func (f *front) asked(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count[path]
}

func powerLine(name string, v float64) string {
	return name + `{gpu="0",UUID="GPU-a"} ` + strconv.FormatFloat(v, 'f', -1, 64) + "\n"
}

// executeQuietly runs a benchmark whose log nobody reads.
func executeQuietly(t *testing.T, cfg *config.Run) (*Outcome, error) {
	t.Helper()
	o := Options{Version: "test", Log: runlog.New(runlog.Options{Console: &bytes.Buffer{}})}
	defer o.Log.Close()
	return Execute(context.Background(), cfg, o)
}
