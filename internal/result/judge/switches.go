package judge

// need is what a switch of a server changes.
type need int

const (
	needSlots need = iota
	needCache
	needChunks
	needPrefix
	needSpeculation
	needFrontend
	needPrefill
	needDecode
	needMemory
	needLimit
)

// switches are what to change, by the kind of the server as its metrics page tells it; "" is for servers of which
// nothing is known, and for those without a switch of their own. The names are those of vLLM 0.32, SGLang 0.5,
// TensorRT-LLM 1.2 (options of its LLM API), Triton 2.51 and llama.cpp of 2025.
var switches = map[need]map[string]string{
	needSlots: {
		"vLLM":         "raise --max-num-seqs of vLLM, or add replicas",
		"SGLang":       "raise --max-running-requests of SGLang, or add replicas",
		"TensorRT-LLM": "raise max_batch_size of TensorRT-LLM, or add replicas",
		"Dynamo":       "raise --max-num-seqs of the workers, or add workers",
		"Triton":       "raise max_batch_size and the count of instance_group in config.pbtxt",
		"llama.cpp":    "raise --parallel of llama-server, with as much more --ctx-size",
		"TGI":          "raise --max-concurrent-requests and --max-batch-total-tokens of TGI",
		"": "raise the server's batch size (of vLLM --max-num-seqs, of SGLang --max-running-requests), or add " +
			"replicas",
	},
	needCache: {
		"vLLM": "raise --gpu-memory-utilization of vLLM, lower --max-num-seqs or --max-model-len, or keep the KV cache in fewer " +
			"bits: --kv-cache-dtype fp8",
		"SGLang": "raise --mem-fraction-static of SGLang, lower --max-running-requests, or keep the KV cache in fewer bits: " +
			"--kv-cache-dtype fp8_e5m2",
		"TensorRT-LLM": "raise free_gpu_memory_fraction of TensorRT-LLM's kv_cache_config, or lower max_batch_size",
		"Dynamo":       "give the workers a larger KV cache (--gpu-memory-utilization, --num-gpu-blocks-override), or add workers",
		"llama.cpp":    "raise --ctx-size of llama-server, or keep the KV cache in fewer bits: --cache-type-k q8_0",
		"": "give the server more memory for its KV cache (of vLLM --gpu-memory-utilization), or lower the concurrency or the " +
			"lengths",
	},
	needChunks: {
		"vLLM": "let vLLM cut prefills (--enable-chunked-prefill) into smaller pieces (--max-num-batched-tokens), or disaggregate " +
			"prefill from decode",
		"SGLang": "lower --chunked-prefill-size of SGLang, try --enable-mixed-chunk, or disaggregate prefill from decode",
		"TensorRT-LLM": "set enable_chunked_prefill of TensorRT-LLM with a smaller max_num_tokens, or disaggregate prefill from " +
			"decode",
		"Dynamo":    "let the workers cut prefills (--enable-chunked-prefill), or disaggregate prefill from decode",
		"llama.cpp": "lower --ubatch-size and --batch-size of llama-server: smaller chunks of prompts",
		"":          "let the server cut prefills into chunks (of vLLM --max-num-batched-tokens), or disaggregate prefill from decode",
	},
	needPrefix: {
		"vLLM":         "switch the prefix cache of vLLM on (--enable-prefix-caching), and keep the shared part at the start of the prompt",
		"SGLang":       "remove --disable-radix-cache of SGLang: its prefix cache is off, or its cache is too small to keep prefixes",
		"TensorRT-LLM": "set enable_block_reuse of TensorRT-LLM's kv_cache_config: it is the prefix cache",
		"Dynamo":       "route by prefix (dynamo.frontend --router-mode kv), with the workers' prefix cache on: --enable-prefix-caching",
		"llama.cpp":    "let llama-server reuse prefixes: --cache-reuse 256, and cache_prompt in requests",
		"":             "switch the server's prefix cache on, and route requests with the same prefix to the same replica",
	},
	needSpeculation: {
		"vLLM":         "draft fewer tokens (num_speculative_tokens in vLLM's --speculative-config), use another draft model, or none",
		"SGLang":       "draft fewer tokens (--speculative-num-steps, --speculative-num-draft-tokens), use another draft model, or none",
		"TensorRT-LLM": "draft fewer tokens (max_draft_len of speculative_config), use another draft model, or none",
		"llama.cpp":    "draft fewer tokens (--draft-max), use another draft model, or none",
		"":             "let speculative decoding draft fewer tokens, use another draft model, or none",
	},
	needFrontend: {
		"vLLM":   "run more API server processes (vLLM's --api-server-count), or more gateways",
		"SGLang": "run more tokenizer processes (SGLang's --tokenizer-worker-num), or more gateways",
		"Dynamo": "run more dynamo.frontend processes behind a balancer, and give the frontend more cores",
		"Triton": "run more frontend processes or gateways before Triton, and give them more cores",
		"":       "run more processes of the API server, frontend or gateway, and give them more cores",
	},
	needPrefill: {
		"vLLM": "more compute for prompts: --tensor-parallel-size, a larger --max-num-batched-tokens; or shorter prompts, the " +
			"prefix cache, fewer bits (--quantization fp8)",
		"SGLang": "more compute for prompts: --tp-size, a larger --chunked-prefill-size; or shorter prompts, the prefix cache, " +
			"fewer bits (--quantization fp8)",
		"TensorRT-LLM": "more compute for prompts: tensor_parallel_size, a larger max_num_tokens; or shorter prompts, block reuse, fp8",
		"Dynamo":       "more prefill workers (disaggregated serving), or shorter prompts and prefix-aware routing",
		"llama.cpp":    "larger --batch-size and --ubatch-size of llama-server, all layers on the GPU (-ngl), or shorter prompts",
		"":             "more compute for prefills (tensor parallelism, fewer bits), shorter prompts, or a prefix cache",
	},
	needDecode: {
		"vLLM": "lower the concurrency or --max-num-seqs for shorter gaps; for both, more replicas (--data-parallel-size) or " +
			"--tensor-parallel-size",
		"SGLang": "lower the concurrency or --max-running-requests for shorter gaps; for both, more replicas (--dp-size) or " +
			"--tp-size",
		"TensorRT-LLM": "lower the concurrency or max_batch_size for shorter gaps; for both, more replicas or tensor_parallel_size",
		"": "lower the concurrency for shorter gaps; for both, more replicas, tensor parallelism, or weights and KV cache of " +
			"fewer bits: decoding is limited by the memory's bandwidth",
	},
	needMemory: {
		"vLLM": "--gpu-memory-utilization", "SGLang": "--mem-fraction-static", "TensorRT-LLM": "free_gpu_memory_fraction",
		"": "of vLLM --gpu-memory-utilization",
	},
	needLimit: {
		"vLLM":   "lower --request-rate or --concurrency, or raise the limit that refuses (of vLLM --max-num-queued-reqs, of a gateway its rate limit)",
		"SGLang": "lower --request-rate or --concurrency, or raise the limit that refuses (of SGLang --max-queued-requests, of a gateway its rate limit)",
		"Triton": "lower --request-rate or --concurrency, or raise max_queue_size in config.pbtxt",
		"":       "lower --request-rate or --concurrency, or raise the limit or quota that refuses: of the server's queue, or of a gateway",
	},
}

// switchOf returns what to change at the servers of the run.
func (f *view) switchOf(n need) string {
	if text, known := switches[n][f.signs().Kind]; known {
		return text
	}
	return switches[n][""]
}
