package series

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
)

// series runs a plan whose k-th run has the k-th latency (NaN-free; the last repeats) and says how many ran.
func series(t *testing.T, runs int, c config.Convergence, values ...float64) (int, *Repeats, string) {
	t.Helper()
	c.Metric, c.Stat = "request_latency", "avg"
	log, text := logged()
	plan := NewRepeats(base(t, config.Series{Runs: runs, Convergence: &c}), log)
	var m made
	done, stopped, _ := Execute(t.Context(), plan,
		m.options(func(k int) Finished { return latencies(values[min(k, len(values)-1)]) }))
	if stopped {
		t.Error("the series was stopped")
	}
	return len(done), plan, text.String()
}

func TestConvergence(t *testing.T) {
	values := []float64{100, 105, 95, 100, 100, 101}
	for _, c := range []struct {
		mode      string
		threshold float64
		runs      int
		want      int
	}{
		{config.ConvergeCIWidth, 0.10, 10, 5}, // widths 0.248, 0.130, 0.088
		{config.ConvergeCIWidth, 0.13, 10, 4},
		{config.ConvergeCV, 0.10, 10, 3}, // 0.05
		{config.ConvergeCV, 0.04, 10, 5}, // 0.0408 after 4
		{config.ConvergeCIWidth, 0.001, 6, 6},
	} {
		got, plan, text := series(t, c.runs, config.Convergence{Mode: c.mode, Threshold: c.threshold}, values...)
		if got != c.want {
			t.Errorf("%s %g: %d runs, want %d\n%s", c.mode, c.threshold, got, c.want, text)
		}
		if (plan.Converged != "") != (c.want < c.runs) {
			t.Errorf("%s %g: it says %q", c.mode, c.threshold, plan.Converged)
		}
	}
}

// TestTrapConvergenceTakesTheFullWidth: the ratio of 100, 105, 95 is 0.248; its half would already do for 0.125.
func TestTrapConvergenceTakesTheFullWidth(t *testing.T) {
	for threshold, want := range map[float64]int{0.25: 3, 0.125: 5} {
		got, _, _ := series(t, 10, config.Convergence{Mode: config.ConvergeCIWidth, Threshold: threshold}, 100, 105, 95,
			100, 100, 101)
		if got != want {
			t.Errorf("threshold %g: %d runs, want %d", threshold, got, want)
		}
	}
}

// TestTrapConvergenceIsStrict: a coefficient of exactly the threshold is not below it.
func TestTrapConvergenceIsStrict(t *testing.T) {
	got, _, _ := series(t, 3, config.Convergence{Mode: config.ConvergeCV, Threshold: 0.05}, 100, 105, 95)
	if _, plan, _ := series(t, 4, config.Convergence{Mode: config.ConvergeCV, Threshold: 0.05}, 100, 105, 95,
		100); got != 3 || strings.Contains(plan.Converged, "after 3") {
		t.Errorf("%d runs, %q", got, plan.Converged)
	}
}

// TestTrapConvergenceOfNegativeValues: the mean counts by its size.
func TestTrapConvergenceOfNegativeValues(t *testing.T) {
	if got, _, text := series(t, 10, config.Convergence{Mode: config.ConvergeCV, Threshold: 0.19}, -10, -12, -8,
		-10); got != 4 {
		t.Errorf("%d runs, want 4\n%s", got, text) // 0.2 after 3 runs, 0.163 after 4
	}
}

// TestMeanOfZeroNeverConverges: there is nothing that the spread is small against.
func TestMeanOfZeroNeverConverges(t *testing.T) {
	for _, mode := range []string{config.ConvergeCIWidth, config.ConvergeCV} {
		if got, _, _ := series(t, 4, config.Convergence{Mode: mode, Threshold: 0.9}, 0); got != 4 {
			t.Errorf("%s: %d runs", mode, got)
		}
	}
}

// TestTrapTwoRunsAreNoConvergence: three values are needed, whatever the number of runs.
func TestTrapTwoRunsAreNoConvergence(t *testing.T) {
	if got, plan, _ := series(t, 2, config.Convergence{Mode: config.ConvergeCIWidth, Threshold: 0.99}, 100); got != 2 ||
		plan.Converged != "" {
		t.Errorf("%d runs, %q", got, plan.Converged)
	}
	c := config.Convergence{Mode: config.ConvergeCIWidth, Threshold: 0.99, MinRuns: 1}
	if got, _, _ := series(t, 5, c, 100); got != 3 {
		t.Errorf("%d runs, want 3", got)
	}
}

// TestTrapEarlyStopCountsWhatRan: the aggregate has the runs that were made, not the most that were allowed.
func TestTrapEarlyStopCountsWhatRan(t *testing.T) {
	c := config.Convergence{Metric: "request_latency", Stat: "avg", Mode: config.ConvergeCIWidth, Threshold: 0.10}
	values := []float64{100, 105, 95, 100, 100, 101}
	var m made
	done, _, _ := Execute(t.Context(), NewRepeats(base(t, config.Series{Runs: 10, Convergence: &c}), silent()),
		m.options(func(k int) Finished { return latencies(values[k]) }))
	meta, _ := NewAggregate("0", done, 0.95, 0).Document().Get("metadata")
	equal(t, fmt.Sprint(member(t, meta, "num_profile_runs"), member(t, meta, "num_successful_runs"), len(m.steps)),
		"5 5 5")
}

// TestFailedRunsAreNoValues: of five runs two failed, so the third value comes with the fifth run.
func TestFailedRunsAreNoValues(t *testing.T) {
	c := config.Convergence{Metric: "request_latency", Stat: "avg", Mode: config.ConvergeCV, Threshold: 0.5}
	var m made
	done, _, _ := Execute(t.Context(), NewRepeats(base(t, config.Series{Runs: 10, Convergence: &c}), silent()),
		m.options(func(k int) Finished {
			if k == 0 || k == 2 {
				return Finished{Code: 1}
			}
			return latencies(100)
		}))
	if len(done) != 5 {
		t.Errorf("%d runs, want 5", len(done))
	}
}

func TestUnknownConvergenceMetric(t *testing.T) {
	c := config.Convergence{Metric: "speed", Stat: "avg", Mode: config.ConvergeCIWidth, Threshold: 0.5}
	log, text := logged()
	var m made
	done, _, _ := Execute(t.Context(), NewRepeats(base(t, config.Series{Runs: 5, Convergence: &c}), log),
		m.options(func(int) Finished { return latencies(100) }))
	if len(done) != 5 {
		t.Errorf("%d runs, want 5", len(done))
	}
	if n := strings.Count(text.String(), "WARN"); n != 2 { // after runs 3 and 4
		t.Errorf("%d warnings:\n%s", n, text)
	}
	wantText(t, "the warning", text.String(), "--convergence-metric speed", "request_latency, request_count")
}

// record is a line of the per-request file.
func record(latency float64) string {
	return fmt.Sprintf(`{"metadata":{"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":%v,"unit":"ms"}}}`, latency)
}

// written makes successful runs with per-request files of these lines.
func written(t *testing.T, files ...[]string) (runs []Run) {
	t.Helper()
	for i, lines := range files {
		r := successes(make([]float64, i+1)...)[i]
		r.Artifacts = config.Artifacts{Dir: t.TempDir()}
		text := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(filepath.Join(r.Artifacts.Dir, "profile_export.jsonl"), []byte(text),
			0o644); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

func records(values ...float64) (lines []string) {
	for _, v := range values {
		lines = append(lines, record(v))
	}
	return lines
}

// TestTrapDistribution: the last run is compared with all earlier ones together; p 0.8364 must exceed the
// threshold, so that a higher threshold is stricter, and one that p just reaches is not exceeded.
func TestTrapDistribution(t *testing.T) {
	runs := written(t, records(1, 2, 3, 4), records(5, 6, 7, 8), records(2, 3, 4, 5))
	for _, c := range []struct {
		threshold float64
		want      bool
	}{{0.5, true}, {0.83, true}, {0.84, false}, {0.8363636363636363, false}} {
		test := &convergence{Convergence: config.Convergence{Metric: "request_latency",
			Mode: config.ConvergeDistribution, Threshold: c.threshold}, log: silent()}
		why, met := test.check(runs)
		if met != c.want {
			t.Errorf("threshold %v: converged %v: %s", c.threshold, met, why)
		}
	}
}

// TestTrapDistributionAtTheThreshold: p is exactly 1 here.
func TestTrapDistributionAtTheThreshold(t *testing.T) {
	runs := written(t, records(1, 2), records(1, 2), records(1, 2))
	for threshold, want := range map[float64]bool{0.999: true, 1: false} {
		test := &convergence{Convergence: config.Convergence{Metric: "request_latency",
			Mode: config.ConvergeDistribution, Threshold: threshold}, log: silent()}
		if _, met := test.check(runs); met != want {
			t.Errorf("threshold %v: converged %v", threshold, met)
		}
	}
}

func TestDistributionNeedsValues(t *testing.T) {
	for name, runs := range map[string][]Run{
		"two runs":             written(t, records(1, 2), records(1, 2)),
		"one value at the end": written(t, records(1, 2), records(1, 2), records(1)),
	} {
		test := &convergence{Convergence: config.Convergence{Metric: "request_latency",
			Mode: config.ConvergeDistribution, Threshold: 0.01}, log: silent()}
		if why, met := test.check(runs); met {
			t.Errorf("%s: converged: %s", name, why)
		}
	}
	log, text := logged()
	runs := written(t, records(1, 2), records(1, 2), records(1, 2))
	runs[1].Artifacts.Dir = filepath.Join(runs[1].Artifacts.Dir, "gone")
	test := &convergence{Convergence: config.Convergence{Metric: "request_latency", Mode: config.ConvergeDistribution,
		Threshold: 0.01}, log: log}
	if _, met := test.check(runs); met {
		t.Error("converged without the requests of a run")
	}
	wantText(t, "the log", text.String(), "WARN", "cannot be judged", "gone")
}

// TestDistributionReadsThroughThePrefix: the files have the names that the run's configuration gives them.
func TestDistributionReadsThroughThePrefix(t *testing.T) {
	runs := written(t, records(1, 2), records(1, 2), records(1, 2))
	for i := range runs {
		a := &runs[i].Artifacts
		plain := a.Path(config.RecordsJSONL)
		a.Prefix = "mine"
		if err := os.Rename(plain, a.Path(config.RecordsJSONL)); err != nil {
			t.Fatal(err)
		}
	}
	test := &convergence{Convergence: config.Convergence{Metric: "request_latency", Mode: config.ConvergeDistribution,
		Threshold: 0.01}, log: silent()}
	if _, met := test.check(runs); !met {
		t.Error("not converged")
	}
}
