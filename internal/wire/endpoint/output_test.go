package endpoint

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// Output is read wherever an API puts it; what nobody reads has its name noted.
func TestOutputOfTheAPIs(t *testing.T) {
	for _, c := range []struct {
		name, endpoint    string
		events            []string
		output, reasoning string
		content           []int64
		unread            []string
	}{
		{"refusals and custom tools", "responses", []string{`{"type":"response.refusal.delta","delta":"no"}`,
			`{"type":"response.refusal.done","refusal":"no"}`, `{"type":"response.custom_tool_call_input.delta","delta":"in"}`},
			"noin", "", []int64{10, 20, 30}, nil},
		{"a summary of reasoning", "responses", []string{`{"type":"response.reasoning_summary_text.delta","delta":"R"}`}, "", "R",
			[]int64{10}, nil},
		{"sound", "responses", []string{`{"type":"response.output_audio.delta","delta":"AAAA"}`}, "", "", []int64{10}, nil},
		{"sound of a chat", "chat", []string{delta(`"audio":{"id":"i","data":"AAAA","expires_at":1}`),
			delta(`"audio":{"transcript":"hi"}`), delta(`"content":[{"type":"output_audio","data":"AAAA"}]`)}, "hi", "",
			[]int64{10, 20, 30}, nil},
		{"sound at the end", "responses", []string{`{"type":"response.completed","response":{"object":"response","output":[` +
			`{"type":"message","content":[{"type":"output_audio","data":"AAAA","transcript":"hi"}]}]}}`}, "hi", "", []int64{10}, nil},
		{"deltas of an unknown kind", "responses", []string{`{"type":"response.dance.delta","delta":"x"}`,
			`{"type":"response.dance.delta","delta":"y"}`, `{"type":"response.dance.delta","delta":""}`}, "", "", nil,
			[]string{"response.dance.delta"}},
		{"all at the end", "responses", []string{`{"type":"response.created"}`,
			`{"type":"response.completed","response":{"object":"response","output":[{"type":"message","content":[{"type":"output_text","text":"T"}]}]}}`},
			"T", "", []int64{20}, nil},
		{"a block that begins with text", "messages", []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"R"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"b"}}`}, "ab", "R", []int64{10, 20, 30}, nil},
		{"deltas without a type", "messages", []string{`{"type":"content_block_delta","delta":{"text":"a"}}`,
			`{"type":"content_block_delta","delta":{"type":"dance_delta","dance":"x"}}`,
			`{"type":"content_block_delta","delta":{"type":"citations_delta","citation":{"a":1}}}`}, "a", "", []int64{10},
			[]string{"delta.dance"}},
		{"members of a delta", "chat", []string{delta(`"images":[{"url":"x"}],"role":"assistant","annotations":["x"]`),
			delta(`"images":[{"url":"y"}],"content":"a","mood":""`), delta(`"content":[{"type":"dance","dance":"x"}]`)}, "a", "", []int64{20},
			[]string{"message.images", "content.dance"}},
	} {
		r := stream(t, c.endpoint, c.events...)
		if string(r.Output) != c.output || string(r.Reasoning) != c.reasoning || !slices.Equal(r.ContentNS, c.content) ||
			!slices.Equal(r.Unread, c.unread) {
			t.Errorf("%s: output %q, reasoning %q, content at %v, unread %q", c.name, r.Output, r.Reasoning, r.ContentNS, r.Unread)
		}
	}
}

func TestUnreadNamesAreBounded(t *testing.T) {
	var members []string
	for _, name := range strings.Split("abcdefgh", "") {
		members = append(members, `"`+name+`":"x"`)
	}
	r := stream(t, "chat", delta(strings.Join(members, ",")))
	if len(r.Unread) != maxUnread || r.Unread[0] != "message.a" {
		t.Errorf("names %q", r.Unread)
	}
	// A piece of what is no name may be one of a secret.
	for _, name := range []string{`\u001b[31m`, "sk/live+123", strings.Repeat("x", maxName)} {
		if r := stream(t, "chat", delta(`"`+name+`":"x"`)); !slices.Equal(r.Unread, []string{"unreadable"}) {
			t.Errorf("%s: names %q", name, r.Unread)
		}
	}
}

func TestEndingsOfTheAPIs(t *testing.T) {
	for _, c := range []struct{ endpoint, event, want string }{
		{"chat", `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "stop"},
		{"chat", `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, "content_filter"},
		{"chat", `{"choices":[{"delta":{},"finish_reason":"a\u001b[31mb"}]}`, "unreadable"},
		{"chat", `{"choices":[{"delta":{},"finish_reason":"null"}]}`, ""},
		{"chat", `{"choices":[{"delta":{},"finish_reason":3}]}`, ""},
		{"completions", `{"choices":[{"text":"a","finish_reason":"length"}]}`, "length"},
		{"messages", `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, "refusal"},
		{"messages", `{"type":"message","content":[],"stop_reason":"end_turn"}`, "end_turn"},
		{"responses", `{"type":"response.completed","response":{"status":"completed"}}`, "completed"},
		{"responses", `{"type":"response.failed","response":{}}`, "failed"},
		{"responses", `{"object":"response","status":"cancelled","output":[]}`, "cancelled"},
		{"responses", `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`,
			"max_output_tokens"},
		{"huggingface_generate", `{"token":{"text":"a"},"generated_text":"a","details":{"finish_reason":"eos_token"}}`, "eos_token"},
		{"sglang_generate", `{"output_ids":[1],"meta_info":{"finish_reason":{"type":"abort"}}}`, "abort"},
		{"raw", `{"text":"a","meta_info":{"finish_reason":{"type":"length","length":4}}}`, "length"},
		{"raw", `{"message":{"content":"a"},"done":true,"done_reason":"stop"}`, "stop"},
	} {
		if got := stream(t, c.endpoint, c.event).Ending; got != c.want {
			t.Errorf("%s %s: %q, want %q", c.endpoint, c.event, got, c.want)
		}
	}
}

func TestUsageOfTheVendors(t *testing.T) {
	for _, c := range []struct{ endpoint, event string }{
		{"chat", `{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":7,"completion_tokens":4}}]}`},
		{"chat", `{"choices":[],"x_groq":{"usage":{"prompt_tokens":7,"completion_tokens":4}}}`},
		{"chat", `{"choices":[{"delta":{"content":"a"}}],"input_tokens":7,"output_tokens":4}`},
		{"chat", `{"message":{"content":"a"},"done":true,"prompt_eval_count":7,"eval_count":4}`},
		{"huggingface_generate", `{"token":{"text":"a"},"details":{"input_length":7,"generated_tokens":4}}`},
		{"raw", `{"text":"a","meta_info":{"prompt_tokens":"7","completion_tokens":"4"}}`},
		{"raw", `{"response":"a","prompt_eval_count":7,"eval_count":4}`},
	} {
		u := &stream(t, c.endpoint, c.event).Usage
		prompt, _ := u.Value(record.UsagePrompt)
		if completion, _ := u.Value(record.UsageCompletion); prompt != 7 || completion != 4 {
			t.Errorf("%s %s: %d and %d tokens, want 7 and 4", c.endpoint, c.event, prompt, completion)
		}
	}
}

// A body that is not JSON is text where it says so, and no page for people is.
func TestPlainBodies(t *testing.T) {
	for _, c := range []struct {
		contentType, body string
		text              bool
	}{
		{"text/plain", "plain text", true},
		{"", "plain text", true},
		{"application/json", "plain text", false},
		{"text/html", "plain text", false},
		{"text/plain", " <!DOCTYPE html><html>log in</html>", false},
		{"", "<html>", false},
	} {
		for _, name := range []string{"raw", "template"} {
			e, err := New(name, Options{Extra: extra("payload_template", `"{}"`)})
			if err != nil {
				t.Fatal(err)
			}
			d := e.NewDecoder()
			d.Body(c.contentType, false, []byte(c.body), 10)
			if r := d.Reply(); (len(r.ContentNS) == 1) != c.text || (r.Malformed == 0) != c.text ||
				!c.text && r.Sample() != strings.TrimSpace(c.body) {
				t.Errorf("%s, %s %q: output %q, malformed %d, sample %q", name, c.contentType, c.body, r.Output, r.Malformed,
					r.Sample())
			}
		}
	}
}

// A stream of a template whose field has the text so far counts what each event adds.
func TestCumulativeTemplate(t *testing.T) {
	e, err := New("template", Options{Extra: extra("payload_template", `"{}"`, "response_field", `"output.text"`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		texts, want string
		cumulative  bool
	}{
		{"a ab abc", "abc", true}, {"a ab", "aab", false}, {"a a a", "aaa", false}, {"ab a abc", "abaabc", false},
		{"a ab abc abcd abcde abcdef abcdefg abcdefgh abcdefghi x", "abcdefghix", true},
	} {
		d := e.NewDecoder()
		for i, text := range strings.Fields(c.texts) {
			d.Event(nil, []byte(`{"output":{"text":"`+text+`"}}`), int64(i+1)*10)
		}
		r := d.Reply()
		if string(r.Output) != c.want || r.Cumulative != c.cumulative || len(r.ContentNS) != len(strings.Fields(c.texts)) {
			t.Errorf("%s: %q at %v, cumulative %v; want %q", c.texts, r.Output, r.ContentNS, r.Cumulative, c.want)
		}
		if again := d.Reply(); string(again.Output) != c.want {
			t.Errorf("%s: the second look at the reply says %q", c.texts, again.Output)
		}
		d.Release()
	}
}

// Each level is read once more, so that deep nesting with a long text at its end would take hours.
func TestSoundIsNotLookedForAtAnyDepth(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"data":"QUJD"}`: true, `{"type":"audio","audio":{"data":"QUJD"}}`: true,
		`{"type":"audio_url","audio_url":{"url":"http://h/a.wav"}}`:                                                     true,
		`{"audio":{"audio":{"data":"QUJD"}}}`:                                                                           false,
		strings.Repeat(`{"audio":`, 9000) + `{"data":"` + strings.Repeat("A", 1<<20) + `"}` + strings.Repeat("}", 9000): false,
	} {
		if _, got := sound([]byte(raw)); got != want {
			t.Errorf("%.60s: sound %v", raw, got)
		}
	}
}
