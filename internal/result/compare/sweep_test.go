package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/stats"
)

// block is a figure of a cell over values, as files have it.
func block(level float64, unit string, values ...float64) map[string]any {
	e := stats.Confidence(values, level)
	b := map[string]any{"mean": e.Mean, "min": e.Min, "max": e.Max, "unit": unit}
	for name, v := range map[string]float64{"std": e.Std, "cv": e.CV, "ci_low": e.Low, "ci_high": e.High} {
		b[name] = v
		if !artifact.Finite(v) {
			b[name] = nil
		}
	}
	return b
}

// writeSweep writes the aggregate of a sweep over concurrency: the values of request throughput and of the p99 of
// request latency in each cell. It returns the folder of the experiment.
func writeSweep(t *testing.T, where string, trials int, cells map[int][2][]float64, limit float64) string {
	t.Helper()
	var combinations []any
	var values []int
	for _, c := range []int{1, 2, 4, 8, 16} {
		figures, ok := cells[c]
		if !ok {
			continue
		}
		values = append(values, c)
		combinations = append(combinations, map[string]any{"parameters": map[string]any{"concurrency": c},
			"metrics": map[string]any{"request_throughput_avg": block(0.95, "requests/sec", figures[0]...),
				"request_latency_p99": block(0.95, "ms", figures[1]...)}})
	}
	metadata := map[string]any{"sweep_parameters": []any{map[string]any{"name": "concurrency", "values": values}},
		"num_combinations": len(values) + 1, "skipped_values": []any{map[string]any{"concurrency": 99}},
		"confidence_level": 0.95, "num_trials_per_value": trials}
	if limit > 0 {
		metadata["sla_constraints"] = map[string]any{"active_filters": []any{map[string]any{
			"metric_tag": "request_latency", "stat": "p99", "op": "lt", "threshold": limit}}}
	}
	text, err := json.Marshal(map[string]any{"aggregation_type": "sweep", "metadata": metadata,
		"failed_runs":             []any{map[string]any{"label": "x"}},
		"per_combination_metrics": combinations, "pareto_optimal": []any{map[string]any{"concurrency": values[0]}},
		"best_configurations": map[string]any{"best_throughput": map[string]any{
			"parameters": map[string]any{"concurrency": values[0]}, "metric": 12.5, "unit": "requests/sec"}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(where), "profile_export_aiperf_sweep.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func loadSweep(t *testing.T, path string) *Sweep {
	t.Helper()
	s, err := LoadSweep(path)
	if err != nil || s == nil {
		t.Fatal(s, err)
	}
	return s
}

// Cells are compared with Welch's interval over their trials, whatever folder the order of the runs chose.
func TestSweepsAreComparedCellByCell(t *testing.T) {
	base := loadSweep(t, writeSweep(t, "aggregate/sweep_aggregate", 3, map[int][2][]float64{
		1: {{10, 11, 12}, {100, 101, 102}}, 2: {{20, 21, 22}, {200, 202, 204}}, 8: {{1, 2, 3}, {1, 2, 3}}}, 0))
	next := loadSweep(t, writeSweep(t, "sweep_aggregate", 3, map[int][2][]float64{
		1: {{10, 11, 12}, {130, 131, 132}}, 2: {{30, 31, 32}, {200, 202, 204}}, 16: {{1, 2, 3}, {1, 2, 3}}}, 0))
	c, err := CompareSweeps(base, next, Options{})
	if err != nil {
		t.Fatal(err)
	}
	verdicts := ""
	for _, one := range c.Cells {
		for _, f := range one.Figures {
			verdicts += fmt.Sprintf("%s %s:%s %s\n", one.Name, f.Tag, f.Stat, f.Verdict)
		}
	}
	if want := "concurrency 1 request_latency:p99 worse\nconcurrency 1 request_throughput:avg no difference\n" +
		"concurrency 2 request_latency:p99 no difference\n" +
		"concurrency 2 request_throughput:avg better\n"; verdicts != want {
		t.Errorf("%s, want\n%s", verdicts, want)
	}
	want, _ := fromRepeats(momentsOf([]float64{100, 101, 102}), momentsOf([]float64{130, 131, 132}), 0.95)
	got := c.Cells[0].find(t, "request_latency", "p99")
	if math.Abs(got.Low-want.low)+math.Abs(got.High-want.high) > 1e-9 {
		t.Errorf("%v … %v, want that of the trials, %v … %v", got.Low, got.High, want.low, want.high)
	}
	if !c.Failed() || strings.Join(c.OnlyBase, "") != "concurrency 8" ||
		strings.Join(c.OnlyNew, "") != "concurrency 16" {
		t.Errorf("%v, only %v and %v", c.Failed(), c.OnlyBase, c.OnlyNew)
	}
	for _, text := range []string{c.Text(TextOptions{}), c.Text(TextOptions{All: true}), c.Markdown(true)} {
		for _, part := range []string{"concurrency 2", "has no figures of concurrency 8",
			"best_throughput: 12.50 (concurrency 1) → 12.50 (concurrency 1) requests/sec"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
	}
	if _, err := artifact.AppendJSON(nil, c.Object()); err != nil {
		t.Error(err)
	}
	if _, err := CompareSweeps(base, next, Options{Tags: []string{"nothing"}}); err == nil ||
		!strings.Contains(err.Error(), "concurrency 1: neither ") {
		t.Error(err)
	}
}

// The original writes whole metrics where each cell has one trial.
func TestPlainTagsOfASweepAreRead(t *testing.T) {
	dir := t.TempDir()
	text := `{"aggregation_type":"sweep","metadata":{"num_trials_per_value":1},"per_combination_metrics":[{"parameters":
		{"concurrency":4},"metrics":{"request_latency":{"mean":12,"avg":12,"std":0,"min":9,"max":20,"p99":19.5,
		"unit":"ms"},"request_throughput":{"mean":3,"avg":3,"unit":"requests/sec"}}}]}`
	if err := os.WriteFile(filepath.Join(dir, "profile_export_aiperf_sweep.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := loadSweep(t, dir)
	for stat, want := range map[string]float64{"avg": 12, "p99": 19.5, "max": 20} {
		if got, ok := s.Cells[0].figure("request_latency", stat); !ok || got != want {
			t.Errorf("%s is %v, want %v", stat, got, want)
		}
	}
	c, err := CompareSweeps(s, s, Options{})
	if err != nil || c.Failed() {
		t.Fatal(c, err)
	}
}

func TestAnswers(t *testing.T) {
	dir := writeSweep(t, "sweep_aggregate", 1, map[int][2][]float64{
		1: {{10}, {100}}, 2: {{20}, {150}}, 4: {{25}, {400}}}, 300)
	s := loadSweep(t, dir)
	for text, want := range map[string]string{
		"best_throughput<12":             "",
		"best_throughput>=20req/s":       "",
		"best_throughput<13":             "best_throughput<13: it is 12.50 requests/sec (concurrency 1)",
		"max_request_throughput>=20":     "max_request_throughput>=20: it is 20.00 requests/sec (concurrency 2)",
		"max_request_throughput>20":      "", // the cell with 25 misses the limit
		"min_request_latency:p99>0.09s":  "min_request_latency:p99>0.09s: it is 100.00 ms (concurrency 1)",
		"max_concurrency<4":              "max_concurrency<4: it is 2.00 (concurrency 2)",
		"max_concurrency<2":              "",
		"failed_runs>0":                  "failed_runs>0: it is 1.00",
		"skipped_cells>1":                "",
		"feasible_cells<3":               "feasible_cells<3: it is 2.00",
		"pareto_cells<=1":                "pareto_cells<=1: it is 1.00",
		"max_goodput<10":                 "max_goodput<10: the results have no goodput:avg",
		"best_latency_p99>1":             "best_latency_p99>1: the results have no best_latency_p99",
		"request_latency:p99>300":        "request_latency:p99>300: concurrency 4: request_latency p99 is 400.00 ms",
		"time_to_first_token:p99>1":      "time_to_first_token:p99>1: concurrency 1 has no p99 of time_to_first_token",
		"max_request_latency:p99>=1m30s": "",
	} {
		c, err := ParseCondition(text, s.Parameters())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := s.Judge([]Condition{c})[0].Failure
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	none := loadSweep(t, writeSweep(t, "sweep_aggregate", 1, map[int][2][]float64{1: {{10}, {100}}}, 50))
	a, err := ParseAnswer("max_request_throughput<10", none.Parameters())
	if why := a.Check(none); err != nil || why != "max_request_throughput<10: no cell meets the limits" {
		t.Error(why, err)
	}
}

func TestAnswersThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"max_goodptu>=10":          `"goodptu" is neither a metric, did you mean goodput? nor swept (swept: isl)`,
		"max_isl:p99>1":            `isl is a swept parameter, which has neither a statistic nor a unit`,
		"best_throughput:p99>1":    `"best_throughput:p99>1": best_throughput is one number: leave :p99 out`,
		"max_goodput:p99>1":        `goodput is one number for the whole run: leave :p99 out`,
		"failed_runs>1ms":          `failed_runs is a count and has no unit`,
		"max_request_latency>10kg": `"kg" cannot be converted to it`,
		"max_goodput>1e999":        `is not a finite number`,
	} {
		if _, err := ParseCondition(text, []string{"isl"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]bool{"max_goodput>1": true, "max_response_timestamp>1": false, "goodput>1": false,
		"best_throughput<1": true, "failed_runs>0": true, "max_>1": false, "maximum": false} {
		if IsAnswer(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// What a search of one dimension found is the largest value that met its limits.
func TestAnswersOfASearch(t *testing.T) {
	write := func(most string) *Sweep {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "search_history.json"), []byte(`{"config":{"search_space":[{"path":`+
			`"phases.profiling.concurrency"}]},"iterations":[],"boundary_summary":{"swept_dim_path":`+
			`"phases.profiling.concurrency","feasible_max":`+most+`}}`), 0o644); err != nil {
			t.Fatal(err)
		}
		return loadSweep(t, dir)
	}
	for most, want := range map[string]string{`{"value":192}`: "max_concurrency<200: it is 192.00",
		"null": "max_concurrency<200: not even the smallest value met the limits"} {
		s := write(most)
		a, err := ParseAnswer("max_concurrency<200", s.Parameters())
		if why := a.Check(s); err != nil || why != want {
			t.Errorf("%s: %q %v, want %q", most, why, err, want)
		}
	}
}

func TestARunIsNoSweep(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, []float64{1, 2, 3}, 5, "")
	for _, name := range []string{"", "profile_export_aiperf.json", "nowhere"} {
		path := filepath.Join(dir, name)
		if s, err := LoadSweep(path); s != nil || err != nil {
			t.Errorf("%s: %v, %v", path, s, err)
		}
	}
}
