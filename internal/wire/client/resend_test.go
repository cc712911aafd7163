package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/measure/record"

	"github.com/google/go-cmp/cmp"
)

// logbook notes what requests came over which connection.
type logbook struct {
	mu   sync.Mutex
	seen []string
}

func (b *logbook) add(conn int64, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, fmt.Sprintf("%d:%.10s", conn, body))
}

func (b *logbook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.seen, " ")
}

// forgetful answers the first request of each connection and ends the connection at the second one: by end.
func (b *logbook) forgetful(end func(c net.Conn, br *bufio.Reader)) func(net.Conn, int64) {
	return func(c net.Conn, n int64) {
		br := bufio.NewReader(c)
		_, body, ok := readRequest(br)
		if !ok {
			return
		}
		b.add(n, body)
		_, _ = io.WriteString(c, text("200 OK", "text/plain", "x"))
		if _, err := br.Peek(1); err == nil {
			end(c, br)
		}
	}
}

// The ends of a connection whose second request has begun to come.
func readAndClose(_ net.Conn, br *bufio.Reader) { readRequest(br) }

func closeUnread(net.Conn, *bufio.Reader) {}

func reset(c net.Conn, br *bufio.Reader) {
	readRequest(br)
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

func TestRequestThatAKeptConnectionLostIsSentAgain(t *testing.T) {
	cert, roots := certificate(t)
	for _, way := range []string{"http", "https", "unix"} {
		for name, end := range map[string]func(net.Conn, *bufio.Reader){"read": readAndClose, "unread": closeUnread,
			"reset": reset} {
			for size, body := range map[string]string{"short": `{"n":2}`, "long": strings.Repeat("0123456789", 1<<20)} {
				t.Run(way+" "+name+" "+size, func(t *testing.T) {
					var got logbook
					serve, address, path := got.forgetful(end), "", ""
					if way == "https" {
						serve = secured(cert, serve)
					}
					if way == "unix" {
						path = socketPath(t)
						l, err := net.Listen("unix", path)
						if err != nil {
							t.Skipf("this system has no Unix sockets: %v", err)
						}
						serveRaw(t, l, serve)
						address = "http://nowhere.invalid/x"
					} else {
						address = way + "://" + newRawServer(t, serve).addr + "/x"
					}
					c := newTestClient(t, func(o *Options) { o.RootCAs, o.UnixSocket = roots, path })
					if _, x := send(c, post(address)); x.Err != nil || x.Resends != 0 {
						t.Fatalf("first: %+v, resent %d", x.Err, x.Resends)
					}
					r := post(address)
					r.Body = []byte(body)
					rec, x := send(c, r)
					if x.Err != nil || rec.body != "x" || x.Resends != 1 || x.Timing.Reused != 0 ||
						x.Timing.Blocked <= 0 {
						t.Fatalf("second: %+v, body %q, resent %d, timing %+v", x.Err, rec.body, x.Resends, x.Timing)
					}
					if want := fmt.Sprintf(`1:{"a":1} 2:%.10s`, body); got.String() != want {
						t.Errorf("answered %s, want %s", &got, want)
					}
				})
			}
		}
	}
}

// A new connection that ends was the server's choice: its request is not sent again, whether it is the first one or
// took the place of a kept one.
func TestNewConnectionIsNeverReplaced(t *testing.T) {
	t.Run("the first", func(t *testing.T) {
		s := newRawServer(t, func(c net.Conn, _ int64) { readRequest(bufio.NewReader(c)) })
		_, x := send(newTestClient(t, nil), post("http://"+s.addr))
		wantError(t, x, record.Error{Type: "ServerDisconnectedError",
			Message: "ServerDisconnectedError('Server disconnected')",
			Details: endedHint + ", or https:// if it speaks TLS"})
		if s.conns.Load() != 1 || x.Resends != 0 || !strings.Contains(endedHint, "--connection-reuse-strategy never") {
			t.Errorf("%d connections, resent %d", s.conns.Load(), x.Resends)
		}
	})
	t.Run("the second", func(t *testing.T) {
		var got logbook
		s := newRawServer(t, func(c net.Conn, n int64) {
			if n == 1 {
				got.forgetful(readAndClose)(c, n)
				return
			}
			readRequest(bufio.NewReader(c))
		})
		c := newTestClient(t, nil)
		send(c, post("http://"+s.addr))
		_, x := send(c, post("http://"+s.addr))
		wantError(t, x, record.Error{Type: "ServerDisconnectedError",
			Message: "ServerDisconnectedError('Server disconnected')",
			Details: endedHint + ", or https:// if it speaks TLS"})
		if s.conns.Load() != 2 || x.Resends != 1 {
			t.Errorf("%d connections, resent %d", s.conns.Load(), x.Resends)
		}
	})
}

func TestRequestWhoseReplyHasBegunIsNotSentAgain(t *testing.T) {
	for _, begun := range []string{"H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
		text("200 OK", "text/plain", "xy")[:60]} {
		var got logbook
		s := newRawServer(t, got.forgetful(func(c net.Conn, br *bufio.Reader) {
			readRequest(br)
			_, _ = io.WriteString(c, begun)
		}))
		c := newTestClient(t, nil)
		send(c, post("http://"+s.addr))
		_, x := send(c, post("http://"+s.addr))
		if x.Err == nil || x.Resends != 0 || s.conns.Load() != 1 || x.Err.Details != "" {
			t.Errorf("%q: %+v, resent %d, %d connections", begun, x.Err, x.Resends, s.conns.Load())
		}
	}
}

// lostAfter answers one request of the first connection and ends it a pause after the second one came; other
// connections answer after a pause of their own.
func lostAfter(pause, other time.Duration) func(net.Conn, int) {
	reply := text("200 OK", "text/plain", "x")
	return func(c net.Conn, n int) {
		br := bufio.NewReader(c)
		for i := 0; ; i++ {
			if _, _, ok := readRequest(br); !ok {
				return
			}
			switch {
			case n > 1:
				time.Sleep(other)
			case i == 1:
				time.Sleep(pause)
				return
			}
			if _, err := io.WriteString(c, reply); err != nil {
				return
			}
		}
	}
}

func TestLostTimeIsBlocked(t *testing.T) {
	bubble(t, nil, lostAfter(3*time.Second, time.Second), func(t *testing.T, c *Client) {
		slowConnect(c, 2*time.Second)
		send(c, post(pipeURL))
		begun := c.clock.NowNS()
		r := post(pipeURL)
		r.KeepTrace = true
		_, x := send(c, r)
		if x.Err != nil || x.StartNS != begun+3*second || x.EndNS != x.StartNS+3*second ||
			x.SentNS != x.StartNS+2*second {
			t.Errorf("error %v; began %d, start %d, sent %d, end %d", x.Err, begun, x.StartNS, x.SentNS, x.EndNS)
		}
		want := Timing{Blocked: 3 * second, Connecting: 2 * second, Waiting: second, Duration: second,
			BytesSent: x.Timing.BytesSent, ChunksSent: 1, BytesReceived: int64(len(text("200 OK", "text/plain", "x"))),
			ChunksReceived: 1}
		if d := cmp.Diff(want, x.Timing); d != "" {
			t.Error(d)
		}
		if tr := x.Trace; tr.PoolWaitStartNS != c.clock.WallNS(begun) ||
			tr.PoolWaitEndNS != c.clock.WallNS(x.StartNS) || tr.ConnectionReusedNS != 0 {
			t.Errorf("trace %+v", tr)
		}
	})
}

func TestResentRequestEndsFromOutside(t *testing.T) {
	tests := []struct {
		name       string
		timeout    time.Duration
		after, cut int64
		want       string
		elapsed    int64 // from the first try
	}{
		{"a cancellation counts from the second sending", 0, 4 * second, 0, "RequestCancellationError", 7 * second},
		{"a cancellation during the first try", 0, second, 0, "RequestCancellationError", second},
		{"the time-out counts from the first try", 5 * time.Second, -1, 0, "TimeoutError", 5 * second},
		{"cut off", 0, -1, 4 * second, "RequestCancellationError", 4 * second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(o *Options) { o.Timeout = tt.timeout }, lostAfter(3*time.Second, time.Hour/100),
				func(t *testing.T, c *Client) {
					send(c, &Request{Method: "POST", URL: pipeURL, CancelAfterNS: -1})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if tt.cut > 0 {
						time.AfterFunc(time.Duration(tt.cut), cancel)
					}
					begun := c.clock.NowNS()
					r := post(pipeURL)
					r.CancelAfterNS = tt.after
					x := c.Send(ctx, r, new(recorder))
					if x.Err == nil || x.Err.Type != tt.want || x.EndNS-begun != tt.elapsed ||
						x.CutOff != (tt.cut > 0) {
						t.Errorf("error %+v after %d", x.Err, x.EndNS-begun)
					}
				})
		})
	}
}

func TestResentRequestIsTheSame(t *testing.T) {
	heads := make(chan string, 3)
	s := newRawServer(t, func(c net.Conn, n int64) {
		br := bufio.NewReader(c)
		for i := 0; ; i++ {
			head, body, ok := readRequest(br)
			if !ok {
				return
			}
			heads <- head + body
			if n == 1 && i == 1 {
				return
			}
			_, _ = io.WriteString(c, text("200 OK", "text/plain", "x"))
		}
	})
	signed := 0
	c := newTestClient(t, func(o *Options) {
		o.Reuse = ReuseSticky
		o.Sign = func(string, *url.URL, []record.Header, []byte) ([]record.Header, error) {
			signed++
			return []record.Header{{Name: "Authorization", Value: fmt.Sprintf("signature %d", signed)}}, nil
		}
	})
	r := post("http://" + s.addr)
	r.Session = "a"
	send(c, r)
	if _, x := send(c, r); x.Err != nil || x.Resends != 1 {
		t.Fatalf("%+v, resent %d", x.Err, x.Resends)
	}
	<-heads
	if first, again := <-heads, <-heads; first != again || !strings.Contains(again, "signature 2\r\n") || signed != 2 {
		t.Errorf("%q and then %q, signed %d times", first, again, signed)
	}
}

// Each hop of a redirect is a request of its own; the exchange starts with its first.
func TestHopOfARedirectIsSentAgain(t *testing.T) {
	s := newRawServer(t, func(c net.Conn, n int64) {
		br := bufio.NewReader(c)
		if _, _, ok := readRequest(br); !ok {
			return
		}
		if n == 1 {
			_, _ = io.WriteString(c, "HTTP/1.1 307 Elsewhere\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")
			readRequest(br)
			return
		}
		_, _ = io.WriteString(c, text("200 OK", "text/plain", "x"))
	})
	c := newTestClient(t, nil)
	begun := c.clock.NowNS()
	_, x := send(c, post("http://"+s.addr))
	if x.Err != nil || x.Resends != 1 || s.conns.Load() != 2 {
		t.Fatalf("%+v, resent %d, %d connections", x.Err, x.Resends, s.conns.Load())
	}
	if lost := x.Timing.Blocked; lost <= 0 || x.StartNS+lost > x.EndNS || x.StartNS < begun {
		t.Errorf("start %d, end %d, blocked %d", x.StartNS, x.EndNS, lost)
	}
}
