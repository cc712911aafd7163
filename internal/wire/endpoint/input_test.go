package endpoint

import (
	"slices"
	"strings"
	"testing"
)

func TestInputText(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
		ids              int
	}{
		{"messages", `{"messages":[{"role":"system","content":"a b"},{"role":"user","content":"c"}],"model":"m"}`,
			"a b c", 0},
		{"parts", `{"messages":[{"role":"user","content":[{"type":"text","text":"x\n"},{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"y"}]}]}`, "x\n y", 0},
		{"an image alone", `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}]}`,
			"", 0},
		{"empty texts", `{"messages":[{"role":"user","content":""},{"role":"user","content":"x"}]}`, "x", 0},
		{"replayed tool calls", `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","content":"r"}]}`, `f {"a":1} r`, 0},
		{"tools", `{"messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type": "object"}}}]}`, `q f d {"type":"object"}`, 0},
		{"Anthropic tools and blocks", `{"system":[{"type":"text","text":"S"}],"messages":[{"role":"user","content":[{"type":"tool_use","name":"n","input":{"a":1}},{"type":"tool_result","content":[{"type":"text","text":"r"}]}]}],"tools":[{"name":"t","input_schema":{}}]}`, `S n {"a":1} r t {}`, 0},
		{"responses", `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"i"}]},{"type":"function_call","name":"f","arguments":"{}"},{"type":"function_call_output","output":"o"}],"instructions":"S","tools":[{"type":"function","name":"t","parameters":{}}]}`, "S i f {} o t {}", 0},
		{"prompt", `{"prompt":"x y"}`, "x y", 0},
		{"prompts", `{"prompt":["x","y"]}`, "x y", 0},
		{"token ids", `{"prompt":[1,2,3]}`, "", 3},
		{"lists of token ids", `{"input":[[1,2],[3]]}`, "", 3},
		{"embeddings", `{"input":["a","b"]}`, "a b", 0},
		{"rankings", `{"query":{"text":"q"},"passages":[{"text":"p"},{"text":"r"}]}`, "q p r", 0},
		{"documents", `{"query":"q","documents":["p"]}`, "q p", 0},
		{"inputs", `{"inputs":"x"}`, "x", 0},
		{"nothing", `{"model":"m"}`, "", 0},
		{"no JSON", `x`, "", 0},
	} {
		if text, ids := inputText([]byte(c.body)); text != c.want || ids != c.ids {
			t.Errorf("%s: got %q, %d; want %q, %d", c.name, text, ids, c.want, c.ids)
		}
	}
}

// TestInput: the text of a body and its ids are as many tokens as it counts; tools are in front, whole.
func TestInput(t *testing.T) {
	for _, c := range []struct {
		body, text string
		ids        []int
	}{
		{`{"prompt":[1,2,3]}`, "", []int{1, 2, 3}},
		{`{"prompt":[[1,2],[3]]}`, "", []int{1, 2, 3}},
		{`{"input":[5,6]}`, "", []int{5, 6}},
		{`{"input":[[7],[8,9]]}`, "", []int{7, 8, 9}},
		{`{"input_ids":[4,-1]}`, "", []int{4, 0}},
		{`{"prompt":["a b",[1,2]]}`, "a b", []int{1, 2}},
		{`{"input":"a b"}`, "a b", nil},
		{`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"tools":[{"name":"f", "input_schema":{}}]}`, `{"name":"f","input_schema":{}} s u`, nil},
		{`{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}]}`,
			`{"name":"f","arguments":"{}"}`, nil},
		{`{"system":"s","messages":[{"role":"user","content":"u"}],"tools":[{"name":"f"}]}`, `{"name":"f"} s u`, nil},
		{`{"instructions":"i","input":[{"role":"user","content":"u"}],"tools":[{"name":"f"}]}`, `{"name":"f"} i u`, nil},
		{`{"query":"q","documents":["d"]}`, "q d", nil},
		{`{"model":"m"}`, "", nil},
	} {
		text, ids := Made([]byte(c.body), "application/json", false, nil).Input()
		if text != c.text || !slices.Equal(ids, c.ids) {
			t.Errorf("%s: got %q %v, want %q %v", c.body, text, ids, c.text, c.ids)
		}
		var w words
		n, _ := Made([]byte(c.body), "application/json", false, nil).InputTokens(&w)
		if own := int64(w.Count(text) + len(ids)); own != max(0, n) && !strings.Contains(c.body, "tool") {
			t.Errorf("%s: %d tokens, counted as %d", c.body, own, n)
		}
	}
	if text, _ := (&Body{Bytes: []byte(`{}`), fallback: "x y"}).Input(); text != "x y" {
		t.Errorf("got %q without text, want what stands for it", text)
	}
}

type words struct{ calls int }

// Count counts the words of a text.
func (w *words) Count(text string) int {
	w.calls++
	n, in := 0, false
	for _, c := range text {
		space := c == ' ' || c == '\n'
		if !space && !in {
			n++
		}
		in = !space
	}
	return n
}

// One space joins; without text there is no count.
func TestTrapInputTokens(t *testing.T) {
	for body, want := range map[string]int64{
		`{"messages":[{"role":"system","content":"a b"},{"role":"user","content":"c"}]}`:                           3,
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}],"max_tokens":100}`: -1,
		`{"prompt":[1,2]}`: 2,
	} {
		var w words
		b := Body{Bytes: []byte(body)}
		n, ok := b.InputTokens(&w)
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: got %d, %v; want %d", body, n, ok, want)
		}
		if _, again := b.InputTokens(&w); again != ok || w.calls > 1 {
			t.Errorf("%s: counted %d times", body, w.calls)
		}
	}
}
