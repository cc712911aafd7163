package report_test

import (
	"context"
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// sliced is a run of two slices with a silent one between them; it ended within the second.
func sliced() *summary.Result {
	r := result()
	const start = 1785187466250000000
	estimated := interTokenLatency()
	estimated.Method = metrics.MethodSketch
	quiet := scalar("http_req_duration", "HTTP Request Duration", "", 2)
	r.Slices = []metrics.Slice{
		{Index: 0, StartNS: start, EndNS: start + 250e6, Complete: true, Results: []metrics.Metric{
			scalar("request_count", "Request Count", "requests", 2),
			requestLatency(),
			scalar("benchmark_duration", "Benchmark Duration", "sec", 0.3),
			estimated,
		}},
		{Index: 1, StartNS: start + 500e6, EndNS: start + 750e6, Results: []metrics.Metric{
			scalar("request_throughput", "Request Throughput", "requests/sec", 3.0303030303030303),
			quiet,
			scalar("error_request_count", "Error Request Count", "requests", 1),
			scalar("goodput", "Goodput", "requests/sec", math.NaN()),
		}},
	}
	return r
}

func exported(t *testing.T, r *summary.Result, to func(path string) report.Exporter) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "timeslices")
	if err := to(path).Export(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTimeslicesCSV(t *testing.T) {
	testkit.Golden(t, "testdata/timeslices.csv",
		exported(t, sliced(), func(path string) report.Exporter { return report.TimeslicesCSV{path} }))
}

func TestTimeslicesJSON(t *testing.T) {
	r := sliced()
	got := exported(t, r, func(path string) report.Exporter { return report.TimeslicesJSON{path} })
	testkit.Golden(t, "testdata/timeslices.json", got)
	var entries []any
	for i := range r.Slices {
		entries = append(entries, report.TimesliceObject(&r.Slices[i]))
	}
	want, err := artifact.AppendIndented(nil,
		artifact.Object{{Key: "timeslices", Value: entries}, {Key: "input_config", Value: r.InputConfig}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimRight(string(got), "\n") != strings.TrimRight(string(want), "\n") {
		t.Errorf("written piece by piece:\n%s\nas a whole:\n%s", got, want)
	}
}

func TestTrapTimesliceMetricHasNoUnitAndScalarsOnlyTheirAverage(t *testing.T) {
	data := string(exported(t, sliced(), func(path string) report.Exporter { return report.TimeslicesCSV{path} }))
	rows, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	stats := map[string][]string{}
	for _, row := range rows[1:] {
		if row[0] == "0" {
			stats[row[3]] = append(stats[row[3]], row[5])
		}
		if whole, decimals, _ := strings.Cut(row[6], "."); whole == "" || len(decimals) != 2 {
			t.Errorf("value %q of %q", row[6], row)
		}
	}
	if got := stats["Benchmark Duration"]; !slices.Equal(got, []string{"avg"}) {
		t.Errorf("Benchmark Duration has %q", got)
	}
	want := []string{"avg", "min", "max", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "std"}
	if got := stats["Request Latency"]; !slices.Equal(got, want) {
		t.Errorf("Request Latency has %q", got)
	}
	if !strings.Contains(data, ",HTTP Request Duration,,avg,2.00\r\n") {
		t.Errorf("a metric without a unit: %s", data)
	}
}

func TestNoTimeslicesNoFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	for _, e := range []report.Exporter{report.TimeslicesCSV{path}, report.TimeslicesJSON{path}} {
		if err := e.Export(context.Background(), result()); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a run without slices has a file (%v)", e.Name(), err)
		}
	}
}

func TestTimeslicesThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "x")
	for _, e := range []report.Exporter{report.TimeslicesCSV{path}, report.TimeslicesJSON{path}} {
		if err := e.Export(context.Background(), sliced()); err == nil {
			t.Errorf("%s: no error", e.Name())
		}
	}
}
