package mockserver

import (
	"strconv"
	"time"
)

// This file writes the replies of the responses API.

// appendResponse builds a response object; its output is there when the response is complete.
func appendResponse(c *conn, b []byte, complete bool) []byte {
	p := c.x.plan
	b = append(b, `{"id":"`...)
	b = c.appendID(b)
	b = append(b, `","object":"response","created_at":`...)
	b = strconv.AppendInt(b, c.srv.clock.WallNS(c.x.arrival)/int64(time.Second), 10)
	b = append(b, `,"model":`...)
	b = append(b, c.req.model...)
	b = append(b, `,"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"error":null,"status":"`...)
	if !complete {
		return append(b, `in_progress","output":[],"usage":null}`...)
	}
	if p.finish == "length" {
		b = append(b, `incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`...)
	} else {
		b = append(b, `completed","incomplete_details":null,"output":[`...)
	}
	if p.reasoning > 0 {
		b = appendReasoningItem(c, b)
		if p.content > 0 {
			b = append(b, ',')
		}
	}
	if p.content > 0 {
		b = appendMessageItem(c, b)
	}
	b = append(b, `],"usage":{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(p.promptTokens), 10)
	b = append(b, `,"input_tokens_details":{"cached_tokens":0},"output_tokens":`...)
	b = strconv.AppendInt(b, int64(p.tokens()), 10)
	b = append(b, `,"output_tokens_details":{"reasoning_tokens":`...)
	b = strconv.AppendInt(b, int64(p.reasoning), 10)
	b = append(b, `},"total_tokens":`...)
	b = strconv.AppendInt(b, int64(p.promptTokens+p.tokens()), 10)
	return append(b, "}}"...)
}

func appendReasoningItem(c *conn, b []byte) []byte {
	b = append(b, `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"`...)
	b = c.appendWords(b, c.srv.thoughts.At(c.x.plan.draw), c.x.plan.reasoning)
	return append(b, `"}]}`...)
}

func appendMessageItem(c *conn, b []byte) []byte {
	b = append(b, `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[`...)
	return append(appendTextPart(c, b), "]}"...)
}

func appendTextPart(c *conn, b []byte) []byte {
	b = append(b, `{"type":"output_text","annotations":[],"text":"`...)
	b = c.appendWords(b, c.srv.words.At(c.x.plan.draw), c.x.plan.content)
	return append(b, `"}`...)
}

func wholeResponse(c *conn, b []byte) []byte { return appendResponse(c, b, true) }

// responseEvent builds the events of one step: what begins with a token goes before it.
func responseEvent(s *stream, kind int) {
	c, p := s.c, &s.p
	sequence := 0
	event := func(name, members string) {
		if sequence > 0 {
			c.out = append(c.out, "\n\n"...)
		}
		sequence++
		c.out = append(append(append(c.out, "event: "...), name...), "\ndata: {\"type\":\""...)
		c.out = append(append(append(c.out, name...), `","sequence_number":`...), strconv.Itoa(c.x.events)...)
		c.out = append(c.out, members...)
	}
	messageAt := "0"
	if p.reasoning > 0 {
		messageAt = "1"
	}
	switch {
	case kind == kindError:
		// The server says it in the data, as the API does.
		event("error", `,"code":"server_error","message":"injected fault: error inside a success","param":null}`)
	case kind == kindDone:
		if p.content > 0 {
			event("response.output_text.done",
				`,"item_id":"msg_1","output_index":`+messageAt+`,"content_index":0,"logprobs":[],"text":"`)
			c.out = append(c.appendWords(c.out, c.srv.words.At(p.draw), p.content), `"}`...)
			event("response.content_part.done",
				`,"item_id":"msg_1","output_index":`+messageAt+`,"content_index":0,"part":`)
			c.out = append(appendTextPart(c, c.out), '}')
			event("response.output_item.done", `,"output_index":`+messageAt+`,"item":`)
			c.out = append(appendMessageItem(c, c.out), '}')
		}
		name := "response.completed"
		if p.finish == "length" {
			name = "response.incomplete"
		}
		event(name, `,"response":`)
		c.out = append(appendResponse(c, c.out, true), '}')
	default:
		if kind == 0 {
			event("response.created", `,"response":`)
			c.out = append(appendResponse(c, c.out, false), '}')
		}
		if kind < p.reasoning {
			event("response.reasoning_text.delta", `,"item_id":"rs_1","output_index":0,"content_index":0,"delta":"`)
			c.out = append(append(c.out, c.srv.vocabulary.piece(&s.thoughts)...), `"}`...)
			break
		}
		if kind == p.reasoning {
			event("response.output_item.added", `,"output_index":`+messageAt+
				`,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}`)
			event("response.content_part.added", `,"item_id":"msg_1","output_index":`+messageAt+
				`,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}}`)
		}
		event("response.output_text.delta",
			`,"item_id":"msg_1","output_index":`+messageAt+`,"content_index":0,"logprobs":[],"delta":"`)
		c.out = append(append(c.out, c.srv.vocabulary.piece(&s.words)...), `"}`...)
	}
	c.out = append(c.out, "\n\n"...)
}
