package client

import "time"

// socketOptions are set on a socket before it connects, so that the receive window of the handshake
// knows the buffer. They tune: a system that refuses one still gets its connection.
type socketOptions struct {
	rcvBuf, sndBuf int
	userTimeout    time.Duration
	stamps         bool // the kernel stamps received bytes
	// sharePorts leaves the choice of the port to connect, which knows the other side: one port then
	// serves for every address that is connected to (Linux).
	sharePorts bool
}
