package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/clock"
)

// The runtime's clock stands still for half a millisecond and more.
func TestInstantsAreFinerThanTheSystemsTimer(t *testing.T) {
	c := clock.New()
	finest := int64(time.Hour)
	for range 10000 {
		before := c.NowNS()
		if step := c.NowNS() - before; step < 0 {
			t.Fatalf("two readings in the wrong order, by %d ns", -step)
		} else if step > 0 {
			finest = min(finest, step)
		}
	}
	if finest > int64(100*time.Microsecond) {
		t.Errorf("the shortest time between two different readings is %v: the performance counter is not used",
			time.Duration(finest))
	}
	if n := testing.AllocsPerRun(1000, func() { c.NowNS() }); n != 0 {
		t.Errorf("a reading allocates %v times", n)
	}
}

// The counter and the runtime's clock may differ by a step of the system's timer, not more for a longer time.
func TestCounterGoesAsTheRuntimesClock(t *testing.T) {
	c, begun := clock.New(), time.Now()
	time.Sleep(300 * time.Millisecond)
	before := time.Since(begun)
	now := time.Duration(c.NowNS())
	after := time.Since(begun)
	const timer = 32 * time.Millisecond // twice the longest step
	if now < before-timer || now > after+timer {
		t.Errorf("%v by the counter, %v to %v by the runtime's clock", now, before, after)
	}
	if wall := time.Duration(c.WallNS(c.NowNS()) - time.Now().UnixNano()); wall < -timer {
		t.Errorf("the wall clock is %v behind", -wall)
	}
}

// What is read from the runtime's clock now is not earlier than what the counter said before.
func TestInstantsOfTheRuntimesClockAreInOrder(t *testing.T) {
	c := clock.New()
	early := 0
	for range 10000 {
		before := c.NowNS()
		if at := c.MonoNS(time.Now()); at < before {
			early++
		}
	}
	if early > 100 { // its clock may have moved between the two readings
		t.Errorf("%d of 10000 readings are early", early)
	}
}

func TestVirtualTimeIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clocks := map[string]*clock.Clock{"New": clock.New(), "NewAt": clock.NewAt(1)}
		for _, passed := range []time.Duration{0, time.Hour} {
			time.Sleep(passed)
			for name, c := range clocks {
				if now := c.NowNS(); now != 1+int64(passed) {
					t.Errorf("%s: after %v of virtual time the instant is %d: the performance counter is used", name,
						passed, now)
				}
			}
		}
	})
}
