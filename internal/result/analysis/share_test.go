package analysis

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shareRun writes the folder of a run.
func shareRun(t testing.TB, dir string, latency float64, model, command string) {
	t.Helper()
	write(t, filepath.Join(dir, "profile_export_aiperf.json"), fmt.Sprintf(`{"schema_version":"1.5","aiperf_version":"0.1.0",
"benchmark_id":"b","request_throughput":{"unit":"requests/sec","avg":20},"request_count":{"unit":"requests","avg":100},
"output_token_throughput":{"unit":"tokens/sec","avg":1234.5},"benchmark_duration":{"unit":"sec","avg":5},
"time_to_first_token":{"unit":"ms","avg":12,"p50":10,"p90":20,"p99":30},
"request_latency":{"unit":"ms","avg":%[1]g,"p50":%[1]g,"p90":%[1]g,"p99":%[1]g},
"input_config":{"models":{"items":[{"name":%[2]q}]},"endpoint":{"urls":["http://h"],"type":"chat","streaming":true},
"phases":[{"kind":"profiling","type":"concurrency","concurrency":4}]},"run_info":{"cli_command":%[3]q},"provenance":{},
"client_health":{"verdict":"valid","error_bound":{"time_to_first_token":{"value":0.5,"unit":"ms"}}},
"was_cancelled":false,"start_time":"2026-11-24T04:08:04.076239","end_time":"2026-11-24T04:08:05.623674"}`, latency, model,
		command))
	write(t, filepath.Join(dir, "profile_export.jsonl"), "{}\n")
}

func TestTheBlockOfARun(t *testing.T) {
	dir := t.TempDir()
	shareRun(t, dir, 100, "m", "aiperf profile --model m --api-key sk-1234567890 --url http://joe:pw-secret@h")
	c, err := ReadCard(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := `**m** · chat · streaming · concurrency 4 · 100 requests in 5.00 s · 0 failed

- ✅ **Client valid**: Its own share is ≤ 0.5 ms of TTFT.

|  | average | p50 | p90 | p99 |
|---|--:|--:|--:|--:|
| Request Throughput (requests/sec) | 20.0 |  |  |  |
| Output Token Throughput (tokens/sec) | 1,234 |  |  |  |
| Time to First Token (ms) | 12.0 | 10.0 | 20.0 | 30.0 |
| Request Latency (ms) | 100 | 100 | 100 | 100 |

` + "```sh\naiperf profile --model m --api-key <redacted> --url http://<redacted>@h\n```" + `

measured with aiperf 0.1.0, 24 November 2026
`
	if got := c.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFailedRequestsComeFirstOnACard(t *testing.T) {
	dir := t.TempDir()
	shareRun(t, dir, 100, "m", "aiperf profile")
	path := filepath.Join(dir, "profile_export_aiperf.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), `"was_cancelled"`, `"judgement":{"state":{},"findings":[{"code":"errors","level":"bad",
"title":"30 % of the requests failed","text":"43 of 143."},{"code":"rate","level":"plain","title":"The load","text":"."}]},
"was_cancelled"`, 1))
	c, err := ReadCard(dir)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, f := range c.Findings {
		titles = append(titles, f.Title)
	}
	if got := strings.Join(titles, ", "); got != "30 % of the requests failed, The load" {
		t.Errorf("the card says %s", got)
	}
}

func TestCardOfACapacityHasItsAnswerAndItsCommand(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "search_history.json"), `{"config":{"planner":"capacity","objectives":[],
"search_space":[{"path":"phases.profiling.concurrency","lo":1,"hi":100}],"sla_filters":[{"metric_tag":"time_to_first_token",
"stat":"p95","op":"le","threshold":300}]},"iterations":[{"variation_values":{"phases.profiling.concurrency":27},
"feasible":true}],"best_trials":[],"boundary_summary":{"feasible_max":{"value":27},"infeasible_min":{"value":23},
"answer":23,"interval":{"lo":21,"hi":30,"level":0.95},"command":"aiperf capacity --url http://joe:pw-secret@h --ttft 300"},
"convergence_reason":"capacity_precision_reached"}`)
	write(t, filepath.Join(dir, "sweep_aggregate", "profile_export_aiperf_sweep.json"), `{"aggregation_type":"sweep",
"metadata":{"sweep_parameters":[{"name":"concurrency","values":[27]}]},"per_combination_metrics":[{"parameters":
{"concurrency":27},"metrics":{"request_throughput_avg":{"mean":30.5,"unit":"requests/sec"}}}],"best_configurations":{},
"pareto_optimal":[]}`)
	c, err := ReadCard(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Figures[0]; f.Value != "23" || f.Detail != "95 %: 21–30" {
		t.Errorf("%+v", f)
	}
	if want := "aiperf capacity --url http://<redacted>@h --ttft 300"; c.Command != want {
		t.Errorf("the card says %s, want %s", c.Command, want)
	}
}

func TestCardsShowWhatTheBlockSays(t *testing.T) {
	dir := t.TempDir()
	shareRun(t, dir, 100, "a model", "aiperf profile --api-key sk-1234567890")
	c, err := ReadCard(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, dark := range []bool{false, true} {
		var svg, picture bytes.Buffer
		if err := c.Scene(dark).WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"a model", "1,234", "tokens/sec", "p99 30.0", "Client valid", "24 November 2026",
			"aiperf profile --api-key"} {
			if !strings.Contains(svg.String(), text) {
				t.Errorf("the card lacks %q", text)
			}
		}
		if strings.Contains(svg.String(), "sk-1234567890") {
			t.Error("the card has the key")
		}
		for d := xml.NewDecoder(&svg); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Scene(dark).WritePNG(&picture, 2); err != nil {
			t.Fatal(err)
		}
		if p, err := png.Decode(&picture); err != nil || p.Bounds().Dx() != 2400 || p.Bounds().Dy() != 1260 {
			t.Errorf("%v", err)
		}
	}
}

func TestTextsOfRunsStayTexts(t *testing.T) {
	dir := t.TempDir()
	hostile := "m](http://x) @joe | </svg><script>alert(1)</script> **b**"
	shareRun(t, dir, 100, hostile, "aiperf\n```\n# heading")
	c, err := ReadCard(dir)
	if err != nil {
		t.Fatal(err)
	}
	var svg bytes.Buffer
	if err := c.Scene(false).WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(svg.String(), "<script") {
		t.Error("the card has a script")
	}
	for _, bad := range []string{"<script", "m](http", "@joe", "\n# heading\n```\n\n```"} {
		if text := c.Markdown(); strings.Contains(text, bad) {
			t.Errorf("%q in\n%s", bad, text)
		}
	}
}

func TestRepeatsHaveIntervals(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "aggregate", "profile_export_aiperf_aggregate.json"), `{"aiperf_version":"0.1.0","metadata":{
"aggregation_type":"confidence","num_profile_runs":3,"num_successful_runs":2,"confidence_level":0.95},"metrics":{
"request_throughput_avg":{"mean":20,"std":1,"ci_low":19,"ci_high":21,"unit":"requests/sec"},
"request_latency_p50":{"mean":50,"std":0,"ci_low":50,"ci_high":50,"unit":"ms"},
"request_latency_p99":{"mean":70,"std":1,"ci_low":60,"ci_high":80,"unit":"ms"}}}`)
	for i := range 2 {
		shareRun(t, filepath.Join(dir, "profile_runs", fmt.Sprintf("run_%04d", i+1)), 50, "m", "aiperf profile -x")
	}
	c, err := ReadCard(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := c.Markdown()
	for _, want := range []string{"2 runs · 1 failed", "| Request Throughput (requests/sec) | 20.0 (19–21) |",
		"| 50.0 |", "70.0 (60–80)", "confidence of 95 %", "aiperf profile -x", "2 runs complete"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestAComparisonSaysWhatChanged(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	shareRun(t, a, 100, "m", "aiperf profile")
	shareRun(t, b, 150, "m", "aiperf profile")
	c, err := CompareCard(a, b)
	if err != nil {
		t.Fatal(err)
	}
	text := c.Markdown()
	for _, want := range []string{"against", `| 100 | 150 | \+50.0 % |`, "client valid", "aiperf compare " + a + " " + b} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestFoldersThatHoldSeveralResultsOrNone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		shareRun(t, filepath.Join(dir, "two", name), 100, "m", "c")
	}
	write(t, filepath.Join(dir, "none", "x"), "")
	write(t, filepath.Join(dir, "damaged", "profile_export_aiperf.json"), `{"input_config":`)
	write(t, filepath.Join(dir, "damaged", "profile_export.jsonl"), "{}\n")
	for name, want := range map[string]string{
		"two": "holds 2 results; name one of them", "none": "there is no finished run below", "gone": "there is no folder",
		"damaged": "profile_export_aiperf.json",
	} {
		if _, err := ReadCard(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The card of a capacity has the curve of its probes, and a row for each load with that of the answer among them.
func TestCardOfACapacityHasItsCurve(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "search_history.json"), `{"config":{"planner":"capacity","objectives":[],
"search_space":[{"path":"datasets.main.prompts.isl","lo":16,"hi":4096}],"sla_filters":[{"metric_tag":"time_to_first_token",
"stat":"p95","op":"le","threshold":300}]},"iterations":[{"variation_values":{"datasets.main.prompts.isl":512},
"feasible":true},{"variation_values":{"datasets.main.prompts.isl":2048},"feasible":false}],"best_trials":[],
"boundary_summary":{"feasible_max":{"value":512},"infeasible_min":{"value":2048},"outcome":"found","binding":0,
"answer":1024,"interval":{"lo":900,"hi":1200,"level":0.95},"notes":["a note"],"command":"aiperf capacity --over isl"},
"convergence_reason":"capacity_budget_used"}`)
	write(t, filepath.Join(dir, "sweep_aggregate", "profile_export_aiperf_sweep.json"), `{"aggregation_type":"sweep",
"metadata":{"sweep_parameters":[{"name":"isl","values":[512,2048]}]},"per_combination_metrics":[
{"parameters":{"isl":512},"metrics":{"time_to_first_token_p95":{"mean":150,"unit":"ms"}}},
{"parameters":{"isl":2048},"metrics":{"time_to_first_token_p95":{"mean":600,"unit":"ms"}}}],"best_configurations":{},
"pareto_optimal":[]}`)
	c, err := ReadCard(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Figures[0]; f.Name != "Longest prompt within the limits" || f.Value != "1,024" || f.Unit != "tokens" {
		t.Errorf("%+v", f)
	}
	if c.Curve == nil || c.Curve.Limit != 300 || c.Marked != 1 || len(c.Rows) != 3 || c.Rows[1][0] != "1,024 (answer)" {
		t.Errorf("row %d of %q", c.Marked, c.Rows)
	}
	var svg bytes.Buffer
	if err := c.Scene(false).WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"TTFT p95", "1,024 (answer)", ">300<", "95 %: 900–1,200"} {
		if !strings.Contains(svg.String(), text) {
			t.Errorf("the card does not say %s", text)
		}
	}
}

// The card of a sweep over one load has its answer first, and the curves of throughput and latency with the chosen load.
func TestCardOfASweepHasItsCurves(t *testing.T) {
	dir := t.TempDir()
	cells, values := "", ""
	for i, c := range []struct{ load, throughput, ttft, good, goodput float64 }{
		{4, 400, 50, 1, 10}, {8, 800, 55, 1, 20}, {16, 1500, 60, 0.99, 40}, {32, 1600, 400, 0.2, 9}, {64, 1610, 900, 0, 1}} {
		if i > 0 {
			cells, values = cells+",", values+","
		}
		values += fmt.Sprint(c.load)
		cells += fmt.Sprintf(`{"parameters":{"concurrency":%v},"metrics":{"output_token_throughput_avg":{"mean":%v,"unit":
"tokens/sec"},"request_throughput_avg":{"mean":%v,"unit":"requests/sec"},"time_to_first_token_avg":{"mean":%v,"unit":"ms"},
"time_to_first_token_p99":{"mean":%v,"unit":"ms"},"good_request_fraction_avg":{"mean":%v,"unit":"ratio"},
"goodput_avg":{"mean":%v,"unit":"requests/sec"}}}`, c.load, c.throughput, c.throughput/40, c.ttft, 2*c.ttft, c.good, c.goodput)
	}
	write(t, filepath.Join(dir, "sweep_aggregate", "profile_export_aiperf_sweep.json"), `{"aggregation_type":"sweep",
"metadata":{"sweep_parameters":[{"name":"concurrency","values":[`+values+`]}]},"per_combination_metrics":[`+cells+`],
"best_configurations":{},"pareto_optimal":[]}`)
	c, err := ReadCard(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Figures[0]; f.Name != "Largest concurrency that meets the objectives" || f.Value != "16" {
		t.Errorf("%+v", f)
	}
	if c.Curve == nil || len(c.Curve.Points) != 5 || c.Curve.Boundary != 16 || c.Marked != 2 {
		t.Fatalf("curve %+v, marked %d", c.Curve, c.Marked)
	}
	var svg bytes.Buffer
	if err := c.Scene(true).WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Output TPS (tokens/sec) over concurrency", "TTFT p99 (ms) over concurrency", ">R<",
		"Good Fraction", ">16 R<"} {
		if !strings.Contains(svg.String(), text) {
			t.Errorf("the card does not say %s", text)
		}
	}
	if text := c.Markdown(); !strings.Contains(text, "Largest concurrency that meets the objectives: **16**") {
		t.Error(text)
	}
}
