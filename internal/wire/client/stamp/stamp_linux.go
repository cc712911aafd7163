package stamp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// flags ask for the time at which the kernel took a packet, on its own clock.
const flags = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE

// Enable makes the kernel stamp what a socket receives. Before the socket connects is the time for it:
// what arrived earlier has no stamp.
func Enable(fd uintptr) error {
	if err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags); err != nil {
		return fmt.Errorf("kernel receive time stamps: %w", os.NewSyscallError("setsockopt", err))
	}
	return nil
}

// Hold keeps the kernel stamping until it is closed. The kernel starts to stamp packets a moment after the
// first socket has asked for it and stops after the last one is gone; without a holder the first bytes of
// a lone connection would lack their stamp. Its error is why there will be none at all.
func Hold() (io.Closer, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("kernel receive time stamps: %w", os.NewSyscallError("socket", err))
	}
	err = Enable(uintptr(fd))
	if err == nil {
		err = awaitStamps(fd)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return holder(fd), nil
}

type holder int

func (h holder) Close() error { return unix.Close(int(h)) }

var errNoStamps = errors.New("kernel receive time stamps: the kernel accepts the request and stamps nothing")

// awaitStamps sends the socket datagrams of its own until one comes with a stamp. A machine where that
// cannot be tried may stamp all the same.
func awaitStamps(fd int) error {
	if unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}) != nil {
		return nil
	}
	self, err := unix.Getsockname(fd)
	if err != nil {
		return nil
	}
	m := newMessage()
	// The kernel switches stamping on in a worker of its own, which a busy machine lets wait.
	const patience, longest = 500 * time.Millisecond, 4 * time.Millisecond
	for waited, pause := time.Duration(0), 250*time.Microsecond; waited < patience; waited += pause {
		pause = min(pause+pause/16, longest)
		var b [1]byte
		if unix.Sendto(fd, b[:], 0, self) != nil {
			return nil
		}
		n, _ := m.receive(uintptr(fd), b[:])
		if n == 1 && m.wallNS() != 0 {
			return nil
		}
		_ = unix.Nanosleep(&unix.Timespec{Nsec: pause.Nanoseconds()}, nil)
	}
	return errNoStamps
}

// message is what the kernel fills when it is read from: one piece of memory and one control message
// with three instants, of which the first is the one asked for.
type message struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control struct {
		header unix.Cmsghdr
		stamps unix.ScmTimestamping
	}
}

func newMessage() *message {
	m := new(message)
	m.header.Iov = &m.vector
	m.header.Iovlen = 1
	m.header.Control = (*byte)(unsafe.Pointer(&m.control))
	return m
}

// receive reads without waiting. The call never sleeps, so it needs no call of the scheduler.
func (m *message) receive(fd uintptr, p []byte) (int, syscall.Errno) {
	m.vector.Base = &p[0]
	m.vector.SetLen(len(p))
	for {
		m.header.SetControllen(int(unsafe.Sizeof(m.control)))
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m.header)), unix.MSG_DONTWAIT)
		if errno == unix.EINTR {
			continue
		}
		m.vector.Base = nil
		if errno != 0 {
			return 0, errno
		}
		ordered(fd)
		return int(n), 0
	}
}

func (m *message) wallNS() int64 {
	c := &m.control
	if m.header.Controllen < unix.SizeofCmsghdr || c.header.Level != unix.SOL_SOCKET ||
		c.header.Type != unix.SCM_TIMESTAMPING {
		return 0
	}
	return c.stamps.Ts[0].Nano()
}

// Reader reads one connection. It allocates nothing; its methods belong to one goroutine at a time.
type Reader struct {
	raw           syscall.RawConn
	local, remote net.Addr
	try           func(fd uintptr) bool
	message       *message
	p             []byte
	memory        Memory // of p; nil = p is the caller's
	n             int
	errno         syscall.Errno
}

// NewReader makes a reader of a connection that was Enabled.
func NewReader(c *net.TCPConn) (*Reader, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	r := &Reader{raw: raw, local: c.LocalAddr(), remote: c.RemoteAddr(), message: newMessage()}
	r.try = func(fd uintptr) bool {
		if r.memory != nil {
			r.p = r.memory.Take()
		}
		r.n, r.errno = r.message.receive(fd, r.p)
		if r.errno != unix.EAGAIN {
			return true
		}
		if r.memory != nil {
			r.memory.Give()
		}
		return false
	}
	return r, nil
}

// ReadInto is Read into the memory of m, which it has only while it does not wait.
func (r *Reader) ReadInto(m Memory) (int, error) {
	r.memory = m
	n, err := r.read()
	r.memory = nil
	return n, err
}

// Read is net.Conn's, with its errors.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	r.p = p
	return r.read()
}

func (r *Reader) read() (int, error) {
	err := r.raw.Read(r.try)
	r.p = nil
	switch {
	case err != nil:
		r.n = 0
		if op, ok := errors.AsType[*net.OpError](err); ok {
			op.Op = "read"
		}
		return 0, err
	case r.errno != 0:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: r.local, Addr: r.remote,
			Err: os.NewSyscallError("read", r.errno)}
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// WallNS is when the kernel received the last byte that the last Read returned, in nanoseconds of the
// wall clock; 0 = it did not say.
func (r *Reader) WallNS() int64 {
	if r.n <= 0 {
		return 0
	}
	return r.message.wallNS()
}
