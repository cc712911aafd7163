package client

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"
)

func TestTrapReplyBeforeTheCancellationIsASuccess(t *testing.T) {
	bubble(t, nil, slowly(300*time.Millisecond, text("200 OK", "application/json", "{}")),
		func(t *testing.T, c *Client) {
			r := post(pipeURL)
			r.CancelAfterNS = second / 2
			rec, x := send(c, r)
			if x.Err != nil || x.CancelledNS != 0 || rec.body != "{}" || x.EndNS-x.StartNS != 300*ms {
				t.Errorf("error %v, cancelled at %d, body %q after %d", x.Err, x.CancelledNS, rec.body,
					x.EndNS-x.StartNS)
			}
		})
}

// Only IPv4 addresses are asked for unless another family is chosen; the time to connect is part of the latency.
func TestTrapConnectingIsInTheLatencyAndUsesIPv4(t *testing.T) {
	bubble(t, nil, slowly(time.Second, text("200 OK", "application/json", "{}")), func(t *testing.T, c *Client) {
		var family, dialled string
		c.dialer.resolver.lookup = func(_ context.Context, network, _ string) ([]netip.Addr, error) {
			family = network
			return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
		}
		open := c.dialer.open
		c.dialer.open = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled = address
			time.Sleep(3 * time.Second)
			return open(ctx, network, address)
		}
		_, x := send(c, post("http://server.test:81/x"))
		if family != "ip4" || dialled != "10.0.0.7:81" {
			t.Errorf("looked up in %s, dialled %s", family, dialled)
		}
		if x.Err != nil || x.EndNS-x.StartNS != 4*second || x.LastResponseNS-x.StartNS != 4*second ||
			x.Timing.Connecting != 3*second {
			t.Errorf("error %v, latency %d, connecting %d", x.Err, x.EndNS-x.StartNS, x.Timing.Connecting)
		}
	})
}
