package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
)

func telemetry() *gpu.Telemetry {
	power := gpu.Metric{Field: gpu.Field{Name: "gpu_power_usage", Display: "GPU Power Usage", Unit: "W"},
		Stats: metrics.Stats{Avg: 320, Min: 300, Max: 340, Std: 20,
			Percentiles: [9]float64{300.4, 302, 304, 310, 320, 330, 336, 338, 339.6}, Count: 3}}
	energy := gpu.Metric{Field: gpu.Field{Name: "energy_consumption", Display: "Energy Consumption", Unit: "MJ",
		Kind: gpu.Counter}, Stats: metrics.Stats{Avg: 0.0006}}
	return &gpu.Telemetry{
		Configured: []string{"http://localhost:9401/metrics", "http://down:9400/metrics"},
		Successful: []string{"http://localhost:9401/metrics"},
		StartNS:    1_700_000_000_689_885_000, EndNS: 1_700_000_052_000_000_000,
		Endpoints: []gpu.Endpoint{{Name: "localhost:9401", GPUs: []gpu.DeviceMetrics{
			{Device: gpu.Device{Index: 0, UUID: "GPU-ef6ef310", Model: "NVIDIA H200", Platform: gpu.NVIDIA,
				Hostname: "node1", Pod: "p"}, Key: "gpu_0", Metrics: []gpu.Metric{power, energy}},
			{Device: gpu.Device{Index: 1, UUID: "GPU-b", Model: "NVIDIA H200", Platform: gpu.NVIDIA}, Key: "gpu_1",
				Metrics: []gpu.Metric{energy}},
		}}},
		Errors: []gpu.Failure{{Code: 503, Type: "Service Unavailable", Message: "answered with status 503", Count: 2}},
	}
}

// A counter has its growth alone; what is not known is left out.
func TestTrapCountersOfGPUsHaveOnlyAnAverage(t *testing.T) {
	section, _ := report.SummaryObject(&summary.Result{Telemetry: telemetry()}, time.UTC).Get("telemetry_data")
	text, err := artifact.AppendJSON(nil, section)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"summary":{"endpoints_configured":["http://localhost:9401/metrics","http://down:9400/metrics"],"endpoints_successful":["http://localhost:9401/metrics"],` +
		`"start_time":"2023-11-14T22:13:20.689885","end_time":"2023-11-14T22:14:12.000000"},"endpoints":{"localhost:9401":{"gpus":{` +
		`"gpu_0":{"gpu_index":0,"gpu_name":"NVIDIA H200","gpu_uuid":"GPU-ef6ef310","platform":"nvidia","hostname":"node1","pod_name":"p","metrics":{` +
		`"gpu_power_usage":{"unit":"W","avg":320.0,"p1":300.4,"p5":302.0,"p10":304.0,"p25":310.0,"p50":320.0,"p75":330.0,"p90":336.0,"p95":338.0,"p99":339.6,"min":300.0,"max":340.0,"std":20.0,"count":3},` +
		`"energy_consumption":{"unit":"MJ","avg":0.0006}}},` +
		`"gpu_1":{"gpu_index":1,"gpu_name":"NVIDIA H200","gpu_uuid":"GPU-b","platform":"nvidia","metrics":{"energy_consumption":{"unit":"MJ","avg":0.0006}}}}}},` +
		`"error_summary":[{"error_details":{"code":503,"type":"Service Unavailable","message":"answered with status 503"},"count":2}]}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestTelemetryCSV(t *testing.T) {
	want := strings.Join([]string{"", "",
		"Endpoint,GPU_Index,GPU_Name,GPU_UUID,Platform,Metric,avg,min,max,p1,p5,p10,p25,p50,p75,p90,p95,p99,std,Hostname,Pod Name",
		"localhost:9401,0,NVIDIA H200,GPU-ef6ef310,nvidia,GPU Power Usage " +
			"(W),320.00,300.00,340.00,300.40,302.00,304.00,310.00,320.00,330.00,336.00,338.00,339.60,20.00,node1,p",
		"localhost:9401,0,NVIDIA H200,GPU-ef6ef310,nvidia,Energy Consumption (MJ),0.00,,,,,,,,,,,,,node1,p",
		"localhost:9401,1,NVIDIA H200,GPU-b,nvidia,Energy Consumption (MJ),0.00,,,,,,,,,,,,,,",
		""}, "\r\n")
	path := filepath.Join(t.TempDir(), "summary.csv")
	if err := (report.SummaryCSV{path}).Export(t.Context(), &summary.Result{Telemetry: telemetry()}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("got  %q (%v)\nwant %q", got, err, want)
	}
}
