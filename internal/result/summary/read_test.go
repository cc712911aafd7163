package summary_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/measure/stats"
	"aiperf/internal/result/summary"
)

func TestParseFigures(t *testing.T) {
	f, err := summary.ParseFigures([]byte(`{"schema_version": "1.5", "benchmark_id": "b",
		"request_latency": {"unit": "ms", "avg": 2.5, "p50": 2, "p99": null, "count": 3, "method": "exact"},
		"input_config": {"endpoint": {"unit": 3}},
		"percentile_bounds": {"request_latency": {"p50": {"low": 1.0, "high": 3.0}, "p99": {"low": 2.0}}},
		"telemetry_data": {"gpu": {"unit": "W"}}, "was_cancelled": true, "is_complete": false, "incomplete_reason": "r", "error_summary": []}`))
	if err != nil {
		t.Fatal(err)
	}
	b, ok := f.Find("request_latency")
	if !ok || len(f.Blocks) != 1 || b.Unit != "ms" || len(b.Stats) != 3 || b.Stats["p50"] != 2 ||
		b.Stats["count"] != 3 {
		t.Errorf("blocks %+v", f.Blocks)
	}
	p50, p99 := b.Bounds["p50"], b.Bounds["p99"]
	if p50 != (stats.Range{Low: 1, High: 3}) || p99.Low != 2 || !math.IsNaN(p99.High) {
		t.Errorf("bounds %+v", b.Bounds)
	}
	if f.BenchmarkID != "b" || !f.WasCancelled || f.Incomplete != "r" {
		t.Errorf("figures %+v", f)
	}
}

// The original says of every run whether it is complete, and not always why.
func TestCompletenessOfTheOriginal(t *testing.T) {
	for text, want := range map[string]string{
		`"is_complete": true, "incomplete_reason": null`:  "",
		`"is_complete": null`:                             "",
		`"is_complete": false, "incomplete_reason": null`: "its summary does not say why",
		`"incomplete_reason": "r", "is_complete": false`:  "r",
	} {
		f, err := summary.ParseFigures([]byte(`{"request_latency": {"unit": "ms", "avg": 5}, ` + text + `}`))
		if err != nil || f.Incomplete != want {
			t.Errorf("%s: incomplete %q, %v; want %q", text, f.Incomplete, err, want)
		}
	}
}

// The shape of version 1.0 has neither ids nor counts; still older files keep the metrics in "records".
func TestParseFiguresOfTheOriginal(t *testing.T) {
	for _, text := range []string{
		`{"request_throughput": {"unit": "requests/sec", "avg": 4.1}, "request_latency": {"unit": "ms", "avg": 5, "p1": 1, "p99": 9},
		  "input_config": {"endpoint": {"model_names": ["m"]}}, "was_cancelled": false, "error_summary": [], "start_time": "2026-07-27T21:24:26.347694"}`,
		`{"input_config": {}, "records": {"request_throughput": {"tag": "request_throughput", "unit": "requests/sec", "header": "RT", "avg": 4.1},
		  "request_latency": {"unit": "ms", "avg": 5, "p1": 1, "p99": 9, "count": null}}}`,
	} {
		f, err := summary.ParseFigures([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		throughput, _ := f.Find("request_throughput")
		latency, _ := f.Find("request_latency")
		if len(f.Blocks) != 2 || throughput.Stats["avg"] != 4.1 || len(latency.Stats) != 3 ||
			latency.Stats["p99"] != 9 {
			t.Errorf("blocks %+v", f.Blocks)
		}
	}
}

func TestFilesThatAreNoSummary(t *testing.T) {
	for _, text := range []string{"", "[]", "3", "{", `{"a": 1}`, `{"data": [{"session_id": "x"}]}`,
		`{"was_cancelled": "yes", "a": {"unit": "ms"}}`} {
		if _, err := summary.ParseFigures([]byte(text)); err == nil || !strings.Contains(err.Error(), "not a summary") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFindSummary(t *testing.T) {
	const run = `{"request_count": {"unit": "requests", "avg": 3.0}, "input_config": {}}`
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("inputs.json", `{"data": []}`)
	write("mine_server_metrics.json", `{"input_config": {}, "metrics": {}}`)
	if _, err := summary.ReadFigures(dir); err == nil || !strings.Contains(err.Error(), "holds no summary") {
		t.Errorf("an empty run: %v", err)
	}
	write("mine.json", run)
	if f, err := summary.ReadFigures(dir); err != nil || len(f.Blocks) != 1 {
		t.Errorf("a run with a prefix: %+v, %v", f, err)
	}
	write("other.json", run)
	if _, err := summary.ReadFigures(dir); err == nil || !strings.Contains(err.Error(), "mine.json, other.json") {
		t.Errorf("two runs: %v", err)
	}
	if f, err := summary.ReadFigures(filepath.Join(dir, "other.json")); err != nil || len(f.Blocks) != 1 {
		t.Errorf("the file itself: %+v, %v", f, err)
	}
	write("profile_export_aiperf.json", run)
	if got, err := summary.FindSummary(dir); err != nil || filepath.Base(got) != "profile_export_aiperf.json" {
		t.Errorf("beside the usual name: %s, %v", got, err)
	}
	if _, err := summary.ReadFigures(filepath.Join(dir, "absent")); err == nil {
		t.Error("what is not there can be read")
	}
}

func FuzzParseFigures(f *testing.F) {
	f.Add([]byte(`{"a": {"unit": "ms", "avg": 1}, "percentile_bounds": {"a": {"p50": {"low": 1}}}}`))
	f.Add([]byte(`{"records": {"a": {"unit": "", "avg": 1e400}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		figures, err := summary.ParseFigures(data)
		if err == nil && len(figures.Blocks) == 0 {
			t.Error("a summary without a metric")
		}
	})
}
