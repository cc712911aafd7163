package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func users(count int, rate, meanTurns float64) Phase {
	return Phase{Users: &Users{Count: count, Rate: rate, MeanTurns: meanTurns}}
}

// starts lists when which user began with how many turns.
func (p played) starts() string {
	var b strings.Builder
	for _, c := range p.sent {
		if c.Turn != 0 {
			continue
		}
		turns := 0
		for _, other := range p.sent {
			if other.Session == c.Session {
				turns++
			}
		}
		fmt.Fprintf(&b, "%v:u%d,%d ", time.Duration(c.IssuedNS-p.result.Phases[0].StartNS), c.User, turns)
	}
	return strings.TrimSpace(b.String())
}

func TestTrapFifteenUsers(t *testing.T) {
	phase := users(15, 1, 20)
	phase.Duration, phase.Grace = 300*time.Second-ms, Infinite
	p := scenario{plan: one(phase), turns: turns(20), serve: within(100 * ms)}.run(t)
	want := "0s:u16,20 1s:u5,6 2s:u9,11 3s:u13,16 4s:u2,2 5s:u6,7 6s:u10,12 7s:u14,17 8s:u3,3 9s:u7,8 10s:u11,13 " +
		"11s:u15,18 12s:u4,4 13s:u8,9 14s:u12,14 34s:u17,"
	if got := p.starts(); !strings.HasPrefix(got, want) {
		t.Errorf("users:\n got %s\nwant %s", got, want)
	}
	same(t, "requests in 300 s", len(p.sent), 300)
	same(t, "target, delivered", []float64{p.result.Phases[0].TargetRate, float64(len(p.sent)) / 300}, []float64{1, 1})
	for _, c := range p.sent {
		if c.IntendedNS != c.IssuedNS || p.opened[c.Session].User != c.User {
			t.Fatalf("credit %+v of %+v", c, p.opened[c.Session])
		}
	}
}

func TestTrapUsersWithACommonFactor(t *testing.T) {
	phase := users(4, 2, 5)
	phase.Duration, phase.Grace = 100*time.Second-ms, Infinite
	p := scenario{plan: one(phase), turns: turns(5), serve: within(50 * ms)}.run(t)
	want := "0s:u5,5 500ms:u2,1 1s:u3,2 1.5s:u4,3 2.5s:u6,5 5s:u7,5 7.5s:u8,5 10s:u9,5 "
	if got := p.starts(); !strings.HasPrefix(got, want) {
		t.Errorf("users:\n got %s\nwant %s", got, want)
	}
	same(t, "requests in 100 s", len(p.sent), 200)
}

func TestTrapOneUser(t *testing.T) {
	phase := users(1, 0.5, 4)
	phase.Requests = 9
	p := scenario{plan: one(phase), turns: turns(4), serve: within(50 * ms)}.run(t)
	same(t, "users", p.starts(), "0s:u2,4 8s:u3,4 16s:u4,1")
}

func TestTrapLateAnswerMovesTheUser(t *testing.T) {
	phase := users(1, 0.5, 4)
	phase.Requests = 4
	p := scenario{plan: one(phase), turns: turns(4), serve: func(c Credit) answer {
		if c.Turn == 0 {
			return answer{after: 3100 * ms}
		}
		return answer{after: 100 * ms}
	}}.run(t)
	same(t, "sends", p.sends(0), "0s 3.1s 5.1s 7.1s")
}

func TestTrapGraceOfUsersMayBeInfinite(t *testing.T) {
	phase := users(2, 2, 3)
	phase.Duration, phase.Grace = time.Second, Infinite
	p := scenario{plan: one(phase), turns: turns(3), serve: within(time.Hour)}.run(t)
	s := p.result.Phases[0]
	same(t, "completed, cancelled", []int64{s.RequestsCompleted, s.RequestsCancelled}, []int64{2, 0})
	same(t, "took", p.took > time.Hour, true)
}

func TestUserHasNoMoreTurnsThanTheConversation(t *testing.T) {
	phase := users(2, 1, 5)
	phase.Duration = 20 * time.Second
	p := scenario{plan: one(phase), turns: func(k uint64) int { return 1 + int(k%3) }}.run(t)
	same(t, "users", p.starts(), "0s:u3,2 1s:u2,1 3s:u4,3 4s:u5,1 6s:u6,2 9s:u7,3 10s:u8,1 12s:u9,2 15s:u10,3 "+
		"16s:u11,1 18s:u12,1")
}

func TestUsersStopAfterTheirSessions(t *testing.T) {
	phase := users(4, 2, 5)
	phase.Sessions = 4
	p := scenario{plan: one(phase), turns: turns(5)}.run(t)
	same(t, "users", p.starts(), "0s:u5,5 500ms:u2,1 1s:u3,2 1.5s:u4,3")
	same(t, "completed", p.result.Phases[0].CompletedSessions, 4)
}

// Conversations come in the order of the users' numbers, whenever these start.
func TestSessionsFollowTheNumbersOfTheUsers(t *testing.T) {
	phase := users(4, 2, 5)
	phase.Sessions = 6
	warmup := Phase{Concurrency: 1, Requests: 3}
	phase.Kind = Profiling
	p := scenario{plan: Plan{Phases: []Phase{warmup, phase}}, turns: turns(1)}.run(t)
	sessions := map[uint64]uint64{}
	for _, c := range p.sent[3:] {
		sessions[c.User] = c.Session
	}
	same(t, "sessions", sessions, map[uint64]uint64{2: 3, 3: 4, 4: 5, 5: 6, 6: 7, 7: 8})
}

func TestSlotsMakeUsersWait(t *testing.T) {
	phase := users(3, 3, 3)
	phase.Concurrency, phase.Requests = 1, 6
	p := scenario{plan: one(phase), turns: turns(2), serve: within(600 * ms)}.run(t)
	same(t, "sessions at once", p.peaks[0].maxSessions, 1)
	same(t, "issued in the order of their time",
		slices.IsSortedFunc(p.sent, func(a, b Credit) int { return int(a.IssuedNS - b.IssuedNS) }), true)
	same(t, "sent", len(p.sent), 6)
}

func TestUserCountFollows(t *testing.T) {
	c := newUserTimetable(Users{Count: 2, Rate: 2, MeanTurns: 3}, 0, turns(3))
	c.start(1)
	same(t, "gap", c.gap(), 1e9)
	c.resize(4, 1)
	same(t, "gap of four", c.gap(), 2e9)
	same(t, "users", c.waiting.len(), 4)
	c.resize(1, 1)
	same(t, "leaving", c.leaving, 3)
	for range 4 {
		c.pop()
	}
	same(t, "one is replaced", c.waiting.len(), 1)
	c.resize(3, 1)
	same(t, "joined", c.waiting.len(), 3)
}
