package report_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// Percentiles that failed requests push to infinity are left out of JSON and empty in CSV.
func TestTrapInfinitePercentilesAreLeftOut(t *testing.T) {
	m := requestLatency()
	m.Tag, m.Header = "adj_request_latency", "Request Latency (error-adjusted)"
	infinite := math.Inf(1)
	m.Stats.Percentiles[6], m.Stats.Percentiles[7], m.Stats.Percentiles[8] = infinite, infinite, infinite
	m.Stats.Avg, m.Stats.Sum, m.Stats.Max, m.Stats.Std, m.Stats.Count = infinite, infinite, infinite, math.NaN(), 4
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(summaryText(t, &summary.Result{Metrics: []metrics.Metric{m}}), &doc); err != nil {
		t.Fatal(err)
	}
	var block map[string]any
	if err := json.Unmarshal(doc["adj_request_latency"], &block); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"avg", "p90", "p95", "p99", "max", "sum", "std"} {
		if v, has := block[key]; has {
			t.Errorf("%s is %v", key, v)
		}
	}
	if block["p75"] != 315.0 || block["min"] != 200.0 || block["count"] != 4.0 {
		t.Errorf("what is finite is missing: %v", block)
	}
	want := "Request Latency (error-adjusted) (ms),,200.00,,,202.00,210.00,220.00,250.00,300.00,315.00,,,,\r\n"
	if got := string(report.AppendSummaryCSV(nil, []metrics.Metric{m})); !strings.HasSuffix(got, want) {
		t.Errorf("the row is %q, want %q", got, want)
	}
}

// The version promises fields: 1.1 count and sum, 1.2 run_info, 1.3 its ids and command line, 1.4 the warm-up's
// metrics.
func TestTrapSchemaVersionGoesWithItsFields(t *testing.T) {
	r := result()
	r.Warmup = []metrics.Metric{scalar("request_count", "Request Count", "requests", 2)}
	var doc struct {
		Version string         `json:"schema_version"`
		Latency map[string]any `json:"request_latency"`
		Info    map[string]any `json:"run_info"`
		Warmup  map[string]any `json:"warmup_metrics"`
	}
	if err := json.Unmarshal(summaryText(t, r), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != "1.5" {
		t.Errorf("schema_version %s: name here what the new version adds", doc.Version)
	}
	for key, in := range map[string]map[string]any{
		"count": doc.Latency, "sum": doc.Latency, "benchmark_id": doc.Info, "cli_command": doc.Info, "trial": doc.Info,
		"variation_label": doc.Info, "variation_index": doc.Info, "request_count": doc.Warmup,
	} {
		if in[key] == nil {
			t.Errorf("version %s without %s", doc.Version, key)
		}
	}
}

// Two empty lines part the GPUs from what stands before them, one the two tables of metrics.
func TestTrapGPUSectionComesAfterTwoEmptyLines(t *testing.T) {
	r := result()
	r.Telemetry = telemetry()
	path := filepath.Join(t.TempDir(), "summary.csv")
	if err := (report.SummaryCSV{Path: path}).Export(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	sections := strings.Split(text, "\r\n\r\n\r\n")
	if len(sections) != 2 || !strings.HasPrefix(sections[1], "Endpoint,GPU_Index,") {
		t.Fatalf("%d sections are parted by two empty lines: %q", len(sections), text)
	}
	if n := strings.Count(sections[0], "\r\n\r\n"); n != 1 {
		t.Errorf("%d empty lines between the metrics", n)
	}
}
