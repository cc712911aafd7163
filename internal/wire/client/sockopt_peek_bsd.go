//go:build unix && !linux

package client

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// peekByte looks at the next byte of a socket without waiting.
func peekByte(fd uintptr) (n int, err syscall.Errno) {
	var b [1]byte
	n, _, failure := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	if failure != nil {
		err, _ = failure.(syscall.Errno)
	}
	return n, err
}
