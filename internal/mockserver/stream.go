package mockserver

import (
	"bytes"

	"aiperf/internal/mockserver/api"
)

// floodBytes is how much of a stream without pauses goes into one write.
const floodBytes = 32 << 10

// stream is a reply with one event for each token.
type stream struct {
	*handler
	events api.Events
	floods bool
}

// stream answers a streaming request.
func (h *handler) stream(due schedule) error {
	c := h.conn
	s := stream{handler: h, events: h.reply.Events(), floods: due.floods()}
	c.BeginHead(h.status(), h.reply.StreamType(), -1)
	switch {
	case c.SlowHead > 0:
		if err := c.WriteSlowHead(); err != nil {
			return err
		}
	case due.job != nil || due.at(0) > h.srv.clock.NowNS():
		if err := c.Flush(); err != nil {
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
	if err := s.await(due, 0); err != nil {
		return err
	}
	if s.x.fault.Error200 && s.x.fault.CutAfterEvents < 0 {
		return s.event(api.ErrorEvent)
	}
	for k := range s.reply.Plan.Tokens() {
		if !s.floods && k > 0 {
			if err := s.await(due, k); err != nil {
				return err
			}
		}
		if err := s.event(k); err != nil {
			return err
		}
	}
	return nil
}

// event builds the event of token k (or api.ErrorEvent) and writes it, unless the stream floods and the buffer has
// room.
func (s *stream) event(k int) error {
	if s.events.Count() == s.x.fault.CutAfterEvents {
		return s.cut(k)
	}
	s.build(k)
	if k >= 0 {
		s.x.output++
	}
	if s.floods && len(s.conn.Out) < floodBytes {
		return nil
	}
	s.conn.EndChunk()
	return s.conn.Flush()
}

// build appends one event to the open chunk. The fault may take the last brace off the first event.
func (s *stream) build(kind int) {
	c := s.conn
	c.BeginChunk()
	c.Out = s.events.Append(c.Out, kind)
	s.x.unstamped++
	if end := "}\n\n"; s.x.fault.MalformedJSON && s.events.Count() == 1 && bytes.HasSuffix(c.Out, []byte(end)) {
		c.Out = append(c.Out[:len(c.Out)-len(end)], end[1:]...)
	}
}

// cut ends the connection where event k would be: before it, within it, or after an error in its place.
func (s *stream) cut(k int) error {
	c := s.conn
	switch {
	case s.x.fault.Error200:
		c.BeginChunk()
		c.Out = s.events.Append(c.Out, api.ErrorEvent)
		s.x.unstamped++
	case s.x.fault.CutMidEvent:
		c.BeginChunk()
		start := len(c.Out)
		c.Out = s.events.Append(c.Out, k)
		c.Out = c.Out[:start+(len(c.Out)-start)/2]
	}
	c.EndChunk()
	if err := c.Flush(); err != nil {
		return err
	}
	return c.BreakOff()
}

// finish sends the usage, if asked for, and the end of the stream in one write.
func (s *stream) finish() error {
	for _, kind := range s.events.Ends(!s.x.fault.Error200) {
		if s.events.Count() == s.x.fault.CutAfterEvents {
			return s.cut(kind)
		}
		s.build(kind)
	}
	s.conn.EndChunk()
	if s.events.Count() == s.x.fault.CutAfterEvents {
		if err := s.conn.Flush(); err != nil {
			return err
		}
		return s.conn.BreakOff()
	}
	return s.conn.Finish()
}
