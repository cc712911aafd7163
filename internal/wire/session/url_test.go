package session

import (
	"testing"

	"aiperf/internal/wire/api"
)

func TestTrapURLJoins(t *testing.T) {
	empty, custom, query := "", "/my/chat", "/v1/x?api-version=2"
	for _, c := range []struct {
		base, name string
		streaming  bool
		custom     *string
		want       string
	}{
		{"localhost:8000", "chat", false, nil, "http://localhost:8000/v1/chat/completions"},
		{"http://h/v1/", "chat", false, nil, "http://h/v1/chat/completions"},
		{"http://h/v1/chat/completions", "chat", false, nil, "http://h/v1/chat/completions"},
		{"http://h/v1?api-version=2", "chat", false, nil, "http://h/v1/chat/completions?api-version=2"},
		{"HTTP://h:1/proxy", "embeddings", false, nil, "http://h:1/proxy/v1/embeddings"},
		{"http://h/v1", "cohere_rankings", false, nil, "http://h/v1/v2/rerank"},
		{"https://api.voyageai.com/v1", "voyage_rankings", false, nil, "https://api.voyageai.com/v1/rerank"},
		{"http://h", "vllm_score", false, nil, "http://h/score"},
		{"http://h/v1", "vllm_score", false, nil, "http://h/v1/score"},
		{"http://h/v1/audio/speech", "audio_speech", true, nil, "http://h/v1/audio/speech"},
		{"https://h/openai/deployments/d?api-version=1", "audio_speech", false, nil,
			"https://h/openai/deployments/d/audio/speech?api-version=1"},
		{"http://h/base", "chat", false, &empty, "http://h/base"},
		{"http://h", "huggingface_generate", true, nil, "http://h/generate_stream"},
		{"http://h", "huggingface_generate", true, &custom, "http://h/my/chat"},
		{"http://h", "chat", true, &query, "http://h/v1/x?api-version=2"},
		{"http://h", "template", false, nil, "http://h"},
	} {
		d, _ := api.Lookup(c.name)
		got, err := URLs(d, []string{c.base}, c.streaming, c.custom)
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s + %s: got %q, %v; want %q", c.base, c.name, got, err, c.want)
		}
	}
	d, _ := api.Lookup("chat")
	if got, err := URLs(d, []string{"h", "ftp://h"}, false, nil); err == nil {
		t.Errorf("a scheme without transport was taken: %v", got)
	}
}

// The base URLs that vendors print lead to their paths.
func TestBaseURLsOfVendors(t *testing.T) {
	for _, c := range []struct{ vendor, base, name, want string }{
		{"OpenAI", "https://api.openai.com/v1", "chat", "https://api.openai.com/v1/chat/completions"},
		{"Gemini", "https://generativelanguage.googleapis.com/v1beta/openai/", "chat",
			"https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"},
		{"Vertex", "https://aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/openapi", "chat",
			"https://aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/openapi/chat/completions"},
		{"Vertex, beta", "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/l/endpoints/openapi", "embeddings",
			"https://aiplatform.googleapis.com/v1beta1/projects/p/locations/l/endpoints/openapi/embeddings"},
		{"Ark", "https://ark.cn-beijing.volces.com/api/v3", "chat", "https://ark.cn-beijing.volces.com/api/v3/chat/completions"},
		{"Zhipu", "https://open.bigmodel.cn/api/paas/v4/", "chat", "https://open.bigmodel.cn/api/paas/v4/chat/completions"},
		{"Qianfan", "https://qianfan.baidubce.com/v2", "chat", "https://qianfan.baidubce.com/v2/chat/completions"},
		{"DashScope", "https://dashscope.aliyuncs.com/compatible-mode/v1", "embeddings",
			"https://dashscope.aliyuncs.com/compatible-mode/v1/embeddings"},
		{"Azure, whole", "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21", "chat",
			"https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"},
		{"Azure, deployment", "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21", "chat",
			"https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"},
		{"Azure, embeddings", "https://r.openai.azure.com/openai/deployments/d/?api-version=2024-10-21", "embeddings",
			"https://r.openai.azure.com/openai/deployments/d/embeddings?api-version=2024-10-21"},
		{"Azure, v1", "https://r.openai.azure.com/openai/v1/", "responses", "https://r.openai.azure.com/openai/v1/responses"},
		{"OpenRouter", "https://openrouter.ai/api/v1", "chat", "https://openrouter.ai/api/v1/chat/completions"},
		{"Bedrock", "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1", "chat",
			"https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1/chat/completions"},
		{"Groq", "https://api.groq.com/openai/v1", "chat", "https://api.groq.com/openai/v1/chat/completions"},
		{"Fireworks", "https://api.fireworks.ai/inference/v1", "completions", "https://api.fireworks.ai/inference/v1/completions"},
		{"DeepInfra", "https://api.deepinfra.com/v1/openai", "chat", "https://api.deepinfra.com/v1/openai/chat/completions"},
		{"Mistral", "https://api.mistral.ai/v1", "chat", "https://api.mistral.ai/v1/chat/completions"},
		{"DeepSeek", "https://api.deepseek.com", "chat", "https://api.deepseek.com/v1/chat/completions"},
		{"Anthropic", "https://api.anthropic.com", "messages", "https://api.anthropic.com/v1/messages"},
		{"Moonshot", "https://api.moonshot.ai/v1", "chat", "https://api.moonshot.ai/v1/chat/completions"},
		{"Perplexity", "https://api.perplexity.ai", "chat", "https://api.perplexity.ai/chat/completions"},
		{"GitHub", "https://models.github.ai/inference", "chat", "https://models.github.ai/inference/chat/completions"},
		{"Databricks", "https://w.databricks.com/serving-endpoints", "chat",
			"https://w.databricks.com/serving-endpoints/chat/completions"},
		{"Cloudflare", "https://api.cloudflare.com/client/v4/accounts/a/ai/v1", "chat",
			"https://api.cloudflare.com/client/v4/accounts/a/ai/v1/chat/completions"},
		{"Cloudflare's gateway", "https://gateway.ai.cloudflare.com/v1/a/g/compat", "chat",
			"https://gateway.ai.cloudflare.com/v1/a/g/compat/chat/completions"},
		{"NVIDIA", "https://integrate.api.nvidia.com/v1", "chat", "https://integrate.api.nvidia.com/v1/chat/completions"},
		{"Cohere", "https://api.cohere.com/compatibility/v1", "chat", "https://api.cohere.com/compatibility/v1/chat/completions"},
		{"a whole path with another version", "http://h/api/v3/chat/completions", "chat", "http://h/api/v3/chat/completions"},
		{"no version", "http://h/v1x", "chat", "http://h/v1x/v1/chat/completions"},
		{"another word", "http://h/openai", "chat", "http://h/openai/v1/chat/completions"},
		{"a path without a version of OpenAI's", "http://h/v2", "cohere_rankings", "http://h/v2/v2/rerank"},
	} {
		d, _ := api.Lookup(c.name)
		got, err := URLs(d, []string{c.base}, true, nil)
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s, %s + %s: got %q, %v; want %q", c.vendor, c.base, c.name, got, err, c.want)
		}
	}
}
