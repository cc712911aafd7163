package client

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"aiperf/internal/base/clock"
)

func TestSourcesThatCannotBeUsed(t *testing.T) {
	if c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		t.Skip("no datagram sockets here: ", err)
	} else {
		c.Close()
	}
	o := DefaultOptions()
	o.Sources = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.0.2.77")}
	if _, err := New(o, clock.New()); err == nil || !strings.Contains(err.Error(), "192.0.2.77") ||
		!strings.Contains(err.Error(), "not an address of this machine") {
		t.Errorf("error %v", err)
	}
}

func TestSourceOfAnotherIPVersion(t *testing.T) {
	s := newRawServer(t, answer(text("200 OK", "text/plain", "x")))
	c := newTestClient(t, nil)
	c.dialer.open = newOutgoing(net.Dialer{}, []netip.Addr{netip.IPv6Loopback()}).open
	_, x := send(c, post("http://"+s.addr))
	if x.Err == nil || !strings.Contains(x.Err.Message, "no source address is of the same IP version as 127.0.0.1") {
		t.Errorf("error %+v", x.Err)
	}
}
