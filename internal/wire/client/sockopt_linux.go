package client

import (
	"syscall"

	"golang.org/x/sys/unix"

	"aiperf/internal/wire/client/stamp"
)

// AcknowledgesAtOnce reports whether this system acknowledges a reply without delay when it is asked to.
const AcknowledgesAtOnce = true

// acknowledgeAtOnce ends the delay of acknowledgements until the socket sends again (TCP_QUICKACK of tcp(7)). The kernel
// drops it then: it must be called after each request.
func acknowledgeAtOnce(fd uintptr) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
}

func (o socketOptions) control(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) {
		s := int(fd)
		o.buffers(s)
		acknowledgeAtOnce(fd)
		if o.sharePorts {
			_ = unix.SetsockoptInt(s, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		}
		if o.stamps {
			_ = stamp.Enable(fd) // where it fails, reads have no stamp
		}
		if ms := o.userTimeout.Milliseconds(); ms > 0 {
			_ = unix.SetsockoptInt(s, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(ms))
		}
	})
}
