package mockserver

import (
	"bytes"
	"net/http"
	"strings"

	"aiperf/internal/base/random"
)

const (
	// floodBytes is how much of a stream without pauses goes into one write.
	floodBytes = 32 << 10
	// chunkHead is the place kept for a chunk's size, which is known when the chunk ends.
	chunkHead = "00000\r\n"
)

// stream answers with one event per token. It lives on the connection's buffers: scratch holds the
// opening that all events share.
type stream struct {
	c        *conn
	p        plan
	floods   bool
	words    random.Rand
	thoughts random.Rand
	chunkAt  int // where the open chunk starts in c.out; -1 = none
}

// stream answers a streaming request.
func (c *conn) stream(due schedule) error {
	x := &c.x
	s := stream{c: c, p: x.plan, floods: due.floods(), chunkAt: -1,
		words: c.srv.words.At(x.plan.draw), thoughts: c.srv.thoughts.At(x.plan.draw)}
	status := http.StatusOK
	if x.fault.status != 0 {
		status = x.fault.status
	}
	c.beginHead(status, streamType, -1)
	switch {
	case x.fault.slowHeaders > 0:
		if err := c.slowHead(); err != nil {
			return err
		}
	case due.job != nil || due.at(0) > c.srv.clock.NowNS():
		if err := c.flush(); err != nil {
			return err
		}
	}
	if err := s.tokens(&due); err != nil {
		return err
	}
	return s.finish()
}

// tokens sends the events that carry tokens, each at its instant.
func (s *stream) tokens(due *schedule) error {
	c := s.c
	c.scratch = append(c.scratch[:0], "data: "...)
	c.scratch = c.appendOpening(c.scratch, apis[c.x.api].chunkObject)
	if err := c.await(due, 0); err != nil {
		return err
	}
	if c.x.fault.error200 && c.x.fault.cutAfterEvents < 0 {
		return s.event(kindError)
	}
	for k := range s.p.tokens() {
		if !s.floods && k > 0 {
			if err := c.await(due, k); err != nil {
				return err
			}
		}
		if err := s.event(k); err != nil {
			return err
		}
	}
	return nil
}

// event builds the event of token k (or kindError) and writes it, unless the stream
// floods and the buffer has room.
func (s *stream) event(k int) error {
	x := &s.c.x
	if x.events == x.fault.cutAfterEvents {
		return s.cut(k)
	}
	s.build(k)
	s.spoilFirst()
	x.events++
	x.unstamped++
	if k >= 0 {
		x.output++
	}
	if s.floods && len(s.c.out) < floodBytes {
		return nil
	}
	s.closeChunk()
	return s.c.flush()
}

// spoilFirst takes the last brace off the first event, if the fault asks for it.
func (s *stream) spoilFirst() {
	x, out := &s.c.x, s.c.out
	if x.fault.malformedJSON && x.events == 0 && bytes.HasSuffix(out, []byte("}\n\n")) {
		s.c.out = append(out[:len(out)-len("}\n\n")], "\n\n"...)
	}
}

// cut ends the connection where event k would be: before it, within it, or after an error in its place.
func (s *stream) cut(k int) error {
	x := &s.c.x
	switch {
	case x.fault.error200:
		s.build(kindError)
		x.events++
		x.unstamped++
	case x.fault.cutMidEvent:
		s.openChunk()
		start := len(s.c.out)
		s.build(k)
		s.c.out = s.c.out[:start+(len(s.c.out)-start)/2]
	}
	s.closeChunk()
	if err := s.c.flush(); err != nil {
		return err
	}
	return s.c.breakOff()
}

// finish sends the usage, if asked for, and the end of the stream in one write.
func (s *stream) finish() error {
	c, x := s.c, &s.c.x
	ends := apis[c.x.api].ends
	if apis[c.x.api].event == nil && c.req.includeUsage && !x.fault.error200 {
		ends = []int{kindUsage, kindDone}
	}
	for _, kind := range ends {
		if x.events == x.fault.cutAfterEvents {
			return s.cut(kind)
		}
		s.build(kind)
		s.spoilFirst()
		x.events++
		x.unstamped++
	}
	s.closeChunk()
	if x.events == x.fault.cutAfterEvents {
		if err := c.flush(); err != nil {
			return err
		}
		return c.breakOff()
	}
	if !c.head.http10 {
		c.out = append(c.out, "0\r\n\r\n"...)
	}
	c.x.closing = true
	return c.flush()
}

// Events that carry no token, where the others are numbered from 0.
const (
	kindError = -1
	kindUsage = -2
	kindDone  = -3
	// A preview of an image, and the image.
	kindPartial = -4
	kindImage   = -5
)

// build appends one event to the open chunk.
func (s *stream) build(kind int) {
	s.openChunk()
	c := s.c
	if write := apis[c.x.api].event; write != nil {
		write(s, kind)
		return
	}
	switch kind {
	case kindError:
		c.out = append(append(c.out, "data: "...), errorInside...)
	case kindUsage:
		c.out = append(c.out, "data: "...)
		c.out = c.appendEnvelope(c.out, apis[c.x.api].chunkObject)
		c.out = append(c.out, `,"choices":[],"usage":`...)
		c.out = appendUsage(c.out, s.p.promptTokens, s.p.content, s.p.reasoning)
		c.out = append(c.out, '}')
	case kindDone:
		c.out = append(c.out, "data: [DONE]"...)
	default:
		s.token(kind)
	}
	c.out = append(c.out, "\n\n"...)
}

func (s *stream) token(k int) {
	c := s.c
	b := append(c.out, c.scratch...)
	switch {
	case k < s.p.reasoning:
		b = append(b, `"delta":{"role":"assistant","reasoning_content":"`...)
		b = append(b, c.srv.vocabulary.piece(&s.thoughts)...)
		b = append(b, `"}`...)
	case c.x.api == apiCompletions:
		b = append(b, `"text":"`...)
		b = append(b, c.srv.vocabulary.piece(&s.words)...)
		b = append(b, '"')
	case k == 0:
		b = append(b, `"delta":{"role":"assistant","content":"`...)
		b = append(b, c.srv.vocabulary.piece(&s.words)...)
		b = append(b, `"}`...)
	default:
		b = append(b, `"delta":{"content":"`...)
		b = append(b, c.srv.vocabulary.piece(&s.words)...)
		b = append(b, `"}`...)
	}
	if k >= s.p.reasoning && k == s.p.tokens()-1 {
		b = append(b, `,"finish_reason":"`...)
		b = append(b, s.p.finish...)
		b = append(b, '"')
		b = c.appendSpeculation(b, specInChoice)
		b = append(b, "}]"...)
		b = c.appendSpeculation(b, specAtRoot)
	} else {
		b = append(b, `,"finish_reason":null}]`...)
	}
	if c.req.chunkUsage {
		b = append(b, `,"usage":`...)
		reasoning := min(k+1, s.p.reasoning)
		b = appendUsage(b, s.p.promptTokens, k+1-reasoning, reasoning)
	}
	c.out = append(b, '}')
}

func (s *stream) openChunk() {
	if s.chunkAt < 0 && !s.c.head.http10 {
		s.chunkAt = len(s.c.out)
		s.c.out = append(s.c.out, chunkHead...)
	}
}

// closeChunk fills the size in.
func (s *stream) closeChunk() {
	if s.chunkAt < 0 {
		return
	}
	b := s.c.out
	size := len(b) - s.chunkAt - len(chunkHead)
	for i := strings.IndexByte(chunkHead, '\r') - 1; i >= 0; i-- {
		b[s.chunkAt+i] = "0123456789abcdef"[size&15]
		size >>= 4
	}
	s.c.out = append(b, "\r\n"...)
	s.chunkAt = -1
}
