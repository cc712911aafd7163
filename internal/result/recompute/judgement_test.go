package recompute_test

import (
	"bytes"
	"context"
	"fmt"
	stdhtml "html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/analysis"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/files"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
	"aiperf/internal/result/plot"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/report/html"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

// outcomes and conditions make the runs that all outputs have to agree on: each outcome under each condition.
var (
	outcomes = []func(r *summary.Result){
		func(*summary.Result) {},
		func(r *summary.Result) { fail(r, 4) },
		func(r *summary.Result) { fail(r, 60) },
		func(r *summary.Result) { fail(r, 400); r.Counts.Successes = 0 },
		func(r *summary.Result) { r.Incomplete = "the disk is full" },
		func(r *summary.Result) { r.WasCancelled = true },
		func(r *summary.Result) {
			r.Metrics = append(r.Metrics, metrics.Metric{Tag: "good_request_fraction", Header: "Good Request Fraction",
				Unit: "ratio", Group: metrics.GroupDefault, Stats: metrics.Stats{Avg: 0.03}})
		},
		func(r *summary.Result) {
			r.Cached = &servermetrics.Cached{Metric: "vllm:prompt_tokens_cached", Share: 0.98, Repeats: 0}
		},
	}
	conditions = []func(r *summary.Result){
		func(r *summary.Result) { r.ClientHealth = verdict("valid", "") },
		func(r *summary.Result) { r.ClientHealth = verdict("client_limited", "it used all of its cores") },
		func(r *summary.Result) { r.ClientHealth = verdict("inconclusive", "the hypervisor gave 20 % away") },
		func(r *summary.Result) {
			waiting, running := 14.0, 8.0
			r.Servers = &servermetrics.Load{Waiting: &waiting, Running: &running,
				Signs: &servermetrics.Signs{Kind: "vLLM"}}
		},
		func(*summary.Result) {},
	}
)

func fail(r *summary.Result, n int64) {
	r.Counts.Errors = n
	r.Errors = []summary.ErrorCount{{Count: n, Error: record.Error{Code: 503, HasCode: true, Type: "Service Unavailable",
		Message: "no <worker> & no queue"}}}
}

func verdict(v, why string) artifact.Object {
	reasons := []any{}
	if why != "" {
		reasons = append(reasons, artifact.Object{{Key: "code", Value: "cpu"}, {Key: "leads_to", Value: v},
			{Key: "message", Value: why}, {Key: "advice", Value: "more cores"}})
	}
	return artifact.Object{{Key: "verdict", Value: v}, {Key: "reasons", Value: reasons}}
}

// TestAllOutputsSayTheSame stores forty runs and reads each with everything that says something about a run: one state
// and one first finding in all of them.
func TestAllOutputsSayTheSame(t *testing.T) {
	states := map[string]bool{}
	for i, outcome := range outcomes {
		for k, condition := range conditions {
			t.Run(fmt.Sprintf("%d.%d", i, k), func(t *testing.T) {
				r := &summary.Result{Run: summary.Run{BenchmarkID: fmt.Sprint(i, k), Counts: summary.Counts{Sent: 400, Successes: 396},
					InputConfig: artifact.Object{{Key: "phases", Value: []any{artifact.Object{{Key: "kind", Value: "profiling"},
						{Key: "concurrency", Value: 8}}}}}},
					Metrics: []metrics.Metric{{Tag: "request_count", Header: "Request Count", Unit: "requests",
						Group: metrics.GroupDefault, Stats: metrics.Stats{Avg: 396}}, {Tag: "effective_concurrency",
						Header: "Effective Concurrency", Unit: "requests", Group: metrics.GroupDefault, Stats: metrics.Stats{Avg: 7.9}}}}
				outcome(r)
				condition(r)
				j := r.Judge()
				states[j.State.Code] = true
				agree(t, r, &j)
			})
		}
	}
	if len(states) < 10 {
		t.Errorf("only the states %v are among them", states)
	}
}

// agree writes the files of a result and holds all that reads them against the judgement.
func agree(t *testing.T, r *summary.Result, j *judge.Judgement) {
	t.Helper()
	to := config.Artifacts{Dir: t.TempDir()}
	shown, err := files.Write(context.Background(), r, new(summary.State), files.Options{From: to, To: to, Page: new(html.Run)})
	if err != nil {
		t.Fatal(err)
	}
	first := j.First()
	same := func(where string, state judge.State, finding judge.Finding) {
		if state != j.State || finding.Code != first.Code || finding.Text != first.Text {
			t.Errorf("%s: %+v, %s: %s; want %+v, %s: %s", where, state, finding.Code, finding.Text, j.State, first.Code, first.Text)
		}
	}
	figures, err := summary.ReadFigures(to.Dir)
	if err != nil {
		t.Fatal(err)
	}
	same("summary", figures.Judgement.State, figures.Judgement.First())
	found, err := library.Find(to.Dir)
	if err != nil || len(found.Folders) != 1 {
		t.Fatalf("%v: %+v", err, found)
	}
	facts := library.Read(&found.Folders[0])
	same("list of runs", facts.State, facts.Finding)
	side, err := compare.Load(to.Dir)
	if err != nil {
		t.Fatal(err)
	}
	same("comparison", side.Runs[0].Figures.Judgement.State, side.Runs[0].Figures.Judgement.First())

	card, err := analysis.ReadCard(to.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := first.Level == judge.Bad || first.Level == judge.Warn; wrong && (len(card.Findings) == 0 ||
		card.Findings[0].Title != first.Title || card.Findings[0].Text != first.Text) {
		t.Errorf("card: %+v, want %s", card.Findings, first.Title)
	}
	page, err := os.ReadFile(shown.Files.HTML)
	if err != nil {
		t.Fatal(err)
	}
	in(t, "page", stdhtml.UnescapeString(string(page)), first.Title, first.Text)
	if table, err := os.ReadFile(to.Path(config.SummaryCSV)); j.State.Code != judge.StateComplete {
		in(t, "CSV", strings.ReplaceAll(string(table), `""`, `"`), j.State.Title, first.Title, first.Text)
	} else if err != nil {
		t.Error(err)
	}
	var why, short bytes.Buffer
	wide := console.Options{Width: 4000}
	if err := console.RenderWhy(&why, "run", &figures.Judgement, wide); err != nil {
		t.Fatal(err)
	}
	agreeElsewhere(t, to.Dir, j)
	in(t, "why", flat(why.String()), j.State.Title, first.Title, first.Text)
	if err := console.RenderShort(&short, r, wide); err != nil {
		t.Fatal(err)
	}
	if first.Level == judge.Bad || first.Level == judge.Warn {
		in(t, "short report", strings.ToLower(flat(short.String())), strings.ToLower(said(&first)))
	}
}

// agreeElsewhere holds the captions of plots, quick and a probe of capacity against the judgement of a run.
func agreeElsewhere(t *testing.T, dir string, j *judge.Judgement) {
	t.Helper()
	first := j.First()
	const line = `{"metadata":{"session_num":%d,"request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling"},` +
		`"metrics":{"request_latency":{"value":50,"unit":"ms"}},"error":null}` + "\n"
	records := ""
	for i := range 3 {
		begin := 1_790_000_000_000_000_000 + int64(i)*1e9
		records += fmt.Sprintf(line, i, begin, begin+50e6)
	}
	if err := os.WriteFile(filepath.Join(dir, "profile_export.jsonl"), []byte(records), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := plot.Find([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	c, err := plot.ParseConfig("plots.yaml", []byte("visualization: {single_run_defaults: [l], single_run_plots: {l: {type: scatter, "+
		"x: request_number, y: request_latency}}}"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := plot.Make(found, c)
	if err != nil || len(made.Figures) != 1 {
		t.Fatalf("%v: %+v", err, made)
	}
	if notes := strings.Join(made.Figures[0].Chart.Notes, "\n"); j.State.Wrong() {
		in(t, "caption", notes, first.Title, first.Text)
	} else if strings.Contains(notes, first.Title) {
		t.Errorf("a caption says of a run that nothing is wrong with: %s", notes)
	}

	limits := capacity.QuickLimits{TTFT: capacity.QuickLimit{Percentile: 95, Milliseconds: 1000},
		ITL: capacity.QuickLimit{Percentile: 95, Milliseconds: 50}}
	alone := capacity.Stage{Users: 1, Requests: 9, TTFT: 40, TTFTLimited: 40, ITL: 8, ITLLimited: 8}
	late := capacity.Stage{Users: 8, Requests: 9, TTFT: 2000, TTFTLimited: 2000, ITL: 8, ITLLimited: 8, Judged: *j}
	text := strings.Join(capacity.QuickAnswer([]capacity.Stage{alone, late}, capacity.QuickFacts{Limits: limits}), "\n")
	why, explained := j.Explains()
	switch {
	case j.Has(judge.CodeClient):
		in(t, "quick", text, "8 users the client was the bottleneck")
	case explained:
		in(t, "quick", text, why.Title, strings.TrimSuffix(why.Text, "."))
	}

	study := capacity.NewJudges(nil, 0, 0.95)
	probe := (&capacity.Study{Question: capacity.Question{Over: capacity.Concurrency}, Judges: study}).Line(1, 8,
		&series.Run{Judged: *j}, false)
	if explained {
		in(t, "probe", probe, why.Brief)
	}
}

// said is by which words the short report, which has little room, says a finding.
func said(f *judge.Finding) string {
	switch f.Code {
	case judge.CodeAllFailed:
		return "400 failed" // in its headline, with the errors
	case judge.CodeInterrupted:
		return strings.TrimPrefix(f.Title, "Run ")
	case judge.CodeClient:
		return "client limited"
	case judge.CodeDoubtful:
		return "inconclusive"
	case judge.CodeQueue, judge.CodeConcurrency:
		return f.Brief
	}
	return f.Text
}

// flat joins the lines of a text.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func in(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s has no %q:\n%.2000s", where, part, text)
		}
	}
}
