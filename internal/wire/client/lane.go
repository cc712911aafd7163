package client

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
)

// streams carries exchanges as streams of HTTP/2 connections, framed by net/http. The strategies choose
// the lane: one for all, one for each session, one for each exchange.
type streams struct {
	client *Client

	mu     sync.Mutex
	shared *lane
	sticky map[string]*lane
}

// lane is a set of connections of its own; conns are those that are open.
type lane struct {
	transport *http.Transport

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	over  bool
}

func newStreams(c *Client) *streams { return &streams{client: c, sticky: map[string]*lane{}} }

// lane finds the connections of an exchange; once reports that they are for this exchange only.
func (s *streams) lane(session string) (l *lane, once bool) {
	o := &s.client.opts
	if o.Reuse == ReuseNever || o.ForceClose || o.KeepAliveTimeout <= 0 {
		return s.newLane(), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Reuse == ReuseSticky {
		if s.sticky[session] == nil {
			s.sticky[session] = s.newLane()
		}
		return s.sticky[session], false
	}
	if s.shared == nil {
		s.shared = s.newLane()
	}
	return s.shared, false
}

// drop ends the connections of a session.
func (s *streams) drop(session string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	l := s.sticky[session]
	delete(s.sticky, session)
	s.mu.Unlock()
	l.close()
}

func (s *streams) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	lanes := []*lane{s.shared}
	for _, l := range s.sticky {
		lanes = append(lanes, l)
	}
	s.shared, s.sticky = nil, map[string]*lane{}
	s.mu.Unlock()
	for _, l := range lanes {
		l.close()
	}
}

func (l *lane) close() {
	if l == nil {
		return
	}
	l.transport.CloseIdleConnections()
	l.mu.Lock()
	l.over = true
	open := slices.Collect(maps.Keys(l.conns))
	l.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// forget takes a connection that was closed off the lane's list.
func (l *lane) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// newLane makes a transport of HTTP/2 alone, with or without TLS, over connections that are dialled and stamped here.
// Bodies are not decompressed by it: the time of arrival is that of the bytes on the wire.
func (s *streams) newLane() *lane {
	c := s.client
	l := &lane{conns: map[net.Conn]struct{}{}}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	dial := func(scheme string) func(context.Context, string, string) (net.Conn, error) {
		return func(ctx context.Context, _, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return l.dial(ctx, c.dialer, &origin{scheme: scheme, host: host, port: port})
		}
	}
	l.transport = &http.Transport{
		Protocols: protocols, DialContext: dial("http"), DialTLSContext: dial("https"),
		DisableCompression: true, IdleConnTimeout: c.opts.KeepAliveTimeout, MaxResponseHeaderBytes: maxHead,
		MaxIdleConns: 0, MaxIdleConnsPerHost: c.opts.ConnectionLimit,
	}
	return l
}

// dial opens a connection of the lane.
func (l *lane) dial(ctx context.Context, d *dialer, o *origin) (net.Conn, error) {
	if !d.mayTry() {
		if err := d.await(ctx); err != nil {
			return nil, err
		}
	}
	t := new(Stamps)
	c, err := d.dial(ctx, o, t)
	if err != nil {
		return nil, err
	}
	if speaksHTTP2(c) != nil {
		c.close()
		return nil, &dialError{origin: o, step: stepTLS,
			err: errors.New("the server does not offer HTTP/2: omit --http2")}
	}
	c.wire.dialled, c.wire.shared = t, true
	c.wire.closed = func() { l.forget(c.top) }
	l.mu.Lock()
	over := l.over
	if !over {
		l.conns[c.top] = struct{}{}
	}
	l.mu.Unlock()
	if over {
		c.close()
		return nil, net.ErrClosed
	}
	return c.top, nil
}

// wireOf is the socket below a connection of a lane.
func wireOf(c net.Conn) *wire {
	if tc, ok := c.(*tls.Conn); ok {
		c = tc.NetConn()
	}
	w, _ := c.(*wire)
	return w
}
