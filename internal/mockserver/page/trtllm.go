package page

import (
	"aiperf/internal/mockserver/api"
	"strconv"
	"strings"
)

// trtllmFamilies are those of trtllm-serve.
func trtllmFamilies(prefix string, kv memory) []family {
	families := []family{
		split("request_success", kCounter, "Requests that ended, by how they did.",
			where("finished_reason", "stop", sum(cStop)), where("finished_reason", "length", sum(cLength)),
			where("finished_reason", "timeout", constant(0)), where("finished_reason", "cancelled", sum(cAbort))),
		hist("e2e_request_latency_seconds", "Arrival to the end of the reply.", qE2E, vllmLatency),
		hist("time_to_first_token_seconds", "Arrival to the first token.", qTTFT, vllmTTFT),
		hist("time_per_output_token_seconds", "Time between two tokens.", qITL, vllmITL),
		hist("request_queue_time_seconds", "Time spent waiting.", qQueue, vllmLatency),
		hist("request_prefill_time_seconds", "Start of running to the first token.", qPrefill, vllmTTFT),
		hist("request_decode_time_seconds", "First token to the last.", qDecode, vllmLatency),
		hist("request_inference_time_seconds", "Time spent running.", qInference, vllmLatency),
		total("prompt_tokens", "Prompt tokens processed.", sum(cPrompt)),
		total("generation_tokens", "Tokens generated.", sum(cGenerated)),
		total("num_aborted_requests", "Requests whose client left.", sum(cAbort)),
		hist("kv_transfer_latency_seconds", "Time of a transfer of KV cache.", qNever, vllmTTFT),
		hist("kv_transfer_bytes", "Bytes of a transfer of KV cache.", qNever, []float64{1e6, 1e7, 1e8, 1e9}),
		hist("kv_transfer_speed_gb_s", "Speed of a transfer of KV cache.", qNever, []float64{1, 10, 50, 100, 400}),
		total("num_requests_completed", "Requests that ended well.", (*totals).succeeded),
		gauge("num_requests_running", "Requests in the running batch.", (*totals).running),
		gauge("num_requests_waiting", "Requests that wait.", waitingRequests),
		gauge("num_context_requests", "Running requests before their first token.", prefilling),
		gauge("num_generation_requests", "Running requests after their first token.", decoding),
		gauge("kv_cache_hit_rate", "Share of the prompts that was cached.", hitRate),
		gauge("kv_cache_utilization", "Share of the KV cache in use.", kvUsage),
		gauge("kv_cache_max_blocks", "Blocks of the KV cache.", constant(float64(kv.blocks))),
		gauge("kv_cache_used_blocks", "Blocks in use.", usedBlocks),
		gauge("kv_cache_free_blocks", "Blocks that are free.",
			func(t *totals) float64 { return float64(kv.blocks) - usedBlocks(t) }),
		gauge("kv_cache_tokens_per_block", "Tokens of a block.", constant(BlockTokens)),
		total("kv_cache_reused_blocks", "Blocks found in the cache.",
			func(t *totals) float64 { return blocks(t.cached()) }),
		total("kv_cache_missed_blocks", "Blocks that were computed.",
			func(t *totals) float64 { return blocks(float64(t.count[cPrompt]) - t.cached()) }),
		gauge("kv_cache_config_info", "How the cache is set up.", constant(1)).with(
			labels{{"tokens_per_block", strconv.Itoa(BlockTokens)}, {"dtype", "auto"},
				{"enable_block_reuse", strings.ToLower(pythonBool(kv.caches))}}),
	}
	for i := range families {
		families[i].name = prefix + families[i].name
	}
	return families
}

// blocks returns how many whole blocks tokens fill.
func blocks(tokens float64) float64 { return float64(int64(tokens) / BlockTokens) }

// prefilling returns the running requests before their first token, decoding the others.
func prefilling(t *totals) float64 { return float64(t.level[lPrefill]) }

func decoding(t *totals) float64 { return float64(t.level[lRunning] - t.level[lPrefill]) }

// appendIterations returns what the real server has at /metrics: the statistics of its latest step, in JSON.
func appendIterations(b []byte, t *totals) []byte {
	b = append(b, `[{"iter":`...)
	b = strconv.AppendInt(b, t.hist[qStep][len(t.hist[qStep])-1], 10)
	b = append(b, `,"iterLatencyMS":`...)
	b = strconv.AppendFloat(b, 1, 'f', -1, 64)
	for _, m := range []struct {
		key   string
		value float64
	}{
		{"numActiveRequests", t.running()},
		{"numQueuedRequests", waitingRequests(t)},
		{"numCompletedRequests", t.succeeded()},
		{"maxNumActiveRequests", 2048},
		{"gpuMemUsage", 76501889024},
		{"cpuMemUsage", 0},
		{"pinnedMemUsage", 0},
	} {
		b = api.AppendInt(b, m.key, int64(m.value))
	}
	b = append(b, `,"kvCacheStats":{"tokensPerBlock":`...)
	b = strconv.AppendInt(b, BlockTokens, 10)
	b = api.AppendInt(b, "maxNumBlocks", int64(t.kvBlocks))
	b = api.AppendInt(b, "usedNumBlocks", int64(usedBlocks(t)))
	b = api.AppendInt(b, "freeNumBlocks", int64(t.kvBlocks)-int64(usedBlocks(t)))
	b = append(api.AppendKey(b, "cacheHitRate"), strconv.FormatFloat(hitRate(t), 'f', -1, 64)...)
	b = append(b, `},"inflightBatchingStats":{"numContextRequests":`...)
	b = strconv.AppendInt(b, int64(prefilling(t)), 10)
	b = api.AppendInt(b, "numGenRequests", int64(decoding(t)))
	return append(b, "}}]"...)
}
