package clock_test

import (
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"aiperf/internal/base/clock"
)

// descriptors are the open files of this process that are timer descriptors.
func descriptors(t testing.TB) (list []int) {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, name := range names {
		var spec unix.ItimerSpec
		if fd, err := strconv.Atoi(name.Name()); err == nil && unix.TimerfdGettime(fd, &spec) == nil {
			list = append(list, fd)
		}
	}
	return list
}

// fd returns a timer and its descriptor, or skips the test where the kernel gives none.
func fd(t testing.TB, c *clock.Clock) (clock.Timer, int) {
	t.Helper()
	before := descriptors(t)
	timer := clock.NewTimer(c)
	for _, fd := range descriptors(t) {
		if !slices.Contains(before, fd) {
			return timer, fd
		}
	}
	timer.Stop()
	t.Skip("the kernel gives no timer descriptor")
	return nil, 0
}

func TestTimerDescriptorNeverFiresEarly(t *testing.T) {
	c := clock.New()
	timer, _ := fd(t, c)
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
	c := clock.New()
	timer, _ := fd(t, c)
	defer timer.Stop()
	for _, instant := range []int64{c.NowNS() - 1, 0, -1 << 62} {
		timer.Reset(instant)
		<-timer.C()
	}
}

func TestTimerDescriptorKeepsTheLastReset(t *testing.T) {
	c := clock.New()
	timer, descriptor := fd(t, c)
	defer timer.Stop()
	timer.Reset(c.NowNS() + int64(time.Hour))
	due := c.NowNS() + int64(time.Millisecond)
	timer.Reset(due)
	<-timer.C()
	for _, far := range []int64{c.NowNS() + int64(time.Hour), math.MaxInt64} {
		timer.Reset(far)
		var left unix.ItimerSpec
		if err := unix.TimerfdGettime(descriptor, &left); err != nil || left.Value.Nano() < int64(time.Minute) {
			t.Errorf("armed for %d, the kernel would fire in %v (%v)", far, time.Duration(left.Value.Nano()), err)
		}
	}
}

func TestStoppedTimerDescriptorIsInert(t *testing.T) {
	c := clock.New()
	timer, _ := fd(t, c)
	timer.Stop()
	timer.Stop()
	timer.Reset(c.NowNS())
	select {
	case <-timer.C():
		t.Error("a stopped timer fires")
	case <-time.After(10 * time.Millisecond):
	}
	goleak.VerifyNone(t) // its goroutine has ended
	if list := descriptors(t); len(list) > 0 {
		t.Errorf("still open: %v", list)
	}
}

// The lateness of wake-ups at 1,000 a second, to be compared between the two timers.
func BenchmarkWake(b *testing.B) {
	c := clock.New()
	for _, kind := range []struct {
		name string
		make func() clock.Timer
	}{
		{"descriptor", func() clock.Timer { timer, _ := fd(b, c); return timer }},
		{"plain", func() clock.Timer { return clock.NewPlainTimer(c) }},
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
