package api

import (
	"strconv"
)

// This file writes the replies of the responses API.

// appendResponse appends a response object, which has its output when the response is complete.
func appendResponse(r *Reply, b []byte, complete bool) []byte {
	p := r.Plan
	b = append(b, `{"id":"`...)
	b = r.AppendID(b)
	b = append(b, `","object":"response","created_at":`...)
	b = strconv.AppendInt(b, r.gen.seconds(r.Arrival), 10)
	b = append(b, `,"model":`...)
	b = append(b, r.Request.Model...)
	b = append(b, `,"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"error":null,"status":"`...)
	if !complete {
		return append(b, `in_progress","output":[],"usage":null}`...)
	}
	if p.Finish == "length" {
		b = append(b, `incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`...)
	} else {
		b = append(b, `completed","incomplete_details":null,"output":[`...)
	}
	if p.Reasoning > 0 {
		b = appendReasoningItem(r, b)
		if p.Content > 0 {
			b = append(b, ',')
		}
	}
	if p.Content > 0 {
		b = appendMessageItem(r, b)
	}
	b = append(b, `],"usage":{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(p.PromptTokens), 10)
	b = append(b, `,"input_tokens_details":{"cached_tokens":0},"output_tokens":`...)
	b = strconv.AppendInt(b, int64(p.Tokens()), 10)
	b = append(b, `,"output_tokens_details":{"reasoning_tokens":`...)
	b = strconv.AppendInt(b, int64(p.Reasoning), 10)
	b = append(b, `},"total_tokens":`...)
	b = strconv.AppendInt(b, int64(p.PromptTokens+p.Tokens()), 10)
	return append(b, "}}"...)
}

func appendReasoningItem(r *Reply, b []byte) []byte {
	b = append(b, `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"`...)
	b = r.appendReasoning(b)
	return append(b, `"}]}`...)
}

func appendMessageItem(r *Reply, b []byte) []byte {
	b = append(b, `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[`...)
	return append(appendTextPart(r, b), "]}"...)
}

func appendTextPart(r *Reply, b []byte) []byte {
	b = append(b, `{"type":"output_text","annotations":[],"text":"`...)
	b = r.appendContent(b, r.Plan.Content)
	return append(b, `"}`...)
}

func wholeResponse(r *Reply, b []byte) []byte { return appendResponse(r, b, true) }

// responseEvent appends the events of one step: those that open an item precede its first token.
func responseEvent(e *Events, b []byte, kind int) []byte {
	r, p := e.reply, &e.reply.Plan
	sequence := 0
	event := func(name, members string) {
		if sequence > 0 {
			b = append(b, "\n\n"...)
		}
		sequence++
		b = append(append(append(b, "event: "...), name...), "\ndata: {\"type\":\""...)
		b = append(append(append(b, name...), `","sequence_number":`...), strconv.Itoa(e.count)...)
		b = append(b, members...)
	}
	messageAt := "0"
	if p.Reasoning > 0 {
		messageAt = "1"
	}
	switch {
	case kind == ErrorEvent:
		// The API has the error in the data of an event.
		event("error", `,"code":"server_error","message":"injected fault: error inside a success","param":null}`)
	case kind == DoneEvent:
		if p.Content > 0 {
			event("response.output_text.done",
				`,"item_id":"msg_1","output_index":`+messageAt+`,"content_index":0,"logprobs":[],"text":"`)
			b = append(r.appendContent(b, p.Content), `"}`...)
			event("response.content_part.done",
				`,"item_id":"msg_1","output_index":`+messageAt+`,"content_index":0,"part":`)
			b = append(appendTextPart(r, b), '}')
			event("response.output_item.done", `,"output_index":`+messageAt+`,"item":`)
			b = append(appendMessageItem(r, b), '}')
		}
		name := "response.completed"
		if p.Finish == "length" {
			name = "response.incomplete"
		}
		event(name, `,"response":`)
		b = append(appendResponse(r, b, true), '}')
	default:
		if kind == 0 {
			event("response.created", `,"response":`)
			b = append(appendResponse(r, b, false), '}')
		}
		if kind < p.Reasoning {
			event("response.reasoning_text.delta", `,"item_id":"rs_1","output_index":0,"content_index":0,"delta":"`)
			b = append(e.appendThought(b), `"}`...)
			break
		}
		if kind == p.Reasoning {
			event("response.output_item.added", `,"output_index":`+messageAt+
				`,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}`)
			event("response.content_part.added", `,"item_id":"msg_1","output_index":`+messageAt+
				`,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}}`)
		}
		event("response.output_text.delta",
			`,"item_id":"msg_1","output_index":`+messageAt+`,"content_index":0,"logprobs":[],"delta":"`)
		b = append(e.appendWord(b), `"}`...)
	}
	return b
}
