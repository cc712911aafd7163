package servermetrics

import (
	"testing"

	"aiperf/internal/watch/prom"
)

// TestNowOfEachServer: gauges of the newest scrape, rates over the stretch that is asked for, whatever the server calls
// them.
func TestNowOfEachServer(t *testing.T) {
	for _, c := range []struct {
		kind                            string
		running, waiting, cache         string // gauges
		requests, prompt, generated     string // counters
		wantRequests, wantIn, wantCache float64
	}{
		{"vLLM", "vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc",
			"vllm:request_success", "vllm:prompt_tokens", "vllm:generation_tokens", 2, 20, 50},
		{"SGLang", "sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage",
			"sglang:num_requests", "sglang:prompt_tokens", "sglang:generation_tokens", 2, 20, 50},
		{"TensorRT-LLM", "trtllm_num_requests_running", "trtllm_num_requests_waiting", "trtllm_kv_cache_utilization",
			"trtllm_request_success", "trtllm_prompt_tokens", "trtllm_generation_tokens", 2, 20, 50},
		{"Dynamo", "dynamo_frontend_inflight_requests", "dynamo_frontend_queued_requests",
			"dynamo_component_gpu_cache_usage_percent", "dynamo_frontend_requests", "", "dynamo_frontend_output_tokens", 2, -1,
			50},
		{"llama.cpp", "llamacpp:requests_processing", "llamacpp:requests_deferred", "llamacpp:kv_cache_usage_ratio", "",
			"llamacpp:prompt_tokens", "llamacpp:tokens_predicted", -1, 20, 50},
		{"Triton", "", "nv_inference_pending_request_count", "", "nv_inference_request_success", "", "", 2, -1, -1},
	} {
		t.Run(c.kind, func(t *testing.T) {
			series := map[string]*prom.Series{}
			for _, name := range []string{c.running, c.waiting, c.cache} {
				series[name] = gaugeOf(name)
			}
			for _, name := range []string{c.requests, c.prompt, c.generated} {
				series[name] = counterOf(name)
			}
			store := NewStore(Options{})
			for second := int64(0); second <= 60; second++ {
				// Before the stretch the counters grew a thousand times as fast.
				n := float64(second-40) + 1e6
				if second < 40 {
					n = 1e6 - 1000*float64(40-second)
				}
				values := map[string]float64{c.running: 7, c.waiting: 3, c.cache: 0.5, c.requests: 2 * n, c.prompt: 20 * n,
					c.generated: 30 * n}
				samples := map[*prom.Series]float64{}
				for name, s := range series {
					if name != "" {
						samples[s] = values[name]
					}
				}
				store.Endpoint("a").Add(scrapeOf(100+second, samples))
			}
			now := store.Now(10e9)
			if now.Kind != c.kind {
				t.Errorf("the kind is %q", now.Kind)
			}
			running, generated := 7.0, 30.0
			if c.running == "" {
				running = -1
			}
			if c.generated == "" {
				generated = -1
			}
			wantLive(t, "running", now.Running, running)
			wantLive(t, "waiting", now.Waiting, 3)
			wantLive(t, "cache", now.KVUsage, c.wantCache)
			wantLive(t, "requests", now.RequestRate, c.wantRequests)
			wantLive(t, "input", now.InputRate, c.wantIn)
			wantLive(t, "output", now.OutputRate, generated)
		})
	}
}

func TestNowOfOneScrape(t *testing.T) {
	store := NewStore(Options{})
	if now := store.Now(10e9); now.Kind != "" || now.Running != nil {
		t.Errorf("of no scrape: %+v", now)
	}
	store.Endpoint("a").Add(scrapeOf(100, map[*prom.Series]float64{gaugeOf("vllm:num_requests_running"): 4,
		counterOf("vllm:request_success"): 9}))
	now := store.Now(10e9)
	wantLive(t, "running", now.Running, 4)
	wantLive(t, "requests", now.RequestRate, -1)
	if now.Kind != "vLLM" {
		t.Errorf("the kind is %q", now.Kind)
	}
}

// The metrics of a server that has had no request yet name it, and its first requests have a rate.
func TestNowOfAServerWithoutRequests(t *testing.T) {
	store := NewStore(Options{})
	idle, done := gaugeOf("dynamo_frontend_disconnected_clients"),
		labelled(counterOf("dynamo_frontend_requests"), "status", "success")
	for second := range int64(5) {
		store.Endpoint("a").Add(scrapeOf(100+second, map[*prom.Series]float64{idle: 0}))
	}
	now := store.Now(10e9)
	wantLive(t, "requests of none", now.RequestRate, -1)
	if now.Kind != "Dynamo" || now.FromNS != 100e9 || now.ToNS != 104e9 {
		t.Errorf("%q from %d to %d", now.Kind, now.FromNS, now.ToNS)
	}
	for second := range int64(5) {
		store.Endpoint("a").Add(scrapeOf(105+second, map[*prom.Series]float64{idle: 0, done: 18 * float64(second+1)}))
	}
	now = store.Now(10e9)
	wantLive(t, "requests", now.RequestRate, 10) // 90 in nine seconds
	if now.FromNS != 100e9 || now.ToNS != 109e9 {
		t.Errorf("from %d to %d", now.FromNS, now.ToNS)
	}
}

// BenchmarkNow is a look at a page of a server in use, which aiperf top does once a second.
func BenchmarkNow(b *testing.B) {
	store := NewStore(Options{})
	requests, running := counterOf("vllm:request_success"), gaugeOf("vllm:num_requests_running")
	for second := range int64(70) {
		store.Endpoint("a").Add(scrapeOf(second, map[*prom.Series]float64{requests: float64(second), running: 3}))
	}
	for b.Loop() {
		store.Now(10e9)
	}
}
