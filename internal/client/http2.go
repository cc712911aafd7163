package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"aiperf/internal/neterr"
	"aiperf/internal/record"
)

// sharedReason is why a connection that many streams share has no kernel stamps.
const sharedReason = "HTTP/2 streams share a connection: the kernel's stamps belong to none of them"

// sharedSources replaces the sources of a client that speaks HTTP/2.
func sharedSources(asked TimestampSource, s *sources) (*sources, error) {
	if s != nil {
		s.close()
	}
	if asked == TimestampKernel {
		return nil, fmt.Errorf("timestamp source kernel: %s; choose auto or user", sharedReason)
	}
	return &sources{reason: sharedReason}, nil
}

// streams carries exchanges as streams of HTTP/2 connections, framed by net/http. The strategies choose
// the lane: one for all, one for each session, one for each exchange.
type streams struct {
	client *Client

	mu     sync.Mutex
	shared *lane
	sticky map[string]*lane
}

// lane is a set of connections of its own.
type lane struct {
	transport *http.Transport

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	over  bool
}

func newStreams(c *Client) *streams { return &streams{client: c, sticky: map[string]*lane{}} }

// lane finds the connections of an exchange; once tells that they are of no use afterwards.
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
	defer l.mu.Unlock()
	l.over = true
	for c := range l.conns {
		c.Close()
	}
	l.conns = nil
}

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
	t := new(stamps)
	c, err := d.dial(ctx, o, t)
	if err != nil {
		return nil, err
	}
	if speaksHTTP2(c) != nil {
		c.close()
		return nil, &dialError{origin: o, step: stepTLS, err: errors.New("the server does not offer HTTP/2: leave --http2 out")}
	}
	c.wire.dialled = t
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		c.close()
		return nil, net.ErrClosed
	}
	l.conns[c.top] = struct{}{}
	return c.top, nil
}

var errPlainProxy = errors.New("HTTP/2 in clear text does not go through a proxy")

// speaksHTTP2 says what is wrong with a connection that was to speak HTTP/2.
func speaksHTTP2(c *connection) error {
	if tc, ok := c.top.(*tls.Conn); ok && tc.ConnectionState().NegotiatedProtocol != "h2" {
		return errors.New("the server does not offer HTTP/2")
	}
	return nil
}

// wireOf is the socket below a connection of a lane.
func wireOf(c net.Conn) *wire {
	if tc, ok := c.(*tls.Conn); ok {
		c = tc.NetConn()
	}
	w, _ := c.(*wire)
	return w
}

// progress collects what net/http tells of an exchange, on goroutines of its own, until it is sealed.
type progress struct {
	mu            sync.Mutex
	sealed        bool
	t             stamps
	local, remote net.Addr
}

func (p *progress) note(f func(t *stamps)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sealed {
		return false
	}
	f(&p.t)
	return true
}

// seal ends the collection.
func (p *progress) seal() (stamps, net.Addr, net.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sealed = true
	return p.t, p.local, p.remote
}

// multiplex carries the exchange through its redirects to its reply, as a stream of a connection.
func (x *exchange) multiplex(h *hop) error {
	if err := x.waitForSlot(); err != nil {
		return err
	}
	ctx, done := x.setup()
	defer done()
	l, once := x.client.streams.lane(x.req.Session)
	if once {
		defer l.close()
	}
	for redirects := 0; ; redirects++ {
		resp, err := x.stream(ctx, h, l)
		if err != nil {
			return err
		}
		again, err := x.redirected(h, resp)
		switch {
		case err != nil:
			return err
		case !again:
			return x.receive(h, resp)
		case redirects == maxRedirects:
			return &wireError{origin: h.target.origin, typ: neterr.Redirects, what: "following redirects",
				err: fmt.Errorf("more than %d redirects", maxRedirects)}
		}
		x.discard()
	}
}

// stream sends the hop and returns the head of its reply; the body is then read like that of a
// connection that ends with it.
func (x *exchange) stream(ctx context.Context, h *hop, l *lane) (*http.Response, error) {
	c := x.client
	if h.target.proxyAuth != "" || h.target.path != "" && h.target.path[0] != '/' {
		return nil, &dialError{origin: h.target.origin, step: stepConnect, err: errPlainProxy}
	}
	x.t.newConnection()
	x.requestChunks, x.responseChunks = nil, nil
	p := &progress{t: x.t}
	request, err := x.http2Request(ctx, h, p)
	if err != nil {
		return nil, err
	}
	resp, err := l.transport.RoundTrip(request)
	now := c.clock.NowNS()
	if err != nil || x.ended() {
		x.t, _, _ = p.seal()
		if resp != nil {
			resp.Body.Close()
		}
		return nil, x.unanswered(h, err)
	}
	t, local, remote := p.seal()
	x.t = t
	if x.t.headersReceived == 0 {
		x.t.headersReceived = now
	}
	if x.t.sendEnd == 0 { // answered before it was sent, as far as net/http has told
		x.t.sendEnd, x.t.headersSent = x.t.headersReceived, x.t.headersReceived
	}
	x.t.answered()
	if sent := int64(len(h.body)); sent > 0 {
		x.t.bytesSent, x.t.chunksSent = sent, 1
		if x.req.KeepTrace {
			x.requestChunks = []record.Chunk{{AtNS: c.clock.WallNS(x.t.sendEnd), Bytes: sent}}
		}
	}
	if x.req.KeepTrace || x.req.KeepRaw {
		x.response = resp
	}
	conn := newConnection(h.target.origin, newWire(&streamConn{body: resp.Body, local: local, remote: remote}, c.clock, c.sources), nil)
	conn.top = conn.wire
	conn.br.Reset(conn.wire)
	if !x.adopt(conn) {
		conn.close()
		return nil, errEnded
	}
	x.body = body{br: conn.br, framing: framedByClose, closes: true}
	return resp, nil
}

// http2Request makes net/http's form of a hop.
func (x *exchange) http2Request(ctx context.Context, h *hop, p *progress) (*http.Request, error) {
	now := x.client.clock.NowNS
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			w := wireOf(info.Conn)
			p.note(func(t *stamps) {
				if info.Reused || w == nil || w.dialled == nil {
					t.reused = now()
				} else {
					d := w.dialled
					t.dnsStart, t.dnsEnd, t.dnsHit, t.dnsMiss = d.dnsStart, d.dnsEnd, d.dnsHit, d.dnsMiss
					t.connectStart, t.connectEnd = d.connectStart, d.connectEnd
				}
				t.sendStart = now()
				p.local, p.remote = info.Conn.LocalAddr(), info.Conn.RemoteAddr()
			})
		},
		WroteHeaders: func() { p.note(func(t *stamps) { t.headersSent = now() }) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				p.note(func(t *stamps) { t.sendEnd = now() })
				// Also when the reply was faster than this word, and its stamps were taken.
				x.wrote.Store(true)
				x.armCancellation()
			}
		},
		GotFirstResponseByte: func() { p.note(func(t *stamps) { t.headersReceived = now() }) },
	})
	u := *h.target.url
	u.User = nil
	r := &http.Request{Method: h.method, URL: &u, Host: h.target.host, Header: http.Header{"User-Agent": nil}}
	for _, hd := range h.headers {
		switch name := http.CanonicalHeaderKey(hd.Name); {
		case name == "Host":
			r.Host = hd.Value
		case isFraming(name) || name == "Connection": // there is none of that in HTTP/2
		default:
			r.Header[name] = append(r.Header[name], hd.Value)
		}
	}
	if auth := h.target.auth; auth != "" && r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", auth)
	}
	if len(h.body) > 0 {
		// No GetBody: nothing is ever sent twice.
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(h.body)), int64(len(h.body))
	}
	return r.WithContext(ctx), nil
}

// unanswered is the error of a stream without a reply.
func (x *exchange) unanswered(h *hop, err error) error {
	if x.ended() {
		return errEnded
	}
	var dial *dialError
	if errors.As(err, &dial) {
		return dial
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	typ := typeResponse
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		typ = neterr.ServerDisconnected
	}
	return &wireError{origin: h.target.origin, typ: typ, what: "waiting for the response over HTTP/2", err: err}
}

// streamConn is the body of a stream in the shape of a connection that ends with it.
type streamConn struct {
	body          io.ReadCloser
	local, remote net.Addr
}

func (c *streamConn) Read(p []byte) (int, error)  { return c.body.Read(p) }
func (c *streamConn) Write(p []byte) (int, error) { return 0, net.ErrClosed }
func (c *streamConn) Close() error                { return c.body.Close() }
func (c *streamConn) LocalAddr() net.Addr         { return c.local }
func (c *streamConn) RemoteAddr() net.Addr        { return c.remote }

// SetDeadline and its kin bound nothing: a stream ends with its exchange.
func (c *streamConn) SetDeadline(time.Time) error      { return nil }
func (c *streamConn) SetReadDeadline(time.Time) error  { return nil }
func (c *streamConn) SetWriteDeadline(time.Time) error { return nil }
