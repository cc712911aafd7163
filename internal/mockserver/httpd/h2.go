package httpd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file serves HTTP/2: in clear text to clients that begin with its preface, over TLS to those that choose it. Each
// stream becomes a request to a [Conn] at the other end of a pipe, so that handlers, faults and latencies are the same
// for all.

// preface begins every HTTP/2 connection; this much of it looks like the head of a request.
const preface = "PRI * HTTP/2.0\r\n\r\n"

var errHTTP2 = errors.New("the client speaks HTTP/2")

const (
	// maxStreams is how many streams a connection may carry at a time.
	maxStreams = 1 << 20
	// flushTime is how long the last frames of a stream may take from net/http's buffer to the connection.
	flushTime = 5 * time.Millisecond
	// copyBytes is how much of a reply is passed on at a time.
	copyBytes = 32 << 10
)

// h2Server serves HTTP/2 connections: it is the handler of an [http.Server] and its listener, which accepts the
// connections whose first bytes a [Conn] has read.
type h2Server struct {
	srv    *Server
	http   *http.Server
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
	begun  sync.Once
	open   atomic.Int64 // connections
	active atomic.Int64 // of them, those with streams, and writes under way
}

func newH2Server(s *Server) *h2Server {
	h := &h2Server{srv: s, conns: make(chan net.Conn), done: make(chan struct{})}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	h.http = &http.Server{
		Handler: h, Protocols: protocols, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, nc)
		},
		ConnState: func(nc net.Conn, state http.ConnState) {
			if c, ok := nc.(*h2Conn); ok {
				c.is(state)
			}
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return h
}

type connKey struct{}

// h2Conn is a connection that speaks HTTP/2, with what a [Conn] has read of it.
type h2Conn struct {
	net.Conn
	server *h2Server
	read   *bytes.Reader
	closed chan struct{}
	once   sync.Once
	port   string

	active, writing atomic.Bool
	// closeIdle is the time without streams after which the connection is closed; -1 = none.
	closeIdle atomic.Int64
}

// is is called when the connection has its first stream, and when it has no stream any more.
func (c *h2Conn) is(state http.ConnState) {
	switch active := state == http.StateActive; {
	case active == c.active.Swap(active):
	case active:
		c.server.active.Add(1)
	default:
		c.server.active.Add(-1)
		if idle := time.Duration(c.closeIdle.Load()); state == http.StateIdle && idle >= 0 {
			time.AfterFunc(max(idle, flushTime), c.closeIfIdle)
		}
	}
}

// closeIfIdle closes the connection unless it has got work again.
func (c *h2Conn) closeIfIdle() {
	switch {
	case c.active.Load():
	case c.writing.Load():
		time.AfterFunc(flushTime, c.closeIfIdle)
	default:
		c.Close()
	}
}

func (c *h2Conn) Write(p []byte) (int, error) {
	c.server.active.Add(1)
	c.writing.Store(true)
	defer func() {
		c.writing.Store(false)
		c.server.active.Add(-1)
	}()
	return c.Conn.Write(p)
}

func (c *h2Conn) Read(p []byte) (int, error) {
	if c.read.Len() > 0 {
		return c.read.Read(p)
	}
	return c.Conn.Read(p)
}

func (c *h2Conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Accept implements net.Listener.
func (h *h2Server) Accept() (net.Conn, error) {
	select {
	case nc := <-h.conns:
		return nc, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *h2Server) Close() error { h.once.Do(func() { close(h.done) }); return nil }

// Addr implements net.Listener.
func (h *h2Server) Addr() net.Addr { return &net.UnixAddr{Name: "http2", Net: "pipe"} }

// serve serves the connection of c to its end.
func (h *h2Server) serve(c *Conn) {
	h.begun.Do(func() { h.srv.running.Go(func() { h.http.Serve(h) }) })
	c.nc.SetDeadline(time.Time{})
	h2 := &h2Conn{Conn: c.nc, server: h, read: bytes.NewReader(append([]byte(nil), c.buf[c.r:c.w]...)),
		closed: make(chan struct{}), port: c.Port}
	h2.closeIdle.Store(-1)
	h.open.Add(1)
	defer h.open.Add(-1)
	select {
	case h.conns <- h2:
		<-h2.closed
	case <-h.done:
	}
}

// stop lets running streams finish until ctx ends, and cuts the others. Clients are notified, and need not leave: the
// connections are closed once nothing happens on them.
func (h *h2Server) stop(ctx context.Context) {
	h.Close()
	shutdown, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { h.http.Shutdown(shutdown) })
	tick := time.NewTicker(flushTime)
	defer tick.Stop()
	for quiet := 0; quiet < 4 && h.open.Load() > 0 && ctx.Err() == nil; {
		<-tick.C
		if quiet++; h.active.Load() > 0 {
			quiet = 0
		}
	}
	h.http.Close()
	cancel()
	all.Wait()
}

// pipeEnd is the end of a pipe that a [Conn] serves for a stream of an HTTP/2 connection.
type pipeEnd struct {
	net.Conn
	reset  *atomic.Bool // the distortion asks for a reset
	client *h2Conn      // whose stream it is; nil = unknown
}

// SetLinger is called for a reset.
func (p pipeEnd) SetLinger(int) error { p.reset.Store(true); return nil }

// closeClientIdle has the client's connection closed once it was without streams for some time.
func (p pipeEnd) closeClientIdle(d time.Duration) {
	if p.client != nil {
		p.client.closeIdle.Store(int64(d))
	}
}

// Forwarded is the reply to a request that was passed on.
type Forwarded struct {
	*http.Response
	end    pipeEnd
	cancel func()
}

// Forward passes a request to a [Conn] within the process and returns its reply once the head is there. If there is
// none it panics with [http.ErrAbortHandler], which resets the stream. The end of r ends the request, as Close does.
func (s *Server) Forward(r *http.Request, method, path string, header http.Header, body []byte) *Forwarded {
	near, far := net.Pipe()
	f := &Forwarded{end: pipeEnd{Conn: far, reset: new(atomic.Bool)}, cancel: func() { near.Close() }}
	port := ""
	if c, ok := r.Context().Value(connKey{}).(*h2Conn); ok {
		f.end.client, port = c, c.port
	}
	c := s.open(f.end, port)
	if c == nil { // the server is about to end
		near.Close()
		f.Abort()
	}
	go s.run(c)
	unwatch := context.AfterFunc(r.Context(), func() { near.Close() })
	f.cancel = func() { unwatch(); near.Close() }
	var wire bytes.Buffer
	wire.WriteString(method + " " + path + " HTTP/1.1\r\nHost: " + r.Host + "\r\nConnection: close\r\n")
	if len(body) > 0 || method == http.MethodPost {
		wire.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	header.Write(&wire)
	wire.WriteString("\r\n")
	wire.Write(body)
	go near.Write(wire.Bytes()) // ends with the pipe
	var err error
	if f.Response, err = http.ReadResponse(bufio.NewReader(near), &http.Request{Method: method}); err != nil {
		f.Close()
		f.Abort()
	}
	return f
}

// Close ends the request.
func (f *Forwarded) Close() { f.cancel() }

// Abort ends a stream that is not whole by a reset of it, or of the whole connection if the distortion asks for that.
// It panics with [http.ErrAbortHandler].
func (f *Forwarded) Abort() {
	if c := f.end.client; c != nil && f.end.reset.Load() {
		if tcp := resettable(c.Conn); tcp != nil {
			tcp.SetLinger(0)
			c.Close()
		}
	}
	panic(http.ErrAbortHandler)
}

// ServeHTTP implements http.Handler.
func (h *h2Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") && r.Method == http.MethodPost {
		h.srv.grpc.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusRequestEntityTooLarge)
		return
	}
	f := h.srv.Forward(r, r.Method, r.URL.RequestURI(), EndToEnd(r.Header), body)
	defer f.Close()
	maps.Copy(w.Header(), EndToEnd(f.Header))
	w.WriteHeader(f.StatusCode)
	flush := http.NewResponseController(w)
	flush.Flush()
	buf := make([]byte, copyBytes)
	for {
		n, err := f.Body.Read(buf)
		if n > 0 {
			w.Write(buf[:n])
			flush.Flush()
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			f.Abort()
		}
	}
}

// EndToEnd returns a header without what belongs to one connection.
func EndToEnd(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Te", "Content-Length", "Trailer"} {
		h.Del(name)
	}
	return h
}
