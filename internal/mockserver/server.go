package mockserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
	"aiperf/internal/mockserver/page"
)

const defaultGrace = 5 * time.Second

// Server answers inference requests. It is made by New and serves until the context of Serve ends.
type Server struct {
	opts       Options
	clock      *clock.Clock
	log        *slog.Logger
	http       *httpd.Server
	generator  *api.Generator
	exporter   *page.Exporter
	latency    latency
	fault      httpd.ReplyFault // of every request without one of its own
	batch      batch
	frontend   loop
	cold       coldStart
	prefixes   *prefixCache // nil = none
	scheduler  scheduler
	rec        *recorder // nil = none
	authHeader string    // lower-case
	tls        *tls.Config

	errors, faults, scrapeFaults random.Stream

	sequence atomic.Uint64
	inFlight atomic.Int64
	hooks    [len(hookPaths)]atomic.Int64

	closeOnce sync.Once
	closeErr  error
}

// New prepares a server: it loads the vocabulary, checks it and opens the request record.
func New(o Options) (*Server, error) {
	f, err := httpd.ParseReplyFault(o.Fault)
	if err != nil {
		return nil, fmt.Errorf("--fault: %w", err)
	}
	clk := clock.New()
	generator, err := api.NewGenerator(o.generator(), clk)
	if err != nil {
		return nil, err
	}
	exporter, err := page.NewExporter(o.exporter(), clk)
	if err != nil {
		return nil, err
	}
	seed := random.Root(o.Seed)
	s := &Server{
		opts: o, clock: clk, log: newLogger(&o), generator: generator, exporter: exporter,
		latency: newLatency(&o, seed), fault: f,
		scheduler: scheduler{opts: o.Scheduler, clock: clk},
		frontend:  loop{each: o.Frontend}, cold: coldStart{lasts: o.ColdStart},
		batch:      batch{limit: o.MaxBatch, maxQueue: o.MaxQueue, clock: clk},
		authHeader: strings.ToLower(cmp.Or(o.AuthHeader, "Authorization")),
		errors:     seed.Stream("mockserver.errors"), faults: seed.Stream("mockserver.faults"),
		scrapeFaults: seed.Stream("mockserver.scrapes"),
	}
	if s.tls, err = o.tlsConfig(); err != nil {
		return nil, err
	}
	s.scheduler.opts.KVBlocks = o.KVBlocks
	s.scheduler.speed = s.speed
	if o.Scheduler.Enabled && o.KVBlocks > 0 {
		exporter.FollowBlocks(s.scheduler.usedBlocks)
	}
	if o.PrefixCaching {
		s.prefixes = newPrefixCache(cmp.Or(o.KVBlocks, page.KVBlocks))
	}
	s.http = httpd.New(httpd.Options{
		Clock: clk, Log: s.log, Grace: cmp.Or(o.ShutdownGrace, defaultGrace), Handler: s.handler,
		GRPC: func(h *httpd.Server) http.Handler { return grpcHandler{Server: h} },
	})
	if o.RecordRequests != "" {
		if s.rec, err = newRecorder(&s.opts, s.log); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// speed returns what the device does at an instant, of what it can.
func (s *Server) speed(now int64) float64 { return s.opts.GPU.Throttle.SpeedAt(now) }

func newLogger(o *Options) *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: o.LogLevel}))
}

// Serve answers the connections of ln until ctx ends. Then it closes ln, ends idle connections,
// lets running requests finish within the grace time, cuts the others, and writes the record.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if s.tls != nil {
		ln = tls.NewListener(ln, s.tls)
	}
	return errors.Join(s.http.Serve(ctx, ln, ""), s.Close())
}

// serveMetrics answers the connections of ln until ctx ends, which must be the context of Serve.
// There is no inference: /metrics shows one of the pages that the backend has on ports of their own.
func (s *Server) serveMetrics(ctx context.Context, ln net.Listener, page string) error {
	return s.http.Serve(ctx, ln, page)
}

// Close stops the server as the end of Serve's context does. It may be called more than once.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.http.Close()
		if s.rec != nil {
			s.closeErr = s.rec.close()
		}
	})
	return s.closeErr
}
