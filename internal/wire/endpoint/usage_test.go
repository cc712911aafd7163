package endpoint

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// shown lists the facts that are present.
func shown(u *Usage) string {
	names := [...]string{"prompt", "completion", "total", "reasoning", "read", "write", "miss", "prompt_audio",
		"completion_audio", "accepted", "rejected", "tool_use"}
	var list []string
	for f, n := range u.Facts() {
		list = append(list, fmt.Sprintf("%s=%d", names[f-record.UsagePrompt], n))
	}
	if s, ok := u.PromptAudioSeconds(); ok {
		list = append(list, fmt.Sprintf("seconds=%g", s))
	}
	return strings.Join(list, " ")
}

func fold(objects ...string) *Usage {
	u := &Usage{}
	for _, o := range objects {
		u.Fold([]byte(o))
	}
	return u
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name    string
		objects []string
		want    string
	}{
		{"OpenAI", []string{`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64,"audio_tokens":1},"completion_tokens_details":{"reasoning_tokens":12,"audio_tokens":2,"accepted_prediction_tokens":3,"rejected_prediction_tokens":4}}`},
			"prompt=100 completion=20 total=120 reasoning=12 read=64 prompt_audio=1 completion_audio=2 accepted=3 rejected=4"},
		{"responses", []string{`{"input_tokens":9,"input_tokens_details":{"cached_tokens":4,"audio_tokens":1},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2,"audio_tokens":0}}`},
			"prompt=9 completion=5 reasoning=2 read=4 prompt_audio=1 completion_audio=0"},
		{"DeepSeek", []string{`{"prompt_tokens":10,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4}`},
			"prompt=10 read=6 miss=4"},
		{"Mistral", []string{`{"prompt_tokens":1,"prompt_audio_seconds":12}`}, "prompt=1 seconds=12"},
		{"audio seconds as a fraction", []string{`{"prompt_audio_seconds":1.5}`}, "seconds=1.5"},
		{"audio seconds of another kind", []string{`{"prompt_audio_seconds":{}}`, `{"prompt_audio_seconds":true}`}, ""},
		{"Bedrock is disjoint", []string{`{"inputTokens":10,"outputTokens":3,"totalTokens":13,"cacheReadInputTokens":5,"cacheWriteInputTokens":2}`}, "prompt=17 completion=3 total=13 read=5 write=2"},
		{"Gemini", []string{`{"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":4,"thoughtsTokenCount":2,"totalTokenCount":14,"cachedContentTokenCount":3,"toolUsePromptTokenCount":1}}`},
			"prompt=8 completion=4 total=14 reasoning=2 read=3 tool_use=1"},
		{"Cohere 1", []string{`{"meta":{"tokens":{"input_tokens":8,"output_tokens":4},"cached_tokens":2,"billed_units":{"input_tokens":7}}}`}, "prompt=8 completion=4 read=2"},
		{"Cohere 2", []string{`{"tokens":{"input_tokens":8,"output_tokens":4}}`}, "prompt=8 completion=4"},
		{"watsonx", []string{`{"input_token_count":8,"generated_token_count":4}`}, "prompt=8 completion=4"},
		{"an envelope does not overwrite, whatever the order",
			[]string{`{"input_tokens":1,"tokens":{"input_tokens":8,"output_tokens":4}}`,
				`{"tokens":{"input_tokens":9,"output_tokens":5}}`}, "prompt=1 completion=5"},
		{"the first envelope wins", []string{`{"tokens":{"input_tokens":9},"meta":{"tokens":{"input_tokens":8}}}`},
			"prompt=8"},
		{"later values replace, null never does",
			[]string{`{"prompt_tokens":1,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":5}}`,
				`{"prompt_tokens":null,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":null,"audio_tokens":1}}`, `{"prompt_tokens_details":null}`},
			"prompt=1 completion=7 read=5 prompt_audio=1"},
		{"an integral float", []string{`{"prompt_tokens":12.0}`}, "prompt=12"},
		{"no number", []string{`{"prompt_tokens":"twelve","input_tokens":true,"total_tokens":[1]}`}, ""},
		{"a number in quotes", []string{`{"prompt_tokens":"12"}`}, "prompt=12"},
		{"Groq", []string{`{"x_groq":{"id":"r","usage":{"prompt_tokens":8,"completion_tokens":4}}}`}, "prompt=8 completion=4"},
		{"Ollama", []string{`{"prompt_eval_count":8,"eval_count":4}`}, "prompt=8 completion=4"},
		{"llama.cpp", []string{`{"tokens_evaluated":8,"tokens_predicted":4}`}, "prompt=8 completion=4"},
		{"text-generation-inference", []string{`{"input_length":8,"generated_tokens":4}`}, "prompt=8 completion=4"},
		{"nothing", []string{`{}`, `null`, `[]`, `"x"`}, ""},
	} {
		if got := shown(fold(c.objects...)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	if fold(`{}`, `null`).Present() || !fold(`{"x":1}`).Present() {
		t.Error("an empty usage object counts as none")
	}
	if !fold(`{"candidatesTokenCount":4}`).ReasoningApart() || fold(`{"completion_tokens":4}`).ReasoningApart() {
		t.Error("only the vendor of candidatesTokenCount counts reasoning apart")
	}
}

// Cached tokens that are counted apart belong to the prompt.
func TestTrapDisjointPrompt(t *testing.T) {
	for object, want := range map[string]string{
		`{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens":7}`: "prompt=105 completion=7 read=90 write=5",
		`{"input_tokens":10,"output_tokens":7}`: "prompt=10 completion=7",
	} {
		if got := shown(fold(object)); got != want {
			t.Errorf("%s: got %s, want %s", object, got, want)
		}
	}
}

// A 0 is a value and null is none.
func TestTrapUsageLookup(t *testing.T) {
	for object, want := range map[string]string{
		`{"prompt_tokens":1,"prompt_tokens_details":null}`:                "prompt=1",
		`{"prompt_tokens":0,"input_tokens":9}`:                            "prompt=0",
		`{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":0}}`: "prompt=3 read=0",
		`{"prompt_tokens":3,"prompt_tokens_details":"x"}`:                 "prompt=3",
		`{"prompt_audio_seconds":{}}`:                                     "",
		`{"prompt_audio_seconds":12}`:                                     "seconds=12",
		`{"prompt_tokens":null,"input_tokens":9}`:                         "prompt=9",
	} {
		if got := shown(fold(object)); got != want {
			t.Errorf("%s: got %s, want %s", object, got, want)
		}
	}
}

// Usage in pieces is put together; a total is not generated.
func TestTrapSplitUsage(t *testing.T) {
	if got := shown(fold(`{"input_tokens":7}`, `{"output_tokens":3}`)); got != "prompt=7 completion=3" {
		t.Errorf("got %s", got)
	}
	if got := shown(fold(`{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":1}`,
		`{"output_tokens":7}`)); got != "prompt=100 completion=7 read=90" {
		t.Errorf("got %s", got)
	}
}

func TestUsageAtTheRoot(t *testing.T) {
	for body, want := range map[string]string{
		`{"object":"chat.completion","usageMetadata":{"promptTokenCount":8}}`:                    "prompt=8",
		`{"object":"chat.completion","usage":{},"input_token_count":8}`:                          "prompt=8",
		`{"object":"chat.completion","usage":{"prompt_tokens":1},"meta":{"cached_tokens":2}}`:    "prompt=1",
		`{"object":"chat.completion","usage":null,"choices":[{"usage":{"prompt_tokens":5}}]}`:    "",
		`{"object":"chat.completion","usage":{"prompt_tokens":1},"usage":{"prompt_tokens":  2}}`: "prompt=2",
	} {
		d := decoder(t, "chat")
		d.Body("", false, []byte(body), 1)
		if got := shown(&d.Reply().Usage); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}
