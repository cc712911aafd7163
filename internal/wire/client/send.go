package client

import (
	"bufio"
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"aiperf/internal/base/clock"
	"aiperf/internal/wire/client/sse"
)

// Client sends requests over HTTP/1.1, or over HTTP/2 if the options say so. It is safe for concurrent use and keeps no
// cookies.
type Client struct {
	opts    Options
	clock   *clock.Clock
	pool    *pool
	streams *streams // HTTP/2; nil = HTTP/1.1
	dialer  *dialer
	sources *sources

	lastTarget atomic.Pointer[target]
	targetsMu  sync.RWMutex
	targets    map[string]*target
	origins    map[origin]*origin

	heads    sync.Pool // *[]byte
	bodies   sync.Pool // *[]byte
	scanners sync.Pool // *sse.Scanner
	rooms    sync.Pool // *[]byte, the memory of scanners
	usual    sync.Pool // *usualHead
	parsers  sync.Pool // *bufio.Reader
	idle     sync.Pool // *exchange

	get, post *http.Request // for the response reader, which needs the method
}

// New makes a client; its error names the option that is wrong.
func New(opts Options, clk *clock.Clock) (*Client, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	src, err := newSources(opts.TimestampSource)
	if opts.HTTP2 {
		src, err = sharedSources(opts.TimestampSource, src)
	}
	if err != nil {
		return nil, err
	}
	c := &Client{
		opts:    opts,
		clock:   clk,
		sources: src,
		dialer:  newDialer(&opts, clk, src),
		targets: map[string]*target{},
		origins: map[origin]*origin{},
		get:     &http.Request{Method: http.MethodGet},
		post:    &http.Request{Method: http.MethodPost},
	}
	c.pool = newPool(&c.opts, clk.NowNS)
	if opts.HTTP2 {
		c.streams = newStreams(c)
	}
	c.heads.New = func() any { b := make([]byte, 0, 1024); return &b }
	c.bodies.New = func() any { b := make([]byte, 0, 4096); return &b }
	c.usual.New = func() any { return new(usualHead) }
	c.parsers.New = func() any { return bufio.NewReaderSize(nil, readBuffer/2) }
	c.idle.New = func() any { return new(exchange) }
	c.scanners.New = func() any { return new(sse.Scanner) }
	c.rooms.New = func() any { b := make([]byte, 2*streamRoom); return &b }
	return c, nil
}

// CloseIdle closes the idle connections: nothing more will be sent.
func (c *Client) CloseIdle() { c.pool.close() }

// Close closes the idle connections. A connection in use is closed when its exchange ends; end the
// exchanges by their contexts.
func (c *Client) Close() {
	c.pool.close()
	c.streams.close()
	c.sources.close()
}

// Send carries out one exchange and returns when it is over. The sink is called on this goroutine
// only. The end of ctx cuts the exchange off. The request's body must not change afterwards if the
// request keeps its raw exchange.
func (c *Client) Send(ctx context.Context, req *Request, sink Sink) Exchange {
	out := new(Exchange)
	c.SendInto(ctx, req, sink, out)
	return *out
}

// SendInto is Send with its result in *out, which must be zero. It saves the result's place in each frame of the stack
// below an open stream.
func (c *Client) SendInto(ctx context.Context, req *Request, sink Sink, out *Exchange) {
	if req.FollowUp != nil {
		c.sendAll(ctx, req, sink, out)
		return
	}
	c.sendOne(ctx, req, sink, out)
}

func (c *Client) sendOne(ctx context.Context, req *Request, sink Sink, out *Exchange) {
	x := c.idle.Get().(*exchange)
	x.client, x.sink, x.out = c, sink, out
	x.Begin(&c.opts, c.clock, req)
	head := c.heads.Get().(*[]byte)
	h := &x.hop
	err := x.firstHop(head) // signing included: it does not belong to the exchange
	out.StartNS = c.clock.NowNS()
	if err == nil {
		err = x.Guard(ctx, x.transfer)
	}
	x.settle(err, h)
	c.release(h)
	x.retire()
}

// release gives the buffer of a written request to the next exchange: its own reply may take long.
func (c *Client) release(h *hop) {
	if h.buffer == nil {
		return
	}
	if cap(h.wire) <= maxPooled {
		*h.buffer = h.wire[:0]
		c.heads.Put(h.buffer)
	}
	h.buffer, h.wire = nil, nil
}

// maxPooled bounds the buffers that are kept for reuse.
const maxPooled = 1 << 20
