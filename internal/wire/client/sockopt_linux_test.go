package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"

	"golang.org/x/sys/unix"
)

func TestSocketOptionsAreSet(t *testing.T) {
	s := newRawServer(t, answer(text("200 OK", "text/plain", "x")))
	c := newTestClient(t, func(o *Options) { o.RcvBuf, o.SndBuf = 50_000, 60_000 })
	if _, x := send(c, post("http://"+s.addr)); x.Err != nil {
		t.Fatal(x.Err)
	}
	target, err := c.target("http://" + s.addr)
	if err != nil {
		t.Fatal(err)
	}
	conn := c.pool.take(target.origin, "")
	if conn == nil {
		t.Fatal("no idle connection")
	}
	defer conn.close()
	// Linux doubles the buffers that it is asked for.
	options := []struct {
		name             string
		level, opt, want int
	}{
		{"SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, 100_000},
		{"SO_SNDBUF", unix.SOL_SOCKET, unix.SO_SNDBUF, 120_000},
		{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{"TCP_QUICKACK", unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1},
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 60},
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 30},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 1},
		{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 30_000},
		{"SO_TIMESTAMPING", unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
			unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE},
	}
	err = conn.wire.raw.Control(func(fd uintptr) {
		for _, o := range options {
			if got, err := unix.GetsockoptInt(int(fd), o.level, o.opt); err != nil || got != o.want {
				t.Errorf("%s is %d (%v), want %d", o.name, got, err, o.want)
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// queuedBytes is how much a socket has to read.
func queuedBytes(t *testing.T, c net.Conn) (n int) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCINQ) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sockets collects those that a dialer opens.
func sockets(d *dialer) func() []net.Conn {
	var mu sync.Mutex
	var all []net.Conn
	open := d.open
	d.open = func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := open(ctx, network, address)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, nc)
		return nc, err
	}
	return func() []net.Conn {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// acknowledges waits until a socket acknowledges at once what it receives.
func acknowledges(c net.Conn) bool {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false
	}
	quick := 0
	for end := time.Now().Add(5 * time.Second); quick != 1 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_ = raw.Control(func(fd uintptr) { quick, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK) })
	}
	return quick == 1
}

// A connection that is used again sends soon after it received, and the kernel then delays its acknowledgements, for 40 ms.
// A server with Nagle's algorithm holds back what follows the head of a reply until the head is acknowledged.
func TestAcknowledgementsAreNotDelayedWhileAReplyIsAwaited(t *testing.T) {
	const delayed, most = 30 * time.Millisecond, 50
	cert, roots := certificate(t)
	nagle := func(serve func(net.Conn, int64)) func(net.Conn, int64) {
		return func(c net.Conn, n int64) {
			_ = c.(*net.TCPConn).SetNoDelay(false)
			serve(c, n)
		}
	}
	inParts := func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		for {
			if _, _, ok := readRequest(br); !ok {
				return
			}
			whole := text("200 OK", "text/plain", "answer")
			for _, part := range []string{whole[:20], whole[20:40], whole[40:]} {
				if _, err := io.WriteString(c, part); err != nil {
					return
				}
			}
		}
	}
	for name, tt := range map[string]struct {
		secure bool
		body   int
	}{"plain": {}, "TLS": {secure: true}, "plain, a large request": {body: 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			serve, base := nagle(inParts), "http://"
			if tt.secure {
				serve, base = nagle(secured(cert, inParts)), "https://"
			}
			base += newRawServer(t, serve).addr
			c := newTestClient(t, func(o *Options) { o.RootCAs = roots })
			least := time.Hour
			for i := range most {
				r := post(base)
				if tt.body > 0 {
					r.Body = make([]byte, tt.body)
				}
				began := time.Now()
				if _, x := send(c, r); x.Err != nil {
					t.Fatal(x.Err)
				}
				if took := time.Since(began); i > 0 { // the first acknowledgements of a connection are not delayed
					least = min(least, took)
				}
				if least < delayed { // a busy machine is slow at times; a delay is there each time
					return
				}
			}
			t.Errorf("each of %d replies took %s or more", most, least)
		})
	}
}

// What a library sends on a shared connection ends the delay at each write.
func TestAcknowledgementsAreNotDelayedWhileAReplyIsAwaitedOnASharedConnection(t *testing.T) {
	cert, roots := certificate(t)
	for name, key := range map[string]*tls.Certificate{"HTTP/2": nil, "HTTP/2 and TLS": &cert} {
		t.Run(name, func(t *testing.T) {
			asked, goOn := make(chan struct{}), make(chan struct{})
			handler := func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				asked <- struct{}{}
				<-goOn
				_, _ = io.WriteString(w, "answer")
			}
			base, _ := serveHTTP2(t, key, handler)
			c := newTestClient(t, func(o *Options) { o.RootCAs, o.HTTP2 = roots, true })
			opened := sockets(c.dialer)
			for i := range 5 {
				done := make(chan Exchange)
				go func() {
					_, x := send(c, post(base))
					done <- x
				}()
				<-asked
				if !acknowledges(opened()[0]) {
					t.Errorf("request %d: acknowledgements are delayed", i+1)
				}
				goOn <- struct{}{}
				if x := <-done; x.Err != nil {
					t.Fatal(x.Err)
				}
			}
			if n := len(opened()); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestAcknowledgementsAreNotDelayedForALibrary(t *testing.T) {
	s := newRawServer(t, func(c net.Conn, _ int64) { _, _ = io.Copy(c, c) })
	host, port, _ := net.SplitHostPort(s.addr)
	d, err := NewDialer(DefaultOptions(), clock.New())
	if err != nil {
		t.Fatal(err)
	}
	opened := sockets(d.d)
	c, err := d.Dial(t.Context(), false, host, port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 5 {
		if _, err := io.WriteString(c, "x"); err != nil {
			t.Fatal(err)
		}
		if !acknowledges(opened()[0]) {
			t.Errorf("write %d: acknowledgements are delayed", i+1)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
}
