package dispatch_test

import (
	"testing"

	"aiperf/internal/run/dispatch"
)

// A lag is relative to the earliest send. The time between two replays is none.
func TestTimesOfALaterReplayAreMovedToTheClockOfTheFirst(t *testing.T) {
	t.Parallel()
	var z dispatch.ScheduleZero
	for _, c := range []struct{ recorded, intended, want int64 }{
		{1000, 5000, 1000}, {1300, 5300, 1300}, // starts at 4000
		{1000, 9000, 5000}, {1300, 9300, 5300}, // starts at 8000
	} {
		if got := z.On(c.recorded, c.intended); got != c.want {
			t.Errorf("%d at %d: %d, want %d", c.recorded, c.intended, got, c.want)
		}
	}
}
