package mockserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
	"aiperf/internal/workload/tokenizer"
)

const defaultGrace = 5 * time.Second

// Server answers inference requests. It is made by New and serves until the context of Serve ends.
type Server struct {
	opts       Options
	clock      *clock.Clock
	log        *slog.Logger
	vocabulary *vocabulary
	latency    latency
	fault      fault // of every request without one of its own
	batch      batch
	scheduler  scheduler
	rec        *recorder // nil = none
	authHeader string    // lower-case
	idBase     uint64

	exporter *exporter
	tally    *tally
	front    *front
	tls      *tls.Config // nil = plain text

	words, thoughts, drafts, errors, faults, scrapeFaults random.Stream

	sequence atomic.Uint64
	inFlight atomic.Int64
	hooks    [len(hookPaths)]atomic.Int64

	draining, killed atomic.Bool
	mu               sync.Mutex
	conns            map[*conn]struct{}
	running          sync.WaitGroup
	closeOnce        sync.Once
	closeErr         error
}

// New prepares a server: it loads the vocabulary, checks it and opens the request record.
func New(o Options) (*Server, error) {
	f, err := parseFault(o.Fault)
	if err != nil {
		return nil, fmt.Errorf("--fault: %w", err)
	}
	vocab := cutVocabulary()
	if !o.NoTokenizer {
		tok := o.Tokenizer
		if tok == nil {
			tok = tokenizer.Builtin()
		}
		if vocab, err = newVocabulary(tok); err != nil {
			return nil, err
		}
	}
	seed := random.Root(o.Seed)
	clk := clock.New()
	exporter, err := newExporter(&o, clk)
	if err != nil {
		return nil, err
	}
	s := &Server{
		opts: o, clock: clk, exporter: exporter, tally: exporter.tally, log: newLogger(&o), vocabulary: vocab,
		latency: newLatency(&o, seed), fault: f,
		scheduler:  scheduler{opts: o.Scheduler, clock: clk},
		batch:      batch{limit: o.MaxBatch, maxQueue: o.MaxQueue},
		authHeader: strings.ToLower(cmp.Or(o.AuthHeader, "Authorization")),
		words:      seed.Stream("mockserver.words"), thoughts: seed.Stream("mockserver.thoughts"),
		drafts: seed.Stream("mockserver.drafts"),
		errors: seed.Stream("mockserver.errors"), faults: seed.Stream("mockserver.faults"),
		scrapeFaults: seed.Stream("mockserver.scrapes"),
		conns:        map[*conn]struct{}{},
	}
	if s.tls, err = o.tlsConfig(); err != nil {
		return nil, err
	}
	s.front = newFront(s)
	// Ids differ between servers that run after each other: the upper half comes from the clock.
	s.idBase = uint64(s.clock.WallNS(1)) << 24
	if o.RecordRequests != "" {
		if s.rec, err = newRecorder(&s.opts, s.log); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func newLogger(o *Options) *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: o.LogLevel}))
}

// Serve answers the connections of ln until ctx ends. Then it closes ln, ends idle connections,
// lets running requests finish within the grace time, cuts the others, and writes the record.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	stop := context.AfterFunc(ctx, func() {
		s.draining.Store(true)
		ln.Close()
	})
	defer stop()
	err := s.accept(s.secured(ln), "")
	if ctx.Err() != nil {
		err = nil
	}
	ln.Close()
	return errors.Join(err, s.Close())
}

// ServeMetrics answers the connections of ln until ctx ends, which must be the context of Serve.
// There is no inference: /metrics shows one of the pages that the backend has on ports of their own.
func (s *Server) ServeMetrics(ctx context.Context, ln net.Listener, page string) error {
	stop := context.AfterFunc(ctx, func() {
		s.draining.Store(true)
		ln.Close()
	})
	defer stop()
	err := s.accept(ln, page)
	if ctx.Err() != nil {
		err = nil
	}
	ln.Close()
	return err
}

// accept starts the goroutines of new connections. A shortage, of file descriptors say, passes.
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
		s.log.Warn("cannot accept a connection", "error", err, "again_in", pause)
		time.Sleep(pause)
	}
}

// open enters a connection in the list; nil means that the server takes no more.
func (s *Server) open(nc net.Conn, port string) *conn {
	c := &conn{srv: s, nc: nc, shard: s.tally.shard(), port: port, buf: make([]byte, readBufferBytes)}
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
func (s *Server) run(c *conn) {
	defer s.running.Done()
	c.serve()
	c.nc.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// Close stops the server as the end of Serve's context does. It may be called more than once.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.drain()
		if s.rec != nil {
			s.closeErr = s.rec.close()
		}
	})
	return s.closeErr
}

// drain waits for the connections, at most for the grace time and no longer than it takes to cut them.
func (s *Server) drain() {
	s.mu.Lock()
	s.draining.Store(true)
	for c := range s.conns {
		c.poke() // wakes the idle ones; the others look at the time and go on
	}
	s.mu.Unlock()
	done := make(chan struct{})
	limit := cmp.Or(s.opts.ShutdownGrace, defaultGrace)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	go func() {
		s.front.stop(ctx)
		s.running.Wait()
		close(done)
	}()
	grace := time.NewTimer(limit)
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
