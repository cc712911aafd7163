package endpoint

import (
	"bytes"
	"fmt"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
)

// Reply is a decoded exchange.
type Reply struct {
	// ContentNS are the instants of the content responses, in order.
	ContentNS []int64
	// FirstOutputNS is the instant of the first one that carries more than reasoning; 0 if none does.
	FirstOutputNS int64
	// Output is all text that is not reasoning, tool calls included, joined by nothing; Reasoning
	// likewise. Empty: no response carried any.
	Output, Reasoning []byte
	Usage             Usage
	// FirstChunkTokens is the completion count of the first content response that carries usage, reasoning
	// included; 0: none did, or it reported none.
	FirstChunkTokens int64
	// Err is the first error that the server reported inside a successful response.
	Err *record.Error
	// Finished is true when a finish reason, [DONE] or a whole body was seen.
	Finished bool
	// Ending is the finish or stop reason that the server gave, the last one; "" if it gave none.
	Ending string
	// Whole reports that the reply came as one body instead of events.
	Whole bool
	// Cumulative reports that each event of the stream repeated the text so far; Output has it once.
	Cumulative bool
	// Unread are the names of members that carried output which nobody reads, at most maxUnread.
	Unread []string
	// Malformed counts the events whose JSON could not be read.
	Malformed int
	// OtherChoices counts the choices after the first; they are not read.
	OtherChoices int

	// Images counts the images that the server made.
	Images int
	// AudioBytes are those of the sound that the server made, FirstAudioBytes those of them that had come with the first
	// content response; AudioSeconds is its length, 0 where that is not known.
	AudioBytes, FirstAudioBytes int64
	AudioSeconds                float64
	// InferenceSeconds and PeakMemoryMB are what the server reports of its work; nil if it does not.
	InferenceSeconds, PeakMemoryMB *float64
	// SpecDecode is the server's record of speculative decoding, as JSON; the last one counts. Empty if there is none.
	SpecDecode []byte
	// OutputIDs counts the token ids of a reply that came as such, instead of Output.
	OutputIDs int
	// ID names the reply where the next turn may refer to it instead of repeating it.
	ID string

	// sample is the beginning of a response without content, while none had any; sampled counts those.
	sample  []byte
	sampled int

	// text is Output without the tool calls, kept apart once there is a tool call.
	text  []byte
	tools toolCalls
	form  replayer
	// chunkUsage reports that a content response with usage was seen.
	chunkUsage bool
	growth     growth
}

// AppendAssistant appends the JSON message by which the next turn's history repeats this reply (several
// are separated by commas): its text, or its reasoning if there is nothing else, and its tool calls. A
// reply without any of them adds nothing.
func (r *Reply) AppendAssistant(dst []byte) []byte {
	if r.form != nil {
		return r.form.replay(r, dst)
	}
	text := r.Output
	if len(r.tools) > 0 {
		text = r.text
	} else if len(text) == 0 {
		text = r.Reasoning
	}
	if len(text) == 0 && len(r.tools) == 0 {
		return dst
	}
	dst = append(dst, `{"role":"assistant","content":`...)
	if len(text) == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = jsonscan.AppendString(dst, text)
	}
	if len(r.tools) > 0 {
		dst = append(dst, `,"tool_calls":`...)
		dst = r.tools.append(dst)
	}
	return append(dst, '}')
}

// keepSpecDecode takes the record of speculative decoding of a choice, or of the metrics at the root of a document.
func (r *Reply) keepSpecDecode(choice, metrics []byte) {
	if jsonscan.IsNull(choice) {
		choice = jsonscan.Find(metrics, "speculative_decoding")
	}
	if len(choice) > 0 && choice[0] == '{' {
		r.SpecDecode = append(r.SpecDecode[:0], choice...)
	}
}

// reset empties the reply and keeps its buffers.
func (r *Reply) reset() {
	*r = Reply{
		ContentNS: r.ContentNS[:0],
		Output:    r.Output[:0],
		Reasoning: r.Reasoning[:0],
		text:      r.text[:0],
		// Most servers have none.
		SpecDecode: r.SpecDecode[:0],
		form:       r.form,
		sample:     r.sample[:0],
	}
}

// maxSample is the length of a sample in bytes.
const maxSample = 200

// Sample is the beginning of a response of a reply that had no content: of the second one if there
// are several, since the first of a stream seldom contains anything. Empty: there was no text.
func (r *Reply) Sample() string { return strings.ToValidUTF8(string(r.sample), "") }

// binary notes a reply that is not text.
func (r *Reply) binary(contentType string, body []byte) {
	r.sample = fmt.Appendf(r.sample[:0], "%d bytes of %s", len(body), contentType)
}

// lacks keeps the beginning of a response while the reply has no content.
func (r *Reply) lacks(data []byte) {
	if len(r.ContentNS) > 0 {
		return
	}
	if r.sampled++; r.sampled <= 2 {
		r.sample = append(r.sample[:0], data[:min(len(data), maxSample)]...)
	}
}

// event passes the data of a server-sent event to document, unless it is the end mark of the stream.
func (r *Reply) event(data []byte, atNS int64, document func([]byte, int64)) {
	switch data = bytes.TrimSpace(data); string(data) {
	case "":
	case "[DONE]":
		r.Finished = true
	default:
		document(data, atNS)
	}
}

// body passes a whole reply to document.
func (r *Reply) body(contentType string, binary bool, body []byte, atNS int64, document func([]byte, int64)) {
	if binary {
		r.binary(contentType, body)
		return
	}
	if body = bytes.TrimSpace(body); len(body) > 0 {
		r.Finished, r.Whole = true, true
		document(body, atNS)
	}
}
