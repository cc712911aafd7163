package client

import (
	"syscall"
	"unsafe"

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

var wsaPoll = windows.NewLazySystemDLL("ws2_32.dll").NewProc("WSAPoll")

// pollEntry is the system's WSAPOLLFD.
type pollEntry struct {
	socket           uintptr
	asked, happening int16
}

// pollRead asks for data; that the other side ended the connection is always told.
const pollRead = 0x0100

// idleReadable reports whether a read of the idle socket would return: the server closed the connection
// or sent what was not requested.
func idleReadable(fd uintptr) bool {
	entry := pollEntry{socket: fd, asked: pollRead}
	n, _, _ := syscall.SyscallN(wsaPoll.Addr(), uintptr(unsafe.Pointer(&entry)), 1, 0)
	return n != 0
}
