package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

func summaryText(t *testing.T, r *summary.Result) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile_export_aiperf.json")
	if err := (report.SummaryJSON{Path: path, Location: time.FixedZone("", 0)}).Export(context.Background(),
		r); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(data) {
		t.Fatalf("not JSON: %s", data)
	}
	return data
}

func TestSummaryJSON(t *testing.T) {
	r := result()
	r.Warmup = []metrics.Metric{
		scalar("total_isl", "Total Input Sequence Length", "tokens", 12),
		scalar("request_count", "Request Count", "requests", 2),
	}
	testkit.Golden(t, "testdata/summary.json", summaryText(t, r))
}

func TestSummaryJSONOfADegradedRun(t *testing.T) {
	r := result()
	r.Metrics = nil
	r.RunInfo.RandomSeed = nil
	r.RunInfo.RunLabel = "trial_0002"
	r.RunInfo.Trial = 1
	r.WasCancelled = true
	r.Incomplete = "cannot write records: no space left on device"
	r.Counts.TargetRate, r.Counts.DeliveredRate, r.Counts.SkippedArrivals = 50, 48.5, 3
	testkit.Golden(t, "testdata/summary_degraded.json", summaryText(t, r))
}

func TestTrapRequestCountIsUnitAndAverageOnly(t *testing.T) {
	m := scalar("request_count", "Request Count", "requests", 3)
	out, _ := artifact.AppendJSON(nil, report.MetricBlock(&m))
	if string(out) != `{"unit":"requests","avg":3.0}` {
		t.Errorf("got %s", out)
	}
}

// What a distribution does not have is left out, as is what is infinite.
func TestStatisticsThatAreAbsent(t *testing.T) {
	none, infinite := math.NaN(), math.Inf(1)
	curve := metrics.Metric{
		Tag: "active_decode_throughput", Header: "Active Decode Throughput", Unit: "tokens/sec", Distribution: true,
		Stats: metrics.Stats{Avg: 443.6, Max: 1535.66, Sum: none, Std: 201.42,
			Percentiles: [9]float64{none, none, none, none, 501.61, none, 633.07, 671.76, 709.76}},
	}
	adjusted := metrics.Metric{
		Tag: "adj_request_latency", Header: "Request Latency (error-adjusted)", Unit: "ms", Distribution: true,
		Stats: metrics.Stats{Avg: infinite, Min: 200, Max: infinite, Sum: infinite, Std: none, Count: 4,
			Percentiles: [9]float64{200, 200, 200, 300, 330, 330, infinite, infinite, infinite}},
	}
	for _, c := range []struct {
		result metrics.Metric
		json   string
		csv    string
	}{
		{curve, `{"unit":"tokens/sec","avg":443.6,"p50":501.61,"p90":633.07,"p95":671.76,"p99":709.76,"min":0.0,"max":1535.66,"std":201.42}`,
			"Active Decode Throughput (tokens/sec),443.60,0.00,1535.66,,,,,,501.61,,633.07,671.76,709.76,201.42\r\n"},
		{adjusted, `{"unit":"ms","p1":200.0,"p5":200.0,"p10":200.0,"p25":300.0,"p50":330.0,"p75":330.0,"min":200.0,"count":4}`,
			"Request Latency (error-adjusted) (ms),,200.00,,,200.00,200.00,200.00,300.00,330.00,330.00,,,,\r\n"},
	} {
		if out, _ := artifact.AppendJSON(nil, report.MetricBlock(&c.result)); string(out) != c.json {
			t.Errorf("got  %s\nwant %s", out, c.json)
		}
		if out := string(report.AppendSummaryCSV(nil, []metrics.Metric{c.result})); !strings.HasSuffix(out, c.csv) {
			t.Errorf("got  %s\nwant %s", out, c.csv)
		}
	}
	curve.Method = metrics.MethodTimeBins
	if out, _ := artifact.AppendJSON(nil, report.MetricBlock(&curve)); !strings.HasSuffix(string(out),
		`"std":201.42,"method":"time_bins"}`) {
		t.Errorf("the method is not told: %s", out)
	}
}

func TestTrapDistributionHasSum(t *testing.T) {
	m := requestLatency()
	out, _ := artifact.AppendJSON(nil, report.MetricBlock(&m))
	want := `{"unit":"ms","avg":276.6666666666667,"p1":202.0,"p5":210.0,"p10":220.0,"p25":250.0,"p50":300.0,"p75":315.0,` +
		`"p90":324.0,"p95":327.0,"p99":329.4,"min":200.0,"max":330.0,"std":55.577773335110216,"count":3,"sum":830.0}`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	m.Method = metrics.MethodHistogram
	out, _ = artifact.AppendJSON(nil, report.MetricBlock(&m))
	if !strings.HasSuffix(string(out), `"sum":830.0,"method":"histogram","relative_error":0.00048828125}`) {
		t.Errorf("the method is not told: %s", out)
	}
	if csv := string(report.AppendSummaryCSV(nil, []metrics.Metric{m})); !strings.Contains(csv, ",830.00,") {
		t.Errorf("no sum in %s", csv)
	}
}

func TestInstantsStayExactIntegers(t *testing.T) {
	m := scalar("min_request_timestamp", "Minimum Request Timestamp", "ns", 1.7e18)
	m.EpochNS = 1700000000000000001
	out, _ := artifact.AppendJSON(nil, report.MetricBlock(&m))
	if string(out) != `{"unit":"ns","avg":1700000000000000001}` {
		t.Errorf("got %s", out)
	}
}

func TestTrapCleanRunHasEmptyErrorSummary(t *testing.T) {
	r := result()
	r.Errors = nil
	text := string(summaryText(t, r))
	for _, want := range []string{`"error_summary": [],`, `"was_cancelled": false,`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, "is_complete") {
		t.Error("a complete run has is_complete")
	}
}

func TestTrapNoNulls(t *testing.T) {
	r := &summary.Result{Metrics: []metrics.Metric{
		scalar("a", "A", "ms", math.NaN()),
		{Tag: "b", Distribution: true, Stats: metrics.Stats{Avg: math.Inf(1), Std: math.NaN()}},
	}}
	text := summaryText(t, r)
	if bytes.Contains(text, []byte("null")) {
		t.Errorf("null in %s", text)
	}
	var doc map[string]map[string]any
	_ = json.Unmarshal(text, &doc) // members of other types are not looked at
	if _, ok := doc["a"]; ok {
		t.Error("a metric without a value has a block")
	}
	if b := doc["b"]; b == nil || b["avg"] != nil || b["std"] != nil || b["min"] == nil {
		t.Errorf("block b is %v", b)
	}
}

func TestTrapBenchmarkIDStandsTwice(t *testing.T) {
	var doc struct {
		Schema  string `json:"schema_version"`
		ID      string `json:"benchmark_id"`
		RunInfo struct {
			ID      string `json:"benchmark_id"`
			StartNS int64  `json:"start_time_ns"`
			EndNS   int64  `json:"end_time_ns"`
		} `json:"run_info"`
		Start string `json:"start_time"`
	}
	r := result()
	if err := json.Unmarshal(summaryText(t, r), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "1.5" || doc.ID != r.BenchmarkID || doc.RunInfo.ID != r.BenchmarkID {
		t.Errorf("got %+v", doc)
	}
	if doc.RunInfo.StartNS != r.StartNS || doc.RunInfo.EndNS != r.EndNS || doc.Start != "2026-07-27T21:24:26.347694" {
		t.Errorf("got %+v", doc)
	}
}

func TestTrapCSVExample(t *testing.T) {
	var scalars []metrics.Metric
	for _, m := range result().Metrics {
		if m.Tag != "total_token_throughput" && m.Tag != "completed_request_count" {
			scalars = append(scalars, m)
		}
	}
	want := strings.ReplaceAll(`Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std
Inter Token Latency (ms),13.71,4.21,22.22,41.14,4.42,5.26,6.31,9.46,14.71,18.46,20.72,21.47,22.07,7.39
Request Latency (ms),276.67,200.00,330.00,830.00,202.00,210.00,220.00,250.00,300.00,315.00,324.00,327.00,329.40,55.58

Metric,Value
Benchmark Duration (sec),0.73
Error Request Count,1.00
Output Token Throughput (tokens/sec),65.75
Request Count,3.00
Request Throughput (requests/sec),4.11
`, "\n", "\r\n")
	if got := string(report.AppendSummaryCSV(nil, scalars)); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestCSVCountsFinishReasonsThatAreNotTheUsual(t *testing.T) {
	for _, c := range []struct {
		endings map[string]int64
		rows    []string
	}{
		{map[string]int64{"stop": 9, "Length": 4}, nil},
		{map[string]int64{"stop": 9, "content_filter": 1},
			[]string{"Finish Reason stop,9.00", "Finish Reason content_filter,1.00"}},
		{map[string]int64{"=cmd": 1}, []string{"Finish Reason =cmd,1.00"}},
	} {
		r := result()
		r.FinishReasons = c.endings
		path := filepath.Join(t.TempDir(), "summary.csv")
		if err := (report.SummaryCSV{Path: path}).Export(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, values, _ := strings.Cut(string(data), "\r\n\r\nMetric,Value\r\n")
		values, _, _ = strings.Cut(values, "\r\n\r\n")
		var got []string
		for line := range strings.Lines(values) {
			if strings.HasPrefix(line, "Finish Reason") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if !slices.Equal(got, c.rows) {
			t.Errorf("%v: %q, want %q", c.endings, got, c.rows)
		}
	}
}

func TestTrapCSVSectionsAreSeparatedByOneEmptyLine(t *testing.T) {
	latency, count := requestLatency(), scalar("request_count", "Request Count", "requests", 3)
	for _, c := range []struct {
		name     string
		results  []metrics.Metric
		sections int
		empty    bool
	}{
		{"none", nil, 0, false},
		{"distributions only", []metrics.Metric{latency}, 1, false},
		{"scalars only", []metrics.Metric{count}, 1, false},
		{"both", []metrics.Metric{count, latency}, 2, true},
	} {
		text := string(report.AppendSummaryCSV(nil, c.results))
		if n := strings.Count(text, "Metric,"); n != c.sections {
			t.Errorf("%s: %d sections", c.name, n)
		}
		if got := strings.Contains(text, "\r\n\r\n"); got != c.empty {
			t.Errorf("%s: empty line %v", c.name, got)
		}
		if strings.HasPrefix(text, "\r\n") || strings.Contains(text, "\r\n\r\n\r\n") ||
			strings.Count(text, "\n") != strings.Count(text, "\r\n") {
			t.Errorf("%s: line ends in %q", c.name, text)
		}
	}
}

func TestTrapCSVLabels(t *testing.T) {
	for _, c := range []struct{ header, unit, want string }{
		{"Request Count", "requests", "Request Count"},
		{"HTTP Chunks Sent", "Count", "HTTP Chunks Sent"},
		{"Plain", "", "Plain"},
		{"OSL Mismatch Diff %", "%", "OSL Mismatch Diff % (%)"},
		{"Decode Duration", "ms", "Decode Duration (ms)"},
	} {
		m := metrics.Metric{Tag: "x_y", Header: c.header, Unit: c.unit}
		for _, m.Distribution = range []bool{false, true} {
			row := strings.Split(string(report.AppendSummaryCSV(nil, []metrics.Metric{m})), "\r\n")[1]
			if got, _, _ := strings.Cut(row, ","); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		}
	}
}

type failing struct{ err error }

func (failing) Name() string                                    { return "failing" }
func (f failing) Export(context.Context, *summary.Result) error { return f.err }

func TestFailedExporterDoesNotStopOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	disk := errors.New("disk on fire")
	err := report.ExportAll(context.Background(), result(), failing{disk}, report.SummaryCSV{path},
		report.SummaryJSON{Path: filepath.Join(dir, "no", "x.json")})
	if !errors.Is(err, disk) || !strings.Contains(err.Error(), "failing: ") ||
		!strings.Contains(err.Error(), "JSON summary: ") {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("the CSV was not written after another exporter failed")
	}
	if err := report.ExportAll(context.Background(), result(), report.SummaryCSV{path}); err != nil {
		t.Error(err)
	}
}

// Metadata is there where there is something to say.
func TestSummaryMetadata(t *testing.T) {
	for _, c := range []struct {
		source     *summary.Source
		submission *summary.Submission
		want       string
	}{
		{nil, nil, ""},
		{&summary.Source{Loader: "sharegpt"}, nil, `{"dataset":{"source_type":"public_dataset","loader":"sharegpt"}}`},
		{&summary.Source{Loader: "spec_al_gsm8k", HubDataset: "openai/gsm8k", HubSubset: "main", HubSplit: "test",
			Entries: 20}, nil,
			`{"dataset":{"source_type":"public_dataset","loader":"spec_al_gsm8k","hf_dataset_name":"openai/gsm8k","hf_split":"test","hf_subset":"main","num_dataset_entries":20}}`},
		{nil, &summary.Submission{Scenario: "s"},
			`{"scenario":"s","submission_valid":true,"submission_invalid_reasons":[]}`},
		{&summary.Source{Loader: "x"}, &summary.Submission{Scenario: "s",
			Reasons: []string{"unsafe_override", "was_cancelled"}},
			`{"dataset":{"source_type":"public_dataset","loader":"x"},"scenario":"s","submission_valid":false,"submission_invalid_reasons":["unsafe_override","was_cancelled"]}`},
	} {
		r := result()
		r.Source, r.Submission = c.source, c.submission
		doc := report.SummaryObject(r, nil)
		got := ""
		if m, ok := doc.Get("metadata"); ok {
			text, err := artifact.AppendJSON(nil, m)
			if err != nil {
				t.Fatal(err)
			}
			got = string(text)
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if _, ok := doc.Get("runtime_submission_invalid_reasons"); ok != (c.submission != nil) {
			t.Errorf("%+v: runtime_submission_invalid_reasons is there: %t", c.submission, ok)
		}
	}
}

func TestBranchStatsHaveElevenCounts(t *testing.T) {
	r := result()
	r.Branches = &summary.Branches{
		ChildrenSpawned: 1, ChildrenCompleted: 2, ChildrenErrored: 3, ChildrenTruncated: 4, ChildrenDelayed: 5,
		ParentsSuspended: 6, ParentsResumed: 7, ParentsFailed: 8, JoinsSuppressed: 9, GraphsAdmitted: 10,
		GraphsCompleted: 11,
	}
	stats, _ := report.SummaryObject(r, nil).Get("branch_stats")
	text, _ := artifact.AppendJSON(nil, stats)
	want := `{"children_spawned":1,"children_completed":2,"children_errored":3,"children_truncated":4,"children_delayed":5,` +
		`"parents_suspended":6,"parents_resumed":7,"parents_failed_due_to_child_error":8,"joins_suppressed":9,"graphs_admitted":10,"graphs_completed_to_end":11}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestRunInfoOrder(t *testing.T) {
	r := result()
	seed := uint64(3)
	r.RunInfo = summary.RunInfo{RandomSeed: &seed, RunLabel: "trial_0001"}
	var keys []string
	info, _ := report.SummaryObject(r, nil).Get("run_info")
	for _, m := range info.(artifact.Object) {
		keys = append(keys, m.Key)
	}
	want := "benchmark_id random_seed trial run_label variation_label variation_index variation_values cli_command"
	if got := strings.Join(keys, " "); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want it to begin with %s", got, want)
	}
}
