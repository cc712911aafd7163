package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/cli/chat"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

const ms = int64(time.Millisecond)

// chatServer is a sender that answers with events 10 ms apart, the first after 20 ms.
type chatServer struct {
	events []string
	err    *record.Error
	status int
	bodies []string
	hang   bool
}

func (s *chatServer) Send(ctx context.Context, r *client.Request, sink client.Sink) client.Exchange {
	s.bodies = append(s.bodies, string(r.Body))
	if s.hang {
		<-ctx.Done()
		return client.Exchange{CutOff: true}
	}
	ex := client.Exchange{StartNS: 1, Status: s.status, Err: s.err, ErrIsBody: s.status >= 300}
	for i, e := range s.events {
		sink.Event(nil, []byte(e), 1+20*ms+int64(i)*10*ms)
	}
	return ex
}

func chatDelta(field, text string) string {
	value, _ := json.Marshal(text)
	return fmt.Sprintf(`{"object":"chat.completion.chunk","choices":[{"delta":{"%s":%s}}]}`, field, value)
}

func newChat(s *chatServer, a chat.Arguments) (*chat.Session, *strings.Builder, *strings.Builder) {
	a.Model, a.URL = "m", "http://h/v1/chat/completions"
	out, errs := new(strings.Builder), new(strings.Builder)
	return &chat.Session{Arguments: &a, Sender: s, Out: out, Err: errs,
		Count: func(t string) int { return len(strings.Fields(t)) }, ReadGap: 300 * time.Second}, out, errs
}

func TestChatReplyAndItsFigures(t *testing.T) {
	usage := `{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":128,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":96},"completion_tokens_details":{"reasoning_tokens":2}}}`
	for _, c := range []struct {
		name     string
		events   []string
		detailed bool
		want     string
	}{
		{"counted by the server", []string{chatDelta("reasoning_content", "hm"), chatDelta("content", "Hel"),
			chatDelta("content", "lo"), usage, "[DONE]"}, true,
			"hm\n\nHello\nTTFT: 20.00 ms\nTPS:  125.00 tokens/s (5 tokens, 2 reasoning in 0.04s)\nITL:  5.00 " +
				"ms/token (decode 200.00 tokens/s)\nCache: 96/128 prompt tokens cached (75.0%)\n"},
		{"briefly", []string{chatDelta("content", "Hello"), usage}, false,
			"Hello\nTTFT: 20.00 ms\nTPS:  250.00 tokens/s (5 tokens, 2 reasoning in 0.02s)\n"},
		{"counted here", []string{chatDelta("content", "a b"), chatDelta("content", " c")}, true,
			"a b c\nTTFT: 20.00 ms\nTPS:  100.00 tokens/s (3 tokens in 0.03s)\nITL:  5.00 ms/token (decode 200.00 " +
				"tokens/s)\n"},
		{"nothing", []string{chatDelta("content", ""), "[DONE]"}, true, "(no tokens received)\n"},
		{"what would steer the terminal", []string{chatDelta("content", "a\x1b[2J\tb")}, false,
			"a\\x1b[2J\tb\nTTFT: 20.00 ms\nTPS:  100.00 tokens/s (2 tokens in 0.02s)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, out, _ := newChat(&chatServer{events: c.events}, chat.Arguments{})
			if err := s.Say(t.Context(), "hi", c.detailed); err != nil || out.String() != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, out, c.want)
			}
		})
	}
}

// chatRoles are the messages of each body as role:content.
func chatRoles(t *testing.T, bodies []string) []string {
	t.Helper()
	var list []string
	for _, body := range bodies {
		var doc struct {
			Messages      []struct{ Role, Content string }
			Stream        bool
			StreamOptions struct {
				IncludeUsage bool `json:"include_usage"`
			} `json:"stream_options"`
		}
		if err := json.Unmarshal([]byte(body), &doc); err != nil || !doc.Stream || !doc.StreamOptions.IncludeUsage {
			t.Fatalf("%v: %s", err, body)
		}
		var parts []string
		for _, m := range doc.Messages {
			parts = append(parts, m.Role+":"+m.Content)
		}
		list = append(list, strings.Join(parts, " "))
	}
	return list
}

func TestChatHistory(t *testing.T) {
	system := "be brief"
	for _, c := range []struct {
		name      string
		arguments chat.Arguments
		events    []string
		want      []string
	}{
		{"kept", chat.Arguments{History: true, SystemPrompt: &system}, []string{chatDelta("content", "A")},
			[]string{"system:be brief user:one", "system:be brief user:one assistant:A user:two"}},
		{"not kept", chat.Arguments{}, []string{chatDelta("content", "A")}, []string{"user:one", "user:two"}},
		{"of visible text alone", chat.Arguments{History: true},
			[]string{chatDelta("reasoning_content", "hm"), chatDelta("content", "A")},
			[]string{"user:one", "user:one assistant:A user:two"}},
		{"of reasoning where there is no text", chat.Arguments{History: true},
			[]string{chatDelta("reasoning_content", "hm")},
			[]string{"user:one", "user:one assistant:hm user:two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := &chatServer{events: c.events}
			s, _, errs := newChat(server, c.arguments)
			if err := s.Run(t.Context(), strings.NewReader("one\n\n  \ntwo\n"), nil); err != nil || errs.Len() > 0 {
				t.Fatal(err, errs)
			}
			if got := chatRoles(t, server.bodies); !slices.Equal(got, c.want) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestFailedRequestsOfAChatAreToldAndForgotten(t *testing.T) {
	long := strings.Repeat("x", 600)
	server := &chatServer{status: 500, err: &record.Error{Code: 500, HasCode: true, Type: "Internal Server Error",
		Message: long + " sk-secret"}}
	s, out, errs := newChat(server, chat.Arguments{History: true})
	s.Redact = func(text string) string { return strings.ReplaceAll(text, "sk-secret", "") }
	if err := s.Run(t.Context(), strings.NewReader("one\ntwo"), nil); err != nil {
		t.Fatal(err)
	}
	want := "request failed: HTTP 500 Internal Server Error: " + strings.Repeat("x", 500) + "…\nThe server failed\n"
	if errs.String() != want+want || strings.Count(out.String(), "> ") != 3 {
		t.Errorf("out %q\nerr %q", out, errs)
	}
	if got := chatRoles(t, server.bodies); !slices.Equal(got, []string{"user:one", "user:two"}) {
		t.Errorf("%q", got)
	}
}

func TestSilenceAndInterruptsOfAChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := newChat(&chatServer{hang: true}, chat.Arguments{})
		begun := time.Now()
		if err := s.Say(t.Context(), "hi", true); err == nil || !strings.Contains(err.Error(), "5m0s") ||
			time.Since(begun) != s.ReadGap {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		interrupts := make(chan struct{})
		in := &heldInput{done: make(chan struct{})}
		s, _, errs := newChat(&chatServer{hang: true}, chat.Arguments{})
		ended := make(chan error)
		go func() { ended <- s.Run(t.Context(), in, interrupts) }()
		synctest.Wait()
		interrupts <- struct{}{} // ends the reply
		synctest.Wait()
		if errs.String() != "request failed: interrupted\n" {
			t.Errorf("%q", errs)
		}
		interrupts <- struct{}{} // ends the conversation
		if err := <-ended; err != nil {
			t.Error(err)
		}
		close(in.done)
	})
}

// heldInput is an input of one line whose end does not come.
type heldInput struct {
	said bool
	done chan struct{}
}

func (h *heldInput) Read(p []byte) (int, error) {
	if !h.said {
		h.said = true
		return copy(p, "hello\n"), nil
	}
	<-h.done
	return 0, context.Canceled
}

func TestChatAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"localhost:8000":                  "http://localhost:8000/v1/chat/completions",
		"https://h/":                      "https://h/v1/chat/completions",
		"http://h/v1/":                    "http://h/v1/chat/completions",
		"http://h/proxy":                  "http://h/proxy/v1/chat/completions",
		"http://h/x/chat/completions":     "http://h/x/chat/completions",
		"http://h/openai/deployments/a//": "http://h/openai/deployments/a/v1/chat/completions",
	} {
		a := chat.Arguments{Model: "m", URL: in}
		if err := a.Complete(); err != nil || a.URL != want {
			t.Errorf("%s: %s %v", in, a.URL, err)
		}
	}
	for _, in := range []string{"", "ftp://h", "http://"} {
		a := chat.Arguments{Model: "m", URL: in}
		if err := a.Complete(); err == nil {
			t.Errorf("%q: %s", in, a.URL)
		}
	}
}
