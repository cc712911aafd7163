package load

import (
	"testing"
	"time"
)

func TestStatsDerived(t *testing.T) {
	const start = int64(7 * time.Second)
	at := func(d time.Duration) int64 { return start + int64(d) }
	running := Stats{
		State: Started, StartNS: start, RequestsSent: 50, RequestsCompleted: 30, RequestsCancelled: 5,
		SentSessions: 10, CompletedSessions: 4, CancelledSessions: 1,
		ExpectedSessions: 16, ExpectedDuration: 40 * time.Second,
	}
	drained := running
	drained.State, drained.SentEndNS, drained.RequestsEndNS = Complete, at(20*time.Second), at(25*time.Second)
	for _, test := range []struct {
		name                       string
		stats                      Stats
		elapsed, remaining         time.Duration
		delivered, completed, done float64
		known                      bool
		inFlight                   int64
	}{
		{"created", Stats{}, 0, 0, 0, 0, 0, false, 0},
		{"running", running, 10 * time.Second, 30 * time.Second, 5, 3, 25, true, 15},
		{"complete", drained, 25 * time.Second, 0, 2.5, 1.2, 100, true, 15},
		{"without a condition", Stats{State: Started, StartNS: start}, 10 * time.Second, 0, 0, 0, 0, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			now := at(10 * time.Second)
			s := &test.stats
			done, known := s.Progress(now)
			remaining, _ := s.Remaining(now)
			same(t, "elapsed, remaining", []any{s.Elapsed(now), remaining}, []any{test.elapsed, test.remaining})
			same(t, "delivered, completed", []any{s.DeliveredRate(now), s.CompletedRate(now)},
				[]any{test.delivered, test.completed})
			same(t, "progress", []any{done, known}, []any{test.done, test.known})
			same(t, "in flight", s.requestsInFlight(), test.inFlight)
		})
	}
	over := Stats{State: Started, StartNS: start, ExpectedDuration: time.Second}
	done, _ := over.Progress(at(time.Minute))
	same(t, "capped", done, 100)
}
