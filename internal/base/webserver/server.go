// Package webserver answers browsers on one address of this machine.
//
// A [Server] listens on loopback unless its address says otherwise. What it protects depends on who can reach it: on
// loopback it answers only requests for a name of this machine, so that a page elsewhere cannot reach it through a name
// of its own (DNS rebinding); on other addresses it asks for a key, which stands in the address that it prints, unless
// its owner leaves it open. Requests of other origins that change something are refused, and only the configured
// origins may read replies.
//
// The invariants: no path leads out of a served folder, whatever its spelling; every reply has headers that keep
// browsers from guessing types, framing the page and passing its address on; headers, times and connections are
// bounded; [Server.Close] returns in time.
//
// The package must never know runs, results or flags beyond the name that its errors show.
package webserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/zstd"
)

// Limits of a server.
const (
	headerTimeout = 5 * time.Second
	// bodyTimeout bounds reading a request, WriteTimeout writing a reply; a handler of a longer one moves its deadline.
	bodyTimeout  = 30 * time.Second
	WriteTimeout = 30 * time.Second
	idleTimeout  = 2 * time.Minute
	headerBytes  = 16 << 10
	connections  = 512
	// worthIt is the number of bytes from which replies are compressed.
	worthIt = 1 << 10
)

// Options configures a server.
type Options struct {
	// Flag is named in errors, such as --web.
	Flag string
	// Address is HOST:PORT; port 0 is any that is free. Numbered leaves that way out of errors: the flag takes no 0.
	Address  string
	Numbered bool
	Handler  http.Handler
	// Open leaves out the key on addresses beyond loopback.
	Open bool
	// Refuse answers a request that is not for the handler; nil answers with a line of text.
	Refuse func(w http.ResponseWriter, status int, why string)
	// Connections is the number of connections at one time, 0 is 512. One beyond takes the place of the connection
	// that has been without a request for longest, or is closed at once where all have one.
	Connections int
	// Origins may read replies from their own pages: scheme://host[:port], or * for all.
	Origins []string
}

// Server answers requests from Listen until Close.
type Server struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{}
	key      string
}

const anyPort = ", or 0 for any that is free"

// Bind listens on an address. Its error names the address, the cause and the way out.
func Bind(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	way := "choose another port" + anyPort
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		way = "the host must be an address or a name of this machine"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return nil, fmt.Errorf("cannot listen on %s: %w; %s", address, err, way)
}

// Listen opens a server.
func Listen(o Options) (*Server, error) {
	listener, err := Bind(o.Address)
	if err != nil {
		if o.Numbered {
			return nil, fmt.Errorf("%s: %s", o.Flag, strings.TrimSuffix(err.Error(), anyPort))
		}
		return nil, fmt.Errorf("%s: %w", o.Flag, err)
	}
	s := &Server{listener: listener, served: make(chan struct{})}
	handler, err := compressed(o.Handler)
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("%s: %w", o.Flag, err)
	}
	if handler, err = sameOrigin(handler, o.Origins); err != nil {
		listener.Close()
		return nil, fmt.Errorf("%s: %w", o.Flag, err)
	}
	switch {
	case loopback(listener.Addr()):
		handler = ofThisMachine(handler)
	case !o.Open:
		s.key = newKey()
		handler = withKey(handler, s.key, s.port())
	}
	s.server = &http.Server{
		Handler: hardened(withinRoot(handler, o.Refuse)), ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout,
		WriteTimeout: WriteTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: nothing,
	}
	places := &bounded{Listener: listener, most: cmp.Or(o.Connections, connections)}
	s.server.ConnState = places.state
	go func() {
		defer close(s.served)
		_ = s.server.Serve(places)
	}()
	return s, nil
}

func (s *Server) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Host returns the host and port of the server for a client on this machine.
func (s *Server) Host() string {
	a := s.listener.Addr().(*net.TCPAddr)
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, strconv.Itoa(a.Port))
}

// URL returns the address of a path, such as /, with the key where one is needed.
func (s *Server) URL(path string) string {
	u := url.URL{Scheme: "http", Host: s.Host(), Path: path}
	if s.key != "" {
		u.RawQuery = url.Values{keyName: {s.key}}.Encode()
	}
	return u.String()
}

// Everywhere reports whether other machines can reach the server.
func (s *Server) Everywhere() bool { return !loopback(s.listener.Addr()) }

// Close ends the server, running replies included when they take longer than the limit. The owner of streams ends them
// before.
func (s *Server) Close(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		s.server.Close()
	}
	<-s.served
}

func loopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}

// compressed sends larger replies as zstd or gzip to clients that take it; streams of events stay as they are.
func compressed(h http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(worthIt), gzhttp.CompressionLevel(1),
		gzhttp.ZstdCompressionLevel(int(zstd.SpeedFastest)), gzhttp.KeepAcceptRanges(),
		gzhttp.ContentTypeFilter(shrinks))
	if err != nil {
		return nil, err
	}
	small := wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" || r.Header.Get("Range") != "" {
			h.ServeHTTP(w, r)
			return
		}
		small.ServeHTTP(w, r)
	}), nil
}

// shrinks reports whether content of a media type is worth compressing.
func shrinks(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	switch kind = strings.TrimSpace(kind); kind {
	case "text/event-stream":
		return false
	case "application/json", "application/x-ndjson", "application/javascript", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(kind, "text/")
}
