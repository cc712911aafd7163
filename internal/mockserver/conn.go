package mockserver

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

const (
	readBufferBytes = 4 << 10
	// keepBufferBytes is how large a buffer may stay between two requests.
	keepBufferBytes = 64 << 10
	// idleTimeout ends a connection that sends nothing, and a request that never gets complete.
	idleTimeout  = 15 * time.Minute
	writeTimeout = 5 * time.Minute
	// rearmAfter is how stale a far deadline may get: setting one costs more than reading a clock.
	rearmAfter = time.Minute
	// shortWait is the longest wait that does not watch the connection.
	shortWait   = 50 * time.Millisecond
	lingerTime  = 200 * time.Millisecond
	lingerBytes = 1 << 20
)

var (
	// errGone means that the client closed the connection, errCut that the server does so on purpose.
	errGone = errors.New("the client closed the connection")
	errCut  = errors.New("the connection is cut")
)

// conn is one connection. Its goroutine does everything: read, wait, write.
type conn struct {
	srv   *Server
	nc    net.Conn
	shard *shard
	port  string // the page that is alone on this port; "" where inference is

	buf  []byte // received bytes; buf[r:w] is not yet consumed
	r, w int
	out  []byte // reply bytes that are not yet written
	text []byte // for building a reply
	chunks,
	scratch []byte

	head    head
	req     request
	x       exchange
	keep    bool // the connection outlives this reply
	granted atomic.Bool
	fronted atomic.Bool // the front has it

	// Instants at which the deadlines were set last; 0 = set anew.
	readArmed, writeArmed int64

	date       [len(http.TimeFormat)]byte
	dateSecond int64
}

// serve answers requests until the connection or the server ends.
func (c *conn) serve() {
	for {
		body, err := c.readRequest()
		var refusal *httpError
		switch {
		case errors.Is(err, errHTTP2):
			c.fronted.Store(true)
			c.srv.front.serve(c)
			return
		case errors.As(err, &refusal):
			c.head, c.keep = head{}, false
			c.x.begin()
			if c.refuse(refusal) == nil {
				c.linger()
			}
			return
		case err != nil:
			return
		}
		if c.dispatch(body) != nil || !c.keep {
			return
		}
		if idle := c.x.fault.closeIdle; idle >= 0 {
			c.wait(c.srv.clock.NowNS() + int64(idle))
			return
		}
		c.shrink()
	}
}

// readRequest reads the next request whole: its head into c.head, its body as a slice that holds
// until the next call.
func (c *conn) readRequest() (body []byte, err error) {
	c.w = copy(c.buf, c.buf[c.r:c.w])
	c.r = 0
	size, err := c.readHead()
	if err != nil {
		return nil, err
	}
	if size == len(preface) && string(c.buf[c.r:c.r+size]) == preface {
		return nil, errHTTP2
	}
	start := c.r
	c.r += size
	if refusal := c.head.parse(c.buf[start:c.r], c.srv.authHeader); refusal != nil {
		return nil, refusal
	}
	c.keep = !c.head.close && (!c.head.http10 || c.head.keepAlive)
	if c.head.expect && c.r == c.w && (c.head.chunked || c.head.length > 0) {
		if _, err := c.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return nil, errGone
		}
	}
	if c.head.chunked {
		return c.readChunks()
	}
	n := int(max(c.head.length, 0))
	for c.w-c.r < n {
		if err := c.receive(maxHeadBytes + maxBodyBytes); err != nil {
			return nil, err
		}
	}
	c.r += n
	return c.buf[c.r-n : c.r], nil
}

// readHead waits for a complete head at c.r and returns its size.
func (c *conn) readHead() (int, error) {
	seen := 0
	for {
		for c.r < c.w && (c.buf[c.r] == '\r' || c.buf[c.r] == '\n') {
			c.r++ // empty lines may precede a request
			seen = 0
		}
		if c.r < c.w {
			if size := headEnd(c.buf[c.r:c.w], seen); size >= 0 {
				return size, nil
			}
			if seen = c.w - c.r; seen > maxHeadBytes {
				return 0, &httpError{http.StatusRequestHeaderFieldsTooLarge, "the request head is too large"}
			}
		}
		if err := c.receive(2 * maxHeadBytes); err != nil {
			return 0, err
		}
	}
}

func (c *conn) readChunks() ([]byte, error) {
	chunks := chunkReader{body: c.chunks[:0]}
	for {
		done, refusal := chunks.feed(c.buf[c.r:c.w])
		if refusal != nil {
			return nil, refusal
		}
		if done {
			c.chunks = chunks.body
			c.r += chunks.pos
			return chunks.body, nil
		}
		if err := c.receive(maxHeadBytes + 2*maxBodyBytes); err != nil {
			return nil, err
		}
	}
}

// receive reads more of a request. Between two requests it ends when the server drains.
func (c *conn) receive(limit int) error {
	if c.w == len(c.buf) {
		if c.w >= limit {
			return &httpError{http.StatusRequestEntityTooLarge, "the request is too large"}
		}
		c.grow()
	}
	for {
		now := c.srv.clock.NowNS()
		if c.readArmed == 0 || now-c.readArmed > int64(rearmAfter) {
			c.nc.SetReadDeadline(time.Now().Add(idleTimeout))
			c.readArmed = now
		}
		// The order matters: the deadline is set, and then the drain is looked at, so that the poke
		// of a drain which begins later ends the read.
		if c.r == c.w && c.srv.draining.Load() {
			return errGone
		}
		n, err := c.nc.Read(c.buf[c.w:])
		c.w += n
		switch {
		case n > 0:
			return nil
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded), c.srv.clock.NowNS()-c.readArmed >= int64(idleTimeout):
			return errGone
		default:
			c.readArmed = 0
		}
	}
}

// grow makes room for input. What was handed out of the old buffer stays as it is.
func (c *conn) grow() {
	bigger := make([]byte, max(2*len(c.buf), readBufferBytes))
	copy(bigger, c.buf[:c.w])
	c.buf = bigger
}

// shrink gives the memory of an unusually large request back.
func (c *conn) shrink() {
	if len(c.buf) > keepBufferBytes {
		c.buf = append(make([]byte, 0, readBufferBytes), c.buf[c.r:c.w]...)
		c.buf = c.buf[:max(cap(c.buf), len(c.buf))]
		c.r, c.w = 0, c.w-c.r
	}
	for _, b := range []*[]byte{&c.out, &c.text, &c.chunks, &c.scratch, &c.req.text} {
		if cap(*b) > keepBufferBytes {
			*b = nil
		}
	}
}

// wait lets the time pass until an instant, for as long as the client stays. Long waits read the
// connection, which shows that the client left and keeps what it sends ahead.
func (c *conn) wait(until int64) error {
	for {
		d := time.Duration(until - c.srv.clock.NowNS())
		if d <= 0 {
			return nil
		}
		if d <= shortWait {
			time.Sleep(d)
			return nil
		}
		if err := c.listen(d, nil); err != nil {
			return err
		}
	}
}

// listen watches the connection for at most d. It returns early when the client sends something, or
// when the connection is poked; enough (which may be nil) tells that a poke has come already.
func (c *conn) listen(d time.Duration, enough func() bool) error {
	if c.w == len(c.buf) {
		if len(c.buf) >= keepBufferBytes {
			// The client sent more ahead than is kept: leave the rest in the socket and look again.
			time.Sleep(min(d, shortWait))
			if c.srv.killed.Load() {
				return errGone
			}
			return nil
		}
		c.grow()
	}
	c.readArmed = 0
	c.nc.SetReadDeadline(time.Now().Add(d))
	if enough != nil && enough() {
		return nil
	}
	n, err := c.nc.Read(c.buf[c.w:])
	c.w += n
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return errGone
}

// poke ends a read of the connection from another goroutine.
func (c *conn) poke() {
	if !c.fronted.Load() {
		c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// hang never answers: it ends when the client leaves or the server drains.
func (c *conn) hang() error {
	for !c.srv.draining.Load() {
		if err := c.listen(time.Minute, c.srv.draining.Load); err != nil {
			return err
		}
	}
	return errCut
}

// flush writes what has been built, in one call, and stamps the events in it.
func (c *conn) flush() error {
	p := c.out
	c.out = c.out[:0]
	if len(p) == 0 {
		return nil
	}
	limit := c.x.fault.dropAfterBytes
	cut := limit >= 0 && c.x.sent+len(p) >= limit
	if cut {
		p = p[:limit-c.x.sent]
	}
	now := c.srv.clock.NowNS()
	if c.writeArmed == 0 || now-c.writeArmed > int64(rearmAfter) {
		c.nc.SetWriteDeadline(time.Now().Add(writeTimeout))
		c.writeArmed = now
	}
	c.x.stamp(now, c.srv.opts.RecordEvents)
	if c.x.inference {
		c.account(now, len(p), c.x.closing && !cut)
	}
	n, err := c.nc.Write(p)
	c.x.sent += n
	switch {
	case err != nil:
		return errGone
	case cut:
		return c.breakOff()
	}
	return nil
}

// breakOff ends a reply that is not whole, in the way that the fault asks for.
func (c *conn) breakOff() error {
	if c.x.fault.stall {
		return c.hang()
	}
	if tcp := lingers(c.nc); tcp != nil && c.x.fault.reset {
		tcp.SetLinger(0) // the close that follows is a reset
	}
	return errCut
}

// lingers is the connection as one that can be reset, below TLS; nil if it cannot.
func lingers(nc net.Conn) interface{ SetLinger(int) error } {
	if tc, ok := nc.(*tls.Conn); ok {
		nc = tc.NetConn()
	}
	tcp, _ := nc.(interface{ SetLinger(int) error })
	return tcp
}

// linger closes the sending side and reads what the client still sends for a moment: closing at
// once would make the system discard the refusal on its way.
func (c *conn) linger() {
	if tcp, ok := c.nc.(interface{ CloseWrite() error }); !ok || tcp.CloseWrite() != nil {
		return
	}
	c.nc.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, c.nc, lingerBytes)
}
