package run

import (
	"context"

	"aiperf/internal/run/plan"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/client/grpc"
)

// transport carries requests: over HTTP or as calls of gRPC.
type transport interface {
	// Send carries out one exchange; the end of ctx cuts it off.
	Send(ctx context.Context, r *client.Request, sink client.Sink) client.Exchange
	// StampSource says where the instants of responses come from.
	StampSource() client.StampSource
	// CloseIdle closes what nobody uses, Close everything.
	CloseIdle()
	Close()
}

// clientOptions are how connections are used, by a number of workers.
func (e *execution) clientOptions(workers int) client.Options {
	o := plan.Client(e.cfg, workers)
	o.Redact = e.redactor.Text
	o.RootCAs, o.Certificates = e.identity.roots, e.identity.certificates
	if e.identity.signer != nil {
		o.Sign = e.identity.signer.Sign
	}
	return o
}

// newTransport makes the transport that the URLs ask for.
func (e *execution) newTransport(o client.Options) (transport, error) {
	if e.cfg.Endpoint.GRPC {
		c, err := grpc.New(o, e.clock)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	c, err := client.New(o, e.clock)
	if err != nil {
		return nil, err
	}
	return c, nil
}
