package endpoint

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"aiperf/internal/base/jsonscan"
)

// meaning is what a chunk of the chat API says, found by encoding/json.
type meaning struct {
	valid, content, finished, hasError bool
	output, reasoning                  string
}

type object = map[string]json.RawMessage

func asObject(raw json.RawMessage) object {
	var o object
	_ = json.Unmarshal(raw, &o) // another kind of value has no members
	return o
}

func asText(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // another kind of value is not text
	return s
}

// present reports whether a member stands there with a value other than null.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}

func reference(data []byte) (m meaning) {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || string(trimmed) == "[DONE]" {
		return meaning{valid: true, finished: len(trimmed) > 0}
	}
	if m.valid = json.Valid(data); !m.valid {
		return m
	}
	root := asObject(data)
	switch string(root["error"]) {
	case "", "null", "false", "0", `""`:
	default:
		m.hasError = true
	}
	choice := firstChoice(root["choices"])
	finish := choice["finish_reason"]
	m.finished = present(finish) && string(finish) != `""` && string(finish) != `"null"`
	msg := asObject(choice["delta"])
	if text := choice["text"]; !says(msg) && asText(text) != "" {
		msg = object{"content": text}
	} else if !says(msg) {
		msg = asObject(choice["message"])
	}
	if m.reasoning = asText(msg["reasoning_content"]); m.reasoning == "" {
		m.reasoning = asText(msg["reasoning"])
	}
	if m.reasoning == "" {
		m.output = toolText(msg)
	}
	m.output += asText(msg["content"])
	m.content = m.output+m.reasoning != ""
	return m
}

// says reports whether a message has a member that holds output.
func says(msg object) bool {
	for _, key := range []string{"content", "reasoning_content", "reasoning"} {
		if asText(msg[key]) != "" {
			return true
		}
	}
	return startsWith(msg["tool_calls"], '[') || startsWith(msg["function_call"], '{')
}

// firstChoice is the choice of index 0, or the first one where no choice has it.
func firstChoice(raw json.RawMessage) object {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // no list: no choices
	var first object
	for _, c := range list {
		if c[0] != '{' {
			return nil
		}
		o := asObject(c)
		switch string(o["index"]) {
		case "", "null", "0", `"0"`:
			return o
		}
		if first == nil {
			first = o
		}
	}
	return first
}

// plainOnly reports whether a document has choices and nothing but what reference knows: parts, further names and native
// replies are tested by tables.
func plainOnly(data []byte) bool {
	root := asObject(data)
	if !startsWith(root["choices"], '[') {
		for _, key := range []string{"message", "response", "content", "text", "done"} {
			if root[key] != nil {
				return false
			}
		}
		return true
	}
	choice := firstChoice(root["choices"])
	if startsWith(choice["finish_reason"], '{') || startsWith(choice["text"], '[') {
		return false
	}
	for _, place := range []string{"delta", "message"} {
		for key, value := range asObject(choice[place]) {
			switch key {
			case "content", "reasoning_content", "reasoning":
				if startsWith(value, '[') || startsWith(value, '{') {
					return false
				}
			case "tool_calls", "function_call", "role":
			default:
				if carries(value) {
					return false
				}
			}
		}
	}
	return true
}

func toolText(msg object) string {
	var calls []json.RawMessage
	if tools := msg["tool_calls"]; len(tools) > 0 && tools[0] == '[' {
		_ = json.Unmarshal(tools, &calls) // it is a list
		for i := range calls {
			calls[i] = asObject(calls[i])["function"]
		}
	} else {
		calls = append(calls, msg["function_call"])
	}
	var b strings.Builder
	for _, c := range calls {
		f := asObject(c)
		b.WriteString(asText(f["name"]))
		if a := f["arguments"]; len(a) > 0 && a[0] == '{' {
			b.Write(jsonscan.AppendCompact(nil, a))
		} else {
			b.WriteString(asText(a))
		}
	}
	return b.String()
}

func seeds() []string {
	return []string{
		"", "[DONE]", " [DONE] ", "{", "null", `{"a":[1,2.5e-3,-0,true,false,null,"\u00e9"]}`, `{"a":01}`, `{"a":1.}`,
		"{\"a\":\"\x01\"}", "{\"a\":\"\xff\"}",
		delta(`"content":"Hello"`), delta(`"content":"\ud83d\ude00\ud800\u0041\udc00"`),
		delta(`"content":"a","content":null`),
		delta(`"reasoning_content":"","reasoning":"r","content":"c"`),
		delta(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}]`),
		delta(`"tool_calls":[1,{"function":{"name":"f","arguments":{"a": "\u00e9"}}}]`),
		delta(`"function_call":{"name":"f","arguments":"x"}`), delta(`"c\u006fntent":"esc"`),
		`{"object":"chat.completion","choices":[{"message":{"content":"x"},"finish_reason":"stop"},{"index":1}]}`,
		`{"object":"chat.completion.chunk","choices":[{"index":1},{"index":0,"delta":{"content":"x"}}]}`,
		`{"object":"chat.completion.chunk","choices":[3,{"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}`,
		`{"error":{"message":"m","code":1}}`, `{"error":"x"}`, `{"error":""}`,
		`{"object":"chat\u002ecompletion","choices":[{"message":{"content":"x"}}]}`,
		"{\"object\":\"chat.completion.chunk\"\n,\t\"choices\" : [ { \"delta\" : { \"content\" : \"sp\" } } ] } ",
		`{}}`, `{"a":1}x`, "\u00a0{}",
	}
}

func FuzzChunkAgainstEncodingJSON(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	e, err := New("chat", Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !plainOnly(data) {
			return
		}
		want := reference(data)
		d := e.NewDecoder()
		defer d.Release()
		d.Event(nil, data, 1)
		r := d.Reply()
		got := meaning{
			valid: r.Malformed == 0, content: len(r.ContentNS) == 1, finished: r.Finished,
			output: string(r.Output), reasoning: string(r.Reasoning), hasError: r.Err != nil,
		}
		if object := asText(asObject(data)["object"]); object == "error" || want.hasError != got.hasError &&
			bytes.Contains(data, []byte("error")) {
			// Which error values say nothing is a rule of its own, tested by a table.
			got.hasError, want.hasError = false, false
		}
		if got != want {
			t.Fatalf("%q\ngot  %+v\nwant %+v", data, got, want)
		}
	})
}

func TestDepthLimit(t *testing.T) {
	for _, depth := range []int{jsonscan.MaxDepth, jsonscan.MaxDepth + 1} {
		for _, pair := range []string{"[]", "{}"} {
			data := strings.Repeat(pair[:1], depth) + strings.Repeat(pair[1:], depth)
			if pair == "{}" {
				data = strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
			}
			root := []byte(`{"choices":[{"delta":{"x":` + data + `}}]}`)
			var c chunk
			if got, want := c.scan(root), json.Valid(root); got != want {
				t.Errorf("depth %d below a delta: read %v, encoding/json %v", depth, got, want)
			}
		}
	}
}
