package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/summary"
)

var longNumber = regexp.MustCompile(`-?\d+\.\d{9,}`)

// rounded cuts the last digits of long numbers, in which processors differ.
func rounded(text []byte) []byte {
	return longNumber.ReplaceAllFunc(text, func(number []byte) []byte {
		v, _ := strconv.ParseFloat(string(number), 64)
		return strconv.AppendFloat(nil, v, 'g', 12, 64)
	})
}

func member(t *testing.T, object any, key string) any {
	t.Helper()
	v, ok := object.(artifact.Object).Get(key)
	if !ok {
		t.Fatalf("there is no %s in %v", key, object)
	}
	return v
}

// fiveRuns have a p99 of the time to first token each, one failed in between, and two have a goodput.
func fiveRuns() []Run {
	var runs []Run
	for i, v := range []float64{201, 199, 204, 197, 203} {
		r := Run{Info: summary.RunInfo{Trial: len(runs), RunLabel: Label(len(runs))}}
		add := func(tag, unit string, avg float64) {
			r.Metrics = append(r.Metrics, metrics.Metric{Tag: tag, Unit: unit, Stats: metrics.Stats{Avg: avg}})
		}
		add("request_throughput", "requests/sec", 0)
		add("time_to_first_token", "ms", v-1)
		none := math.NaN()
		r.Metrics[1].Distribution = true
		r.Metrics[1].Stats = metrics.Stats{Avg: v - 1, Min: none, Max: none, Sum: none, Std: none,
			Percentiles: metrics.Percentiles{none, none, none, none, none, none, none, none, v}}
		switch i {
		case 1, 3:
			add("goodput", "requests/sec", float64(9+i))
		case 4:
			add("reasoning_token_count", "tokens", 1.0/3)
		}
		runs = append(runs, r)
		if i == 2 {
			runs = append(runs, Run{Info: summary.RunInfo{Trial: 3, RunLabel: Label(3)},
				Err: "All 10 requests failed, \"really\""})
		}
	}
	return runs
}

func TestAggregateFiles(t *testing.T) {
	a := NewAggregate("0.1.0", fiveRuns(), 0.95, 1500*time.Millisecond)
	document, err := artifact.AppendIndented(nil, a.Document())
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(document) {
		t.Error("the document is no JSON")
	}
	testkit.Golden(t, "testdata/aggregate.json", rounded(append(document, '\n')))
	testkit.Golden(t, "testdata/aggregate.csv", rounded(a.CSV()))
}

// TestPublishedRow: the row of five runs as it is published.
func TestPublishedRow(t *testing.T) {
	a := NewAggregate("0.1.0", fiveRuns(), 0.95, 0)
	row := member(t, member(t, a.Document(), "metrics"), "time_to_first_token_p99").(artifact.Object)
	for i, want := range []struct {
		key   string
		value float64
	}{
		{"mean", 200.8}, {"std", 2.8635642126552705}, {"min", 197}, {"max", 204}, {"cv", 0.01426077795147047},
		{"se", 1.2806248474865696},
		{"ci_low", 197.24441541060125}, {"ci_high", 204.35558458939877}, {"t_critical", 2.7764451051977987},
	} {
		if got, _ := row[i].Value.(float64); row[i].Key != want.key || math.Abs(got-want.value) > 1e-9*want.value {
			t.Errorf("%s is %v, want %s %v", row[i].Key, row[i].Value, want.key, want.value)
		}
	}
	wantText(t, "the CSV", string(a.CSV()),
		"time_to_first_token_p99,200.80,2.86,197.00,204.00,0.0143,1.2806,197.24,204.36,2.7764,ms\r\n")
}

// TestTrapMeanOfZero: the coefficient is null in JSON, inf in CSV, and its key stays.
func TestTrapMeanOfZero(t *testing.T) {
	a := NewAggregate("0.1.0", fiveRuns(), 0.95, 0)
	if v := member(t, member(t, member(t, a.Document(), "metrics"), "request_throughput_avg"), "cv"); v != nil {
		t.Errorf("cv is %v", v)
	}
	wantText(t, "the CSV", string(a.CSV()),
		"request_throughput_avg,0.00,0.00,0.00,0.00,inf,0.0000,0.00,0.00,2.7764,requests/sec\r\n")
}

// TestTrapSpreadOfRunsIsTheSamples: over runs n − 1 counts, in the results of one run n. Neither interval nor figures
// are clamped or rounded in JSON.
func TestTrapSpreadOfRunsIsTheSamples(t *testing.T) {
	row := func(values ...float64) artifact.Object {
		rows := member(t, NewAggregate("0.1.0", successes(values...), 0.95, 0).Document(), "metrics")
		return member(t, rows, "request_latency_avg").(artifact.Object)
	}
	near := func(object artifact.Object, key string, want float64) {
		t.Helper()
		if got := member(t, object, key).(float64); math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s is %.17g, want %.17g", key, got, want)
		}
	}
	spread := row(100, 110, 120)
	near(spread, "std", 10)
	near(spread, "se", 5.773502691896258)
	near(spread, "ci_low", 110-4.302652729911275*5.773502691896258)
	two := row(10, 12)
	near(two, "ci_low", -1.7062047364320954)
	near(two, "t_critical", 12.706204736432095)
	near(row(-10, -12, -8), "cv", 0.2)
	text, err := artifact.AppendJSON(nil, row(1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, "the JSON", string(text), `"mean":0.3333333333333333`)
}

// TestTrapMetricOfSomeRuns: n is that of the key, be it 2 or 1.
func TestTrapMetricOfSomeRuns(t *testing.T) {
	a := NewAggregate("0.1.0", fiveRuns(), 0.95, 0)
	rows := member(t, a.Document(), "metrics")
	goodput := member(t, rows, "goodput_avg")
	if v := member(t, goodput, "t_critical").(float64); math.Abs(v-12.706204736432095) > 1e-9 {
		t.Errorf("t of two runs is %v", v)
	}
	equal(t, fmt.Sprint(member(t, goodput, "mean")), "11")
	one := member(t, rows, "reasoning_token_count_avg")
	for _, key := range []string{"std", "cv", "se", "ci_low", "ci_high", "t_critical"} {
		if v := member(t, one, key); v != nil {
			t.Errorf("%s of one run is %v", key, v)
		}
	}
	wantText(t, "the CSV", string(a.CSV()),
		"reasoning_token_count_avg,0.33,nan,0.33,0.33,nan,nan,nan,nan,nan,tokens\r\n")
}

// TestTrapLabelsOfSuccesses: failed runs count among the executed, not among the labels.
func TestTrapLabelsOfSuccesses(t *testing.T) {
	meta := member(t, NewAggregate("0.1.0", fiveRuns(), 0.95, 0).Document(), "metadata")
	equal(t, fmt.Sprint(member(t, meta, "num_profile_runs"), member(t, meta, "num_successful_runs")), "6 5")
	equal(t, fmt.Sprint(member(t, meta, "run_labels")), "[trial_0001 trial_0002 trial_0003 trial_0005 trial_0006]")
	equal(t, fmt.Sprint(member(t, meta, "failed_runs")),
		`[[{label trial_0004} {error All 10 requests failed, "really"}]]`)
}

// TestOrderOfRows: metrics as the first successful run exports them, new ones behind; statistics in their own order.
func TestOrderOfRows(t *testing.T) {
	var keys []string
	for _, r := range Summarize(Successes(fiveRuns()), 0.95) {
		keys = append(keys, r.Key())
	}
	equal(t, strings.Join(keys, " "),
		"request_throughput_avg time_to_first_token_avg time_to_first_token_p99 goodput_avg reasoning_token_count_avg")
}

// TestFigures: what has a unit in the summary file, every statistic but the count, in the order of that file.
func TestFigures(t *testing.T) {
	r := summary.Result{Metrics: []metrics.Metric{
		{Tag: "zeta", Unit: "ms", Stats: metrics.Stats{Avg: 1.5}},
		{Tag: "request_latency", Header: "Request Latency", Unit: "ms", Group: metrics.GroupDefault, Distribution: true,
			Stats: metrics.Stats{
				Avg: 2, Min: 1, Max: 3, Sum: 4, Std: math.NaN(), Count: 2,
				Percentiles: [9]float64{1, 5, 10, 25, 50, 75, 90, 95, 99}}},
		{Tag: "request_count", Unit: "requests", Stats: metrics.Stats{Avg: 2}},
		{Tag: "min_request_timestamp", Unit: "ns", EpochNS: 1_700_000_000_000_000_001,
			Stats: metrics.Stats{Avg: 1.7e18}},
		{Tag: "never", Unit: "ms", Stats: metrics.Stats{Avg: math.Inf(1)}},
	}, Warmup: []metrics.Metric{{Tag: "warm", Unit: "ms"}}}
	rows := Summarize([]Run{{Metrics: measured(&r)}}, 0.95)
	var got []string
	for _, row := range rows {
		got = append(got, fmt.Sprintf("%s=%v", row.Key(), row.Mean))
	}
	equal(t, strings.Join(got, " "),
		"request_latency_avg=2 request_latency_min=1 request_latency_max=3 request_latency_sum=4 "+
			"request_latency_p1=1 request_latency_p5=5 request_latency_p10=10 request_latency_p25=25 "+
			"request_latency_p50=50 request_latency_p75=75 "+
			"request_latency_p90=90 request_latency_p95=95 request_latency_p99=99 request_count_avg=2 "+
			"min_request_timestamp_avg=1.7e+18 zeta_avg=1.5")
	if f := rows[0]; !f.Shown() || f.Header != "Request Latency" || f.Unit != "ms" {
		t.Errorf("the first figure is %+v", f)
	}
}

// TestCollated: the requests of two runs as one population; the mean of the p99 of each would be 69.1.
func TestCollated(t *testing.T) {
	a := records(10, 20, 30, 40)
	a = append(a,
		`{"metadata":{"benchmark_phase":"warmup"},"metrics":{"request_latency":{"value":1e6}}}`,
		`{"metadata":{"benchmark_phase":"profiling"},"error":{"code":500},"metrics":{"request_latency":{"value":1e6}}}`,
		`{"metadata":{"benchmark_phase":"profiling"},"error":null,"metrics":{"gaps":{"value":[1,2]},"once":{"value":7},"text":{"value":"x"},"none":{"value":null},"absent":{}}}`,
		`{"metadata":{"benchmark_phase":"profiling"},"metrics":{"gaps":{"value":[3]}}}`,
		`not a record`, `[]`, ``)
	runs := written(t, a, records(15, 25, 100))
	runs = append(runs, Run{Info: summary.RunInfo{Trial: 2, RunLabel: Label(2)}, Err: "no"})
	document, warnings, err := Collated("0.1.0", runs, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	text, err := artifact.AppendIndented(nil, document)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/collated.json", rounded(append(text, '\n')))
	combined := member(t, member(t, member(t, document, "metrics"), "request_latency"), "combined").(artifact.Object)
	for i, want := range []float64{34.285714285714285, 30.608900044019258, 25, 64, 82, 96.4} {
		if got := combined[i].Value.(float64); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s is %v, want %v", combined[i].Key, got, want)
		}
	}
	if len(warnings) != 2 {
		t.Errorf("%d warnings: %q", len(warnings), warnings)
	}
	wantText(t, "the warnings", strings.Join(warnings, "\n"), "2 lines are not records", "gaps has a list")
	runs[0].Artifacts.Dir = filepath.Join(t.TempDir(), "gone")
	if _, _, err := Collated("0", runs, 0); err == nil {
		t.Error("requests that are gone were collated")
	}
}

// TestLargePools: beyond the limit percentiles are close instead of exact, all else is exact.
func TestLargePools(t *testing.T) {
	var p pool
	for i := range mostKept + 1 {
		p.add("trial_0001", float64(i))
	}
	if p.values != nil {
		t.Error("the values are still kept")
	}
	if got := p.percentiles()[0]; math.Abs(got-mostKept/2) > 0.001*mostKept {
		t.Errorf("the median is %v", got)
	}
	equal(t, fmt.Sprint(member(t, member(t, artifact.ObjectOf(p.document()), "combined"), "method"), " ",
		member(t, member(t, artifact.ObjectOf(p.document()), "combined"), "mean")), "histogram 500000")
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte(record(3)))
	f.Add([]byte(`{"metadata":{"benchmark_phase":"profiling"},"metrics":{"a":{"value":1e999},"b":{"value":[1]},"c":{"value":true}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var s skipped
		s.read(new(recordfile.RowParser), line, func(_ string, v float64) {
			if math.IsNaN(v) || math.Abs(v) >= largest {
				t.Errorf("%v was taken", v)
			}
		})
	})
}

func TestWrite(t *testing.T) {
	to := config.Artifacts{Dir: t.TempDir(), Prefix: "mine"}
	runs := written(t, records(1, 2), records(1, 2))
	a := NewAggregate("0.1.0", runs, 0.95, 0)
	paths, _, err := a.Write(to, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"aggregate.json", "aggregate.csv", "collated.json"} {
		want := filepath.Join(to.Dir, "aggregate", "profile_export_aiperf_"+name)
		if paths[i] != want {
			t.Errorf("%s, want %s", paths[i], want)
		}
		if _, err := os.Stat(want); err != nil {
			t.Error(err)
		}
	}
	// One file that fails does not cost the others.
	runs[0].Artifacts.Dir = filepath.Join(t.TempDir(), "gone")
	if paths, _, err := a.Write(to, true); err == nil || len(paths) != 2 {
		t.Errorf("%v, %v", paths, err)
	}
}

// TestPrepareRemovesEarlierRuns: five runs before and three now leave three folders; what is not ours stays.
func TestPrepareRemovesEarlierRuns(t *testing.T) {
	a := config.Artifacts{Dir: t.TempDir()}
	for _, name := range []string{
		"profile_runs/trial_0004/profile_export_aiperf.json", "profile_runs/trial_0004/logs/aiperf.log",
		"profile_runs/run_0005/run_config.json",
		"profile_runs/trial_0003/notes.txt", "profile_runs/trial_0003/profile_export.jsonl",
		"profile_runs/other/profile_export.jsonl",
		"aggregate/profile_export_aiperf_aggregate.csv", "profile_export_aiperf.json",
		"profile_runs/trial_0004/phase_manifest.json", "profile_runs/trial_0004/phases/warmup/server_metrics.json",
		"profile_runs/trial_0004/phases/profiling/profile_export_aiperf.csv",
	} {
		path := filepath.Join(a.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(a.Dir, "profile_runs", "trial_0003", "profile_export.jsonl")
	if _, err := Prepare(a, data); err == nil || !strings.Contains(err.Error(), "--input-file "+data) {
		t.Errorf("the data would be removed: %v", err)
	}
	lock, err := Prepare(a, filepath.Join(a.Dir, "elsewhere.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(a, ""); !errors.As(err, new(*artifact.InUseError)) {
		t.Errorf("another experiment may write there too: %v", err)
	}
	lock.Release()
	var left []string
	filepath.WalkDir(a.Dir, func(path string, entry os.DirEntry, err error) error {
		if name, _ := filepath.Rel(a.Dir, path); err == nil && name != "." {
			left = append(left, filepath.ToSlash(name))
		}
		return err
	})
	equal(t, strings.Join(left, " "),
		"profile_export_aiperf.json profile_runs profile_runs/other profile_runs/other/profile_export.jsonl "+
			"profile_runs/trial_0003 profile_runs/trial_0003/notes.txt")
}

// TestPrepareSaysWhatToDo when the folder cannot be made.
func TestPrepareSaysWhatToDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Prepare(config.Artifacts{Dir: filepath.Join(file, "out")}, "")
	if err == nil {
		t.Fatal("it was made")
	}
	wantText(t, "the error", err.Error(), "--artifact-dir")
}
