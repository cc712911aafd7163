package loop_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/sweep"
)

// body is the benchmark that the blocks of the tests vary.
const body = "\nbenchmark:\n  model: m\n  endpoint: {url: http://a}\n" +
	"  dataset: {type: synthetic}\n  phases:\n    - {name: profiling, type: concurrency, concurrency: 8, requests: 10}\n"

// spec reads a block as a run would.
func spec(t *testing.T, block string) *loop.Spec {
	t.Helper()
	file, err := document.Read("f.yaml", []byte("sweep: "+block+body))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.Expand(file, file.Root)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := loop.Read(plan.Block)
	return s
}

const (
	oneDimension = `search_space: [{path: concurrency, lo: 1, hi: 1000, kind: int}]`
	throughput   = `objectives: [{metric: output_token_throughput, direction: maximize}]`
	latency      = `sla_filters: [{metric_tag: time_to_first_token, stat: p95, op: lt, threshold: 200}]`
)

// figures is a successful run with these figures, as metric.stat and value.
func figures(pairs ...any) loop.Trial {
	t := loop.Trial{Label: "trial_0001", Dir: "d"}
	for i := 0; i < len(pairs); i += 2 {
		metric, stat, _ := strings.Cut(pairs[i].(string), ".")
		t.Metrics = append(t.Metrics, loop.Metric{Tag: metric, Unit: "ms",
			Stats: artifact.Object{{Key: stat, Value: pairs[i+1].(float64)}}})
	}
	return t
}

func failed() loop.Trial { return loop.Trial{Label: "trial_0001", Err: "All 10 requests failed"} }

// server is a server whose limit is 311: below it the p95 of the time to first token is below 200 ms.
func server(p loop.Proposal) []loop.Trial {
	c := p.Point[0]
	return []loop.Trial{figures("time_to_first_token.p95", 200*c/311.5, "output_token_throughput.avg", 10*c)}
}

// listed is a planner that proposes points one after the other, again and again.
type listed struct {
	points []search.Point
	asked  int
	told   []search.Result
}

func (l *listed) Ask() (search.Point, bool) {
	return l.points[l.asked%len(l.points)], true
}
func (l *listed) Tell(r search.Result) { l.asked++; l.told = append(l.told, r) }
func (l *listed) Reason() string       { return "" }

// begun makes a search of a spec that writes into a folder.
func begun(t *testing.T, s *loop.Spec, dir string) *loop.Search {
	t.Helper()
	search, err := loop.New(s, loop.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return search
}

// finish runs a search to its end and returns its proposals.
func finish(t *testing.T, s *loop.Search, run func(loop.Proposal) []loop.Trial) (points []float64) {
	t.Helper()
	for range 500 {
		p, more := s.Ask()
		if !more {
			if err := s.Finish(""); err != nil {
				t.Fatal(err)
			}
			return points
		}
		points = append(points, p.Point[0])
		if err := s.Tell(run(p), nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the search does not end")
	return nil
}

// boundaryOf returns the boundary that the history of a search says.
func boundaryOf(t *testing.T, s *loop.Search) *boundarySummary {
	t.Helper()
	h, err := parseHistory(s.Document())
	if err != nil {
		t.Fatal(err)
	}
	if h.Boundary == nil {
		t.Fatal("the history has no boundary")
	}
	return h.Boundary
}

// TestTrapTwoOutcomesDecideAPoint: with the limit 311 the 15 points take 30 iterations, so that 20 end the search early.
func TestTrapTwoOutcomesDecideAPoint(t *testing.T) {
	block := `{type: adaptive_search, planner: monotonic_sla, max_iterations: %d, ` + oneDimension + `, ` + throughput +
		`, ` + latency + `}`
	for iterations, want := range map[int]string{20: "20 max_iterations", 40: "30 monotonic_precision_reached"} {
		s := begun(t, spec(t, fmt.Sprintf(block, iterations)), t.TempDir())
		points := finish(t, s, server)
		if got := fmt.Sprint(len(points), " ", s.Reason()); got != want {
			t.Errorf("%d iterations: %s, want %s", iterations, got, want)
		}
		if iterations == 40 {
			summary := boundaryOf(t, s)
			if summary.Pass != 304 || summary.Fail != 312 || summary.Breach.Metric != "time_to_first_token" {
				t.Errorf("the boundary is %+v", summary)
			}
		}
	}
}

// TestTrapHistoryParsesAfterEveryIteration: the files are whole after each visit, and the reason stays null until the
// end.
func TestTrapHistoryParsesAfterEveryIteration(t *testing.T) {
	dir := t.TempDir()
	s := begun(t, spec(t, `{type: adaptive_search, planner: smooth_isotonic, max_iterations: 30, recipe_name: r, `+
		oneDimension+`, `+throughput+`, `+latency+`}`), dir)
	n := 0
	for {
		p, more := s.Ask()
		if !more {
			break
		}
		if err := s.Tell(server(p), artifact.Object{{Key: "probe_seconds", Value: 1.5}}); err != nil {
			t.Fatal(err)
		}
		n++
		h, err := readHistory(filepath.Join(dir, loop.HistoryFile))
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Iterations) != n || h.Reason != "" {
			t.Fatalf("after %d iterations: %d, reason %q", n, len(h.Iterations), h.Reason)
		}
		if v, _ := h.Whole.Get("convergence_reason"); v != nil {
			t.Fatalf("the reason is %v before the end", v)
		}
		if _, ok := h.Iterations[n-1].Whole.Get("probe_seconds"); !ok {
			t.Fatal("the further member is not there")
		}
	}
	if err := s.Finish(""); err != nil {
		t.Fatal(err)
	}
	h, err := readHistory(filepath.Join(dir, loop.HistoryFile))
	if err != nil || h.Reason != s.Reason() || h.Reason == "" {
		t.Errorf("the reason is %q, not %q: %v", h.Reason, s.Reason(), err)
	}
	b := h.Boundary
	if b.Pass < 295 || b.Pass > 311 || b.Fail < 312 || b.Type == "" || b.Binding != "0:time_to_first_token.p95.lt.200.0" {
		t.Errorf("the boundary is %+v", b)
	}
	if h.Recipe != "r" || len(h.Best) != 1 || !h.Iterations[h.Best[0]].Feasible || !h.Objectives[0].Maximize {
		t.Errorf("read %+v", h)
	}
}

// TestHistoryOfACancelledSearch: Ctrl-C leaves what is complete and says so.
func TestHistoryOfACancelledSearch(t *testing.T) {
	dir := t.TempDir()
	s := begun(t, spec(t, `{type: adaptive_search, max_iterations: 10, `+oneDimension+`, `+throughput+`}`), dir)
	p, _ := s.Ask()
	if err := s.Tell(server(p), nil); err != nil {
		t.Fatal(err)
	}
	s.Ask()
	if err := s.Finish(loop.Cancelled); err != nil {
		t.Fatal(err)
	}
	h, err := readHistory(filepath.Join(dir, loop.HistoryFile))
	if err != nil || h.Reason != loop.Cancelled || len(h.Iterations) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestTrapAnInfeasiblePointIsNeverBest, and there is one best point with one objective.
func TestTrapAnInfeasiblePointIsNeverBest(t *testing.T) {
	s, err := loop.New(spec(t,
		`{type: adaptive_search, max_iterations: 10, `+oneDimension+`, `+throughput+`, `+latency+`}`),
		loop.Options{Planner: &listed{points: []search.Point{{100}, {900}, {200}}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		p, _ := s.Ask()
		if err := s.Tell(server(p), nil); err != nil {
			t.Fatal(err)
		}
	}
	list, _ := s.Document().Get("best_trials")
	best := list.([]any)
	if len(best) != 1 {
		t.Fatalf("%d best points", len(best))
	}
	text, _ := artifact.AppendJSON(nil, best[0])
	const want = `{"iteration_idx":2,"objective_values":[2000.0],"variation_values":{"phases.profiling.concurrency":200},` +
		`"feasible":true,"feasible_count":2,"pareto_rank":0}`
	if string(text) != want {
		t.Errorf("the best is %s", text)
	}
}

// TestTrapOneTrialMustPassAllConditions: A passes the first only and B both is feasible; A the first and B the second is
// not.
func TestTrapOneTrialMustPassAllConditions(t *testing.T) {
	s := spec(t, `{type: adaptive_search, max_iterations: 10, `+oneDimension+`, `+throughput+`, sla_filters: [`+
		`{metric_tag: a, op: lt, threshold: 10}, {metric_tag: b, op: lt, threshold: 10}]}`)
	for want, trials := range map[bool][]loop.Trial{
		true:  {figures("a.avg", 1.0, "b.avg", 20.0), figures("a.avg", 1.0, "b.avg", 2.0)},
		false: {figures("a.avg", 1.0, "b.avg", 20.0), figures("a.avg", 20.0, "b.avg", 2.0)},
	} {
		l := &listed{points: []search.Point{{5}}}
		one, err := loop.New(s, loop.Options{Planner: l})
		if err != nil {
			t.Fatal(err)
		}
		one.Ask()
		if err := one.Tell(trials, nil); err != nil {
			t.Fatal(err)
		}
		if l.told[0].Feasible != want {
			t.Errorf("%v: feasible %v", trials, l.told[0].Feasible)
		}
	}
}

// TestTrapAMetricThatNoRunHas is never feasible, and warned about once with what the runs have.
func TestTrapAMetricThatNoRunHas(t *testing.T) {
	var log bytes.Buffer
	s, err := loop.New(spec(t, `{type: adaptive_search, planner: monotonic_sla, max_iterations: 10, `+oneDimension+`, `+
		throughput+`, sla_filters: [{metric_tag: no_such, op: lt, threshold: 10}]}`),
		loop.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	finish(t, s, server)
	if s.Reason() != "monotonic_no_pass_in_range" {
		t.Errorf("it ended with %s", s.Reason())
	}
	if n := strings.Count(log.String(), "no metric no_such"); n != 1 || !strings.Contains(log.String(),
		"time_to_first_token, output_token_throughput") {
		t.Errorf("%d warnings: %s", n, &log)
	}
	if summary := boundaryOf(t, s); !math.IsNaN(summary.Observed) || summary.Breach.Metric != "no_such" {
		t.Errorf("the breach is %+v", summary)
	}
}

// scored tells a search of one objective a list of values; NaN is a failed iteration. It returns why it ended.
func scored(t *testing.T, block string, values ...float64) string {
	t.Helper()
	one, err := loop.New(spec(t, block), loop.Options{}) // a planner of its own would end a search itself
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if _, more := one.Ask(); !more {
			return fmt.Sprint(one.Reason(), " after ", i)
		}
		trial := figures("output_token_throughput.avg", v)
		if math.IsNaN(v) {
			trial = failed()
		}
		if err := one.Tell([]loop.Trial{trial}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, more := one.Ask(); !more {
		return fmt.Sprint(one.Reason(), " after ", len(values))
	}
	return "goes on"
}

// TestTrapPlateau: the worked example ends a search; a failed iteration in the window, or a mean of 0, does not.
func TestTrapPlateau(t *testing.T) {
	block := `{type: adaptive_search, max_iterations: 100, improvement_patience: 90, ` + oneDimension + `, ` + throughput +
		`}`
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{1000, 1003, 998, 1001, 1002, 999, 1000, 1001}, "plateau_cv after 8"},
		{[]float64{1000, 1003, 998, math.NaN(), 1002, 999, 1000, 1001}, "goes on"},
		{[]float64{1000, 1003, 998, 1001, 1002, 999, 1000}, "goes on"},
		{[]float64{1000, 1003, 998, 1001, 1002, 999, 1000, 1401}, "goes on"},
		{[]float64{0, 0, 0, 0, 0, 0, 0, 0}, "goes on"},
	} {
		if got := scored(t, block, c.values...); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

// TestPatience: ten iterations that are not strictly better end a search, failed ones included; the number of iterations
// is asked first.
func TestPatience(t *testing.T) {
	block := `{type: adaptive_search, max_iterations: %d, plateau_threshold: 0.000001, ` + oneDimension + `, ` + throughput +
		`}`
	values := []float64{1, 5, 5, 4, 3, math.NaN(), 5, 2, 1, 4, 5, 3}
	for iterations, want := range map[int]string{100: "improvement_patience after 12", 12: "max_iterations after 12"} {
		if got := scored(t, fmt.Sprintf(block, iterations), values...); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := scored(t, fmt.Sprintf(block, 100), append(values[:11:11], 6, 1)...); got != "goes on" {
		t.Errorf("after an improvement: %s", got)
	}
}

// TestTrapGrowthOfTheHypervolume: below a millionth it is no improvement.
func TestTrapGrowthOfTheHypervolume(t *testing.T) {
	objectives := `objectives: [{metric: a, direction: maximize, threshold: 0}, {metric: b, direction: minimize, ` +
		`threshold: 100}]`
	const block = `{type: adaptive_search, max_iterations: 50, improvement_patience: %d, ` + oneDimension + `, %s}`
	// The hypervolume of a point is a·(100−b). With a patience of two, the search goes on after the third iteration,
	// which is as good as the second one, only if that was an improvement.
	for _, c := range []struct {
		before, now float64
		want        bool
	}{{1000, 1000.0005, false}, {1000, 1000.002, true}, {0, 1e-9, true}, {0, 0, false}} {
		one, err := loop.New(spec(t, fmt.Sprintf(block, 2, objectives)), loop.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, volume := range []float64{c.before, c.now, c.now} {
			one.Ask()
			if err := one.Tell([]loop.Trial{figures("a.avg", volume/100, "b.avg", 0.0)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, got := one.Ask(); got != c.want || !got && one.Reason() != loop.ImprovementPatience {
			t.Errorf("%v → %v: goes on %v, %q", c.before, c.now, got, one.Reason())
		}
	}
	one, err := loop.New(spec(t, fmt.Sprintf(block, 3, objectives)), loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// It ends three iterations after the last improvement, the first one.
	for _, v := range [][2]float64{{10, 0}, {10.000005, 0}, {1, 90}, {5, 50}} {
		if _, more := one.Ask(); !more {
			t.Fatalf("%q before %v", one.Reason(), v)
		}
		if err := one.Tell([]loop.Trial{figures("a.avg", v[0], "b.avg", v[1])}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, more := one.Ask(); more || one.Reason() != loop.ImprovementPatience {
		t.Errorf("%q, more %v", one.Reason(), more)
	}
}

// TestTrapACheckpointOfAnotherSearchIsRefused: a changed seed proposes other points.
func TestTrapACheckpointOfAnotherSearchIsRefused(t *testing.T) {
	dir := t.TempDir()
	block := `{type: adaptive_search, max_iterations: 8, n_initial_points: 3, random_seed: %d, ` + oneDimension + `, ` +
		throughput + `, ` + latency + `}`
	s := begun(t, spec(t, fmt.Sprintf(block, 1)), dir)
	for range 5 {
		p, _ := s.Ask()
		trials := server(p)
		if p.Iteration == 2 {
			trials = []loop.Trial{failed()}
		}
		if err := s.Tell(trials, artifact.Object{{Key: "note", Value: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.Join(dir, loop.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	next, _ := s.Ask()

	again := begun(t, spec(t, fmt.Sprintf(block, 1)), dir)
	n, err := again.Restore()
	if err != nil || n != 5 {
		t.Fatalf("%d iterations: %v", n, err)
	}
	if err := again.Write(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, loop.HistoryFile))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the history is another one after resuming:\n%s\n%s", got, want)
	}
	if p, _ := again.Ask(); p.Point[0] != next.Point[0] {
		t.Errorf("it goes on at %v, not at %v", p.Point, next.Point)
	}

	other := begun(t, spec(t, fmt.Sprintf(block, 2)), dir)
	if _, err := other.Restore(); err == nil || !strings.Contains(err.Error(), "iteration 0 was at") ||
		!strings.Contains(err.Error(), "--resume") {
		t.Errorf("another seed: %v", err)
	}
	if n, err := begun(t, spec(t, fmt.Sprintf(block, 2)), t.TempDir()).Restore(); n != 0 || err != nil {
		t.Errorf("without a checkpoint: %d, %v", n, err)
	}
	for name, text := range map[string]string{"cut": `{"iterations": [`, "shape": `{"a": 1}`,
		"results": `{"iterations": [{"variation_values": {"phases.profiling.concurrency": 1}}]}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, loop.CheckpointFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := begun(t, spec(t, fmt.Sprintf(block, 1)), dir).Restore(); err == nil {
			t.Errorf("%s: it was resumed", name)
		}
	}
}

// TestTrialsOfTheClientDecideNothing: a point whose load this program could not send is on neither side of the limit,
// one at which the server fell behind is infeasible.
func TestTrialsOfTheClientDecideNothing(t *testing.T) {
	l := &listed{points: []search.Point{{100}, {200}, {300}}}
	s, err := loop.New(spec(t,
		`{type: adaptive_search, max_iterations: 10, `+oneDimension+`, `+throughput+`, `+latency+`}`),
		loop.Options{Planner: l})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		p, _ := s.Ask()
		trials := server(p)
		switch i {
		case 1:
			trials[0].Saturated = "work in the system grows"
		case 2:
			trials[0].Limited = "no free processor"
		}
		if err := s.Tell(trials, nil); err != nil {
			t.Fatal(err)
		}
	}
	if l.told[1].Feasible || !math.IsNaN(l.told[1].Margins[0][0]) {
		t.Errorf("saturated: %+v", l.told[1])
	}
	h, err := parseHistory(s.Document())
	if err != nil {
		t.Fatal(err)
	}
	if h.Boundary.Pass != 100 || h.Boundary.Fail != 200 || h.Iterations[2].Limited == "" ||
		h.Iterations[1].Saturated == "" {
		t.Errorf("%+v, %+v", h.Boundary, h.Iterations)
	}
}

// TestTrapTiersOfASearch: the history has the tiers, and the stricter one implies the other.
func TestTrapTiersOfASearch(t *testing.T) {
	s := begun(t, spec(t, `{type: adaptive_search, planner: smooth_isotonic, max_iterations: 60, `+oneDimension+`, `+
		throughput+`, sla_tiers: [{label: gold, filters: [{metric_tag: time_to_first_token, stat: p95, op: lt, threshold: `+
		`100}]}, {label: silver, filters: [{metric_tag: time_to_first_token, stat: p95, op: lt, threshold: 200}]}]}`),
		t.TempDir())
	finish(t, s, server)
	o := s.Document()
	var keys []string
	for _, m := range o {
		keys = append(keys, m.Key)
	}
	const want = "config iterations best_trials boundary_summary tier_results tier_metadata recipe convergence_reason"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("the keys are %s", got)
	}
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ordering_pairs":[{"strict":"gold","lenient":"silver"}]`,
		`"convergence_reason":"multi_tier_all_converged"`, `"convergence_status":"converged"`,
		`"tiers":[{"label":"gold","filters":[`, `"non_monotonic_warning":false,"convergence_reason":"multi_tier`,
		`"boundary_metrics":{"`, `"op":"lt","threshold":100.0,"observed":`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	// All figures at the limit of a tier are shown, not only those of its conditions.
	results, _ := o.Get("tier_results")
	metrics, _ := results.([]any)[0].(artifact.Object).Get("boundary_metrics")
	if _, ok := metrics.(artifact.Object).Get("output_token_throughput"); !ok {
		t.Errorf("the figures at the limit are %v", metrics)
	}
	// A point is feasible where one tier is: the largest one is beyond the limit of gold.
	if b := boundaryOf(t, s); !(b.Pass > 100) {
		t.Errorf("the largest feasible value is %v", b.Pass)
	}
}

// TestHistoriesOfTheOriginal are read: those of 0.13, and older ones with one objective.
func TestHistoriesOfTheOriginal(t *testing.T) {
	for name, text := range map[string]string{
		"0.13": `{"config": {"planner": "monotonic_sla", "objectives": [{"metric": "a", "stat": "avg", "direction": ` +
			`"MAXIMIZE", "threshold": null}], "outcome_constraints": [], "max_iterations": 20, "search_space": [{"path": ` +
			`"p.x", "lo": 1.0, "hi": 9.0, "kind": "int"}], "sla_filters": []}, "iterations": [{"iteration_idx": 0, ` +
			`"variation_values": {"p.x": 1}, "objective_values": [5.0], "feasible": true, "non_monotonic_warning": false}], ` +
			`"best_trials": [{"iteration_idx": 0}], "boundary_summary": null, "recipe": null, "convergence_reason": null}`,
		"older": `{"config": {"objective_metric": "a", "objective_direction": "maximize", "max_iterations": 20}, ` +
			`"iterations": [{"iteration_idx": 0, "variation_values": {"p.x": 1}, "objective_value": 5.0, "feasible": true, ` +
			`"non_monotonic_warning": null}], "best": {"iteration_idx": 0}, "convergence_reason": "max_iterations"}`,
	} {
		path := filepath.Join(t.TempDir(), loop.HistoryFile)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		h, err := readHistory(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(h.Objectives) != 1 || !h.Objectives[0].Maximize || h.Iterations[0].Objectives[0] != 5 ||
			!h.Iterations[0].Feasible || len(h.Best) != 1 || h.Iterations[0].Contradicts {
			t.Errorf("%s: %+v", name, h)
		}
	}
	if _, err := parseHistory(artifact.Object{}); err == nil {
		t.Error("an empty object was read")
	}
}

// TestLengthsOfProbes: the first probe of a point warms up longer than its replicates; other planners leave the load
// alone.
func TestLengthsOfProbes(t *testing.T) {
	p := loop.Probing{Warmup: 30e9, FirstFloor: 60e9, Floor: 15e9,
		Requests: map[string]int64{"normal": 1000, "tight": 10000}}
	zero, ninety, five := 0.0, 90.0, 5.0
	for _, c := range []struct {
		warmup *float64
		want   string
	}{{nil, "1m0s 30s"}, {&zero, "0s 0s"}, {&ninety, "1m30s 1m30s"}, {&five, "1m0s 15s"}} {
		s := &loop.Spec{Planner: loop.SmoothIsotonic, Warmup: c.warmup}
		if got := fmt.Sprint(s.ProbeWarmup(p, true), " ", s.ProbeWarmup(p, false)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got := (&loop.Spec{Planner: loop.MonotonicSLA}).ProbeWarmup(p, true); got != 0 {
		t.Errorf("monotonic_sla warms up for %v", got)
	}
	if got := (&loop.Spec{Planner: loop.MonotonicSLA, Warmup: &five}).ProbeWarmup(p, true); got != p.FirstFloor {
		t.Errorf("monotonic_sla warms up for %v", got)
	}
	s := &loop.Spec{Planner: loop.SmoothIsotonic, Precision: "tight"}
	b := &loop.Spec{Planner: loop.Bayesian}
	if got := fmt.Sprint(s.ProbeRequests(p), b.ProbeRequests(p), b.ProbeWarmup(p, true)); got != "10000 0 0s" {
		t.Error(got)
	}
}
