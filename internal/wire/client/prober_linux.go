package client

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// kernelRTT is the round trip of a new connection's handshake as the kernel took it, 0 if it does not say.
func kernelRTT(c *net.TCPConn) (rtt time.Duration) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			rtt = time.Duration(info.Rtt) * time.Microsecond
		}
	})
	return rtt
}
