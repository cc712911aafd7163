package summary_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

// timed is a result of a hundred requests with a mean time to the first token of 200 ms and a latency of 900 ms.
func timed(tier servermetrics.Tier) *summary.Result {
	mean := func(tag string, ms float64) metrics.Metric {
		return metrics.Metric{Tag: tag, Unit: "ms", Stats: metrics.Stats{Avg: ms}}
	}
	r := &summary.Result{Metrics: []metrics.Metric{mean("time_to_first_token", 200), mean("request_latency", 900)}}
	r.Counts.Successes = 100
	if tier.Kind != "" {
		r.Stages = &servermetrics.Stages{Engines: &tier}
	}
	return r
}

func took(seconds, count float64) *servermetrics.StageTime {
	return &servermetrics.StageTime{Seconds: seconds, Count: count, Metric: "m"}
}

func shares(s *timesplit.Split) string {
	var words []string
	if s != nil {
		for _, p := range s.Parts {
			words = append(words, fmt.Sprintf("%s %g", p.Stage, math.Round(p.Milliseconds*1e6)/1e6))
		}
	}
	return strings.Join(words, " ")
}

func TestTimesOfClientAndServers(t *testing.T) {
	whole := servermetrics.Tier{Kind: "vLLM", TTFT: took(0.18, 100), Latency: took(0.85, 100), Queue: took(0, 100),
		Prefill: took(0.17, 100), Decode: took(0.66, 100)}
	others := servermetrics.Tier{Kind: "vLLM", Latency: took(0.5, 300), Queue: took(0.1, 300)}
	longer := servermetrics.Tier{Kind: "vLLM", TTFT: took(0.3, 100), Queue: took(0.25, 100)}
	first := servermetrics.Tier{Kind: "vLLM", TTFT: took(0.18, 95)}
	for name, c := range map[string]struct {
		tier                servermetrics.Tier
		rtt                 float64
		ttft, latency, note string
	}{
		"all stages": {whole, 5, "network 5 frontend 10 queue 0 prefill 170 unknown 15",
			"network 5 frontend 20 queue 0 prefill 170 decode 660 unknown 45", ""},
		"a round trip that was measured twice": {whole, 50, "network 20 frontend 10 queue 0 prefill 170",
			"network 50 frontend 20 queue 0 prefill 170 decode 660", ""},
		"decode by the client's clock": {first, 0, "server 180 unknown 20", "decode 700 server 180 unknown 20",
			"means of those"},
		"other clients":     {others, 5, "network 5 unknown 195", "network 5 decode 700 unknown 195", "others use them too"},
		"of other requests": {longer, 5, "network 5 unknown 195", "", "not the same requests"},
		"the network alone": {servermetrics.Tier{}, 5, "network 5 unknown 195", "network 5 decode 700 unknown 195", ""},
		"nothing":           {},
	} {
		r := timed(c.tier)
		if c.rtt > 0 {
			r.Metrics = append(r.Metrics, metrics.Metric{Tag: "network_rtt", Stats: metrics.Stats{Avg: c.rtt}})
		}
		times := r.Times()
		if times == nil {
			times = &timesplit.Times{}
		}
		if got := shares(times.TTFT); got != c.ttft {
			t.Errorf("%s: first token %q, want %q", name, got, c.ttft)
		}
		if got := shares(times.Latency); c.latency != "" && got != c.latency {
			t.Errorf("%s: latency %q, want %q", name, got, c.latency)
		}
		if !strings.Contains(times.Note, c.note) || c.note == "" && times.Note != "" {
			t.Errorf("%s: note %q", name, times.Note)
		}
	}
}
