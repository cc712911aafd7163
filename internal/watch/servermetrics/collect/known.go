package collect

import "strings"

// knownServers are the kinds of servers that publish metrics, by the owner that they name in their list of models, and
// what switches their page on.
var knownServers = []struct{ owner, name, remedy string }{
	{"vllm", "vLLM", "its page is /metrics of the server's own port"},
	{"sglang", "SGLang", "start it with --enable-metrics"},
	{"tensorrt_llm", "TensorRT-LLM", "set return_perf_metrics: true in extra_llm_api_options.yaml"},
	{"llamacpp", "llama.cpp", "start it with --metrics"},
	{"nvidia", "Dynamo", "its page is /metrics of the frontend's port"},
}

// MissingPage returns the warning about a server of a known kind whose metrics were not found; "" where the kind is not
// known. The owner is the one in the server's list of models.
func MissingPage(owner string) string {
	for _, k := range knownServers {
		if strings.EqualFold(k.owner, strings.TrimSpace(owner)) {
			return "The server calls itself " + k.name + ", which publishes metrics, but no page was found: " +
				k.remedy +
				", or name the page with --server-metrics URL"
		}
	}
	return ""
}
