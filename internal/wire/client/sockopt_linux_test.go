package client

import (
	"net"
	"testing"

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
	err = conn.raw.Control(func(fd uintptr) {
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
