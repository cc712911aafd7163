package httpd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
)

// Handler answers the requests of one connection.
type Handler interface {
	// Answer answers the request whose head is in the connection. An error ends the connection.
	Answer(body []byte) error
	// Refuse answers a request that cannot be read; the connection ends after it.
	Refuse(*Error) error
	// Writing is called before n bytes are written; ends says that they end the reply.
	Writing(now int64, n int, ends bool)
	// Trim releases buffers of more than keep bytes. It is called between two requests.
	Trim(keep int)
}

// Options configures a [Server].
type Options struct {
	Clock *clock.Clock
	Log   *slog.Logger
	// Grace bounds how long running requests may go on after the stop.
	Grace time.Duration
	// Handler returns the handler of a new connection.
	Handler func(*Conn) Handler
	// GRPC returns the handler of calls over HTTP/2, which passes them on by [Server.Forward].
	GRPC func(*Server) http.Handler
}

// Server serves connections.
type Server struct {
	opts Options
	grpc http.Handler
	h2   *h2Server

	draining, killed atomic.Bool
	mu               sync.Mutex
	conns            map[*Conn]struct{}
	running          sync.WaitGroup
}

// New returns a server. Close must be called in the end.
func New(o Options) *Server {
	s := &Server{opts: o, conns: map[*Conn]struct{}{}}
	s.h2, s.grpc = newH2Server(s), o.GRPC(s)
	return s
}

// Serve answers the connections of ln until ctx ends, and closes ln. port is what the connections have in Port.
func (s *Server) Serve(ctx context.Context, ln net.Listener, port string) error {
	stop := context.AfterFunc(ctx, func() {
		s.draining.Store(true)
		ln.Close()
	})
	defer stop()
	err := s.accept(ln, port)
	if ctx.Err() != nil {
		err = nil
	}
	ln.Close()
	return err
}

// Draining reports whether the server is about to end.
func (s *Server) Draining() bool { return s.draining.Load() }

// accept starts the goroutines of new connections. It waits and goes on after a temporary error, such as a shortage of
// file descriptors.
func (s *Server) accept(ln net.Listener, port string) error {
	pause := time.Duration(0)
	for {
		nc, err := ln.Accept()
		if err == nil {
			pause = 0
			if c := s.open(nc, port); c != nil {
				go s.run(c)
			}
			continue
		}
		var temporary interface{ Temporary() bool }
		if s.draining.Load() || !errors.As(err, &temporary) || !temporary.Temporary() {
			return err
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		s.opts.Log.Warn("cannot accept a connection", "error", err, "again_in", pause)
		time.Sleep(pause)
	}
}

// open enters a connection in the list; nil means that the server takes no more.
func (s *Server) open(nc net.Conn, port string) *Conn {
	c := &Conn{Port: port, srv: s, nc: nc, buf: make([]byte, readBufferBytes)}
	c.handler = s.opts.Handler(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		nc.Close()
		return nil
	}
	s.conns[c] = struct{}{}
	s.running.Add(1)
	return c
}

// run serves a connection to its end.
func (s *Server) run(c *Conn) {
	defer s.running.Done()
	c.serve()
	c.nc.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// Close ends idle connections, lets running requests finish within the grace time, and cuts the others.
func (s *Server) Close() {
	s.mu.Lock()
	s.draining.Store(true)
	for c := range s.conns {
		c.Wake() // ends the read of an idle one; the others look at the time and go on
	}
	s.mu.Unlock()
	done := make(chan struct{})
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Grace)
	defer cancel()
	go func() {
		s.h2.stop(ctx)
		s.running.Wait()
		close(done)
	}()
	grace := time.NewTimer(s.opts.Grace)
	defer grace.Stop()
	select {
	case <-done:
		return
	case <-grace.C:
	}
	s.killed.Store(true)
	s.mu.Lock()
	for c := range s.conns {
		c.nc.Close()
	}
	s.mu.Unlock()
	<-done
}
