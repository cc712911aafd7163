package fleet

import (
	"errors"
	"testing"

	"aiperf/internal/load"
)

// TestSharesJoinWhenAllWait: a share that has not come to a phase yet agrees to nothing, whatever its place in the list.
func TestSharesJoinWhenAllWait(t *testing.T) {
	t.Parallel()
	waits := func(run string, joined int, sessions uint64) *member {
		return &member{report: report{Run: run, Joined: joined, Used: load.Used{Sessions: sessions}}}
	}
	gone := waits("run", 0, 50)
	gone.lost = errors.New("lost")
	for name, c := range map[string]struct {
		shares []*member
		phase  int
		used   uint64
	}{
		"all":                {[]*member{waits("run", 1, 11), waits("run", 1, 10)}, 1, 11},
		"the first is late":  {[]*member{waits("run", 0, 0), waits("run", 1, 10)}, 0, 0},
		"the last is late":   {[]*member{waits("run", 1, 11), waits("run", 0, 0)}, 0, 0},
		"one is at another":  {[]*member{waits("run", 2, 11), waits("run", 1, 10)}, 0, 0},
		"one is of another":  {[]*member{waits("run", 1, 11), waits("other", 1, 10)}, 0, 0},
		"one is lost":        {[]*member{gone, waits("run", 1, 10)}, 1, 10},
		"one knows no phase": {[]*member{waits("run", 0, 0), waits("run", 0, 0)}, 0, 0},
	} {
		r := &fleetRun{id: "run", shares: c.shares}
		if phase, used := r.agreed(); phase != c.phase || used.Sessions != c.used {
			t.Errorf("%s: phase %d, %d sessions, want %d, %d", name, phase, used.Sessions, c.phase, c.used)
		}
	}
}
