package client

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// bubble runs a test in fake time against a server at the other end of pipes. A pipe has no buffer: a
// request is written when the server has read it.
func bubble(t *testing.T, set func(*Options), serve func(c net.Conn, n int), test func(t *testing.T, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := DefaultOptions()
		if set != nil {
			set(&o)
		}
		c, err := New(o, clock.New())
		if err != nil {
			t.Fatal(err)
		}
		var dialled atomic.Int64
		var servers sync.WaitGroup
		c.dialer.open = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			n := int(dialled.Add(1))
			servers.Go(func() {
				serve(theirs, n)
				theirs.Close()
			})
			return ours, nil
		}
		test(t, c)
		c.Close()
		servers.Wait()
	})
}

const pipeURL = "http://127.0.0.1:1/x"

// slowly answers each request in steps, one each pause.
func slowly(pause time.Duration, steps ...string) func(net.Conn, int) {
	return func(c net.Conn, _ int) {
		br := bufio.NewReader(c)
		for {
			if _, _, ok := readRequest(br); !ok {
				return
			}
			for _, s := range steps {
				time.Sleep(pause)
				if _, err := io.WriteString(c, s); err != nil {
					return
				}
			}
		}
	}
}

const second = int64(time.Second)

func TestTrapCancellationStartsWhenTheRequestIsWritten(t *testing.T) {
	steps := []string{sseHead, chunk("data: a\n\n"), chunk("data: b\n\n"), lastChunk}
	slowConnect := func(c *Client) {
		open := c.dialer.open
		c.dialer.open = func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(3 * time.Second)
			return open(ctx, network, address)
		}
	}
	bubble(t, nil, slowly(200*time.Millisecond, steps...), func(t *testing.T, c *Client) {
		slowConnect(c)
		r := post(pipeURL)
		r.CancelAfterNS, r.KeepRaw = second/2, true
		rec, x := send(c, r)
		wantError(t, x, record.Error{Code: 499, HasCode: true, Type: "RequestCancellationError",
			Message: "Request cancelled 0.500s after being sent"})
		if x.CancelledNS-x.StartNS != 3*second+second/2 || x.EndNS != x.CancelledNS {
			t.Errorf("start %d, cancelled %d, end %d", x.StartNS, x.CancelledNS, x.EndNS)
		}
		if len(rec.events) != 1 || len(x.Raw.Responses) != 1 || x.CutOff {
			t.Errorf("events %v, raw %v, cut off %v", rec.events, x.Raw.Responses, x.CutOff)
		}
	})
}

func TestCancellationOutcomes(t *testing.T) {
	unary := text("200 OK", "application/json", "{}")
	tests := []struct {
		name    string
		after   int64
		pause   time.Duration
		want    string // error type
		elapsed int64
	}{
		{"0 cancels right after sending", 0, time.Second, "RequestCancellationError", 0},
		{"a reply that is complete first wins", 2 * second, time.Second, "", second},
		{"a reply too late loses", second / 4, time.Second, "RequestCancellationError", second / 4},
		{"never", -1, time.Second, "", second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, slowly(tt.pause, unary), func(t *testing.T, c *Client) {
				r := post(pipeURL)
				r.CancelAfterNS = tt.after
				_, x := send(c, r)
				got := ""
				if x.Err != nil {
					got = x.Err.Type
				}
				if got != tt.want || x.EndNS-x.StartNS != tt.elapsed || (x.CancelledNS != 0) != (tt.want != "") {
					t.Errorf("error %q after %d, cancelled at %d", got, x.EndNS-x.StartNS, x.CancelledNS)
				}
				if x.Timing.ChunksSent != 1 {
					t.Error("the request was not sent")
				}
			})
		})
	}
}

func TestRequestThatCannotBeWrittenInTime(t *testing.T) {
	deaf := func(c net.Conn, _ int) { time.Sleep(time.Hour) }
	tests := []struct {
		name    string
		timeout time.Duration
		after   int64
		want    record.Error
		elapsed int64
	}{
		{"to be cancelled", 20 * time.Second, second,
			record.Error{HasCode: true, Type: "RequestSendTimeout",
				Message: "Timed out waiting for request to be sent"}, 20 * second},
		{"to be cancelled, no timeout", 0, second,
			record.Error{HasCode: true, Type: "RequestSendTimeout",
				Message: "Timed out waiting for request to be sent"}, 300 * second},
		{"not to be cancelled", 20 * time.Second, -1, record.Error{Type: "TimeoutError", Message: "TimeoutError()"},
			20 * second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(o *Options) { o.Timeout = tt.timeout }, deaf, func(t *testing.T, c *Client) {
				r := post(pipeURL)
				r.CancelAfterNS = tt.after
				_, x := send(c, r)
				wantError(t, x, tt.want)
				if x.EndNS-x.StartNS != tt.elapsed || x.CancelledNS != 0 {
					t.Errorf("ended after %d, cancelled at %d", x.EndNS-x.StartNS, x.CancelledNS)
				}
			})
		})
	}
}

func TestTimeoutIsTotal(t *testing.T) {
	events := []string{sseHead}
	for range 100 {
		events = append(events, chunk("data: x\n\n"))
	}
	bubble(t, func(o *Options) { o.Timeout = 5 * time.Second }, slowly(time.Second, events...),
		func(t *testing.T, c *Client) {
			rec, x := send(c, post(pipeURL))
			wantError(t, x, record.Error{Type: "TimeoutError", Message: "TimeoutError()"})
			if x.EndNS-x.StartNS != 5*second || len(rec.events) < 3 {
				t.Errorf("ended after %d with %d events", x.EndNS-x.StartNS, len(rec.events))
			}
		})
}

func TestEndOfContextCutsOff(t *testing.T) {
	reply := slowly(time.Second, sseHead, chunk("data: a\n\ndata: half"), chunk("data: b\n\n"), lastChunk)
	tests := []struct {
		name  string
		after time.Duration
		raw   []string
	}{
		{"before the start", 0, nil},
		{"before the head", time.Second / 2, nil},
		{"in the stream", 2*time.Second + time.Second/2, []string{"data: a", "data: half"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, reply, func(t *testing.T, c *Client) {
				ctx, cancel := context.WithCancel(t.Context())
				if tt.after == 0 {
					cancel()
				} else {
					time.AfterFunc(tt.after, cancel)
				}
				r := post(pipeURL)
				r.KeepRaw = true
				x := c.Send(ctx, r, new(recorder))
				if !x.CutOff || !x.Raw.CutOff || x.CancelledNS != 0 || x.EndNS-x.StartNS != int64(tt.after) {
					t.Errorf("cut off %v, ended after %d", x.CutOff, x.EndNS-x.StartNS)
				}
				wantError(t, x, record.Error{Code: 499, HasCode: true, Type: "RequestCancellationError",
					Message: "Request cancelled by external signal"})
				if got := rawTexts(x.Raw); len(got) != len(tt.raw) || len(got) == 2 &&
					(got[0] != tt.raw[0] || got[1] != tt.raw[1]) {
					t.Errorf("raw %q, want %q", got, tt.raw)
				}
			})
		})
	}
}

func TestTrapConnectionLimitBlocks(t *testing.T) {
	reply := text("200 OK", "application/json", "{}")
	bubble(t, func(o *Options) { o.ConnectionLimit, o.Workers = 1, 2 }, slowly(time.Second, reply),
		func(t *testing.T, c *Client) {
			results := make(chan Exchange, 4)
			for range 3 {
				go func() {
					_, x := send(c, post(pipeURL))
					results <- x
				}()
			}
			synctest.Wait() // two hold a connection, the third waits
			ctx, cancel := context.WithCancel(t.Context())
			go func() { results <- c.Send(ctx, post(pipeURL), new(recorder)) }()
			time.Sleep(time.Second / 4)
			cancel()
			var blocked, reused []int64
			for range 4 {
				x := <-results
				blocked = append(blocked, x.Timing.Blocked)
				reused = append(reused, x.Timing.Reused)
				if x.Timing.Blocked == second && x.EndNS-x.StartNS != 2*second {
					t.Errorf("the wait is not in the latency: %d", x.EndNS-x.StartNS)
				}
			}
			// In order of their ends: cut off while waiting, two that did not wait, one that did.
			want := []int64{record.Absent, 0, 0, second}
			for i := range want {
				if blocked[i] != want[i] {
					t.Errorf("blocked %v, want %v", blocked, want)
					break
				}
			}
			if reused[3] != 1 {
				t.Error("the connection set free was not used")
			}
		})
}

// One worker has 2500 connections unless told otherwise.
func TestTrapThreeThousandRequestsOfOneWorker(t *testing.T) {
	bubble(t, nil, slowly(time.Second, text("200 OK", "application/json", "{}")), func(t *testing.T, c *Client) {
		results := make(chan Exchange)
		for range 3000 {
			go func() {
				_, x := send(c, post(pipeURL))
				results <- x
			}()
		}
		waited := 0
		for range 3000 {
			x := <-results
			if x.Err != nil {
				t.Fatal(x.Err)
			}
			if x.Timing.Blocked > 0 {
				waited++
			}
			if took := x.EndNS - x.StartNS; took != second+x.Timing.Blocked {
				t.Errorf("a request took %d and waited for %d of it", took, x.Timing.Blocked)
			}
		}
		if waited != 500 {
			t.Errorf("%d requests waited for a connection, want 500", waited)
		}
	})
}

func TestIdleConnectionsExpire(t *testing.T) {
	for _, reuse := range []Reuse{ReusePooled, ReuseSticky} {
		t.Run(string(reuse), func(t *testing.T) {
			var closed atomic.Int64
			serve := func(c net.Conn, n int) {
				slowly(0, text("200 OK", "application/json", "{}"))(c, n)
				closed.Add(1)
			}
			bubble(t, func(o *Options) { o.Reuse = reuse }, serve, func(t *testing.T, c *Client) {
				wantReused := func(want int64) {
					t.Helper()
					if _, x := send(c, post(pipeURL)); x.Timing.Reused != want || x.Err != nil {
						t.Errorf("reused %d, want %d, error %v", x.Timing.Reused, want, x.Err)
					}
				}
				wantReused(0)
				time.Sleep(299 * time.Second)
				wantReused(1)
				time.Sleep(300 * time.Second)
				wantReused(0)
				time.Sleep(700 * time.Second)
				synctest.Wait()
				if n := closed.Load(); n != 2 {
					t.Errorf("%d connections closed, want 2", n)
				}
			})
		})
	}
}

func TestDeadConnectionIsReplacedByANewOne(t *testing.T) {
	bubble(t, nil, slowly(0, text("200 OK", "application/json", "{}")), func(t *testing.T, c *Client) {
		target, err := c.target(pipeURL)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			ours, theirs := net.Pipe()
			theirs.Close()
			w := newWire(ours, c.clock, c.sources)
			c.pool.put(newConnection(target.origin, w, w), "", false)
		}
		if _, x := send(c, post(pipeURL)); x.Err != nil || x.Timing.Reused != 0 || x.Resends != 1 {
			t.Errorf("error %v, reused %d, resent %d", x.Err, x.Timing.Reused, x.Resends)
		}
	})
}
