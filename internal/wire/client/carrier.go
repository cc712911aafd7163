package client

import (
	"context"
	"net"
	"strconv"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
)

// This file has what other transports share with this one: how connections are opened, and how errors
// are named and worded.

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

// Dial opens a connection to a host, under TLS if secure. Describe knows its errors.
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
	c, err := d.d.dial(ctx, o, new(stamps))
	if err != nil {
		return nil, err
	}
	if err := speaksHTTP2(c); err != nil {
		c.close()
		return nil, &dialError{origin: o, step: stepTLS, err: err}
	}
	return c.top, nil
}

// Describe makes the error of a record of one of a Dialer.
func Describe(err error) *record.Error { return describeError(err) }

// Broken is the error of an exchange that broke on a connection that stood; typ is its type unless the
// system names it.
func Broken(typ, host, port, what string, err error) *record.Error {
	return describeWire(&wireError{origin: &origin{host: host, port: port}, typ: typ, what: what, err: err})
}

// ResponseError is the type of errors of replies that are not what they should be.
const ResponseError = typeResponse

// Cancelled is the error of a simulated cancellation.
func Cancelled(afterNS int64) *record.Error {
	return &record.Error{Code: 499, HasCode: true, Type: typeCancelled,
		Message: "Request cancelled " + secondsText(afterNS) + "s after being sent"}
}

// CutOff is that of an exchange which the run ended.
func CutOff() *record.Error {
	return &record.Error{Code: 499, HasCode: true, Type: typeCancelled, Message: "Request cancelled by external signal"}
}

// SendTimedOut is that of a request which was to be cancelled but could not be sent.
func SendTimedOut() *record.Error {
	return &record.Error{Code: 0, HasCode: true, Type: typeSendTimeout,
		Message: "Timed out waiting for request to be sent"}
}

// TimedOut is that of an exchange which took longer than the limit of the options.
func (o *Options) TimedOut() *record.Error {
	return &record.Error{Type: neterr.Timeout, Message: "TimeoutError()",
		Details: "the exchange took longer than --request-timeout-seconds " +
			strconv.FormatFloat(o.Timeout.Seconds(), 'f', -1, 64)}
}

// Publish removes secrets from an error and, unless its text is whole by rule, what is too long.
func (o *Options) Publish(e *record.Error, whole bool) {
	if o.Redact != nil {
		e.Message, e.Cause = o.Redact(e.Message), o.Redact(e.Cause)
	}
	if !whole {
		e.Message = cut(e.Message)
	}
}
