package intake_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/intake"
)

// words counts the words of a text.
type words struct{}

func (words) Count(text string) int { return len(strings.Fields(text)) }

const ms = int64(1e6)

// started is the instant at which the exchanges of these tests start.
const started = 1000 * ms

// at is the instant that many milliseconds after the start.
func at(millis int64) int64 { return started + millis*ms }

func chatDecoder(t testing.TB) endpoint.Decoder {
	t.Helper()
	e, err := endpoint.New("chat", endpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e.NewDecoder()
}

func delta(members string) string {
	return `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + members + `}}]}`
}

// event is one stream event and when it arrives, in milliseconds after the start.
type event struct {
	millis int64
	data   string
}

// streamed is the job of a streaming chat whose events arrived as listed.
func streamed(t testing.TB, events ...event) *intake.Job {
	d := chatDecoder(t)
	j := &intake.Job{
		Identity:        record.Identity{RequestID: "r", TurnIndex: 0, Phase: record.PhaseProfiling},
		Exchange:        client.Exchange{StartNS: started, EndNS: started, Status: 200},
		Decoder:         d,
		Body:            &endpoint.Body{Bytes: []byte(`{"messages":[{"role":"user","content":"a b c"}]}`)},
		RequestedTokens: record.Absent,
		IssuedNS:        at(-2),
	}
	for _, e := range events {
		d.Event(nil, []byte(e.data), at(e.millis))
		j.Exchange.Responses++
		j.Exchange.LastResponseNS = at(e.millis)
		j.Exchange.EndNS = at(e.millis + 1)
	}
	return j
}

// whole is the job of a reply that came as one body at 5 ms.
func whole(t testing.TB, body string) *intake.Job {
	j := streamed(t)
	j.Decoder.Body("application/json", false, []byte(body), at(5))
	j.Exchange.Responses, j.Exchange.LastResponseNS, j.Exchange.EndNS = 1, at(5), at(5)
	return j
}

func options() intake.Options {
	return intake.Options{
		Tokenizer:    words{},
		CountsOutput: true, CountsInput: true,
		WallNS: func(mono int64) int64 { return mono + 5e15 },
	}
}

func wantFacts(t *testing.T, r *record.Record, want map[record.Field]int64) {
	t.Helper()
	for field, n := range want {
		if got := r.Facts[field]; got != n {
			t.Errorf("fact %d: got %d, want %d", field, got, n)
		}
	}
}

const absent = record.Absent

func TestFactsOfAStream(t *testing.T) {
	j := streamed(t, event{20, delta(`"role":"assistant"`)}, event{100, delta(`"reasoning":"r r"`)},
		event{130, delta(`"content":"Hel"`)},
		event{130, delta(`"content":"lo wor"`)}, event{300, delta(`"content":"ld"`)},
		event{303, `{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}`},
		event{305, "[DONE]"})
	j.Exchange.AckNS = at(10)
	j.IntendedNS, j.PickedUpNS = at(-5), at(-1)
	j.RequestedTokens = 64
	j.Exchange.Timing = client.Timing{Waiting: 7, Reused: 1, Connecting: absent}
	r := intake.New(options()).Record(j)
	if r.Err != nil {
		t.Fatalf("error %+v", r.Err)
	}
	wantFacts(t, r, map[record.Field]int64{
		record.StartWall: started + 5e15, record.CreditIssued: -2 * ms, record.IntendedSend: -5 * ms,
		record.CreditDrop: ms,
		record.Ack:        10 * ms, record.FirstContent: 100 * ms, record.SecondContent: 130 * ms,
		record.FirstOutput: 130 * ms, record.LastContent: 300 * ms,
		record.LastResponse: 305 * ms, record.End: 306 * ms, record.Cancelled: absent, record.Contents: 4,
		record.InputTokens: 3, record.OutputTokens: 2, record.ReasoningTokens: 2, record.RequestedTokens: 64,
		record.UsagePrompt: 9, record.UsageCompletion: 4, record.UsageTotal: absent,
		record.UsagePromptAudioSeconds: absent,
		record.Waiting:                 7, record.ConnectionReused: 1, record.Connecting: absent, record.Failed: absent,
		record.Good: absent,
	})
	if !slices.Equal(r.GapsNS, []int64{30 * ms, 0, 170 * ms}) {
		t.Errorf("gaps %v", r.GapsNS)
	}
	if r.RequestID != "r" || r.Phase != record.PhaseProfiling {
		t.Errorf("identity %+v", r.Identity)
	}
}

func TestContinuationsHaveNoCreditDrop(t *testing.T) {
	j := streamed(t, event{1, delta(`"content":"x"`)})
	j.PickedUpNS, j.Identity.TurnIndex = at(-1), 1
	wantFacts(t, intake.New(options()).Record(j), map[record.Field]int64{record.CreditDrop: absent})
}

// Usage and [DONE] are no content.
func TestTrapLatencyEndsAtContent(t *testing.T) {
	r := intake.New(options()).Record(streamed(t, event{10, delta(`"role":"assistant","content":""`)},
		event{50, delta(`"content":" "`)}, event{300, delta(`"content":"Hi"`)},
		event{303, `{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1}}`},
		event{305, "[DONE]"}))
	wantFacts(t, r, map[record.Field]int64{record.FirstContent: 50 * ms, record.LastContent: 300 * ms,
		record.LastResponse: 305 * ms, record.Contents: 2})
	if len(r.GapsNS) != 1 {
		t.Errorf("gaps %v", r.GapsNS)
	}
}

// A delta with nothing but the role is not a token: the first text is.
func TestTrapRoleOnlyDeltaIsNoFirstToken(t *testing.T) {
	r := intake.New(options()).Record(streamed(t, event{20, delta(`"role":"assistant"`)},
		event{40, delta(`"role":"assistant","content":""`)},
		event{100, delta(`"content":"a"`)}, event{120, "[DONE]"}))
	wantFacts(t, r, map[record.Field]int64{record.FirstContent: 100 * ms, record.FirstOutput: 100 * ms,
		record.LastContent: 100 * ms, record.Contents: 1})
}

// Reasoning is the first token but not the first output; the text of a tool call is both.
func TestTrapToolCallIsOutputAndReasoningIsNot(t *testing.T) {
	tool := delta(`"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]`)
	for _, c := range []struct {
		first                     string
		firstContent, firstOutput int64
	}{
		{delta(`"reasoning_content":"r"`), 20 * ms, 60 * ms},
		{tool, 20 * ms, 20 * ms},
	} {
		r := intake.New(options()).Record(streamed(t, event{20, c.first}, event{60, delta(`"content":"a"`)}))
		wantFacts(t, r, map[record.Field]int64{record.FirstContent: c.firstContent, record.FirstOutput: c.firstOutput})
	}
	only := intake.New(options()).Record(streamed(t, event{20, delta(`"reasoning_content":"r"`)}))
	wantFacts(t, only, map[record.Field]int64{record.FirstContent: 20 * ms, record.FirstOutput: absent})
}

// Texts are joined before they are counted.
func TestTrapTokensAreCountedOnce(t *testing.T) {
	r := intake.New(options()).Record(streamed(t, event{1, delta(`"content":"Hel"`)}, event{2, delta(`"content":"lo wor"`)},
		event{3, delta(`"content":"ld"`)}))
	wantFacts(t, r, map[record.Field]int64{record.OutputTokens: 2, record.ReasoningTokens: absent})
	r = intake.New(options()).Record(whole(t,
		`{"object":"chat.completion","choices":[{"message":{"content":"1 2 3 4 5 6 7 8 9 10 11 12"}}]}`))
	wantFacts(t, r, map[record.Field]int64{record.OutputTokens: 12, record.Contents: 1, record.SecondContent: absent})
}

// No text, no count.
func TestTrapInputWithoutText(t *testing.T) {
	j := streamed(t, event{1, delta(`"content":"x"`)})
	j.Body = &endpoint.Body{Bytes: []byte(
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}],"max_tokens":50}`)}
	wantFacts(t, intake.New(options()).Record(j), map[record.Field]int64{record.InputTokens: absent})
}

// The server's counts: completion without reasoning is the output, never below 0.
func TestTrapServerTokens(t *testing.T) {
	for _, c := range []struct {
		usage                    string
		input, output, reasoning int64
		warning                  string
	}{
		{`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":12}}`, 100, 8, 12, ""},
		{`{"prompt_tokens":1,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":9}}`, 1, 0, 9,
			"reasoning_exceeds_completion"},
		{`{"prompt_tokens":1,"completion_tokens":5}`, 1, 5, absent, ""},
		{`{"completion_tokens":0}`, absent, 0, absent, ""},
		{`{"usageMetadata":{"candidatesTokenCount":5,"thoughtsTokenCount":9}}`, absent, 5, 9, ""},
		{`{}`, absent, absent, absent, "usage_missing"},
		{`null`, absent, absent, absent, "usage_missing"},
	} {
		var warnings []string
		o := options()
		o.ServerTokens, o.Tokenizer = true, nil
		o.Warn = func(kind, _ string) { warnings = append(warnings, kind) }
		in := intake.New(o)
		for range 2 {
			r := in.Record(whole(t, `{"object":"chat.completion","choices":[{"message":{"content":"x y"}}],"usage":`+
				c.usage+`}`))
			wantFacts(t, r, map[record.Field]int64{record.InputTokens: c.input, record.OutputTokens: c.output,
				record.ReasoningTokens: c.reasoning})
		}
		if got := strings.Join(warnings, " "); got != c.warning {
			t.Errorf("%s: warnings %q, want %q", c.usage, got, c.warning)
		}
	}
}

// A reranker may report the total alone, which is then that of the prompt.
func TestServerTokensOfATypeThatWritesNothing(t *testing.T) {
	for _, writes := range []bool{false, true} {
		o := options()
		o.ServerTokens, o.Tokenizer, o.CountsInput, o.CountsOutput = true, nil, true, writes
		want := map[bool]int64{false: 26, true: absent}[writes]
		r := intake.New(o).Record(whole(t,
			`{"object":"chat.completion","choices":[{"message":{"content":"x"}}],"usage":{"total_tokens":26}}`))
		wantFacts(t, r, map[record.Field]int64{record.InputTokens: want})
	}
}

// The bytes of a sound are no text: a request for speech has its input length, and what is known of the sound.
func TestFactsOfSpeech(t *testing.T) {
	speech := func(kind, body string, reads ...int) *intake.Job {
		e, err := endpoint.New("audio_speech", endpoint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		j := streamed(t)
		j.Decoder, j.Body = e.NewDecoder(), &endpoint.Body{Bytes: []byte(`{"input":"a b c"}`)}
		for k, n := range reads {
			j.Decoder.(client.Listener).Coming(kind, []byte(body[:n]), at(int64(k+1)))
		}
		j.Decoder.Body(kind, true, []byte(body), at(9))
		j.Exchange.Responses, j.Exchange.LastResponseNS, j.Exchange.EndNS = 1, at(9), at(9)
		return j
	}
	o := options()
	o.CountsOutput = false
	r := intake.New(o).Record(speech("audio/pcm", strings.Repeat("\x00", 48000), 100, 4800, 48000))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	millisecond := at(1) - at(0)
	wantFacts(t, r, map[record.Field]int64{record.InputTokens: 3, record.OutputTokens: absent, record.AudioBytes: 48000,
		record.FirstAudioBytes: 100, record.AudioMade: 1e9, record.FirstContent: millisecond, record.LastContent: 3 * millisecond,
		record.Contents: 2})
	for kind, body := range map[string]string{"audio/wav": "", "audio/mpeg": `{"error":{"message":"no such voice"}}`,
		"application/octet-stream": "Bad Gateway"} {
		r := intake.New(o).Record(speech(kind, body, len(body)))
		if r.Err == nil {
			t.Errorf("%q is sound", body)
		}
		wantFacts(t, r, map[record.Field]int64{record.AudioBytes: absent, record.FirstAudioBytes: absent, record.AudioMade: absent})
	}
}

func TestUsageFacts(t *testing.T) {
	r := intake.New(options()).Record(whole(t,
		`{"object":"chat.completion","choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":10,"completion_tokens":9,"total_tokens":19,`+
			`"prompt_tokens_details":{"cached_tokens":1,"audio_tokens":2},"completion_tokens_details":{"reasoning_tokens":3,"audio_tokens":4,"accepted_prediction_tokens":5,"rejected_prediction_tokens":6},`+
			`"cache_creation_input_tokens":7,"prompt_cache_miss_tokens":8,"toolUsePromptTokenCount":11,"prompt_audio_seconds":1.5}}`))
	wantFacts(t, r, map[record.Field]int64{
		record.UsagePrompt: 10, record.UsageCompletion: 9, record.UsageTotal: 19, record.UsageCacheRead: 1,
		record.UsagePromptAudio: 2,
		record.UsageReasoning:   3, record.UsageCompletionAudio: 4, record.UsageAcceptedPrediction: 5,
		record.UsageRejectedPrediction: 6,
		record.UsageCacheWrite:         7, record.UsageCacheMiss: 8, record.UsageToolUsePrompt: 11,
		record.UsagePromptAudioSeconds: int64(math.Float64bits(1.5)),
	})
}

const noContent = "InvalidInferenceResultError('Invalid inference result: No responses with actual content were " +
	"received from the server (only usage/metadata, null/empty data, or [DONE] markers)')"

const unparsed = "InvalidInferenceResultError('Invalid inference result: The response could not be parsed as JSON')"

func TestFailures(t *testing.T) {
	const ok = `{"object":"chat.completion","choices":[{"message":{"content":"x"}}]}`
	broken := func(change func(*intake.Job)) *intake.Job {
		j := whole(t, ok)
		change(j)
		return j
	}
	for _, c := range []struct {
		name string
		job  *intake.Job
		want record.Error
	}{
		{"nothing came", streamed(t), record.Error{Type: "InvalidInferenceResultError",
			Message: "InvalidInferenceResultError('Invalid inference result: No responses were received')"}},
		{"no content", streamed(t, event{1, delta(`"content":""`)}, event{2, "[DONE]"}),
			record.Error{Type: "InvalidInferenceResultError", Message: noContent}},
		{"only malformed", streamed(t, event{1, "{"}),
			record.Error{Type: "InvalidInferenceResultError", Message: unparsed}},
		{"a malformed body", whole(t, `{"object":"chat.compl`),
			record.Error{Type: "InvalidInferenceResultError", Message: unparsed}},
		{"error inside a 200", whole(t, `{"error":{"message":"m","type":"t","code":400}}`),
			record.Error{Code: 400, HasCode: true, Type: "t", Message: "m"}},
		{"error after content", streamed(t, event{1, delta(`"content":"x"`)}, event{2, `{"error":"boom"}`}),
			record.Error{Message: "boom"}},
		{"end before start", broken(func(j *intake.Job) { j.Exchange.EndNS = at(0) }),
			record.Error{Type: "InvalidInferenceResultError",
				Message: "InvalidInferenceResultError('Invalid inference result: The request does not end after its " +
					"start')"}},
		{"the wire comes first", broken(func(j *intake.Job) {
			j.Exchange.Err = &record.Error{Type: "ClientPayloadError",
				Message: "cut"}
		}),
			record.Error{Type: "ClientPayloadError", Message: "cut"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := intake.New(options()).Record(c.job)
			if r.Err == nil || r.Err.Key() != c.want.Key() {
				t.Fatalf("got %+v, want %+v", r.Err, c.want)
			}
			// A failed request keeps its input count, and no output counts.
			wantFacts(t, r, map[record.Field]int64{record.Failed: 1, record.InputTokens: 3, record.OutputTokens: absent,
				record.ReasoningTokens: absent, record.UsagePrompt: absent})
			if !r.IsError() {
				t.Error("the record is no error")
			}
		})
	}
}

// Answers are handed over for grading: an empty one is an answer, too, a failed request is not.
func TestAnswersAreHandedOver(t *testing.T) {
	for _, c := range []struct {
		name               string
		job                *intake.Job
		content, reasoning string
		answered, empty    bool
	}{
		{"content", streamed(t, event{1, delta(`"content":"a"`)}, event{2, delta(`"content":"b"`)}), "ab", "", true, false},
		{"reasoning and content", streamed(t, event{1, delta(`"reasoning_content":"r"`)}, event{2, delta(`"content":"a"`)}),
			"a", "r", true, false},
		{"reasoning alone", streamed(t, event{1, delta(`"reasoning_content":"r"`)}), "r", "r", true, false},
		{"an empty delta", streamed(t, event{1, delta(`"content":""`)}, event{2, "[DONE]"}), "", "", true, true},
		{"the end of the stream alone", streamed(t, event{1, "[DONE]"}), "", "", true, true},
		{"an empty body", whole(t, ""), "", "", true, true},
		{"a null message", whole(t, `{"object":"chat.completion","choices":[{"message":{"content":null}}]}`), "", "", true, true},
		{"malformed", streamed(t, event{1, "{"}), "", "", false, false},
		{"an error inside a 200", whole(t, `{"error":"m"}`), "", "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := 0
			o := options()
			o.Answer = func(_ *record.Record, content, reasoning []byte) {
				if answers++; string(content) != c.content || string(reasoning) != c.reasoning {
					t.Errorf("%q and %q, want %q and %q", content, reasoning, c.content, c.reasoning)
				}
			}
			r := intake.New(o).Record(c.job)
			if (answers == 1) != c.answered || r.Empty != c.empty || c.empty && r.Err == nil {
				t.Errorf("%d answers, empty %v, error %v", answers, r.Empty, r.Err)
			}
		})
	}
	failed := streamed(t, event{1, delta(`"content":""`)})
	failed.Exchange.Err = &record.Error{Code: 500, HasCode: true}
	o := options()
	o.Answer = func(*record.Record, []byte, []byte) { t.Error("a failed request has an answer") }
	intake.New(o).Record(failed)
}

// Earlier content does not rescue a request.
func TestTrapContentDoesNotRescue(t *testing.T) {
	j := streamed(t, event{1, delta(`"content":"x"`)})
	j.Exchange.Err = &record.Error{Code: 502, HasCode: true, Type: "SSEResponseError",
		Message: "SSEResponseError('Error occurred in SSE response: server overloaded')"}
	if r := intake.New(options()).Record(j); r.Err == nil || r.Err.Code != 502 || r.Facts[record.OutputTokens] != absent {
		t.Errorf("got %+v", r.Err)
	}
}

// A reply without content is an error, though its status is 200 and it reports usage.
func TestTrapEmptyMessageIsAnError(t *testing.T) {
	r := intake.New(options()).Record(whole(t,
		`{"object":"chat.completion","choices":[{"message":{"content":""}}],"usage":{"prompt_tokens":1}}`))
	if r.Err == nil || r.Err.Message != noContent || !r.IsError() {
		t.Errorf("got %+v", r.Err)
	}
}

// A reply without content is told from another by what came instead; secrets in it are hidden.
func TestRepliesWithoutContentShowWhatCame(t *testing.T) {
	o := options()
	o.Redact = func(s string) string { return strings.ReplaceAll(s, "secret", "<redacted>") }
	for body, want := range map[string][2]string{
		`{"detail":"the key secret is wrong"}`: {noContent,
			`the server sent: {"detail":"the key <redacted> is wrong"}`},
		"":                     {noContent, "the server sent nothing"},
		"<html>log in, secret": {unparsed, "the server sent: <html>log in, <redacted>"},
	} {
		if r := intake.New(o).Record(whole(t, body)); r.Err == nil || r.Err.Message != want[0] || r.Err.Details != want[1] {
			t.Errorf("%q: %+v", body, r.Err)
		}
	}
}

// The redactor sees every message before the record does.
func TestTrapMessagesAreRedactedAndCut(t *testing.T) {
	o := options()
	o.Redact = func(s string) string { return strings.ReplaceAll(s, "secret", "<redacted>") }
	in := intake.New(o)
	long := strings.Repeat("é", 5000)
	for _, c := range []struct {
		name   string
		isBody bool
		err    record.Error
		want   string
	}{
		{"client error", false, record.Error{Type: "ClientOSError", Message: "secret " + long},
			"<redacted> " + strings.Repeat("é", 4096-11)},
		{"body of a 429 stays whole", true, record.Error{Code: 429, HasCode: true, Message: "secret " + long},
			"<redacted> " + long},
		{"no more than 4096 characters", false, record.Error{Message: strings.Repeat("x", 4096)},
			strings.Repeat("x", 4096)},
	} {
		j := streamed(t)
		original := c.err
		j.Exchange.Err, j.Exchange.ErrIsBody = &c.err, c.isBody
		if r := in.Record(j); r.Err.Message != c.want {
			t.Errorf("%s: got %d bytes starting %.20q", c.name, len(r.Err.Message), r.Err.Message)
		}
		if c.err.Message != original.Message {
			t.Errorf("%s: the exchange's error was changed", c.name)
		}
	}
	j := whole(t, `{"error":"secret"}`)
	if r := in.Record(j); r.Err.Message != "<redacted>" {
		t.Errorf("got %+v", r.Err)
	}
}

func TestRequestThatCouldNotBeBuilt(t *testing.T) {
	j := &intake.Job{Exchange: client.Exchange{StartNS: started, EndNS: started,
		Err: &record.Error{Type: "ValueError", Message: "ValueError('x')"}}, RequestedTokens: absent}
	r := intake.New(options()).Record(j)
	if r.Err == nil || r.Err.Type != "ValueError" {
		t.Errorf("got %+v", r.Err)
	}
	wantFacts(t, r, map[record.Field]int64{record.InputTokens: absent, record.End: 0, record.Blocked: absent,
		record.BytesSent: absent})
}

func TestCutOff(t *testing.T) {
	j := streamed(t, event{1, delta(`"content":"x"`)})
	j.Exchange.CutOff = true
	if r := intake.New(options()).Record(j); r != nil {
		t.Errorf("a request cut off by the end of the run yields no record: %+v", r)
	}
	j = streamed(t, event{1, delta(`"content":"x"`)})
	j.Exchange.CutOff, j.Exchange.Raw = true, &record.Raw{}
	r := intake.New(options()).Record(j)
	if r == nil || !r.Raw.CutOff || string(r.Raw.Payload) != string(j.Body.Bytes) {
		t.Errorf("the raw exchange is kept and marked: %+v", r)
	}
}

func TestTrapCancelledRequestSaysSo(t *testing.T) {
	j := streamed(t, event{1, delta(`"content":"x"`)})
	j.Exchange.CancelledNS = at(3)
	j.Exchange.Err = &record.Error{Code: 499, HasCode: true, Type: "RequestCancellationError"}
	r := intake.New(options()).Record(j)
	if !r.WasCancelled {
		t.Error("a request that the client cancelled says was_cancelled")
	}
	wantFacts(t, r, map[record.Field]int64{record.Cancelled: 3 * ms})
	if intake.New(options()).Record(streamed(t, event{1, delta(`"content":"x"`)})).WasCancelled {
		t.Error("a request that was not cancelled says was_cancelled")
	}
}

func TestOddities(t *testing.T) {
	for _, c := range []struct {
		want   string
		events []event
	}{
		{"", []event{{1, delta(`"content":"x"`)}, {2, "[DONE]"}}},
		{"", []event{{1, delta(`"content":"x"`)}}},
		{"malformed_events", []event{{1, delta(`"content":"x"`)}, {2, "{"}, {3, "[DONE]"}}},
		{"other_choices", []event{{1, delta(`"content":"x"`)}, {2, `{"choices":[{"index":1}]}`}, {3, "[DONE]"}}},
		{"", []event{{1, delta(`"content":""`)}}}, // the record's error says enough
	} {
		var warnings []string
		o := options()
		o.Warn = func(kind, message string) {
			warnings = append(warnings, kind)
			if message == "" {
				t.Errorf("%s has no message", kind)
			}
		}
		in := intake.New(o)
		in.Record(streamed(t, c.events...))
		in.Record(streamed(t, c.events...))
		if got := strings.Join(warnings, " "); got != c.want {
			t.Errorf("%v: warnings %q, want %q", c.events, got, c.want)
		}
		if counts := in.Oddities(); len(counts) != len(warnings) || len(counts) > 0 &&
			!strings.HasSuffix(counts[0], " (2 requests in all)") {
			t.Errorf("%v: counts %q", c.events, counts)
		}
	}
}

// A record has how its reply came and ended.
func TestHowRepliesCameAndEnded(t *testing.T) {
	long := delta(`"content":"` + strings.Repeat("word ", 8) + `"`)
	stop := `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	for _, c := range []struct {
		name string
		job  *intake.Job
		want record.Reply
	}{
		{"as most do", streamed(t, event{1, delta(`"content":"x"`)}, event{2, stop}), record.Reply{Ending: "stop"}},
		{"unfinished", streamed(t, event{1, delta(`"content":"x"`)}), record.Reply{Unfinished: true}},
		{"without content", streamed(t, event{1, `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`}),
			record.Reply{Ending: "content_filter"}},
		{"unread", streamed(t, event{1, delta(`"content":"x","dance":"y"`)}, event{2, stop}),
			record.Reply{Ending: "stop", Unread: []string{"message.dance"}}},
		{"in one event", streamed(t, event{1, long}, event{2, stop}), record.Reply{Ending: "stop", Unstreamed: true}},
		{"in one body", whole(t, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`),
			record.Reply{Ending: "stop", Unstreamed: true}},
	} {
		for _, stream := range []bool{true, false} {
			job := *c.job
			job.Body = &endpoint.Body{Bytes: []byte("{}"), Stream: stream}
			want := c.want
			want.Unstreamed = want.Unstreamed && stream
			decoder := job.Decoder
			job.Decoder = keptDecoder{decoder}
			if got := intake.New(options()).Record(&job).Reply; !reflect.DeepEqual(got, want) {
				t.Errorf("%s, stream %v: %+v, want %+v", c.name, stream, got, want)
			}
		}
	}
}

// keptDecoder is not given back, so that its reply can be looked at again.
type keptDecoder struct{ endpoint.Decoder }

func (keptDecoder) Release() {}

func TestEndpointsWithoutTokens(t *testing.T) {
	for _, server := range []bool{false, true} {
		o := options()
		o.CountsInput, o.CountsOutput, o.ServerTokens = false, false, server
		r := intake.New(o).Record(whole(t, `{"object":"chat.completion","choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`))
		wantFacts(t, r, map[record.Field]int64{record.InputTokens: absent, record.OutputTokens: absent})
	}
}

func benchJob(b testing.TB, e endpoint.Endpoint, body *endpoint.Body, chunk []byte, chunks int) *intake.Job {
	d := e.NewDecoder()
	for i := range chunks {
		d.Event(nil, chunk, at(int64(i+1)))
	}
	return &intake.Job{
		Exchange: client.Exchange{StartNS: started, EndNS: at(int64(chunks + 1)), Responses: chunks, Status: 200},
		Decoder:  d, Body: body, RequestedTokens: absent,
	}
}

// BenchmarkIntake decodes a reply and makes its record; the tokenizer's work is not in it.
func BenchmarkIntake(b *testing.B) {
	e, err := endpoint.New("chat", endpoint.Options{})
	if err != nil {
		b.Fatal(err)
	}
	chunk := []byte(delta(`"content":" hello"`))
	if !json.Valid(chunk) {
		b.Fatal("the chunk is not JSON")
	}
	body := &endpoint.Body{Bytes: []byte(`{"messages":[{"role":"user","content":"a b c"}]}`)}
	o := options()
	o.Tokenizer = constant{}
	in := intake.New(o)
	for _, chunks := range []int{1, 50} {
		b.Run(fmt.Sprintf("chunks=%d", chunks), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := in.Record(benchJob(b, e, body, chunk, chunks)); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

type constant struct{}

func (constant) Count(string) int { return 1 }
