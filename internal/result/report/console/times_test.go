package console

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

func TestTheShortReportSaysWhereTheTimeWent(t *testing.T) {
	r := &summary.Result{Metrics: []metrics.Metric{
		{Tag: "time_to_first_token", Unit: "ms", Distribution: true, Stats: metrics.Stats{Avg: 200, Count: 100}},
		{Tag: "request_latency", Unit: "ms", Distribution: true, Stats: metrics.Stats{Avg: 900, Count: 100}},
	}}
	r.Counts.Successes, r.Counts.Sent = 100, 100
	report := func() string {
		var b bytes.Buffer
		if err := RenderShort(&b, r, Options{Width: 120}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if text := report(); strings.Contains(text, "  time  ") {
		t.Errorf("nothing is known:\n%s", text)
	}
	second := func(v float64) *servermetrics.StageTime {
		return &servermetrics.StageTime{Seconds: v, Count: 100, Metric: "m"}
	}
	r.Stages = &servermetrics.Stages{Engines: &servermetrics.Tier{Kind: "vLLM", TTFT: second(0.18),
		Queue: second(0.12), Prefill: second(0.05)}}
	want := "time         TTFT 200 ms on average: queue 120 · prefill 50.0 · frontend 10.0 · not known 20.0"
	if text := report(); !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
	r.Counts.Successes = 10
	if text := report(); strings.Contains(text, "queue") {
		t.Errorf("the server's times are of other requests:\n%s", text)
	}
}

func TestTimesOfTheCellsOfASweep(t *testing.T) {
	s := &answer.Sweep{Title: "m", Kind: "Sweep", Parameters: []answer.Parameter{{Name: "concurrency"}}}
	for i := range 10 {
		s.Cells = append(s.Cells, answer.Cell{Label: fmt.Sprint("concurrency ", i), Values: []any{i}, Runs: 1,
			Times: &timesplit.Times{TTFT: timesplit.Fit(100, []timesplit.Part{{Stage: timesplit.Queue, Milliseconds: 60, Source: "m"}})}})
	}
	var out strings.Builder
	if err := RenderSweepShort(&out, s, Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"time         concurrency 0: TTFT 100 ms on average: queue 60.0 · not known 40.0", "concurrency 7: TTFT",
		"and 2 other cells"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
