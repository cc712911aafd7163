package neterr

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// errnos are the system errors that have a name. Windows numbers those of sockets in a range of its own, and reports what
// goes wrong in an operation that is under way by numbers of its kernel. Those of the syscall package are Go's own.
var errnos = [...]struct {
	err syscall.Errno
	is  named
}{
	{windows.WSAECONNREFUSED, refused},
	{windows.ERROR_CONNECTION_REFUSED, refused},
	{windows.WSAECONNRESET, reset},
	{windows.WSAENETRESET, reset},
	{windows.ERROR_NETNAME_DELETED, reset},
	{windows.WSAECONNABORTED, aborted},
	{windows.ERROR_CONNECTION_ABORTED, aborted},
	{windows.WSAESHUTDOWN, broken},
	{windows.ERROR_BROKEN_PIPE, broken},
	{windows.ERROR_NO_DATA, broken},
	{windows.WSAETIMEDOUT, timedOut},
	{windows.ERROR_SEM_TIMEOUT, timedOut},
	{windows.WSAEHOSTUNREACH, hostUnreachable},
	{windows.ERROR_HOST_UNREACHABLE, hostUnreachable},
	{windows.WSAENETUNREACH, networkUnreachable},
	{windows.ERROR_NETWORK_UNREACHABLE, networkUnreachable},
	{syscall.ECONNREFUSED, refused},
	{syscall.ECONNRESET, reset},
	{syscall.ECONNABORTED, aborted},
	{syscall.EPIPE, broken},
	{syscall.ETIMEDOUT, timedOut},
	{syscall.EHOSTUNREACH, hostUnreachable},
	{syscall.ENETUNREACH, networkUnreachable},
}

// shortages are the system errors that mean one. Windows says of ports that are all in use that an
// address is in use, or that it lacks buffers.
var shortages = [...]struct {
	err error
	of  Shortage
}{
	{windows.WSAEMFILE, Descriptors},
	{windows.WSAEADDRNOTAVAIL, Ports},
	{windows.WSAEADDRINUSE, Ports},
	{windows.WSAENOBUFS, Ports},
}
