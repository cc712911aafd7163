package clock

import (
	"math"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fd returns a timer descriptor or skips the test where the kernel gives none.
func fd(t testing.TB, c *Clock) *fdTimer {
	timer, err := newFDTimer(c)
	if err != nil {
		t.Skip(err)
	}
	return timer
}

func TestTimerDescriptorNeverFiresEarly(t *testing.T) {
	c := New()
	timer := fd(t, c)
	defer timer.Stop()
	for range 20 {
		due := c.NowNS() + int64(time.Millisecond)
		timer.Reset(due)
		<-timer.C()
		// The two clocks are paired to within a few hundred nanoseconds.
		if now := c.NowNS(); now < due-int64(10*time.Microsecond) {
			t.Fatalf("fires %v early", time.Duration(due-now))
		}
	}
}

func TestTimerDescriptorFiresAtOnceForThePast(t *testing.T) {
	c := New()
	timer := fd(t, c)
	defer timer.Stop()
	for _, instant := range []int64{c.NowNS() - 1, 0, -1 << 62} {
		timer.Reset(instant)
		<-timer.C()
	}
}

func TestTimerDescriptorKeepsTheLastReset(t *testing.T) {
	c := New()
	timer := fd(t, c)
	defer timer.Stop()
	timer.Reset(c.NowNS() + int64(time.Hour))
	due := c.NowNS() + int64(time.Millisecond)
	timer.Reset(due)
	<-timer.C()
	for _, far := range []int64{c.NowNS() + int64(time.Hour), math.MaxInt64} {
		timer.Reset(far)
		var left unix.ItimerSpec
		if err := unix.TimerfdGettime(timer.fd, &left); err != nil || left.Value.Nano() < int64(time.Minute) {
			t.Errorf("armed for %d, the kernel would fire in %v (%v)", far, time.Duration(left.Value.Nano()), err)
		}
	}
}

func TestStoppedTimerDescriptorIsInert(t *testing.T) {
	c := New()
	timer := fd(t, c)
	timer.Stop()
	timer.Stop()
	timer.Reset(c.NowNS())
	select {
	case <-timer.C():
		t.Error("a stopped timer fires")
	case <-timer.done: // its goroutine has ended
	}
}

// The lateness of wake-ups at 1,000 a second, to be compared between the two timers.
func BenchmarkWake(b *testing.B) {
	c := New()
	for _, kind := range []struct {
		name string
		make func() Timer
	}{
		{"descriptor", func() Timer { return fd(b, c) }},
		{"plain", func() Timer { return NewPlainTimer(c) }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			timer := kind.make()
			defer timer.Stop()
			var late int64
			due := c.NowNS()
			for range b.N {
				due = max(due, c.NowNS()) + int64(time.Millisecond)
				timer.Reset(due)
				<-timer.C()
				late += c.NowNS() - due
			}
			b.ReportMetric(float64(late)/float64(b.N)/1000, "µs-late/op")
		})
	}
}
