package plot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/result/chart"
	"aiperf/internal/result/plot"
)

// request is a line of a made run: times in seconds from its begin.
type request struct{ start, end, ttft, tokens float64 }

// madeRun writes a run's folder with a concurrency and requests.
func madeRun(t testing.TB, dir string, concurrency int, requests ...request) {
	t.Helper()
	sum, tokens, last := 0.0, 0.0, 0.0
	var lines strings.Builder
	for i, r := range requests {
		sum, tokens, last = sum+1000*(r.end-r.start), tokens+r.tokens, max(last, r.end)
		ttft := ""
		if r.ttft > 0 {
			ttft = fmt.Sprintf(`"time_to_first_token":{"value":%g,"unit":"ms"},`, 1000*r.ttft)
		}
		fmt.Fprintf(&lines, `{"metadata":{"session_num":%d,"request_start_ns":%d,"request_end_ns":%d,`+
			`"benchmark_phase":"profiling"},"metrics":{%s"request_latency":{"value":%g,"unit":"ms"},`+
			`"output_sequence_length":{"value":%g,"unit":"tokens"}},"error":null}`+"\n", i, begin+int64(r.start*1e9),
			begin+int64(r.end*1e9), ttft, 1000*(r.end-r.start), r.tokens)
	}
	n := float64(len(requests))
	latency := sum / n
	summary := fmt.Sprintf(`{"schema_version":"1.5","aiperf_version":"0.1.0","benchmark_id":"b",
"request_latency":{"unit":"ms","avg":%[1]g,"p50":%[1]g,"p99":%[2]g},
"request_throughput":{"unit":"requests/sec","avg":%[3]g},"output_token_throughput":{"unit":"tokens/sec","avg":%[4]g},
"time_to_first_token":{"unit":"ms","avg":%[5]g,"p50":%[5]g},
"telemetry_data":{"endpoints":{"a":{"gpus":{"gpu_0":{},"gpu_1":{}}}}},
"input_config":{"models":{"items":[{"name":"m"}]},"endpoint":{"urls":["http://h"],"type":"chat","streaming":true},
"phases":[{"kind":"profiling","type":"concurrency","concurrency":%[6]d}]},"run_info":{},"provenance":{},
"client_health":{"verdict":"valid"},"was_cancelled":false}`, latency, 2*latency, n/last, tokens/last,
		latency/10, concurrency)
	write(t, filepath.Join(dir, "profile_export_aiperf.json"), summary)
	write(t, filepath.Join(dir, "profile_export.jsonl"), lines.String())
}

const begin = 1_790_000_000_000_000_000

// latency returns a request of so many milliseconds that begins at once.
func latency(ms float64) request { return request{0, ms / 1000, ms / 10_000, 10} }

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// aggregated writes the aggregate of trials of a concurrency.
func aggregated(t testing.TB, dir string, mean float64) {
	t.Helper()
	write(t, filepath.Join(dir, "profile_export_aiperf_aggregate.json"), fmt.Sprintf(`{"aiperf_version":"0.1.0",
"metadata":{"aggregation_type":"confidence","num_profile_runs":2,"num_successful_runs":2},"metrics":{
"request_latency_avg":{"mean":%g,"std":2,"se":1.4142135623730951,"unit":"ms"},
"request_throughput_avg":{"mean":5,"std":0,"se":0,"unit":"requests/sec"}}}`, mean))
}

// made returns the plots of paths by a configuration.
func made(t testing.TB, config string, paths ...string) *plot.Made {
	t.Helper()
	c, err := plot.ParseConfig("plots.yaml", []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	found, err := plot.Find(paths)
	if err != nil {
		t.Fatal(err)
	}
	out, err := plot.Make(found, c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// figure returns the only figure.
func figure(t testing.TB, m *plot.Made) *chart.Figure {
	t.Helper()
	if len(m.Figures) != 1 || len(m.Skipped) != 0 {
		t.Fatalf("%d figures, skipped %+v", len(m.Figures), m.Skipped)
	}
	return m.Figures[0].Chart
}

// layer returns the first layer of a kind.
func layer(t testing.TB, f *chart.Figure, kind chart.Kind) chart.Layer {
	t.Helper()
	for _, l := range f.Layers {
		if l.Kind == kind {
			return l
		}
	}
	t.Fatalf("no %s among %d layers", kind, len(f.Layers))
	return chart.Layer{}
}

// several is the configuration of one plot of several runs, one that of a plot of a single run.
func several(plot string) string {
	return "visualization:\n  multi_run_defaults: [p]\n  single_run_defaults: []\n  multi_run_plots:\n    p: " + plot + "\n"
}

func one(plot string) string {
	return "visualization:\n  multi_run_defaults: []\n  single_run_defaults: [p]\n  single_run_plots:\n    p: " + plot + "\n"
}
