package mockserver

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer"
)

const repliesFile = `{"prompt": "one", "reply": "Zwei ½ 🦊\n\"x\"", "reasoning": "I think"}
{"prompt": "turns", "reply": "first"}

{"prompt": "turns", "reply": "second"}
{"contains": "needle", "reply": "found it"}
`

func withReplies(t *testing.T, text string, o Options) (Options, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	err := o.SetReplies(path)
	return o, err
}

// askText sends a body and returns the reply.
func askText(t *testing.T, s *testServer, path, body string) string {
	t.Helper()
	resp, err := s.client.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, string(all), err)
	}
	return string(all)
}

// texts joins what the members of events or of a whole body say.
func texts(t *testing.T, text string, path ...string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimPrefix(line, "data: ")
		var v any
		if json.Unmarshal([]byte(line), &v) != nil {
			continue
		}
		for _, key := range path {
			if list, ok := v.([]any); ok && len(list) > 0 {
				v = list[0]
			}
			object, _ := v.(map[string]any)
			v = object[key]
		}
		if s, ok := v.(string); ok {
			b.WriteString(s)
		}
	}
	return b.String()
}

func TestScriptedRepliesOfEachAPI(t *testing.T) {
	o, err := withReplies(t, repliesFile, Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, o)
	const want = "Zwei ½ 🦊\n\"x\""
	const messages = `"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"shot"},` +
		`{"role":"assistant","content":"A"},{"role":"user","content":"one"}]`
	for _, c := range []struct {
		name, path, body string
		at               []string
	}{
		{"chat", "/v1/chat/completions", `{` + messages + `}`, []string{"choices", "message", "content"}},
		{"chat stream", "/v1/chat/completions", `{"stream":true,` + messages + `}`, []string{"choices", "delta", "content"}},
		{"chat reasoning", "/v1/chat/completions", `{` + messages + `}`, []string{"choices", "message", "reasoning_content"}},
		{"completions", "/v1/completions", `{"prompt":"one"}`, []string{"choices", "text"}},
		{"completions stream", "/v1/completions", `{"prompt":["one"],"stream":true}`, []string{"choices", "text"}},
		{"responses", "/v1/responses", `{"input":"one","instructions":"be brief"}`, nil},
		{"responses stream", "/v1/responses", `{"stream":true,"input":[{"role":"user","content":"one"}]}`, []string{"delta"}},
		{"messages", "/v1/messages", `{"max_tokens":99,` + messages + `}`, nil},
		{"messages stream", "/v1/messages", `{"max_tokens":99,"stream":true,` + messages + `}`, []string{"delta", "text"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, want := askText(t, s, c.path, c.body), want
			switch c.name {
			case "responses", "messages":
				quoted, _ := json.Marshal(want)
				if !strings.Contains(got, `"text":`+string(quoted)) {
					t.Errorf("the reply is %s", got)
				}
				return
			case "chat reasoning":
				want = "I think"
			case "completions", "completions stream":
			case "responses stream":
				want = "I think" + want
			}
			if text := texts(t, got, c.at...); !strings.HasSuffix(text, want) {
				t.Errorf("the text is %q, want %q of %s", text, want, got)
			}
		})
	}
}

func TestScriptedUsageAndLimit(t *testing.T) {
	o, err := withReplies(t, repliesFile, Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, o)
	type reply struct {
		Choices []struct {
			Message struct {
				Content   string
				Reasoning string `json:"reasoning_content"`
			}
			Finish string `json:"finish_reason"`
		}
		Usage struct {
			Completion int `json:"completion_tokens"`
		}
	}
	get := func(body string) (r reply) {
		if err := json.Unmarshal([]byte(askText(t, s, "/v1/chat/completions", body)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	count := tokenizer.Builtin().Count
	r := get(`{"messages":[{"role":"user","content":"one"}]}`)
	message := r.Choices[0].Message
	if n := count(message.Content) + count(message.Reasoning); r.Usage.Completion != n || r.Choices[0].Finish != "stop" {
		t.Errorf("usage %d and finish %q, want %d and stop", r.Usage.Completion, r.Choices[0].Finish, n)
	}
	r = get(`{"max_tokens":3,"messages":[{"role":"user","content":"one"}]}`)
	if r.Usage.Completion != 3 || r.Choices[0].Finish != "length" || r.Choices[0].Message.Reasoning != "I think" ||
		r.Choices[0].Message.Content == "" {
		t.Errorf("a limit of 3 gives %+v", r)
	}
}

func TestScriptedRepliesTakeTurns(t *testing.T) {
	o, err := withReplies(t, repliesFile, Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, o)
	for _, c := range [][2]string{{"turns", "first"}, {"turns", "second"}, {"turns", "first"}, {"a needle here", "found it"}} {
		got := texts(t, askText(t, s, "/v1/completions", `{"prompt":"`+c[0]+`"}`), "choices", "text")
		if got != c[1] {
			t.Errorf("%q gets %q, want %q", c[0], got, c[1])
		}
	}
	if got := texts(t, askText(t, s, "/v1/completions", `{"prompt":"turns more"}`), "choices", "text"); got == "" || got == "first" {
		t.Errorf("a prompt without an entry gets %q", got)
	}
}

func TestScriptedRepliesOfABadFile(t *testing.T) {
	for text, want := range map[string]string{
		"{\"prompt\":\"a\",\"reply\":\"b\"}\n{\"reply\":\"b\"}\n": `:2: want "prompt" or "contains"`,
		"{\"prompt\":\"a\",\"contains\":\"a\",\"reply\":\"b\"}":   "not both",
		"{\"prompt\":\"a\"}": `:1: want "reply"`,
		"\n\n{\"prompt\":1}": ":3: want an object",
		"{\"prompt\":\"a\",\"reply\":\"b\",\"temperature\":1}": "temperature",
		"{\"prompt\":\"a\",\"reply\":\"b\",\"above\":-1}":      `"above" of at least 0`,
		"": "no replies",
	} {
		if _, err := withReplies(t, text, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", text, err, want)
		}
	}
}

// An empty reply is a whole one: a stream of it has its frame, but no text.
func TestScriptedRepliesMayBeEmpty(t *testing.T) {
	o, err := withReplies(t, `{"prompt":"nothing","reply":""}`, Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, o)
	const body = `{"model":"m","messages":[{"role":"user","content":"nothing"}]%s}`
	whole := askText(t, s, "/v1/chat/completions", strings.Replace(body, "%s", "", 1))
	if got := texts(t, whole, "choices", "message", "content"); got != "" || !strings.Contains(whole, `"finish_reason":"stop"`) {
		t.Errorf("%q: %s", got, whole)
	}
	stream := askText(t, s, "/v1/chat/completions", strings.Replace(body, "%s", `,"stream":true`, 1))
	if got := texts(t, stream, "choices", "delta", "content"); got != "" || !strings.Contains(stream, "data: [DONE]") {
		t.Errorf("%q: %s", got, stream)
	}
}

func TestScriptedRepliesUnderLoad(t *testing.T) {
	o, err := withReplies(t, `{"prompt":"q","reply":"alone"}
{"prompt":"q","reply":"three","above":2}
{"prompt":"q","reply":"two","above":1}
{"prompt":"only","reply":"two","above":1}
`, Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, o)
	ask := func(prompt string) string {
		return texts(t, askText(t, s, "/v1/completions", `{"prompt":"`+prompt+`"}`), "choices", "text")
	}
	for _, want := range []string{"alone", "two", "three", "three"} {
		if got := ask("q"); got != want {
			t.Errorf("with %d more in flight the reply is %q, want %q", s.srv.inFlight.Load(), got, want)
		}
		s.srv.inFlight.Add(1)
	}
	if got := ask("only"); got != "two" {
		t.Errorf("a reply for more load than one is %q", got)
	}
	s.srv.inFlight.Store(0)
	if got := ask("only"); got == "" || got == "two" {
		t.Errorf("without load the reply is %q, want a generated one", got)
	}
}
