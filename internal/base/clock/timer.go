package clock

import "time"

// Timer wakes one waiter at instants of a Clock. Its methods belong to one goroutine.
//
// A value on C says that it is time to look at the clock, no more: one from an earlier Reset
// may still arrive after the next.
type Timer interface {
	// Reset arms the timer for a monotonic instant and forgets the one before; an instant in the past fires at once.
	Reset(monoNS int64)
	// C returns the channel to wait on. What it carries has no meaning.
	C() <-chan time.Time
	// Stop ends the timer and frees what it holds; it does not wake a waiter.
	Stop()
}

// NewPlainTimer returns a Timer made of the runtime's timers. It runs everywhere, testing/synctest included;
// on Linux it wakes up to a millisecond late.
func NewPlainTimer(c *Clock) Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &plainTimer{clock: c, timer: t}
}

type plainTimer struct {
	clock *Clock
	timer *time.Timer
}

func (t *plainTimer) Reset(monoNS int64)  { t.timer.Reset(time.Duration(monoNS - t.clock.NowNS())) }
func (t *plainTimer) C() <-chan time.Time { return t.timer.C }
func (t *plainTimer) Stop()               { t.timer.Stop() }
