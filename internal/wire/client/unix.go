package client

import (
	"context"
	"net"
)

// dialUnix opens a connection through the Unix socket; the URL still gives path, Host and, under TLS, the
// name that the certificate must hold.
func (d *dialer) dialUnix(ctx context.Context, o *origin, t *Stamps) (*connection, error) {
	t.ConnectStart, t.ConnectEnd = d.clock.NowNS(), 0
	nc, err := (&net.Dialer{Timeout: d.limit}).DialContext(ctx, "unix", d.unix)
	if err != nil {
		return nil, d.failed(ctx, o, stepConnect, err)
	}
	w := newWire(nc, d.clock, d.sources)
	var top net.Conn = w
	if o.scheme == "https" {
		if top, err = d.secure(ctx, top, o); err != nil {
			_ = w.Close()
			return nil, err
		}
	}
	t.ConnectEnd = d.clock.NowNS()
	return newConnection(o, w, top), nil
}
