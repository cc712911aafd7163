package client

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"aiperf/internal/wire/client/stamp"
)

// readBuffer is the size of a connection's read buffer: some five events of a token each, or a short reply in one read.
const readBuffer = 2048

// connection is one HTTP/1.1 connection. One exchange owns it at a time; only abort may be called by
// another goroutine.
type connection struct {
	origin *origin
	wire   *wire
	top    net.Conn // the wire, or TLS over it
	in     inbox

	// received counts the bytes that were read, without those of TLS itself; mark is their number when the
	// exchange began.
	received, mark int64

	peek      func(fd uintptr) bool
	readable  bool // what peek found
	reused    bool
	idleSince int64
	// idleLimit is how long the server keeps the idle connection by its own header, in nanoseconds; 0 = unknown.
	idleLimit int64

	local, remote netip.AddrPort
}

func newConnection(o *origin, w *wire, top net.Conn) *connection {
	c := &connection{origin: o, wire: w, top: top}
	c.in.conn = c
	c.local, c.remote = addrPort(w.LocalAddr()), addrPort(w.RemoteAddr())
	if w.raw != nil {
		c.peek = func(fd uintptr) bool {
			c.readable = idleReadable(fd)
			return true
		}
	}
	return c
}

// givesMemory reports whether the connection can be read from into memory that it has only while there is something to
// read.
func (c *connection) givesMemory() bool { return c.wire.kernel != nil && c.top == net.Conn(c.wire) }

// readInto reads into the memory of m.
func (c *connection) readInto(m stamp.Memory) (int, error) {
	n, err := c.wire.readInto(m)
	c.received += int64(n)
	return n, err
}

// Read implements io.Reader for the inbox.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.top.Read(p)
	c.received += int64(n)
	return n, err
}

// taken is the number of bytes that the exchange read; those in the buffer do not belong to it.
func (c *connection) taken() int64 { return c.received - c.mark - int64(c.in.Buffered()) }

// stale reports whether the server ended the connection while it was idle, as far as the socket knows.
func (c *connection) stale() bool {
	if c.readAhead() {
		return true
	}
	if c.wire.raw == nil {
		return false
	}
	c.readable = true
	if err := c.wire.raw.Read(c.peek); err != nil {
		return true
	}
	return c.readable
}

// longAgo is a deadline that lets a read return only what needs no waiting.
var longAgo = time.Unix(1, 0)

// readAhead reports whether the end of the connection, or unrequested data, was read off the socket
// already: TLS reads whole records, and may hold an alert or more data behind the end of a reply.
func (c *connection) readAhead() bool {
	if c.in.Buffered() > 0 || c.wire.readErr != nil {
		return true
	}
	if c.top == net.Conn(c.wire) {
		return false
	}
	_ = c.wire.SetReadDeadline(longAgo)
	_, err := c.in.Peek(1)
	_ = c.wire.SetReadDeadline(time.Time{})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// abort closes the socket while other goroutines may read or write it.
func (c *connection) abort() { _ = c.wire.Conn.Close() }

func (c *connection) close() { _ = c.top.Close() }

func addrPort(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		ap := t.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return netip.AddrPort{}
}
