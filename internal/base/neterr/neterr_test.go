package neterr_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/base/testkit"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// The errors of real sockets have the same names and texts on every system.
func TestErrorsOfSocketsAreDescribed(t *testing.T) {
	_, refusal := net.Dial("tcp", testkit.Address(t))

	l := listen(t)
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = c.Read(make([]byte, 1)) // the other side has connected
			_ = c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	_, broken := c.Read(make([]byte, 1))

	for _, test := range []struct {
		err        error
		text, kind string
		ended      bool
	}{
		{refusal, "connection refused", "ConnectionRefusedError", false},
		{broken, "connection reset by peer", "ConnectionResetError", true},
		{fmt.Errorf("x: %w", io.EOF), "connection closed by server", "EOFError", true},
	} {
		text, kind := neterr.Describe(test.err)
		if text != test.text || kind != test.kind || neterr.Ended(test.err) != test.ended || neterr.TimedOut(test.err) {
			t.Errorf("%v (%T): %q, %q, ended %v, timed out %v", test.err, test.err, text, kind, neterr.Ended(test.err),
				neterr.TimedOut(test.err))
		}
	}
}

// named is the name and the text of a system error.
type named struct{ kind, text string }

var (
	refused            = named{"ConnectionRefusedError", "connection refused"}
	reset              = named{"ConnectionResetError", "connection reset by peer"}
	aborted            = named{"ConnectionAbortedError", "connection aborted"}
	broken             = named{"BrokenPipeError", "broken pipe"}
	timedOut           = named{"TimeoutError", "connection timed out"}
	hostUnreachable    = named{"OSError", "no route to host"}
	networkUnreachable = named{"OSError", "network is unreachable"}
)

// Each name is reached from every system error that stands for it, however it is wrapped, and from no other.
func TestNamesOfSystemErrors(t *testing.T) {
	seen := 0
	// On Windows the syscall package has numbers of its own from 1<<29 on.
	for _, first := range []syscall.Errno{0, 1 << 29} {
		for i := range syscall.Errno(20_000) {
			errno := first + i
			want, named := names[errno]
			err := &net.OpError{Op: "read", Err: os.NewSyscallError("read", errno)}
			text, kind, ok := neterr.System(err)
			if text != want.text || kind != want.kind || ok != named {
				t.Errorf("%d, %v: %q, %q, %v; want %q, %q, %v", errno, err, text, kind, ok, want.text, want.kind, named)
			}
			if neterr.TimedOut(err) != (want == timedOut) {
				t.Errorf("%v: timed out %v", err, neterr.TimedOut(err))
			}
			if named {
				seen++
			}
		}
	}
	if seen != len(names) {
		t.Errorf("%d of %d system errors were seen", seen, len(names))
	}
}

func TestShortages(t *testing.T) {
	l := listen(t)
	_, err := net.Listen("tcp", l.Addr().String())
	if of := neterr.ShortageOf(err); of != neterr.Ports {
		t.Errorf("%v: shortage %d", err, of)
	}
	c, err := net.DialTimeout("tcp", l.Addr().String(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := c.Write([]byte("x")); neterr.ShortageOf(err) != neterr.NoShortage || neterr.Ended(err) {
		t.Errorf("%v: shortage %d, ended %v", err, neterr.ShortageOf(err), neterr.Ended(err))
	}
}
