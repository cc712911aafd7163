package answer_test

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/result/answer"
)

// aggregate is a sweep of two trials, one of the original's fields more, a failed run and a limit.
const aggregate = `{"aggregation_type":"sweep","num_profile_runs":6,"num_successful_runs":5,
 "failed_runs":[{"label":"trial_0002_concurrency_30","error":"All 60 requests failed"}],
 "metadata":{"sweep_parameters":[{"name":"concurrency","values":[10,20,30]}],"num_combinations":3,
  "sla_constraints":{"active_filters":[{"metric_tag":"time_to_first_token","stat":"p99","op":"LT","threshold":200}],
   "feasible_count":2,"infeasible_count":1},
  "sweep_mode":"repeated","confidence_level":0.95,"num_trials_per_value":2,"aggregation_type":"sweep","future":[1]},
 "per_combination_metrics":[
  {"parameters":{"concurrency":10},"metrics":{
   "request_throughput_avg":{"mean":96.5,"std":1,"min":95,"max":98,"cv":0.01,"ci_low":90,
   "ci_high":103,"unit":"requests/sec"},
   "time_to_first_token_p99":{"mean":120,"ci_low":110,"ci_high":130,"unit":"ms"}}},
  {"parameters":{"concurrency":20},"metrics":{
   "request_throughput_avg":{"mean":180,"ci_low":null,"ci_high":null,"unit":"requests/sec"},
   "time_to_first_token_p99":{"mean":140,"unit":"ms"}}},
  {"parameters":{"concurrency":30},"metrics":{"request_throughput_avg":{"mean":240,"unit":"requests/sec"},
   "time_to_first_token_p99":{"mean":250,"unit":"ms"}}}],
 "best_configurations":{"best_throughput":{"parameters":{"concurrency":20},"metric":180,"unit":"requests/sec"}},
 "pareto_optimal":[{"concurrency":10},{"concurrency":20}]}`

func read(t *testing.T, text string) *answer.Sweep {
	t.Helper()
	s, err := answer.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReadOfASweep(t *testing.T) {
	s := read(t, aggregate)
	if len(s.Cells) != 3 || s.Level != 0.95 || len(s.Parameters) != 1 || s.Parameters[0].Name != "concurrency" {
		t.Fatalf("%+v", s)
	}
	first := s.Cells[0]
	if f, ok := first.Figure("request_throughput_avg"); !ok || f.Mean != 96.5 || f.Low != 90 || f.High != 103 ||
		f.Runs != 2 {
		t.Errorf("%+v", f)
	}
	if f, _ := s.Cells[1].Figure("request_throughput_avg"); f.HasInterval() {
		t.Errorf("an interval without bounds: %+v", f)
	}
	if n, ok := first.Number(0); !ok || n != 10 || first.Label != "concurrency 10" || !first.Pareto ||
		s.Cells[2].Pareto {
		t.Errorf("%+v", first)
	}
	over := s.Cells[2]
	if first.Verdict != answer.Feasible || over.Verdict != answer.Infeasible ||
		over.Why != "Time to First Token p99 was 250, limit < 200 ms" {
		t.Errorf("%q, %q: %q", first.Verdict, over.Verdict, over.Why)
	}
	if len(s.Best) != 1 || s.Best[0].Cell != 1 || s.Best[0].Title != "Best throughput" || s.Best[0].Value != 180 {
		t.Errorf("%+v", s.Best)
	}
	if len(s.Failures) != 1 || s.Failures[0].Error != "All 60 requests failed" {
		t.Errorf("%+v", s.Failures)
	}
	if s.Front == nil || s.Front.X.Key() != "time_to_first_token_p99" ||
		s.Metrics[0].Key() != "request_throughput_avg" {
		t.Errorf("%+v %+v", s.Front, s.Metrics)
	}
}

func TestTheBestLatencySaysWhichItIs(t *testing.T) {
	for metric, title := range map[string]string{"120": "Best TTFT p99", "900": "Best latency p99"} {
		s := read(t, strings.Replace(aggregate, `"best_configurations":{`, `"best_configurations":{"best_latency_p99":`+
			`{"parameters":{"concurrency":10},"metric":`+metric+`,"unit":"ms"},`, 1))
		if got := s.Best[0]; got.Key != "best_latency_p99" || got.Title != title {
			t.Errorf("%s: %+v", metric, got)
		}
	}
}

// One trial of a cell: the original writes plain tags, and intervals that are none.
func TestReadOfPlainTags(t *testing.T) {
	s := read(t, `{"aggregation_type":"sweep","metadata":{"num_trials_per_value":1,"confidence_level":0.95},
	 "per_combination_metrics":[{"parameters":{"isl":128,"mode":"a"},"metrics":{"request_latency":
	 {"mean":5,"ci_low":5,"ci_high":5,"unit":"ms"}}}]}`)
	f, ok := s.Cells[0].Figure("request_latency_avg")
	if !ok || f.Mean != 5 || f.HasInterval() || s.Level != 0 || s.Cells[0].Label != "isl 128, mode a" {
		t.Errorf("%+v, %v, level %v, %q", f, ok, s.Level, s.Cells[0].Label)
	}
}

func TestReadSaysWhatIsNoSweep(t *testing.T) {
	for text, want := range map[string]string{`{"aggregation_type":"confidence"}`: "confidence", `{`: "JSON",
		`{}`: "aggregation_type"} {
		if _, err := answer.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := answer.ReadSearch([]byte(`{}`)); err == nil || !strings.Contains(err.Error(), "search_space") {
		t.Error(err)
	}
}

const history = `{"config":{"planner":"smooth_isotonic","objectives":[{"metric":"request_throughput","stat":"avg",
  "direction":"MAXIMIZE","threshold":null}],"max_iterations":30,
  "search_space":[{"path":"phases.profiling.concurrency","lo":1,"hi":1000,"kind":"int"}],
  "sla_filters":[{"metric_tag":"time_to_first_token","stat":"p99","op":"lt","threshold":200.0}]},
 "iterations":[
  {"iteration_idx":0,"variation_values":{"phases.profiling.concurrency":30},"objective_values":[240],"feasible":false,
   "non_monotonic_warning":null},
  {"iteration_idx":1,"variation_values":{"phases.profiling.concurrency":10},"objective_values":[96.5],"feasible":true,
   "non_monotonic_warning":null},
  {"iteration_idx":2,"variation_values":{"phases.profiling.concurrency":25},"objective_values":null,"feasible":false,
   "non_monotonic_warning":null},
  {"iteration_idx":3,"variation_values":{"phases.profiling.concurrency":20},"objective_values":[180],"feasible":false,
   "non_monotonic_warning":"a larger value passed","client_limited":"the client used all of its cores"}],
 "best_trials":[{"iteration_idx":1,"objective_values":[96.5]}],"recipe":null,
 "boundary_summary":{"swept_dim_path":"phases.profiling.concurrency",
  "feasible_max":{"value":10,"iteration_idx":1,"objective_value":96.5},
  "infeasible_min":{"value":30,"iteration_idx":0,
   "first_breach":{"metric_tag":"time_to_first_token","stat":"p99","op":"lt","threshold":200,"observed":250}},
  "boundary_type":"smooth","binding_constraint":"time_to_first_token:p99","boundary_ci":{"lo":-3.5,"hi":8}},
 "convergence_reason":"smooth_isotonic_precision_reached"}`

func TestASearchPutsItsCellsInOrder(t *testing.T) {
	s := read(t, aggregate)
	if err := s.AddSearch([]byte(history)); err != nil {
		t.Fatal(err)
	}
	var labels []string
	for i := range s.Cells {
		labels = append(labels, s.Cells[i].Label+" "+string(s.Cells[i].Verdict))
	}
	want := "concurrency 30 infeasible, concurrency 10 feasible, concurrency 25 failed, concurrency 20 client-limited"
	if got := strings.Join(labels, ", "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if s.Best[0].Cell != 3 || s.Cells[0].Why == "" || !s.Cells[3].NonMonotonic || s.Cells[1].Objectives[0] != 96.5 {
		t.Errorf("%+v\n%+v", s.Best, s.Cells)
	}
	b := s.Search.Boundary
	if b == nil || *b.FeasibleMax != 10 || *b.InfeasibleMin != 30 || b.MarginLow != -3.5 ||
		b.Breach != "Time to First Token p99 was 250, limit < 200 ms" || s.Search.Best[0] != 1 || s.Kind != "Search" {
		t.Errorf("%+v", b)
	}
	if v, ok := b.Largest(); !ok || v != 10 || b.Interval() != "" || b.Command != "" {
		t.Errorf("the answer is %v (%s), repeated by %q", v, b.Interval(), b.Command)
	}
	curve := answer.NewCurve(s, 0, answer.NewMetric("time_to_first_token", "p99", ""),
		answer.NewMetric("request_throughput", "avg", ""),
		answer.Metric{})
	if len(curve.Points) != 3 || curve.Points[0].Load != 10 || curve.Points[2].Verdict != answer.Infeasible {
		t.Errorf("%+v", curve.Points)
	}
}

// The answer of a capacity search is that of all its probes together, which one probe may contradict.
func TestTheAnswerOfACapacitySearch(t *testing.T) {
	of := func(more string) *answer.Boundary {
		s, err := answer.ReadSearch([]byte(strings.Replace(history, `"boundary_type":"smooth"`, `"boundary_type":"smooth",`+more, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return s.Search.Boundary
	}
	b := of(`"answer":23,"estimate":23.4,"interval":{"lo":21,"hi":30,"level":0.95},"command":"aiperf capacity --ttft 300"`)
	if v, ok := b.Largest(); !ok || v != 23 || *b.FeasibleMax != 10 || b.Interval() != "95 %: 21–30" ||
		b.Command != "aiperf capacity --ttft 300" {
		t.Errorf("%v, %s, %+v", v, b.Interval(), b)
	}
	b = of(`"answer":null,"interval":{"lo":null,"hi":null,"level":0.95}`)
	if v, ok := b.Largest(); !ok || v != 10 || b.Interval() != "" {
		t.Errorf("%v, %s", v, b.Interval())
	}
	b.FeasibleMax = nil
	if v, ok := b.Largest(); ok {
		t.Errorf("no value met the limits, and %v is the answer", v)
	}
}

func TestTheRecommendedPointIsTheLargestThatCertainlyMeetsTheLimits(t *testing.T) {
	s := read(t, aggregate)
	curve := answer.NewCurve(s, 0, answer.NewMetric("time_to_first_token", "p99", ""),
		answer.NewMetric("request_throughput", "avg", ""),
		answer.Metric{})
	for _, c := range []struct {
		value, low float64
		want       int
	}{{25, math.NaN(), 1}, {25, 21, 1}, {25, 15, 0}, {25, 5, -1}, {math.NaN(), math.NaN(), 1}} {
		curve.SetBoundary(c.value, c.low, c.value, 200)
		if curve.Recommended != c.want {
			t.Errorf("boundary %v from %v: point %d, want %d", c.value, c.low, curve.Recommended, c.want)
		}
	}
}

func TestPriceAtAnOperatingPoint(t *testing.T) {
	p := answer.NewPrice(10, 2000)
	if p == nil || math.Abs(p.PerMillion-10./3600/2000*1e6) > 1e-12 || p.PerUnit != 720_000 {
		t.Errorf("%+v", p)
	}
	for _, p := range []*answer.Price{answer.NewPrice(0, 9), answer.NewPrice(2, 0),
		answer.NewPrice(2, math.NaN()), answer.NewPrice(math.Inf(1), 9)} {
		if p != nil {
			t.Errorf("%+v", p)
		}
	}
	s := answer.Sweep{Cells: []answer.Cell{{Values: []any{8}, Figures: map[string]answer.Figure{
		"cost_per_million_output_tokens_avg": answer.Single(10. / 3600 / 2000 * 1e6),
		"output_token_throughput_avg":        answer.Single(2000)}},
		{Values: []any{16}, Figures: map[string]answer.Figure{"output_token_throughput_avg": answer.Single(3000)}}}}
	if p := s.PriceAt(0, 8); p == nil || math.Abs(p.PerHour-10) > 1e-9 || math.Abs(p.PerUnit-720_000) > 1e-6 {
		t.Errorf("%+v", p)
	}
	for _, load := range []float64{16, 9} {
		if p := s.PriceAt(0, load); p != nil {
			t.Errorf("at %v: %+v", load, p)
		}
	}
}

// The answer of a capacity search is read whole, with what its cells say; a file that does not say what it came to, by
// its two sides.
func TestTheWholeAnswerOfACapacitySearch(t *testing.T) {
	const head = `{"config":{"planner":"capacity","objectives":[],"search_space":[{"path":"phases.profiling.concurrency",
"lo":1,"hi":64}],"sla_filters":[{"metric_tag":"time_to_first_token","stat":"p95","op":"le","threshold":300}]},
"iterations":[{"variation_values":{"phases.profiling.concurrency":16},"feasible":false},
{"variation_values":{"phases.profiling.concurrency":14},"feasible":true},
{"variation_values":{"phases.profiling.concurrency":20},"feasible":false},
{"variation_values":{"phases.profiling.concurrency":30},"feasible":false,"refused":"too long"}],
"best_trials":null,"recipe":null,"convergence_reason":"capacity_budget_used","boundary_summary":{
"feasible_max":{"value":14},"infeasible_min":{"value":16},"answer":16,"interval":{"lo":15,"hi":18,"level":0.95},
"command":"aiperf capacity"`
	s, err := answer.ReadSearch([]byte(head + `,"outcome":"found","binding":0,"notes":["busy"],
"spent":{"runs":4,"requests":40,"tokens":4000,"seconds":90,"saved_seconds":2}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Capacity
	if c == nil || c.Headline() != "concurrency 16, 95 %: 15–18" || c.Within != 14 || c.Beyond != 20 || c.Binding != 0 ||
		len(c.Notes) != 1 ||
		c.Spent.String() != "4 runs, 40 requests, 4,000 tokens, 1 min 30 s; 2 s saved by early verdicts" {
		t.Errorf("%+v", c)
	}
	if text := c.Contradiction(s); text != "a limit was missed at concurrency 16; the curve through all "+
		"probes, each weighed by its error, meets the limit at concurrency 16, so that one probe does not decide" {
		t.Error(text)
	}
	if cell := s.Cells[3]; cell.Verdict != answer.Infeasible || cell.Why != "too long" {
		t.Errorf("%+v", cell)
	}
	if s, err = answer.ReadSearch([]byte(head + `}}`)); err != nil || s.Capacity == nil ||
		s.Capacity.Outcome != answer.Found {
		t.Errorf("%v, %+v", err, s)
	}
}
