package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"

	"aiperf/internal/base/neterr"
)

// outgoing opens sockets, from the addresses of this machine in turn if any were named. An address has
// as many ports as the system's range, for each address and port that is connected to: several of them
// take a machine past that number.
type outgoing struct {
	dialer net.Dialer
	four   ring
	six    ring
}

// ring is a list that is used in turn, by any goroutine.
type ring struct {
	addrs []netip.Addr
	next  atomic.Uint64
}

func newOutgoing(dialer net.Dialer, sources []netip.Addr) *outgoing {
	o := &outgoing{dialer: dialer}
	for _, a := range sources {
		if a.Is4() {
			o.four.addrs = append(o.four.addrs, a)
		} else {
			o.six.addrs = append(o.six.addrs, a)
		}
	}
	return o
}

// open connects to an address with its port. A source without a free port is passed over for the next.
func (o *outgoing) open(ctx context.Context, network, address string) (net.Conn, error) {
	if len(o.four.addrs)+len(o.six.addrs) == 0 {
		return o.dialer.DialContext(ctx, network, address)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	from := &o.six
	if to.Addr().Unmap().Is4() {
		from = &o.four
	}
	n := uint64(len(from.addrs))
	if n == 0 {
		return nil, fmt.Errorf("no source address is of the same IP version as %s", to.Addr())
	}
	first := from.next.Add(1) - 1
	var c net.Conn
	for i := range n {
		source := from.addrs[(first+i)%n]
		d := o.dialer
		d.LocalAddr = &net.TCPAddr{IP: source.AsSlice(), Zone: source.Zone()}
		if c, err = d.DialContext(ctx, network, address); neterr.ShortageOf(err) != neterr.Ports {
			break
		}
	}
	return c, err
}

// CheckSource reports whether connections can start from an address: it must be one of this machine's.
func CheckSource(a netip.Addr) error {
	// A datagram socket takes an address without taking a port from connections.
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: a.AsSlice(), Zone: a.Zone()})
	if err == nil {
		return c.Close()
	}
	if neterr.ShortageOf(err) == neterr.Ports { // also the system's error for an address that is not its own
		err = errors.New("it is not an address of this machine")
	} else if text, _ := neterr.Describe(err); text != "" {
		err = errors.New(text)
	}
	return fmt.Errorf("source address %s cannot be used: %w", a, err)
}
