package client

import (
	"errors"

	"aiperf/internal/base/neterr"
)

// This file decides which requests are sent once more. A server may close a connection that it lets idle while the
// next request is under way: then the request was not answered, and as far as can be seen not read.

// wasLost reports whether err is that of a request on a connection that was kept for it and ended without a byte
// of a reply.
func (x *exchange) wasLost(err error) bool {
	var lost *wireError
	return errors.As(err, &lost) && lost.unanswered && x.conn != nil && x.conn.reused && neterr.Ended(lost.err)
}

// sendAgain readies the hop for its second try, on a new connection. What the first try took counts as blocked; the
// exchange starts with the second one if the hop is its first.
func (x *exchange) sendAgain(h *hop, first bool) error {
	taken := x.t.Reused
	x.discard()
	if !x.unsend() {
		return ErrEnded
	}
	if h.wire == nil { // its buffer was given back when it was written
		if err := h.encode(); err != nil {
			return err
		}
	}
	x.lostTry(taken, first)
	return nil
}

// lostTry notes that a try on a connection that was taken at an instant came to nothing.
func (x *exchange) lostTry(taken int64, first bool) {
	now := x.clock.NowNS()
	if x.t.PoolStart == 0 || !first {
		x.t.PoolStart = taken
	}
	x.t.PoolEnd = now
	if first {
		x.out.StartNS = now
	}
	x.out.Resends++
	x.resending = true
}
