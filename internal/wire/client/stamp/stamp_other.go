//go:build !linux

package stamp

import (
	"io"
	"net"
)

// Enable makes the kernel stamp what a socket receives.
func Enable(uintptr) error { return ErrUnsupported }

// Hold keeps the kernel stamping until it is closed.
func Hold() (io.Closer, error) { return nil, ErrUnsupported }

// Reader reads one connection.
type Reader struct{}

// NewReader makes a reader of a connection that was Enabled.
func NewReader(*net.TCPConn) (*Reader, error) { return nil, ErrUnsupported }

// Read is net.Conn's.
func (*Reader) Read([]byte) (int, error) { return 0, ErrUnsupported }

// ReadInto is Read into the memory of m.
func (*Reader) ReadInto(Memory) (int, error) { return 0, ErrUnsupported }

// WallNS is when the kernel received the last byte that the last Read returned; 0 = it did not say.
func (*Reader) WallNS() int64 { return 0 }
