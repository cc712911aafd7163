package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// wholeRequest is the size up to which the body of a request is read before it is passed on: it then leaves in one
	// write with its head. A server can do nothing with a part of it.
	wholeRequest = 64 << 10
	// headPatience is how long the head of a reply of known length may wait for the first bytes of its body, with which
	// it leaves in one write.
	headPatience = time.Millisecond
	// Buffers of streams of events are small: there may be thousands of them.
	eventBuffer, replyBuffer = 4 << 10, 32 << 10
)

// hopByHop are the header fields that are meant for one connection, not for who is behind it.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade"}

func dropHopByHop(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(textproto.TrimString(name))
		}
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// hasToken reports whether a list of header fields has a word.
func hasToken(values []string, word string) bool {
	for _, list := range values {
		for name := range strings.SplitSeq(list, ",") {
			if strings.EqualFold(textproto.TrimString(name), word) {
				return true
			}
		}
	}
	return false
}

// forwarder passes requests on. It does what [httputil.ReverseProxy] does, with fewer writes and copies: the request
// leaves in one write, so does a reply that is there at once, and header fields are moved, not copied.
type forwarder struct {
	upstream  *url.URL
	transport http.RoundTripper
	// rare gets what needs a connection of its own, such as WebSocket.
	rare *httputil.ReverseProxy
	// failed answers a request that did not reach the server.
	failed         func(http.ResponseWriter, *http.Request, error)
	events, others sync.Pool
}

func newForwarder(upstream *url.URL, transport http.RoundTripper,
	failed func(http.ResponseWriter, *http.Request, error)) *forwarder {
	f := &forwarder{upstream: upstream, transport: transport, failed: failed}
	f.events.New = func() any { b := make([]byte, eventBuffer); return &b }
	f.others.New = func() any { b := make([]byte, replyBuffer); return &b }
	f.rare = &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL, p.Out.Host = f.address(p.In.URL), upstream.Host
		for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
			if values, ok := p.In.Header[name]; ok {
				p.Out.Header[name] = values
			}
		}
	}, Transport: transport, FlushInterval: -1, ErrorHandler: failed, ErrorLog: quiet}
	return f
}

// isRare reports whether a request is none that is answered once.
func isRare(req *http.Request) bool {
	return req.Method == http.MethodConnect || !strings.HasPrefix(req.URL.Path, "/") ||
		hasToken(req.Header["Connection"], "upgrade")
}

// address is where a request goes: the path of the server is before its own.
func (f *forwarder) address(u *url.URL) *url.URL {
	out := *u
	out.Scheme, out.Host = f.upstream.Scheme, f.upstream.Host
	if before := strings.TrimSuffix(f.upstream.Path, "/"); before != "" {
		out.Path = before + u.Path
		if u.RawPath != "" || f.upstream.RawPath != "" {
			out.RawPath = strings.TrimSuffix(f.upstream.EscapedPath(), "/") + u.EscapedPath()
		}
	}
	return &out
}

// forward passes a request on and notes what passes. A reply that breaks off breaks off for the client, too, by the panic
// that net/http has for it.
func (f *forwarder) forward(w http.ResponseWriter, req *http.Request, x *exchange) {
	if isRare(req) {
		f.rare.ServeHTTP(w, req)
		return
	}
	interim := &interim{w: w}
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{Got1xxResponse: interim.pass})
	out, done, err := f.outgoing(ctx, req, x)
	defer done()
	if err != nil { // the client left
		x.left = true
		panic(http.ErrAbortHandler)
	}
	resp, err := f.transport.RoundTrip(out)
	interim.end()
	if err != nil {
		f.failed(w, req, err)
		x.unreached = req.Context().Err() == nil
		return
	}
	defer resp.Body.Close()
	x.status, x.contentType = resp.StatusCode, resp.Header.Get("Content-Type")
	x.replyEncoding = resp.Header.Get("Content-Encoding")
	if resp.StatusCode == http.StatusSwitchingProtocols { // nobody asked for it
		x.broken = errors.New("it changed the protocol, which nobody asked for")
		f.failed(w, req, x.broken)
		return
	}
	announced := head(w.Header(), resp)
	w.WriteHeader(resp.StatusCode)
	if err := f.body(w, req, resp, x); err != nil {
		panic(http.ErrAbortHandler)
	}
	resp.Body.Close() // the trailer is complete now
	trailer(w, resp, announced)
}

// outgoing is the request to the server. The header fields of the client's request become its own. Done ends the reading
// of the client's body: the transport may hold it longer than the reply takes.
func (f *forwarder) outgoing(ctx context.Context, req *http.Request, x *exchange) (out *http.Request, done func(), err error) {
	header := req.Header
	trailers := hasToken(header["Te"], "trailers")
	dropHopByHop(header)
	if trailers {
		header["Te"] = []string{"trailers"}
	}
	if _, ok := header["User-Agent"]; !ok {
		header["User-Agent"] = []string{""} // else the transport names itself
	}
	out = (&http.Request{Method: req.Method, URL: f.address(req.URL), Host: f.upstream.Host, Header: header,
		ContentLength: req.ContentLength, Trailer: req.Trailer, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1}).WithContext(ctx)
	switch {
	case req.Body == nil || req.ContentLength == 0:
		return out, func() {}, nil
	case req.ContentLength > 0 && req.ContentLength <= wholeRequest:
		body := make([]byte, req.ContentLength)
		if _, err := io.ReadFull(req.Body, body); err != nil {
			return out, func() {}, err
		}
		x.take(body)
		out.Body = io.NopCloser(bytes.NewReader(body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		return out, func() {}, nil
	}
	body := &requestBody{ReadCloser: req.Body, x: x}
	out.Body = body
	return out, body.leave, nil
}

// head moves the header fields of a reply to that for the client, and returns how many trailers it announces.
func head(to http.Header, resp *http.Response) (announced int) {
	dropHopByHop(resp.Header)
	for name, values := range resp.Header {
		to[name] = values
	}
	// What the server did not say is not said for it.
	for _, name := range []string{"Content-Type", "Date"} {
		if _, ok := to[name]; !ok {
			to[name] = nil
		}
	}
	for name := range resp.Trailer {
		to.Add("Trailer", name)
	}
	return len(resp.Trailer)
}

// trailer passes on what came after the body.
func trailer(w http.ResponseWriter, resp *http.Response, announced int) {
	if len(resp.Trailer) == 0 {
		return
	}
	_ = http.NewResponseController(w).Flush() // a body of known length has no trailer
	for name, values := range resp.Trailer {
		if len(resp.Trailer) != announced {
			name = http.TrailerPrefix + name
		}
		w.Header()[name] = values
	}
}

// body passes on the body of a reply, each piece as it comes.
func (f *forwarder) body(w http.ResponseWriter, req *http.Request, resp *http.Response, x *exchange) error {
	control := http.NewResponseController(w)
	pool, left := &f.others, resp.ContentLength
	if left < 0 || isEvents(x.contentType) {
		if err := control.Flush(); err != nil {
			return err
		}
		pool = &f.events
	} else if left > 0 && req.Method != http.MethodHead {
		late := newLateHead(control)
		defer late.stop()
		w = late.before(w)
	}
	buffer := pool.Get().(*[]byte)
	defer pool.Put(buffer)
	for {
		n, err := resp.Body.Read(*buffer)
		x.read((*buffer)[:n], err)
		if n > 0 {
			if _, err := w.Write((*buffer)[:n]); err != nil {
				return err
			}
			// The last bytes leave when the handler returns, which is at once.
			if left -= int64(n); left != 0 && err == nil {
				if err := control.Flush(); err != nil {
					return err
				}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// lateHead sends the head of a reply whose body does not come soon.
type lateHead struct {
	mu      sync.Mutex
	control *http.ResponseController
	timer   *time.Timer
	over    bool
}

func newLateHead(control *http.ResponseController) *lateHead {
	l := &lateHead{control: control}
	l.timer = time.AfterFunc(headPatience, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.over {
			_ = l.control.Flush()
		}
	})
	return l
}

func (l *lateHead) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.timer.Stop()
}

// before is a writer whose first write comes before the head leaves alone, or after it has.
func (l *lateHead) before(w http.ResponseWriter) http.ResponseWriter { return &firstWrite{w, l} }

type firstWrite struct {
	http.ResponseWriter
	late *lateHead
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if !w.late.over { // only this goroutine sets it
		w.late.stop()
	}
	return w.ResponseWriter.Write(p)
}

// interim passes on replies before the reply, such as 103, until that comes.
type interim struct {
	mu   sync.Mutex
	w    http.ResponseWriter
	over bool
}

func (i *interim) pass(code int, header textproto.MIMEHeader) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over {
		return nil
	}
	h := i.w.Header()
	for name, values := range header {
		h[name] = values
	}
	i.w.WriteHeader(code)
	clear(h)
	return nil
}

func (i *interim) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
}

// unreached is what a client is told whose request did not reach the server.
func unreached(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusBadGateway)
	fmt.Fprintf(w, "aiperf record: the server does not answer: %v\n", err)
}

// isEvents reports whether a reply is a stream of events.
func isEvents(contentType string) bool { return strings.HasPrefix(contentType, "text/event-stream") }
