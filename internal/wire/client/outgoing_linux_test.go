package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/neterr"
)

// Linux has all of 127.0.0.0/8 as addresses of its own.
func TestSourcesAreUsedInTurn(t *testing.T) {
	var mu sync.Mutex
	from := map[string]int{}
	s := newRawServer(t, func(c net.Conn, _ int64) {
		if _, _, ok := readRequest(bufio.NewReader(c)); ok {
			mu.Lock()
			from[c.RemoteAddr().(*net.TCPAddr).IP.String()]++
			mu.Unlock()
			_, _ = io.WriteString(c, text("200 OK", "text/plain", "x"))
		}
	})
	sources := []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.IPv6Loopback(), netip.MustParseAddr("127.0.0.3")}
	c := newTestClient(t, func(o *Options) { o.Reuse, o.Sources = ReuseNever, sources })
	for range 6 {
		r := post("http://" + s.addr)
		r.KeepTrace = true
		if _, x := send(c, r); x.Err != nil || x.Trace.LocalIP == "127.0.0.1" {
			t.Fatalf("error %v, from %s", x.Err, x.Trace.LocalIP)
		}
	}
	if want := "map[127.0.0.2:3 127.0.0.3:3]"; fmt.Sprint(from) != want {
		t.Errorf("connections came from %v, want %s", from, want)
	}
}

// ipLocalPortRange is the socket option of that name, which x/sys does not have.
const ipLocalPortRange = 51

// fromPorts opens sockets as the client does, with these ports alone; ok is false where the kernel has no
// such option.
func fromPorts(first, last uint32, sources []netip.Addr) (out *outgoing, ok bool) {
	limit := func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IP, ipLocalPortRange, int(last<<16|first))
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	if limit(fd) != nil {
		return nil, false
	}
	usual := socketOptions{sharePorts: true}
	return newOutgoing(net.Dialer{Control: func(network, address string, raw syscall.RawConn) error {
		_ = raw.Control(func(fd uintptr) { _ = limit(int(fd)) })
		return usual.control(network, address, raw)
	}}, sources), true
}

// within waits for what must come soon.
func within[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	return v
}

// ownAddress is a loopback address whose ports no other process of this test takes at the same time.
func ownAddress(n byte) netip.Addr {
	pid := os.Getpid()
	return netip.AddrFrom4([4]byte{127, 100 + n, byte(pid >> 8), byte(pid)})
}

func TestPortsRunOut(t *testing.T) {
	two := []netip.Addr{ownAddress(0), ownAddress(1)}
	for _, tt := range []struct {
		sources []netip.Addr
		room    int
	}{{two[:1], 4}, {two, 8}} {
		out, ok := fromPorts(32800, 32803, tt.sources)
		if !ok {
			t.Skip("this kernel has no port range for a socket")
		}
		// Each request holds its connection until the test is over.
		hold, arrived := make(chan struct{}), make(chan struct{}, 20)
		s := newRawServer(t, func(c net.Conn, _ int64) {
			_, _, _ = readRequest(bufio.NewReader(c))
			arrived <- struct{}{}
			<-hold
		})
		release := sync.OnceFunc(func() { close(hold) })
		t.Cleanup(release)
		c := newTestClient(t, nil)
		c.dialer.open = out.open
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		var all sync.WaitGroup
		failed := make(chan Exchange, 20)
		for range tt.room + 3 {
			all.Go(func() {
				if x := c.Send(ctx, post("http://"+s.addr), new(recorder)); !x.CutOff {
					failed <- x
				}
			})
		}
		for range tt.room {
			within(t, arrived)
		}
		for range 3 {
			x := within(t, failed)
			want := "Cannot connect to host " + s.addr +
				" [no local port is free: widen the system's range of ports, or send from several addresses with " +
				"--source-address]"
			if x.Shortage != neterr.Ports || x.Err == nil || x.Err.Type != "ClientConnectorError" ||
				x.Err.Message != want {
				t.Errorf("shortage %d, error %+v", x.Shortage, x.Err)
			}
		}
		cancel()
		all.Wait()
		release()
		if len(arrived) != 0 || len(failed) != 0 {
			t.Errorf("%d sources: %d connections and %d failures too many", len(tt.sources), len(arrived), len(failed))
		}
	}
}

func TestPortIsSharedBetweenServers(t *testing.T) {
	out, ok := fromPorts(32810, 32810, []netip.Addr{ownAddress(2)})
	if !ok {
		t.Skip("this kernel has no port range for a socket")
	}
	for range 3 {
		s := newRawServer(t, func(c net.Conn, _ int64) { _, _ = io.Copy(io.Discard, c) })
		c, err := out.open(context.Background(), "tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
}
