package mockserver

import "strconv"

// This file writes the replies of the messages API.

func stopReason(p *plan) string {
	if p.finish == "length" {
		return "max_tokens"
	}
	return "end_turn"
}

func appendMessageUsage(b []byte, p *plan, output int) []byte {
	b = append(b, `{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(p.promptTokens), 10)
	b = append(b, `,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":`...)
	return append(strconv.AppendInt(b, int64(output), 10), '}')
}

// appendMessage builds a message up to its content.
func appendMessage(c *conn, b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = c.appendID(b)
	b = append(b, `","type":"message","role":"assistant","model":`...)
	b = append(b, c.req.model...)
	return append(b, `,"content":[`...)
}

func wholeMessage(c *conn, b []byte) []byte {
	p := &c.x.plan
	b = appendMessage(c, b)
	if p.reasoning > 0 {
		b = append(b, `{"type":"thinking","thinking":"`...)
		b = c.appendWords(b, c.srv.thoughts.At(p.draw), p.reasoning)
		b = append(b, `","signature":"bW9jaw=="}`...)
		if p.content > 0 {
			b = append(b, ',')
		}
	}
	if p.content > 0 {
		b = append(b, `{"type":"text","text":"`...)
		b = c.appendWords(b, c.srv.words.At(p.draw), p.content)
		b = append(b, `"}`...)
	}
	b = append(append(append(b, `],"stop_reason":"`...), stopReason(p)...), `","stop_sequence":null,"usage":`...)
	return append(appendMessageUsage(b, p, p.tokens()), '}')
}

// messageEvent builds the events of one step: what begins with a token goes before it.
func messageEvent(s *stream, kind int) {
	c, p := s.c, &s.p
	some := false
	event := func(name, members string) {
		if some {
			c.out = append(c.out, "\n\n"...)
		}
		some = true
		c.out = append(append(append(c.out, "event: "...), name...), "\ndata: {\"type\":\""...)
		c.out = append(append(append(c.out, name...), '"'), members...)
	}
	index := 0
	if p.reasoning > 0 && (kind >= p.reasoning || kind == kindDone && p.content > 0) {
		index = 1
	}
	at := `,"index":` + strconv.Itoa(index)
	switch {
	case kind == kindError:
		event("error", `,"error":{"type":"api_error","message":"injected fault: error inside a success"}}`)
	case kind == kindDone:
		if p.tokens() > 0 {
			event("content_block_stop", at+"}")
		}
		event("message_delta", `,"delta":{"stop_reason":"`+stopReason(p)+
			`","stop_sequence":null},"usage":{"output_tokens":`+strconv.Itoa(p.tokens())+"}}")
		event("message_stop", "}")
	default:
		if kind == 0 {
			event("message_start", `,"message":`)
			c.out = append(appendMessage(c, c.out), `],"stop_reason":null,"stop_sequence":null,"usage":`...)
			c.out = append(appendMessageUsage(c.out, p, 1), "}}"...)
		}
		thinks := kind < p.reasoning
		switch {
		case kind == 0 && thinks:
			event("content_block_start", at+`,"content_block":{"type":"thinking","thinking":"","signature":""}}`)
		case kind == p.reasoning:
			if p.reasoning > 0 {
				event("content_block_delta", `,"index":0,"delta":{"type":"signature_delta","signature":"bW9jaw=="}}`)
				event("content_block_stop", `,"index":0}`)
			}
			event("content_block_start", at+`,"content_block":{"type":"text","text":""}}`)
		}
		if thinks {
			event("content_block_delta", at+`,"delta":{"type":"thinking_delta","thinking":"`)
			c.out = append(append(c.out, c.srv.vocabulary.piece(&s.thoughts)...), `"}}`...)
		} else {
			event("content_block_delta", at+`,"delta":{"type":"text_delta","text":"`)
			c.out = append(append(c.out, c.srv.vocabulary.piece(&s.words)...), `"}}`...)
		}
	}
	c.out = append(c.out, "\n\n"...)
}
