package grpc

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	rpc "google.golang.org/grpc"
)

// inMemory is a listener of pipes.
type inMemory struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *inMemory) Accept() (net.Conn, error) {
	select {
	case nc := <-l.conns:
		return nc, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *inMemory) Close() error {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return nil
}

func (l *inMemory) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// Servers end connections that ask for signs of life more often than every five minutes, unless told otherwise.
func TestTrapAServerMayBeSilentForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := &inMemory{conns: make(chan net.Conn), done: make(chan struct{})}
		s := newServer(func(_ string, _ []byte, s rpc.ServerStream) error {
			time.Sleep(20 * time.Minute)
			return s.SendMsg([]byte("late"))
		})
		served := make(chan struct{})
		go func() { defer close(served); s.Serve(ln) }()
		c := newClient(t, nil)
		c.dial = func(ctx context.Context, _ bool, _, _ string) (net.Conn, error) {
			near, far := net.Pipe()
			select {
			case ln.conns <- far:
				return near, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		r := request(ln, "q")
		r.URL = "grpc://pipe:1/s/Call"
		x, h := send(c, r)
		if x.Err != nil || len(h.messages) != 1 {
			t.Errorf("%+v %q", x.Err, h.messages)
		}
		c.Close()
		s.Stop()
		<-served
	})
}
