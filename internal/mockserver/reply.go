package mockserver

import (
	"net/http"
	"strconv"
	"time"

	"aiperf/internal/base/random"
)

const (
	jsonType   = "application/json"
	streamType = "text/event-stream; charset=utf-8"
	// slowPieces is the number of writes of a slow head.
	slowPieces = 8
)

// beginHead builds the head of a reply with a body of length bytes, or of unknown length if -1.
func (c *conn) beginHead(status int, contentType string, length int) {
	if c.srv.draining.Load() || (length < 0 && c.head.http10) {
		c.keep = false
	}
	if c.x.fault.contentType != "" {
		contentType = c.x.fault.contentType
	}
	c.x.status = status
	if status == http.StatusOK {
		c.out = append(c.out, "HTTP/1.1 200 OK"...)
	} else {
		c.out = append(c.out, "HTTP/1.1 "...)
		c.out = strconv.AppendInt(c.out, int64(status), 10)
		c.out = append(c.out, ' ')
		c.out = append(c.out, http.StatusText(status)...)
	}
	c.out = append(c.out, "\r\nServer: aiperf-mock-server\r\nDate: "...)
	c.out = append(c.out, c.httpDate()...)
	c.out = append(c.out, "\r\nContent-Type: "...)
	c.out = append(c.out, contentType...)
	if c.x.encoding != "" {
		c.out = append(append(c.out, "\r\nContent-Encoding: "...), c.x.encoding...)
	}
	switch {
	case bodiless(status):
	case length >= 0:
		c.out = append(c.out, "\r\nContent-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(length), 10)
	case !c.head.http10:
		c.out = append(c.out, "\r\nTransfer-Encoding: chunked"...)
	}
	switch {
	case !c.keep:
		c.out = append(c.out, "\r\nConnection: close"...)
	case c.head.http10:
		c.out = append(c.out, "\r\nConnection: keep-alive"...)
	}
	if status == http.StatusMethodNotAllowed {
		c.out = append(c.out, "\r\nAllow: "...)
		c.out = append(c.out, c.allowedMethods()...)
	}
	c.out = append(c.out, "\r\n\r\n"...)
}

// httpDate is the Date of now; it is formatted anew when the second changes.
func (c *conn) httpDate() []byte {
	now := c.srv.clock.WallNS(c.srv.clock.NowNS())
	if second := now / int64(time.Second); second != c.dateSecond {
		time.Unix(second, 0).UTC().AppendFormat(c.date[:0], http.TimeFormat)
		c.dateSecond = second
	}
	return c.date[:]
}

// slowHead writes the head that was built in small pieces over the time the fault asks for.
func (c *conn) slowHead() error {
	head := append([]byte(nil), c.out...)
	c.out = c.out[:0]
	start := c.srv.clock.NowNS()
	for i := range slowPieces {
		if err := c.wait(start + int64(c.x.fault.slowHeaders)*int64(i)/(slowPieces-1)); err != nil {
			return err
		}
		c.out = append(c.out, head[i*len(head)/slowPieces:(i+1)*len(head)/slowPieces]...)
		if err := c.flush(); err != nil {
			return err
		}
	}
	return nil
}

// send writes a whole reply in one call, spoilt as the fault says.
func (c *conn) send(status int, contentType string, body []byte) error {
	f := &c.x.fault
	if f.malformedJSON && len(body) > 0 {
		body = body[:len(body)-1]
	}
	if bodiless(status) {
		body = nil
	}
	if f.cutMidEvent {
		c.keep = false
	}
	c.beginHead(status, contentType, len(body))
	if f.slowHeaders > 0 {
		if err := c.slowHead(); err != nil {
			return err
		}
	}
	if f.cutMidEvent {
		body = body[:len(body)/2]
	}
	if string(c.head.method) != http.MethodHead {
		c.out = append(c.out, body...)
	}
	c.x.closing = !f.cutMidEvent
	if err := c.flush(); err != nil {
		return err
	}
	if f.cutMidEvent {
		return c.breakOff()
	}
	return nil
}

// bodiless reports which statuses end a reply with its head.
func bodiless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent || status == http.StatusNotModified
}

// refuse sends an error in the shape of the OpenAI API.
func (c *conn) refuse(e *httpError) error {
	c.text = append(c.text[:0], `{"error":{"message":`...)
	c.text = appendJSONString(c.text, e.message)
	c.text = append(c.text, `,"type":"`...)
	c.text = append(c.text, errorType(e.status)...)
	c.text = append(c.text, `","param":null,"code":`...)
	c.text = strconv.AppendInt(c.text, int64(e.status), 10)
	c.text = append(c.text, `}}`...)
	return c.send(e.status, jsonType, c.text)
}

func errorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusNotFound:
		return "not_found_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

// errorInside is the error object of a reply whose status says success.
const errorInside = `{"error":{"message":"injected fault: error inside a success","type":"server_error","param":null,"code":500}}`

// whole answers a request that does not stream: at the instant after its last token.
func (c *conn) whole(due schedule) error {
	x := &c.x
	if !due.floods() && x.plan.tokens() > 0 && !x.fault.error200 {
		if err := c.await(&due, 0); err != nil {
			return err
		}
		c.generateFirst()
	}
	last := x.plan.tokens()
	if due.job != nil {
		last-- // there is no gap after the last token
	}
	if err := c.await(&due, last); err != nil {
		return err
	}
	status := http.StatusOK
	if x.fault.status != 0 {
		status = x.fault.status
	}
	c.text = c.appendWhole(c.text[:0])
	contentType := jsonType
	if x.api == apiTranscriptions && c.text[0] != '{' {
		contentType = "text/plain; charset=utf-8"
	}
	x.output = x.plan.tokens()
	if x.fault.error200 {
		c.text = append(c.text[:0], errorInside...)
		contentType = jsonType
		x.output = 0
	}
	return c.send(status, contentType, c.text)
}

// appendWhole builds the body of a reply that does not stream.
func (c *conn) appendWhole(b []byte) []byte {
	a, p := &apis[c.x.api], c.x.plan
	if a.whole != nil {
		return a.whole(c, b)
	}
	b = c.appendOpening(b, a.object)
	if c.x.api == apiChat {
		b = append(b, `"message":{"role":"assistant","content":"`...)
		b = c.appendWords(b, c.srv.words.At(p.draw), p.content)
		if p.reasoning > 0 {
			b = append(b, `","reasoning_content":"`...)
			b = c.appendWords(b, c.srv.thoughts.At(p.draw), p.reasoning)
		}
		b = append(b, `"}`...)
	} else {
		b = append(b, `"text":"`...)
		b = c.appendWords(b, c.srv.words.At(p.draw), p.content)
		b = append(b, '"')
	}
	b = append(b, `,"finish_reason":"`...)
	b = append(b, p.finish...)
	b = append(b, '"')
	b = c.appendSpeculation(b, specInChoice)
	b = append(b, `}],"usage":`...)
	b = appendUsage(b, p.promptTokens, p.content, p.reasoning)
	b = c.appendSpeculation(b, specAtRoot)
	return append(b, '}')
}

// appendOpening builds what bodies and events have in common, up to the index of the choice.
func (c *conn) appendOpening(b []byte, object string) []byte {
	b = c.appendEnvelope(b, object)
	return append(b, `,"choices":[{"index":0,`...)
}

func (c *conn) appendEnvelope(b []byte, object string) []byte {
	b = append(b, `{"id":"`...)
	b = c.appendID(b)
	b = append(b, `","object":"`...)
	b = append(b, object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, c.srv.clock.WallNS(c.x.arrival)/int64(time.Second), 10)
	b = append(b, `,"model":`...)
	return append(b, c.req.model...)
}

// appendID builds the id of the reply: the kind, and 16 digits that no other reply of this server has.
func (c *conn) appendID(b []byte) []byte {
	b = append(b, apis[c.x.api].idPrefix...)
	id := c.srv.idBase ^ c.x.sequence
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[id>>shift&15])
	}
	return b
}

// appendWords builds a text of n tokens. Pieces need no escaping in JSON.
func (c *conn) appendWords(b []byte, r random.Rand, n int) []byte {
	for range n {
		b = append(b, c.srv.vocabulary.piece(&r)...)
	}
	return b
}

func appendUsage(b []byte, prompt, content, reasoning int) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(content+reasoning), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt+content+reasoning), 10)
	if reasoning > 0 {
		b = append(b, `,"completion_tokens_details":{"reasoning_tokens":`...)
		b = strconv.AppendInt(b, int64(reasoning), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}
