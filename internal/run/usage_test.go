package run

import (
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
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
	outcome, log, err := executeOn(t, conversation("", "a b c"), dir, url,
		append([]string{"--request-count", "1"}, args...)...)
	if err != nil || outcome.Result.Counts.Successes != 1 {
		t.Fatalf("%v %s", err, log)
	}
	got := map[string]float64{}
	list, _ := at(records(t, dir)[0], "metrics").(map[string]any)
	for tag := range list {
		short := strings.TrimSuffix(strings.TrimPrefix(tag, "usage_"), "_tokens")
		if v, ok := metric(records(t, dir)[0], tag); ok &&
			(short != tag || strings.HasSuffix(tag, "sequence_length") || strings.HasSuffix(tag, "token_count")) {
			got[short] = v
		}
	}
	return got
}

// Every vendor's report reaches the metrics, and nothing that it does not say.
func TestTrapUsageOfEveryVendor(t *testing.T) {
	t.Parallel()
	for vendor, c := range map[string]struct {
		members string
		want    map[string]float64
	}{
		"OpenAI": {`"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":12,"audio_tokens":1,"accepted_prediction_tokens":2,"rejected_prediction_tokens":3}}`,
			map[string]float64{"prompt": 100, "completion": 20, "total": 120, "prompt_cache_read": 64,
				"prompt_audio": 0, "reasoning": 12, "completion_audio": 1, "accepted_prediction": 2,
				"rejected_prediction": 3}},
		"vLLM without details": {`"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12,"prompt_tokens_details":null}`, map[string]float64{"prompt": 5, "completion": 7, "total": 12}},
		"DeepSeek": {`"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4}`,
			map[string]float64{"prompt": 10, "completion": 2, "total": 12, "prompt_cache_read": 6,
				"prompt_cache_miss": 4}},
		"Anthropic": {`"usage":{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens":7}`,
			map[string]float64{"prompt": 105, "completion": 7, "prompt_cache_read": 90, "prompt_cache_write": 5}},
		"Bedrock": {`"usage":{"inputTokens":10,"outputTokens":3,"totalTokens":20,"cacheReadInputTokens":5,"cacheWriteInputTokens":2}`,
			map[string]float64{"prompt": 17, "completion": 3, "total": 20, "prompt_cache_read": 5,
				"prompt_cache_write": 2}},
		"Gemini": {`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":4,"thoughtsTokenCount":2,"totalTokenCount":14,"cachedContentTokenCount":3,"toolUsePromptTokenCount":1}`,
			map[string]float64{"prompt": 8, "completion": 4, "reasoning": 2, "total": 14, "prompt_cache_read": 3,
				"tool_use_prompt": 1}},
		"Cohere": {`"usage":{"tokens":{"input_tokens":8,"output_tokens":4},"billed_units":{"input_tokens":1}}`,
			map[string]float64{"prompt": 8, "completion": 4}},
		"watsonx": {`"input_token_count":8,"generated_token_count":4`,
			map[string]float64{"prompt": 8, "completion": 4}},
		"Mistral": {`"usage":{"prompt_tokens":8,"completion_tokens":4,"total_tokens":12,"prompt_audio_seconds":12}`,
			map[string]float64{"prompt": 8, "completion": 4, "total": 12, "prompt_audio_seconds": 12}},
		"none": {`"usage":null`, map[string]float64{}},
	} {
		t.Run(vendor, func(t *testing.T) {
			t.Parallel()
			got := usageOf(t, usageServer(t, c.members))
			maps.DeleteFunc(got, func(tag string, _ float64) bool {
				return strings.HasSuffix(tag, "diff_pct") || strings.HasSuffix(tag, "length") ||
					strings.HasSuffix(tag, "token_count")
			})
			if !maps.Equal(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

// With server counts the lengths are the server's; what it says nothing of stays absent.
func TestTrapServerTokenCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		members string
		want    map[string]float64
	}{
		{`"usage":{"prompt_tokens":100,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":12}}`,
			map[string]float64{"input_sequence_length": 100, "reasoning_token_count": 12, "output_token_count": 8,
				"output_sequence_length": 20}},
		{`"usage":{"prompt_tokens":1,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":9}}`,
			map[string]float64{"input_sequence_length": 1, "reasoning_token_count": 9, "output_sequence_length": 9}},
		{`"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":4,"thoughtsTokenCount":2}`,
			map[string]float64{"input_sequence_length": 8, "reasoning_token_count": 2, "output_token_count": 4,
				"output_sequence_length": 6}},
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
	t.Parallel()
	for members, want := range map[string]any{
		`"usage":{"prompt_tokens":3,"completion_tokens":3}`:   0.0,
		`"usage":{"prompt_tokens":300,"completion_tokens":3}`: 1.0,
		`"usage":{"prompt_tokens":300}`:                       nil,
	} {
		dir := t.TempDir()
		if _, log, err := executeOn(t, conversation("", "a b c"), dir, usageServer(t, members), "--request-count",
			"1"); err != nil {
			t.Fatalf("%v %s", err, log)
		}
		if got := at(summaryOf(t, dir), "usage_discrepancy_count", "avg"); got != want {
			t.Errorf("%s: %v, want %v", members, got, want)
		}
	}
}

// bundling answers chat requests with a stream of which the first chunk holds three tokens of seven, and usage as
// asked.
func bundling(t *testing.T, eachChunk bool, asked *atomic.Pointer[string]) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := string(body)
		asked.Store(&text)
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := func(delta string, completion int) {
			usage := ""
			if eachChunk {
				usage = fmt.Sprintf(`,"usage":{"prompt_tokens":5,"completion_tokens":%d,"total_tokens":%d}`, completion,
					completion+5)
			}
			fmt.Fprintf(w, `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{%s}}]%s}`+"\n\n",
				delta, usage)
			w.(http.Flusher).Flush()
			time.Sleep(50 * time.Millisecond)
		}
		chunk(`"role":"assistant","content":""`, 0)
		chunk(`"content":"one two three"`, 3)
		chunk(`"content":" four five"`, 5)
		chunk(`"content":" six seven"`, 7)
		fmt.Fprint(w, `data: {"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Usage on every chunk is cumulative: the last one is the request's, and the first one takes the tokens of the first
// chunk out of the inter token latency.
func TestUsageOfEveryChunk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		eachChunk bool
		args      []string
		tokens    float64 // over which the time from first to last content is spread
		warned    bool
	}{
		{"asked and told", true, []string{"--per-chunk-usage"}, 4, false},
		{"asked and not told", false, []string{"--per-chunk-usage"}, 6, true},
		{"told and not asked", true, []string{"--use-server-token-count"}, 6, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var body atomic.Pointer[string]
			dir := t.TempDir()
			_, log, err := executeOn(t, conversation("", "a b c"), dir, bundling(t, c.eachChunk, &body),
				append([]string{"--request-count", "1", "--streaming"}, c.args...)...)
			if err != nil {
				t.Fatalf("%v %s", err, log)
			}
			if asks := strings.Contains(*body.Load(),
				`"stream_options":{"include_usage":true,"continuous_usage_stats":true}`); asks != (c.args[0] == "--per-chunk-usage") {
				t.Errorf("sent %s", *body.Load())
			}
			line := records(t, dir)[0]
			for tag, want := range map[string]float64{"input_sequence_length": 5, "output_sequence_length": 7,
				"usage_completion_tokens": 7, "usage_prompt_tokens": 5} {
				if got, ok := metric(line, tag); !ok || got != want {
					t.Errorf("%s is %v, want %v", tag, got, want)
				}
			}
			decode, _ := metric(line, "decode_duration")
			itl, ok := metric(line, "inter_token_latency")
			if !ok || math.Abs(decode/itl-c.tokens) > 1e-6 {
				t.Errorf("an inter token latency of %v for %v: spread over %v tokens, want %v", itl, decode, decode/itl,
					c.tokens)
			}
			rate, hasRate := metric(line, "output_token_throughput_per_user")
			lag, _ := metric(line, "read_lag") // of a client that was so late that the duration tells nothing
			if hasRate != (decode >= lag) || hasRate && math.Abs(rate*itl-1000) > 1e-6 {
				t.Errorf("%v tokens a second for %v ms", rate, itl)
			}
			if warned := strings.Contains(log, "does not report with each chunk"); warned != c.warned {
				t.Errorf("warned: %v: %s", warned, log)
			}
		})
	}
}
