package judge_test

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/judge"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

func of(v float64) *float64 { return &v }

func scalar(tag string, v float64) metrics.Metric {
	return metrics.Metric{Tag: tag, Stats: metrics.Stats{Avg: v, Count: 1}}
}

// spread is a distribution with a median and a 99th percentile.
func spread(tag string, p50, p99 float64) metrics.Metric {
	m := scalar(tag, p50)
	m.Distribution = true
	for i, rank := range metrics.PercentileRanks {
		if m.Stats.Percentiles[i] = p50; rank >= 99 {
			m.Stats.Percentiles[i] = p99
		}
	}
	return m
}

// split is where a time went.
func split(ms float64, parts ...timesplit.Part) *timesplit.Split { return timesplit.Fit(ms, parts) }

func stage(s timesplit.Stage, ms float64) timesplit.Part {
	return timesplit.Part{Stage: s, Milliseconds: ms, Known: true, Source: "vllm:" + string(s)}
}

// vllm are the facts of a run at a concurrency of 8 that a vLLM kept up with.
func vllm(change func(f *judge.Facts)) judge.Facts {
	f := judge.Facts{Successes: 400, Concurrency: 8, Streamed: true,
		Metrics: []metrics.Metric{scalar("effective_concurrency", 7.9), spread("inter_chunk_latency", 10, 12),
			scalar("inter_token_latency", 10)},
		Client: trust.Document{Verdict: trust.Valid},
		Servers: &servermetrics.Load{Running: of(7.8), RunningMax: of(8), Waiting: of(0), WaitingMax: of(0),
			Signs: &servermetrics.Signs{Kind: "vLLM"}},
		Times: &timesplit.Times{TTFT: split(50, stage(timesplit.Prefill, 45)),
			Latency: split(1050, stage(timesplit.Prefill, 45), stage(timesplit.Decode, 1000))}}
	if change != nil {
		change(&f)
	}
	return f
}

func TestCauses(t *testing.T) {
	for name, c := range map[string]struct {
		facts  judge.Facts
		code   string
		level  judge.Level
		text   string
		advice string
		state  string
	}{
		"nothing": {vllm(nil), judge.CodeConcurrency, judge.Good, "the server had no queue", "aiperf capacity", judge.StateComplete},
		"slots": {vllm(func(f *judge.Facts) { f.Servers.Waiting, f.Servers.WaitingMax = of(12), of(16) }), judge.CodeQueue,
			judge.Warn, "12 requests waited", "--max-num-seqs of vLLM", judge.StateLimited},
		"slots of SGLang": {vllm(func(f *judge.Facts) {
			f.Servers.Waiting, f.Servers.Signs.Kind = of(12), "SGLang"
		}), judge.CodeQueue, judge.Warn, "12 requests waited", "--max-running-requests of SGLang", judge.StateLimited},
		"slots of an unknown server": {vllm(func(f *judge.Facts) {
			f.Servers.Waiting, f.Servers.Signs = of(12), nil
		}), judge.CodeQueue, judge.Warn, "", "batch size", judge.StateLimited},
		"preemptions before the queue": {vllm(func(f *judge.Facts) {
			f.Servers.Waiting, f.Servers.Preemptions = of(12), of(30)
		}), judge.CodeKVCache, judge.Warn, "30 preemptions", "--gpu-memory-utilization", judge.StateLimited},
		"refused": {vllm(func(f *judge.Facts) {
			f.Failed, f.Failures = 100, []judge.Failure{{Name: "429 Too Many Requests", Code: 429, Count: 100}}
		}), judge.CodeRateLimit, judge.Bad, "100 of 500 requests (20 %)", "--max-num-queued-reqs", judge.StateFailed},
		"refused by a full queue": {vllm(func(f *judge.Facts) {
			f.Failed, f.Failures = 8, []judge.Failure{{Name: "503 Service Unavailable", Code: 503, Count: 8,
				Message: "The request queue is full"}}
		}), judge.CodeRateLimit, judge.Warn, "8 of 408", "limit", judge.StateSomeFailed},
		"another 503": {vllm(func(f *judge.Facts) {
			f.Failed, f.Failures = 100, []judge.Failure{{Name: "503", Code: 503, Count: 100, Message: "no worker"}}
		}), judge.CodeConcurrency, judge.Plain, "", "find out why", judge.StateFailed},
		"prefill": {vllm(func(f *judge.Facts) {
			f.Times = &timesplit.Times{TTFT: split(800, stage(timesplit.Prefill, 750)), Latency: split(1200)}
		}), judge.CodePrefill, judge.Warn, "750 ms of 800 ms", "--tensor-parallel-size", judge.StateLimited},
		"a short prefill": {vllm(func(f *judge.Facts) {
			f.Times = &timesplit.Times{TTFT: split(80, stage(timesplit.Prefill, 75)), Latency: split(100)}
		}), judge.CodeConcurrency, judge.Good, "", "", judge.StateComplete},
		"decoding": {vllm(func(f *judge.Facts) {
			f.Servers.Running = of(30)
			f.Metrics[2] = scalar("inter_token_latency", 50)
		}), judge.CodeDecodeBatch, judge.Plain, "a token each 50 ms, with 30 requests", "--data-parallel-size", judge.StateComplete},
		"stalls": {vllm(func(f *judge.Facts) {
			f.Metrics[1] = spread("inter_chunk_latency", 10, 260)
			f.Times.TTFT = split(300, stage(timesplit.Prefill, 250))
		}), judge.CodePrefillStalls, judge.Warn, "260 ms, where the usual one was 10 ms", "chunked-prefill", judge.StateLimited},
		"gaps that no prefill explains": {vllm(func(f *judge.Facts) {
			f.Metrics[1] = spread("inter_chunk_latency", 10, 260)
		}), judge.CodeConcurrency, judge.Good, "", "", judge.StateComplete},
		"shared prefixes that cost little": {vllm(func(f *judge.Facts) {
			f.Cached = &servermetrics.Cached{Metric: "vllm:prompt_tokens_cached", Share: 0.01, Repeats: 0.9}
			f.Times.TTFT, f.Times.Latency = split(28, stage(timesplit.Prefill, 20)), split(150)
		}), judge.CodeConcurrency, judge.Good, "", "", judge.StateComplete},
		"shared prefixes": {vllm(func(f *judge.Facts) {
			f.Times.TTFT, f.Times.Latency = split(90, stage(timesplit.Prefill, 80)), split(400)
			f.Cached = &servermetrics.Cached{Metric: "vllm:prompt_tokens_cached", Share: 0.01, Repeats: 0.9}
		}), judge.CodePrefixCache, judge.Warn, "90 % of the prompts' text", "--enable-prefix-caching", judge.StateLimited},
		"the data set that repeats": {vllm(func(f *judge.Facts) {
			f.MeanRepeats = 4
			f.Cached = &servermetrics.Cached{Metric: "vllm:prompt_tokens_cached", Share: 0.01, Repeats: 0.75}
		}), judge.CodeConcurrency, judge.Good, "", "", judge.StateComplete},
		"speculation": {vllm(func(f *judge.Facts) { f.Servers.Signs.Acceptance = of(0.1) }), judge.CodeSpeculation, judge.Warn,
			"Only 10 %", "num_speculative_tokens", judge.StateLimited},
		"good speculation": {vllm(func(f *judge.Facts) { f.Servers.Signs.Acceptance = of(0.7) }), judge.CodeConcurrency,
			judge.Good, "", "", judge.StateComplete},
		"replicas": {vllm(func(f *judge.Facts) {
			f.Servers.Signs.Replicas = []servermetrics.Replica{{Name: "a", Requests: 200, ITL: 0.01}, {Name: "b", Requests: 200,
				ITL: 0.03}, {Name: "idle", Requests: 2, ITL: 0.5}}
		}), judge.CodeUneven, judge.Warn, "b took a token each 30 ms where a took 10 ms", "replica", judge.StateLimited},
		"network": {vllm(func(f *judge.Facts) {
			f.Times.TTFT = split(100, stage(timesplit.Prefill, 45), stage(timesplit.Network, 50))
		}), judge.CodeNetwork, judge.Warn, "50 ms of 100 ms", "closer", judge.StateLimited},
		"a way that only a scrape shows": {vllm(func(f *judge.Facts) {
			f.Times.TTFT = split(200, stage(timesplit.Prefill, 45))
			f.Servers.Signs.FastestScrape = of(0.160)
		}), judge.CodeNetwork, judge.Warn, "155 ms of 200 ms", "closer", judge.StateLimited},
		"a front end": {vllm(func(f *judge.Facts) {
			f.Times.TTFT = split(200, stage(timesplit.Prefill, 45), stage(timesplit.Frontend, 120))
		}), judge.CodeFrontend, judge.Warn, "120 ms of 200 ms", "--api-server-count", judge.StateLimited},
		"a front end for the first requests only": {vllm(func(f *judge.Facts) {
			f.Times.TTFT = split(101, stage(timesplit.Prefill, 30), stage(timesplit.Frontend, 58))
			f.Metrics = append(f.Metrics, spread("time_to_first_token", 31, 442))
		}), judge.CodeConcurrency, judge.Good, "the server had no queue", "aiperf capacity", judge.StateComplete},
		"an event loop": {vllm(func(f *judge.Facts) {
			f.Servers.Signs.LoopDelay, f.Servers.Signs.Kind = of(0.05), "Dynamo"
		}), judge.CodeFrontend, judge.Warn, "50 ms late", "dynamo.frontend", judge.StateLimited},
		"a cold start": {vllm(func(f *judge.Facts) {
			f.Client.Reasons = []trust.ReasonDocument{{Code: "cold_start", LeadsTo: trust.Valid, Message: "the first 8 requests took 90 × " +
				"the median", Advice: "keep them out with a warm-up"}}
		}), judge.CodeColdStart, judge.Plain, "The first 8 requests", "warm-up", judge.StateComplete},
		"too few": {vllm(func(f *judge.Facts) { f.Metrics[0] = scalar("effective_concurrency", 3) }), judge.CodeTooFew, judge.Plain,
			"of a concurrency of 8", "more requests", judge.StateComplete},
		"heat": {vllm(func(f *judge.Facts) {
			f.Devices = []gpu.Condition{{Name: "GPU 0", HeatLimited: of(0.01)}, {Name: "GPU 1", HeatLimited: of(0.4), Temperature: of(88)}}
		}), judge.CodeGPUHeat, judge.Warn, "GPU 1 ran slower because of heat in 40 % of the time, at up to 88 °C", "cooling",
			judge.StateLimited},
		"power": {vllm(func(f *judge.Facts) {
			f.Devices = []gpu.Condition{{Name: "GPU 0", PowerLimited: of(0.9), Power: of(699)}}
		}),
			judge.CodeGPUPower, judge.Warn, "90 % of the time, at 699 W", "power limit", judge.StateLimited},
		"clocks": {vllm(func(f *judge.Facts) {
			f.Devices = []gpu.Condition{{Name: "GPU 0", Clock: of(900), HighestClock: of(1980)}}
		}), judge.CodeGPUClocks, judge.Warn, "900 MHz on average, of 1,980 MHz", "nvidia-smi -rgc", judge.StateLimited},
		"memory": {vllm(func(f *judge.Facts) { f.Devices = []gpu.Condition{{Name: "GPU 0", MemoryUsed: of(0.99)}} }),
			judge.CodeGPUMemory, judge.Warn, "99 % of the memory", "--gpu-memory-utilization", judge.StateLimited},
		"the client before the server": {vllm(func(f *judge.Facts) {
			f.Client = trust.Document{Verdict: trust.ClientLimited, Reasons: []trust.ReasonDocument{{Code: "cpu",
				LeadsTo: trust.ClientLimited, Message: "it used all cores", Advice: "more cores"}}}
			f.Servers.Waiting = of(12)
		}), judge.CodeClient, judge.Bad, "it used all cores", "more cores", judge.StateClient},
	} {
		t.Run(name, func(t *testing.T) {
			j := judge.Judge(&c.facts)
			causes := j.OfKind(judge.Cause)
			if len(causes) == 0 {
				t.Fatalf("no cause in %+v", j)
			}
			first := causes[0]
			if first.Code != c.code || first.Level != c.level || !strings.Contains(first.Text, c.text) ||
				!strings.Contains(first.Advice, c.advice) {
				t.Errorf("%+v, want %s %s, %q, %q", first, c.code, c.level, c.text, c.advice)
			}
			if j.State.Code != c.state {
				t.Errorf("state %+v, want %s", j.State, c.state)
			}
			for _, f := range j.Findings {
				if f.Title == "" || f.Text != "" && !strings.HasSuffix(f.Text, ".") || strings.HasSuffix(f.Advice, ".") ||
					strings.HasSuffix(f.Confirm, ".") || strings.HasSuffix(f.Brief, ".") {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// TestWorstFirst: the state is that of the first finding, and red never stands behind amber of the same run.
func TestWorstFirst(t *testing.T) {
	bad := func(f *judge.Facts) {
		f.Failed, f.Failures = 200, []judge.Failure{{Name: "500", Code: 500, Count: 200}}
		f.Metrics = append(f.Metrics, scalar("good_request_fraction", 0.1))
		f.Servers.Waiting = of(12)
		f.Cached = &servermetrics.Cached{Metric: "cached", Share: 0.9, Repeats: 0}
	}
	for _, c := range []struct {
		change func(*judge.Facts)
		codes  string
		state  string
	}{
		{bad, "errors objectives_missed queue warm_cache", judge.StateFailed},
		{func(f *judge.Facts) { bad(f); f.Failed = 6; f.Failures[0].Count = 6 }, "objectives_missed errors queue warm_cache",
			judge.StateMissed},
		{func(f *judge.Facts) { bad(f); f.Cancelled = true }, "interrupted errors objectives_missed queue warm_cache",
			judge.StateStopped},
		{func(f *judge.Facts) { bad(f); f.Running = true }, "errors objectives_missed queue warm_cache", judge.StateRunning},
		{func(f *judge.Facts) { bad(f); f.Successes = 0 }, "all_failed objectives_missed warm_cache", judge.StateAllFailed},
		{func(f *judge.Facts) {
			f.Cached = &servermetrics.Cached{Metric: "cached", Share: 0.9, Repeats: 0}
		}, "warm_cache concurrency", judge.StateWarm},
	} {
		facts := vllm(c.change)
		j := judge.Judge(&facts)
		var codes []string
		for _, f := range j.Findings {
			if f.Kind != judge.Reliance && f.Code != judge.CodeComplete {
				codes = append(codes, f.Code)
			}
		}
		if got := strings.Join(codes, " "); got != c.codes || j.State.Code != c.state {
			t.Errorf("%s, %s, want %s, %s", got, j.State.Code, c.codes, c.state)
		}
	}
}

// TestNotSeen names what would have shown more, and nothing that was seen.
func TestNotSeen(t *testing.T) {
	what := func(f judge.Facts) string {
		j := judge.Judge(&f)
		var all []string
		for _, u := range j.NotSeen {
			all = append(all, u.What+": "+u.How)
		}
		return strings.Join(all, "\n")
	}
	nothing := what(judge.Facts{Successes: 10})
	for _, part := range []string{"--server-metrics", "--gpu-telemetry", "--streaming", "--network-latency-automatic"} {
		if !strings.Contains(nothing, part) {
			t.Errorf("no %s in\n%s", part, nothing)
		}
	}
	seen := what(vllm(func(f *judge.Facts) {
		f.Devices = []gpu.Condition{{Name: "GPU 0"}}
		f.Cached = &servermetrics.Cached{}
		f.Times.TTFT = split(50, stage(timesplit.Prefill, 40), stage(timesplit.Network, 1))
	}))
	if seen != "" {
		t.Errorf("seen all, and yet\n%s", seen)
	}
}
