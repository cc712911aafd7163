package summary_test

import (
	"strings"
	"testing"

	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// A summary without a judgement, as older versions and the original write it, is judged by what it says, and by nothing else.
func TestSummariesWithoutAJudgement(t *testing.T) {
	const count, failed = `"request_count":{"unit":"requests","avg":60},`, `"error_request_count":{"unit":"requests","avg":40},`
	for name, c := range map[string]struct{ file, state, text string }{
		"errors without their kinds": {count + failed, judge.StateFailed, "40 of 100 requests failed (40 %)."},
		"errors with their kinds": {count + failed + `"error_summary":[{"error_details":{"code":500,"type":"InternalServerError",
			"message":"x"},"count":40}],`, judge.StateFailed, "most with 40 × 500 InternalServerError."},
		"refused": {count + failed + `"error_summary":[{"error_details":{"code":429,"type":"TooManyRequests","message":"x"},"count":40}],`,
			judge.StateFailed, "were refused because there were too many"},
		"its load": {count + `"effective_concurrency":{"unit":"requests","avg":7.9},"input_config":{"phases":[{"kind":"profiling",
			"type":"concurrency","concurrency":8}]},`, judge.StateComplete,
			"A concurrency of 8 was kept up all the time; the summary does not say whether requests waited at the server."},
		"nothing":    {count, judge.StateComplete, "The summary does not say what limited the run."},
		"its client": {count + `"client_health":{"verdict":"client_limited"},`, judge.StateClient, "The client was the bottleneck"},
		"other shapes": {count + `"error_summary":{"a":1},"input_config":[],"run_info":3,"time_split":"x","dataset":[],`,
			judge.StateComplete, "All 60 requests succeeded."},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := summary.ParseFigures([]byte("{" + c.file + `"was_cancelled":false}`))
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, of := range f.Judgement.Findings {
				text += of.Text + " " + of.Brief + "\n"
			}
			for _, u := range f.Judgement.NotSeen {
				text += u.What + "\n"
			}
			if f.Judgement.State.Code != c.state || !strings.Contains(text, c.text) ||
				!strings.Contains(text, "written without a judgement") || strings.Contains(text, "no metrics page") ||
				strings.Contains(text, "errors are not known") {
				t.Errorf("%s:\n%s", f.Judgement.State.Code, text)
			}
		})
	}
}
