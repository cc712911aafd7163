package load

import (
	"context"
	"strings"
	"testing"
	"time"
)

func at(d time.Duration) TurnTime { return TurnTime{Timed: true, AtNS: int64(d)} }

// recorded makes single-turn conversations of first times in milliseconds.
func recorded(ms ...int) (all [][]TurnTime) {
	for _, t := range ms {
		all = append(all, []TurnTime{at(time.Duration(t) * time.Millisecond)})
	}
	return all
}

func replay(s Schedule) Phase { return Phase{Schedule: &s} }

// played lists the conversations in the order they were sent.
func (p played) conversations() (all []int) {
	for _, c := range p.sent {
		if c.Turn == 0 {
			all = append(all, p.opened[c.Session].Conversation)
		}
	}
	return all
}

// intended returns the planned instants of the credits of a phase, from its start.
func (p played) intended(phase int) (all []time.Duration) {
	for _, c := range p.sent {
		if c.Phase == phase {
			all = append(all, time.Duration(c.IntendedNS-p.result.Phases[phase].StartNS))
		}
	}
	return all
}

func TestTrapFixedScheduleWaitsForSlots(t *testing.T) {
	phase := replay(Schedule{})
	phase.Concurrency = 1
	p := scenario{plan: one(phase), recording: recorded(0, 100, 200), serve: within(250 * ms)}.run(t)
	same(t, "sends", p.sends(0), "0s 250ms 500ms")
	same(t, "intended", p.intended(0), []time.Duration{0, 100 * ms, 200 * ms})
	same(t, "skipped", p.result.Phases[0].SkippedArrivals, 0)
}

func TestTrapScheduleOffsets(t *testing.T) {
	for _, test := range []struct {
		name     string
		times    []int
		schedule Schedule
		want     string
	}{
		{"automatic", []int{1000, 1500, 4000}, Schedule{AutoOffset: true}, "0s 500ms 3s"},
		{"from a start", []int{1500, 4000}, Schedule{StartOffset: 1500 * ms}, "0s 2.5s"},
		{"up to an end", []int{1000, 1500}, Schedule{AutoOffset: true}, "0s 500ms"},
		{"absolute", []int{1000, 1500, 4000}, Schedule{}, "1s 1.5s 4s"},
	} {
		p := scenario{plan: one(replay(test.schedule)), recording: recorded(test.times...)}.run(t)
		same(t, test.name, p.sends(0), test.want)
	}
}

func TestTrapTurnNeverStartsBeforeItsPredecessorReturned(t *testing.T) {
	p := scenario{
		plan:      one(replay(Schedule{})),
		recording: [][]TurnTime{{at(0), at(500 * ms), at(2000 * ms), {DelayNS: int64(300 * ms)}, {}}},
		serve:     within(800 * ms),
	}.run(t)
	same(t, "sends", p.sends(0), "0s 800ms 2s 3.1s 3.9s")
	same(t, "intended", p.intended(0), []time.Duration{0, 500 * ms, 2000 * ms, 3100 * ms, 3900 * ms})
}

// The facts of the replay lag: what was planned and what became of it stand in every credit.
func TestTrapReplayLagHasItsFacts(t *testing.T) {
	phase := replay(Schedule{})
	phase.Concurrency = 1
	took := map[int64]time.Duration{0: 512 * ms, 1: 493 * ms, 2: 1295 * ms, 3: ms}
	p := scenario{
		plan: one(phase), recording: recorded(0, 500, 1000, 1500),
		serve: func(c Credit) answer { return answer{after: took[c.ID]} },
	}.run(t)
	var lags []time.Duration
	for _, c := range p.sent {
		lags = append(lags, time.Duration(c.IssuedNS-c.IntendedNS))
	}
	same(t, "lags", lags, []time.Duration{0, 12 * ms, 5 * ms, 800 * ms})
}

func TestScheduleIsPlayedOnceInTheOrderOfTime(t *testing.T) {
	recording := recorded(300, 100, 200, 100)
	recording = append(recording, nil) // a conversation without turns
	p := scenario{plan: Plan{Phases: []Phase{
		{Concurrency: 1, Requests: 3},
		{Kind: Profiling, Schedule: &Schedule{}},
	}}, recording: recording}.run(t)
	same(t, "conversations", p.conversations()[3:], []int{1, 3, 2, 0})
	s := p.result.Phases[1]
	same(t, "expected", []int64{s.ExpectedRequests, s.ExpectedSessions}, []int64{4, 4})
	same(t, "first due", time.Duration(s.FirstDueNS), 100*ms)
	same(t, "sends", p.sends(1), "100ms 100ms 200ms 300ms")
}

// What became due while the process was held up goes in the order of its time, whatever kind of turn it is.
func TestTurnsThatBecameDueTogetherGoInTheOrderOfTheirTime(t *testing.T) {
	for start, want := range map[int]string{300: "0.0 1.0 0.1", 550: "0.0 0.1 1.0"} {
		p := scenario{
			plan:      one(replay(Schedule{})),
			recording: [][]TurnTime{{at(0), at(500 * ms)}, {at(time.Duration(start) * ms)}},
			stallFrom: 100 * ms, stallTo: 600 * ms,
		}.run(t)
		same(t, "order", p.turnOrder(0), want)
	}
}

func TestScheduleStopsAtTheCountsOfTheUser(t *testing.T) {
	recording := [][]TurnTime{{at(0), at(100 * ms)}, {at(10 * ms), at(110 * ms)}, {at(20 * ms)}}
	for _, test := range []struct {
		requests, sessions int64
		duration           time.Duration
		want               string
	}{
		{3, 0, 0, "0.0 1.0 2.0"},
		{0, 2, 0, "0.0 1.0 0.1 1.1"},
		{0, 0, 105 * ms, "0.0 1.0 2.0 0.1"},
		{9, 9, 0, "0.0 1.0 2.0 0.1 1.1"},
	} {
		phase := replay(Schedule{})
		phase.Requests, phase.Sessions, phase.Duration = test.requests, test.sessions, test.duration
		p := scenario{plan: one(phase), recording: recording}.run(t)
		same(t, "turns", p.turnOrder(0), test.want)
	}
}

// A first turn that waits for a session slot does not keep the turns of running sessions from being sent.
func TestScheduleWithSlotsDoesNotDeadlock(t *testing.T) {
	phase := replay(Schedule{})
	phase.Concurrency, phase.Prefill = 1, 1
	p := scenario{
		plan:      one(phase),
		recording: [][]TurnTime{{at(0), {}, {}}, {at(0)}, {at(ms)}},
		serve:     within(100 * ms),
	}.run(t)
	same(t, "order", p.turnOrder(0), "0.0 0.1 0.2 1.0 2.0")
}

// Phases play parts of a recording; its sessions have numbers that follow each other.
func TestScheduleOfAPartOfTheRecording(t *testing.T) {
	from, until := 100*ms, 200*ms
	part := func(s Schedule) Phase { p := replay(s); p.Kind = Profiling; return p }
	p := scenario{plan: Plan{Phases: []Phase{
		part(Schedule{Until: &from}), part(Schedule{From: &from, Until: &until, AutoOffset: true}),
		part(Schedule{From: &until, StartOffset: 150 * ms}), {Kind: Profiling, Concurrency: 1, Requests: 1},
	}}, recording: recorded(300, 100, 0, 200, 100)}.run(t)
	same(t, "conversations", p.conversations()[:8], []int{2, 1, 4, 1, 4, 3, 3, 0})
	same(t, "the first", p.sends(0), "0s 100ms 100ms")
	same(t, "the second", p.sends(1), "0s 0s 100ms")
	same(t, "the third", p.sends(2), "50ms 150ms")
	same(t, "expected", p.result.Phases[1].ExpectedRequests, 3)
	for i, c := range p.sent {
		same(t, "session", c.Session, uint64(i))
	}

	late := 301 * ms
	p = scenario{plan: one(part(Schedule{From: &late})), recording: recorded(300)}.run(t)
	if p.err == nil || !strings.Contains(p.err.Error(), "no conversation") {
		t.Errorf("error %v", p.err)
	}
}

func TestScheduleWithoutATimeFailsBeforeAnythingIsSent(t *testing.T) {
	for want, recording := range map[string][][]TurnTime{
		"conversation 1 cannot be replayed": {{at(0)}, {{DelayNS: 5}}},
		"no conversation":                   {nil},
	} {
		p := scenario{
			plan:      Plan{Phases: []Phase{{Concurrency: 1, Requests: 1}, {Kind: Profiling, Schedule: &Schedule{}}}},
			recording: recording,
		}.run(t)
		if p.err == nil || !strings.Contains(p.err.Error(), want) {
			t.Errorf("error %v, want %q", p.err, want)
		}
		same(t, "sent", len(p.sent), 0)
	}
}

func TestStopForgetsTheRestOfTheSchedule(t *testing.T) {
	phase := replay(Schedule{})
	phase.Concurrency = 1
	p := scenario{
		plan: one(phase), recording: recorded(0, 10, 20, 5000), serve: never,
		during: func(_ context.CancelFunc, e *Engine) { time.Sleep(time.Second); e.Stop() },
	}.run(t)
	same(t, "sent", len(p.sent), 1)
	same(t, "took", p.took, time.Second)
}
