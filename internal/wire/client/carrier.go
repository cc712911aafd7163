package client

import (
	"context"
	"net"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// This file has what package grpc uses of this one: how connections are opened, and the types and texts of errors.

// Dialer opens connections for a transport that frames them itself: HTTP/2 is what it offers under TLS.
type Dialer struct{ d *dialer }

// NewDialer makes a dialer of the client's options.
func NewDialer(opts Options, clk *clock.Clock) (*Dialer, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.HTTP2 = true
	return &Dialer{newDialer(&opts, clk, &sources{})}, nil
}

// Dial opens a connection to a host, under TLS if secure. Describe makes errors of records of its errors.
func (d *Dialer) Dial(ctx context.Context, secure bool, host, port string) (net.Conn, error) {
	o := &origin{scheme: "http", host: host, port: port}
	if secure {
		o.scheme = "https"
	} else if proxy, err := d.d.proxyFor(o); err == nil && proxy != nil {
		return nil, &dialError{origin: o, step: stepConnect, err: errPlainProxy}
	}
	if !d.d.mayTry() {
		if err := d.d.await(ctx); err != nil {
			return nil, &dialError{origin: o, step: stepConnect, err: err}
		}
	}
	c, err := d.d.dial(ctx, o, new(Stamps))
	if err != nil {
		return nil, err
	}
	if err := speaksHTTP2(c); err != nil {
		c.close()
		return nil, &dialError{origin: o, step: stepTLS, err: err}
	}
	c.wire.shared = true
	return c.top, nil
}

// Describe makes the error of a record of an error of a Dialer.
func Describe(err error) *record.Error { return describeError(err) }

// Broken is the error of an exchange that failed on an established connection; typ is its type unless the
// system names it.
func Broken(typ, host, port, what string, err error) *record.Error {
	return describeWire(&wireError{origin: &origin{host: host, port: port}, typ: typ, what: what, err: err})
}

// ResponseError is the type of errors of replies that are not what they should be.
const ResponseError = typeResponse
