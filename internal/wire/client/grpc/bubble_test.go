package grpc

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// pipes is a listener of pipes, for tests whose time is not the real one.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	n     atomic.Int64
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case nc := <-l.conns:
		return nc, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe:1", Net: "pipe"} }

func (l *pipes) dial(ctx context.Context, _ bool, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		l.n.Add(1)
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inBubble runs a test with a client and a server in a time of its own.
func inBubble(t *testing.T, h handler, change func(*client.Options), test func(t *testing.T, c *Client, ln *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ln := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		s := newServer(h)
		served := make(chan struct{})
		go func() { defer close(served); s.Serve(ln) }()
		c := newClient(t, change)
		c.dial = ln.dial
		test(t, c, ln)
		c.Close()
		s.Stop()
		<-served
	})
}

// Servers end connections that ask for signs of life more often than every five minutes, unless told otherwise.
func TestTrapAServerMayBeSilentForLong(t *testing.T) {
	late := func(_ string, _ []byte, s rpc.ServerStream) error {
		time.Sleep(20 * time.Minute)
		return s.SendMsg([]byte("late"))
	}
	inBubble(t, late, nil, func(t *testing.T, c *Client, ln *pipes) {
		if x, h := send(c, request(ln, "q")); x.Err != nil || len(h.messages) != 1 {
			t.Errorf("%+v %q", x.Err, h.messages)
		}
	})
}

func TestAConnectionStaysWhileNobodyUsesIt(t *testing.T) {
	inBubble(t, say("x"), nil, func(t *testing.T, c *Client, ln *pipes) {
		for range 2 {
			if x, _ := send(c, request(ln, "q")); x.Err != nil {
				t.Fatalf("%+v", x.Err)
			}
			time.Sleep(40 * time.Minute)
		}
		if n := ln.n.Load(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestCallsBeyondTheLimitWait(t *testing.T) {
	var under, most atomic.Int64
	slow := func(_ string, _ []byte, s rpc.ServerStream) error {
		if n := under.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer under.Add(-1)
		time.Sleep(time.Second)
		return s.SendMsg([]byte("x"))
	}
	limit := func(o *client.Options) { o.ConnectionLimit, o.Workers = 2, 1 }
	inBubble(t, slow, limit, func(t *testing.T, c *Client, ln *pipes) {
		begun := time.Now()
		done := make(chan client.Exchange)
		for range 6 {
			go func() { x, _ := send(c, request(ln, "q")); done <- x }()
		}
		for range 6 {
			if x := <-done; x.Err != nil {
				t.Errorf("%+v", x.Err)
			}
		}
		if took := time.Since(begun); most.Load() != 2 || took.Round(100*time.Millisecond) != 3*time.Second {
			t.Errorf("%d at a time, %s", most.Load(), took)
		}
	})
}

// Without a limit of its own, a call that is to be cancelled must have been sent within that of the sending.
func TestTrapACallThatCannotBeSentEnds(t *testing.T) {
	for _, c := range []struct {
		name           string
		timeout, after time.Duration
	}{{"no time-out", 0, 300 * time.Second}, {"a time-out", time.Minute, time.Minute}} {
		inBubble(t, nil, func(o *client.Options) { o.Timeout = c.timeout }, func(t *testing.T, cl *Client, ln *pipes) {
			r := request(ln, strings.Repeat("q", 1<<20))
			r.CancelAfterNS = int64(time.Second)
			begun := time.Now()
			x, _ := send(cl, r)
			if x.Err == nil || x.Err.Type != "RequestSendTimeout" || !x.Err.HasCode || x.Err.Code != 0 ||
				x.SentNS != 0 {
				t.Errorf("%s: %+v", c.name, x.Err)
			}
			if took := time.Since(begun); took != c.after {
				t.Errorf("%s: it took %s", c.name, took)
			}
			if tm := x.Timing; tm.BytesSent != 0 || tm.Sending != record.Absent || tm.Waiting != record.Absent ||
				tm.Receiving != record.Absent || tm.Duration != record.Absent {
				t.Errorf("%s: times of what was not: %+v", c.name, tm)
			}
		})
	}
}

// What a server sent ahead is not heard after the end.
func TestNothingIsHeardAfterTheEnd(t *testing.T) {
	for range 20 {
		inBubble(t, say("1", "2", "3", "4"), nil, func(t *testing.T, c *Client, ln *pipes) {
			ctx, cancel := context.WithCancel(t.Context())
			h := &heard{on: func(int) { synctest.Wait(); cancel(); synctest.Wait() }}
			if x := c.Send(ctx, request(ln, "q"), h); !x.CutOff || x.Responses != 1 || len(h.messages) != 1 {
				t.Errorf("%q, %+v", h.messages, x.Err)
			}
		})
	}
}

// The message of a status is no body: a record may cut it.
func TestErrorsOfServersAreNoBodies(t *testing.T) {
	fails := func(string, []byte, rpc.ServerStream) error { return status.Error(codes.Internal, "broken") }
	inBubble(t, fails, nil, func(t *testing.T, c *Client, ln *pipes) {
		x, _ := send(c, request(ln, "q"))
		if x.Err == nil || x.Err.Code != x.Status || x.ErrIsBody {
			t.Errorf("%+v", x)
		}
	})
}

func TestAFailedCallEndsTheConnectionOfItsSession(t *testing.T) {
	fails := func(_ string, m []byte, s rpc.ServerStream) error {
		if string(m) == "bad" {
			return errors.New("no")
		}
		return s.SendMsg([]byte("x"))
	}
	inBubble(t, fails, func(o *client.Options) { o.Reuse = client.ReuseSticky },
		func(t *testing.T, c *Client, ln *pipes) {
			var connections []int64
			for _, body := range []string{"good", "bad", "good", "good"} {
				r := request(ln, body)
				r.Session = "s"
				if x, _ := send(c, r); (x.Err != nil) != (body == "bad") {
					t.Errorf("%s: %+v", body, x.Err)
				}
				connections = append(connections, ln.n.Load())
			}
			if !slices.Equal(connections, []int64{1, 1, 2, 2}) {
				t.Errorf("connections %v", connections)
			}
		})
}

func TestAClosedClientOpensNothing(t *testing.T) {
	inBubble(t, say("x"), nil, func(t *testing.T, c *Client, ln *pipes) {
		c.Close()
		if x, _ := send(c, request(ln, "q")); x.Err == nil || ln.n.Load() != 0 {
			t.Errorf("%+v, %d connections", x.Err, ln.n.Load())
		}
	})
}
