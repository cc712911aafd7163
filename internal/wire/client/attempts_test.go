package client

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
)

// slowConnect makes every connect take so long.
func slowConnect(c *Client, pause time.Duration) {
	open := c.dialer.open
	c.dialer.open = func(ctx context.Context, network, address string) (net.Conn, error) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return open(ctx, network, address)
	}
}

func TestConnectsInFlightAreBounded(t *testing.T) {
	limit := func(o *Options) { o.ConnectLimit = 2 }
	bubble(t, limit, slowly(0, text("200 OK", "text/plain", "x")), func(t *testing.T, c *Client) {
		slowConnect(c, 3*time.Second)
		var all sync.WaitGroup
		blocked := map[int64]int{}
		var mu sync.Mutex
		for range 6 {
			all.Go(func() {
				r := post(pipeURL)
				r.KeepTrace = true
				_, x := send(c, r)
				if x.Err != nil {
					t.Error(x.Err)
				}
				mu.Lock()
				defer mu.Unlock()
				blocked[x.Timing.Blocked]++
				if x.Timing.Connecting != 3*second || x.EndNS-x.StartNS != x.Timing.Blocked+3*second {
					t.Errorf("blocked %d, connecting %d, in all %d: the wait is hidden", x.Timing.Blocked,
						x.Timing.Connecting, x.EndNS-x.StartNS)
				}
				if got := x.Trace.PoolWaitEndNS - x.Trace.PoolWaitStartNS; got != x.Timing.Blocked {
					t.Errorf("the trace says %d, the metric %d", got, x.Timing.Blocked)
				}
			})
		}
		all.Wait()
		for _, want := range []int64{0, 3 * second, 6 * second} {
			if blocked[want] != 2 {
				t.Errorf("blocked %v, want two each of 0, 3 and 6 s", blocked)
			}
		}
	})
}

// The wait for a slot and that for the right to connect are one.
func TestBothWaitsAreOne(t *testing.T) {
	set := func(o *Options) { o.ConnectLimit, o.ConnectionLimit, o.Reuse = 1, 2, ReuseNever }
	bubble(t, set, slowly(time.Second, text("200 OK", "text/plain", "x")), func(t *testing.T, c *Client) {
		slowConnect(c, 3*time.Second)
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				_, x := send(c, post(pipeURL))
				// 0: connects at 0, answers at 4. 1: waits for 0's connect. 2: waits for the slot of 0 until
				// 4, then for the connect of 1 until 6.
				if want := []int64{0, 3, 6}[i] * second; x.Err != nil || x.Timing.Blocked != want {
					t.Errorf("exchange %d: blocked %d, want %d, error %v", i, x.Timing.Blocked, want, x.Err)
				}
			})
			synctest.Wait()
		}
		all.Wait()
	})
}

func TestConnectsThatFailOrEndMakeRoom(t *testing.T) {
	set := func(o *Options) { o.ConnectLimit, o.Timeout = 1, 5*time.Second }
	bubble(t, set, slowly(0, text("200 OK", "text/plain", "x")), func(t *testing.T, c *Client) {
		open := c.dialer.open
		c.dialer.open = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no") }
		if _, x := send(c, post(pipeURL)); x.Err == nil {
			t.Error("a connect that fails succeeded")
		}
		c.dialer.open = open
		slowConnect(c, time.Minute)
		var all sync.WaitGroup
		for range 2 { // one connects, one waits for it
			all.Go(func() {
				_, x := send(c, post(pipeURL))
				wantError(t, x, record.Error{Type: "TimeoutError", Message: "TimeoutError()"})
			})
		}
		all.Wait()
		c.dialer.open = open
		if _, x := send(c, post(pipeURL)); x.Err != nil || x.Timing.Blocked != 0 {
			t.Errorf("error %v, blocked %d", x.Err, x.Timing.Blocked)
		}
	})
}
