package httpd

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
	keepFields      = 1 << 10
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
	// ErrGone means that the client closed the connection, ErrCut that the server does so on purpose.
	ErrGone = errors.New("the client closed the connection")
	ErrCut  = errors.New("the connection is cut")
)

// Conn is one connection. Its goroutine does everything: it reads, waits and writes.
type Conn struct {
	Port string // of the listener, as given to [Server.Serve]
	Head Head   // of the current request
	Reply
	Out []byte // reply bytes that are not yet written

	srv     *Server
	nc      net.Conn
	handler Handler

	buf     []byte // received bytes; buf[r:w] is not yet consumed
	r, w    int
	chunks  []byte
	chunkAt int         // where the open chunk starts in Out; -1 = none
	keep    bool        // the connection outlives this reply
	isH2    atomic.Bool // net/http has it

	// Instants at which the deadlines were set last; 0 = set anew.
	readArmed, writeArmed int64

	date       [len(http.TimeFormat)]byte
	dateSecond int64
}

// serve answers requests until the connection or the server ends.
func (c *Conn) serve() {
	for {
		body, err := c.readRequest()
		c.Reply, c.chunkAt = Reply{Distortion: NoDistortion()}, -1
		var refusal *Error
		switch {
		case errors.Is(err, errHTTP2):
			c.isH2.Store(true)
			c.srv.h2.serve(c)
			return
		case errors.As(err, &refusal):
			c.Head, c.keep = Head{}, false
			if c.handler.Refuse(refusal) == nil {
				c.linger()
			}
			return
		case err != nil:
			return
		}
		if c.handler.Answer(body) != nil || !c.keep {
			return
		}
		if c.CloseIdle >= 0 {
			c.Wait(c.srv.opts.Clock.NowNS() + int64(c.CloseIdle))
			return
		}
		c.trim()
	}
}

// readRequest reads the next request whole: its head into c.head, its body as a slice that holds
// until the next call.
func (c *Conn) readRequest() (body []byte, err error) {
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
	if refusal := c.Head.Parse(c.buf[start:c.r]); refusal != nil {
		return nil, refusal
	}
	c.keep = !c.Head.Close && (!c.Head.HTTP10 || c.Head.KeepAlive)
	if c.Head.Expect && c.r == c.w && (c.Head.Chunked || c.Head.Length > 0) {
		if _, err := c.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return nil, ErrGone
		}
	}
	if c.Head.Chunked {
		return c.readChunks()
	}
	n := int(max(c.Head.Length, 0))
	for c.w-c.r < n {
		if err := c.receive(maxHeadBytes + maxBodyBytes); err != nil {
			return nil, err
		}
	}
	c.r += n
	return c.buf[c.r-n : c.r], nil
}

// readHead waits for a complete head at c.r and returns its size.
func (c *Conn) readHead() (int, error) {
	seen := 0
	for {
		for c.r < c.w && (c.buf[c.r] == '\r' || c.buf[c.r] == '\n') {
			c.r++ // empty lines may precede a request
			seen = 0
		}
		if c.r < c.w {
			if size := HeadEnd(c.buf[c.r:c.w], seen); size >= 0 {
				return size, nil
			}
			if seen = c.w - c.r; seen > maxHeadBytes {
				return 0, &Error{http.StatusRequestHeaderFieldsTooLarge, "the request head is too large"}
			}
		}
		if err := c.receive(2 * maxHeadBytes); err != nil {
			return 0, err
		}
	}
}

func (c *Conn) readChunks() ([]byte, error) {
	chunks := ChunkReader{Body: c.chunks[:0]}
	for {
		done, refusal := chunks.Feed(c.buf[c.r:c.w])
		if refusal != nil {
			return nil, refusal
		}
		if done {
			c.chunks = chunks.Body
			c.r += chunks.Consumed
			return chunks.Body, nil
		}
		if err := c.receive(maxHeadBytes + 2*maxBodyBytes); err != nil {
			return nil, err
		}
	}
}

// receive reads more of a request. Between two requests it ends when the server drains.
func (c *Conn) receive(limit int) error {
	if c.w == len(c.buf) {
		if c.w >= limit {
			return &Error{http.StatusRequestEntityTooLarge, "the request is too large"}
		}
		c.grow()
	}
	for {
		now := c.srv.opts.Clock.NowNS()
		if c.readArmed == 0 || now-c.readArmed > int64(rearmAfter) {
			c.nc.SetReadDeadline(time.Now().Add(idleTimeout))
			c.readArmed = now
		}
		// The order matters: the deadline is set, and then the drain is looked at, so that the Wake
		// of a drain which begins later ends the read.
		if c.r == c.w && c.srv.draining.Load() {
			return ErrGone
		}
		n, err := c.nc.Read(c.buf[c.w:])
		c.w += n
		switch {
		case n > 0:
			return nil
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded), c.srv.opts.Clock.NowNS()-c.readArmed >= int64(idleTimeout):
			return ErrGone
		default:
			c.readArmed = 0
		}
	}
}

// grow makes room for input. What was handed out of the old buffer stays as it is.
func (c *Conn) grow() {
	bigger := make([]byte, max(2*len(c.buf), readBufferBytes))
	copy(bigger, c.buf[:c.w])
	c.buf = bigger
}

// trim releases the memory of an unusually large request.
func (c *Conn) trim() {
	if len(c.buf) > keepBufferBytes {
		c.buf = append(make([]byte, 0, readBufferBytes), c.buf[c.r:c.w]...)
		c.buf = c.buf[:max(cap(c.buf), len(c.buf))]
		c.r, c.w = 0, c.w-c.r
	}
	for _, b := range []*[]byte{&c.Out, &c.chunks} {
		if cap(*b) > keepBufferBytes {
			*b = nil
		}
	}
	if len(c.Head.Fields) > keepFields {
		c.Head.Fields = nil
	}
	c.handler.Trim(keepBufferBytes)
}

// Wait lets the time pass until an instant, for as long as the client stays. Long waits read the
// connection, which shows that the client left and keeps what it sends ahead.
func (c *Conn) Wait(until int64) error {
	for {
		d := time.Duration(until - c.srv.opts.Clock.NowNS())
		if d <= 0 {
			return nil
		}
		if d <= shortWait {
			time.Sleep(d) // on Windows it can end early: the system's timer is coarser than the clock
			continue
		}
		if err := c.Listen(d, nil); err != nil {
			return err
		}
	}
}

// Listen watches the connection for at most d. It returns early when the client sends something, or after [Conn.Wake];
// enough (which may be nil) reports whether what the caller waits for has come already.
func (c *Conn) Listen(d time.Duration, enough func() bool) error {
	if c.w == len(c.buf) {
		if len(c.buf) >= keepBufferBytes {
			// The client sent more ahead than is kept: leave the rest in the socket and look again.
			time.Sleep(min(d, shortWait))
			if c.srv.killed.Load() {
				return ErrGone
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
	return ErrGone
}

// Wake ends a read of the connection from another goroutine.
func (c *Conn) Wake() {
	if !c.isH2.Load() {
		c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// Hang never answers: it ends when the client leaves or the server drains.
func (c *Conn) Hang() error {
	for !c.srv.draining.Load() {
		if err := c.Listen(time.Minute, c.srv.draining.Load); err != nil {
			return err
		}
	}
	return ErrCut
}

// resettable returns the connection as one that can be reset, below TLS; nil if it cannot.
func resettable(nc net.Conn) interface{ SetLinger(int) error } {
	if tc, ok := nc.(*tls.Conn); ok {
		nc = tc.NetConn()
	}
	tcp, _ := nc.(interface{ SetLinger(int) error })
	return tcp
}

// linger closes the sending side and reads what the client still sends for a moment: closing at
// once would make the system discard the refusal on its way.
func (c *Conn) linger() {
	if tcp, ok := c.nc.(interface{ CloseWrite() error }); !ok || tcp.CloseWrite() != nil {
		return
	}
	c.nc.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, c.nc, lingerBytes)
}
