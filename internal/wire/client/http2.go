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
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
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

var errPlainProxy = errors.New("HTTP/2 in clear text does not go through a proxy")

// speaksHTTP2 returns an error for a TLS connection that did not negotiate HTTP/2.
func speaksHTTP2(c *connection) error {
	if tc, ok := c.top.(*tls.Conn); ok && tc.ConnectionState().NegotiatedProtocol != "h2" {
		return errors.New("the server does not offer HTTP/2")
	}
	return nil
}

// progress collects what net/http reports an exchange, on goroutines of its own, until it is sealed.
type progress struct {
	mu            sync.Mutex
	sealed        bool
	t             Stamps
	local, remote net.Addr
}

func (p *progress) note(f func(t *Stamps)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.sealed {
		f(&p.t)
	}
}

// seal ends the collection.
func (p *progress) seal() (Stamps, net.Addr, net.Addr) {
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
	ctx, done := x.Wait(context.Background())
	defer done()
	l, once := x.client.streams.lane(x.req.Session)
	if once {
		defer l.close()
	}
	for redirects := 0; ; redirects++ {
		begun := x.clock.NowNS()
		again, err := x.carry(ctx, h, l)
		if x.wasRefused(err) {
			x.discard()
			if !x.unsend() {
				return ErrEnded
			}
			x.out.Status, x.out.AckNS, x.response = 0, 0, nil
			x.lostTry(begun, redirects == 0)
			own := x.client.streams.newLane()
			defer own.close()
			again, err = x.carry(ctx, h, own)
			x.resending = false
		}
		switch {
		case err != nil || !again:
			return err
		case redirects == maxRedirects:
			return &wireError{origin: h.target.origin, typ: neterr.Redirects, what: "following redirects",
				err: fmt.Errorf("more than %d redirects", maxRedirects)}
		}
		x.discard()
	}
}

// carry sends the hop as a stream and takes its reply; again reports that the reply led to another hop.
func (x *exchange) carry(ctx context.Context, h *hop, l *lane) (again bool, err error) {
	resp, err := x.stream(ctx, h, l)
	if err != nil {
		return false, err
	}
	if again, err = x.redirected(h, resp); err != nil || again {
		return again, err
	}
	return false, x.receive(h, resp)
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
	resp, err := l.transport.RoundTrip(x.http2Request(ctx, h, p))
	now := c.clock.NowNS()
	if err != nil || x.Ended() {
		x.t, _, _ = p.seal()
		if resp != nil {
			resp.Body.Close()
		}
		return nil, x.unanswered(h, err)
	}
	t, local, remote := p.seal()
	x.t = t
	if x.t.HeadersReceived == 0 {
		x.t.HeadersReceived = now
	}
	if x.t.SendEnd == 0 { // answered before it was sent, as far as net/http has reported
		x.t.SendEnd, x.t.HeadersSent = x.t.HeadersReceived, x.t.HeadersReceived
	}
	x.t.answered()
	x.t.BytesReceived = int64(len(":status200")) + fieldBytes(resp.Header)
	if sent := int64(len(h.body)); sent > 0 {
		x.t.BytesSent += sent
		x.t.BodySent, x.t.ChunksSent = sent, 1
		if x.req.KeepTrace {
			x.requestChunks = []record.Chunk{{AtNS: c.clock.WallNS(x.t.SendEnd), Bytes: sent}}
		}
	}
	if x.req.KeepTrace || x.req.KeepRaw {
		x.response = resp
	}
	w := newWire(&streamConn{body: resp.Body, local: local, remote: remote}, c.clock, c.sources)
	conn := newConnection(h.target.origin, w, w)
	if !x.adopt(conn) {
		conn.close()
		return nil, ErrEnded
	}
	x.body = body{in: &conn.in, framing: framedByClose, closes: true}
	x.keepHead(h, resp)
	return resp, nil
}

// http2Request makes net/http's form of a hop.
func (x *exchange) http2Request(ctx context.Context, h *hop, p *progress) *http.Request {
	now := x.clock.NowNS
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			w := wireOf(info.Conn)
			p.note(func(t *Stamps) {
				if info.Reused || w == nil || w.dialled == nil {
					t.Reused = now()
				} else {
					d := w.dialled
					t.DNSStart, t.DNSEnd, t.DNSHit, t.DNSMiss = d.DNSStart, d.DNSEnd, d.DNSHit, d.DNSMiss
					t.ConnectStart, t.ConnectEnd = d.ConnectStart, d.ConnectEnd
				}
				t.SendStart, t.BytesSent = now(), 0
				p.local, p.remote = info.Conn.LocalAddr(), info.Conn.RemoteAddr()
			})
		},
		WroteHeaderField: func(name string, values []string) {
			p.note(func(t *Stamps) {
				for _, value := range values {
					t.BytesSent += int64(len(name) + len(value))
				}
			})
		},
		WroteHeaders: func() { p.note(func(t *Stamps) { t.HeadersSent = now() }) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				p.note(func(t *Stamps) { t.SendEnd = now() })
				// Also when the reply came before this report, and its stamps are taken.
				x.Sent()
			}
		},
		GotFirstResponseByte: func() { p.note(func(t *Stamps) { t.HeadersReceived = now() }) },
	})
	u := *h.target.url
	u.User = nil
	r := &http.Request{Method: h.method, URL: &u, Host: h.target.host, Header: http.Header{"User-Agent": nil}}
	for _, hd := range h.headers {
		switch name := http.CanonicalHeaderKey(hd.Name); {
		case name == "Host":
			r.Host = hd.Value
		case isFraming(name) || name == "Connection": // not used in HTTP/2
		default:
			r.Header[name] = append(r.Header[name], hd.Value)
		}
	}
	if auth := h.target.auth; auth != "" && r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", auth)
	}
	if len(h.body) > 0 {
		// No GetBody: net/http would send the request again without reporting it.
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(h.body)), int64(len(h.body))
	}
	return r.WithContext(ctx)
}

// unanswered is the error of a stream without a reply.
func (x *exchange) unanswered(h *hop, err error) error {
	if x.Ended() {
		return ErrEnded
	}
	if dial, ok := errors.AsType[*dialError](err); ok {
		return dial
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if reason, refused := refusedStream(err); refused {
		return &wireError{origin: h.target.origin, typ: typeResponse, what: waitingHTTP2, err: errors.New(reason),
			unanswered: true}
	}
	typ := typeResponse
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		typ = neterr.ServerDisconnected
	}
	return &wireError{origin: h.target.origin, typ: typ, what: waitingHTTP2, err: err}
}

const waitingHTTP2 = "waiting for the response over HTTP/2"

// refusedStream reports whether net/http gave up a request that it holds to be unread, which it would repeat if it
// had a second body, and why: the server reset the stream, or named an earlier one as its last; or no connection
// would take it.
func refusedStream(err error) (reason string, refused bool) {
	if err.Error() == "net/http: cannot rewind body after connection loss" {
		return notTaken, true
	}
	_, rest, found := strings.Cut(err.Error(), "cannot retry err [")
	reason, _, closed := strings.Cut(rest, "] after Request.Body was written")
	return reason, found && closed
}

const notTaken = "the connection ended before it took the request"

// wasRefused reports whether err is that of a stream which the server did not take, as it reports itself. A protocol
// error is not that. A response head that crosses the report does not count unless a body follows it.
func (x *exchange) wasRefused(err error) bool {
	var lost *wireError
	if !errors.As(err, &lost) {
		return false
	}
	text := lost.err.Error()
	if !lost.unanswered {
		return strings.HasSuffix(text, goneAway) && x.t.BodyReceived == 0
	}
	return text == notTaken || strings.HasSuffix(text, goneAway) || strings.Contains(text, "REFUSED_STREAM")
}

// goneAway ends net/http's error for a stream above the last one that a server processes.
const goneAway = "graceful shutdown GOAWAY"

// fieldBytes is the length of header fields, names and values.
func fieldBytes(h http.Header) (n int64) {
	for name, values := range h {
		for _, value := range values {
			n += int64(len(name) + len(value))
		}
	}
	return n
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
