package mockserver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPromptTextByTheClientsRule(t *testing.T) {
	for name, test := range map[string]struct {
		api        api
		body, want string
		ids        int
	}{
		"messages joined by one space": {apiChat,
			`{"messages":[{"role":"system","content":"a b"},{"role":"user","content":"c"}]}`, "a b c", 0},
		"key order is free": {apiChat,
			`{"tools":[{"function":{"name":"f"}}],"messages":[{"content":"x","role":"user"}]}`, "x f", 0},
		"parts": {apiChat,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"b"}]}]}`, "a b", 0},
		"image only": {apiChat,
			`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}]}`, "", 0},
		"empty texts do not count": {apiChat,
			`{"messages":[{"role":"system","content":""},{"role":"user","content":"c"},{"role":"user","content":null}]}`, "c", 0},
		"calls": {apiChat, `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\": 1}"}}]},{"role":"tool","content":"r"}]}`,
			`f {"a": 1} r`, 0},
		"tools": {apiChat, `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"description":"d e","name":"n","parameters":{ "type" : "object", "x": ["\u00e9\t", 1.0] }}}]}`,
			`x n d e {"type":"object","x":["é\t",1.0]}`, 0},
		"escapes": {apiChat,
			`{"messages":[{"role":"user","content":"\u00e9\ud83d\ude00\n\"\\\/\ud800x\ud800\u0041"}]}`,
			"é😀\n\"\\/\ufffdx\ufffdA", 0},
		"the last of two wins": {apiChat,
			`{"messages":[{"role":"user","content":"x"}],"messages":[{"role":"user","content":"y"}]}`, "y", 0},
		"escaped key":  {apiChat, `{"mess\u0061ges":[{"role":"user","content":"x"}]}`, "x", 0},
		"prompt":       {apiCompletions, `{"prompt":"x y"}`, "x y", 0},
		"prompts":      {apiCompletions, `{"prompt":["x","","y"]}`, "x y", 0},
		"ids":          {apiCompletions, `{"prompt":[1,2,3]}`, "", 3},
		"lists of ids": {apiCompletions, `{"prompt":[[1,2],[3]]}`, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			var r request
			if err := r.parse(test.api, []byte(test.body)); err != nil {
				t.Fatal(err)
			}
			if string(r.text) != test.want || r.ids != test.ids {
				t.Errorf("text %q with %d ids, want %q with %d", r.text, r.ids, test.want, test.ids)
			}
		})
	}
}

func TestBodyMembers(t *testing.T) {
	var r request
	err := r.parse(apiChat, []byte(
		`{"model":"a\"b","stream":true,"max_tokens":50.0,"max_completion_tokens":1e2,"min_tokens":3,
		"ignore_eos":true,"reasoning_effort":"high","stream_options":{"include_usage":true,"x":[{}],"continuous_usage_stats":null},
		"messages":[],"temperature":-0.5e-3,"tools":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if string(r.model) != `"a\"b"` || !r.stream || r.maxTokens != 50 || r.maxCompletionTokens != 100 ||
		r.minTokens != 3 ||
		!r.ignoreEOS || string(r.effort) != `"high"` || !r.includeUsage || r.chunkUsage || r.limit() != 100 {
		t.Errorf("%+v", r)
	}
	if err := r.parse(apiChat, []byte(`{"messages":[],"model":null,"stream":null,"max_tokens":null}`)); err != nil {
		t.Fatal(err)
	}
	if string(r.model) != defaultModel || r.stream || r.limit() != 0 || r.effort != nil {
		t.Errorf("%+v", r)
	}
}

func TestParsingABodyDoesNotAllocate(t *testing.T) {
	body := []byte(chat(text(16), true, `"max_completion_tokens":1,"stream_options":{"include_usage":true}`))
	var r request
	if n := testing.AllocsPerRun(100, func() { r.parse(apiChat, body) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzBody(f *testing.F) {
	f.Add(chat("hello", true, `"max_tokens":3`), false)
	f.Add(`{"prompt":[[1],"x"],"stream_options":{"include_usage":true}}`, true)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}],"tool_calls":[{"function":{"arguments":{}}}]}],"tools":[{}]}`, false)
	f.Fuzz(func(t *testing.T, body string, completions bool) {
		a := apiChat
		if completions {
			a = apiCompletions
		}
		var r request
		err := r.parse(a, []byte(body))
		if err == nil && !json.Valid([]byte(body)) {
			t.Error("a body that is not JSON is accepted")
		}
		if err != nil && err.message == "" {
			t.Error("a refusal without a reason")
		}
	})
}

func TestDeepNestingIsRefused(t *testing.T) {
	var r request
	err := r.parse(apiChat, []byte(`{"x":`+strings.Repeat("[", 100_000)))
	if err == nil || !strings.Contains(err.message, "too deeply nested") {
		t.Errorf("error %v", err)
	}
}

func BenchmarkParseBody(b *testing.B) {
	body := []byte(chat(text(16), false, `"max_completion_tokens":1`))
	var r request
	for b.Loop() {
		r.parse(apiChat, body)
	}
}
