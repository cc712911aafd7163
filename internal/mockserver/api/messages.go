package api

import "strconv"

// This file writes the replies of the messages API.

func stopReason(p *Plan) string {
	if p.Finish == "length" {
		return "max_tokens"
	}
	return "end_turn"
}

func appendMessageUsage(b []byte, p *Plan, output int) []byte {
	b = append(b, `{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(p.PromptTokens), 10)
	b = append(b, `,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":`...)
	return append(strconv.AppendInt(b, int64(output), 10), '}')
}

// appendMessage appends a message up to its content.
func appendMessage(r *Reply, b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = r.AppendID(b)
	b = append(b, `","type":"message","role":"assistant","model":`...)
	b = append(b, r.Request.Model...)
	return append(b, `,"content":[`...)
}

func wholeMessage(r *Reply, b []byte) []byte {
	p := &r.Plan
	b = appendMessage(r, b)
	if p.Reasoning > 0 {
		b = append(b, `{"type":"thinking","thinking":"`...)
		b = r.appendReasoning(b)
		b = append(b, `","signature":"bW9jaw=="}`...)
		if p.Content > 0 {
			b = append(b, ',')
		}
	}
	if p.Content > 0 {
		b = append(b, `{"type":"text","text":"`...)
		b = r.appendContent(b, p.Content)
		b = append(b, `"}`...)
	}
	b = append(append(append(b, `],"stop_reason":"`...), stopReason(p)...), `","stop_sequence":null,"usage":`...)
	return append(appendMessageUsage(b, p, p.Tokens()), '}')
}

// messageEvent appends the events of one step: those that open a block precede its first token.
func messageEvent(e *Events, b []byte, kind int) []byte {
	r, p := e.reply, &e.reply.Plan
	some := false
	event := func(name, members string) {
		if some {
			b = append(b, "\n\n"...)
		}
		some = true
		b = append(append(append(b, "event: "...), name...), "\ndata: {\"type\":\""...)
		b = append(append(append(b, name...), '"'), members...)
	}
	index := 0
	if p.Reasoning > 0 && (kind >= p.Reasoning || kind == DoneEvent && p.Content > 0) {
		index = 1
	}
	at := `,"index":` + strconv.Itoa(index)
	switch {
	case kind == ErrorEvent:
		event("error", `,"error":{"type":"api_error","message":"injected fault: error inside a success"}}`)
	case kind == DoneEvent:
		if p.Tokens() > 0 {
			event("content_block_stop", at+"}")
		}
		event("message_delta", `,"delta":{"stop_reason":"`+stopReason(p)+
			`","stop_sequence":null},"usage":{"output_tokens":`+strconv.Itoa(p.Tokens())+"}}")
		event("message_stop", "}")
	default:
		if kind == 0 {
			event("message_start", `,"message":`)
			b = append(appendMessage(r, b), `],"stop_reason":null,"stop_sequence":null,"usage":`...)
			b = append(appendMessageUsage(b, p, 1), "}}"...)
		}
		thinks := kind < p.Reasoning
		switch {
		case kind == 0 && thinks:
			event("content_block_start", at+`,"content_block":{"type":"thinking","thinking":"","signature":""}}`)
		case kind == p.Reasoning:
			if p.Reasoning > 0 {
				event("content_block_delta", `,"index":0,"delta":{"type":"signature_delta","signature":"bW9jaw=="}}`)
				event("content_block_stop", `,"index":0}`)
			}
			event("content_block_start", at+`,"content_block":{"type":"text","text":""}}`)
		}
		if thinks {
			event("content_block_delta", at+`,"delta":{"type":"thinking_delta","thinking":"`)
			b = append(e.appendThought(b), `"}}`...)
		} else {
			event("content_block_delta", at+`,"delta":{"type":"text_delta","text":"`)
			b = append(e.appendWord(b), `"}}`...)
		}
	}
	return b
}
