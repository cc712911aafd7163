package neterr_test

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// names are the system errors that have a name.
var names = map[syscall.Errno]named{
	windows.WSAECONNREFUSED:           refused,
	windows.ERROR_CONNECTION_REFUSED:  refused,
	windows.WSAECONNRESET:             reset,
	windows.WSAENETRESET:              reset,
	windows.ERROR_NETNAME_DELETED:     reset,
	windows.WSAECONNABORTED:           aborted,
	windows.ERROR_CONNECTION_ABORTED:  aborted,
	windows.WSAESHUTDOWN:              broken,
	windows.ERROR_BROKEN_PIPE:         broken,
	windows.ERROR_NO_DATA:             broken,
	windows.WSAETIMEDOUT:              timedOut,
	windows.ERROR_SEM_TIMEOUT:         timedOut,
	windows.WSAEHOSTUNREACH:           hostUnreachable,
	windows.ERROR_HOST_UNREACHABLE:    hostUnreachable,
	windows.WSAENETUNREACH:            networkUnreachable,
	windows.ERROR_NETWORK_UNREACHABLE: networkUnreachable,
	syscall.ECONNREFUSED:              refused,
	syscall.ECONNRESET:                reset,
	syscall.ECONNABORTED:              aborted,
	syscall.EPIPE:                     broken,
	syscall.ETIMEDOUT:                 timedOut,
	syscall.EHOSTUNREACH:              hostUnreachable,
	syscall.ENETUNREACH:               networkUnreachable,
}
