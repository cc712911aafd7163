package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"aiperf/internal/base/clock"
)

// dialer opens connections.
type dialer struct {
	clock    *clock.Clock
	sources  *sources
	resolver *resolver
	open     func(ctx context.Context, network, address string) (net.Conn, error)
	tls      *tls.Config
	unix     string // path of the socket that stands for every address, "" = none
	proxy    func(*http.Request) (*url.URL, error)
	// limit bounds the opening of a socket, and a TLS handshake; 0 does not.
	limit time.Duration
	// attempts bounds the connections that are being opened at a time; nil does not.
	attempts chan struct{}
}

// newDialer returns a dialer by the options. The limit for connections that are made at a time keeps a burst of
// sessions from overflowing the server's queue of connections, which the kernel answers by dropping them for seconds.
func newDialer(opts *Options, clk *clock.Clock, src *sources) *dialer {
	socket := socketOptions{rcvBuf: opts.RcvBuf, sndBuf: opts.SndBuf, userTimeout: opts.TCPUserTimeout,
		stamps: src.measured(), sharePorts: len(opts.Sources) > 0}
	system := net.Dialer{
		Timeout: opts.ConnectTimeout,
		Control: socket.control,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: opts.TCPKeepIdle > 0, Idle: opts.TCPKeepIdle, Interval: opts.TCPKeepIntvl, Count: opts.TCPKeepCnt,
		},
	}
	d := &dialer{
		clock:    clk,
		sources:  src,
		resolver: newResolver(opts, clk.NowNS),
		open:     newOutgoing(system, opts.Sources).open,
		tls: &tls.Config{
			RootCAs:            opts.RootCAs,
			Certificates:       opts.Certificates,
			InsecureSkipVerify: !opts.SSLVerify, //nolint:gosec // the user asked for it
			NextProtos:         alpn(opts.HTTP2),
			MinVersion:         tls.VersionTLS12,
		},
		proxy: opts.Proxy,
		unix:  opts.UnixSocket,
		limit: max(0, opts.ConnectTimeout),
	}
	if opts.ConnectLimit > 0 {
		d.attempts = make(chan struct{}, opts.ConnectLimit)
	}
	return d
}

// alpn are the protocols that the client offers.
func alpn(http2 bool) []string {
	if http2 {
		return []string{"h2"}
	}
	return []string{"http/1.1"}
}

// mayTry takes the right to open a connection if it is free.
func (d *dialer) mayTry() bool {
	if d.attempts == nil {
		return true
	}
	select {
	case d.attempts <- struct{}{}:
		return true
	default:
		return false
	}
}

// await waits for the right to open a connection.
func (d *dialer) await(ctx context.Context) error {
	select {
	case d.attempts <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tried gives that right back.
func (d *dialer) tried() {
	if d.attempts != nil {
		<-d.attempts
	}
}

// dial opens a connection to o, through the proxy that o calls for. The right to do so, which the
// caller has, is given back as soon as the socket is connected.
func (d *dialer) dial(ctx context.Context, o *origin, t *Stamps) (*connection, error) {
	if d.unix != "" {
		defer d.tried()
		return d.dialUnix(ctx, o, t)
	}
	w, hop, proxy, err := d.reach(ctx, o, t)
	d.tried()
	if err != nil {
		return nil, err
	}
	var top net.Conn = w
	if hop.scheme == "https" {
		if top, err = d.secure(ctx, top, hop); err != nil {
			_ = w.Close()
			return nil, err
		}
	}
	if proxy != nil && o.scheme == "https" {
		if err := d.tunnel(ctx, top, w, o, basicAuth(proxy)); err != nil {
			_ = w.Close()
			return nil, d.failed(ctx, hop, stepConnect, err)
		}
		if top, err = d.secure(ctx, top, o); err != nil {
			_ = w.Close()
			return nil, err
		}
	}
	t.ConnectEnd = d.clock.NowNS()
	return newConnection(o, w, top), nil
}

// reach opens the socket to o, or to the proxy that o calls for.
func (d *dialer) reach(ctx context.Context, o *origin, t *Stamps) (w *wire, hop *origin, proxy *url.URL, err error) {
	if hop, proxy, err = d.firstHop(o); err != nil {
		return nil, nil, nil, &dialError{origin: o, step: stepConnect, err: err}
	}
	addrs, err := d.resolver.resolve(ctx, hop.host, t)
	if err != nil {
		return nil, nil, nil, &dialError{origin: hop, step: stepDNS, err: err}
	}
	t.ConnectStart, t.ConnectEnd = d.clock.NowNS(), 0
	if w, err = d.connect(ctx, addrs, hop.port); err != nil {
		return nil, nil, nil, d.failed(ctx, hop, stepConnect, err)
	}
	return w, hop, proxy, nil
}

// firstHop is where the socket goes.
func (d *dialer) firstHop(o *origin) (*origin, *url.URL, error) {
	proxy, err := d.proxyFor(o)
	if err != nil || proxy == nil {
		return o, nil, err
	}
	hop := &origin{scheme: proxy.Scheme, host: proxy.Hostname(), port: proxy.Port()}
	if hop.port == "" {
		hop.port = map[string]string{"http": "80", "https": "443"}[hop.scheme]
	}
	return hop, proxy, nil
}

// dialAside dials on a goroutine of its own: dialling takes a deep stack, which the caller's would keep
// for as long as its stream is open.
func (d *dialer) dialAside(ctx context.Context, o *origin, t *Stamps) (c *connection, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err = d.dial(ctx, o, t)
	}()
	<-done
	return c, err
}

func (d *dialer) proxyFor(o *origin) (*url.URL, error) {
	if d.proxy == nil || d.unix != "" {
		return nil, nil
	}
	u, err := d.proxy(&http.Request{Method: "GET", URL: &url.URL{Scheme: o.scheme, Host: o.hostPort(), Path: "/"}})
	switch {
	case err != nil || u == nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("proxy scheme %q is not supported: use an http or https proxy", u.Scheme)
	}
	return u, nil
}

func basicAuth(u *url.URL) string {
	if u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
}

// connect tries the addresses in turn.
func (d *dialer) connect(ctx context.Context, addrs []netip.Addr, port string) (*wire, error) {
	err := fmt.Errorf("no address of this IP version")
	for _, a := range addrs {
		var nc net.Conn
		nc, err = d.open(ctx, "tcp", net.JoinHostPort(a.String(), port))
		if err == nil {
			return newWire(nc, d.clock, d.sources), nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// secure begins TLS with o.
func (d *dialer) secure(ctx context.Context, nc net.Conn, o *origin) (net.Conn, error) {
	config := d.tls.Clone()
	config.ServerName, _, _ = strings.Cut(o.host, "%") // a zone is of this machine only
	tc := tls.Client(nc, config)
	bounded, done := d.bounded(ctx)
	defer done()
	if err := tc.HandshakeContext(bounded); err != nil {
		return nil, d.failed(ctx, o, stepTLS, err)
	}
	return tc, nil
}

// bounded is ctx with the limit of one step.
func (d *dialer) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if d.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d.limit)
}

// failed is the error of a step; one that took all its time, and not that of ctx, is named so.
func (d *dialer) failed(ctx context.Context, o *origin, step int, err error) *dialError {
	e := &dialError{origin: o, socket: d.unix, step: step, err: err}
	if ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)) {
		e.limit = d.limit
	}
	return e
}

// tunnel asks a proxy for a connection to o.
func (d *dialer) tunnel(ctx context.Context, top net.Conn, w *wire, o *origin, auth string) error {
	ctx, done := d.bounded(ctx)
	defer done()
	stop := context.AfterFunc(ctx, func() { _ = w.Conn.Close() })
	defer stop()
	head := "CONNECT " + o.hostPort() + " HTTP/1.1\r\nHost: " + o.hostPort() + "\r\n"
	if auth != "" {
		head += "Proxy-Authorization: " + auth + "\r\n"
	}
	if _, err := io.WriteString(top, head+"\r\n"); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	w.head = maxHead
	defer func() { w.head = -1 }()
	// The server sends nothing before the handshake, so the buffer is empty.
	resp, err := http.ReadResponse(bufio.NewReader(top), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if !isSuccess(resp.StatusCode) {
		return fmt.Errorf("proxy answered CONNECT with %s", resp.Status)
	}
	return nil
}
