package browse

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
)

// cellFiles are a sweep over two parameters with so many runs of each cell.
func cellFiles(runs int) map[string]string {
	files := map[string]string{}
	var cells []string
	for _, isl := range []int{16, 64} {
		for _, n := range []int{2, 6} {
			cell := fmt.Sprintf("isl_%d__concurrency_%d", isl, n)
			values := fmt.Sprintf(`"variation_values":{"datasets.main.prompts.isl.mean":%d,"phases.profiling.concurrency":%d}`,
				isl, n)
			for i := range runs {
				dir := "art/s/" + cell
				if runs > 1 {
					dir = fmt.Sprintf("art/s/profile_runs/trial_%04d/%s", i+1, cell)
				}
				files[dir+"/profile_export_aiperf.json"] = strings.Replace(summaryText("m", n, 10), `"run_info":{`,
					`"run_info":{`+values+`,`, 1)
				files[dir+"/profile_export.jsonl"] = recordLine(1, "")
			}
			files["art/s/aggregate/"+cell+"/profile_export_aiperf_aggregate.json"] = fmt.Sprintf(
				`{"metadata":{"num_profile_runs":%d,"num_successful_runs":%[1]d,"model":"m",%s},"metrics":{"request_throughput_avg":{"mean":30.5,"min":28,"max":33,`+
					`"ci_low":-7,"ci_high":68,"unit":"requests/sec"}}}`, runs, values)
			cells = append(cells, fmt.Sprintf(`{"parameters":{"isl":%d,"concurrency":%d},"metrics":{}}`, isl, n))
		}
	}
	files["art/s/sweep_aggregate/profile_export_aiperf_sweep.json"] = `{"aggregation_type":"sweep","metadata":` +
		`{"sweep_parameters":[{"name":"isl"},{"name":"concurrency"}]},"per_combination_metrics":[` +
		strings.Join(cells, ",") + `],"best_configurations":{},"pareto_optimal":[]}`
	return files
}

func TestACellOfOneRunIsThatRun(t *testing.T) {
	s := serve(t, folders(t, cellFiles(1)))
	_, body, _ := s.get("/r/" + s.id("s"))
	_, list, _ := s.get("/api/runs")
	for _, cell := range []string{"isl_16__concurrency_2", "isl_16__concurrency_6", "isl_64__concurrency_2",
		"isl_64__concurrency_6"} {
		run, repeats := s.id("s/"+cell), s.id("s/aggregate/"+cell)
		if !strings.Contains(body, `href="`+run+`"`) || strings.Contains(body, repeats) {
			t.Errorf("the cell %s does not lead to its run", cell)
		}
		if strings.Contains(list, repeats) {
			t.Errorf("the aggregate of the one run of %s is listed", cell)
		}
		if _, page, _ := s.get("/r/" + repeats); !strings.Contains(page, "/r/"+run+"/requests") {
			t.Errorf("the address of the aggregate of %s does not lead to its run", cell)
		}
	}
}

func TestACellOfSeveralRunsListsThem(t *testing.T) {
	s := serve(t, folders(t, cellFiles(2)))
	_, body, _ := s.get("/r/" + s.id("s"))
	cell := "isl_64__concurrency_6"
	repeats := s.id("s/aggregate/" + cell)
	if !strings.Contains(body, `href="`+repeats+`"`) {
		t.Error("the cell does not lead to its repeats")
	}
	status, page, head := s.get("/r/" + repeats)
	if status != http.StatusOK || !strings.Contains(page, "± 37.5 requests/s (0 – 68)") {
		t.Errorf("the key figures have no interval, or one below zero: %d %s", status, page)
	}
	for _, trial := range []string{"trial_0001", "trial_0002"} {
		if !strings.Contains(page, "/r/"+s.id("s/profile_runs/"+trial+"/"+cell)) {
			t.Errorf("%s is not listed", trial)
		}
	}
	testkit.Page(t, "repeats", page, head.Get("Content-Security-Policy"))
}

func TestTheWaterfallOfARequest(t *testing.T) {
	line := `{"metadata":{"session_num":1,"x_request_id":"r","x_correlation_id":"c","conversation_id":"s",` +
		`"turn_index":0,` +
		`"credit_issued_ns":999990000000,"request_start_ns":1000000000000,"request_ack_ns":1000020000000,` +
		`"request_end_ns":1000090000000,"worker_id":"w","record_processor_id":"p","benchmark_phase":` +
		`"profiling"},"metrics":{` +
		`"time_to_first_token":{"value":50.0,"unit":"ms"},"inter_chunk_latency":{"value":[5,5,25,5],"unit":"ms"},` +
		`"request_latency":{"value":90.0,"unit":"ms"},"http_req_blocked":{"value":4.0,"unit":"ms"},` +
		`"http_req_connecting":{"value":6.0,"unit":"ms"}},"facts":{"end":90000000}}`
	w := newWaterfall([]byte(line))
	if w == nil {
		t.Fatal("no picture")
	}
	var got []string
	for _, s := range w.Steps {
		got = append(got, fmt.Sprintf("%s: %s, %s ms at %g %%", s.Name, s.From, s.Takes, s.At))
	}
	want := []string{"Client: due, not yet sent: -10, 10 ms at 0 %", "Blocked: wait for a connection: 0, 4 ms at 10 %",
		"Connect: 4, 6 ms at 14 %", "Wait for the headers: 10, 10 ms at 20 %", "Wait for the first token: 20, 30 ms at 30 %",
		"Tokens in 5 chunks: 50, 40 ms at 60 %"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	last := w.Steps[len(w.Steps)-1]
	if fmt.Sprint(last.Ticks) != "[60 65 70 95 100]" || last.Longest != 70 || last.LongestW != 25 ||
		!strings.HasPrefix(w.Gaps, "Between chunks: median 5 ms, longest 25 ms, before chunk 4 at 85 ms") {
		t.Errorf("%+v %s", last, w.Gaps)
	}
	if newWaterfall([]byte("torn")) != nil {
		t.Error("the picture of nothing")
	}
}
