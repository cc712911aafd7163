//go:build !windows

package neterr_test

import "syscall"

// names are the system errors that have a name.
var names = map[syscall.Errno]named{
	syscall.ECONNREFUSED: refused,
	syscall.ECONNRESET:   reset,
	syscall.ECONNABORTED: aborted,
	syscall.EPIPE:        broken,
	syscall.ETIMEDOUT:    timedOut,
	syscall.EHOSTUNREACH: hostUnreachable,
	syscall.ENETUNREACH:  networkUnreachable,
}
