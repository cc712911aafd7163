//go:build !windows

package neterr

import "syscall"

// errnos are the system errors that have a name.
var errnos = [...]struct {
	err syscall.Errno
	is  named
}{
	{syscall.ECONNREFUSED, refused},
	{syscall.ECONNRESET, reset},
	{syscall.ECONNABORTED, aborted},
	{syscall.EPIPE, broken},
	{syscall.ETIMEDOUT, timedOut},
	{syscall.EHOSTUNREACH, hostUnreachable},
	{syscall.ENETUNREACH, networkUnreachable},
}

// shortages are the system errors that mean one. A system that chooses the port before it knows the
// other side says that the address is in use.
var shortages = [...]struct {
	err error
	of  Shortage
}{
	{syscall.EMFILE, Descriptors},
	{syscall.ENFILE, Descriptors},
	{syscall.EADDRNOTAVAIL, Ports},
	{syscall.EADDRINUSE, Ports},
}
