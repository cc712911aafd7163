package client

import (
	"context"
	"net"
	"testing"
)

func TestHandshakeIsTimedByTheKernel(t *testing.T) {
	s := newRawServer(t, func(net.Conn, int64) {})
	h, err := newTestProber(t, nil).Handshake(context.Background(), "http://"+s.addr)
	if err != nil || !h.Kernel {
		t.Errorf("%+v, %v", h, err)
	}
}
