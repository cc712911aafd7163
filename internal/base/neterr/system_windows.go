package neterr

import (
	"syscall"

	"golang.org/x/sys/windows"
)

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

// ends are the system errors that mean that the other side ended the connection.
var ends = [...]error{windows.WSAECONNRESET, windows.WSAECONNABORTED, syscall.EPIPE}
