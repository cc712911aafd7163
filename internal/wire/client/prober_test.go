package client

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"aiperf/internal/base/clock"
)

func newTestProber(t *testing.T, set func(*Options)) *Prober {
	t.Helper()
	o := DefaultOptions()
	if set != nil {
		set(&o)
	}
	p, err := NewProber(o, clock.New())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHandshakeSaysNothing(t *testing.T) {
	heard := make(chan int, 10)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		n, _ := io.Copy(io.Discard, c)
		heard <- int(n)
	})
	_, port, _ := net.SplitHostPort(s.addr)
	p := newTestProber(t, nil)
	for _, url := range []string{"http://" + s.addr, "https://" + s.addr + "/v1", "http://localhost:" + port,
		"https://user:secret@localhost:" + port + "/x?y"} {
		h, err := p.Handshake(context.Background(), url)
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		if h.RTT <= 0 || h.Remote.String() != s.addr {
			t.Errorf("%s: %+v", url, h)
		}
		if n := <-heard; n != 0 {
			t.Errorf("%s: the server got %d bytes", url, n)
		}
	}
}

func TestHandshakeOverIPv6(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here")
	}
	defer l.Close()
	h, err := newTestProber(t, nil).Handshake(context.Background(), "http://"+l.Addr().String())
	if err != nil || h.Remote.String() != l.Addr().String() {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestHandshakeThatFails(t *testing.T) {
	p := newTestProber(t, func(o *Options) { o.UseDNSCache = false })
	_, err := p.Handshake(context.Background(), "http://user:secret@127.0.0.1:1")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Handshake(ended, "http://127.0.0.1:1"); err == nil {
		t.Error("an ended probe succeeded")
	}
}
