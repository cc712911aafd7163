package html

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/answer"
)

// batching is a server whose latency rises with the load, and more so with the length of the prompts.
func batching(concurrency, isl float64) map[string]answer.Figure {
	ttft := (40 + isl/8) * (1 + math.Pow(concurrency/48, 2))
	itl := 8 + concurrency/6
	latency := ttft + 127*itl
	rate := 1000 * concurrency / latency
	around := func(v, share float64) answer.Figure {
		return answer.Figure{Mean: v, Low: v * (1 - share), High: v * (1 + share), Runs: 3}
	}
	figures := map[string]answer.Figure{"request_throughput_avg": around(rate, 0.02),
		"output_token_throughput_avg":          around(128*rate, 0.02),
		"output_token_throughput_per_user_avg": around(1000/itl, 0.01)}
	for stat, factor := range map[string]float64{"avg": 1, "p50": 0.95, "p90": 1.3, "p95": 1.5, "p99": 2} {
		figures["time_to_first_token_"+stat] = around(ttft*factor, 0.05*factor)
		figures["inter_token_latency_"+stat] = around(itl*math.Sqrt(factor), 0.02*factor)
		figures["request_latency_"+stat] = around(latency*math.Sqrt(factor), 0.03*factor)
	}
	return figures
}

// metricsOfBatching are the metrics of those figures, as [answer.Read] orders them.
func metricsOfBatching() []answer.Metric {
	var out []answer.Metric
	for _, tag := range []string{"output_token_throughput", "request_throughput", "output_token_throughput_per_user"} {
		out = append(out, answer.NewMetric(tag, "avg", ""))
	}
	for _, tag := range []string{"time_to_first_token", "inter_token_latency", "request_latency"} {
		for _, stat := range []string{"avg", "p50", "p90", "p95", "p99"} {
			out = append(out, answer.NewMetric(tag, stat, ""))
		}
	}
	return out
}

// sweepOfTwo is a grid of two parameters with a limit, a failed cell and a name that is markup.
func sweepOfTwo() *answer.Sweep {
	s := &answer.Sweep{
		Title: "org/<b>model</b>", Kind: "Sweep", Version: "1.2.3", Target: "http://localhost:8000/v1/chat/completions",
		Command:    "aiperf profile --model 'org/<b>model</b>' --concurrency 1,4,16,64,128 --isl 128,1024",
		Parameters: []answer.Parameter{{Name: "isl", Unit: "tokens"}, {Name: "concurrency"}},
		Metrics:    metricsOfBatching(), Level: 0.95,
		Limits: []answer.Limit{{Metric: "time_to_first_token", Stat: "p99", Op: "lt", Threshold: 600, Unit: "ms"}},
		Front: &answer.Axes{X: answer.NewMetric("time_to_first_token", "p99", ""),
			Y: answer.NewMetric("output_token_throughput", "avg", "")},
		Failures: []answer.Failure{{Label: "isl_1024__concurrency_128 trial_0003",
			Error: "All 640 requests failed: </script><script>alert(1)</script>"}},
	}
	for _, isl := range []float64{128, 1024} {
		for _, n := range []float64{1, 4, 16, 64, 128} {
			c := answer.Cell{Label: "isl " + answer.Label(isl) + ", concurrency " + answer.Label(n),
				Values: []any{isl, n}, Runs: 3,
				Page: "../isl_" + answer.Label(isl) + "__concurrency_" + answer.Label(n) +
					"/profile_export_aiperf.html",
				Figures: batching(n, isl), Verdict: answer.Feasible}
			if f := c.Figures["time_to_first_token_p99"]; f.Mean > 600 {
				c.Verdict, c.Why = answer.Infeasible, answer.Breach(s.Limits[0], f.Mean)
			}
			c.Pareto = isl == 128 && n <= 64
			s.Cells = append(s.Cells, c)
		}
	}
	s.Best = []answer.Best{
		{Title: "Best throughput", Metric: s.Metrics[1],
			Value: s.Cells[3].Figures["request_throughput_avg"].Mean, Cell: 3},
		{Title: "Best latency p99", Metric: answer.NewMetric("time_to_first_token", "p99", ""),
			Value: s.Cells[0].Figures["time_to_first_token_p99"].Mean, Cell: 0},
	}
	return s
}

// searched is the answer of a search over concurrency.
func searched() *answer.Sweep {
	s := &answer.Sweep{
		Title: "meta-llama/Llama-3.1-8B-Instruct", Kind: "Capacity", Version: "1.2.3",
		Target:     "http://localhost:8000/v1/chat/completions",
		Command:    "aiperf capacity --url http://localhost:8000 --ttft p99:300 --itl p95:25",
		Parameters: []answer.Parameter{{Name: "concurrency", Path: "phases.profiling.concurrency"}},
		Metrics:    metricsOfBatching(),
		Limits: []answer.Limit{{Metric: "time_to_first_token", Stat: "p99", Op: "lt", Threshold: 300, Unit: "ms"},
			{Metric: "inter_token_latency", Stat: "p95", Op: "lt", Threshold: 25, Unit: "ms"}},
		Front: &answer.Axes{X: answer.NewMetric("time_to_first_token", "p99", ""),
			Y: answer.NewMetric("output_token_throughput", "avg", "")},
	}
	for i, n := range []float64{1, 2, 4, 8, 16, 32, 64, 128, 80, 72, 68, 70} {
		c := answer.Cell{Label: "concurrency " + answer.Label(n), Values: []any{n}, Runs: 1, Figures: batching(n, 64),
			Page:    "search_iter_000" + short(float64(i)) + "/profile_runs/trial_0001/profile_export_aiperf.html",
			Verdict: answer.Feasible}
		for _, l := range s.Limits {
			if v := c.Figures[l.Metric+"_"+l.Stat].Mean; !answer.Meets(l, v) {
				c.Verdict, c.Why = answer.Infeasible, answer.Breach(l, v)
			}
		}
		if n == 128 {
			c.Verdict, c.Why = answer.ClientLimited, "the client used 98 % of its cores"
		}
		c.Objectives = []float64{c.Figures["output_token_throughput_avg"].Mean}
		s.Cells = append(s.Cells, c)
	}
	at, over := 68.0, 70.0
	s.Search = &answer.Search{Planner: "smooth_isotonic", Objectives: []string{"maximize Output Token Throughput"},
		Ranges: []answer.Range{{Parameter: s.Parameters[0], Lo: 1, Hi: 1000}}, Recipe: "max-concurrency-under-sla",
		Reason: "smooth_isotonic_precision_reached", Most: 30, Best: []int{10},
		Boundary: &answer.Boundary{FeasibleMax: &at, InfeasibleMin: &over, Type: "smooth",
			Binding: "time_to_first_token:p99",
			Breach:  answer.Breach(s.Limits[0], 303.1), MarginLow: -6.2, MarginHigh: 4.1}}
	passing, failing := 296.4, 303.1
	s.Limits[0].Passing, s.Limits[0].Failing = &passing, &failing
	curve := answer.NewCurve(s, 0, answer.NewMetric("time_to_first_token", "p99", ""),
		answer.NewMetric("output_token_throughput", "avg", ""),
		answer.NewMetric("output_token_throughput_per_user", "avg", ""))
	curve.SetBoundary(69, 66.2, 71.3, 300)
	s.Capacity = &answer.Capacity{Outcome: answer.Found, Load: s.Parameters[0], Lo: 1, Hi: 1000, Value: 69, Low: 66.2,
		High: 71.3, Level: 0.95, Rate: answer.Figure{Mean: 22.4, Low: 21.9, High: 22.8}, Limits: s.Limits, Curve: curve,
		Price: answer.NewPrice(10, 2867), Command: s.Command,
		Spent: answer.Spent{Runs: 12, Requests: 4312, Tokens: 1204331, Time: 192 * time.Second,
			Saved: 400 * time.Second},
		Notes: []string{"The probe at 128 was limited by the client: it counts neither as feasible nor as infeasible."}}
	return s
}

// pageOf returns the page, and writes it to the folder of the variable SWEEP_PAGES, if there is one, for browsers.
func pageOf(t *testing.T, name string, s *answer.Sweep) string {
	t.Helper()
	var out bytes.Buffer
	if err := Sweep(&out, s); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("SWEEP_PAGES"); dir != "" {
		if err := os.WriteFile(dir+"/"+name+".html", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Page(t, name, out.String())
	return out.String()
}

func TestSweepPageHasCellsLimitsAndFailures(t *testing.T) {
	page := pageOf(t, "sweep", sweepOfTwo())
	for _, want := range []string{
		`<a href="../isl_128__concurrency_64/profile_export_aiperf.html">isl 128, concurrency 64</a>`,
		"Time to First Token p99 &lt; 600 ms", "isl_1024__concurrency_128 trial_0003",
		`<span class="verdict bad">infeasible</span>`, "Best throughput", `"curve-request_throughput"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, bad := range []string{"<b>model", "<script>alert"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

func TestCapacityPageHasTheAnswerWithItsInterval(t *testing.T) {
	page := pageOf(t, "capacity", searched())
	for _, want := range []string{
		"concurrency 69, 95 %: 66–71 (22.4 requests/s, 95 %: 21.9–22.8)",
		"12 runs, 4,312 requests, 1,204,331 tokens, 3 min 12 s; 6 min 40 s saved by early verdicts",
		"296.4 ms at the largest load within the limits", "Recommended operating point", "client-limited",
		"0.9689 per million output tokens",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// What is limited is in sight: its statistic, its curve first, and the row of the answer; the two sides are those of the
// answer, whatever single probes say.
func TestCapacityPageIsAboutItsLimit(t *testing.T) {
	s := searched()
	s.Limits = []answer.Limit{{Metric: "request_latency", Stat: "p95", Op: "le", Threshold: 5000, Unit: "ms"}}
	s.Capacity.Limits, s.Capacity.Value, s.Capacity.Binding = s.Limits, 68, 0
	s.Capacity.Complete(s)
	page := pageOf(t, "capacitylimit", s)
	for _, want := range []string{"<option selected>p95</option>", `<span class="badge">answer</span>`,
		"largest measured within the limits: concurrency 68", "smallest measured beyond: concurrency 70"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if a, b := strings.Index(page, `id="curve-request_latency"`), strings.Index(page, `id="curve-request_throughput"`); a > b {
		t.Error("the curve of the limit is not the first one")
	}
}

// scenarios is a sweep over names, without limits and intervals, one cell of which failed.
func scenarios() *answer.Sweep {
	s := &answer.Sweep{Title: "m", Parameters: []answer.Parameter{{Name: "scenario"}}, Metrics: metricsOfBatching(),
		Front: &answer.Axes{X: answer.NewMetric("time_to_first_token", "p99", ""),
			Y: answer.NewMetric("output_token_throughput", "avg", "")}}
	for i, name := range []string{"chat", "summaries of long documents", "code", "<agents>"} {
		c := answer.Cell{Label: name, Values: []any{name}, Runs: 1, Page: name[:1] + "/profile_export_console.txt"}
		c.Figures = batching(float64(4*i+4), float64(256*i))
		for key, f := range c.Figures {
			c.Figures[key] = answer.Single(f.Mean)
		}
		s.Cells = append(s.Cells, c)
	}
	s.Cells = append(s.Cells, answer.Cell{Label: "broken", Values: []any{"broken"}, Page: "javascript:alert(1)",
		Verdict: answer.Failed, Failures: []answer.Failure{{Label: "broken", Error: "exit status 1"}}})
	return s
}

func TestPageOfNamedCells(t *testing.T) {
	page := pageOf(t, "names", scenarios())
	for _, want := range []string{"1 run failed", "exit status 1", "summaries of long documents"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, bad := range []string{`href="javascript:`, "<agents>", "confidence intervals. "} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

func TestPageOfNothingSaysSo(t *testing.T) {
	page := pageOf(t, "empty", &answer.Sweep{})
	if !strings.Contains(page, "No cell has a result") || strings.Contains(page, "<figure") {
		t.Error("an empty sweep")
	}
}

// A search without the answer of aiperf capacity: the states that a planner may end in.
func TestSearchPageSaysHowItEnded(t *testing.T) {
	for reason, want := range map[string]string{
		"smooth_isotonic_precision_reached": "the boundary is known to the precision asked for",
		"monotonic_no_pass_in_range":        "the smallest value of the range misses a limit",
		"monotonic_no_failure_in_range":     "the largest value of the range meets all limits",
		"max_iterations":                    "the number of iterations was reached",
		"capacity_client_limited":           "larger loads could not be measured",
		"capacity_budget_used":              "the time that it was given was used",
		"capacity_max_probes":               "it made as many probes as it may",
		"":                                  "did not end by itself",
		"something_new":                     "something new",
	} {
		s := searched()
		s.Capacity, s.Search.Reason = nil, reason
		if page := pageOf(t, "search", s); !strings.Contains(page, want) {
			t.Errorf("%s: the page lacks %q", reason, want)
		}
	}
}

// TestSearchPageNamesItsObjectiveAndTiers: what a search scored need not be the first figure of the page.
func TestSearchPageNamesItsObjectiveAndTiers(t *testing.T) {
	s, gold := searched(), 64.0
	s.Capacity = nil
	s.Search.Scored = []answer.Metric{answer.NewMetric("goodput", "avg", "requests/sec")}
	s.Search.Tiers = []answer.Tier{{Label: "gold", Boundary: &gold, Status: "converged"},
		{Label: "silver", Status: "no_pass_in_range"}}
	page := pageOf(t, "tiers", s)
	for _, want := range []string{"Goodput", "Tier gold", "gold: concurrency 64", "none of the values meets its limits"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestPageOfManyCellsIsBounded holds that figures beyond the charts do not make the page of a large sweep too large.
func TestPageOfManyCellsIsBounded(t *testing.T) {
	s := &answer.Sweep{Parameters: []answer.Parameter{{Name: "concurrency"}}}
	units := map[string]string{}
	for tag := range 80 {
		for _, stat := range []string{"avg", "p50", "p90", "p95", "p99", "min", "max", "std"} {
			units[fmt.Sprintf("metric%d_%s", tag, stat)] = "ms"
		}
	}
	s.Metrics = answer.Metrics(units)
	for i := range 1000 {
		c := answer.Cell{Label: fmt.Sprint(i), Values: []any{i}, Runs: 2, Figures: map[string]answer.Figure{}}
		for key := range units {
			c.Figures[key] = answer.Figure{Mean: float64(i) + 0.123456, Low: float64(i), High: float64(i + 1)}
		}
		s.Cells = append(s.Cells, c)
	}
	if page := pageOf(t, "many", s); len(page) > 8<<20 {
		t.Errorf("%d bytes", len(page))
	}
}

// Each load has a bar of its stages, as long as its part of the longest.
func TestSweepPageSaysWhereTheTimeWent(t *testing.T) {
	s := sweepOfTwo()
	part := func(ms float64) []timesplit.Part {
		return []timesplit.Part{{Stage: timesplit.Queue, Milliseconds: ms, Source: "m"}}
	}
	s.Cells[0].Times = &timesplit.Times{TTFT: timesplit.Fit(50, part(10))}
	s.Cells[1].Times = &timesplit.Times{TTFT: timesplit.Fit(200, part(150))}
	page := pageOf(t, "times", s)
	for _, want := range []string{"Where the time went", `class="t-queue" x="0.00%" y="0" width="5.00%"`,
		`class="t-queue" x="0.00%" y="0" width="75.00%"`, `class="t-unknown" x="75.00%" y="0" width="25.00%"`, "not known 50.0"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(pageOf(t, "without", sweepOfTwo()), "Where the time went") {
		t.Error("a page of cells whose times are not known has their section")
	}
}
