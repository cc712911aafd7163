package client

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/record"

	"github.com/google/go-cmp/cmp"
)

const ms = int64(time.Millisecond)

func TestTimingAndTraceOfNewAndReusedConnections(t *testing.T) {
	steps := []string{sseHead, chunk("data: a\n\n"), chunk("data: bb\n\n"), lastChunk}
	bubble(t, nil, slowly(20*time.Millisecond, steps...), func(t *testing.T, c *Client) {
		open := c.dialer.open
		c.dialer.open = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != "10.0.0.7:81" {
				t.Errorf("dialled %s", address)
			}
			time.Sleep(5 * time.Millisecond)
			return open(ctx, network, address)
		}
		c.dialer.resolver.lookup = func(_ context.Context, network, host string) ([]netip.Addr, error) {
			if network != "ip4" || host != "server.test" {
				t.Errorf("looked up %s in %s", host, network)
			}
			time.Sleep(7 * time.Millisecond)
			return []netip.Addr{netip.MustParseAddr("::ffff:10.0.0.7")}, nil
		}
		const sentText = "POST /x HTTP/1.1\r\nHost: server.test:81\r\nUser-Agent: aiperf/test\r\nContent-Type: " +
			"application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
		r := post("http://server.test:81/x")
		r.KeepTrace = true
		_, x := send(c, r)
		want := Timing{DNSLookup: 7 * ms, Connecting: 5 * ms, Waiting: 40 * ms, Receiving: 20 * ms, Duration: 60 * ms,
			BytesSent: int64(len(sentText)), ChunksSent: 1, BytesReceived: int64(len(strings.Join(steps, ""))),
			ChunksReceived: 2}
		if d := cmp.Diff(want, x.Timing); d != "" {
			t.Errorf("new connection: %s", d)
		}
		checkTrace(t, c, x)
		if tr := x.Trace; tr.DNSCacheMissNS != tr.DNSStartNS || tr.DNSCacheHitNS != 0 || tr.ConnectionReusedNS != 0 ||
			tr.PoolWaitStartNS != 0 {
			t.Errorf("trace %+v", tr)
		}

		time.Sleep(time.Second)
		_, x = send(c, r)
		want.DNSLookup, want.Connecting, want.Reused = 0, 0, 1
		if d := cmp.Diff(want, x.Timing); d != "" {
			t.Errorf("reused connection: %s", d)
		}
		if tr := x.Trace; tr.ConnectionReusedNS != tr.RequestSendStartNS || tr.ConnectStartNS != 0 ||
			tr.DNSStartNS != 0 {
			t.Errorf("trace %+v", tr)
		}

		c.pool.close()
		c.pool.closed = false
		_, x = send(c, r)
		want.Connecting, want.Reused = 5*ms, 0
		if d := cmp.Diff(want, x.Timing); d != "" {
			t.Errorf("cached address: %s", d)
		}
		if tr := x.Trace; tr.DNSCacheHitNS == 0 || tr.DNSStartNS != 0 || tr.DNSCacheMissNS != 0 {
			t.Errorf("trace %+v", tr)
		}
	})
}

// checkTrace compares the trace of a stream of two events on a new connection with its timing.
func checkTrace(t *testing.T, c *Client, x Exchange) {
	t.Helper()
	tr := x.Trace
	start := c.clock.WallNS(x.StartNS)
	got := map[string]int64{
		"dns":      tr.DNSEndNS - tr.DNSStartNS,
		"connect":  tr.ConnectEndNS - tr.ConnectStartNS,
		"send":     tr.RequestSendStartNS - start,
		"headers":  tr.ResponseHeadersReceivedNS - tr.RequestSendEndNS,
		"first":    tr.ResponseReceiveStartNS - tr.RequestSendEndNS,
		"last":     tr.ResponseReceiveEndNS - tr.RequestSendEndNS,
		"error":    tr.ErrorNS,
		"status":   int64(tr.ResponseStatus),
		"received": tr.ResponseBytesTotal,
		"chunks":   tr.ResponseChunksCount,
	}
	want := map[string]int64{"dns": 7 * ms, "connect": 5 * ms, "send": 12 * ms, "headers": 20 * ms, "first": 40 * ms,
		"last": 60 * ms, "error": 0, "status": 200, "received": 19, "chunks": 2}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	chunks := []record.Chunk{{AtNS: tr.ResponseReceiveStartNS, Bytes: 9}, {AtNS: tr.ResponseReceiveEndNS, Bytes: 10}}
	if d := cmp.Diff(chunks, tr.ResponseChunks); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]record.Chunk{{AtNS: tr.RequestSendEndNS, Bytes: 7}}, tr.RequestChunks); d != "" {
		t.Error(d)
	}
	var names []string
	for _, h := range tr.RequestHeaders {
		names = append(names, h.Name+"="+h.Value)
	}
	if got := strings.Join(names, " "); got != "Host=server.test:81 User-Agent=aiperf/test "+
		"Content-Type=application/json Content-Length=7" {
		t.Errorf("request headers %s", got)
	}
}

func TestTimingZeroAndAbsent(t *testing.T) {
	const no = record.Absent
	tests := []struct {
		name string
		in   Stamps
		want Timing
	}{
		{"nothing happened", Stamps{}, Timing{Connecting: no, Sending: no, Waiting: no, Receiving: no, Duration: no}},
		{"pool wait not completed", Stamps{PoolStart: 5},
			Timing{Blocked: no, Connecting: no, Sending: no, Waiting: no, Receiving: no, Duration: no}},
		{"lookup not completed", Stamps{DNSStart: 5},
			Timing{DNSLookup: no, Connecting: no, Sending: no, Waiting: no, Receiving: no, Duration: no}},
		{"connect not completed", Stamps{ConnectStart: 5},
			Timing{Connecting: no, Sending: no, Waiting: no, Receiving: no, Duration: no}},
		{"no body", Stamps{ConnectStart: 5, ConnectEnd: 7, SendStart: 8, SendEnd: 9},
			Timing{Connecting: 2, Sending: 1, Waiting: no, Receiving: no, Duration: no}},
		{"one chunk, reused", Stamps{PoolStart: 1, PoolEnd: 4, Reused: 5, SendStart: 8, SendEnd: 9, ReceiveStart: 12,
			ReceiveEnd: 12, ChunksReceived: 1},
			Timing{Blocked: 3, Sending: 1, Waiting: 3, Duration: 4, Reused: 1, ChunksReceived: 1}},
		{"reply before the request was written", Stamps{Reused: 5, SendStart: 8, ReceiveStart: 9, ReceiveEnd: 10},
			Timing{Sending: no, Waiting: no, Receiving: 1, Duration: 2, Reused: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, tt.in.Timing()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLookups(t *testing.T) {
	bubble(t, func(o *Options) { o.DNSCacheTTL = 10 * time.Second }, slowly(0, text("200 OK", "text/plain", "x")),
		func(t *testing.T, c *Client) {
			lookups := 0
			c.dialer.resolver.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
				lookups++
				time.Sleep(time.Second)
				return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}, nil
			}
			r := c.dialer.resolver
			type answer struct {
				addrs []netip.Addr
				t     Stamps
				err   error
			}
			ask := func(ctx context.Context, out chan<- answer) {
				var a answer
				a.addrs, a.err = r.resolve(ctx, "h", &a.t)
				out <- a
			}
			// The one who asks is cut off; the two who wait with it get an answer all the same.
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			out := make(chan answer, 3)
			r.lookup = cancellable(r.lookup)
			go ask(ctx, out)
			time.Sleep(time.Millisecond)
			go ask(t.Context(), out)
			go ask(t.Context(), out)
			if a := <-out; a.err == nil || a.t.DNSEnd != 0 || a.t.DNSStart == 0 {
				t.Errorf("cut off: %+v", a)
			}
			first, second := <-out, <-out
			if first.err != nil || second.err != nil || lookups != 2 || first.addrs[0] == second.addrs[0] {
				t.Errorf("%d lookups: %+v, %+v", lookups, first, second)
			}
			var hit Stamps
			if _, err := r.resolve(t.Context(), "h", &hit); err != nil || hit.DNSHit == 0 || hit.DNSStart != 0 ||
				lookups != 2 {
				t.Errorf("hit %+v, %d lookups", hit, lookups)
			}
			time.Sleep(11 * time.Second)
			if _, err := r.resolve(t.Context(), "h", new(Stamps)); err != nil || lookups != 3 {
				t.Errorf("%d lookups after the life of the entry", lookups)
			}
			r.cache = false
			time.Sleep(11 * time.Second)
			for range 2 {
				_, _ = r.resolve(t.Context(), "h", new(Stamps))
			}
			if lookups != 5 {
				t.Errorf("%d lookups without cache", lookups)
			}
		})
}

type lookupFunc = func(context.Context, string, string) ([]netip.Addr, error)

func cancellable(f lookupFunc) lookupFunc {
	return func(ctx context.Context, network, host string) ([]netip.Addr, error) {
		addrs, err := f(ctx, network, host)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return addrs, err
	}
}
