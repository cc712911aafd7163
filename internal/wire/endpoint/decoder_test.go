package endpoint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

func decoder(t testing.TB, name string) Decoder {
	t.Helper()
	e, err := New(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e.NewDecoder()
}

// stream decodes events; event k arrives at instant (k+1)*10.
func stream(t testing.TB, name string, events ...string) *Reply {
	d := decoder(t, name)
	for k, e := range events {
		d.Event(nil, []byte(e), int64(k+1)*10)
	}
	return d.Reply()
}

func delta(members string) string {
	return `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + members +
		`},"finish_reason":null}]}`
}

// soFar is an event that repeats the message so far.
func soFar(text string) string {
	return `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"` + text + `"}}]}`
}

func TestDecodeStream(t *testing.T) {
	const usage = `{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`
	for _, c := range []struct {
		name        string
		endpoint    string
		events      []string
		output      string
		reasoning   string
		content     []int64
		firstOutput int64
		finished    bool
		malformed   int
	}{
		{name: "text, usage chunk and [DONE]",
			events: []string{delta(`"role":"assistant","content":""`), delta(`"content":"Hel"`),
				delta(`"content":"lo"`), usage, "[DONE]"},
			output: "Hello", content: []int64{20, 30}, firstOutput: 20, finished: true},
		{name: "finish reason",
			events: []string{`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`},
			output: "x", content: []int64{10}, firstOutput: 10, finished: true},
		{name: "[DONE] is trimmed", events: []string{delta(`"content":"x"`), " [DONE]\n"}, output: "x",
			content: []int64{10}, firstOutput: 10, finished: true},
		{name: "reasoning_content then content",
			events:    []string{delta(`"reasoning_content":"think"`), delta(`"content":"say"`)},
			reasoning: "think", output: "say", content: []int64{10, 20}, firstOutput: 20},
		{name: "reasoning under its other name", events: []string{delta(`"reasoning":"think","content":null`)},
			reasoning: "think", content: []int64{10}},
		{name: "tool calls count as output",
			events: []string{delta(
				`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]`),
				delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]`),
				delta(`"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]`)},
			output: `f{"a":1}`, content: []int64{10, 20, 30}, firstOutput: 10},
		{name: "tool text goes before the content of the same delta",
			events: []string{delta(
				`"content":"C","tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]`)},
			output: "f{}C", content: []int64{10}, firstOutput: 10},
		{name: "reasoning goes before tool calls",
			events:    []string{delta(`"reasoning":"R","tool_calls":[{"index":0,"function":{"name":"f"}}]`)},
			reasoning: "R", content: []int64{10}},
		{name: "empty tool calls are nothing",
			events: []string{delta(`"tool_calls":[]`),
				delta(`"tool_calls":[{"index":0,"function":{"name":"","arguments":""}}]`), delta(`"tool_calls":null`)}},
		{name: "older function_call", events: []string{delta(`"function_call":{"name":"f","arguments":"{}"}`)},
			output: "f{}", content: []int64{10}, firstOutput: 10},
		{name: "arguments as an object",
			events: []string{delta(`"tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}}]`)},
			output: `f{"a":1}`, content: []int64{10}, firstOutput: 10},
		{name: "empty and missing choices, empty delta",
			events: []string{`{"object":"chat.completion.chunk","choices":[]}`, `{"object":"chat.completion.chunk"}`,
				`{"object":"chat.completion.chunk","choices":null}`,
				delta(""), delta(`"content":null`),
				`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":null}]}`,
				`{"object":"chat.completion.chunk","choices":[{"index":0}]}`}},
		{name: "malformed chunks are skipped whole",
			events: []string{delta(`"content":"a"`),
				`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"LOST"}}],}`, `{"object":`,
				"not json", delta(`"content":"b"`)},
			output: "ab", content: []int64{10, 50}, firstOutput: 10, malformed: 3},
		{name: "empty data", events: []string{"", "  ", delta(`"content":"a"`)}, output: "a", content: []int64{30},
			firstOutput: 30},
		{name: "JSON that is no object", events: []string{"[]", "1", `"x"`, "null"}},
		{name: "only index 0 is read",
			events: []string{`{"object":"chat.completion.chunk","choices":[{"index":1,"delta":{"content":"B"}}]}`,
				`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"A"}},{"index":1,"delta":{"content":"B"}}]}`},
			output: "A", content: []int64{20}, firstOutput: 20},
		{name: "the object's name changes nothing",
			events: []string{`{"object":"text_completion","choices":[{"index":0,"delta":{"content":"a"}}]}`,
				`{"choices":[{"index":0,"delta":{"content":"b"}}]}`,
				`{"object":null,"choices":[{"index":0,"delta":{"content":"c"}}]}`,
				`{"object":"","choices":[{"index":0,"text":"d"}]}`,
				`{"object":"chat.completion","choices":[{"index":0,"delta":{"content":"e"}}]}`},
			output: "abcde", content: []int64{10, 20, 30, 40, 50}, firstOutput: 10},
		{name: "a lone choice of another index",
			events: []string{`{"choices":[{"index":1,"delta":{"content":"a"}}]}`, `{"choices":[{"index":1,"delta":{"content":"b"}}]}`,
				`{"choices":[{"index":2,"delta":{"content":"other"}}]}`}, output: "ab", content: []int64{10, 20}, firstOutput: 10},
		{name: "an index in quotes", events: []string{`{"choices":[{"index":"0","delta":{"content":"a"}}]}`}, output: "a",
			content: []int64{10}, firstOutput: 10},
		{name: "a finish reason that says nothing",
			events: []string{`{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}`}, output: "a", content: []int64{10},
			firstOutput: 10},
		{name: "a delta beside the message so far",
			events: []string{`{"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}`,
				`{"choices":[{"delta":{"content":"b"},"message":{"content":"ab"}}]}`,
				`{"choices":[{"delta":{"content":""},"message":{"content":"ab"},"finish_reason":"stop"}]}`},
			output: "ab", content: []int64{10, 20}, firstOutput: 10, finished: true},
		{name: "the message so far",
			events: []string{soFar("a"), soFar("ab"), soFar("abc"), soFar("abcd"), soFar("abcd")},
			output: "abcd", content: []int64{10, 20, 30, 40}, firstOutput: 10},
		{name: "the message so far, often",
			events: []string{soFar("a"), soFar("ab"), soFar("abc"), soFar("abcd"), soFar("abcde"), soFar("abcdef"), soFar("abcdefg"),
				soFar("abcdefgh"), soFar("abcdefghi"), soFar("abcdefghi")},
			output: "abcdefghi", content: []int64{10, 20, 30, 40, 50, 60, 70, 80, 90}, firstOutput: 10},
		{name: "messages that repeat nothing",
			events: []string{soFar("a"), soFar("ab"), soFar("abc"), soFar("abc"), soFar("d")},
			output: "aababcabcd", content: []int64{10, 20, 30, 40, 50}, firstOutput: 10},
		{name: "deltas that seem to repeat",
			events: []string{delta(`"content":"1"`), delta(`"content":"10"`), delta(`"content":"100"`)},
			output: "110100", content: []int64{10, 20, 30}, firstOutput: 10},
		{name: "parts of a content",
			events: []string{delta(`"content":["a",{"type":"text","text":"b"},{"type":"thinking","thinking":[{"type":"text","text":"T"}]}]`)},
			output: "ab", reasoning: "T", content: []int64{10}, firstOutput: 10},
		{name: "a refusal", events: []string{delta(`"content":null,"refusal":"no"`), delta(`"refusal":null`)}, output: "no",
			content: []int64{10}, firstOutput: 10},
		{name: "reasoning under further names",
			events: []string{delta(`"content":"","reasoning_details":[{"type":"reasoning.text","text":"a"}]`),
				delta(`"reasoning_details":[{"type":"reasoning.summary","summary":"b"}]`), delta(`"thinking":"c"`),
				delta(`"reasoning":"d","reasoning_details":[{"text":"d"}]`), delta(`"reasoning":[{"text":"e"}]`),
				delta(`"content":"f","extra_content":{"google":{"thought":true}}`),
				delta(`"thinking_blocks":[{"type":"thinking","thinking":"g"}]`), delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]`)},
			reasoning: "abcdefg", content: []int64{10, 20, 30, 40, 50, 60, 70}},
		{name: "sound", events: []string{delta(`"audio":{"id":"x"}`), delta(`"audio":{"data":"AAAA"}`), delta(`"audio":{"transcript":"hi"}`)},
			output: "hi", content: []int64{20, 30}, firstOutput: 20},
		{name: "sound with all that OpenAI sends",
			events: []string{delta(`"role":"assistant","refusal":null,"audio":{"id":"audio_1","transcript":"Hel"}`),
				delta(`"audio":{"id":"audio_1","data":"AAAA"}`), delta(`"audio":{"transcript":"lo"}`), delta(`"audio":{"expires_at":1}`)},
			output: "Hello", content: []int64{10, 20, 30}, firstOutput: 10},
		{name: "sound as a part, and where to fetch it",
			events: []string{delta(`"content":[{"type":"output_audio","data":"AAAA","transcript":"a"}]`),
				delta(`"content":[{"type":"audio","audio":{"data":"AAAA","transcript":""}}]`),
				delta(`"content":[{"type":"audio_url","audio_url":{"url":"http://h/a.wav"}},{"type":"text","text":"b"}]`)},
			output: "ab", content: []int64{10, 20, 30}, firstOutput: 10},
		{name: "the data of sound as content",
			events: []string{`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}],"modality":"text"}`,
				`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"UklGRg=="}}],"modality":"audio"}`,
				`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"UklGRg=="}}],"modality":"audio"}`,
				`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"b"}}],"modality":"text"}`,
				`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"modality":"audio"}`},
			output: "ab", content: []int64{10, 20, 30, 40}, firstOutput: 10, finished: true},
		{name: "the data of sound as content, named first",
			events: []string{`{"modality":"text","choices":[{"index":0,"delta":{"content":"a"}}]}`,
				`{"modality":"text","choices":[{"index":0,"delta":{"content":"b"}}]}`,
				`{"modality":"audio","choices":[{"index":0,"delta":{"content":"UklGRg=="}}]}`,
				`{"modality":null,"choices":[{"index":0,"delta":{"content":"c"}}]}`},
			output: "abc", content: []int64{10, 20, 30, 40}, firstOutput: 10},
		{name: "Ollama's native reply",
			events: []string{`{"model":"m","message":{"role":"assistant","content":"a"},"done":false}`,
				`{"model":"m","response":"b","done":false}`,
				`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","eval_count":4}`},
			output: "ab", content: []int64{10, 20}, firstOutput: 10, finished: true},
		{name: "a message in an event",
			events: []string{`{"object":"chat.completion","choices":[{"message":{"content":"x"}}]}`}, output: "x",
			content: []int64{10}, firstOutput: 10},
		{name: "the object may stand last",
			events: []string{`{"choices":[{"delta":{"content":"x"}}],"object":"chat.completion.chunk"}`}, output: "x",
			content: []int64{10}, firstOutput: 10},
		{name: "the last of equal keys counts",
			events: []string{`{"object":"x","choices":[{"delta":{"content":"no"}}],"choices":[{"delta":{"content":"a","content":"b"}}],"object":"chat.completion.chunk"}`},
			output: "b", content: []int64{10}, firstOutput: 10},
		{name: "keys are case sensitive", events: []string{delta(`"Content":"x"`)}},
		{name: "keys may be escaped", events: []string{delta(`"c\u006fntent":"x"`)}, output: "x", content: []int64{10},
			firstOutput: 10},
		{name: "escapes, surrogates and lone surrogates",
			events: []string{delta(`"content":"\u00e9\n\ud83d\ude00\ud800x\udc00\"\/"`)},
			output: "é\n😀\uFFFDx\uFFFD\"/", content: []int64{10}, firstOutput: 10},
		{name: "completions", endpoint: "completions",
			events: []string{`{"object":"text_completion","choices":[{"index":0,"text":"a"}]}`,
				`{"object":"completion","choices":[{"index":0,"text":"b"}]}`,
				`{"object":"chat.completion.chunk","choices":[{"index":0,"text":"c"}]}`,
				`{"object":"text_completion","choices":[]}`, `{"object":"text_completion","choices":[{"text":""}]}`,
				`{"choices":[{"text":"d"}]}`},
			output: "abcd", content: []int64{10, 20, 30, 60}, firstOutput: 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.endpoint == "" {
				c.endpoint = "chat"
			}
			r := stream(t, c.endpoint, c.events...)
			if string(r.Output) != c.output || string(r.Reasoning) != c.reasoning {
				t.Errorf("output %q, reasoning %q; want %q, %q", r.Output, r.Reasoning, c.output, c.reasoning)
			}
			if !slices.Equal(r.ContentNS, c.content) || r.FirstOutputNS != c.firstOutput {
				t.Errorf("content at %v, first output at %d; want %v, %d", r.ContentNS, r.FirstOutputNS, c.content,
					c.firstOutput)
			}
			if r.Finished != c.finished || r.Malformed != c.malformed || r.Err != nil {
				t.Errorf("finished %v, malformed %d, error %+v; want %v, %d, none", r.Finished, r.Malformed, r.Err,
					c.finished, c.malformed)
			}
		})
	}
}

func TestDecodeBody(t *testing.T) {
	const body = `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"R","content":"C"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}`
	d := decoder(t, "chat")
	d.Body("application/json", false, []byte("\n"+body+"\n"), 50)
	r := d.Reply()
	if string(r.Output) != "C" || string(r.Reasoning) != "R" || !slices.Equal(r.ContentNS, []int64{50}) ||
		r.FirstOutputNS != 50 || !r.Finished {
		t.Errorf("got %+v", r)
	}
	if n, ok := r.Usage.Value(record.UsagePrompt); !ok || n != 3 {
		t.Errorf("usage: %d, %v", n, ok)
	}
	for name, other := range map[string]struct {
		binary bool
		body   string
	}{"binary": {true, body}, "empty": {false, " "}, "no JSON": {false, "<html>"}} {
		d := decoder(t, "chat")
		d.Body("", other.binary, []byte(other.body), 50)
		if r := d.Reply(); len(r.ContentNS) != 0 {
			t.Errorf("%s: got content %v", name, r.ContentNS)
		}
	}
}

// A space is content, an empty delta is not; usage and [DONE] do not count.
func TestTrapSpaceIsContent(t *testing.T) {
	r := stream(t, "chat", delta(`"role":"assistant","content":""`), delta(`"content":" "`), delta(`"content":"Hi"`),
		`{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1}}`, "[DONE]")
	if !slices.Equal(r.ContentNS, []int64{20, 30}) {
		t.Errorf("content at %v", r.ContentNS)
	}
}

// An empty reasoning_content gives way to reasoning; content goes along.
func TestTrapReasoningWithContent(t *testing.T) {
	r := stream(t, "chat", delta(`"reasoning_content":"","reasoning":"r","content":"c"`))
	if string(r.Reasoning) != "r" || string(r.Output) != "c" || r.FirstOutputNS != 10 || len(r.ContentNS) != 1 {
		t.Errorf("got %+v", r)
	}
}

// An empty message has no content although usage came.
func TestTrapEmptyMessageIsNoContent(t *testing.T) {
	d := decoder(t, "chat")
	d.Body("application/json", false,
		[]byte(`{"object":"chat.completion","choices":[{"message":{"content":""}}],"usage":{"prompt_tokens":1}}`), 5)
	if r := d.Reply(); len(r.ContentNS) != 0 || !r.Usage.Present() {
		t.Errorf("got %+v", r)
	}
}

// A JSON reply to a streaming chat is one content response.
func TestTrapJSONReplyToStream(t *testing.T) {
	d := decoder(t, "chat")
	calls := 0
	d.OnFirstContent(func() { calls++ })
	d.Body("application/json", false,
		[]byte(`{"object":"chat.completion","choices":[{"message":{"content":"a b c"}}]}`), 70)
	if r := d.Reply(); !slices.Equal(r.ContentNS, []int64{70}) || calls != 1 {
		t.Errorf("content at %v, %d calls", r.ContentNS, calls)
	}
}

// Lines of an event that were joined, or repaired, are JSON that is read.
func TestTrapEventsOfSeveralLines(t *testing.T) {
	for data, want := range map[string]string{
		"{\"object\":\n\"chat.completion.chunk\",\"choices\":\n[{\"delta\":\n{\"content\":\"x\"}}]}": "x",
		delta(`"content":"x\ny"`):          "x\ny",
		delta("\"content\":\"a\u2028b€\""): "a\u2028b€",
	} {
		if r := stream(t, "chat", data); string(r.Output) != want || r.Malformed != 0 {
			t.Errorf("%q: output %q, %d malformed", data, r.Output, r.Malformed)
		}
	}
}

func TestErrorsInside200(t *testing.T) {
	for _, c := range []struct {
		data string
		want *record.Error
	}{
		{`{"error":"boom"}`, &record.Error{Message: "boom"}},
		{`{"error":{"message":"too long","type":"BadRequestError","param":null,"code":400}}`,
			&record.Error{Code: 400, HasCode: true, Type: "BadRequestError", Message: "too long"}},
		{`{"error":{"message":"m","code":"429"}}`, &record.Error{Code: 429, HasCode: true, Message: "m"}},
		{`{"error":{"message":"m","code":"invalid_key"}}`, &record.Error{Type: "invalid_key", Message: "m"}},
		{`{"error":{"message":"m","type":"t","code":null}}`, &record.Error{Type: "t", Message: "m"}},
		{`{"error":{"reason": "odd"}}`, &record.Error{Message: `{"reason":"odd"}`}},
		{`{"object":"error","message":"m","type":"NotFound","code":404}`,
			&record.Error{Code: 404, HasCode: true, Type: "NotFound", Message: "m"}},
		{`{"error":null}`, nil},
		{`{"error":""}`, nil},
		{`{"error":{}}`, nil},
		{`{"error":false}`, nil},
		{`{"choices":[{"error":"below"}]}`, nil},
	} {
		for _, whole := range []bool{false, true} {
			d := decoder(t, "chat")
			if whole {
				d.Body("application/json", false, []byte(c.data), 1)
			} else {
				d.Event(nil, []byte(c.data), 1)
			}
			got := d.Reply().Err
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("%s: got %+v, want %+v", c.data, got, c.want)
			}
		}
	}
	r := stream(t, "chat", delta(`"content":"a"`), `{"error":"first"}`, `{"error":"second"}`)
	if r.Err == nil || r.Err.Message != "first" || string(r.Output) != "a" {
		t.Errorf("got %+v", r)
	}
}

func TestAssistantMessage(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"text", []string{delta(`"content":"a \"b\""`), delta(`"content":"<"`)},
			`{"role":"assistant","content":"a \"b\"<"}`},
		{"reasoning is dropped", []string{delta(`"reasoning":"r"`), delta(`"content":"c"`)},
			`{"role":"assistant","content":"c"}`},
		{"unless there is nothing else", []string{delta(`"reasoning":"r"`)}, `{"role":"assistant","content":"r"}`},
		{"nothing", []string{delta(`"content":""`)}, ""},
		{"tool calls merge by index",
			[]string{delta(`"content":"before "`),
				delta(`"content":"it","tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{"}}]`),
				delta(`"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}},{"index":1,"function":{"arguments":"}"}}]`)},
			`{"role":"assistant","content":"before it","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}`},
		{"tool calls alone", []string{delta(`"reasoning":"r"`),
			delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`)},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		{"older function_call", []string{delta(`"function_call":{"name":"f","arguments":"{\"a\""}`),
			delta(`"function_call":{"arguments":":1}"}`)},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`},
		{"calls without an index count by place",
			[]string{`{"object":"chat.completion","choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}}]}}]}`},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}},{"id":"b","type":"function","function":{"name":"g","arguments":""}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(stream(t, "chat", c.events...).AppendAssistant(nil)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestFirstContentIsToldOnce(t *testing.T) {
	d := decoder(t, "chat")
	var told []int
	n := 0
	d.OnFirstContent(func() { told = append(told, n) })
	for _, e := range []string{delta(`"content":""`), delta(`"reasoning":"x"`), delta(`"content":"y"`)} {
		d.Event(nil, []byte(e), 1)
		n++
	}
	if !slices.Equal(told, []int{1}) {
		t.Errorf("told at events %v, want [1]", told)
	}
}

// A released decoder starts afresh, with and without its buffers.
func TestReleasedDecoderIsEmpty(t *testing.T) {
	e, err := New("chat", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{3, maxKept} {
		d := e.NewDecoder()
		d.OnFirstContent(func() {})
		d.Event(nil, []byte(delta(`"content":"`+strings.Repeat("x", size)+
			`","tool_calls":[{"index":0,"function":{"name":"f"}}]`)), 1)
		d.Event(nil, []byte(`{"error":"e","usage":{"prompt_tokens":1}}`), 2)
		d.Event(nil, []byte(`{`), 3)
		d.Release()
		again := d.(*openAIDecoder)
		r := again.Reply()
		if len(r.Output)+len(r.ContentNS)+len(r.text)+len(r.tools)+r.Malformed != 0 || r.Err != nil ||
			r.Usage.Present() || r.FirstOutputNS != 0 || again.first != nil {
			t.Errorf("after release: %+v", r)
		}
		if size == maxKept && cap(r.Output) != 0 {
			t.Errorf("a buffer of %d bytes was kept", cap(r.Output))
		}
	}
}
