package client

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
)

// Prober measures the network's round trip by TCP handshakes, over connections of its own: it shares no
// pool, no cached name and no bound with a Client, so that the requests of one go out as if there were none.
type Prober struct {
	clock  *clock.Clock
	dialer *dialer
}

// Handshake is the connecting of one socket.
type Handshake struct {
	Remote netip.AddrPort
	RTT    time.Duration
	// Kernel is true when the RTT is the kernel's, from SYN to SYN-ACK; else it is the time that connecting
	// took this program, its own delays included.
	Kernel bool
}

// NewProber makes a Prober whose connections take the same route as those of a Client with the same options.
func NewProber(opts Options, clk *clock.Clock) (*Prober, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.ConnectLimit = 0
	return &Prober{clock: clk, dialer: newDialer(&opts, clk, new(sources))}, nil
}

// Handshake connects to the host of a URL, or to its proxy, and closes the connection. Looking the name
// up does not count, and there is no TLS handshake. An error has the text of a request's record.
func (p *Prober) Handshake(ctx context.Context, rawURL string) (Handshake, error) {
	_, o, err := parseOrigin(rawURL)
	if err != nil {
		return Handshake{}, err
	}
	var t Stamps
	w, _, _, err := p.dialer.reach(ctx, &o, &t)
	took := p.clock.NowNS() - t.ConnectStart
	if err != nil {
		text, _ := neterr.Describe(errors.Unwrap(err))
		return Handshake{}, errors.New(text)
	}
	h := Handshake{Remote: addrPort(w.RemoteAddr()), RTT: time.Duration(took)}
	if tcp, ok := w.Conn.(*net.TCPConn); ok {
		if rtt := kernelRTT(tcp); rtt > 0 {
			h.RTT, h.Kernel = rtt, true
		}
		_ = tcp.SetLinger(0) // leaves no port behind that has to wait
	}
	return h, w.Close()
}

// Refusal connects to the host of a URL, or to its proxy, and returns the error of the record of a request where
// nothing listens there; nil where something does, or where connecting fails in another way, which the next try may not.
func (p *Prober) Refusal(ctx context.Context, rawURL string) *record.Error {
	_, o, err := parseOrigin(rawURL)
	if err != nil {
		return nil
	}
	var t Stamps
	w, _, _, err := p.dialer.reach(ctx, &o, &t)
	switch {
	case err == nil:
		_ = w.Close()
		return nil
	case neterr.Refused(err):
		return describeError(err)
	}
	return nil
}
