package client

import (
	"syscall"

	"golang.org/x/sys/windows"
)

func (o socketOptions) control(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) {
		s := windows.Handle(fd)
		if o.rcvBuf > 0 {
			_ = windows.SetsockoptInt(s, windows.SOL_SOCKET, windows.SO_RCVBUF, o.rcvBuf)
		}
		if o.sndBuf > 0 {
			_ = windows.SetsockoptInt(s, windows.SOL_SOCKET, windows.SO_SNDBUF, o.sndBuf)
		}
	})
}

// idleReadable cannot check without blocking here: a connection that the server closed while idle
// shows when the next request fails.
func idleReadable(uintptr) bool { return false }
