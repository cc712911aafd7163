package load

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Whatever the lanes play, each session goes on turn by turn, no tree gives its lane up before it is done, and
// everything is forgotten in the end.
func TestAnyLanesKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lanes := rapid.IntRange(1, 4).Draw(rt, "lanes")
		s := scenario{plan: Plan{Phases: lanePhases(lanes, 0, Phase{
			Requests: int64(rapid.IntRange(0, 30).Draw(rt, "requests")), Duration: time.Minute, Grace: time.Second,
			Prefill: rapid.IntRange(0, 2).Draw(rt, "prefill"),
			Lanes: &Lanes{TreeIdle: 5 * time.Second, SystemIdle: 2 * time.Second,
				Together: rapid.Bool().Draw(rt, "together")},
		})}}
		seed := s.plan.Phases[0].Lanes
		seed.MinStart = rapid.Float64Range(0, 1).Draw(rt, "from")
		seed.MaxStart = rapid.Float64Range(seed.MinStart, 1).Draw(rt, "to")
		switch rapid.IntRange(0, 2).Draw(rt, "fill") {
		case 1:
			s.plan.Phases = filling(Lanes{}, 3*time.Second, s.plan.Phases)
		case 2:
			s.plan.Phases = filling(Lanes{PerLane: 3}, 0, s.plan.Phases)
		}
		shapes := []*Tree{handing(), trace(4, 0, 5, 9), forking(0), joining(0), orchestrating(0), trace(0, 0)}
		for range rapid.IntRange(1, 5).Draw(rt, "traces") {
			s.traces = append(s.traces, rapid.SampledFrom(shapes).Draw(rt, "shape"))
		}
		pace := time.Duration(rapid.IntRange(10, 1500).Draw(rt, "pace ms")) * ms
		s.serve = func(c Credit) answer {
			a := answer{after: pace + time.Duration(c.ID%7)*90*ms}
			if c.Phase > 0 && c.ID%5 == 3 {
				a.outcome = Failure
			}
			return a
		}
		if rapid.IntRange(0, 3).Draw(rt, "early end") == 0 {
			s.during = stopAfter(time.Duration(rapid.IntRange(0, 9000).Draw(rt, "end after ms")) * ms)
		}
		var p played
		synctest.Test(t, func(*testing.T) { p = s.play() })
		last := map[uint64]int{}
		for _, c := range p.sent {
			if before, known := last[c.Session]; known && c.Turn != before+1 {
				rt.Errorf("session %d: turn %d after %d", c.Session, c.Turn, before)
			}
			last[c.Session] = c.Turn
		}
		for _, fault := range p.faults {
			rt.Error(fault)
		}
		for i, stats := range p.result.Phases {
			if stats.State != Complete || stats.RequestsSent != stats.RequestsCompleted+stats.RequestsCancelled ||
				p.peaks[i].maxSessions > lanes {
				rt.Errorf("phase %d: %d sessions at once, %+v", i, p.peaks[i].maxSessions, stats)
			}
		}
		if p.err != nil {
			rt.Error(p.err)
		}
	})
}
