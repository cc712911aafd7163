// Package stamp reads TCP sockets together with the kernel's receive time.
//
// A Reader returns the bytes of a connection and the wall time at which the kernel received the last of them. That
// instant does not depend on when the reading goroutine was scheduled, so a busy client does not distort what it
// measures. The kernel merges segments that wait in the receive queue and keeps only the last one's time: a stamp is
// never too early, and too late only where the reader was later than the next arrival.
//
// Stamps are on CLOCK_REALTIME; the caller converts each at once, with readings of both clocks taken together. Only
// Linux has them; elsewhere every function returns ErrUnsupported.
package stamp

import "errors"

// ErrUnsupported is the error of systems without receive times.
var ErrUnsupported = errors.New("this system gives no kernel receive time stamps")

// Memory is what a Reader reads into where it has none of its own.
type Memory interface {
	// Take is called before each attempt to read and returns the memory for it, which must not be empty.
	Take() []byte
	// Give is called when there was nothing to read, before the wait: the memory may go to others until the next Take.
	Give()
}
