package run

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// usageServer answers chat requests with given members at the root of the reply.
func usageServer(t *testing.T, members string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"reasoning_content":"so","content":"hello there"},"finish_reason":"stop"}],%s}`, members)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// usageOf runs one request and returns its usage metrics and lengths by their short tags.
func usageOf(t *testing.T, url string, args ...string) map[string]float64 {
	t.Helper()
	dir := t.TempDir()
	outcome, log, err := executeOn(t, conversation("", "a b c"), dir, url, append([]string{"--request-count", "1"}, args...)...)
	if err != nil || outcome.Result.Counts.Successes != 1 {
		t.Fatalf("%v %s", err, log)
	}
	got := map[string]float64{}
	list, _ := at(records(t, dir)[0], "metrics").(map[string]any)
	for tag := range list {
		short := strings.TrimSuffix(strings.TrimPrefix(tag, "usage_"), "_tokens")
		if v, ok := metric(records(t, dir)[0], tag); ok && (short != tag || strings.HasSuffix(tag, "sequence_length") || strings.HasSuffix(tag, "token_count")) {
			got[short] = v
		}
	}
	return got
}

// Every vendor's report reaches the metrics, and nothing that it does not say.
func TestTrapUsageOfEveryVendor(t *testing.T) {
	for vendor, c := range map[string]struct {
		members string
		want    map[string]float64
	}{
		"OpenAI": {`"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":12,"audio_tokens":1,"accepted_prediction_tokens":2,"rejected_prediction_tokens":3}}`,
			map[string]float64{"prompt": 100, "completion": 20, "total": 120, "prompt_cache_read": 64, "prompt_audio": 0, "reasoning": 12, "completion_audio": 1, "accepted_prediction": 2, "rejected_prediction": 3}},
		"vLLM without details": {`"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12,"prompt_tokens_details":null}`, map[string]float64{"prompt": 5, "completion": 7, "total": 12}},
		"DeepSeek": {`"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4}`,
			map[string]float64{"prompt": 10, "completion": 2, "total": 12, "prompt_cache_read": 6, "prompt_cache_miss": 4}},
		"Anthropic": {`"usage":{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens":7}`,
			map[string]float64{"prompt": 105, "completion": 7, "prompt_cache_read": 90, "prompt_cache_write": 5}},
		"Bedrock": {`"usage":{"inputTokens":10,"outputTokens":3,"totalTokens":20,"cacheReadInputTokens":5,"cacheWriteInputTokens":2}`,
			map[string]float64{"prompt": 17, "completion": 3, "total": 20, "prompt_cache_read": 5, "prompt_cache_write": 2}},
		"Gemini": {`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":4,"thoughtsTokenCount":2,"totalTokenCount":14,"cachedContentTokenCount":3,"toolUsePromptTokenCount":1}`,
			map[string]float64{"prompt": 8, "completion": 4, "reasoning": 2, "total": 14, "prompt_cache_read": 3, "tool_use_prompt": 1}},
		"Cohere":  {`"usage":{"tokens":{"input_tokens":8,"output_tokens":4},"billed_units":{"input_tokens":1}}`, map[string]float64{"prompt": 8, "completion": 4}},
		"watsonx": {`"input_token_count":8,"generated_token_count":4`, map[string]float64{"prompt": 8, "completion": 4}},
		"Mistral": {`"usage":{"prompt_tokens":8,"completion_tokens":4,"total_tokens":12,"prompt_audio_seconds":12}`,
			map[string]float64{"prompt": 8, "completion": 4, "total": 12, "prompt_audio_seconds": 12}},
		"none": {`"usage":null`, map[string]float64{}},
	} {
		t.Run(vendor, func(t *testing.T) {
			t.Parallel()
			got := usageOf(t, usageServer(t, c.members))
			maps.DeleteFunc(got, func(tag string, _ float64) bool {
				return strings.HasSuffix(tag, "diff_pct") || strings.HasSuffix(tag, "length") || strings.HasSuffix(tag, "token_count")
			})
			if !maps.Equal(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

// With server counts the lengths are the server's; what it says nothing of stays absent.
func TestTrapServerTokenCounts(t *testing.T) {
	for _, c := range []struct {
		members string
		want    map[string]float64
	}{
		{`"usage":{"prompt_tokens":100,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":12}}`,
			map[string]float64{"input_sequence_length": 100, "reasoning_token_count": 12, "output_token_count": 8, "output_sequence_length": 20}},
		{`"usage":{"prompt_tokens":1,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":9}}`,
			map[string]float64{"input_sequence_length": 1, "reasoning_token_count": 9, "output_sequence_length": 9}},
		{`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":4,"thoughtsTokenCount":2}`,
			map[string]float64{"input_sequence_length": 8, "reasoning_token_count": 2, "output_token_count": 4, "output_sequence_length": 6}},
		{`"x":1`, map[string]float64{}},
	} {
		got := usageOf(t, usageServer(t, c.members), "--use-server-token-count")
		maps.DeleteFunc(got, func(tag string, _ float64) bool {
			return !strings.HasSuffix(tag, "length") && !strings.HasSuffix(tag, "token_count")
		})
		if !maps.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", c.members, got, c.want)
		}
	}
}

// A server that counts otherwise than the client is told, request by request and as a warning.
func TestUsageDiscrepancyIsCounted(t *testing.T) {
	for members, want := range map[string]any{
		`"usage":{"prompt_tokens":3,"completion_tokens":3}`:   0.0,
		`"usage":{"prompt_tokens":300,"completion_tokens":3}`: 1.0,
		`"usage":{"prompt_tokens":300}`:                       nil,
	} {
		dir := t.TempDir()
		if _, log, err := executeOn(t, conversation("", "a b c"), dir, usageServer(t, members), "--request-count", "1"); err != nil {
			t.Fatalf("%v %s", err, log)
		}
		if got := at(summaryOf(t, dir), "usage_discrepancy_count", "avg"); got != want {
			t.Errorf("%s: %v, want %v", members, got, want)
		}
	}
}
