//go:build unix && !linux

package client

import "syscall"

func (o socketOptions) control(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) { o.buffers(int(fd)) })
}
