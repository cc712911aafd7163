package webserver

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// bounded bounds the connections of a server. A connection beyond their number takes the place of the one that has been
// without a request for longest, so that clients which only connect, or keep their connections, shut nobody out. It is
// closed at once where all connections have a request.
type bounded struct {
	net.Listener
	most int

	mu   sync.Mutex
	open int
	// idle are the connections without a request, the longest first.
	idle list.List
}

// Accept implements [net.Listener].
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if own := b.admit(c); own != nil {
			return own, nil
		}
		c.Close()
	}
}

// admit takes a connection in, if need be in place of an idle one; nil where there is no room.
func (b *bounded) admit(c net.Conn) *counted {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open >= b.most {
		longest := b.idle.Front()
		if longest == nil {
			return nil
		}
		displaced := longest.Value.(*counted)
		b.forget(displaced)
		displaced.Conn.Close() // the server sees it, and ends its service
	}
	b.open++
	own := &counted{Conn: c, of: b}
	own.idle = b.idle.PushBack(own)
	return own
}

// state is the server's report of a connection.
func (b *bounded) state(c net.Conn, state http.ConnState) {
	own, ok := c.(*counted)
	if !ok || state == http.StateNew {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if own.left {
		return
	}
	if own.idle != nil {
		b.idle.Remove(own.idle)
		own.idle = nil
	}
	if state == http.StateIdle {
		own.idle = b.idle.PushBack(own)
	}
}

// forget makes the place of a connection free; b is locked.
func (b *bounded) forget(c *counted) {
	if c.left {
		return
	}
	c.left = true
	b.open--
	if c.idle != nil {
		b.idle.Remove(c.idle)
		c.idle = nil
	}
}

// counted is a connection that makes room for another when it is closed.
type counted struct {
	net.Conn
	of *bounded
	// idle is its place among those without a request; the lock of the listener guards it and left.
	idle *list.Element
	left bool
}

func (c *counted) Close() error {
	c.of.mu.Lock()
	c.of.forget(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
