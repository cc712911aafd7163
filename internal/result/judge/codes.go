package judge

// The codes of findings. Those on the outcome of a run:
const (
	CodeInterrupted = "interrupted"
	CodeComplete    = "complete"
	CodeAllFailed   = "all_failed"
	CodeManyErrors  = "many_errors"
	CodeErrors      = "errors"
	CodeObjectives  = "objectives_missed"
	CodeWarmCache   = "warm_cache"
)

// Those on what limited a run.
const (
	CodeClient        = "client"
	CodeRateLimit     = "rate_limit"
	CodeOverload      = "overload"
	CodeKVCache       = "kv_cache"
	CodeQueue         = "queue"
	CodeCap           = "concurrency_cap"
	CodePrefillLimit  = "prefill_concurrency"
	CodeConcurrency   = "concurrency"
	CodeRate          = "rate"
	CodeTooFew        = "too_few_requests"
	CodeUneven        = "uneven_replicas"
	CodeNetwork       = "network"
	CodeFrontend      = "frontend"
	CodeSpeculation   = "speculation"
	CodePrefillStalls = "prefill_stalls"
	CodePrefixCache   = "prefix_cache"
	CodePrefill       = "prefill"
	CodeDecodeBatch   = "decode_batch"
	CodeColdStart     = "cold_start"
	CodeGPUHeat       = "gpu_heat"
	CodeGPUPower      = "gpu_power"
	CodeGPUClocks     = "gpu_clocks"
	CodeGPUMemory     = "gpu_memory"
	CodeNotKnown      = "not_known"
)

// Those on how far its figures can be relied on.
const (
	CodeDoubtful      = "doubtful"
	CodeClientShare   = "client_share"
	CodeNotObserved   = "not_observed"
	CodeIntervals     = "intervals"
	CodeTwin          = "twin"
	CodeFewSamples    = "too_few"
	CodeContradiction = "totals_differ"
)
