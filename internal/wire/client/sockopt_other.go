//go:build !linux

package client

// AcknowledgesAtOnce reports whether this system acknowledges a reply without delay when it is asked to.
const AcknowledgesAtOnce = false

// acknowledgeAtOnce does nothing: this system has no such switch, or one for the life of a socket.
func acknowledgeAtOnce(uintptr) {}
