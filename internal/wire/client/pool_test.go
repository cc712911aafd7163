package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"testing"

	"aiperf/internal/measure/record"
)

func TestConnectionStrategies(t *testing.T) {
	type step struct {
		session string
		final   bool
		fail    bool
		want    int64 // connections opened so far
	}
	tests := []struct {
		reuse      Reuse
		forceClose bool
		steps      []step
	}{
		{ReusePooled, false, []step{{"a", false, false, 1}, {"b", true, false, 1}, {"a", false, true, 1},
			{"a", false, false, 1}}},
		{ReuseNever, false, []step{{"a", false, false, 1}, {"a", false, false, 2}, {"b", true, false, 3}}},
		{ReuseSticky, false, []step{
			{"a", false, false, 1}, {"b", false, false, 2}, {"a", false, false, 2}, {"b", false, false, 2},
			{"a", true, false, 2}, {"a", false, false, 3}, // released after the final turn
			{"b", false, true, 3}, {"b", false, false, 4}, // and on an error
		}},
		{ReusePooled, true, []step{{"a", false, false, 1}, {"a", false, false, 2}}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s, force close %v", tt.reuse, tt.forceClose), func(t *testing.T) {
			s := newRawServer(t, func(c net.Conn, _ int64) {
				br := bufio.NewReader(c)
				for {
					_, body, ok := readRequest(br)
					if !ok {
						return
					}
					reply := text("200 OK", "text/plain", "x")
					if body == "fail" {
						reply = text("500 Oops", "text/plain", "x")
					}
					_, _ = io.WriteString(c, reply)
				}
			})
			c := newTestClient(t, func(o *Options) { o.Reuse, o.ForceClose = tt.reuse, tt.forceClose })
			for i, st := range tt.steps {
				before := s.conns.Load()
				r := post("http://" + s.addr)
				r.Session, r.FinalTurn = st.session, st.final
				if st.fail {
					r.Body = []byte("fail")
				}
				_, x := send(c, r)
				if (x.Err != nil) != st.fail {
					t.Fatalf("step %d: error %v", i, x.Err)
				}
				n := s.conns.Load()
				if reused := x.Timing.Reused == 1; n != st.want || reused != (n == before) {
					t.Errorf("step %d: %d connections, want %d, reused %v", i, n, st.want, reused)
				}
			}
		})
	}
}

func TestStickyConnectionGoesWithACancellation(t *testing.T) {
	bubble(t, func(o *Options) { o.Reuse = ReuseSticky }, slowly(0, text("200 OK", "text/plain", "x")),
		func(t *testing.T, c *Client) {
			r := post(pipeURL)
			r.Session = "a"
			var reused []int64
			for _, after := range []int64{-1, 0, -1, -1} {
				r.CancelAfterNS = after
				_, x := send(c, r)
				reused = append(reused, x.Timing.Reused)
			}
			if fmt.Sprint(reused) != "[0 1 0 1]" {
				t.Errorf("reused %v", reused)
			}
		})
}

// A server may close an idle connection without a word. Where the close is seen in time the request does not go there.
func TestConnectionClosedWhileIdle(t *testing.T) {
	closed := make(chan bool, 2)
	requests := 0
	s := newRawServer(t, func(c net.Conn, _ int64) {
		if _, _, ok := readRequest(bufio.NewReader(c)); ok {
			requests++
			_, _ = io.WriteString(c, text("200 OK", "text/plain", "x"))
		}
		c.Close()
		closed <- true
	})
	c := newTestClient(t, nil)
	for range 2 {
		if _, x := send(c, post("http://"+s.addr)); x.Err != nil || x.Timing.Reused != 0 {
			t.Errorf("error %v, reused %d", x.Err, x.Timing.Reused)
		}
		<-closed
	}
	if requests != 2 {
		t.Errorf("%d requests", requests)
	}
}

func TestConnectionsThatAreNotKept(t *testing.T) {
	tests := []struct {
		name, reply string
		request     []record.Header
	}{
		{"server asks for the close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", nil},
		{"request asks for the close", text("200 OK", "text/plain", "x"),
			[]record.Header{{Name: "Connection", Value: "Close"}}},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", nil},
		{"more than the reply came", text("200 OK", "text/plain", "x") + "HTTP/1.1 200 OK\r\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, answer(tt.reply))
			c := newTestClient(t, nil)
			for range 2 {
				r := post("http://" + s.addr)
				r.Headers = tt.request
				if rec, x := send(c, r); x.Err != nil || rec.body != "x" {
					t.Fatalf("error %v, body %q", x.Err, rec.body)
				}
			}
			if n := s.conns.Load(); n != 2 {
				t.Errorf("%d connections, want 2", n)
			}
		})
	}
}

func TestConcurrentExchangesShareThePool(t *testing.T) {
	s := newRawServer(t, answer(text("200 OK", "text/plain", "x")))
	c := newTestClient(t, nil)
	done := make(chan Exchange, 8)
	for range 8 {
		go func() {
			var last Exchange
			for range 50 {
				if last = c.Send(context.Background(), post("http://"+s.addr), new(recorder)); last.Err != nil {
					break
				}
			}
			done <- last
		}()
	}
	for range 8 {
		if x := <-done; x.Err != nil {
			t.Error(x.Err)
		}
	}
	if n := s.conns.Load(); n > 8 {
		t.Errorf("%d connections for 8 concurrent exchanges", n)
	}
}
