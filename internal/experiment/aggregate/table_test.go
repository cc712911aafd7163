package aggregate_test

import (
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/config"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/search"
	"aiperf/internal/result/report/console"
)

func tableOptions() console.Options { return console.Options{Width: 120} }

func axes(t *testing.T, text string) *aggregate.Axes {
	t.Helper()
	a, err := aggregate.ParseAxes(text, []string{"concurrency"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLiveTable(t *testing.T) {
	o := aggregate.Options{Axes: axes(t, "time_to_first_token:p99:min,output_token_throughput:avg:max")}
	s := sweepOf(o, cellsOf(8, 16, 32),
		append(figuresOf(1, 100), scalarOf("output_token_throughput", "tokens/sec", 500)),
		append(figuresOf(1, 120), scalarOf("output_token_throughput", "tokens/sec", 480.126)))
	testkit.Golden(t, "testdata/table.txt", s.Table(tableOptions()))
	o.Axes = nil
	s = sweepOf(o, cellsOf(8, 16), figuresOf(1, 2))
	testkit.Golden(t, "testdata/table_without_axes.txt", s.Table(tableOptions()))
}

func TestSummaryOfASweep(t *testing.T) {
	o := aggregate.Options{Filters: []search.Filter{{Metric: "time_to_first_token", Stat: "p99", Op: search.LT,
		Threshold: 150}}}
	s := sweepOf(o, cellsOf(10, 20, 30), figuresOf(96, 120), figuresOf(180, 140), figuresOf(240, 175))
	testkit.Golden(t, "testdata/summary.txt", []byte(strings.Join(s.Summary(), "\n")+"\n"))
}

func TestChosenAxes(t *testing.T) {
	s := sweepOf(aggregate.Options{Axes: axes(t, "concurrency:avg:max,time_to_first_token:p99:min")}, cellsOf(1, 2, 3),
		figuresOf(5, 10), figuresOf(4, 30), figuresOf(3, 20))
	o := parsed(t, s)
	if got, want := textOf(t, at(t, o, "metadata", "pareto_axes")), `{"x_metric":"concurrency","x_stat":"avg",`+
		`"x_minimize":false,"y_metric":"time_to_first_token","y_stat":"p99","y_maximize":false,`+
		`"series_keys":[]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := textOf(t, at(t, o, "pareto_optimal")); got != `[{"concurrency":1},{"concurrency":3}]` {
		t.Errorf("front %s", got)
	}
	if err := s.CheckAxes(); err != nil {
		t.Error(err)
	}
	s = sweepOf(aggregate.Options{Axes: axes(t, "output_token_throughput:avg:max,time_to_first_token:p99:min")},
		cellsOf(1),
		append(figuresOf(1, 10), scalarOf("output_token_throughput", "tokens/sec", 7)))
	if got := keysOf(at(t, parsed(t, s), "best_configurations")); strings.Join(got, " ") !=
		"best_throughput best_latency_p99 best_output_token_throughput_avg" {
		t.Errorf("%v", got)
	}
	o2 := aggregate.Options{Axes: axes(t, "goodput:avg:max,time_to_first_token:p99:min")}
	if err := aggregate.New(cellsOf(1), o2).CheckAxes(); err != nil {
		t.Errorf("before the first run: %v", err)
	}
	s = sweepOf(o2, cellsOf(1), figuresOf(1, 10))
	if err := s.CheckAxes(); err == nil || err.Error() != "the Pareto front is empty: no cell has goodput:avg" {
		t.Error(err)
	}
}

func TestAxesThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"request_latency:p99:min":              `"request_latency:p99:min" has 1 objectives, not 2: write two`,
		"request_latency:p99,goodput:avg:max":  `"request_latency:p99" is not an objective: write two objectives`,
		"request_latency:p99:up,goodput:a:max": `"request_latency:p99:up": "up" is not a direction; write min or max`,
		"delay:p99:min,goodput:avg:max":        `"delay:p99:min": "delay" is neither a metric nor a swept parameter`,
		"request_latency:p77:min,a:b:max":      `"request_latency:p77:min": "p77" is not a statistic; choose from avg,`,
		"goodput:p99:max,a:b:max":              `"goodput:p99:max": goodput is one number for the whole run`,
		"concurrency:p99:max,goodput:avg:max":  `"concurrency:p99:max": concurrency is a swept value`,
		"goodput:avg:max,goodput:avg:min":      `names goodput:avg twice`,
	} {
		if _, err := aggregate.ParseAxes(text, []string{"concurrency"}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestBanner(t *testing.T) {
	length, warm := 10*time.Second, 5*time.Second
	cells := cellsOf(1, 2, 3)
	for i := range cells {
		cells[i].Config = &config.Run{Series: config.Series{WarmupOnce: true}, Phases: []config.Phase{
			{Kind: config.WarmupPhase, Duration: &warm}, {Kind: config.ProfilingPhase, Duration: &length}}}
	}
	p := &aggregate.Plan{Cells: cells, Trials: 2, Mode: aggregate.Repeated, Level: 0.95, RunCooldown: 10 * time.Second,
		CellCooldown: 5 * time.Second}
	sweep := strings.Join(aggregate.Banner(p), "\n")
	of := &aggregate.Plan{Trials: 3, Level: 0.9,
		Convergence: &config.Convergence{Metric: "request_latency", Stat: "p99", Mode: "cv", Threshold: 0.05},
		Search: &aggregate.SearchPlan{Planner: "bayesian", MaxIterations: 30,
			Space:      []search.Dimension{{Path: "phases.profiling.concurrency"}},
			Objectives: []search.Objective{{Metric: "goodput", Stat: "avg", Maximize: true}}}}
	testkit.Golden(t, "testdata/banner.txt", []byte(sweep+"\n\n"+strings.Join(aggregate.Banner(of), "\n")+"\n"))
}

// The worked pauses: 3 cells, 2 trials, 5 s between cells and 10 s between runs are 30 s in one order and 40 s in the
// other.
func TestTrap16PausesOfAnEstimate(t *testing.T) {
	none := time.Duration(0)
	cells := cellsOf(1, 2, 3)
	for i := range cells {
		cells[i].Config = &config.Run{Phases: []config.Phase{{Kind: config.ProfilingPhase, Duration: &none}}}
	}
	for mode, want := range map[string]time.Duration{aggregate.Repeated: 30 * time.Second,
		aggregate.Independent: 40 * time.Second} {
		p := aggregate.Plan{Cells: cells, Trials: 2, Mode: mode, RunCooldown: 10 * time.Second,
			CellCooldown: 5 * time.Second}
		if got, known := p.Duration(); got != want || !known {
			t.Errorf("%s: %v, want %v", mode, got, want)
		}
	}
	cells[1].Config.Phases[0].Duration = nil
	if _, known := (&aggregate.Plan{Cells: cells, Trials: 1}).Duration(); known {
		t.Error("the duration of a phase that ends by its requests is known")
	}
}
