// Package clock pairs the wall clock with the monotonic clock and waits for deadlines.
//
// The invariant: all differences are taken on the monotonic clock; wall times are labels, computed from one anchor per
// run, so that a step of the wall clock never enters a measurement.
package clock

import "time"

// Clock is a monotonic clock with a wall anchor. Its instants are int64 nanoseconds since the
// clock was made; the first instant is 1, so that 0 can mean "never".
type Clock struct {
	base   time.Time
	wallNS int64
	fine   counter
}

// New starts a clock at this instant.
func New() *Clock {
	fine, wallNS, now := newCounter(), preciseWallNS(), time.Now()
	if !fine.counts() {
		wallNS = now.UnixNano()
	}
	return &Clock{base: now, wallNS: wallNS, fine: fine}
}

// NewAt starts a clock at this instant, which it calls wallNS: the system's wall clock has no part in it.
func NewAt(wallNS int64) *Clock { return &Clock{base: time.Now(), wallNS: wallNS, fine: newCounter()} }

// NowNS returns the monotonic instant.
func (c *Clock) NowNS() int64 {
	if c.fine.counts() {
		return c.fine.elapsedNS() + 1
	}
	return int64(time.Since(c.base)) + 1
}

// MonoNS returns the monotonic instant of t, which must carry a monotonic reading (as time.Now does). On Windows such
// readings are coarse: it is exact for a t that was read just now, else up to 16 ms off.
func (c *Clock) MonoNS(t time.Time) int64 {
	if c.fine.counts() {
		return c.NowNS() - int64(time.Since(t))
	}
	return int64(t.Sub(c.base)) + 1
}

// WallNS converts a monotonic instant to nanoseconds since the Unix epoch.
func (c *Clock) WallNS(monoNS int64) int64 { return c.wallNS + monoNS - 1 }
