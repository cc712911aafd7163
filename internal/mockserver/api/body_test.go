package api

import (
	"aiperf/internal/wire/oip"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

const chatBody = `{"messages":[{"role":"user","content":"word word word word word word word word word word word word word ` +
	`word word word"}],"model":"m","stream":true,"max_completion_tokens":1,"stream_options":{"include_usage":true}}`

func TestPromptTextByTheClientsRule(t *testing.T) {
	for name, test := range map[string]struct {
		api        API
		body, want string
		ids        int
	}{
		"messages joined by one space": {Chat,
			`{"messages":[{"role":"system","content":"a b"},{"role":"user","content":"c"}]}`, "a b c", 0},
		"key order is free": {Chat,
			`{"tools":[{"function":{"name":"f"}}],"messages":[{"content":"x","role":"user"}]}`, "x f", 0},
		"parts": {Chat,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"b"}]}]}`, "a b", 0},
		"image only": {Chat,
			`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}]}`, "", 0},
		"empty texts do not count": {Chat,
			`{"messages":[{"role":"system","content":""},{"role":"user","content":"c"},{"role":"user","content":null}]}`, "c", 0},
		"calls": {Chat, `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\": 1}"}}]},{"role":"tool","content":"r"}]}`,
			`f {"a": 1} r`, 0},
		"tools": {Chat, `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"description":"d e","name":"n","parameters":{ "type" : "object", "x": ["\u00e9\t", 1.0] }}}]}`,
			`x n d e {"type":"object","x":["é\t",1.0]}`, 0},
		"escapes": {Chat,
			`{"messages":[{"role":"user","content":"\u00e9\ud83d\ude00\n\"\\\/\ud800x\ud800\u0041"}]}`,
			"é😀\n\"\\/\ufffdx\ufffdA", 0},
		"the last of two wins": {Chat,
			`{"messages":[{"role":"user","content":"x"}],"messages":[{"role":"user","content":"y"}]}`, "y", 0},
		"escaped key":  {Chat, `{"mess\u0061ges":[{"role":"user","content":"x"}]}`, "x", 0},
		"prompt":       {Completions, `{"prompt":"x y"}`, "x y", 0},
		"prompts":      {Completions, `{"prompt":["x","","y"]}`, "x y", 0},
		"ids":          {Completions, `{"prompt":[1,2,3]}`, "", 3},
		"lists of ids": {Completions, `{"prompt":[[1,2],[3]]}`, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			var r Request
			if _, err := r.Parse(test.api, nil, "", []byte(test.body)); err != nil {
				t.Fatal(err)
			}
			if string(r.text) != test.want || r.ids != test.ids {
				t.Errorf("text %q with %d ids, want %q with %d", r.text, r.ids, test.want, test.ids)
			}
		})
	}
}

func TestBodyMembers(t *testing.T) {
	var r Request
	_, err := r.Parse(Chat, nil, "", []byte(
		`{"model":"a\"b","stream":true,"max_tokens":50.0,"max_completion_tokens":1e2,"min_tokens":3,
		"ignore_eos":true,"reasoning_effort":"high","stream_options":{"include_usage":true,"x":[{}],"continuous_usage_stats":null},
		"messages":[],"temperature":-0.5e-3,"tools":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Model) != `"a\"b"` || !r.Stream || r.MaxTokens != 50 || r.MaxCompletionTokens != 100 ||
		r.MinTokens != 3 ||
		!r.IgnoreEOS || string(r.Effort) != `"high"` || !r.includeUsage || r.chunkUsage || r.Limit() != 100 {
		t.Errorf("%+v", r)
	}
	if _, err := r.Parse(Chat, nil, "", []byte(`{"messages":[],"model":null,"stream":null,"max_tokens":null}`)); err != nil {
		t.Fatal(err)
	}
	if string(r.Model) != defaultModel || r.Stream || r.Limit() != 0 || r.Effort != nil {
		t.Errorf("%+v", r)
	}
}

func TestParsingABodyDoesNotAllocate(t *testing.T) {
	body := []byte(chatBody)
	var r Request
	if n := testing.AllocsPerRun(100, func() { r.Parse(Chat, nil, "", body) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzBody(f *testing.F) {
	f.Add(chatBody, false)
	f.Add(`{"prompt":[[1],"x"],"stream_options":{"include_usage":true}}`, true)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}],"tool_calls":[{"function":{"arguments":{}}}]}],"tools":[{}]}`, false)
	f.Fuzz(func(t *testing.T, body string, completions bool) {
		a := Chat
		if completions {
			a = Completions
		}
		var r Request
		_, err := r.Parse(a, nil, "", []byte(body))
		if err == nil && !json.Valid([]byte(body)) {
			t.Error("a body that is not JSON is accepted")
		}
		if err != nil && err.Error() == "" {
			t.Error("a refusal without a reason")
		}
	})
}

func TestDeepNestingIsRefused(t *testing.T) {
	var r Request
	_, err := r.Parse(Chat, nil, "", []byte(`{"x":`+strings.Repeat("[", 100_000)))
	if err == nil || !strings.Contains(err.Error(), "too deeply nested") {
		t.Errorf("error %v", err)
	}
}

func BenchmarkParseBody(b *testing.B) {
	body := []byte(chatBody)
	var r Request
	for b.Loop() {
		r.Parse(Chat, nil, "", body)
	}
}

func TestJSONStrings(t *testing.T) {
	for _, text := range []string{"", "a\"b\\c", "\x00\x01\b\t\n\v\f\r\x1f\x7f", "é😀<>&\u2028", "bad\xff\xfeutf"} {
		var got string
		quoted := AppendString(nil, text)
		if err := json.Unmarshal(quoted, &got); err != nil || got != strings.ToValidUTF8(text, "\ufffd") {
			t.Errorf("%q became %s: %q, %v", text, quoted, got, err)
		}
	}
}

func TestModelsInPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/v2/models/m/infer": "m", "/v2/models/org%2Fm/infer": "org/m", "/v2/models/m/versions/3/infer": "m",
		"/v2/models/m/ready": "m", oip.ModelInfer: "",
	} {
		if got := OIPModel(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	if _, err := url.Parse(oipPath); err != nil {
		t.Error(err)
	}
}
