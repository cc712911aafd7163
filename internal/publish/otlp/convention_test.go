package otlp

import (
	"testing"

	"aiperf/internal/measure/record"
)

func TestProvidersAreKnownByTheirHosts(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://api.openai.com/v1":                             "openai",
		"https://API.OpenAI.com":                                "openai",
		"https://eu.api.openai.com":                             "openai",
		"https://notapi.openai.com":                             otherName,
		"https://api.openai.com.example.org":                    otherName,
		"https://api.anthropic.com":                             "anthropic",
		"https://api.deepseek.com":                              "deepseek",
		"https://api.mistral.ai":                                "mistral_ai",
		"https://api.cohere.ai":                                 "cohere",
		"https://api.cohere.com":                                "cohere",
		"https://api.x.ai":                                      "x_ai",
		"https://api.groq.com":                                  "groq",
		"https://api.perplexity.ai":                             "perplexity",
		"https://generativelanguage.googleapis.com":             "gcp.gemini",
		"https://us-central1-aiplatform.googleapis.com/v1":      "gcp.vertex_ai",
		"https://aiplatform.googleapis.com":                     otherName,
		"https://bedrock-runtime.us-east-1.amazonaws.com/model": "aws.bedrock",
		"https://bedrock-runtime.amazonaws.com":                 otherName,
		"https://s3.us-east-1.amazonaws.com":                    otherName,
		"https://mine.openai.azure.com":                         "azure.ai.openai",
		"https://openai.azure.com":                              otherName,
		"https://mine.services.ai.azure.com":                    "azure.ai.inference",
		"https://us-south.ml.cloud.ibm.com/ml/v1/text/chat":     "ibm.watsonx.ai",
		"https://x.ibm.com/a/WatsonX":                           "ibm.watsonx.ai",
		"https://x.ibm.com/else":                                otherName,
		"http://127.0.0.1:8000":                                 otherName,
		"http://[::1]:8000":                                     otherName,
		"://":                                                   otherName,
	} {
		if got := provider([]string{"http://localhost:1", url}); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	if got := provider([]string{"https://api.groq.com", "https://api.openai.com"}); got != "groq" {
		t.Errorf("the first one wins: %s", got)
	}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"chat": "chat", "completions": "text_completion", "embeddings": "embeddings", "responses": "chat",
		"nim_rankings": "chat",
	} {
		if got := operation(endpoint); got != want {
			t.Errorf("%s: %s, want %s", endpoint, got, want)
		}
	}
}

func TestErrorTypes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  record.Error
		want string
	}{
		"server fault": {record.Error{Code: 503, HasCode: true, Type: "Service Unavailable"}, "http_5xx"},
		"bounds":       {record.Error{Code: 599, HasCode: true}, "http_5xx"},
		"beyond them":  {record.Error{Code: 600, HasCode: true}, otherName},
		"client fault": {record.Error{Code: 429, HasCode: true, Type: "Too Many Requests"}, "http_4xx"},
		"cancellation": {record.Error{Code: 499, HasCode: true, Type: "RequestCancellationError"},
			"cancelled"},
		"499 by a server": {record.Error{Code: 499, HasCode: true, Type: "Client Closed Request"}, "http_4xx"},
		"timeout":         {record.Error{Type: "TimeoutError"}, "timeout"},
		"gateway timeout": {record.Error{Code: 504, HasCode: true, Type: "Gateway Timeout"}, "timeout"},
		"timeout below": {record.Error{Type: "ClientOSError",
			CauseChain: []string{"ClientOSError", "TimeoutError"}}, "timeout"},
		"cancellation below":     {record.Error{Type: "X", Cause: "CancelledError"}, "cancelled"},
		"what is no JSON":        {record.Error{Type: "ValueError", Message: "Failed to parse JSON"}, "parse_error"},
		"what cannot be decoded": {record.Error{Type: "ValueError", Message: "json decode error"}, "parse_error"},
		"a body that is no JSON": {record.Error{Type: "InvalidInferenceResultError",
			Message: "InvalidInferenceResultError('Invalid inference result: The response could not be parsed as JSON')"}, "parse_error"},
		"JSON that is well formed": {record.Error{Type: "ValueError", Message: "JSON without choices"}, otherName},
		"a connection":             {record.Error{Type: "ClientConnectorError", Message: "Cannot connect"}, otherName},
		"an error event":           {record.Error{Code: 502, HasCode: true, Type: "SSEResponseError"}, "http_5xx"},
	} {
		if got := errorType(&record.Record{Err: &tt.err}); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if got := errorType(&record.Record{Identity: record.Identity{WasCancelled: true},
		Err: &record.Error{Code: 499, HasCode: true}}); got != "cancelled" {
		t.Errorf("a request cancelled on purpose: %s", got)
	}
}
