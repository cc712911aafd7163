package capacity_test

import (
	"testing"
	"time"

	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

func TestLineSaysWhatAProbeShowed(t *testing.T) {
	q := question(t)
	q.Limits, q.Implied = append(q.Limits[:1:1], capacity.ErrorRate(0.01)), 1 // the time to first token
	s, err := capacity.New(q)
	if err != nil {
		t.Fatal(err)
	}
	limit := q.Limits[0]
	stats := func(v float64) metrics.Stats {
		return metrics.Stats{Avg: v, Count: 2, Percentiles: metrics.Percentiles{v, v, v, v, v, v, v, v, v}}
	}
	for _, c := range []struct {
		want     string
		ttft     float64
		errors   float64
		err      string
		verdict  capacity.Verdict
		feasible bool
	}{
		{want: "Probe 3: concurrency 40 meets the limits: Time to First Token p95 120 ms (limit 300 ms)", ttft: 120,
			feasible: true},
		{want: "Probe 3: concurrency 40 is beyond the limits: Time to First Token p95 900 ms (limit 300 ms); " +
			"over 99.9 % sure after 7 s, 53 s saved", ttft: 900,
			verdict: capacity.Verdict{EndedEarly: true, Confidence: 0.99999, Saved: 53 * time.Second}},
		{want: "Probe 3: concurrency 40 is beyond the limits: Request Error Rate 50 % (limit 1 %)", ttft: 120, errors: 50},
		{want: "Probe 3: concurrency 40 does not count: the client was the bottleneck; the server may be faster than the " +
			"figures say",
			verdict: capacity.Verdict{ClientLimited: true}},
		{want: "Probe 3: concurrency 40 is beyond the limits: server overloaded; the work grew",
			verdict: capacity.Verdict{Saturated: true, Evidence: "the work grew"}},
		{want: "Probe 3: concurrency 40 does not count: no connection", err: "no connection"},
	} {
		r := &series.Run{Info: summary.RunInfo{RunLabel: "run"}, Err: c.err, Metrics: []metrics.Metric{
			{Tag: limit.Metric, Unit: "ms", Distribution: true, Stats: stats(c.ttft)}, {Tag: "request_error_rate", Unit: "%", Stats: stats(c.errors)}}}
		s.Take("run", c.verdict, 7*time.Second)
		if got := s.Line(3, 40, r, c.feasible); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if got := s.Opening(); got != "Searching the largest concurrency from 1 to 100; probes of at most 1 min 0 s, 1 h 0 min "+
		"in all\nLimits: Time to First Token p95 ≤ 300 ms, Request Error Rate ≤ 1 %" {
		t.Error(got)
	}
}

func TestProbesFitTheBudget(t *testing.T) {
	for _, c := range []struct {
		budget, probe, warmup time.Duration
		wantProbe, wantWarmup time.Duration
	}{
		{10 * time.Minute, -1, -1, time.Minute, 15 * time.Second},
		{time.Hour, -1, -1, time.Minute, 15 * time.Second},
		{2 * time.Minute, -1, -1, 12 * time.Second, 3 * time.Second},
		{2 * time.Minute, time.Minute, 0, time.Minute, 0},
		{10 * time.Minute, 20 * time.Second, -1, 20 * time.Second, 5 * time.Second},
	} {
		q := capacity.Question{Budget: c.budget, Probe: c.probe, Warmup: c.warmup}
		if q.FitProbes(); q.Probe != c.wantProbe || q.Warmup != c.wantWarmup {
			t.Errorf("%+v: %v and %v", c, q.Probe, q.Warmup)
		}
	}
}
