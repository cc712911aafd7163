package mockserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file speaks HTTP/2: in clear text to clients that begin with its preface, over TLS to those that choose
// it. Each stream becomes a request to a connection of the engine within this process, so that faults,
// latencies, books and the record are the same for all.

// preface begins every HTTP/2 connection; this much of it looks like the head of a request.
const preface = "PRI * HTTP/2.0\r\n\r\n"

var errHTTP2 = errors.New("the client speaks HTTP/2")

// maxStreams is how many streams a connection may carry at a time.
const maxStreams = 1 << 20

// front serves HTTP/2 connections.
type front struct {
	srv    *Server
	http   *http.Server
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
	begun  sync.Once
	held   atomic.Int64 // connections
	active atomic.Int64 // of them, those with streams, and writes under way
}

func newFront(s *Server) *front {
	f := &front{srv: s, conns: make(chan net.Conn), done: make(chan struct{})}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	f.http = &http.Server{
		Handler: f, Protocols: protocols, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ConnContext: func(ctx context.Context,
			nc net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, nc)
		},
		ConnState: func(nc net.Conn, state http.ConnState) {
			if h, ok := nc.(*handed); ok {
				h.is(state)
			}
		},
		ErrorLog: discardLog(),
	}
	return f
}

type connKey struct{}

// handed is a connection that the engine gave to the front, with what it had read of it.
type handed struct {
	net.Conn
	front  *front
	head   *bytes.Reader
	closed chan struct{}
	once   sync.Once
	port   string

	active, writing atomic.Bool
	// closeIdle is what a fault asked for: the time without streams after which the connection is closed; -1 = none.
	closeIdle atomic.Int64
}

// is hears of streams: there are some, or none any more.
func (h *handed) is(state http.ConnState) {
	switch active := state == http.StateActive; {
	case active == h.active.Swap(active):
	case active:
		h.front.active.Add(1)
	default:
		h.front.active.Add(-1)
		if idle := time.Duration(h.closeIdle.Load()); state == http.StateIdle && idle >= 0 {
			time.AfterFunc(max(idle, flushTime), h.leave)
		}
	}
}

// leave closes the connection unless it has got work again.
func (h *handed) leave() {
	switch {
	case h.active.Load():
	case h.writing.Load():
		time.AfterFunc(flushTime, h.leave)
	default:
		h.Close()
	}
}

func (h *handed) Write(p []byte) (int, error) {
	h.front.active.Add(1)
	h.writing.Store(true)
	defer func() {
		h.writing.Store(false)
		h.front.active.Add(-1)
	}()
	return h.Conn.Write(p)
}

func (h *handed) Read(p []byte) (int, error) {
	if h.head.Len() > 0 {
		return h.head.Read(p)
	}
	return h.Conn.Read(p)
}

func (h *handed) Close() error {
	h.once.Do(func() { close(h.closed) })
	return h.Conn.Close()
}

// Accept implements net.Listener.
func (f *front) Accept() (net.Conn, error) {
	select {
	case nc := <-f.conns:
		return nc, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (f *front) Close() error { f.once.Do(func() { close(f.done) }); return nil }

// Addr implements net.Listener.
func (f *front) Addr() net.Addr { return &net.UnixAddr{Name: "front", Net: "pipe"} }

// serve serves the connection of c to its end.
func (f *front) serve(c *conn) {
	f.begun.Do(func() { f.srv.running.Go(func() { f.http.Serve(f) }) })
	c.nc.SetDeadline(time.Time{})
	h := &handed{Conn: c.nc, front: f, head: bytes.NewReader(append([]byte(nil), c.buf[c.r:c.w]...)),
		closed: make(chan struct{}), port: c.port}
	h.closeIdle.Store(-1)
	f.held.Add(1)
	defer f.held.Add(-1)
	select {
	case f.conns <- h:
		<-h.closed
	case <-f.done:
	}
}

// flushTime is how long the last frames of a stream may take from net/http's buffer to the connection.
const flushTime = 5 * time.Millisecond

// stop lets running streams finish until ctx ends, and cuts the others. Clients are told, and need not leave: the
// connections are closed once nothing happens on them.
func (f *front) stop(ctx context.Context) {
	f.Close()
	telling, told := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { f.http.Shutdown(telling) })
	look := time.NewTicker(flushTime)
	defer look.Stop()
	for quiet := 0; quiet < 4 && f.held.Load() > 0 && ctx.Err() == nil; {
		<-look.C
		if quiet++; f.active.Load() > 0 {
			quiet = 0
		}
	}
	f.http.Close()
	told()
	all.Wait()
}

// inner is a connection to the engine.
type inner struct {
	net.Conn
	reset atomic.Bool // the fault asks for a reset
	front *handed     // whose stream it is
}

// engineEnd is the engine's side of it.
type engineEnd struct {
	net.Conn
	inner *inner
}

// SetLinger is how the engine asks for a reset.
func (e engineEnd) SetLinger(int) error { e.inner.reset.Store(true); return nil }

// leaveAfter has the client's connection closed once it was without streams for some time.
func (e engineEnd) leaveAfter(d time.Duration) {
	if h := e.inner.front; h != nil {
		h.closeIdle.Store(int64(d))
	}
}

// open gives a request to the engine and returns the head of its reply. The end of the client's interest ends
// the connection.
func (f *front) open(r *http.Request, method, path string, header http.Header, body []byte) (*http.Response, *inner,
	func(), error) {
	near, far := net.Pipe()
	in := &inner{Conn: near}
	port := ""
	if h, ok := r.Context().Value(connKey{}).(*handed); ok {
		in.front, port = h, h.port
	}
	c := f.srv.open(engineEnd{far, in}, port)
	if c == nil {
		near.Close()
		return nil, nil, nil, errors.New("the server is going down")
	}
	go f.srv.run(c)
	unwatch := context.AfterFunc(r.Context(), func() { near.Close() })
	end := func() { unwatch(); near.Close() }
	var wire bytes.Buffer
	wire.WriteString(method + " " + path + " HTTP/1.1\r\nHost: " + r.Host + "\r\nConnection: close\r\n")
	if len(body) > 0 || method == http.MethodPost {
		wire.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	header.Write(&wire)
	wire.WriteString("\r\n")
	wire.Write(body)
	go near.Write(wire.Bytes()) // ends with the connection
	resp, err := http.ReadResponse(bufio.NewReader(near), &http.Request{Method: method})
	if err != nil {
		end()
		return nil, in, nil, err
	}
	return resp, in, end, nil
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") && r.Method == http.MethodPost {
		f.call(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusRequestEntityTooLarge)
		return
	}
	resp, in, end, err := f.open(r, r.Method, r.URL.RequestURI(), forwarded(r.Header), body)
	if err != nil {
		f.abort(r, in)
	}
	defer end()
	for name, values := range forwarded(resp.Header) {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	flush := http.NewResponseController(w)
	flush.Flush()
	buf := make([]byte, floodBytes)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			w.Write(buf[:n])
			flush.Flush()
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			f.abort(r, in)
		}
	}
}

// forwarded is a header without what belongs to one connection.
func forwarded(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Te", "Content-Length", "Trailer"} {
		h.Del(name)
	}
	return h
}

// abort ends a stream that is not whole by a reset of it, or of the whole connection if the fault asks for that.
func (f *front) abort(r *http.Request, in *inner) {
	if h, ok := r.Context().Value(connKey{}).(*handed); ok && in != nil && in.reset.Load() {
		if tcp := lingers(h.Conn); tcp != nil {
			tcp.SetLinger(0)
			h.Close()
		}
	}
	panic(http.ErrAbortHandler)
}
