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

// ownAddress is a loopback address whose ports no other process of this test takes at the same time.
func ownAddress(n byte) netip.Addr {
	pid := os.Getpid()
	return netip.AddrFrom4([4]byte{127, 100 + n, byte(pid >> 8), byte(pid)})
}

// portRanges are ranges of four ports out of those that the system gives to connections. A port that any process
// listens at, at whatever address, is not given: a test tries another range when one had fewer ports than four.
func portRanges(yield func(first, last uint32) bool) {
	for first := uint32(32800); first < 34800; first += 100 {
		if !yield(first, first+3) {
			return
		}
	}
}

func TestPortsRunOut(t *testing.T) {
	two := []netip.Addr{ownAddress(0), ownAddress(1)}
	for _, sources := range [][]netip.Addr{two[:1], two} {
		room, most := 4*len(sources), 0
		for first, last := range portRanges {
			out, ok := fromPorts(first, last, sources)
			if !ok {
				t.Skip("this kernel has no port range for a socket")
			}
			if most = max(most, portsTaken(t, out, room+3)); most >= room {
				break
			}
		}
		if most != room {
			t.Errorf("%d connections from %d sources, want %d", most, len(sources), room)
		}
	}
}

// portsTaken sends requests that hold their connections and returns how many of them found a port. The others
// must have failed for want of one.
func portsTaken(t *testing.T, out *outgoing, requests int) (arrivals int) {
	t.Helper()
	hold, arrived := make(chan struct{}), make(chan struct{}, requests)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		_, _, _ = readRequest(bufio.NewReader(c))
		arrived <- struct{}{}
		<-hold
	})
	defer close(hold)
	c := newTestClient(t, nil)
	c.dialer.open = out.open
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan Exchange, requests)
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			if x := c.Send(ctx, post("http://"+s.addr), new(recorder)); !x.CutOff {
				failed <- x
			}
		})
	}
	defer all.Wait()
	defer cancel()
	want := "Cannot connect to host " + s.addr +
		" [no local port is free: widen the system's range of ports, or send from several addresses with " +
		"--source-address]"
	for range requests {
		select {
		case <-arrived:
			arrivals++
		case x := <-failed:
			if x.Shortage != neterr.Ports || x.Err == nil || x.Err.Type != "ClientConnectorError" ||
				x.Err.Message != want {
				t.Errorf("shortage %d, error %+v", x.Shortage, x.Err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("of %d requests %d arrived, and others neither arrived nor failed", requests, arrivals)
		}
	}
	return arrivals
}

func TestPortIsSharedBetweenServers(t *testing.T) {
	var err error
	for port := range portRanges {
		out, ok := fromPorts(port, port, []netip.Addr{ownAddress(2)})
		if !ok {
			t.Skip("this kernel has no port range for a socket")
		}
		if err = connectToThree(t, out); err == nil {
			return
		}
	}
	t.Error(err)
}

// connectToThree holds a connection to each of three servers at once.
func connectToThree(t *testing.T, out *outgoing) error {
	t.Helper()
	for range 3 {
		s := newRawServer(t, func(c net.Conn, _ int64) { _, _ = io.Copy(io.Discard, c) })
		c, err := out.open(context.Background(), "tcp", s.addr)
		if err != nil {
			return err
		}
		defer c.Close()
	}
	return nil
}
