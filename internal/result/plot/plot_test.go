package plot_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/result/chart"
	"aiperf/internal/result/plot"
)

const scatterPlot = `{type: scatter, x: request_latency_avg, y: request_throughput}`

func near(t testing.TB, what string, got []float64, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
		return
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-6*(1+math.Abs(want[i])) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

func TestTrap1AggregatesStandForTrials(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []int{2, 4, 8} {
		cell := fmt.Sprintf("concurrency_%d", c)
		aggregated(t, filepath.Join(dir, "aggregate", cell), 100+float64(i))
		for k := range 2 {
			madeRun(t, filepath.Join(dir, "profile_runs", fmt.Sprintf("trial_%04d", k+1), cell), c, latency(100))
		}
	}
	if m := made(t, several(scatterPlot), dir); !m.Several || len(m.Runs) != 3 {
		t.Errorf("the folder: %d runs", len(m.Runs))
	} else {
		count := 0
		for _, l := range figure(t, m).Layers {
			if l.Kind == chart.Points {
				count += len(l.X)
			}
		}
		if count != 3 {
			t.Errorf("%d points, want 3", count)
		}
	}
	if m := made(t, several(scatterPlot), filepath.Join(dir, "profile_runs")); len(m.Runs) != 6 {
		t.Errorf("profile_runs: %d runs, want 6", len(m.Runs))
	}
}

func TestTheTrialsOfOneAggregateArePlotted(t *testing.T) {
	dir := t.TempDir()
	aggregated(t, filepath.Join(dir, "aggregate"), 100)
	for k := range 3 {
		madeRun(t, filepath.Join(dir, "profile_runs", fmt.Sprintf("run_%04d", k+1)), 4, latency(100))
	}
	if m := made(t, several(scatterPlot), dir); !m.Several || len(m.Runs) != 3 {
		t.Errorf("%+v", m.Runs)
	}
}

func TestTrap2OrderOfConfigurations(t *testing.T) {
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), ".aiperf")
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if got := plot.FindConfig("", []string{first}, home, false); got.Path != "" || got.Created {
		t.Errorf("nothing: %+v", got)
	}
	got := plot.FindConfig("", []string{first}, home, true)
	if !got.Created || got.Path != filepath.Join(home, "plot_config.yaml") {
		t.Errorf("the user's own: %+v", got)
	}
	builtin, err := os.ReadFile("plot_config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(got.Path); err != nil || !bytes.Equal(text, builtin) {
		t.Errorf("it is no copy: %v", err)
	}
	if again := plot.FindConfig("", nil, home, true); again.Created {
		t.Error("it was created twice")
	}
	write(t, filepath.Join(second, plot.FolderConfig), "x")
	got = plot.FindConfig("", []string{first, second}, home, true)
	if got.Path != filepath.Join(second, plot.FolderConfig) {
		t.Errorf("the folder's: %+v", got)
	}
	if got := plot.FindConfig("mine.yaml", []string{second}, home, true); got.Path != "mine.yaml" {
		t.Errorf("the given one: %+v", got)
	}
	blocked := filepath.Join(dir, "file")
	write(t, blocked, "")
	if got := plot.FindConfig("", nil, filepath.Join(blocked, "x"), true); got.Problem == nil || got.Path != "" {
		t.Errorf("a home that cannot be made: %+v", got)
	}
}

func TestTrap3LevelsOfConfidence(t *testing.T) {
	for text, want := range map[string]float64{"0.8": 0.95, "0.90": 0.9, "0.99": 0.99, "0.95": 0.95, "1.5": 0.95} {
		c, err := plot.ParseConfig("f", []byte(several(`{type: latency_throughput_uncertainty, x: request_latency, `+
			`y: output_token_throughput, ci_level: `+text+`}`)))
		if err != nil || c.Multi[0].Level != want {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
	dir := t.TempDir()
	for _, c := range []int{1, 2} {
		madeRun(t, filepath.Join(dir, fmt.Sprint(c)), c, latency(100*float64(c)))
	}
	f := figure(t, made(t, several(`{type: latency_throughput_uncertainty, x: request_latency, `+
		`y: output_token_throughput, groups: [model]}`), dir))
	names := map[string]int{}
	for _, l := range f.Layers {
		names[l.Name]++
		if l.Kind == chart.Polygon {
			if size := slices.Max(l.X) - slices.Min(l.X); size != 0 || !l.Look.Dashed || l.Look.Fill != 0.08 || len(l.X) != 64 {
				t.Errorf("the region of a single run: %g wide, %+v", size, l.Look)
			}
		}
	}
	if names["Low sample (n < 3)"] != 1 || names["95% confidence region"] != 0 || names["model = m"] != 1 {
		t.Errorf("legend %v", names)
	}
}

// TestTheLineOfMeansGoesFromLoadToLoad: latency falls and rises again with the load, the line does not go back and forth.
func TestTheLineOfMeansGoesFromLoadToLoad(t *testing.T) {
	dir := t.TempDir()
	for load, ms := range map[int]float64{4: 120, 8: 100, 16: 110, 32: 300} {
		madeRun(t, filepath.Join(dir, fmt.Sprint(load)), load, latency(ms))
	}
	l := layer(t, figure(t, made(t, several(`{type: latency_throughput_uncertainty, x: request_latency, `+
		`y: request_throughput}`), dir)), chart.Line)
	near(t, "x of the line", l.X, 120, 100, 110, 300)
}

func TestTrap4HalfWidthOfThreeRuns(t *testing.T) {
	dir := t.TempDir()
	for i, ms := range []float64{100, 110, 120} {
		madeRun(t, filepath.Join(dir, fmt.Sprint(i)), 8, latency(ms))
	}
	l := layer(t, figure(t, made(t, several(`{type: latency_throughput_uncertainty, x: request_latency, `+
		`y: request_throughput}`), dir)), chart.Polygon)
	near(t, "half-width", []float64{(slices.Max(l.X) - slices.Min(l.X)) / 2}, 4.302652729749464*10/math.Sqrt(3))
	// The region is within the intervals of both means; a tilted one touches that of y between two corners.
	ys := []float64{1 / 0.1, 1 / 0.11, 1 / 0.12}
	mean := (ys[0] + ys[1] + ys[2]) / 3
	std := math.Sqrt(((ys[0]-mean)*(ys[0]-mean) + (ys[1]-mean)*(ys[1]-mean) + (ys[2]-mean)*(ys[2]-mean)) / 2)
	half := 4.302652729749464 * std / math.Sqrt(3)
	if got := (slices.Max(l.Y) - slices.Min(l.Y)) / 2; got > half || got < 0.998*half {
		t.Errorf("half-height %g, want %g", got, half)
	}
}

func TestTrap5BothNamesOfGPUUtilization(t *testing.T) {
	dir := t.TempDir()
	madeRun(t, dir, 1, request{0, 2, 0.5, 100})
	gpu := `{"timestamp_ns":%d,"dcgm_url":"http://h/metrics","gpu_index":0,"gpu_uuid":"GPU-1","gpu_model_name":"G",` +
		`"telemetry_data":{"nvidia_gpu_utilization":%d}}` + "\n"
	write(t, filepath.Join(dir, "gpu_telemetry_export.jsonl"), fmt.Sprintf(gpu, begin, 10)+
		fmt.Sprintf(gpu, begin+1_500_000_000, 90))
	for _, name := range []string{"nvidia_gpu_utilization", "gpu_utilization"} {
		f := figure(t, made(t, one(`{type: dual_axis, x: timestamp_s, y: throughput_tokens_per_sec, y2: `+name+`}`), dir))
		for _, l := range f.Layers {
			if l.Right {
				near(t, name, l.X, -0.5, 1)
				near(t, name, l.Y, 10, 90)
			}
		}
		if f.Y2 == nil || f.Y2.Max == nil || *f.Y2.Max != 100 {
			t.Errorf("%s: the axis of shares does not end at 100 %%: %+v", name, f.Y2)
		}
	}
}

func TestTrap6OneColumnForGroups(t *testing.T) {
	_, err := plot.ParseConfig("f.yaml",
		[]byte(several(`{type: scatter, x: request_latency, y: request_throughput, groups: [a, b]}`)))
	if err == nil || !strings.Contains(err.Error(), "f.yaml:5:") || !strings.Contains(err.Error(), "takes one column, not 2") {
		t.Error(err)
	}
}

func TestTrap29PlotsBelowARunAreNoRun(t *testing.T) {
	dir := t.TempDir()
	madeRun(t, dir, 1, latency(100))
	madeRun(t, filepath.Join(dir, "plots"), 1, latency(100))
	if m := made(t, one(`{type: scatter, x: request_number, y: request_latency}`), dir); m.Several {
		t.Errorf("%v", m.Runs)
	}
}

func TestTrap30WhatLacksDataIsLeftOutAndNamed(t *testing.T) {
	dir := t.TempDir()
	madeRun(t, dir, 1, request{0, 1, 0, 10})
	found, err := plot.Find([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	m, err := plot.Make(found, plot.Builtin())
	if err != nil || len(m.Figures) != 0 || len(m.Skipped) != 5 {
		t.Fatalf("%v, %+v", err, m)
	}
	for _, s := range m.Skipped {
		if s.Reason == "" || s.Failed {
			t.Errorf("%+v", s)
		}
	}
	if want := "no request has time_to_first_token: the replies were not streamed"; m.Skipped[0].Reason != want {
		t.Errorf("%q, want %q", m.Skipped[0].Reason, want)
	}
}

func TestThroughputIsSpreadOverTheTimeOfTheTokens(t *testing.T) {
	dir := t.TempDir()
	madeRun(t, dir, 1, request{0, 2, 0.5, 100}, request{0.5, 2.5, 0.5, 50})
	l := layer(t, figure(t, made(t, one(`{type: area, x: timestamp_s, y: throughput_tokens_per_sec}`), dir)), chart.StairArea)
	near(t, "time", l.X, 0, 0.5, 1.5, 2)
	near(t, "rate", l.Y, 100/1.5, 100, 50/1.5, 0)
}

func TestRequestsStandWhereTheyWereCompleted(t *testing.T) {
	dir := t.TempDir()
	// The file has requests as they were completed: the second one began first.
	madeRun(t, dir, 1, request{0.5, 1, 0.1, 5}, request{0, 2, 0.2, 5})
	l := layer(t, figure(t, made(t, one(`{type: scatter, x: request_number, y: time_to_first_token}`), dir)), chart.Points)
	near(t, "numbers", l.X, 0, 1)
	near(t, "of them", l.Y, 100, 200)
	l = layer(t, figure(t, made(t, one(`{type: scatter, x: timestamp, y: request_latency}`), dir)), chart.Points)
	near(t, "completion", l.X, 1, 2)
	near(t, "of them", l.Y, 500, 2000)
	l = layer(t, figure(t, made(t, one(`{type: scatter, x: request_start_ns, y: request_latency}`), dir)), chart.Points)
	near(t, "start", l.X, 0, 0.5)
	near(t, "of them", l.Y, 2000, 500)
}

func TestRollingPercentiles(t *testing.T) {
	values := []float64{5, 1, 3}
	near(t, "p50", plot.RollingPercentile(values, 2, 50), 5, 3, 2)
	near(t, "p99", plot.RollingPercentile(values, 10, 99), 5, 4.96, 4.96)
}

func TestOutliersOfSlices(t *testing.T) {
	for _, c := range []struct {
		tag  string
		v    float64
		want bool
	}{
		{"time_to_first_token", 6.6, true}, {"time_to_first_token", 6.5, false}, {"time_to_first_token", 1, false},
		{"request_throughput", 3.4, true}, {"request_throughput", 9, false},
	} {
		if got := plot.Outlier(c.tag, c.v, 5, 1, 0.5); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if plot.Outlier("request_throughput", 1, 5, 0, 0) {
		t.Error("an outlier without a deviation")
	}
}

// The CSV file of slices is read with the bounds of the slices and, as of older versions, without them.
func TestBothHeadersOfTheTableOfSlices(t *testing.T) {
	for _, table := range []string{
		"Timeslice,Metric,Unit,Stat,Value\n0,Time to First Token,ms,avg,5.00\n1,Time to First Token,ms,avg,7.00\n",
		"Timeslice,Start_NS,End_NS,Metric,Unit,Stat,Value\n0,100,200,Time to First Token,ms,avg,5.00\n" +
			"1,200,300,Time to First Token,ms,avg,7.00\n",
	} {
		dir := t.TempDir()
		madeRun(t, dir, 1, request{0, 2, 0.5, 100})
		write(t, filepath.Join(dir, "profile_export_aiperf_timeslices.csv"), table)
		f := figure(t, made(t, one("{type: timeslice, x: Timeslice, "+
			"y: {metric: time_to_first_token, source: timeslices}}"), dir))
		var got []float64
		for _, l := range f.Layers {
			if l.Kind == chart.Points {
				got = append(got, l.Y...)
			}
		}
		near(t, table, got, 5, 7)
	}
}

func TestTheFrontKeepsTies(t *testing.T) {
	// front returns the figure of runs with the points, each run of one request.
	front := func(axes string, requestOf func(x, y float64) request, points ...[2]float64) *chart.Figure {
		dir := t.TempDir()
		for i, p := range points {
			madeRun(t, filepath.Join(dir, fmt.Sprint(i)), 1, requestOf(p[0], p[1]))
		}
		return figure(t, made(t, several(`{type: pareto, groups: [model], `+axes+`}`), dir))
	}
	points := [][2]float64{{1, 10}, {2, 10}, {3, 9}, {4, 20}}
	lessX := front(`x: request_latency, y: output_token_throughput`, func(ms, rate float64) request {
		return request{0, ms / 1000, ms / 10_000, rate * ms / 1000}
	}, points...)
	near(t, "less x, more y", layer(t, lessX, chart.Line).X, 1, 2, 4)
	moreX := func(points ...[2]float64) *chart.Figure {
		return front(`x: output_token_throughput, y: request_throughput`, func(rate, requests float64) request {
			return request{0, 1 / requests, 0.1 / requests, rate / requests}
		}, points...)
	}
	for _, l := range moreX(points...).Layers {
		if l.Kind == chart.Line {
			t.Errorf("more of both: one run beats all, and the line joins %v", l.X)
		}
	}
	near(t, "more of both", layer(t, moreX(append(points, [2]float64{5, 1})...), chart.Line).X, 4, 5)
	dir := t.TempDir()
	madeRun(t, filepath.Join(dir, "a"), 1, latency(10))
	madeRun(t, filepath.Join(dir, "b"), 1, latency(20))
	m := made(t, several(`{type: pareto, x: concurrency, y: request_throughput}`), dir)
	if len(m.Skipped) != 1 || !m.Skipped[0].Failed || !strings.Contains(m.Skipped[0].Reason, "has no direction") {
		t.Errorf("an axis without a direction: %+v", m.Skipped)
	}
}

func TestTheStatisticThatIsAskedForIsDrawn(t *testing.T) {
	dir := t.TempDir()
	for _, ms := range []float64{100, 200} {
		madeRun(t, filepath.Join(dir, fmt.Sprint(ms)), 1, latency(ms))
	}
	for stat, factor := range map[string]float64{"avg": 1, "p99": 2} {
		f := figure(t, made(t, several(`{type: scatter, x: {metric: request_latency, stat: `+stat+`}, y: request_throughput, `+
			`groups: [model]}`), dir))
		near(t, stat, layer(t, f, chart.Points).X, 100*factor, 200*factor)
	}
	m := made(t, several(`{type: scatter, x: request_latency_p90, y: request_throughput}`), dir)
	if len(m.Skipped) != 1 || !strings.Contains(m.Skipped[0].Reason, "request_latency_p90") {
		t.Errorf("a statistic that no file has: %+v", m)
	}
	f := figure(t, made(t, several(`{type: scatter, x: request_latency, y: output_token_throughput_per_gpu, groups: [model]}`), dir))
	near(t, "by GPU", layer(t, f, chart.Points).Y, 10/0.1/2, 10/0.2/2)
	if !strings.Contains(f.Y.Label, "tokens/sec/gpu") {
		t.Error(f.Y.Label)
	}
}

func TestClassification(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"baseline/c1", "treatment_2/c1", "treatment_1/c1", "treatment_1/c2"} {
		madeRun(t, filepath.Join(dir, filepath.FromSlash(name)), i+1, latency(100+float64(i)))
	}
	f := figure(t, made(t, several(`{type: scatter, x: request_latency, y: request_throughput, groups: [model]}`)+
		"experiment_classification:\n  baselines: ['*baseline*']\n  treatments: ['*treatment_*']\n"+
		"  group_display_names: {treatment_1: Larger batches}\n", dir))
	var names []string
	for _, l := range f.Layers {
		if l.Kind == chart.Points {
			names = append(names, fmt.Sprintf("%s %d %s %d", l.Name, len(l.X), l.Look.Colour, l.Look.Series))
		}
	}
	want := []string{"baseline 1 #999999 0", "Larger batches 2  1", "treatment_2 1  2"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestFaultsOfConfigurationsNameTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"settings: {}": "f.yaml:1:1: visualization: is missing",
		several(`{x: request_latency, y: request_throughput}`):                    "f.yaml:5:8: visualization.multi_run_plots.p.type: is missing",
		several(`{type: scater, x: request_latency, y: request_throughput}`):      "did you mean scatter?",
		several(`{type: area, x: request_latency, y: request_throughput}`):        `"area" is no type of a plot of several runs`,
		several(`{type: scatter, x: request_latency_p67, y: request_throughput}`): "ends in a statistic that is not known",
		several(`{type: scatter, x: reqest_latency, y: request_throughput}`):      "did you mean request_latency?",
		several(`{type: scatter}`): "has no metric: set x and y",
		several(`7`):               "must be a mapping",
		strings.Replace(several(scatterPlot), "[p]", "[q]", 1):                                             "f.yaml:2:24: visualization.multi_run_defaults[0]: there is no plot q",
		strings.Replace(several(scatterPlot), "[p]", "p", 1):                                               "must be a list",
		several(scatterPlot) + "settings: {server_metrics_downsampling: {window_size_seconds: 0}}":         "must be a number above 0",
		several(scatterPlot) + "settings: {server_metrics_downsampling: {aggregation_method: sum}}":        "one of mean, max, min, median",
		several(scatterPlot) + "experiment_classification: {group_extraction_pattern: '('}":                "is not a regular expression",
		several(scatterPlot) + "experiment_classification: {default: neither}":                             "one of baseline, treatment",
		strings.Replace(several(scatterPlot), "    p:", "    ../p:", 1):                                    "the name of a plot is that of its files",
		one(`{type: dual_axis, x: timestamp_s, y: request_latency}`):                                       "a plot of the type dual_axis has two axes",
		several(`{type: scatter, x: request_latency, y: request_throughput, ci_level: high}`):              "must be 0.90, 0.95 or 0.99",
		several(`{type: scatter, x: request_latency, y: request_throughput, primary_style: {mode: dots}}`): "lines, markers, lines+markers",
	} {
		if _, err := plot.ParseConfig("f.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
	// Names that look like those of servers' metrics are not known in advance.
	if _, err := plot.ParseConfig("f",
		[]byte(several(`{type: scatter, x: "vllm:num_requests_running", y: my_total}`))); err != nil {
		t.Error(err)
	}
}

func TestPathsWithoutRuns(t *testing.T) {
	dir := t.TempDir()
	madeRun(t, filepath.Join(dir, "run"), 1, latency(100))
	if err := os.MkdirAll(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "none", "profile_export_aiperf.json"), `{"input_config":{}}`)
	for _, name := range []string{"empty", "gone", "none"} {
		path := filepath.Join(dir, name)
		if _, err := plot.Find([]string{filepath.Join(dir, "run"), path}); err == nil ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := plot.Find([]string{filepath.Join(dir, "empty")})
	if none, ok := errors.AsType[*plot.NoRunsError](err); !ok || none.Path == "" {
		t.Errorf("%v", err)
	}
}

func TestRunsThatCannotBeReadAreNamed(t *testing.T) {
	dir := t.TempDir()
	madeRun(t, filepath.Join(dir, "a"), 1, latency(100))
	madeRun(t, filepath.Join(dir, "b"), 2, latency(200))
	write(t, filepath.Join(dir, "c", "profile_export_aiperf.json"), `{"input_config":`)
	write(t, filepath.Join(dir, "c", "profile_export.jsonl"), "{}\n")
	m := made(t, several(scatterPlot), dir)
	if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], filepath.Join(dir, "c")) || len(m.Figures) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestFilesOfPlots(t *testing.T) {
	dir := t.TempDir()
	madeRun(t, dir, 1, request{0, 1, 0.1, 5}, request{0.5, 2, 0.2, 5})
	hostile := `</svg><script>alert(1)</script>`
	m := made(t, one(`{type: scatter, x: request_number, y: request_latency, title: "`+hostile+`"}`), dir)
	out := filepath.Join(dir, "plots")
	files, err := plot.Write(m, plot.Output{Dir: out, Formats: plot.Formats(), Size: chart.DefaultSize(), Version: "1",
		Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
		if text, err := os.ReadFile(f); err != nil || len(text) < 500 || bytes.Contains(text, []byte("<script>alert")) {
			t.Errorf("%s: %v, %d bytes", f, err, len(text))
		}
	}
	if want := []string{"p.png", "p.svg", "plots.html"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	text, err := os.ReadFile(filepath.Join(out, plot.SummaryName))
	if err != nil || !strings.Contains(string(text), "Generated 1 plot:") {
		t.Errorf("%v: %s", err, text)
	}
	page, _ := os.ReadFile(filepath.Join(out, plot.PageName))
	testkit.Page(t, "the page", string(page))
	if bytes.Contains(page, []byte(`src="http`)) {
		t.Error("the page loads something")
	}
}

func BenchmarkPlotsOfARun(b *testing.B) {
	dir := b.TempDir()
	requests := make([]request, 2000)
	for i := range requests {
		start := float64(i) * 0.01
		requests[i] = request{start, start + 0.5 + float64(i%17)/50, 0.05, 100}
	}
	madeRun(b, dir, 1, requests...)
	config := one(`{type: scatter_with_percentiles, x: timestamp, y: request_latency}`)
	size := chart.DefaultSize()
	for b.Loop() {
		m := made(b, config, dir)
		if _, err := plot.Write(m, plot.Output{Dir: filepath.Join(dir, "plots"), Formats: []string{"png"},
			Size: size}); err != nil {
			b.Fatal(err)
		}
	}
}
