package page

// sglangFamilies are those of SGLang's metrics page.
func sglangFamilies(kv memory) []family {
	scheduler := labels{{"model_name", "$model"}, {"engine_type", "unified"}, {"tp_rank", "0"}, {"pp_rank", "0"},
		{"moe_ep_rank", "0"}}
	state := func(name, help string, value func(*totals) float64) family {
		return gauge(name, help, value).with(scheduler)
	}
	capacity := float64(kv.blocks * BlockTokens)
	held := func(t *totals) float64 { return kvUsage(t) * capacity }
	return []family{
		state("sglang:num_running_reqs", "Requests in the running batch.", (*totals).running),
		state("sglang:num_queue_reqs", "Requests in the queue.", waitingRequests),
		state("sglang:num_grammar_queue_reqs", "Requests that wait for their grammar.", constant(0)),
		state("sglang:num_paused_reqs", "Requests put aside.", constant(0)),
		state("sglang:num_retracted_reqs", "Requests sent back to the queue.", sum(cPreempted)),
		state("sglang:num_used_tokens", "Tokens in the pool.", held),
		state("sglang:kv_used_tokens", "Tokens in the KV pool.", held),
		state("sglang:kv_available_tokens", "Free places in the KV pool.",
			func(t *totals) float64 { return capacity - held(t) }),
		state("sglang:token_usage", "Share of the pool in use.", func(t *totals) float64 { return held(t) / capacity }),
		state("sglang:gen_throughput", "Tokens generated per second.", func(t *totals) float64 { return t.throughput }),
		state("sglang:cache_hit_rate", "Share of the prompts that was cached.", hitRate),
		state("sglang:utilization", "Load of the scheduler.", func(t *totals) float64 { return held(t) / capacity }),
		state("sglang:max_total_num_tokens", "Size of the pool.", constant(capacity)),
		state("sglang:page_size", "Tokens of a page.", constant(BlockTokens)),
		state("sglang:context_len", "Longest context.", constant(modelLength)),
		total("sglang:prompt_tokens", "Prompt tokens processed.", sum(cPrompt)),
		total("sglang:generation_tokens", "Tokens generated.", sum(cGenerated)),
		split("sglang:cached_tokens", kCounter, "Prompt tokens by the cache they came from.",
			where("cache_source", "device", (*totals).cached), where("cache_source", "host", constant(0)),
			where("cache_source", "total", (*totals).cached)),
		split("sglang:realtime_tokens", kCounter, "Tokens by what was done for them.",
			where("mode", "prefill_compute", func(t *totals) float64 { return float64(t.count[cPrompt]) - t.cached() }),
			where("mode", "prefill_cache", (*totals).cached), where("mode", "decode", sum(cGenerated))),
		total("sglang:num_requests", "Requests that ended well.", (*totals).succeeded),
		total("sglang:num_aborted_requests", "Requests that were aborted.", sum(cAbort)),
		hist("sglang:prompt_tokens_histogram", "Prompt tokens of a request.", qPrompt, sglangTokens),
		hist("sglang:generation_tokens_histogram", "Tokens generated for a request.", qOutput, sglangTokens),
		hist("sglang:time_to_first_token_seconds", "Arrival to the first token.", qTTFT, sglangTTFT),
		hist("sglang:inter_token_latency_seconds", "Time between two tokens.", qITL, sglangITL),
		hist("sglang:e2e_request_latency_seconds", "Arrival to the end of the reply.", qE2E, sglangE2E),
		hist("sglang:queue_time_seconds", "Time in the queue.", qQueue, sglangQueue).with(scheduler),
		{name: "sglang:per_stage_req_latency_seconds", kind: kHistogram, help: "Time of a request in each stage.",
			layout: sglangStage, labels: scheduler, series: []series{
				{labels: labels{{"stage", "decode_waiting"}}, of: qQueue},
				{labels: labels{{"stage", "prefill_forward"}}, of: qPrefill}}},
	}
}
