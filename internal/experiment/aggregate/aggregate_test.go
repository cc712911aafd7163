package aggregate_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
)

// The worked example of a sweep: three cells with two trials each.
func TestWorkedExampleOfTheSweepFile(t *testing.T) {
	cells := cellsOf(10, 20, 30)
	s := aggregate.New(cells, aggregate.Options{Trials: 2, Level: 0.95})
	for trial := range 2 {
		off := float64(2*trial - 1)
		s.Add(runOf(&cells[0], trial, figuresOf(96+off, 120+off)...),
			runOf(&cells[1], trial, figuresOf(180+off, 140+off)...),
			runOf(&cells[2], trial, figuresOf(240+off, 175+off)...))
	}
	o := parsed(t, s)
	if got, want := keysOf(o), []string{"aggregation_type", "num_profile_runs", "num_successful_runs", "failed_runs",
		"metadata", "per_combination_metrics", "best_configurations", "pareto_optimal", "answers"}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	if got, want := keysOf(at(t, o, "metadata")), []string{"sweep_parameters", "num_combinations", "sweep_mode",
		"confidence_level", "num_trials_per_value", "aggregation_type"}; !slices.Equal(got, want) {
		t.Errorf("metadata %v, want %v", got, want)
	}
	block := at(t, o, "per_combination_metrics", 0, "metrics", "request_throughput_avg")
	if got := strings.Join(keysOf(block), " "); got != "mean std min max cv ci_low ci_high unit" {
		t.Errorf("figure %s", got)
	}
	for text, v := range map[string]any{
		`[{"name":"concurrency","values":[10,20,30]}]`: at(t, o, "metadata", "sweep_parameters"),
		`{"best_throughput":{"parameters":{"concurrency":30},"metric":240.0,"unit":"requests/sec"},` +
			`"best_latency_p99":{"parameters":{"concurrency":10},"metric":120.0,"unit":"ms"}}`: at(t, o,
			"best_configurations"),
		`[{"concurrency":10},{"concurrency":20},{"concurrency":30}]`: at(t, o, "pareto_optimal"),
		"2": at(t, o, "metadata", "num_trials_per_value"), "3": at(t, o, "metadata", "num_combinations"),
		"6": at(t, o, "num_profile_runs"), `"repeated"`: at(t, o, "metadata", "sweep_mode"),
		"96.0": at(t, block, "mean"),
	} {
		if got := textOf(t, v); got != text {
			t.Errorf("%s, want %s", got, text)
		}
	}
}

// The worked fronts: (throughput, latency) by concurrency.
func TestWorkedFronts(t *testing.T) {
	for want, points := range map[string][][2]float64{
		`[{"concurrency":10},{"concurrency":20},{"concurrency":30},{"concurrency":40}]`: {
			{96, 120}, {180, 140}, {240, 175}, {252, 290}},
		`[{"concurrency":10},{"concurrency":20},{"concurrency":40}]`: {{100, 50}, {180, 60}, {170, 70}, {200, 200}},
		`[{"concurrency":10},{"concurrency":20}]`:                    {{7, 7}, {7, 7}},
	} {
		var values []int64
		var figures [][]metrics.Metric
		for i, p := range points {
			values, figures = append(values, int64(10*i+10)), append(figures, figuresOf(p[0], p[1]))
		}
		o := parsed(t, sweepOf(aggregate.Options{}, cellsOf(values...), figures...))
		if got := textOf(t, at(t, o, "pareto_optimal")); got != want {
			t.Errorf("%v: %s, want %s", points, got, want)
		}
	}
}

func TestTrap01DisplayNamesOfLengths(t *testing.T) {
	cell := func(i int, isl, osl int64) series.Cell {
		return series.Cell{Index: i, Label: string(rune('a' + i)), Values: artifact.Object{
			{Key: "datasets.main.prompts.isl.mean", Value: isl}, {Key: "datasets.main.prompts.osl.mean", Value: osl}}}
	}
	s := sweepOf(aggregate.Options{}, []series.Cell{cell(0, 128, 10), cell(1, 256, 20)}, figuresOf(1, 1),
		figuresOf(2, 2))
	if got, want := textOf(t, at(t, parsed(t, s), "per_combination_metrics", 0, "parameters")),
		`{"isl":128,"osl":10}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	both := []series.Cell{{Values: artifact.Object{
		{Key: "phases.a.rate", Value: 1.5}, {Key: "phases.b.rate", Value: 2.0}}}}
	if got, want := aggregate.New(both, aggregate.Options{}).Parameters(),
		[]string{"phases.a.rate", "phases.b.rate"}; !slices.Equal(got, want) {
		t.Errorf("%v, want the full paths where two share the last segment", got)
	}
}

func TestTrap02CellsKeepTheirOrderButAreListedByValueWithTrials(t *testing.T) {
	cells := cellsOf(30, 10, 20)
	order := func(s *aggregate.Sweep) string {
		text := ""
		for _, c := range at(t, parsed(t, s), "per_combination_metrics").([]any) {
			text += textOf(t, at(t, c, "parameters", "concurrency")) + " "
		}
		return text
	}
	one := sweepOf(aggregate.Options{}, cells, figuresOf(1, 1), figuresOf(2, 2), figuresOf(3, 3))
	if got := order(one); got != "30 10 20 " {
		t.Errorf("one trial: %s", got)
	}
	for i := range cells {
		one.Add(runOf(&cells[i], 1, figuresOf(1, 1)...))
	}
	if got := order(one); got != "10 20 30 " {
		t.Errorf("two trials: %s", got)
	}
	if got := textOf(t, at(t, parsed(t, one), "metadata", "sweep_parameters", 0, "values")); got != "[10,20,30]" {
		t.Errorf("values %s", got)
	}
}

func TestTrap03NamesOfAZip(t *testing.T) {
	cells := []series.Cell{{Values: artifact.Object{{Key: concurrencyPath, Value: int64(1)},
		{Key: "phases.profiling.rate", Value: 1.0}}}}
	s := sweepOf(aggregate.Options{}, cells, figuresOf(1, 1))
	lines := s.Summary()
	if got, want := lines[len(lines)-1], "  concurrency=1, rate=1.0"; got != want { // the only point of the front
		t.Errorf("%s, want %s", got, want)
	}
	if s.AddCells(cells[0]); textOf(t, at(t, s.Document(), "metadata", "num_combinations")) != "2" {
		t.Error("the number of combinations is not that of the cells")
	}
}

// Also that of mean 0: null in JSON, inf in CSV, and the file stays valid JSON.
func TestTrap04BestOfOneTrialAndMeanZero(t *testing.T) {
	cells := cellsOf(1, 2)
	s := sweepOf(aggregate.Options{}, cells, figuresOf(1, 5), figuresOf(2, 9))
	o := parsed(t, s)
	if got := keysOf(at(t, o, "best_configurations")); len(got) != 2 {
		t.Errorf("best %v with one trial", got)
	}
	if len(at(t, o, "pareto_optimal").([]any)) != 2 {
		t.Error("no front with one trial")
	}
	for i := range cells {
		s.Add(runOf(&cells[i], 1, append(figuresOf(1, 5), scalarOf("goodput", "requests/sec", 0))...),
			runOf(&cells[i], 2, append(figuresOf(1, 5), scalarOf("goodput", "requests/sec", 0))...))
	}
	text, err := artifact.AppendIndented(nil, s.Document())
	if err != nil || !json.Valid(text) {
		t.Fatalf("%v, valid: %v", err, json.Valid(text))
	}
	zero := at(t, parsed(t, s), "per_combination_metrics", 0, "metrics", "goodput_avg")
	if got, want := textOf(t, zero),
		`{"mean":0.0,"std":0.0,"min":0.0,"max":0.0,"cv":null,"ci_low":0.0,"ci_high":0.0,"unit":"requests/sec"}`; got !=
		want {
		t.Errorf("%s, want %s", got, want)
	}
	if row := rowsOf(t, s)[1]; row[columnOf(t, s, "goodput_avg_cv")] != "inf" {
		t.Errorf("cv in CSV: %v", row)
	}
}

// A metric of 2 of 3 runs has n = 2 and its own critical value.
func TestTrap05MetricOfSomeRuns(t *testing.T) {
	cells := cellsOf(1)
	s := aggregate.New(cells, aggregate.Options{Trials: 3, Level: 0.95})
	s.Add(runOf(&cells[0], 0, figuresOf(1, 10)...), runOf(&cells[0], 1, figuresOf(1, 12)...),
		runOf(&cells[0], 2, scalarOf("request_throughput", "requests/sec", 1)))
	low := at(t, parsed(t, s), "per_combination_metrics", 0, "metrics", "time_to_first_token_p99", "ci_low")
	if got, _ := low.(json.Number).Float64(); math.Abs(got - -1.7062047364320954) > 1e-8 {
		t.Errorf("ci_low %v, want -1.7062047364320954", low)
	}
}

func TestTrap15FoldersByMode(t *testing.T) {
	for _, c := range []struct {
		mode         string
		trials       int
		sweep, cells string
	}{
		{aggregate.Repeated, 2, "D/aggregate/sweep_aggregate", "D/aggregate/concurrency_10"},
		{aggregate.Independent, 2, "D/sweep_aggregate", "D/concurrency_10/aggregate"},
		{aggregate.Repeated, 1, "D/sweep_aggregate", "D/aggregate/concurrency_10"},
		{aggregate.Independent, 1, "D/sweep_aggregate", "D/concurrency_10/aggregate"},
	} {
		path := filepath.Dir(config.Artifacts{Dir: aggregate.Dir("D", c.mode, c.trials)}.Path(config.SweepJSON))
		if filepath.ToSlash(path) != c.sweep {
			t.Errorf("%s, %d trials: %s, want %s", c.mode, c.trials, path, c.sweep)
		}
		json, csv := aggregate.CellFiles("D", c.mode, "concurrency_10")
		for file, name := range map[string]string{json: "profile_export_aiperf_aggregate.json",
			csv: "profile_export_aiperf_aggregate.csv"} {
			if filepath.ToSlash(file) != c.cells+"/"+name {
				t.Errorf("%s, %d trials: %s, want %s", c.mode, c.trials, file, c.cells)
			}
		}
	}
}

// With one trial there is nothing to say about the spread, neither in JSON nor in CSV.
func TestTrap17OneTrialHasNoSpread(t *testing.T) {
	s := sweepOf(aggregate.Options{}, cellsOf(10, 20), figuresOf(96, 120), figuresOf(180, 140))
	block := at(t, parsed(t, s), "per_combination_metrics", 0, "metrics", "time_to_first_token_p99")
	if got, want := textOf(t, block), `{"mean":120.0,"std":null,"min":120.0,"max":120.0,"cv":null,"ci_low":null,`+
		`"ci_high":null,"unit":"ms"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string]string{"mean": "120.00", "std": "", "min": "120.00", "max": "120.00", "cv": ""} {
		if got := rowsOf(t, s)[1][columnOf(t, s, "time_to_first_token_p99_"+name)]; got != want {
			t.Errorf("%s in CSV is %q, want %q", name, got, want)
		}
	}
}

// Scripts for the original find a metric of a single trial under its tag, with its own statistics and without a spread.
func TestOneTrialHasTheMetricsAsWholesToo(t *testing.T) {
	s := sweepOf(aggregate.Options{}, cellsOf(10, 20), figuresOf(96, 120), figuresOf(180, 140))
	figures := at(t, parsed(t, s), "per_combination_metrics", 1, "metrics")
	if got, want := textOf(t, at(t, figures, "request_throughput")), `{"mean":180.0,"std":0.0,"min":180.0,"max":180.0,`+
		`"cv":0.0,"ci_low":180.0,"ci_high":180.0,"unit":"requests/sec","avg":180.0}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string]string{"p99": "140.0", "count": "9"} {
		if got := textOf(t, at(t, figures, "time_to_first_token", name)); got != want {
			t.Errorf("%s %s", name, got)
		}
	}
	for name, want := range map[string]string{"mean": "180.00", "std": "0.00", "cv": "0.0000"} {
		if got := rowsOf(t, s)[2][columnOf(t, s, "request_throughput_"+name)]; got != want {
			t.Errorf("%s in CSV is %q, want %q", name, got, want)
		}
	}
	twice := aggregate.New(cellsOf(10), aggregate.Options{Trials: 2, Level: 0.95})
	for trial := range 2 {
		twice.Add(runOf(&cellsOf(10)[0], trial, figuresOf(96, 120)...))
	}
	if keys := keysOf(at(t, parsed(t, twice), "per_combination_metrics", 0, "metrics")); slices.Contains(keys,
		"request_throughput") {
		t.Errorf("with two trials too: %v", keys)
	}
}

func TestTrap18LatencyOfTheWholeSweep(t *testing.T) {
	with := append(figuresOf(10, 1), distributionOf("request_latency", 200))
	without := []metrics.Metric{scalarOf("request_throughput", "requests/sec", 20),
		distributionOf("request_latency", 100)}
	o := parsed(t, sweepOf(aggregate.Options{}, cellsOf(1, 2), with, without))
	if got, want := textOf(t, at(t, o, "best_configurations", "best_latency_p99")),
		`{"parameters":{"concurrency":2},"metric":100.0,"unit":"ms"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	bare := []metrics.Metric{scalarOf("request_throughput", "requests/sec", 20)}
	o = parsed(t, sweepOf(aggregate.Options{}, cellsOf(1, 2), bare, bare))
	if got := keysOf(at(t, o, "best_configurations")); !slices.Equal(got, []string{"best_throughput"}) {
		t.Errorf("best %v, want only best_throughput", got)
	}
	if got := textOf(t, at(t, o, "pareto_optimal")); got != "[]" {
		t.Errorf("front %s", got)
	}
}

// The filters of a sweep: none of the cells is feasible.
func TestTrap18AllCellsInfeasible(t *testing.T) {
	o := aggregate.Options{Filters: []search.Filter{{Metric: "time_to_first_token", Stat: "p99", Op: search.LT,
		Threshold: 120}}}
	cells, figures := cellsOf(10, 20), [][]metrics.Metric{figuresOf(96, 120), figuresOf(180, 140)}
	d := parsed(t, sweepOf(o, cells, figures...))
	if got, want := textOf(t, at(t, d, "metadata", "sla_constraints")), `{"active_filters":[{"metric_tag":`+
		`"time_to_first_token","stat":"p99","op":"lt","threshold":120.0}],"feasible_count":0,`+
		`"infeasible_count":2}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if textOf(t, at(t, d, "pareto_optimal")) != "[]" {
		t.Error("an infeasible cell is on the front")
	}
	if got := textOf(t, at(t, d, "best_configurations", "best_throughput", "parameters")); got != `{"concurrency":20}` {
		t.Errorf("best of all is %s", got)
	}
	o.Filters[0].Op = search.LE // which the first cell meets
	d = parsed(t, sweepOf(o, cells, figures...))
	if got := textOf(t, at(t, d, "best_configurations", "best_throughput", "parameters")); got != `{"concurrency":10}` {
		t.Errorf("best of the feasible cells is %s", got)
	}
	if got := textOf(t, at(t, d, "pareto_optimal")); got != `[{"concurrency":10}]` {
		t.Errorf("front %s", got)
	}
}

func TestTrap19FailedCellsAreCountedAndNamed(t *testing.T) {
	cells := cellsOf(10, 20, 30)
	s := sweepOf(aggregate.Options{}, cells, figuresOf(96, 120), nil, figuresOf(240, 175))
	bad := runOf(&cells[1], 0)
	bad.Err = "exit status 1: the server went away\nmore"
	s.Add(bad)
	o := parsed(t, s)
	for want, v := range map[string]any{
		`[{"label":"trial_0001_concurrency_20","error":"exit status 1: the server went away\nmore"}]`: at(t, o,
			"failed_runs"),
		"3": at(t, o, "metadata", "num_combinations"), "2": at(t, o, "num_successful_runs"),
		"[10,20,30]":           at(t, o, "metadata", "sweep_parameters", 0, "values"),
		`[{"concurrency":20}]`: at(t, o, "metadata", "skipped_values"),
	} {
		if got := textOf(t, v); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if n := len(at(t, o, "per_combination_metrics").([]any)); n != 2 {
		t.Errorf("%d combinations, want 2", n)
	}
	if text := strings.Join(s.Summary(), "\n"); !strings.Contains(text,
		"Failed: trial_0001_concurrency_20 (exit status 1: the server went away)\n") ||
		!strings.Contains(text, "Not in the aggregate: concurrency=20 (none of its runs succeeded)") {
		t.Error(text)
	}
}

func rowsOf(t *testing.T, s *aggregate.Sweep) [][]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(s.CSV()))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func columnOf(t *testing.T, s *aggregate.Sweep, name string) int {
	t.Helper()
	i := slices.Index(rowsOf(t, s)[0], name)
	if i < 0 {
		t.Fatalf("no column %s", name)
	}
	return i
}

// The CSV: cells that lack a figure of another one have empty columns, sections are there even if they are empty.
func TestSectionsOfTheCSV(t *testing.T) {
	s := sweepOf(aggregate.Options{}, cellsOf(2, 4), figuresOf(10, 1),
		[]metrics.Metric{scalarOf("goodput", "requests/sec", 3)})
	want := "concurrency,goodput_mean,"
	text := string(s.CSV())
	if !strings.HasPrefix(text, want) {
		t.Errorf("%s, want %s first", text, want)
	}
	end := "\r\n\r\nBest Configurations\r\n\r\nPareto Optimal Points\r\nNone\r\n\r\nMetadata\r\nField,Value\r\n" +
		"Aggregation Type,sweep\r\nSweep Parameters,concurrency\r\nNumber of Combinations,2\r\n" +
		"Number of Profile Runs,2\r\nNumber of Successful Runs,2\r\n"
	if !strings.HasSuffix(text, end) {
		t.Errorf("%s, want at the end %s", text, end)
	}
	if rows := rowsOf(t, s); rows[1][1] != "" || rows[2][1] != "3.00" {
		t.Errorf("%v", rows[:3])
	}
	both := sweepOf(aggregate.Options{}, cellsOf(2, 4), figuresOf(10, 1), figuresOf(5, 2))
	if text := string(both.CSV()); !strings.Contains(text, "\r\n\r\nBest Configurations\r\n"+
		"Configuration,concurrency,Metric,Unit\r\nBest Throughput,2,10.00,requests/sec\r\n"+
		"Best Latency P99,2,1.00,ms\r\n\r\nPareto Optimal Points\r\nconcurrency\r\n2\r\n\r\n") {
		t.Error(text)
	}
}

// One success of a cell is an aggregate that says so; its metadata names the cell.
func TestConfidenceOfACell(t *testing.T) {
	cells := cellsOf(10)
	cells[0].Config = &config.Run{Models: []string{"m", "n"}, Dataset: config.Dataset{Kind: config.FileDataset,
		Path: "data/trace.jsonl"}, Submission: &config.Submission{Scenario: "agentx"}}
	s := aggregate.New(cells, aggregate.Options{Version: "1", Trials: 2, Level: 0.95})
	bad := runOf(&cells[0], 1)
	bad.Err = "no"
	s.Add(runOf(&cells[0], 0, figuresOf(1, 2)...), bad)
	d := t.TempDir()
	paths, err := s.Write(d)
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	file, csvFile := aggregate.CellFiles(d, aggregate.Repeated, "concurrency_10")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o, err := artifact.ParseObject(data)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := textOf(t, at(t, o, "metadata")), `{"aggregation_type":"confidence","num_profile_runs":2,`+
		`"num_successful_runs":1,"failed_runs":[{"label":"trial_0002_concurrency_10","error":"no"}],`+
		`"confidence_level":0.95,"run_labels":["trial_0001_concurrency_10"],"cooldown_seconds":0.0,"single_run":true,`+
		`"variation_label":"phases.profiling.concurrency=10","variation_values":{"phases.profiling.concurrency":10},`+
		`"sweep_mode":"repeated","model":"m","dataset":"trace.jsonl","scenario":"agentx","submission_valid":false,`+
		`"submission_invalid_reasons":["scenario_with_sweep"]}`; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if data, err = os.ReadFile(csvFile); err != nil || !bytes.Contains(data, []byte(
		"Single Run,True\r\nVariation Label,phases.profiling.concurrency=10\r\nVariation Values,"+
			"{'phases.profiling.concurrency': 10}\r\n")) {
		t.Errorf("%v\n%s", err, data)
	}
}

func TestNothingIsWrittenWithoutASuccess(t *testing.T) {
	d := t.TempDir()
	s := aggregate.New(cellsOf(1), aggregate.Options{Trials: 1, Level: 0.95})
	if paths, err := s.Write(d); paths != nil || err != nil {
		t.Error(paths, err)
	}
	if list, _ := os.ReadDir(d); len(list) > 0 {
		t.Errorf("%v", list)
	}
	if s.Table(tableOptions()) != nil {
		t.Error("a table of nothing")
	}
}

// Cells of which a value is no single one have their label for a parameter.
func TestScenariosAreNamedByTheirLabel(t *testing.T) {
	cells := []series.Cell{
		{Index: 0, Label: "chat", Values: artifact.Object{
			{Key: "benchmark", Value: artifact.Object{{Key: "isl", Value: int64(1)}}}}},
		{Index: 1, Label: "summary", Values: artifact.Object{}},
	}
	s := sweepOf(aggregate.Options{}, cells, figuresOf(1, 1), figuresOf(2, 2))
	if got := textOf(t, at(t, parsed(t, s), "metadata", "sweep_parameters")); got !=
		`[{"name":"scenario","values":["chat","summary"]}]` {
		t.Error(got)
	}
}
