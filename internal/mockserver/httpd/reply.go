package httpd

import (
	"net/http"
	"strconv"
	"time"
)

// slowWrites is the number of writes of a slow head.
const slowWrites = 8

// Distortion says how a reply is distorted on the wire.
type Distortion struct {
	ContentType string        // instead of the right one
	SlowHead    time.Duration // the head arrives in small parts over that time
	DropAfter   int           // the connection is closed after that many bytes of the reply, head included; -1 = off
	Stall       bool          // where the connection would be closed within a reply, it stays open and silent
	Reset       bool          // it is reset instead of closed
	CloseIdle   time.Duration // the connection is closed that long after the reply, unannounced; -1 = off
}

// NoDistortion returns the distortion that does nothing.
func NoDistortion() Distortion { return Distortion{DropAfter: -1, CloseIdle: -1} }

// Reply is the state of the reply to the current request.
type Reply struct {
	Distortion
	Encoding string // of the body
	Allow    string // the method that the route takes, for status 405; "" = no such header
	Fields   string // further header fields, each with the end of the line before it
	Status   int    // 0 = no head was built
	Sent     int    // bytes
}

// BeginHead builds the head of a reply with a body of length bytes, or of unknown length if -1.
func (c *Conn) BeginHead(status int, contentType string, length int) {
	if c.srv.draining.Load() || (length < 0 && c.Head.HTTP10) {
		c.keep = false
	}
	if c.ContentType != "" {
		contentType = c.ContentType
	}
	c.Status = status
	b := c.Out
	if status == http.StatusOK {
		b = append(b, "HTTP/1.1 200 OK"...)
	} else {
		b = append(b, "HTTP/1.1 "...)
		b = strconv.AppendInt(b, int64(status), 10)
		b = append(b, ' ')
		b = append(b, http.StatusText(status)...)
	}
	b = append(b, "\r\nServer: aiperf-mock-server\r\nDate: "...)
	b = append(b, c.httpDate()...)
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, contentType...)
	if c.Encoding != "" {
		b = append(append(b, "\r\nContent-Encoding: "...), c.Encoding...)
	}
	switch {
	case Bodiless(status):
	case length >= 0:
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(length), 10)
	case !c.Head.HTTP10:
		b = append(b, "\r\nTransfer-Encoding: chunked"...)
	}
	switch {
	case !c.keep:
		b = append(b, "\r\nConnection: close"...)
	case c.Head.HTTP10:
		b = append(b, "\r\nConnection: keep-alive"...)
	}
	if c.Allow != "" {
		b = append(append(b, "\r\nAllow: "...), c.Allow...)
	}
	b = append(b, c.Fields...)
	c.Out = append(b, "\r\n\r\n"...)
}

// httpDate returns the Date of now; it is formatted anew when the second changes.
func (c *Conn) httpDate() []byte {
	now := c.srv.opts.Clock.WallNS(c.srv.opts.Clock.NowNS())
	if second := now / int64(time.Second); second != c.dateSecond {
		time.Unix(second, 0).UTC().AppendFormat(c.date[:0], http.TimeFormat)
		c.dateSecond = second
	}
	return c.date[:]
}

// WriteSlowHead writes the head that was built, in small parts over the time that the distortion asks for.
func (c *Conn) WriteSlowHead() error {
	head := append([]byte(nil), c.Out...)
	c.Out = c.Out[:0]
	start := c.srv.opts.Clock.NowNS()
	for i := range slowWrites {
		if err := c.Wait(start + int64(c.SlowHead)*int64(i)/(slowWrites-1)); err != nil {
			return err
		}
		c.Out = append(c.Out, head[i*len(head)/slowWrites:(i+1)*len(head)/slowWrites]...)
		if err := c.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// Send writes a whole reply in one call. cut ends it in the middle of its body.
func (c *Conn) Send(status int, contentType string, body []byte, cut bool) error {
	if Bodiless(status) {
		body = nil
	}
	if cut {
		c.keep = false
	}
	c.BeginHead(status, contentType, len(body))
	if c.SlowHead > 0 {
		if err := c.WriteSlowHead(); err != nil {
			return err
		}
	}
	if cut {
		body = body[:len(body)/2]
	}
	if string(c.Head.Method) != http.MethodHead {
		c.Out = append(c.Out, body...)
	}
	if err := c.flush(!cut); err != nil {
		return err
	}
	if cut {
		return c.BreakOff()
	}
	return nil
}

// Bodiless reports whether a status ends a reply with its head.
func Bodiless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent || status == http.StatusNotModified
}

// sizePlace is the place kept for a chunk's size, which is known when the chunk ends.
const sizePlace = "00000\r\n"

// BeginChunk begins a chunk in Out, unless one is open or the client uses HTTP/1.0.
func (c *Conn) BeginChunk() {
	if c.chunkAt < 0 && !c.Head.HTTP10 {
		c.chunkAt = len(c.Out)
		c.Out = append(c.Out, sizePlace...)
	}
}

// EndChunk fills in the size of the open chunk, if there is one.
func (c *Conn) EndChunk() {
	if c.chunkAt < 0 {
		return
	}
	b := c.Out
	size := len(b) - c.chunkAt - len(sizePlace)
	for i := len(sizePlace) - len("\r\n") - 1; i >= 0; i-- {
		b[c.chunkAt+i] = "0123456789abcdef"[size&15]
		size >>= 4
	}
	c.Out = append(b, "\r\n"...)
	c.chunkAt = -1
}

// Finish ends a reply of unknown length and writes what is built.
func (c *Conn) Finish() error {
	if !c.Head.HTTP10 {
		c.Out = append(c.Out, "0\r\n\r\n"...)
	}
	return c.flush(true)
}

// Distort sets the distortion of the reply.
func (c *Conn) Distort(d Distortion) {
	c.Distortion = d
	if p, ok := c.nc.(pipeEnd); ok && d.CloseIdle >= 0 {
		p.closeClientIdle(d.CloseIdle)
	}
}

// Flush writes what is built, in one call.
func (c *Conn) Flush() error { return c.flush(false) }

// flush writes what is built; last says that it ends the reply.
func (c *Conn) flush(last bool) error {
	p := c.Out
	c.Out = c.Out[:0]
	if len(p) == 0 {
		return nil
	}
	cut := c.DropAfter >= 0 && c.Sent+len(p) >= c.DropAfter
	if cut {
		p = p[:c.DropAfter-c.Sent]
	}
	now := c.srv.opts.Clock.NowNS()
	if c.writeArmed == 0 || now-c.writeArmed > int64(rearmAfter) {
		c.nc.SetWriteDeadline(time.Now().Add(writeTimeout))
		c.writeArmed = now
	}
	c.handler.Writing(now, len(p), last && !cut)
	n, err := c.nc.Write(p)
	c.Sent += n
	switch {
	case err != nil:
		return ErrGone
	case cut:
		return c.BreakOff()
	}
	return nil
}

// BreakOff ends a reply that is not whole, in the way that the distortion asks for.
func (c *Conn) BreakOff() error {
	if c.Stall {
		return c.Hang()
	}
	if tcp := resettable(c.nc); tcp != nil && c.Reset {
		tcp.SetLinger(0) // the close that follows is a reset
	}
	return ErrCut
}
