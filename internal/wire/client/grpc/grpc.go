// Package grpc carries exchanges as gRPC calls: it sends one message, passes each reply to the sink as an event, and
// takes the status of the call as the outcome of the exchange. Its [client.Lifetime] and errors are those of the HTTP
// client.
//
// A request's URL is grpc://host:port/service/Method, or grpcs:// for TLS; its body is the message, whose content the
// package does not know. The connection strategies choose the channel: one for each target, each session or each call.
//
// The instant of a reply is when the whole message had been read and unpacked in this program: the frames of many calls
// share a connection, so the kernel's stamps belong to none of them. A request counts as sent when its last byte was
// written into the connection's buffer, which is flushed at once. No call is sent twice: a call moves to another
// connection only before anything of its message was written.
//
// TCP keep-alive watches a connection, not pings: a server that is pinged more often than it allows, by default every
// five minutes, ends the connection with all its calls.
package grpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"aiperf/internal/base/clock"
	"aiperf/internal/wire/client"
)

const (
	// maxMessage bounds a message in either direction.
	maxMessage = 256 << 20
	// connectLimit bounds the opening of a connection.
	connectLimit = 30 * time.Second
	// After a failed attempt to connect the next one follows within these.
	firstRetry, lastRetry = 50 * time.Millisecond, time.Second
	streamWindow          = 1 << 20
	connectionWindow      = 16 << 20
)

const stampReason = "gRPC calls share a connection: the kernel's stamps belong to none of them"

// Client carries exchanges. It is safe for concurrent use.
type Client struct {
	opts  client.Options
	clock *clock.Clock
	dial  func(ctx context.Context, secure bool, host, port string) (net.Conn, error)
	slots chan struct{}

	targets sync.Map // by URL
	bodies  sync.Pool

	mu     sync.Mutex
	closed bool
	shared map[string]*channel // by host and port
	sticky map[string]*channel // by session
}

// New makes a client of the options of an HTTP client; those of HTTP alone have no meaning here.
func New(o client.Options, clk *clock.Clock) (*Client, error) {
	switch {
	case o.TimestampSource == client.TimestampKernel:
		return nil, fmt.Errorf("timestamp source kernel: %s; choose auto or user", stampReason)
	case o.Sign != nil:
		return nil, errors.New("gRPC calls cannot be signed")
	}
	if o.ConnectTimeout <= 0 || o.ConnectTimeout > connectLimit {
		o.ConnectTimeout = connectLimit
	}
	d, err := client.NewDialer(o, clk)
	if err != nil {
		return nil, err
	}
	c := &Client{
		opts: o, clock: clk, dial: d.Dial, slots: make(chan struct{}, o.ConnectionLimit*max(1, o.Workers)),
		shared: map[string]*channel{}, sticky: map[string]*channel{},
	}
	c.bodies.New = func() any { b := make([]byte, 0, smallBody); return &b }
	return c, nil
}

// StampSource returns where the instants of replies come from.
func (c *Client) StampSource() client.StampSource {
	return client.StampSource{Source: client.TimestampUser, Reason: stampReason}
}

// CloseIdle does nothing: an idle channel costs nothing until Close.
func (c *Client) CloseIdle() {}

// Close ends every connection, those in use too.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	channels := make([]*channel, 0, len(c.shared)+len(c.sticky))
	for _, h := range c.shared {
		channels = append(channels, h)
	}
	for _, h := range c.sticky {
		channels = append(channels, h)
	}
	c.shared, c.sticky = map[string]*channel{}, map[string]*channel{}
	c.mu.Unlock()
	for _, h := range channels {
		h.close()
	}
}

// callTarget is where a call goes.
type callTarget struct {
	host, port, method string
	secure             bool
	user               *url.Userinfo
	// spoke reports that a server has answered here in gRPC.
	spoke atomic.Bool
}

func (t *callTarget) address() string { return net.JoinHostPort(t.host, t.port) }

// target parses the URL of a call, once for each URL.
func (c *Client) target(raw string) (*callTarget, error) {
	if t, known := c.targets.Load(raw); known {
		return t.(*callTarget), nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || len(u.Path) < 2 {
		return nil, errors.New("the URL of a call must be grpc://host:port/service/Method")
	}
	t := &callTarget{host: u.Hostname(), port: u.Port(), method: u.Path, user: u.User}
	switch strings.ToLower(u.Scheme) {
	case "grpc":
	case "grpcs":
		t.secure = true
	default:
		return nil, fmt.Errorf("scheme %q: gRPC has grpc and grpcs", u.Scheme)
	}
	if t.port == "" {
		t.port = map[bool]string{false: "80", true: "443"}[t.secure]
	}
	c.targets.Store(raw, t)
	return t, nil
}

// channel is a connection to a target that is opened when it is needed, and again when it broke.
type channel struct {
	conn *rpc.ClientConn
	// refused is why the last attempt to connect failed, nil if it did not; lost is how the last connection
	// ended.
	refused, lost atomic.Pointer[error]
}

func (h *channel) close() {
	if h != nil {
		_ = h.conn.Close() // fails only where it was closed before
	}
}

// channel finds the channel of a call; once reports that it is for this call only.
func (c *Client) channel(t *callTarget, session, agent string) (h *channel, once bool, err error) {
	if c.opts.Reuse == client.ReuseNever || c.opts.ForceClose {
		h, err = c.open(t, agent)
		return h, true, err
	}
	kept, key := c.shared, t.address()
	if c.opts.Reuse == client.ReuseSticky {
		kept, key = c.sticky, session
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false, errors.New("the client is closed")
	}
	if h = kept[key]; h == nil {
		if h, err = c.open(t, agent); err == nil {
			kept[key] = h
		}
	}
	return h, false, err
}

// drop ends the connection of a session.
func (c *Client) drop(session string) {
	if c.opts.Reuse != client.ReuseSticky {
		return
	}
	c.mu.Lock()
	h := c.sticky[session]
	delete(c.sticky, session)
	c.mu.Unlock()
	h.close()
}

// open makes a channel, which connects when it is used. What would change measured times is off: retries, service
// configuration, and idling. Connections come from the client's own dialer, with its time stamps; why the last one was
// refused is kept, since the library reports it in words of its own.
func (c *Client) open(t *callTarget, agent string) (*channel, error) {
	h := &channel{}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		nc, err := c.dial(ctx, t.secure, t.host, t.port)
		if err != nil {
			h.refused.Store(&err)
			return nil, err
		}
		h.refused.Store(nil)
		return &monitored{Conn: nc, channel: h}, nil
	}
	conn, err := rpc.NewClient("passthrough:///"+t.address(),
		rpc.WithContextDialer(dial), rpc.WithTransportCredentials(dialled{secure: t.secure}),
		rpc.WithAuthority(t.address()),
		rpc.WithUserAgent(agent), rpc.WithStatsHandler(statsHandler{}), rpc.WithDisableRetry(),
		rpc.WithDisableServiceConfig(), rpc.WithIdleTimeout(0),
		rpc.WithConnectParams(rpc.ConnectParams{MinConnectTimeout: connectLimit,
			Backoff: backoff.Config{BaseDelay: firstRetry, Multiplier: 1.6, Jitter: 0.2, MaxDelay: lastRetry}}),
		rpc.WithInitialWindowSize(streamWindow), rpc.WithInitialConnWindowSize(connectionWindow),
		rpc.WithDefaultCallOptions(rpc.MaxCallRecvMsgSize(maxMessage), rpc.MaxCallSendMsgSize(maxMessage),
			rpc.MaxRetryRPCBufferSize(0), rpc.ForceCodecV2(codec{})),
	)
	if err != nil {
		return nil, err
	}
	h.conn = conn
	return h, nil
}

// monitored is a connection that remembers how it ended.
type monitored struct {
	net.Conn
	channel *channel
	over    bool // the first error says how it ended
}

func (w *monitored) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil && !w.over {
		w.over = true
		w.channel.lost.Store(&err)
	}
	return n, err
}
