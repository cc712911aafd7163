// Package stamp reads TCP sockets together with the kernel's receive time.
//
// A Reader takes the bytes of a connection and the wall time at which the kernel received the last of
// them. That instant does not depend on when the reading goroutine got to run, so a busy client does
// not distort what it measures. Segments that wait in the receive queue together are merged by the kernel,
// which keeps only the last one's time: a stamp is never too early, and too late only where the reader
// was later than the next arrival.
//
// Stamps are on CLOCK_REALTIME; whoever takes one converts it at once, by readings of both clocks taken
// together. The kernel gives them on Linux; elsewhere every function says so by ErrUnsupported.
package stamp

import "errors"

// ErrUnsupported says that this system gives no receive times.
var ErrUnsupported = errors.New("this system gives no kernel receive time stamps")
