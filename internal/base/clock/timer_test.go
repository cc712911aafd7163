package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPlainTimerFiresAtInstants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.New()
		timer := clock.NewPlainTimer(c)
		for _, test := range []struct {
			name         string
			resets       []time.Duration
			waits, fires time.Duration
		}{
			{"in the future", []time.Duration{time.Second}, 0, time.Second},
			{"the last reset counts", []time.Duration{time.Hour, 3 * time.Second}, 0, 3 * time.Second},
			{"also when moved away", []time.Duration{time.Second, time.Minute}, 2 * time.Second, time.Minute},
			{"in the past", []time.Duration{-time.Second}, 0, 0},
		} {
			start := c.NowNS()
			for _, d := range test.resets {
				timer.Reset(start + int64(d))
			}
			time.Sleep(test.waits)
			<-timer.C()
			if got := time.Duration(c.NowNS() - start); got != test.fires {
				t.Errorf("%s: fires after %v, want %v", test.name, got, test.fires)
			}
		}
		timer.Reset(c.NowNS() + int64(time.Second))
		timer.Stop()
		select {
		case <-timer.C():
			t.Error("a stopped timer fires")
		case <-time.After(time.Minute):
		}
	})
}

func TestClockStepsOfTheWallDoNotMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.New()
		if c.NowNS() != 1 {
			t.Errorf("the first instant is %d, want 1", c.NowNS())
		}
		at := time.Now()
		time.Sleep(90 * time.Second)
		if got := c.NowNS(); got != int64(90*time.Second)+1 {
			t.Errorf("after 90 s the instant is %d", got)
		}
		if got := c.WallNS(c.NowNS()); got != time.Now().UnixNano() {
			t.Errorf("wall %d, want %d", got, time.Now().UnixNano())
		}
		if got := c.MonoNS(at); got != 1 {
			t.Errorf("instant of a time: %d, want 1", got)
		}
	})
}
