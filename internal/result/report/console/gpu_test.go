package console

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
)

func gpuText(r *summary.Result, t *gpu.Telemetry) string {
	p := &page{width: 140}
	p.gpuPlatform(&GPU{t})
	p.efficiencyTables(r, &GPU{t})
	p.gpuTables(&GPU{t})
	return string(p.bytes(false))
}

func TestGPUTables(t *testing.T) {
	tel := &gpu.Telemetry{
		Configured: []string{"http://localhost:9401/metrics", "http://down:9400/metrics"},
		Successful: []string{"http://localhost:9401/metrics"},
		Endpoints: []gpu.Endpoint{{Name: "localhost:9401",
			GPUs: []gpu.DeviceMetrics{{Device: gpu.Device{Index: 0, Model: "NVIDIA H200"}, Metrics: []gpu.Metric{
				{Field: gpu.Field{Display: "GPU Power Usage", Unit: "W"},
					Stats: metrics.Stats{Avg: 320, Min: 300, Max: 340, Std: 20,
						Percentiles: [9]float64{300.4, 302, 304, 310, 320, 330, 336, 338, 339.6}}},
				{Field: gpu.Field{Display: "Power Violation", Unit: "us", Kind: gpu.Counter},
					Stats: metrics.Stats{Avg: 9387.26}},
			}}}}},
		Platforms: []string{"nvidia"},
	}
	r := &summary.Result{Metrics: []metrics.Metric{
		{Header: "Energy per User (1 GPU)", Unit: "joules/user", Order: 903, Group: metrics.GroupGPU,
			Stats: metrics.Stats{Avg: 105}},
		{Header: "Total GPU Energy (1 GPU)", Unit: "J", Order: 901, Group: metrics.GroupGPU,
			Stats: metrics.Stats{Avg: 1234567.8}},
	}}
	want := `
╭─────────────────────────────────────────── GPU Telemetry Platform ────────────────────────────────────────────╮
│ Platform: nvidia                                                                                              │
│ Metric semantics are platform-specific; cross-platform comparisons require workload and collector validation. │
╰───────────────────────────────────────────────────────────────────────────────────────────────────────────────╯


           AIPerf | GPU Power Efficiency
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┓
┃                                Metric ┃      avg ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━┩
│          Total GPU Energy (1 GPU) (J) │ 1.23e+06 │
│ Energy per User (1 GPU) (joules/user) │   105.00 │
└───────────────────────────────────────┴──────────┘


AIPerf | GPU Telemetry Summary
1/2 telemetry sources reachable
• localhost:9401 ✔
• down:9400 ✘ (unreachable)


                          localhost:9401 | GPU 0 | NVIDIA H200
┏━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━┓
┃               Metric ┃      avg ┃    min ┃    max ┃    p99 ┃    p90 ┃    p50 ┃   std ┃
┡━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━┩
│  GPU Power Usage (W) │   320.00 │ 300.00 │ 340.00 │ 339.60 │ 336.00 │ 320.00 │ 20.00 │
│ Power Violation (us) │ 9,387.26 │    N/A │    N/A │    N/A │    N/A │    N/A │   N/A │
└──────────────────────┴──────────┴────────┴────────┴────────┴────────┴────────┴───────┘
`
	if got := gpuText(r, tel); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	tel.Platforms = []string{"amd", "nvidia"}
	if got := gpuText(r, tel); !strings.Contains(got, "│ Platform: amd, nvidia  ") {
		t.Errorf("got:\n%s", got)
	}
}

func TestTrapNumbersOfGPUTables(t *testing.T) {
	for v, want := range map[float64]string{1234567.8: "1.23e+06", 999999.994: "999,999.99", 9387.26: "9,387.26",
		-1500000: "-1.50e+06", 1e6: "1.00e+06", 0: "0.00"} {
		if got := gpuNumber(v); got.text != want {
			t.Errorf("%v: %s, want %s", v, got.text, want)
		}
	}
}

func TestNoGPUData(t *testing.T) {
	want := "\n\nNo GPU telemetry data collected during the benchmarking run.\nUnreachable endpoints:\n• down:9400\n"
	if got := gpuText(&summary.Result{},
		&gpu.Telemetry{Configured: []string{"http://down:9400/metrics"}}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want = "\n\nNo GPU telemetry data collected during the benchmarking run.\n"
	if got := gpuText(&summary.Result{}, &gpu.Telemetry{}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
