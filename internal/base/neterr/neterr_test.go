package neterr

import (
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

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
		text, kind := Describe(test.err)
		if text != test.text || kind != test.kind || Ended(test.err) != test.ended || TimedOut(test.err) {
			t.Errorf("%v (%T): %q, %q, ended %v, timed out %v", test.err, test.err, text, kind, Ended(test.err),
				TimedOut(test.err))
		}
	}
}

// Each name is reached from every system error that stands for it, however it is wrapped.
func TestNamesOfSystemErrors(t *testing.T) {
	for _, n := range errnos {
		err := &net.OpError{Op: "read", Err: os.NewSyscallError("read", n.err)}
		text, kind, ok := System(err)
		if text != n.is.text || kind != n.is.name || !ok {
			t.Errorf("%v: %q, %q, %v", err, text, kind, ok)
		}
		if TimedOut(err) != (n.is == timedOut) {
			t.Errorf("%v: timed out %v", err, TimedOut(err))
		}
	}
}

func TestShortages(t *testing.T) {
	l := listen(t)
	_, err := net.Listen("tcp", l.Addr().String())
	if of := ShortageOf(err); of != Ports {
		t.Errorf("%v: shortage %d", err, of)
	}
	c, err := net.DialTimeout("tcp", l.Addr().String(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := c.Write([]byte("x")); ShortageOf(err) != NoShortage || Ended(err) {
		t.Errorf("%v: shortage %d, ended %v", err, ShortageOf(err), Ended(err))
	}
}
