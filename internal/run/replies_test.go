package run

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// replier answers each request with the same pieces.
type replier struct {
	contentType string
	pieces      []string

	mu     sync.Mutex
	paths  []string
	bodies []string
}

func (s *replier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	s.paths, s.bodies = append(s.paths, r.URL.String()), append(s.bodies, string(body))
	s.mu.Unlock()
	w.Header()["Content-Type"] = nil
	if s.contentType != "" {
		w.Header().Set("Content-Type", s.contentType)
	}
	for _, piece := range s.pieces {
		fmt.Fprint(w, piece)
		w.(http.Flusher).Flush()
	}
}

// events makes server-sent events of data, with the end mark.
func events(data ...string) (list []string) {
	for _, d := range append(data, "[DONE]") {
		list = append(list, "data: "+d+"\n\n")
	}
	return list
}

// deltas are chunks of a chat with these members of the first choice.
func deltas(object string, choices ...string) (list []string) {
	for _, c := range choices {
		list = append(list, fmt.Sprintf(`{%s"choices":[{"index":0,%s}]}`, object, c))
	}
	const usage = `"usage":{"prompt_tokens":7,"completion_tokens":4,"total_tokens":11}`
	return append(list, fmt.Sprintf(`{%s"choices":[],%s}`, object, usage))
}

const (
	stopped = `"delta":{},"finish_reason":"stop"`
	hello   = `{"choices":[{"message":{"role":"assistant","content":"Hello there my friend"},"finish_reason":"stop"}]`
)

func said(words ...string) (list []string) {
	for _, w := range words {
		list = append(list, `"delta":{"content":"`+w+`"}`)
	}
	return append(list, stopped)
}

// finding returns the message of a finding on the run's course; "" without it.
func finding(sum map[string]any, code string) string {
	for _, r := range at(sum, "client_health", "reasons").([]any) {
		if at(r, "code") == code {
			return at(r, "message").(string)
		}
	}
	return ""
}

// Replies in the forms of many servers lead to the figures of the reply that they are.
func TestRepliesAreReadByWhatTheyAre(t *testing.T) {
	t.Parallel()
	words := said("Hello", " there", " my", " friend")
	template := []string{"--endpoint-type", "template", "--extra-inputs",
		`{"payload_template":"{\"stream\":true}","response_field":"message.content"}`}
	for _, c := range []struct {
		name, contentType string
		pieces            []string
		args              []string
		reasoning         float64
		finding           string // "" for none of replies
	}{
		{name: "object missing", pieces: events(deltas("", words...)...)},
		{name: "object empty", pieces: events(deltas(`"object":"",`, words...)...)},
		{name: "object null", pieces: events(deltas(`"object":null,`, words...)...)},
		{name: "object plural", pieces: events(deltas(`"object":"chat.completions",`, words...)...)},
		{name: "object of another API", pieces: events(deltas(`"object":"text_completion",`, words...)...)},
		{name: "whole reply without an object", contentType: "application/json", pieces: []string{hello + "}"},
			finding: "in_one_piece"},
		{name: "events called JSON", contentType: "application/json", pieces: events(deltas("", words...)...)},
		{name: "events called text", contentType: "text/plain; charset=utf-8", pieces: events(deltas("", words...)...)},
		{name: "events called nothing", contentType: " ", pieces: events(deltas("", words...)...)},
		{name: "reply called events", pieces: []string{hello + "}"}, finding: "in_one_piece"},
		{name: "refusal", pieces: events(deltas("", `"delta":{"refusal":"Hello there"}`, `"delta":{"refusal":" my friend"}`, stopped)...)},
		{name: "reasoning_details", reasoning: 3, pieces: events(deltas("",
			`"delta":{"content":"","reasoning_details":[{"type":"reasoning.text","text":"Let me"}]}`,
			`"delta":{"content":"","reasoning_details":[{"type":"reasoning.summary","summary":" think"}]}`,
			`"delta":{"content":"Hello"}`, stopped)...)},
		{name: "thinking", reasoning: 3, pieces: events(deltas("", `"delta":{"thinking":"Let me"}`, `"delta":{"thinking":" think"}`,
			`"delta":{"content":"Hello"}`, stopped)...)},
		{name: "delta and message so far", pieces: events(deltas(`"object":"chat.completion",`,
			`"delta":{"content":"Hello"},"message":{"content":"Hello"}`,
			`"delta":{"content":" there"},"message":{"content":"Hello there"}`,
			`"delta":{"content":" my friend"},"message":{"content":"Hello there my friend"},"finish_reason":"stop"`)...)},
		{name: "message so far", finding: "cumulative_stream", pieces: events(deltas(`"object":"chat.completion",`,
			`"message":{"content":"Hello"}`, `"message":{"content":"Hello there"}`, `"message":{"content":"Hello there my"}`,
			`"message":{"content":"Hello there my friend"},"finish_reason":"stop"`)...)},
		{name: "lines of JSON", contentType: "application/x-ndjson", args: template, pieces: []string{
			`{"message":{"content":"Hello"},"done":false}` + "\n", `{"message":{"content":" there my friend"},"done":false}` + "\n",
			`{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":4}` + "\n"}},
		{name: "a text so far", args: template, finding: "cumulative_stream", pieces: events(
			`{"message":{"content":"Hello"}}`, `{"message":{"content":"Hello there"}}`, `{"message":{"content":"Hello there my friend"}}`)},
		{name: "an end without a reason", finding: "closed_early",
			pieces: events(deltas("", words[:4]...)...)[:4]},
		{name: "an unusual end", finding: "unusual_endings",
			pieces: events(deltas("", append(words[:4:4], `"delta":{},"finish_reason":"content_filter"`)...)...)},
		{name: "output that nobody reads", finding: "unread_output",
			pieces: events(deltas("", `"delta":{"content":"Hello there my friend","dance":"x"}`, `"delta":{"dance":"y"}`, stopped)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.contentType == "" {
				c.contentType = "text/event-stream"
			}
			s := &replier{contentType: strings.TrimSpace(c.contentType), pieces: c.pieces}
			front := httptest.NewServer(s)
			defer front.Close()
			dir := t.TempDir()
			outcome, log, err := executeOn(t, conversation("", "a"), dir, front.URL,
				append([]string{"--streaming", "--request-count", "2"}, c.args...)...)
			if err != nil {
				t.Fatalf("%v %s", err, log)
			}
			sum := summaryOf(t, dir)
			output, _ := at(sum, "output_token_count", "avg").(float64)
			reasoning, _ := at(sum, "reasoning_token_count", "avg").(float64)
			want := 4.0
			if c.reasoning > 0 {
				want = 1
			}
			if n := outcome.Result.Counts.Successes; n != 2 || output != want || reasoning != c.reasoning {
				t.Errorf("%d successes, %v output and %v reasoning tokens; want 2, %v, %v\n%s", n, output, reasoning,
					want, c.reasoning, log)
			}
			for _, code := range []string{"in_one_piece", "cumulative_stream", "closed_early", "unusual_endings",
				"unread_output"} {
				message := finding(sum, code)
				if code == c.finding && (message == "" || !strings.Contains(log, message)) ||
					code != c.finding && code != "in_one_piece" && message != "" {
					t.Errorf("finding %s: %q; want %q\n%s", code, message, c.finding, log)
				}
			}
		})
	}
}

// A page for people is no reply, whatever reads it.
func TestPageIsNoReply(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chat", "template"} {
		page := &replier{contentType: "text/plain", pieces: []string{"<!DOCTYPE html><html>log in</html>"}}
		front := httptest.NewServer(page)
		dir := t.TempDir()
		outcome, log, err := executeOn(t, conversation("", "a"), dir, front.URL, "--endpoint-type", name,
			"--request-count", "2", "--extra-inputs", `{"payload_template":"{}"}`)
		front.Close()
		if err != nil || outcome.Result.Counts.Errors != 2 {
			t.Fatalf("%s: %v %s", name, err, log)
		}
		first := summaryOf(t, dir)["error_summary"].([]any)[0]
		if details, _ := at(first, "error_details", "details").(string); !strings.Contains(details, "log in") {
			t.Errorf("%s: details %q", name, details)
		}
	}
}

// Servers that refuse stream_options can be measured, and finish reasons are counted by name.
func TestStreamWithoutStreamOptions(t *testing.T) {
	t.Parallel()
	for _, extra := range []string{"stream_options:null", `{"stream_options": null}`} {
		s := &replier{contentType: "text/event-stream", pieces: events(deltas("", said("a")...)[:2]...)}
		front := httptest.NewServer(s)
		dir := t.TempDir()
		outcome, log, err := executeOn(t, conversation("", "a"), dir, front.URL, "--streaming", "--request-count", "2",
			"--extra-inputs", extra)
		front.Close()
		if err != nil || outcome.Result.Counts.Successes != 2 {
			t.Fatalf("%s: %v %s", extra, err, log)
		}
		for _, body := range s.bodies {
			var sent map[string]any
			if err := json.Unmarshal([]byte(body), &sent); err != nil || sent["stream"] != true {
				t.Errorf("%s: sent %s", extra, body)
			}
			if _, has := sent["stream_options"]; has {
				t.Errorf("%s: sent %s", extra, body)
			}
		}
		if n := at(summaryOf(t, dir), "finish_reasons", "stop"); n != 2.0 {
			t.Errorf("%s: %v replies ended with stop", extra, n)
		}
	}
}

// The base URLs of vendors lead to their own paths.
func TestBaseURLsOfVendorsAreUsed(t *testing.T) {
	t.Parallel()
	const azure = "/openai/deployments/d/chat/completions?api-version=2024-10-21"
	for base, want := range map[string]string{
		"/v1beta/openai": "/v1beta/openai/chat/completions", "/v1beta/openai/": "/v1beta/openai/chat/completions",
		"/api/v3": "/api/v3/chat/completions", azure: azure,
	} {
		s := &replier{contentType: "text/event-stream", pieces: events(deltas("", said("a")...)...)}
		front := httptest.NewServer(s)
		_, log, err := executeOn(t, conversation("", "a"), t.TempDir(), front.URL+base, "--streaming",
			"--request-count", "1")
		front.Close()
		if err != nil || !slices.Equal(s.paths, []string{want}) {
			t.Errorf("%s: sent to %q, %v %s", base, s.paths, err, log)
		}
	}
}
