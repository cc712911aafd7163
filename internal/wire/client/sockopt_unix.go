//go:build unix

package client

import "golang.org/x/sys/unix"

func (o socketOptions) buffers(s int) {
	if o.rcvBuf > 0 {
		_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, o.rcvBuf)
	}
	if o.sndBuf > 0 {
		_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_SNDBUF, o.sndBuf)
	}
}

// idleReadable reports whether a read of the idle socket would return: the server closed the connection
// or sent what was not requested.
func idleReadable(fd uintptr) bool {
	for {
		_, err := peekByte(fd)
		if err != unix.EINTR {
			return err != unix.EAGAIN
		}
	}
}
