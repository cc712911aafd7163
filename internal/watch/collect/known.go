package collect

import "strings"

// knownServers are the kinds of servers, by the owner that they name in their list of models, and what switches their
// page of metrics on; "" for those that have none.
var knownServers = []struct{ owner, name, remedy string }{
	{"vllm", "vLLM", "its page is /metrics of the server's own port"},
	{"sglang", "SGLang", "start it with --enable-metrics"},
	{"tensorrt_llm", "TensorRT-LLM", "set return_perf_metrics: true in extra_llm_api_options.yaml"},
	{"llamacpp", "llama.cpp", "start it with --metrics"},
	{"nvidia", "Dynamo", "its page is /metrics of the frontend's port"},
	{"library", "Ollama", ""},
	{"organization_owner", "LM Studio", ""},
	{"triton", "Triton", "it is on a port of its own, " + tritonPort + " unless --metrics-port says another"},
	{RouterOwner, "SGLang's router", "it is on a port of its own, 29000 unless --prometheus-port says another"},
	{"aiperf", "the mock server", ""},
}

// RouterOwner stands for the owner of the models of SGLang's router, which shows that of its workers.
const RouterOwner = "sglang-router"

// pageFlag names a page.
const pageFlag = "--server-metrics URL"

// ServerName returns the usual name of a server by the owner in its list of models; that owner where it is not known.
func ServerName(owner string) string {
	owner = strings.TrimSpace(owner)
	for _, k := range knownServers {
		if strings.EqualFold(k.owner, owner) {
			return k.name
		}
	}
	return owner
}

// MissingPage returns the warning about a server of a known kind whose metrics were not found; "" where the kind is not
// known. The owner is the one in the server's list of models.
func MissingPage(owner string) string {
	for _, k := range knownServers {
		if strings.EqualFold(k.owner, strings.TrimSpace(owner)) && k.remedy != "" {
			return "The server calls itself " + k.name + ", which publishes metrics, but no page was found: " +
				k.remedy +
				", or name the page with " + pageFlag
		}
	}
	return ""
}
