package page

import "strconv"

// vllmFamilies are those of vLLM's metrics page.
func vllmFamilies(kv memory) []family {
	lengthHist := func(name, help string, of quantity) family { return hist(name, help, of, vllmLength) }
	hits := (*totals).cached
	return []family{
		gauge("vllm:num_requests_running", "Requests in the running batch.", (*totals).running),
		gauge("vllm:num_requests_waiting", "Requests that wait to be scheduled.", waitingRequests),
		split("vllm:num_requests_waiting_by_reason", kGauge, "Waiting requests by what they wait for.",
			where("reason", "capacity", waitingRequests), where("reason", "deferred", constant(0))),
		split("vllm:engine_sleep_state", kGauge, "1 for the state that the engine is in.",
			where("sleep_state", "awake", constant(1)), where("sleep_state", "weights_offloaded", constant(0)),
			where("sleep_state", "discard_all", constant(0))),
		gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", kvUsage),
		total("vllm:prefix_cache_queries", "Prompt tokens looked up in the prefix cache.", sum(cPrompt)),
		total("vllm:prefix_cache_hits", "Prompt tokens found in the prefix cache.", hits),
		total("vllm:external_prefix_cache_queries", "Prompt tokens looked up at the KV connector.", constant(0)),
		total("vllm:external_prefix_cache_hits", "Prompt tokens found at the KV connector.", constant(0)),
		total("vllm:mm_cache_queries", "Items looked up in the multimodal cache.", constant(0)),
		total("vllm:mm_cache_hits", "Items found in the multimodal cache.", constant(0)),
		total("vllm:num_preemptions", "Requests put off for lack of memory.", sum(cPreempted)),
		total("vllm:prompt_tokens", "Prompt tokens processed.", sum(cPrompt)),
		total("vllm:prompt_tokens_cached", "Prompt tokens taken from a cache.", hits),
		split("vllm:prompt_tokens_by_source", kCounter, "Prompt tokens by where their state came from.",
			where("source", "local_compute", func(t *totals) float64 { return float64(t.count[cPrompt]) - hits(t) }),
			where("source", "local_cache_hit", hits), where("source", "external_kv_transfer", constant(0))),
		total("vllm:generation_tokens", "Tokens generated.", sum(cGenerated)),
		split("vllm:request_success", kCounter, "Requests that ended, by how they did.",
			where("finished_reason", "stop", sum(cStop)), where("finished_reason", "length", sum(cLength)),
			where("finished_reason", "abort", sum(cAbort)), where("finished_reason", "error", sum(cError)),
			where("finished_reason", "repetition", constant(0))),
		lengthHist("vllm:request_prompt_tokens", "Prompt tokens of a request.", qPrompt),
		lengthHist("vllm:request_generation_tokens", "Tokens generated for a request.", qOutput),
		hist("vllm:iteration_tokens_total", "Tokens of an engine step.", qStep, vllmStep),
		lengthHist("vllm:request_max_num_generation_tokens", "Most tokens of a request's replies.", qOutput),
		lengthHist("vllm:request_params_max_tokens", "The max_tokens that requests give.", qLimit),
		hist("vllm:time_to_first_token_seconds", "Arrival to the first token.", qTTFT, vllmTTFT),
		hist("vllm:inter_token_latency_seconds", "Time between two tokens.", qITL, vllmITL),
		hist("vllm:time_per_output_token_seconds", "Older name of inter_token_latency_seconds.", qITL, vllmITL),
		hist("vllm:request_time_per_output_token_seconds", "Mean time per token after the first.", qTPOT, vllmITL),
		hist("vllm:e2e_request_latency_seconds", "Arrival to the end of the reply.", qE2E, vllmLatency),
		hist("vllm:request_queue_time_seconds", "Time spent waiting.", qQueue, vllmLatency),
		hist("vllm:request_inference_time_seconds", "Time spent running.", qInference, vllmLatency),
		hist("vllm:request_prefill_time_seconds", "Start of running to the first token.", qPrefill, vllmLatency),
		hist("vllm:request_decode_time_seconds", "First token to the last.", qDecode, vllmLatency),
		gauge("vllm:cache_config_info", "How the cache is set up.", constant(1)).with(labels{
			{"engine", "0"}, {"block_size", strconv.Itoa(BlockTokens)}, {"cache_dtype", "auto"},
			{"enable_prefix_caching", pythonBool(kv.caches)}, {"gpu_memory_utilization", "0.9"},
			{"num_gpu_blocks", strconv.Itoa(kv.blocks)}}),
		gauge("process_start_time_seconds", "Start of the process since the Unix epoch.",
			func(t *totals) float64 { return t.startedAt }).with(labels{}),
	}
}

func pythonBool(v bool) string {
	if v {
		return "True"
	}
	return "False"
}
