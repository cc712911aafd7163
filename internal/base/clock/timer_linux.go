package clock

import (
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NewTimer returns the most precise Timer of this system: a kernel timer descriptor, which wakes some 50 µs
// late where the runtime's timers take up to a millisecond; these where the kernel gives no descriptor.
func NewTimer(c *Clock) Timer {
	t, err := newFDTimer(c)
	if err != nil {
		return NewPlainTimer(c)
	}
	return t
}

// fdTimer reads an absolute CLOCK_MONOTONIC timer descriptor through the runtime's poller.
type fdTimer struct {
	// offset is CLOCK_MONOTONIC minus the instants of the run's clock.
	offset int64
	// fd is file's descriptor; asking the file for it would make it blocking.
	fd      int
	file    *os.File
	wake    chan time.Time
	done    chan struct{}
	stopped bool
}

func newFDTimer(c *Clock) (*fdTimer, error) {
	offset, err := kernelOffset(c)
	if err != nil {
		return nil, err
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timer descriptor: %w", err)
	}
	t := &fdTimer{
		offset: offset,
		fd:     fd,
		file:   os.NewFile(uintptr(fd), "timerfd"),
		wake:   make(chan time.Time, 1),
		done:   make(chan struct{}),
	}
	// A file that the poller does not know has no deadlines, and its Read would not block.
	if err := t.file.SetReadDeadline(time.Time{}); err != nil {
		_ = t.file.Close()
		return nil, fmt.Errorf("timer descriptor: %w", err)
	}
	go t.read()
	return t, nil
}

// kernelOffset pairs the two clocks: of several pairs of readings the closest one.
func kernelOffset(c *Clock) (int64, error) {
	var offset int64
	closest := int64(math.MaxInt64)
	for range 8 {
		var ts unix.Timespec
		before := c.NowNS()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return 0, fmt.Errorf("CLOCK_MONOTONIC: %w", err)
		}
		after := c.NowNS()
		if after-before < closest {
			closest = after - before
			offset = ts.Nano() - before - (after-before)/2
		}
	}
	return offset, nil
}

// read passes the expirations on until the descriptor is closed.
func (t *fdTimer) read() {
	defer close(t.done)
	var expirations [8]byte
	for {
		if _, err := t.file.Read(expirations[:]); err != nil {
			return
		}
		select {
		case t.wake <- time.Time{}:
		default: // the waiter has one wake pending, which says the same
		}
	}
}

func (t *fdTimer) Reset(monoNS int64) {
	if t.stopped {
		return
	}
	if t.offset > 0 {
		monoNS = min(monoNS, math.MaxInt64-t.offset)
	}
	// Zero would disarm the timer.
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, monoNS+t.offset))}
	if err := unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		// The arguments are valid by construction.
		panic(fmt.Sprintf("clock: timerfd_settime: %v", err))
	}
}

func (t *fdTimer) C() <-chan time.Time { return t.wake }

func (t *fdTimer) Stop() {
	if t.stopped {
		return
	}
	t.stopped = true
	_ = t.file.Close() // ends the pending Read
	<-t.done
}
